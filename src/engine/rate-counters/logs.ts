/**
 * The logs of a counter key: its newest hits one by one, or their number in each sixteenth of the window. In: a hit.
 * Out: the result of counting it.
 */
import { WINDOW_SLICES } from '../../base/vocabulary/limits.ts';
import {
  type Clock,
  FINE,
  type Layout,
  NEWEST,
  NOW,
  RING_START,
  readNewest,
  SLICES,
  stamp,
} from './layout.ts';

export interface RateResult {
  readonly breached: boolean;
  /** Requests in the window that ends now, this one included; never told beyond one above what the key can judge. */
  readonly count: number;
  /** Whole seconds until a request would be let through were none sent meanwhile; 0 when not breached. */
  readonly retryAfter: number;
}

/** A result the caller owns and every hit overwrites. */
export interface MutableRateResult {
  breached: boolean;
  count: number;
  retryAfter: number;
}

// The exact log: the newest hits of a key one by one, as 32 bits of milliseconds in a ring. Only hits of the window
// that ends now are stored, and a window is at most a day, so the wrap of 32 bits after 49.7 days has no effect.

/** In word 3 above the 10 bits of time: where the next hit goes, and how many are stored; 9 bits each. */
const HEAD_SHIFT = 10;
const HELD_SHIFT = 19;
const FIELD = 511;

/** The terms that a request is counted by; one object per set of counters, reused from hit to hit. */
export interface Judgement {
  /** When the request counts; judging moves it up to the key's newest hit. */
  readonly clock: Clock;
  windowMs: number;
  allowance: number;
  /** The greatest allowance that the rule has for any visitor. */
  most: number;
  /** A request that breaches does not count itself, so that it does not delay the next one. */
  isFree: boolean;
}

/** Raises now to the newest hit: a clock that was set back counts as stopped. */
function settleClock(words: Uint32Array, at: number, clock: Clock): void {
  readNewest(words, at, clock);
  if (clock[NOW]! < clock[NEWEST]!) clock[NOW] = clock[NEWEST]!;
}

/** Counts the request in `out`; stores it unless it is only a peek. */
export function judgeRing(
  words: Uint32Array,
  at: number,
  layout: Layout,
  by: Judgement,
  stores: boolean,
  out: MutableRateResult,
): void {
  const size = layout.size;
  settleClock(words, at, by.clock);
  const time = by.clock[NOW]!;
  const low = time >>> 0;
  const start = at + RING_START;
  const fields = words[at + FINE]!;
  const head = (fields >>> HEAD_SHIFT) & FIELD;
  let held = (fields >>> HELD_SHIFT) & FIELD;
  if (time - by.clock[NEWEST]! >= by.windowMs) held = 0;
  let tail = head - held;
  if (tail < 0) tail += size;
  while (held > 0 && (low - words[start + tail]!) >>> 0 >= by.windowMs) {
    held--;
    tail = tail + 1 === size ? 0 : tail + 1;
  }
  out.count = held + 1;
  out.breached = held >= by.allowance;
  out.retryAfter = 0;
  if (out.breached) {
    // Let through again once the hit that is the allowance's last, counted back from this one, has left; from the one before it
    // if this one does not count.
    const back = by.isFree ? by.allowance : by.allowance - 1;
    let last = head - back;
    if (last < 0) last += size;
    const age = back === 0 ? 0 : (low - words[start + last]!) >>> 0;
    out.retryAfter = Math.ceil((by.windowMs - age) / 1000);
  }
  if (!stores) return;
  words[start + head] = low;
  const next = head + 1 === size ? 0 : head + 1;
  words[at + FINE] = (next << HEAD_SHIFT) | ((held === size ? size : held + 1) << HELD_SHIFT);
  stamp(words, at, by.clock);
}

// The log of greater allowances: hits counted by sixteenth of the window, aligned to the epoch. A slice counts until
// all of it has left the window, so the sum is never below the true count of any window that ends now, and never
// above that of the last 17/16 of a window.

