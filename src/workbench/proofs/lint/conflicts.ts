/**
 * Finds rules of one type and equal priority that match the same request with different effects: which of them acts is left to
 * their ids, or to their places in the edge file (semantics §3). Each finding has a request, confirmed by the evaluator.
 */
import type { Rule } from '../../../rules/model/types.ts';
import { effectOf, nameOfRule } from '../effects.ts';
import type { Reach } from '../reach.ts';
import { type SubjectSpace, situationsOf } from '../situations.ts';
import { commonSets, isEmptyBox } from '../space/box.ts';
import { createBudget, type StepBudget, shareOf } from '../space/budget.ts';
import { findUncovered } from '../space/cover.ts';
import { MAX_CONFLICT_STEPS, MAX_CONFLICTS_STEPS } from '../space/limits.ts';
import { requestOf, type Witness, witnessOf } from '../space/witness.ts';
import type { SubjectRule } from '../subject.ts';
import type { Finding, ProofContext } from './finding.ts';

/** Types of which the first match alone acts, whatever it does. */
const FIRST_ALONE: readonly Rule['type'][] = [
  'waf',
  'redirect',
  'captcha',
  'rewrite',
  'cache',
  'origin_route',
  'origin_pool',
  'error_page',
];

/** The conflicts of reached rules; at most one for each, with the first rule that it conflicts with. */
export function lintConflicts(
  { around, ruleOf }: ProofContext,
  reaches: readonly Reach[],
): readonly Finding[] {
  if (around === null) return [];
  const total = createBudget(MAX_CONFLICTS_STEPS);
  const acting = reaches.filter(({ rule, result }) => result.kind === 'reached' && actsAlone(rule));
  return acting.flatMap(({ rule: later }, place): readonly Finding[] => {
    const rule = ruleOf(later);
    for (const { rule: earlier } of acting.slice(0, place)) {
      if (earlier.type !== later.type || ruleOf(earlier).priority !== rule.priority) continue;
      if (effectOf(around.subject, earlier) === effectOf(around.subject, later)) continue;
      const witness = sharedRequest(around, { earlier, later }, total);
      if (witness !== null) return [findingOf(rule, nameOfRule(earlier), witness)];
    }
    return [];
  });
}

function actsAlone(rule: SubjectRule): boolean {
  return !rule.isDryRun && FIRST_ALONE.includes(rule.type);
}

function findingOf(rule: Rule, other: string, { method, url, ip, country }: Witness): Finding {
  const facts = [ip === null ? [] : [`--ip ${ip}`], country === null ? [] : [`--country ${country}`]].flat();
  const request = [method === 'GET' ? [] : [method], url, facts].flat().join(' ');
  return {
    rule,
    field: ['priority'],
    code: 'decided_by_id',
    severity: 'info',
    message: `is equal to that of \`${other}\`, which comes first and has another effect on \`${request}\``,
    remedy: 'give the rule that is to win the lower `priority`',
  };
}

/** A request that reaches the earlier rule, and that the later one matches too. */
function sharedRequest(
  around: SubjectSpace,
  { earlier, later }: { readonly earlier: SubjectRule; readonly later: SubjectRule },
  total: StepBudget,
): Witness | null {
  const { space, subject, plan } = around;
  const other = space.boxOf(plan, later.slot);
  const situations = situationsOf(around, earlier);
  if (other === null || situations === null) return null;
  const budget = shareOf(total, MAX_CONFLICT_STEPS);
  for (const one of situations) {
    const target = { sets: commonSets(one.target.sets, other.sets), paths: one.target.paths ?? other.paths };
    if (isEmptyBox(target)) continue;
    const further = one.target.paths === null ? null : other.paths;
    const result = findUncovered({ ...one, blockers: one.blockers.boxes, target, further }, space, budget);
    if (result.kind !== 'point') continue;
    const witness = witnessOf(result.point, space, one.acme);
    if (shows(witness, { earlier, later }, subject)) return witness;
  }
  return null;
}

/** Whether the evaluator finds that the earlier rule acts on a request, and that the later one passes all its filters. */
function shows(
  witness: Witness,
  { earlier, later }: { readonly earlier: SubjectRule; readonly later: SubjectRule },
  { evaluator, moment }: SubjectSpace['subject'],
): boolean {
  const request = requestOf(witness, moment());
  const { decision, phases } = evaluator.explain(request);
  const pages = evaluator.errorPage(request, witness.status ?? 500, 'origin');
  const acts = [...decision.matches, ...pages.matches].some(
    ({ type, id, effect }) => type === earlier.type && id === earlier.ref.id && effect !== 'self_redirect',
  );
  const traced = phases
    .flatMap(({ rules }) => rules)
    .find(({ type, id }) => type === later.type && id === later.ref.id);
  return acts && traced?.checks.every(({ pass }) => pass === true) === true;
}
