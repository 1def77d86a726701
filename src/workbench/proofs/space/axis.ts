/** One axis of the space of requests: finitely many atoms, each standing for values that no rule distinguishes. */
import type { AtomSet } from './int-set.ts';

/** The axes, besides the path. `status` is of responses, for error pages. */
export const AXES = ['host', 'ip', 'country', 'bot', 'ja4', 'ja4h', 'status'] as const;
export type Axis = (typeof AXES)[number];

/** Sets of an axis by what they were made of, so that equal filters are one set. */
export type SetCache = Map<string, AtomSet>;

/** The set of a key, made at its first use. */
export function cachedSet(cache: SetCache, key: string, make: () => AtomSet): AtomSet {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made);
  return made;
}
