/**
 * Boxes: sets of requests that are a set of atoms on each axis and a set of paths. Every rule's filters are one.
 * A set of atoms is a list of sorted disjoint half-open intervals `[from, to, from, to, …]`: addresses come in long
 * runs, so intervals stay short where a set of bits would not.
 */
import type { Language } from './language.ts';

/** A set of atoms. Intervals are ascending and do not touch. */
export type AtomSet = Int32Array;

/** The empty set. */
export const NO_ATOMS: AtomSet = new Int32Array(0);

/** The set of listed atoms, in any order. */
export function atomSet(atoms: readonly number[]): AtomSet {
  const sorted = [...new Set(atoms)].sort((a, b) => a - b);
  const out: number[] = [];
  for (const atom of sorted) {
    if (out.at(-1) === atom) out[out.length - 1] = atom + 1;
    else out.push(atom, atom + 1);
  }
  return Int32Array.from(out);
}

/** The atoms of both sets. */
export function intersect(a: AtomSet, b: AtomSet): AtomSet {
  const out: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const from = Math.max(a[i]!, b[j]!);
    const to = Math.min(a[i + 1]!, b[j + 1]!);
    if (from < to) out.push(from, to);
    if (a[i + 1]! < b[j + 1]!) i += 2;
    else j += 2;
  }
  return Int32Array.from(out);
}

/** The atoms of `a` that are not in `b`. */
export function subtract(a: AtomSet, b: AtomSet): AtomSet {
  const out: number[] = [];
  let j = 0;
  for (let i = 0; i < a.length; i += 2) {
    let from = a[i]!;
    const to = a[i + 1]!;
    while (j < b.length && b[j + 1]! <= from) j += 2;
    for (let k = j; k < b.length && b[k]! < to; k += 2) {
      if (b[k]! > from) out.push(from, b[k]!);
      from = Math.max(from, b[k + 1]!);
    }
    if (from < to) out.push(from, to);
  }
  return Int32Array.from(out);
}

/** The atoms of either set. */
export function unite(a: AtomSet, b: AtomSet): AtomSet {
  const pairs: (readonly [number, number])[] = [];
  for (const set of [a, b]) for (let i = 0; i < set.length; i += 2) pairs.push([set[i]!, set[i + 1]!]);
  pairs.sort((x, y) => x[0] - y[0]);
  const out: number[] = [];
  for (const [from, to] of pairs) {
    const last = out.length - 1;
    if (last > 0 && from <= out[last]!) out[last] = Math.max(out[last]!, to);
    else out.push(from, to);
  }
  return Int32Array.from(out);
}

/** Whether every atom of `a` is in `b`. */
export function isWithin(a: AtomSet, b: AtomSet): boolean {
  let j = 0;
  for (let i = 0; i < a.length; i += 2) {
    while (j < b.length && b[j + 1]! <= a[i]!) j += 2;
    if (j >= b.length || b[j]! > a[i]! || b[j + 1]! < a[i + 1]!) return false;
  }
  return true;
}

/** Whether the sets share an atom. */
export function overlap(a: AtomSet, b: AtomSet): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (Math.max(a[i]!, b[j]!) < Math.min(a[i + 1]!, b[j + 1]!)) return true;
    if (a[i + 1]! < b[j + 1]!) i += 2;
    else j += 2;
  }
  return false;
}

/** Whether the set has the atom. */
export function hasAtom(set: AtomSet, atom: number): boolean {
  let low = 0;
  let high = set.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (set[middle * 2 + 1]! <= atom) low = middle + 1;
    else high = middle;
  }
  return low * 2 < set.length && set[low * 2]! <= atom;
}

// One axis of the space of requests: finitely many atoms, each standing for values that no rule distinguishes.

/**
 * The fixed axes, besides the path. `status` is of responses, for error pages. Those of what conditions read come after them
 * (`value-axes.ts`), as many as a space has.
 */
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

/** The axes of a box, in the order of the space. */
export type AxisSets = readonly (AtomSet | null)[];

/** A set of requests. */
export interface Box {
  /** By axis; `null`: everything. */
  readonly sets: AxisSets;
  /** The paths; `null`: every path. */
  readonly paths: Language | null;
}

/** Whether some axis of the box is empty. */
export function isEmptyBox({ sets }: Box): boolean {
  return sets.some((set) => set !== null && set.length === 0);
}

/** The sets of both, axis by axis. */
export function commonSets(a: AxisSets, b: AxisSets): AxisSets {
  return a.map((set, axis) => {
    const other = b[axis]!;
    return set === null ? other : other === null ? set : intersect(set, other);
  });
}

/** Whether the boxes overlap on every axis, whatever their paths. */
export function setsOverlap(a: AxisSets, b: AxisSets): boolean {
  return a.every((set, axis) => {
    const other = b[axis]!;
    return set === null || other === null || overlap(set, other);
  });
}

/** The sets with one axis replaced. */
export function withAxis(sets: AxisSets, axis: number, set: AtomSet | null): AxisSets {
  return sets.map((old, at) => (at === axis ? set : old));
}

/** The sets, narrowed on some axes. */
export function restricted(
  sets: AxisSets,
  by: readonly { readonly axis: number; readonly set: AtomSet }[],
): AxisSets {
  return by.reduce<AxisSets>((all, { axis, set }) => {
    const own = all[axis]!;
    return withAxis(all, axis, own === null ? set : intersect(own, set));
  }, sets);
}
