/**
 * How one counter key lies in memory: a run of 32-bit words. Every entry begins with
 *
 *     word 0   32 bits of the key's hash; they also choose its bucket
 *     word 1   reference of the next entry in the bucket (27 bits), idle class (5 bits)
 *     word 2   time of the newest hit, milliseconds >> 10
 *     word 3   its low 10 bits; above them the fields of the kind
 *
 * and goes on by kind:
 *   holder  what one address of a per-path rule has: its count of paths, and since when.
 *   ring    the newest hits one by one, a word each: exact.
 *   slices  17 counts of a sixteenth of the window each, every count as narrow as it can be.
 * A per-path entry also has a link to its holder. The last word holds 32 further bits of the hash if they fit:
 * with 64 bits the odds that any two of a million visitors share a counter are one in 37 million. Above 262,142
 * requests a window (per path, else 1,048,574) it has only the 2 to 19 bits that are spare, at worst none.
 */
import { MAX_EXACT_WINDOW, WINDOW_SLICES } from '../../base/vocabulary/limits.ts';

/** Words of the common head. */
export const HASH = 0;
export const NEXT = 1;
export const COARSE = 2;
export const FINE = 3;

/** A slice counts until all of it has left the window, so one more than the window has is stored (semantics §5). */
export const SLICES = WINDOW_SLICES + 1;

/** The last time that requests count at, some 17,800 years after the epoch: slices are exact up to 53 bits (`sliceOf`). */
export const LAST_TIME = 2 ** 49 - 1;
/**
 * Entries have the low 42 bits of times, which come again after 139 years: of all times with the same bits the one nearest to now
 * is meant.
 */
const TIME_SPAN = 2 ** 42;

/**
 * A slices entry stays within 15 words: with at most 2.25 octets of bucket and the unused end of a page it then needs
 * no more than 64 octets (the bound of the design). What does not fit is left out, in the order holder link, hash.
 */
const MAX_SLICES_STRIDE = 15;

export type EntryKind = 'holder' | 'ring' | 'slices';

/** What all keys of one shape share. */
export interface Layout {
  /** Small integer, unique per shape. */
  readonly id: number;
  readonly kind: EntryKind;
  /** Words of one entry. */
  readonly stride: number;
  /** Ring: hits stored. Slices: the highest count that the bits hold; rules of different capacities share a shape. */
  readonly size: number;
  /** Slices: bits of a count. */
  readonly width: number;
  /** Word that holds further bits of the hash, and which of its bits do. */
  readonly tagAt: number;
  readonly tagMask: number;
  /** Word that holds the link to the holder, or -1. */
  readonly linkAt: number;
}

/** Word of a ring entry where its hits begin. */
export const RING_START = 4;
/** Word of a holder with the time of its creation, milliseconds >> 10. */
export const HOLDER_BORN = 4;

/** The one shape of holders. */
export const HOLDER_LAYOUT: Layout = {
  id: 0,
  kind: 'holder',
  stride: 6,
  size: 0,
  width: 0,
  tagAt: 5,
  tagMask: -1,
  linkAt: -1,
};

/** Ids of shapes with slices begin here, behind those of rings by their size; ids of linked shapes have this more. */
const SLICES_ID = 512;
const LINKED_ID = 1024;

/** The id `layoutOf` would give, without making the layout. */
export function layoutId(capacity: number, doubled: boolean, linked: boolean): number {
  const most = doubled ? 2 * capacity : capacity;
  const shape = capacity <= MAX_EXACT_WINDOW ? most : SLICES_ID + countWidth(most);
  return linked ? shape + LINKED_ID : shape;
}

/**
 * The shape of a key.
 * @param capacity requests a window, 1…2,000,000
 * @param doubled enough history is stored to compare with twice the capacity
 * @param linked the key is one path of an address and has a holder
 */
export function layoutOf(capacity: number, doubled: boolean, linked: boolean): Layout {
  const id = layoutId(capacity, doubled, linked);
  const most = doubled ? 2 * capacity : capacity;
  return capacity <= MAX_EXACT_WINDOW ? ringLayout(id, most, linked) : slicesLayout(id, most, linked);
}

/** The shape with an id. */
export function layoutOfId(id: number): Layout {
  if (id === HOLDER_LAYOUT.id) return HOLDER_LAYOUT;
  const linked = id >= LINKED_ID;
  const shape = linked ? id - LINKED_ID : id;
  return shape < SLICES_ID
    ? ringLayout(id, shape, linked)
    : slicesLayout(id, 2 ** (shape - SLICES_ID) - 2, linked);
}

function ringLayout(id: number, size: number, linked: boolean): Layout {
  const end = RING_START + size;
  const linkAt = linked ? end : -1;
  const tagAt = linked ? end + 1 : end;
  return { id, kind: 'ring', stride: tagAt + 1, size, width: 0, tagAt, tagMask: -1, linkAt };
}

function slicesLayout(id: number, most: number, linked: boolean): Layout {
  const width = countWidth(most);
  const bits = 10 + SLICES * width;
  const packed = Math.ceil(bits / 32);
  const spare = packed * 32 - bits;
  const hasLink = linked && FINE + packed + 1 <= MAX_SLICES_STRIDE;
  const end = FINE + packed + (hasLink ? 1 : 0);
  const hasTagWord = end + 1 <= MAX_SLICES_STRIDE;
  return {
    id,
    kind: 'slices',
    stride: hasTagWord ? end + 1 : end,
    size: 2 ** width - 1,
    width,
    tagAt: hasTagWord ? end : FINE + packed - 1,
    tagMask: hasTagWord ? -1 : spare === 0 ? 0 : -1 << (32 - spare),
    linkAt: hasLink ? FINE + packed : -1,
  };
}

