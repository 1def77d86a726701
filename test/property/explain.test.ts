/** The account that `explain` gives: it changes nothing, leaves no rule out, and says of each what really held. */
import { expect, test } from 'vitest';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import {
  CHECKS,
  type CheckTrace,
  OUTCOMES,
  PHASES,
  REASONS,
  type RuleTrace,
  type Trace,
} from '../../src/engine/evaluator/trace.ts';
import type { Rule, RuleSet } from '../../src/rules/model/types.ts';
import { everyFourth, withConcurrency, withQuotas } from '../support/generate-gateways.ts';
import { seeded } from '../support/generate-random.ts';
import { cases } from './cases.ts';

const MIXED = cases(60, 50, { answers: 0.3, conditions: { share: 0.3 }, headers: 3 });
/** Cases with gateways whose other rules answer little, so that most requests reach a gateway. */
const OPEN = cases(160, 80, { answers: 0.05 }).filter(({ seed }) => seed % 4 === 1);
const CASES = [...MIXED, ...OPEN].map((made) => {
  const limited = withQuotas(seeded(made.seed), everyFourth(made));
  return limited.ruleSet.registry === undefined ? limited : withConcurrency(seeded(made.seed), limited);
});

test('evaluate and explain make the same decision', () => {
  for (const { seed, ruleSet, requests, options } of CASES) {
    const bytes = seal(compile(ruleSet).plan);
    const plain = loadPlan(bytes, options);
    const traced = loadPlan(bytes, options);
    const mixed = loadPlan(bytes, options);
    for (const [index, request] of requests.entries()) {
      const expected = JSON.stringify(plain.evaluate(request));
      expect(JSON.stringify(traced.explain(request).decision), `seed ${seed}, request ${index}`).toBe(
        expected,
      );
      const either = index % 2 === 0 ? mixed.evaluate(request) : mixed.explain(request).decision;
      expect(JSON.stringify(either), `seed ${seed}, request ${index}`).toBe(expected);
    }
  }
});

test('bodyWanted and errorPage do not change later decisions', () => {
  for (const { seed, ruleSet, requests, options } of CASES) {
    const bytes = seal(compile(ruleSet).plan);
    const plain = loadPlan(bytes, options);
    const asked = loadPlan(bytes, options);
    for (const [index, request] of requests.entries()) {
      asked.bodyWanted(request);
      asked.errorPage(request, 404, 'origin');
      const expected = JSON.stringify(plain.evaluate(request));
      expect(JSON.stringify(asked.evaluate(request)), `seed ${seed}, request ${index}`).toBe(expected);
    }
  }
});

test('a trace has every rule once, in evaluation order, with its checks', () => {
  const seen = new Set<string>();
  for (const { seed, ruleSet: given, requests, options } of CASES) {
    const developer_mode_until = seed % 8 === 0 ? '2040-01-01T00:00:00Z' : null;
    const ruleSet = { ...given, domain: { ...given.domain, developer_mode_until } };
    const evaluator = loadPlan(seal(compile(ruleSet).plan), options);
    const order = evaluationOrder(ruleSet);
    // A plan without rules of these types has no such phase, so that its traces stay as they were.
    const absent = ['headers', 'gateway'].filter((late) => order.every(({ type }) => type !== late));
    const stored = new Map(order.map((rule) => [nameOf(rule), rule]));
    for (const [index, request] of requests.entries()) {
      const trace = evaluator.explain(request);
      const where = `seed ${seed}, request ${index}`;
      expect(
        trace.phases.map((phase) => phase.name),
        where,
      ).toEqual(PHASES.filter((name) => !absent.includes(name)));
      const rules = trace.phases.flatMap((phase) => phase.rules);
      const refused = trace.phases[0]!.outcome === 'final';
      expect(rules.map(nameOf), where).toEqual(refused ? [] : order.map(nameOf));
      expect(
        trace.phases.filter((phase) => phase.outcome === 'final'),
        where,
      ).toHaveLength(1);
      for (const rule of rules) {
        const mistake = mistakeIn(rule, trace, stored.get(nameOf(rule))!);
        if (mistake !== null) throw new Error(`${where}: ${mistake}: ${JSON.stringify(rule)}`);
        seen.add(rule.outcome).add(rule.reason.code);
      }
      // The slot is never freed, so that later requests of the consumer find none.
      evaluator.takeSlot(trace.decision);
    }
  }
  for (const outcome of OUTCOMES) expect(seen, outcome).toContain(outcome);
  for (const reason of REASONS) expect(seen, reason).toContain(reason);
});

