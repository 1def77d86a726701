/**
 * What lint proves: rules that no request reaches, entries that the rest of their rule makes needless, and rules whose order is
 * left to their ids. One space serves all proofs about a rule set.
 */
import { proveReach, subjectSpace } from '../reach.ts';
import { compileSubject } from '../serving.ts';
import { lintConflicts } from './conflicts.ts';
import type { Finding, LintContext, ProofContext } from './finding.ts';
import { lintReach } from './reach.ts';
import { lintUnions } from './unions.ts';

/** Everything that is proved about enabled rules. `found`: what is known already is not reported again. */
export function lintProved({ ruleSet, enabled }: LintContext, found: readonly Finding[]): readonly Finding[] {
  if (enabled.length === 0 || !ruleSet.records.some(({ proxied }) => proxied)) return [];
  const subject = compileSubject(ruleSet);
  const rules = new Map(ruleSet.rules.map((rule) => [`${rule.type}/${rule.id}`, rule]));
  const around = subjectSpace(subject);
  const context: ProofContext = {
    subject,
    around,
    ruleOf: ({ ref }) => rules.get(`${ref.type}/${ref.id}`)!,
    found,
  };
  const reaches = proveReach(subject, { around });
  return [...lintReach(context, reaches), ...lintUnions(context), ...lintConflicts(context, reaches)];
}
