import { describe, expect, test } from 'vitest';
import { RULE_TYPES } from '../../src/base/vocabulary/vocabulary.ts';
import { ACTIONS, EFFECTS, ORIGIN_SOURCES } from '../../src/engine/evaluator/decision.ts';
import { GATEWAY_REASONS } from '../../src/engine/evaluator/gateways.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import { createOracle, type Decision, type ErrorPageAnswer } from '../oracle/index.ts';
import { generateCase, seeded } from './generate.ts';
import { withConcurrency, withGateways, withQuotas } from './generate-gateways.ts';
import { wordProgram } from './generate-waf.ts';

const CASES = Array.from({ length: 100 }, (_, index) => generateCase(index + 1, 20));

describe('generated cases', () => {
  test('a seed names one case', () => {
    expect(JSON.stringify(generateCase(7, 20))).toBe(JSON.stringify(CASES[6]));
    expect(JSON.stringify(generateCase(8, 20))).not.toBe(JSON.stringify(CASES[6]));
    expect(generateCase(7, 40).ruleSet).toEqual(CASES[6]?.ruleSet);
    const random = seeded(1);
    const draws = random.times(1000, () => random.int(10));
    expect(new Set(draws).size).toBe(10);
  });

  test('hold 1 to 60 rules of all types with ids of their own, and time that only moves on', () => {
    const types = new Set<string>();
    for (const { ruleSet, requests } of CASES) {
      const { rules } = ruleSet;
      expect(rules.length).toBeGreaterThanOrEqual(1);
      expect(rules.length).toBeLessThanOrEqual(60);
      expect(new Set(rules.map((rule) => rule.id)).size).toBe(rules.length);
      for (const rule of rules) types.add(rule.type);
      expect(requests).toHaveLength(20);
      const times = requests.map((request) => request.now ?? Number.NaN);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times.every(Number.isInteger)).toBe(true);
    }
    expect(types).toEqual(new Set(RULE_TYPES.filter((type) => type !== 'headers' && type !== 'gateway')));
  });

  test('have headers rules on demand, which change both messages for real and in shadows', () => {
    const decisions = Array.from({ length: 100 }, (_, seed) =>
      generateCase(seed + 1, 20, { headers: 6 }),
    ).flatMap(({ ruleSet, env, requests }) => {
      const oracle = createOracle(ruleSet, env);
      return requests.map((request) => oracle.evaluate(request));
    });
    const changes = decisions.flatMap(({ requestHeaders = [], responseHeaders = [] }) => [
      ...requestHeaders,
      ...responseHeaders,
    ]);
    for (const op of ['set', 'add', 'remove'])
      expect(changes.filter((change) => change.op === op).length, op).toBeGreaterThan(100);
    // Of tags and requests without ids, countries and fingerprints.
    expect(changes.filter(({ name, value }) => name === 'X-Tag' && value === 't1').length).toBeGreaterThan(0);
    const shadows = decisions.filter(({ shadow, responseHeaders: real }) => {
      return shadow !== null && JSON.stringify(shadow.responseHeaders) !== JSON.stringify(real);
    });
    expect(shadows.length).toBeGreaterThan(20);
    const isWithout = ({ ruleSet }: ReturnType<typeof generateCase>): boolean =>
      ruleSet.rules.every(({ type }) => type !== 'headers');
    expect(isWithout(generateCase(7, 0))).toBe(true);
  });

  test('have gateways on demand, which the model accepts, and every outcome of them', () => {
    const reasons = new Set<string>();
    const shadows = new Set<string>();
    for (const made of CASES) {
      const random = seeded(made.seed);
      const called = withQuotas(random, withGateways(random, made));
      const { ruleSet, env, requests } = withConcurrency(random, called);
      const { domain, records, rules, registry } = ruleSet;
      const gateways = rules.filter(({ type }) => type === 'gateway');
      const parsed = parseRuleSet({ domain, records, rules: gateways, registry }, { partial: true });
      // Destinations of generated records are names, whatever their type is.
      const wrong = parsed.diagnostics.filter(
        ({ path, severity }) => path[0] !== 'records' && severity === 'error',
      );
      expect(wrong, `seed ${made.seed}`).toEqual([]);
      const oracle = createOracle(ruleSet, env);
      for (const request of requests) {
        const decision = oracle.evaluate(request);
        oracle.take(decision);
        const { gateway, shadow } = decision;
        if (gateway !== undefined) reasons.add(gateway.reason);
        if (shadow?.gateway !== undefined) shadows.add(shadow.gateway.reason);
      }
    }
    expect(reasons).toEqual(new Set(GATEWAY_REASONS));
    expect(shadows.size).toBeGreaterThan(4);
    expect(JSON.stringify(generateCase(7, 20))).toBe(JSON.stringify(CASES[6]));
  });

  test('reach every action, effect and origin, and shadows that differ', () => {
    const decisions: Decision[] = [];
    const answers: ErrorPageAnswer[] = [];
    for (const { seed, ruleSet, env, requests } of CASES) {
      const oracle = createOracle(ruleSet, { ...env, waf: seed % 4 === 0 ? null : wordProgram });
      for (const request of requests) {
        decisions.push(oracle.evaluate(request));
        answers.push(oracle.errorPage(request, 500, 'origin'));
      }
    }
    expect(decisions).toHaveLength(2_000);
    const effects = [...decisions, ...answers].flatMap(({ matches }) => matches.map((match) => match.effect));
    expect(new Set(effects)).toEqual(
      new Set(EFFECTS.filter((effect) => effect !== 'headers' && effect !== 'admit')),
    );
    const actions = decisions.map((decision) => decision.action);
    for (const action of ACTIONS) {
      expect(actions.filter((one) => one === action).length, action).toBeGreaterThan(10);
    }
    const sources = new Set(decisions.flatMap(({ origin }) => (origin === null ? [] : [origin.source])));
    expect(sources).toEqual(new Set(ORIGIN_SOURCES));
    const shadowed = decisions.filter(({ shadow }) => shadow !== null);
    expect(shadowed.length).toBeGreaterThan(100);
    expect(shadowed.filter((one) => one.shadow?.action !== one.action).length).toBeGreaterThan(30);
    expect(answers.filter(({ shadow }) => shadow !== null).length).toBeGreaterThan(0);
    expect(decisions.filter(({ action }) => action === 'forward').length).toBeGreaterThan(600);
  });
});
