/**
 * HyperLogLog (P. Flajolet, É. Fusy, O. Gandouet, F. Meunier 2007, "HyperLogLog: the analysis of a near-optimal cardinality
 * estimation algorithm") with 2^12 registers, and the estimator of O. Ertl 2017, "New cardinality estimation algorithms
 * for HyperLogLog sketches", algorithm 6, which needs no correction by range. Standard error: 1.04 / sqrt(4096) = 1.6 %.
 *
 * As in S. Heule, M. Nunkesser, A. Hall 2013, "HyperLogLog in practice", a sketch of few elements is sparse: it lists the
 * registers that are not 0. Both forms have the same registers.
 */
import { hashText } from './hash.ts';

const INDEX_BITS = 12;
/** The number of registers. */
export const REGISTERS = 1 << INDEX_BITS;
/** Bits of a hash after those of the register's index: 20 of the low word and 21 of the high one. */
const RANK_BITS = 41;
/** The largest value of a register: all bits of the hash after the index are 0. */
export const MAX_RANK = RANK_BITS + 1;
const WORD = 4_294_967_296;
const FIRST_SLOTS = 16;
/** Slots of the largest sparse form; its 2 KiB are half of what the registers need. */
const MAX_SLOTS = 512;
/** Bits of an entry of the sparse form below those of the register's index. */
const RANK_SHIFT = 6;

/** A sketch of a set, from which the number of its elements is estimated. */
export interface HyperLogLog {
  /** The registers; `null` in the sparse form. */
  registers: Uint8Array | null;
  /** Sparse form: a hash table of entries, index + 1 in the high bits and the register's value below; 0: a free slot. */
  slots: Int32Array;
  /** Slots in use. */
  used: number;
}

const NO_SLOTS = new Int32Array(0);

/** The sketch of the empty set. */
export function createHyperLogLog(): HyperLogLog {
  return { registers: null, slots: NO_SLOTS, used: 0 };
}

/** Adds the element with this hash, an integer below 2^53 (`hash.ts`). */
export function addHash(sketch: HyperLogLog, hash: number): void {
  const low = hash | 0;
  const high = Math.floor(hash / WORD);
  const rest = low >>> INDEX_BITS;
  const rank = high !== 0 ? Math.clz32(high) - 10 : rest !== 0 ? Math.clz32(rest) + 10 : MAX_RANK;
  raise(sketch, low & (REGISTERS - 1), rank);
}

/** Adds a text. */
export function addText(sketch: HyperLogLog, text: string): void {
  addHash(sketch, hashText(text));
}

/** Raises a register to `rank` if it is lower. */
export function raise(sketch: HyperLogLog, index: number, rank: number): void {
  const { registers } = sketch;
  if (registers === null) raiseSparse(sketch, index, rank);
  else if (registers[index]! < rank) registers[index] = rank;
}

function raiseSparse(sketch: HyperLogLog, index: number, rank: number): void {
  // Three quarters full: longer runs of used slots would cost more than the memory that they save.
  if (sketch.used * 4 >= sketch.slots.length * 3) {
    grow(sketch);
    raise(sketch, index, rank);
    return;
  }
  const { slots } = sketch;
  const mask = slots.length - 1;
  // The index is a part of a hash already.
  let at = index & mask;
  for (let entry = slots[at]!; entry !== 0; entry = slots[at]!) {
    if (entry >> RANK_SHIFT === index + 1) {
      if ((entry & (2 ** RANK_SHIFT - 1)) < rank) slots[at] = ((index + 1) << RANK_SHIFT) | rank;
      return;
    }
    at = (at + 1) & mask;
  }
  slots[at] = ((index + 1) << RANK_SHIFT) | rank;
  sketch.used++;
}

function grow(sketch: HyperLogLog): void {
  const before: HyperLogLog = { ...sketch };
  const size = Math.max(FIRST_SLOTS, before.slots.length * 2);
  sketch.registers = size > MAX_SLOTS ? new Uint8Array(REGISTERS) : null;
  sketch.slots = size > MAX_SLOTS ? NO_SLOTS : new Int32Array(size);
  sketch.used = 0;
  eachRegister(before, (index, rank) => raise(sketch, index, rank));
}

/** Calls `use` with every register that is not 0: by index in the dense form, in no order in the sparse form. */
export function eachRegister(sketch: HyperLogLog, use: (index: number, rank: number) => void): void {
  const { registers, slots } = sketch;
  if (registers === null) {
    for (const entry of slots) {
      if (entry !== 0) use((entry >> RANK_SHIFT) - 1, entry & (2 ** RANK_SHIFT - 1));
    }
    return;
  }
  for (let index = 0; index < REGISTERS; index++) {
    if (registers[index] !== 0) use(index, registers[index]!);
  }
}

/** Makes `to` the sketch of both sets. */
export function mergeHyperLogLog(to: HyperLogLog, from: HyperLogLog): void {
  eachRegister(from, (index, rank) => raise(to, index, rank));
}

/** The estimated number of elements; exact when it is 0. */
export function estimate(sketch: HyperLogLog): number {
  const histogram = new Float64Array(MAX_RANK + 1);
  let raised = 0;
  eachRegister(sketch, (_index, rank) => {
    histogram[rank]!++;
    raised++;
  });
  if (raised === 0) return 0;
  let sum = REGISTERS * tau(1 - histogram[MAX_RANK]! / REGISTERS);
  for (let rank = RANK_BITS; rank >= 1; rank--) sum = (sum + histogram[rank]!) / 2;
  sum += REGISTERS * sigma((REGISTERS - raised) / REGISTERS);
  return (REGISTERS * REGISTERS) / (2 * Math.LN2 * sum);
}

/** Ertl's σ, from the share of registers that are 0; below 1. */
function sigma(share: number): number {
  let power = share;
  let weight = 1;
  let sum = share;
  for (let before = -1; sum !== before; weight += weight) {
    before = sum;
    power *= power;
    sum += power * weight;
  }
  return sum;
}

/** Ertl's τ, from the share of registers below the largest value. */
function tau(share: number): number {
  if (share === 0 || share === 1) return 0;
  let root = share;
  let weight = 1;
  let sum = 1 - share;
  for (let before = -1; sum !== before; ) {
    before = sum;
    root = Math.sqrt(root);
    weight /= 2;
    sum -= (1 - root) ** 2 * weight;
  }
  return sum / 3;
}
