/**
 * What proofs find of rules beside each other: rules that no request reaches, redirects that lead round in a circle, and
 * rules of equal priority that match the same request with different effects. Every claim is proved; what a budget
 * leaves open is reported as such.
 */
import { gatewayBase } from '../../../engine/compiler/draft.ts';
import type { Rule } from '../../../rules/model/types.ts';
import { findCircles } from '../circles.ts';
import { MAX_RULE_STEPS, type Reach } from '../reach.ts';
import { knownOf } from '../rule-types.ts';
import { type SubjectSpace, situationsOf } from '../situations.ts';
import { type Box, commonSets, isEmptyBox, setsOverlap } from '../space/boxes.ts';
import { createBudget, type StepBudget, shareOf } from '../space/budget.ts';
import { findUncovered } from '../space/cover.ts';
import { createStartIndex, type StartIndex, startsOf } from '../space/starts.ts';
import { effectOf, nameOfRule, type SubjectRule } from '../subject.ts';
import { requestOf, type Witness, witnessOf } from '../witness.ts';
import { emptyReason } from './empty-lists.ts';
import type { Finding, ProofContext } from './finding.ts';

/** Steps of the question whether two rules of equal priority share a request. */
const MAX_CONFLICT_STEPS = 20_000;
/** Steps of all such questions about one rule set: a second or so. */
const MAX_CONFLICTS_STEPS = 1_000_000;

/** Rules that a message names; the others are counted. */
const MAX_NAMED = 8;

/** Reports what is not reached. Rules with an error already get no second one. */
export function lintReach(
  { subject, ruleOf, found, lists }: ProofContext,
  reaches: readonly Reach[],
): readonly Finding[] {
  const broken = new Set(found.filter(({ severity }) => severity === 'error').map(({ rule }) => rule));
  const unreached = reaches.flatMap((reach): readonly Finding[] => {
    const rule = ruleOf(reach.rule);
    return broken.has(rule) ? [] : unreachedFinding(reach, rule, { subject, lists });
  });
  const circles = findCircles(subject, reaches).map(({ rules }): Finding => {
    const way = [...rules, rules[0]!].map((one) => `\`${nameOfRule(one)}\``).join(' → ');
    return {
      rule: ruleOf(rules[0]!),
      field: ['target'],
      severity: 'error',
      code: 'redirect_circle',
      message: `leads visitors round in a circle: ${way}`,
      remedy: 'let one of these rules lead elsewhere, or exclude the path it leads to',
    };
  });
  return [...unreached, ...circles];
}

/** The finding about a rule that is not known to be reached. */
function unreachedFinding(
  { rule: subjectRule, result }: Reach,
  rule: Rule,
  { subject, lists }: Pick<ProofContext, 'subject' | 'lists'>,
): readonly Finding[] {
  const at = { rule, field: ['type'] } as const;
  switch (result.kind) {
    case 'reached':
      return [];
    case 'unmatched': {
      const reason = emptyReason(rule, lists);
      const message = `matches no request: ${reason ?? 'no host, path and visitor pass all its filters'}`;
      const remedy =
        reason === null ? 'widen its filters, or remove it' : 'add entries to the list, or remove the rule';
      return [{ ...at, code: 'unmatched_rule', severity: 'error', message, remedy }];
    }
    case 'unknown': {
      const message = `is not proved to be reached or unreachable within ${MAX_RULE_STEPS} steps`;
      const remedy = 'simplify its patterns, or try a request with `edgeplan simulate`';
      return [{ ...at, code: 'unproved_rule', severity: 'info', message, remedy }];
    }
    case 'shadowed': {
      const { by } = result;
      const isSame = by.every((other) => effectOf(subject, other) === effectOf(subject, subjectRule));
      const takes = by.length === 1 ? 'takes every request' : 'together take every request';
      const effect = isSame ? 'with the same effect' : 'with another effect';
      const remedy = isSame ? 'remove it' : 'give it a lower `priority` than theirs, or narrow them';
      // Credentials take the place of a challenge, which no client of an API solves.
      const isGuarded = rule.type === 'captcha' && by.some(({ type }) => type === 'gateway');
      const why = isGuarded ? 'gateways admit API clients, and a captcha never acts there' : effect;
      const message = `is never reached: ${listed(by)} ${takes} that it matches${isGuarded ? ';' : ','} ${why}`;
      return [
        {
          ...at,
          code: 'shadowed_rule',
          severity: isSame ? 'warning' : 'error',
          message,
          remedy: remedyFor(subjectRule, by, remedy),
        },
      ];
    }
    default:
      return result satisfies never;
  }
}

