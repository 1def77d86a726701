/** Boxes: sets of requests that are a set on each axis and a set of paths. Every rule's filters are one. */
import type { AtomSet } from './int-set.ts';
import { intersect, overlap } from './int-set.ts';
import type { Language } from './language.ts';

/** The axes of a box in the order of `AXES`. */
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
