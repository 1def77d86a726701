/** What differs between the traces of one request under two plans, rule by rule. */
import type { RuleNote, TraceDocument } from '../../../workbench/simulation/document.ts';

/** A rule that came out otherwise, or that only one plan has. */
export interface RuleDifference {
  /** `null`: the plan has no such rule. */
  readonly now: RuleNote | null;
  readonly before: RuleNote | null;
}

/** What identifies a rule in both plans: its key, or its id without one. */
export function identityOf({ type, id, key }: Pick<RuleNote, 'type' | 'id' | 'key'>): string {
  return `${type}/${key ?? id}`;
}

/** The rules of a trace by what identifies them. */
export function rulesOf({ phases }: TraceDocument): ReadonlyMap<string, RuleNote> {
  return new Map(phases.flatMap(({ rules }) => rules).map((rule) => [identityOf(rule), rule]));
}

/** Whether two outcomes are one to the reader. */
function isSame(left: RuleNote, right: RuleNote): boolean {
  return (
    left.outcome === right.outcome && left.effect === right.effect && left.reason.text === right.reason.text
  );
}

/** The differences, in the order of the newer plan's rules, then those that it has not. */
export function differencesOf(now: TraceDocument, before: TraceDocument): readonly RuleDifference[] {
  const newer = rulesOf(now);
  const older = rulesOf(before);
  const changed = [...newer].flatMap(([identity, rule]): readonly RuleDifference[] => {
    const other = older.get(identity) ?? null;
    return other !== null && isSame(rule, other) ? [] : [{ now: rule, before: other }];
  });
  const removed = [...older].filter(([identity]) => !newer.has(identity));
  return [...changed, ...removed.map(([, rule]) => ({ now: null, before: rule }))];
}