/** Priority orders rules of one type only. */
function remedyFor(rule: SubjectRule, by: readonly SubjectRule[], remedy: string): string {
  if (rule.type === 'captcha' && by.some(({ type }) => type === 'gateway'))
    return 'remove it, or list paths that no gateway has';
  if (remedy === 'remove it' || by.every(({ type }) => type === rule.type)) return remedy;
  return 'narrow the rules that take its requests, or remove it; rules of earlier phases always come first';
}

/** Rules in words. */
function listed(rules: readonly SubjectRule[]): string {
  const names = rules.slice(0, MAX_NAMED).map((rule) => `\`${nameOfRule(rule)}\``);
  const more = rules.length - names.length;
  if (more > 0) return `${names.join(', ')} and ${more} more`;
  const last = names.pop()!;
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`;
}

// Finds rules of one type and equal priority that match the same request with different effects: which of them acts is left to
// their ids, or to their places in the edge file (semantics §3). Each finding has a request, confirmed by the evaluator.

/** Rules of one type and priority. */
interface EqualRules {
  readonly effects: Set<string>;
  readonly filed: StartIndex<{ readonly rule: SubjectRule; readonly box: Box }>;
}

/** The conflicts of reached rules; at most one for each, with the first rule that it conflicts with. */
export function lintConflicts(
  { around, ruleOf }: ProofContext,
  reaches: readonly Reach[],
): readonly Finding[] {
  if (around === null) return [];
  const { space, subject, plan } = around;
  const total = createBudget(MAX_CONFLICTS_STEPS);
  const acting = reaches
    .filter(({ rule, result }) => result.kind === 'reached' && actsAlone(rule))
    .map(({ rule: written }) => ({ written, rule: ruleOf(written), effect: effectOf(subject, written) }));
  const groups = new Map<string, EqualRules>();
  for (const { rule, effect } of acting) {
    const key = rankOf(rule);
    const group = groups.get(key) ?? { effects: new Set(), filed: createStartIndex() };
    group.effects.add(effect);
    groups.set(key, group);
  }
  return acting.flatMap(({ written: later, rule, effect }): readonly Finding[] => {
    const { effects, filed } = groups.get(rankOf(rule))!;
    const box = effects.size > 1 ? space.boxOf(plan, later.slot) : null;
    if (box === null) return [];
    const starts = box.paths === null ? null : startsOf(box.paths.automaton, space.canonical);
    const sharing = filed.sharing(starts);
    filed.add(starts, { rule: later, box });
    for (const { rule: earlier, box: other } of sharing) {
      if (effectOf(subject, earlier) === effect || !setsOverlap(box.sets, other.sets)) continue;
      const witness = sharedRequest(around, { earlier, later }, total);
      if (witness !== null) return [findingOf(rule, nameOfRule(earlier), witness)];
    }
    return [];
  });
}

/** What orders the rules of a type before their ids: of gateways the length of the base path comes first (semantics §15). */
function rankOf(rule: Rule): string {
  return `${rule.type} ${rule.type === 'gateway' ? gatewayBase(rule).length : 0} ${rule.priority}`;
}

function actsAlone(rule: SubjectRule): boolean {
  return !rule.isDryRun && knownOf(rule.type).acting === 'first';
}

/** A request in words, as options of `edgeplan simulate` have it. */
export function requestText({ method, url, headers, ip, country }: Witness): string {
  const facts = [
    ...Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((one) => `--header '${name}: ${one}'`),
    ),
    ...(ip === null ? [] : [`--ip ${ip}`]),
    ...(country === null ? [] : [`--country ${country}`]),
  ];
  return [method === 'GET' ? [] : [method], url, facts].flat().join(' ');
}

function findingOf(rule: Rule, other: string, witness: Witness): Finding {
  return {
    rule,
    field: ['priority'],
    code: 'decided_by_id',
    severity: 'info',
    message: `is equal to that of \`${other}\`, which comes first and has another effect on \`${requestText(witness)}\``,
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
    if (witness !== null && shows(witness, { earlier, later }, subject)) return witness;
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
