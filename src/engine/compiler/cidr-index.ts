/**
 * Address intervals as sorted boundaries: the space is cut wherever an interval starts or ends, and each piece names
 * the posting of the slots that cover it. A look-up is one binary search. Layout of a section: `n` starts (one word
 * each for IPv4, four for IPv6, ascending, the first being 0), then `n` postings.
 */
import { type PlanDraft, placePosting } from './draft.ts';
import { compareWords } from './filters.ts';

/** An inclusive interval of addresses and the slot of its rule. */
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
export function layCidrIndexes(draft: PlanDraft): void {
  const { intervals, always } = draft.filing;
  const unfiled = new Set(always);
  const four = intervals.filter((interval) => interval.family === 4);
  const six = intervals.filter((interval) => interval.family === 6);
  draft.cidr4 = layFamily(draft, { intervals: four, width: 1, unfiled });
  draft.cidr6 = layFamily(draft, { intervals: six, width: 4, unfiled });
  always.splice(0, Number.POSITIVE_INFINITY);
  for (const slot of [...unfiled].sort((a, b) => a - b)) always.push(slot);
}

/** The intervals of one address family. */
interface Family {
  readonly intervals: readonly Interval[];
  /** Words of an address. */
  readonly width: 1 | 4;
  /** Slots that no index narrows; those whose intervals nest too deep are added. */
  readonly unfiled: Set<number>;
}

/**
 * The section of one family. While the pieces exceed the bound, the widest eighth of the intervals is removed and the
 * slots of their rules become unfiled.
 */
function layFamily(draft: PlanDraft, { intervals, width, unfiled }: Family): Uint32Array {
  if (intervals.length === 0) return new Uint32Array(0);
  let indexed = [...intervals].sort((a, b) => compareWords(a.first, b.first)).sort(byWidth);
  let bounds = boundsOf(indexed);
  while (!fits(bounds, indexed.length, width)) {
    const widest = new Set(indexed.slice(0, Math.ceil(indexed.length / 8)).map(({ slot }) => slot));
    for (const slot of widest) unfiled.add(slot);
    indexed = indexed.filter(({ slot }) => !widest.has(slot));
    bounds = bounds.filter(({ slot }) => !widest.has(slot));
  }
  const pieces = indexed.length === 0 ? [] : cut(bounds, width);
  const words = new Uint32Array(pieces.length * (width + 1));
  for (const [index, piece] of pieces.entries()) {
    words.set(piece.start, index * width);
    words[pieces.length * width + index] = placePosting(draft, piece.slots);
  }
  return words;
}

/** Order of intervals by width, the widest first: that is the order in which they lose their index. */
function byWidth(a: Interval, b: Interval): number {
  for (const [word, first] of a.first.entries()) {
    const left = a.last[word]! - first;
    const right = b.last[word]! - b.first[word]!;
    if (left !== right) return right - left;
  }
  return 0;
}

/** An address at which an interval starts (`open`), or before which it ends. */
interface Bound {
  readonly at: readonly number[];
  readonly slot: number;
  readonly open: boolean;
}

/** Both ends of every interval, by address; an interval up to the end of the space has only the first. */
function boundsOf(intervals: readonly Interval[]): readonly Bound[] {
  const bounds = intervals.flatMap(({ first, last, slot }): Bound[] => {
    const after = successor(last);
    const start = { at: first, slot, open: true };
    return after === null ? [start] : [start, { at: after, slot, open: false }];
  });
  return bounds.sort((a, b) => compareWords(a.at, b.at));
}

/** Visits the pieces in order with the slots that cover each, until `visit` returns false; returns whether it never did. */
function sweep(
  bounds: readonly Bound[],
  width: 1 | 4,
  visit: (start: readonly number[], covering: ReadonlyMap<number, number>) => boolean,
): boolean {
  /** By slot, how many of its intervals cover the piece. */
  const covering = new Map<number, number>();
  let at: readonly number[] = new Array<number>(width).fill(0);
  for (let next = 0; ; ) {
    for (; next < bounds.length && compareWords(bounds[next]!.at, at) === 0; next++) {
      const { slot, open } = bounds[next]!;
      const depth = (covering.get(slot) ?? 0) + (open ? 1 : -1);
      if (depth === 0) covering.delete(slot);
      else covering.set(slot, depth);
    }
    if (!visit(at, covering)) return false;
    if (next >= bounds.length) return true;
    at = bounds[next]!.at;
  }
}

/** Whether the lists of all pieces together have at most `ENTRIES_PER_INTERVAL` entries per interval (and 1,024). */
function fits(bounds: readonly Bound[], intervals: number, width: 1 | 4): boolean {
  let budget = intervals * ENTRIES_PER_INTERVAL + 1024;
  return sweep(bounds, width, (_, covering) => {
    budget -= covering.size;
    return budget >= 0;
  });
}

/** A part of the address space that the same rules cover: up to the start of the next piece. */
interface Piece {
  readonly start: readonly number[];
  readonly slots: readonly number[];
}

/** The pieces of the whole address space, ascending. */
function cut(bounds: readonly Bound[], width: 1 | 4): readonly Piece[] {
  const pieces: Piece[] = [];
  sweep(bounds, width, (start, covering) => {
    pieces.push({ start, slots: [...covering.keys()].sort((a, b) => a - b) });
    return true;
  });
  return pieces;
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
