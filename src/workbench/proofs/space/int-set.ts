/**
 * Sets of atoms of one axis, as sorted disjoint half-open intervals `[from, to, from, to, …]`. Addresses come in long runs,
 * so a set of intervals stays short where a set of bits would not.
 */

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
