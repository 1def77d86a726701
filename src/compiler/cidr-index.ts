/**
 * Address intervals as sorted boundaries: the space is cut wherever an interval starts or ends, and each piece names
 * the posting of the slots that cover it. A look-up is one binary search. Layout of a section: `n` starts (one word
 * each for IPv4, four for IPv6, ascending, the first being 0), then `n` postings.
 */
import { type Draft, placePosting } from './draft.ts';
import { compareWords } from './filters.ts';

interface Interval {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly slot: number;
}

/**
 * Entries over all postings allowed per interval. Intervals that nest deeper than this on average (ten thousand
 * prefixes inside one another) would grow with the square of their number; their widest go to the rules that no
 * index narrows instead.
 */
const ENTRIES_PER_INTERVAL = 24;

/** Lays both address families; intervals that nest too deep join `draft.filing.always`. */
export function layCidrIndexes(draft: Draft): void {
  const { intervals } = draft.filing;
  draft.cidr4 = layFamily(
    draft,
    intervals.filter((interval) => interval.family === 4),
    1,
  );
  draft.cidr6 = layFamily(
    draft,
    intervals.filter((interval) => interval.family === 6),
    4,
  );
}

function layFamily(draft: Draft, intervals: readonly Interval[], width: 1 | 4): Uint32Array {
  let kept = [...intervals].sort((a, b) => compareWords(a.first, b.first));
  let pieces = cut(kept, width);
  while (pieces === null) {
    const widest = new Set(
      [...kept]
        .sort(byWidth)
        .slice(0, Math.ceil(kept.length / 8))
        .map(({ slot }) => slot),
    );
    for (const slot of widest) addAlways(draft.filing.always, slot);
    kept = kept.filter(({ slot }) => !widest.has(slot));
    pieces = cut(kept, width);
  }
  const words = new Uint32Array(pieces.length * (width + 1));
  for (const [index, piece] of pieces.entries()) {
    words.set(piece.start, index * width);
    words[pieces.length * width + index] = placePosting(draft, piece.slots);
  }
  return words;
}

function addAlways(always: number[], slot: number): void {
  if (always.includes(slot)) return;
  always.push(slot);
  always.sort((a, b) => a - b);
}

/** Wider intervals first. */
function byWidth(a: Interval, b: Interval): number {
  for (const [word, first] of a.first.entries()) {
    const left = a.last[word]! - first;
    const right = b.last[word]! - b.first[word]!;
    if (left !== right) return right - left;
  }
  return 0;
}

interface Piece {
  readonly start: readonly number[];
  readonly slots: readonly number[];
}

/** The pieces in order, or `null` when their lists would grow beyond the bound. */
function cut(intervals: readonly Interval[], width: 1 | 4): readonly Piece[] | null {
  if (intervals.length === 0) return [];
  const zero = new Array<number>(width).fill(0);
  const starts = intervals.map((interval) => ({ at: interval.first, slot: interval.slot, open: true }));
  const ends = intervals.flatMap((interval) => {
    const after = successor(interval.last);
    return after === null ? [] : [{ at: after, slot: interval.slot, open: false }];
  });
  const events = [...starts, ...ends].sort((a, b) => compareWords(a.at, b.at));
  const covering = new Map<number, number>();
  const pieces: Piece[] = [];
  let budget = intervals.length * ENTRIES_PER_INTERVAL + 1024;
  let at: readonly number[] = zero;
  for (let next = 0; ; ) {
    for (; next < events.length && compareWords(events[next]!.at, at) === 0; next++) {
      const { slot, open } = events[next]!;
      const depth = (covering.get(slot) ?? 0) + (open ? 1 : -1);
      if (depth === 0) covering.delete(slot);
      else covering.set(slot, depth);
    }
    budget -= covering.size;
    if (budget < 0) return null;
    pieces.push({ start: at, slots: [...covering.keys()].sort((a, b) => a - b) });
    if (next >= events.length) return pieces;
    at = events[next]!.at;
  }
}

/** The address after `last`, or `null` at the end of the space. */
function successor(last: readonly number[]): readonly number[] | null {
  const next = [...last];
  for (let word = next.length - 1; word >= 0; word--) {
    if (next[word] !== 0xffffffff) {
      next[word] = next[word]! + 1;
      return next;
    }
    next[word] = 0;
  }
  return null;
}
