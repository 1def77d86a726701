/**
 * Space-Saving (A. Metwally, D. Agrawal, A. El Abbadi 2005, "Efficient computation of frequent and top-k elements in data
 * streams"): the most frequent values of a stream, with bounds of each count, in bounded memory.
 *
 * The replacement of the least value is deferred, as in D. Anderson and others 2017, "A high-performance algorithm for
 * identifying frequent items in data streams": a summary grows to twice its capacity, then is compacted to the capacity, so
 * that an offer takes constant time on average. Merges are those of P. K. Agarwal and others 2012, "Mergeable summaries".
 *
 * INVARIANT: of every value the true count is at most `count`, or `unlisted` if it has no entry, and at least
 * `count - error`; `unlisted` is at most `total / (capacity + 1)`, unless values were removed for their length.
 */

/** Values of a top list: those that a page of the panel shows, and enough for the error bounds of semantics §10. */
export const TOP_CAPACITY = 1_000;
/**
 * Maximum length, in characters, of all values of a compacted top list: a thousand of 128 characters. A visitor who sends
 * long values must not make lists, batches and rows of the store grow; a list with longer values has fewer.
 */
export const MAX_LIST_LENGTH = 128_000;

/** The bounds of one value's count. */
export interface FrequentValue {
  readonly value: string;
  /** An upper bound; `count - error` is a lower bound. */
  readonly count: number;
  readonly error: number;
}

/** The entry of a value. */
export interface SpaceSavingEntry {
  /** As in `FrequentValue`. */
  count: number;
  error: number;
  /** The hash of the value, for who needs it of every request (`hyperloglog.ts`); -1: not computed yet. */
  hash: number;
}

/** A summary of a stream of values. */
export interface SpaceSaving {
  /** Values after a compaction; before it up to twice as many. */
  readonly capacity: number;
  readonly entries: Map<string, SpaceSavingEntry>;
  /** The sum of the weights of all offers. */
  total: number;
  /** An upper bound of the count of each value without an entry. */
  unlisted: number;
  /** Characters of all values with an entry. */
  length: number;
}

/** The summary of an empty stream. */
export function createSpaceSaving(capacity = TOP_CAPACITY): SpaceSaving {
  return { capacity, entries: new Map(), total: 0, unlisted: 0, length: 0 };
}

/** Adds `weight` occurrences of a value; the caller limits its length. @returns the entry of the value */
export function offer(summary: SpaceSaving, value: string, weight = 1): SpaceSavingEntry {
  summary.total += weight;
  const known = summary.entries.get(value);
  if (known !== undefined) {
    known.count += weight;
    return known;
  }
  const { unlisted } = summary;
  const added = insert(summary, { value: ownText(value), count: unlisted + weight, error: unlisted });
  if (isFull(summary)) compact(summary);
  return added;
}

/** Adds an entry for a value that has none. @returns the entry */
export function insert(summary: SpaceSaving, { value, count, error }: FrequentValue): SpaceSavingEntry {
  const entry = { count, error, hash: -1 };
  summary.entries.set(value, entry);
  summary.length += value.length;
  return entry;
}

function isFull({ entries, capacity, length }: SpaceSaving): boolean {
  return entries.size > capacity * 2 || length > MAX_LIST_LENGTH * 2;
}

/** Removes the least values until the rest is within the capacity. */
function compact(summary: SpaceSaving): void {
  const { values, unlisted } = listed(summary);
  summary.entries.clear();
  summary.length = 0;
  summary.unlisted = unlisted;
  for (const value of values) insert(summary, value);
}

/** The values of a compacted summary, by descending count, and the bound of all others. */
export interface ListedValues {
  readonly values: readonly FrequentValue[];
  readonly unlisted: number;
}

/** The most frequent values within the capacity; of equal ones those that the summary has had longest. */
export function listed({ entries, capacity, unlisted }: SpaceSaving): ListedValues {
  const descending = valuesOf(entries).sort((one, other) => other.count - one.count);
  let size = 0;
  let length = 0;
  for (; size < descending.length && size < capacity; size++) {
    length += descending[size]!.value.length;
    if (length > MAX_LIST_LENGTH) break;
  }
  const next = descending[size];
  return {
    values: descending.slice(0, size),
    unlisted: next === undefined ? unlisted : Math.max(unlisted, next.count),
  };
}

function valuesOf(entries: SpaceSaving['entries']): FrequentValue[] {
  return Array.from(entries, ([value, { count, error }]) => ({ value, count, error }));
}

/** Makes `to` the summary of both streams. */
export function mergeSpaceSaving(to: SpaceSaving, from: SpaceSaving): void {
  const missing = to.unlisted;
  if (from.unlisted > 0) addMissing(to, from);
  for (const [value, { count, error }] of from.entries) {
    const known = to.entries.get(value);
    if (known === undefined) {
      insert(to, { value, count: count + missing, error: error + missing });
    } else {
      known.count += count;
      known.error += error;
    }
  }
  to.total += from.total;
  to.unlisted += from.unlisted;
  if (isFull(to)) compact(to);
}

/** Adds the bound of the values that `from` has no entry for to the entries of `to` that it lacks. */
function addMissing(to: SpaceSaving, from: SpaceSaving): void {
  for (const [value, bounds] of to.entries) {
    if (from.entries.has(value)) continue;
    bounds.count += from.unlisted;
    bounds.error += from.unlisted;
  }
}

/** The values with the highest upper bounds, at most `most`; equal ones by value. */
export function top({ entries }: SpaceSaving, most: number): readonly FrequentValue[] {
  return valuesOf(entries)
    .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
    .slice(0, most);
}

// Texts that share no memory with a longer one.

/**
 * A copy of a text. V8 makes a part of a longer text refer to the whole: a list of paths would retain targets of 16 KiB. The
 * part of a new text, one character longer, retains nothing else.
 */
function ownText(text: string): string {
  return ` ${text}`.slice(1);
}
