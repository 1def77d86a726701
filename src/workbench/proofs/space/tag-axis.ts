/** The axis of tags, which are those of rules of one plan. In: a plan. Out: atoms that are combinations of tags, and sets of them. */
import type { LoadedPlan } from '../../../engine/evaluator/loaded.ts';
import { type AtomSet, atomSet, subtract } from './boxes.ts';
import { tagSlots, termsOfPlan } from './terms.ts';

/** Tagging rules whose combinations are atoms. */
const MAX_TAGS = 10;

/** The axis. */
export interface TagAxis {
  readonly axis: number;
  readonly all: AtomSet;
  /** Rules whose tags make a difference. */
  readonly slots: readonly number[];
  /** Requests that one of these rules has tagged, or that none has; `null`: too many rules tag to know. */
  setOf(slots: readonly number[], negated: boolean): AtomSet | null;
}

/** The axis with this number; `null`: no condition asks for tags. */
export function tagAxis(loaded: LoadedPlan, axis: number): TagAxis | null {
  const isAsked = [...termsOfPlan(loaded)].some(({ comparison }) => comparison === 'tagged');
  if (!isAsked) return null;
  const tagging = tagSlots(loaded);
  const slots = tagging.slice(0, MAX_TAGS);
  const all = Int32Array.of(0, 2 ** slots.length);
  return {
    axis,
    all,
    slots,
    setOf(wanted, negated) {
      if (wanted.some((slot) => tagging.includes(slot) && !slots.includes(slot))) return null;
      const mask = slots.reduce(
        (bits, slot, place) => (wanted.includes(slot) ? bits | (1 << place) : bits),
        0,
      );
      const listed = atomSet([...Array(all[1]!).keys()].filter((tags) => (tags & mask) !== 0));
      return negated ? subtract(all, listed) : listed;
    },
  };
}
