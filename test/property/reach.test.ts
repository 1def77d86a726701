/**
 * Reach against requests: on generated rule sets no request reaches a rule that is proved unreachable, and every witness reaches
 * its rule. `EDGEPLAN_REACH_SETS` sets how many rule sets are tried, `EDGEPLAN_REACH_REQUESTS` how many requests on each.
 */
import { expect, test } from 'vitest';
import { compile } from '../../src/engine/compiler/compile.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { proveReach } from '../../src/workbench/proofs/reach.ts';
import { readSubject } from '../../src/workbench/proofs/subject.ts';
import { generateCase } from '../support/generate.ts';
import { everyFourth } from '../support/generate-gateways.ts';
import { everyThird } from '../support/generate-lists.ts';
import { sizeOf } from '../support/size.ts';

const SETS = sizeOf('EDGEPLAN_REACH_SETS', { usual: 500, full: 5_000 });
const REQUESTS = sizeOf('EDGEPLAN_REACH_REQUESTS', { usual: 400, full: 2_000 });

/** The rule set of a domain that serves, so that every unreachable rule is so because of rules. */
function serving(ruleSet: RuleSet): RuleSet {
  return {
    ...ruleSet,
    domain: { ...ruleSet.domain, status: 'active', suspended: false, developer_mode_until: null },
  };
}

test(`no request reaches a rule proved unreachable on ${SETS} rule sets`, { timeout: 3_600_000 }, () => {
  const counts = { reached: 0, shadowed: 0, unmatched: 0, unknown: 0 };
  for (let seed = 1; seed <= SETS; seed++) {
    const made = everyFourth(
      generateCase(seed, REQUESTS, seed % 2 === 0 ? { answers: 0.3, conditions: { share: 0.5 } } : {}),
    );
    const { requests } = made;
    const ruleSet = everyThird(seed, made.ruleSet);
    const bytes = seal(compile(serving(ruleSet)).plan, { revision: 1 });
    const evaluator = loadPlan(bytes);
    const unreachable = new Map<string, string>();
    for (const { rule, result } of proveReach(readSubject(bytes))) {
      counts[result.kind]++;
      const name = `${rule.type}/${rule.ref.id}`;
      if (process.env.SHOW && result.kind === 'unknown') console.log('unknown', seed, name);
      if (result.kind === 'shadowed' || result.kind === 'unmatched') unreachable.set(name, result.kind);
    }
    requests.forEach((request, index) => {
      const { matches } = evaluator.evaluate(request);
      const pages = [403, 404, 429, 502].flatMap(
        (status) => evaluator.errorPage(request, status, 'origin').matches,
      );
      for (const { type, id } of [...matches, ...pages]) {
        const claim = unreachable.get(`${type}/${id}`);
        if (claim !== undefined)
          throw new Error(
            `seed ${seed}, request ${index} reaches ${type}/${id}, claimed ${claim}: ${JSON.stringify(request)}`,
          );
      }
    });
  }
  if (process.env.SHOW) console.log(counts);
  expect(counts.shadowed).toBeGreaterThan(SETS / 10);
});
