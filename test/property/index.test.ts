/** The indexes against a linear scan of the same plan: the same matches, of fewer candidates. */
import { expect, test } from 'vitest';
import { compile, seal } from '../../src/compiler/index.ts';
import { type Evaluator, loadPlan } from '../../src/evaluator/index.ts';
import { candidateReader } from '../support/candidates.ts';
import { linearPlan, loadLinear } from '../support/linear.ts';
import { cases, expectSame } from './cases.ts';

const CASES = cases(120, 60);

test('a linear scan decides the same', () => {
  for (const made of CASES) {
    const { plan } = compile(made.ruleSet);
    const pair: [Evaluator, Evaluator] = [loadPlan(seal(plan), made.options), loadLinear(plan, made.options)];
    expectSame(pair, made);
  }
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
