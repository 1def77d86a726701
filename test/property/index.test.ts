/** The indexes against a linear scan of the same plan: the same matches, of fewer candidates. */
import { expect, test } from 'vitest';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { type Evaluator, loadPlan } from '../../src/engine/evaluator/index.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { candidateReader } from '../support/candidates.ts';
import { seeded } from '../support/generate.ts';
import { everyFourth } from '../support/generate-gateways.ts';
import { generateRule } from '../support/generate-rules.ts';
import { linearPlan, loadLinear } from '../support/linear.ts';
import { type Case, cases, expectSame } from './cases.ts';

const CASES = cases(120, 60, { answers: 0.3, conditions: { share: 0.3 } }).map(everyFourth);

test('the indexes and a linear scan make the same decisions', () => {
  for (const made of CASES) {
    const { plan } = compile(made.ruleSet);
    const pair: [Evaluator, Evaluator] = [loadPlan(seal(plan), made.options), loadLinear(plan, made.options)];
    expectSame(pair, made);
  }
});

/** The case with hundreds of rules more, so that a request meets more candidates than are sorted outright. */
function crowded(made: Case): RuleSet {
  const random = seeded(made.seed);
  const recordIds = made.ruleSet.records.map((record) => record.id);
  const place = { domain: made.ruleSet.domain.name, recordIds };
  const more = random.times(400, (index) => generateRule(random, { ...place, id: 1_000 + index }));
  return { ...made.ruleSet, rules: [...made.ruleSet.rules, ...more] };
}

test('among hundreds of rules, merged by window, the same rules match', () => {
  let windowed = 0;
  for (const made of CASES.slice(0, 12)) {
    const { plan } = compile(crowded(made));
    const indexed = candidateReader(plan);
    const linear = candidateReader(linearPlan(plan));
    for (const [index, request] of made.requests.entries()) {
      const some = indexed(request);
      if (some?.windowed === true) windowed++;
      expect(some?.matching, `seed ${made.seed}, request ${index}`).toEqual(linear(request)?.matching);
    }
    const pair: [Evaluator, Evaluator] = [loadPlan(seal(plan), made.options), loadLinear(plan, made.options)];
    expectSame(pair, made);
  }
  expect(windowed).toBeGreaterThan(300);
});

test('the indexes let every matching rule through, and few others', () => {
  let scanned = 0;
  let gathered = 0;
  for (const { seed, ruleSet, requests } of CASES) {
    const { plan } = compile(ruleSet);
    const indexed = candidateReader(plan);
    const linear = candidateReader(linearPlan(plan));
    for (const [index, request] of requests.entries()) {
      const all = linear(request);
      const some = indexed(request);
      expect(some?.matching, `seed ${seed}, request ${index}`).toEqual(all?.matching);
      expect(all?.slots.length ?? ruleSet.rules.length).toBe(ruleSet.rules.length);
      scanned += all?.slots.length ?? 0;
      gathered += some?.slots.length ?? 0;
    }
  }
  expect(gathered).toBeGreaterThan(0);
  expect(gathered / scanned).toBeLessThan(0.6);
});
