/**
 * Prepares two sealed plans for the proof of their changes: pairs their rules, and finds those that differ or changed places.
 */
import { diffPlans, type PlanSide, pairedRules } from './diff.ts';
import type { ChangeInput } from './differences.ts';
import { readSubject, type Subject } from './subject.ts';

/** A side as it is compared field by field, with its sealed bytes. */
export interface SealedSide extends PlanSide {
  readonly bytes: Uint8Array;
}

/** The input of `proveChanges`. @throws PlanFault */
export function changeInput(before: SealedSide, after: SealedSide): ChangeInput {
  const pairs = pairedRules(before, after);
  const subjects = { before: readSubject(before.bytes), after: readSubject(after.bytes) };
  const differing = { before: new Set<string>(), after: new Set<string>() };
  for (const { change, rule, before: was, fields } of diffPlans(before, after).rules) {
    // A rule whose priority alone differs acts as before unless its place among the others changed.
    if (change === 'moved') continue;
    if (fields.length === 0) continue;
    if (change !== 'added') differing.before.add(was ?? rule);
    if (change !== 'removed') differing.after.add(rule);
  }
  for (const name of displaced(subjects, pairs)) {
    differing.after.add(name);
    differing.before.add(pairs.get(name)!);
  }
  return {
    before: { subject: subjects.before, differing: differing.before },
    after: { subject: subjects.after, differing: differing.after },
    pairs,
  };
}

/**
 * Paired rules that are no longer in the order they were in: those outside a longest sequence of rules whose order is the same
 * on both sides (the longest increasing subsequence of their old places; Fredman 1975).
 */
function displaced(
  { before, after }: { readonly before: Subject; readonly after: Subject },
  pairs: ReadonlyMap<string, string>,
): readonly string[] {
  const places = new Map(before.rules.map(({ type, ref }, place) => [`${type}/${ref.id}`, place]));
  const rows = after.rules.flatMap(({ type, ref }) => {
    const name = `${type}/${ref.id}`;
    const place = places.get(pairs.get(name) ?? '');
    return place === undefined ? [] : [{ name, place }];
  });
  const ordered = increasing(rows.map(({ place }) => place));
  return rows.filter((_, index) => !ordered.has(index)).map(({ name }) => name);
}

/** The places of a longest increasing subsequence. */
function increasing(values: readonly number[]): ReadonlySet<number> {
  const tails: number[] = [];
  const previous = new Int32Array(values.length).fill(-1);
  values.forEach((value, index) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[tails[middle]!]! < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[index] = tails[low - 1]!;
    tails[low] = index;
  });
  const chosen = new Set<number>();
  for (let at = tails.at(-1) ?? -1; at >= 0; at = previous[at]!) chosen.add(at);
  return chosen;
}
