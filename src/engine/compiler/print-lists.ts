/** Lists of numbers and texts in the words of a plan (layout: `engine/plan/layout.ts`), for its printed form. */
import { decodeString, type Plan } from '../plan/layout.ts';

/** The numbers of a list in `words`: their count at `offset`, then the numbers. */
export function listAt(plan: Plan, offset: number): readonly number[] {
  return [...plan.words.subarray(offset + 1, offset + 1 + plan.words[offset]!)];
}

/** The texts of a list of strings in `words`. */
export function textsAt(plan: Plan, offset: number): readonly string[] {
  return listAt(plan, offset).map((number) => decodeString(plan, number));
}
