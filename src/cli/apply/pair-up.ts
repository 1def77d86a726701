/** Finds out which of two lists' entries are the same thing, the surest signs first. */

/** One sign: entries with the same text are taken for the same thing; `null` says nothing. */
export interface Sign<A, B> {
  readonly wanted: (entry: A) => string | null;
  readonly there: (entry: B) => string | null;
  /** `false`: entries that share the text are paired in their order; `true`: they are then not paired at all. */
  readonly unique: boolean;
}

export interface Paired<A, B> {
  readonly pairs: ReadonlyMap<A, B>;
  /** What no entry of the first list stands for, in order. */
  readonly left: readonly B[];
}

/** Pairs entries by one sign after another; an entry is paired once. */
export function pairUp<A, B>(
  wanted: readonly A[],
  there: readonly B[],
  signs: readonly Sign<A, B>[],
): Paired<A, B> {
  const pairs = new Map<A, B>();
  const taken = new Set<B>();
  for (const sign of signs) {
    const open = wanted.filter((entry) => !pairs.has(entry));
    const free = there.filter((entry) => !taken.has(entry));
    const groups = groupBy(free, sign.there);
    for (const [text, ours] of groupBy(open, sign.wanted)) {
      const theirs = groups.get(text) ?? [];
      if (sign.unique && (ours.length > 1 || theirs.length > 1)) continue;
      for (const [index, entry] of ours.entries()) {
        const match = theirs[index];
        if (match === undefined) break;
        pairs.set(entry, match);
        taken.add(match);
      }
    }
  }
  return { pairs, left: there.filter((entry) => !taken.has(entry)) };
}

function groupBy<T>(entries: readonly T[], textOf: (entry: T) => string | null): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const entry of entries) {
    const text = textOf(entry);
    if (text === null) continue;
    const group = groups.get(text);
    if (group === undefined) groups.set(text, [entry]);
    else group.push(entry);
  }
  return groups;
}