/** The counts begin above the 10 bits of time in word 3. */
const FIRST_BIT = 10;

/** Counts the request in `out`; stores it unless it is only a peek. */
export function judgeSlices(
  words: Uint32Array,
  at: number,
  layout: Layout,
  by: Judgement,
  stores: boolean,
  out: MutableRateResult,
): void {
  const { width, size: highest } = layout;
  settleClock(words, at, by.clock);
  const time = by.clock[NOW]!;
  const newest = by.clock[NEWEST]!;
  const slice = sliceOf(time, by.windowMs);
  const passed = Math.min(slice - sliceOf(newest, by.windowMs), SLICES);
  const place = remainder(slice);
  let sum = 1 + sumOfCounts(words, at, width);
  for (let back = 0; back < passed; back++) {
    // These places are still those of slices that have left the window.
    sum -= countAt(words, at, width, placeBack(place, back));
    if (stores) setCountAt(words, at, width, placeBack(place, back), 0);
  }
  out.count = Math.min(sum, by.most + 1);
  out.breached = sum > by.allowance;
  out.retryAfter = 0;
  if (out.breached) {
    let left = by.isFree ? sum - 1 : sum;
    let back = SLICES - 1;
    // The oldest slices leave first; the request may come when those still counted leave room for it.
    for (; back > 0; back--) {
      if (back >= passed) left -= countAt(words, at, width, placeBack(place, back));
      if (left < by.allowance) break;
    }
    const opens = ((slice + SLICES - back) * by.windowMs) / WINDOW_SLICES;
    out.retryAfter = Math.ceil((opens - time) / 1000);
  }
  if (!stores) return;
  const own = countAt(words, at, width, place);
  if (own < highest) setCountAt(words, at, width, place, own + 1);
  stamp(words, at, by.clock);
}

/** Number of the slice, counted from the epoch. Exact: times have 49 bits, so the quotient's error stays below a step. */
function sliceOf(time: number, windowMs: number): number {
  return Math.floor((time * WINDOW_SLICES) / windowMs);
}

/** `slice` modulo 17. PERF: `%` on numbers above 32 bits is a call out of compiled code. */
function remainder(slice: number): number {
  return slice - SLICES * Math.floor(slice / SLICES);
}

function placeBack(place: number, back: number): number {
  return place >= back ? place - back : place - back + SLICES;
}

/** PERF: one pass over the words; seventeen calls of `countAt` would double the cost of a hit. */
function sumOfCounts(words: Uint32Array, at: number, width: number): number {
  const mask = (1 << width) - 1;
  let word = at + FINE;
  let bits = words[word]! >>> FIRST_BIT;
  let have = 32 - FIRST_BIT;
  let sum = 0;
  for (let i = 0; i < SLICES; i++) {
    if (have >= width) {
      sum += bits & mask;
      bits >>>= width;
      have -= width;
    } else {
      const next = words[++word]!;
      sum += (bits | (next << have)) & mask;
      bits = next >>> (width - have);
      have += 32 - width;
    }
  }
  return sum;
}

function countAt(words: Uint32Array, at: number, width: number, place: number): number {
  const bit = FIRST_BIT + place * width;
  const word = at + FINE + (bit >>> 5);
  const shift = bit & 31;
  let bits = words[word]! >>> shift;
  if (shift + width > 32) bits |= words[word + 1]! << (32 - shift);
  return bits & ((1 << width) - 1);
}

function setCountAt(words: Uint32Array, at: number, width: number, place: number, count: number): void {
  const bit = FIRST_BIT + place * width;
  const word = at + FINE + (bit >>> 5);
  const shift = bit & 31;
  const mask = (1 << width) - 1;
  words[word] = (words[word]! & ~(mask << shift)) | (count << shift);
  if (shift + width <= 32) return;
  const rest = 32 - shift;
  words[word + 1] = (words[word + 1]! & ~(mask >>> rest)) | (count >>> rest);
}