function nameOf({ type, id }: { readonly type: string; readonly id: number }): string {
  return `${type}/${id}`;
}

function evaluationOrder({ rules }: RuleSet): readonly Rule[] {
  const phase = (rule: Rule): number => PHASES.indexOf(rule.type.replace(/_(route|pool)$/, '') as never);
  const place = (rule: Rule): number =>
    rule.type === 'bot_route'
      ? PHASES.indexOf('bot_route')
      : phase(rule) + (rule.type === 'origin_pool' ? 0.5 : 0);
  return [...rules].sort(
    (a, b) => place(a) - place(b) || baseOf(b) - baseOf(a) || a.priority - b.priority || a.id - b.id,
  );
}

/** Characters of a gateway's base path: the most specific one is evaluated first. */
function baseOf(rule: Rule): number {
  return rule.type !== 'gateway' || rule.base_path === '/' ? 0 : decodeURIComponent(rule.base_path).length;
}

/** What is wrong with the account of one rule, or `null`. */
function mistakeIn(rule: RuleTrace, trace: Trace, stored: Rule): string | null {
  const failed = rule.checks.filter((check) => check.pass !== true);
  const match = trace.decision.matches.find((one) => one.type === rule.type && one.id === rule.id);
  if (!OUTCOMES.includes(rule.outcome) || !REASONS.includes(rule.reason.code)) return 'an unlisted word';
  if (rule.reason.text.trim() === '') return 'a reason without words';
  if (rule.priority !== stored.priority) return 'another priority';
  if ((rule.outcome === 'matched') !== (match !== undefined)) return 'not what the decision recorded';
  if (rule.effect !== (match?.effect ?? 'none')) return 'not the effect that the decision recorded';
  if (match !== undefined && rule.mode !== match.mode) return 'not the mode that the decision recorded';
  if (rule.outcome !== 'skipped' && failed.length > 0) return 'a check failed';
  if (rule.outcome === 'skipped' && failed.length === 0) {
    if (rule.type !== 'error_page' || rule.reason.code !== 'status_not_listed') return 'no check failed';
  }
  if (failed.length > 0 && rule.reason.text !== failed[0]!.text)
    return 'not the reason of the first failed check';
  for (const check of rule.checks) {
    const mistake = mistakeInCheck(check, stored);
    if (mistake !== null) return `${check.check}: ${mistake}`;
  }
  return null;
}

function mistakeInCheck({ check, pass, text, entry }: CheckTrace, stored: Rule): string | null {
  if (!CHECKS.includes(check) || text.trim() === '') return 'an unlisted word, or none';
  if (entry !== undefined && !entryExists(stored, entry)) return `the rule has no ${entry}`;
  const listless = check === 'enabled' || check === 'verified';
  return pass !== true && !listless && entry === undefined ? 'fails and names no entry' : null;
}

/**
 * Whether `path_includes[2]`, `conditions.headers[0].values[1]` and the like lead somewhere in the rule as it is stored; an
 * empty list stands for `/*`.
 */
function entryExists(stored: Rule, entry: string): boolean {
  if (entry === 'path_includes[0]') return true;
  let value: unknown = stored;
  for (const [step = ''] of entry.matchAll(/\w+/g)) {
    if (typeof value !== 'object' || value === null) return false;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  // A condition may compare with an empty value.
  const isEmpty = value === undefined || (value === '' && !entry.includes('.values['));
  return Array.isArray(value) ? value.length > 0 : !isEmpty;
}