/** Bits that hold every count up to one above the greatest allowance. */
function countWidth(most: number): number {
  return 32 - Math.clz32(most + 1);
}

/** The time nearest to `now` that has the low bits of `stored`, milliseconds. */
export function nearestTime(stored: number, now: number): number {
  return stored + Math.round((now - stored) / TIME_SPAN) * TIME_SPAN;
}

/** Time of the newest hit of the entry at `at`, milliseconds. */
export function newestHit(words: Uint32Array, at: number, now: number): number {
  return nearestTime(words[at + COARSE]! * 1024 + (words[at + FINE]! & 1023), now);
}

/** Whether a stored time, milliseconds >> 10, is before another one less than 69 years away. */
export function isBefore(coarse: number, other: number): boolean {
  return ((coarse - other) | 0) < 0;
}

/**
 * The times one hit works with: now, and the newest hit of the entry at hand.
 * PERF: a number above 31 bits that passes between functions is an object on the heap, one in an array is not.
 */
export type Clock = Float64Array;
export const NOW = 0;
export const NEWEST = 1;

export function createClock(): Clock {
  return new Float64Array(2);
}

/** Sets now: whole milliseconds within what an entry can hold. */
export function setNow(clock: Clock, now: number): void {
  if (!(now > 0)) clock[NOW] = 0;
  else if (now >= LAST_TIME) clock[NOW] = LAST_TIME;
  else clock[NOW] = Math.floor(now);
}

/** Reads the time of the newest hit. */
export function readNewest(words: Uint32Array, at: number, clock: Clock): void {
  // PERF: as `newestHit`, whose result would be an object.
  const stored = words[at + COARSE]! * 1024 + (words[at + FINE]! & 1023);
  clock[NEWEST] = stored + Math.round((clock[NOW]! - stored) / TIME_SPAN) * TIME_SPAN;
}

/** Sets the time of the newest hit to now. */
export function stamp(words: Uint32Array, at: number, clock: Clock): void {
  const time = clock[NOW]!;
  words[at + COARSE] = time / 1024;
  words[at + FINE] = (words[at + FINE]! & ~1023) | ((time >>> 0) & 1023);
}

// The keyed hash behind every counter key: HalfSipHash-1-3 with 64 bits of result (Aumasson and Bernstein, "SipHash:
// a fast short-input PRF", 2012; the 32-bit variant of the reference code, which the Linux kernel uses for its hash
// tables). Visitors choose addresses and paths; without the seed they cannot choose which of them collide.

/** Four words of hash state. */
export type HashState = Int32Array;

/** A state to be initialised by `begin`. */
export function createHashState(): HashState {
  return new Int32Array(4);
}

/** Starts a key. @param seed two random words */
export function begin(state: HashState, seed: Int32Array): void {
  const k0 = seed[0]!;
  const k1 = seed[1]!;
  state[0] = k0;
  state[1] = k1 ^ 0xee;
  state[2] = 0x6c796765 ^ k0;
  state[3] = 0x74656462 ^ k1;
}

/** Absorbs the words of `input` from `first` to before `end`, one compression round each. */
export function absorb(state: HashState, input: Int32Array, first: number, end: number): void {
  let v0 = state[0]!;
  let v1 = state[1]!;
  let v2 = state[2]!;
  let v3 = state[3]!;
  for (let i = first; i < end; i++) {
    const word = input[i]!;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  state[0] = v0;
  state[1] = v1;
  state[2] = v2;
  state[3] = v3;
}

/** Absorbs a text, two UTF-16 units a word. Its length belongs into the closing word of `finish`. */
export function absorbText(state: HashState, text: string): void {
  let v0 = state[0]!;
  let v1 = state[1]!;
  let v2 = state[2]!;
  let v3 = state[3]!;
  const length = text.length;
  for (let i = 0; i < length; i += 2) {
    const word = text.charCodeAt(i) | (i + 1 < length ? text.charCodeAt(i + 1) << 16 : 0);
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  state[0] = v0;
  state[1] = v1;
  state[2] = v2;
  state[3] = v3;
}

/**
 * Writes the 64-bit hash of what was absorbed and of the `closing` word into `out[0]` and `out[1]`. The state stays
 * as it was, so several keys can share what they have in common.
 */
export function finish(state: HashState, closing: number, out: Int32Array): void {
  let v0 = state[0]!;
  let v1 = state[1]!;
  let v2 = state[2]!;
  let v3 = state[3]! ^ closing;
  for (let round = 0; round < 7; round++) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    if (round === 0) {
      v0 ^= closing;
      v2 ^= 0xee;
    } else if (round === 3) {
      out[0] = v1 ^ v3;
      v1 ^= 0xdd;
    }
  }
  out[1] = v1 ^ v3;
}

/**
 * A number for `RateWindow.space`, 53 bits of the name's hash (two lanes of the 32-bit finaliser of MurmurHash3).
 * Not seeded: who shares counters between customers gives names that customers do not choose freely.
 */
export function counterSpace(name: string): number {
  let a = 0x9e3779b9;
  let b = 0x85ebca6b;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x85ebca6b);
    a ^= a >>> 13;
    b = Math.imul(b ^ unit, 0xc2b2ae35);
    b ^= b >>> 16;
  }
  a = Math.imul(a ^ (a >>> 16) ^ name.length, 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 13) ^ a, 0x85ebca6b);
  return ((a ^ (a >>> 16)) >>> 11) * 2 ** 32 + ((b ^ (b >>> 16)) >>> 0);
}
