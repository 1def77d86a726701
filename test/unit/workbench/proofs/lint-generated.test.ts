/** Lint on rule sets nobody wrote: it never fails, and where it says that a rule never acts, no request finds it acting. */
import { expect, test } from 'vitest';
import type { Diagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import type { Decision } from '../../../../src/engine/evaluator/decision.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { lintRuleSet } from '../../../../src/workbench/proofs/lint.ts';
import { generateCase } from '../../../support/generate.ts';
import { everyThird } from '../../../support/generate-lists.ts';
import { loadRuleSet } from '../../../support/load.ts';

const SEEDS = 400;
const REQUESTS = 120;

/** Errors that claim a rule can never act. A redirect loop acts all too often. */
const NEVER = [
  'unproxied_record',
  'unknown_record',
  'empty_scope',
  'exclude_swallows_includes',
  'self_redirect',
];

function deadRules(ruleSet: RuleSet, found: readonly Diagnostic[]): ReadonlySet<number> {
  const dead = found.filter(({ severity, code }) => severity === 'error' && NEVER.includes(code));
  return new Set(dead.map(({ path }) => ruleSet.rules[path[1] as number]!.id));
}

function acting({ matches }: Decision): readonly number[] {
  return matches.filter(({ effect }) => effect !== 'self_redirect').map(({ id }) => id);
}

test('a rule that lint reports as never acting does not act on generated requests', {
  timeout: 3_600_000,
}, () => {
  let claims = 0;
  for (let seed = 0; seed < SEEDS; seed++) {
    const { requests, env, ...made } = generateCase(seed, REQUESTS, {
      answers: 0.3,
      conditions: { share: 0.3 },
    });
    const ruleSet = everyThird(seed, made.ruleSet);
    const dead = deadRules(ruleSet, lintRuleSet(ruleSet));
    claims += dead.size;
    if (dead.size === 0) continue;
    const evaluator = loadRuleSet(ruleSet, env);
    for (const request of requests) {
      const wrong = acting(evaluator.evaluate(request)).filter((id) => dead.has(id));
      expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    }
  }
  expect(claims).toBeGreaterThan(50);
});
