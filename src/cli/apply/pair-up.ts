/** Pairs entries of two lists that represent the same object, by the strongest key first. */

/** A pairing key: entries whose texts are equal are paired; `null`: the key does not apply. */
export interface PairingKey<A, B> {
  /** The text of an entry of the first list. */
  readonly desired: (entry: A) => string | null;
  /** The text of an entry of the second list. */
  readonly existing: (entry: B) => string | null;
  /** `false`: entries of equal text are paired in their order; `true`: they are not paired. */
  readonly unique: boolean;
}

/** The result of pairing. */
export interface Paired<A, B> {
  /** Entries of the second list by those of the first. */
  readonly pairs: ReadonlyMap<A, B>;
  /** Entries of the second list that were not paired, in order. */
  readonly left: readonly B[];
}

/** Pairs entries by one key after another; an entry is paired at most once. */
export function pairUp<A, B>(
  desired: readonly A[],
  existing: readonly B[],
  keys: readonly PairingKey<A, B>[],
): Paired<A, B> {
  const pairs = new Map<A, B>();
  const taken = new Set<B>();
  for (const key of keys) {
    const open = desired.filter((entry) => !pairs.has(entry));
    const free = existing.filter((entry) => !taken.has(entry));
    const groups = groupBy(free, key.existing);
    for (const [text, ours] of groupBy(open, key.desired)) {
      const theirs = groups.get(text) ?? [];
      if (key.unique && (ours.length > 1 || theirs.length > 1)) continue;
      for (const [index, entry] of ours.entries()) {
        const match = theirs[index];
        if (match === undefined) break;
        pairs.set(entry, match);
        taken.add(match);
      }
    }
  }
  return { pairs, left: existing.filter((entry) => !taken.has(entry)) };
}

/** Groups entries by text; entries without a text are left out. */
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
