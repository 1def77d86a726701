/** A `BacktrackProgram` in flat arrays, with what its searches need, computed once. */
import { contains } from '../../../base/regex/program.ts';
import type { BacktrackInstruction, BacktrackProgram } from '../../plan/signature-program.ts';

/** The kinds of instructions as numbers. */
export const KIND = {
  octet: 0,
  split: 1,
  assert: 2,
  open: 3,
  close: 4,
  reference: 5,
  look: 6,
  atomic: 7,
  end: 8,
  back: 9,
  enter: 10,
  again: 11,
  leave: 12,
  match: 13,
  fail: 14,
} as const;

/** A program by instruction. */
export interface Backtracker {
  readonly start: number;
  readonly groups: number;
  readonly loops: number;
  readonly kind: Uint8Array;
  readonly out: Int32Array;
  /** `other` of a split or the end of an iteration, `body` of a look-around or an atomic group. */
  readonly other: Int32Array;
  /** The set, flags, group, loop or octets. */
  readonly operand: Int32Array;
  /** 1: negative look-around, backreference without case, lazy loop. */
  readonly flag: Uint8Array;
  /** By set, 256 flags. */
  readonly sets: readonly Uint8Array[];
  /** 1: the instruction can be reached in more than one way from the same place of a text. */
  readonly joins: Uint8Array;
  /** Flags of the octets with which a match can begin, at `END_OF_TEXT` of an empty match at the end. */
  readonly first: Uint8Array;
  /** By split and octet, or `END_OF_TEXT`, the ways that can go on: 1 for `out`, 2 for `other`, 3 for both. */
  readonly ways: readonly Uint8Array[];
  /** Groups that backreferences name, ascending. */
  readonly referenced: readonly number[];
}

/** The end of a text in place of its next octet. */
export const END_OF_TEXT = 256;
const HEADS = END_OF_TEXT + 1;

/** Prepares a program for searches. */
export function backtrackerOf(program: BacktrackProgram): Backtracker {
  const { instructions, start, groups, loops } = program;
  const sets = program.sets.map((ranges) =>
    Uint8Array.from({ length: 256 }, (_, octet) => (contains(ranges, octet) ? 1 : 0)),
  );
  const heads = headsOf(program, sets);
  const referenced = new Set<number>();
  for (const one of instructions) if (one.kind === 'reference') referenced.add(one.group);
  const numbers = (of: (instruction: BacktrackInstruction) => number): Int32Array =>
    Int32Array.from(instructions, of);
  return {
    start,
    groups,
    loops,
    kind: Uint8Array.from(instructions, (one) => KIND[one.kind]),
    out: numbers((one) => ('out' in one ? one.out : 0)),
    other: numbers((one) => ('other' in one ? one.other : 'body' in one ? one.body : 0)),
    operand: numbers(operandOf),
    flag: Uint8Array.from(instructions, isFlagged),
    sets,
    joins: joinsIn(program),
    first: heads[start]!,
    ways: waysOf(program, heads),
    referenced: [...referenced].sort((a, b) => a - b),
  };
}

function operandOf(one: BacktrackInstruction): number {
  if ('set' in one) return one.set;
  if ('flags' in one) return one.flags;
  if ('group' in one) return one.group;
  if ('loop' in one) return one.loop;
  return 'octets' in one ? one.octets : 0;
}

function isFlagged(one: BacktrackInstruction): number {
  if ('negative' in one) return Number(one.negative);
  return Number('ignoreCase' in one ? one.ignoreCase : 'lazy' in one && one.lazy);
}

/** The instructions that an instruction names. */
function namedBy(instruction: BacktrackInstruction): readonly number[] {
  const named: number[] = [];
  if ('out' in instruction) named.push(instruction.out);
  if ('other' in instruction) named.push(instruction.other);
  if ('body' in instruction) named.push(instruction.body);
  return named;
}

/** Flags instructions that several others name, and those after an atomic group, whose matches differ in length. */
function joinsIn({ instructions }: BacktrackProgram): Uint8Array {
  const named = new Uint8Array(instructions.length);
  for (const instruction of instructions) {
    for (const pc of namedBy(instruction)) named[pc] = Math.min(2, named[pc]! + 1);
    if (instruction.kind === 'atomic') named[instruction.out] = 2;
  }
  return named.map((times) => (times > 1 ? 1 : 0));
}

/** A program of more instructions is searched without heads, which take 257 octets for each of them. */
const MAX_HEADED = 4_000;

/**
 * The heads of every instruction: flags of the octets with which a search can go on, `END_OF_TEXT` among them. Assertions
 * and look-around count as passed.
 */
function headsOf({ instructions }: BacktrackProgram, sets: readonly Uint8Array[]): readonly Uint8Array[] {
  if (instructions.length > MAX_HEADED) {
    const any = new Uint8Array(HEADS).fill(1);
    return instructions.map(() => any);
  }
  const heads = instructions.map((instruction) => {
    const own = new Uint8Array(HEADS);
    if (instruction.kind === 'octet') own.set(sets[instruction.set]!);
    return instruction.kind !== 'octet' && followersOf(instruction).length === 0 ? own.fill(1) : own;
  });
  for (let changes = true; changes; ) {
    changes = false;
    instructions.forEach((instruction, pc) => {
      if (instruction.kind === 'octet') return;
      for (const follower of followersOf(instruction)) {
        if (addHeads(heads[pc]!, heads[follower]!)) changes = true;
      }
    });
  }
  return heads;
}

/** The instructions that follow one that consumes nothing; none: any octet may follow, or it fails. */
function followersOf(instruction: BacktrackInstruction): readonly number[] {
  switch (instruction.kind) {
    case 'back':
    case 'reference':
      return [];
    case 'atomic':
      return [instruction.body];
    case 'look':
      return [instruction.out];
    default:
      return namedBy(instruction);
  }
}

/** Adds heads to others; `false`: they had all of them. */
function addHeads(to: Uint8Array, from: Uint8Array): boolean {
  let changes = false;
  for (let octet = 0; octet < HEADS; octet++) {
    if (from[octet] === 0 || to[octet] === 1) continue;
    to[octet] = 1;
    changes = true;
  }
  return changes;
}

/** By split, the ways that can go on for an octet: 1 for `out`, 2 for `other`, 3 for both. */
function waysOf({ instructions }: BacktrackProgram, heads: readonly Uint8Array[]): readonly Uint8Array[] {
  const none = new Uint8Array(0);
  return instructions.map((instruction) => {
    if (instruction.kind !== 'split') return none;
    const other = heads[instruction.other]!;
    return heads[instruction.out]!.map((can, octet) => can | (other[octet]! << 1));
  });
}
