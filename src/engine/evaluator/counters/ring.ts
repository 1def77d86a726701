/**
 * The exact log: the newest hits of a key one by one, as 32 bits of milliseconds in a ring. Only hits of the window
 * that ends now are stored, and a window is at most a day, so the wrap of 32 bits after 49.7 days has no effect.
 */
import { type Clock, FINE, type Layout, NEWEST, NOW, RING_START, readNewest, stamp } from './layout.ts';
import type { MutableRateResult } from './result.ts';

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
}

/** Raises now to the newest hit: a clock that was set back counts as stopped. */
export function settleClock(words: Uint32Array, at: number, clock: Clock): void {
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
    // Let through again once the hit that is the allowance's last, counted back from this one, has left.
    let last = head - (by.allowance - 1);
    if (last < 0) last += size;
    const age = by.allowance === 1 ? 0 : (low - words[start + last]!) >>> 0;
    out.retryAfter = Math.ceil((by.windowMs - age) / 1000);
  }
  if (!stores) return;
  words[start + head] = low;
  const next = head + 1 === size ? 0 : head + 1;
  words[at + FINE] = (next << HEAD_SHIFT) | ((held === size ? size : held + 1) << HELD_SHIFT);
  stamp(words, at, by.clock);
}
