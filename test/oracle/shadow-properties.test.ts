import { expect, test } from 'vitest';
import type { Rule, RuleSet } from '../../src/rules/model/types.ts';
import { generateCase } from '../support/generate.ts';
import { wordProgram } from '../support/generate-waf.ts';
import { createOracle, type Decision } from './index.ts';

const CASES = Array.from({ length: 60 }, (_, index) =>
  generateCase(index + 1, 30, { answers: 0.3, conditions: { share: 0.3, strayTags: true } }),
);

function isDry(rule: Rule): boolean {
  return rule.type !== 'cache' && rule.action_mode === 'dry_run';
}

/** The decision as it would read if every rule were an enforcing one. */
function plain(decision: Decision): Decision {
  const matches = decision.matches.map((match) => ({ ...match, mode: 'enforce' as const }));
  return { ...decision, matches, shadow: null };
}

test('without its dry_run rules a rule set decides the same', () => {
  for (const { seed, ruleSet, env, requests } of CASES) {
    const given = createOracle(ruleSet, { ...env, waf: wordProgram });
    const without: RuleSet = { ...ruleSet, rules: ruleSet.rules.filter((rule) => !isDry(rule)) };
    const bare = createOracle(without, { ...env, waf: wordProgram });
    for (const request of requests) {
      const { shadow, ...real } = given.evaluate(request);
      const matches = real.matches.filter((match) => match.mode === 'enforce');
      expect({ ...real, matches, shadow: null }, `seed ${seed}`).toEqual(bare.evaluate(request));
    }
  }
});

test('the shadow of a first request is what the enforced rule set decides', () => {
  let shadows = 0;
  for (const { seed, ruleSet, env, requests } of CASES) {
    const rules = ruleSet.rules.map((rule) => ({ ...rule, action_mode: 'enforce' as const }));
    for (const request of requests) {
      const { shadow } = createOracle(ruleSet, { ...env, waf: wordProgram }).evaluate(request);
      if (shadow === null) continue;
      shadows += 1;
      const enforced = createOracle({ ...ruleSet, rules }, { ...env, waf: wordProgram }).evaluate(request);
      expect(plain(shadow), `seed ${seed}`).toEqual(enforced);
    }
  }
  expect(shadows).toBeGreaterThan(200);
});

test('the order in which rules are stored changes nothing', () => {
  for (const { seed, ruleSet, env, requests } of CASES) {
    const given = createOracle(ruleSet, env);
    const turned = createOracle({ ...ruleSet, rules: [...ruleSet.rules].reverse() }, env);
    for (const request of requests) {
      expect(turned.evaluate(request), `seed ${seed}`).toEqual(given.evaluate(request));
    }
  }
});
