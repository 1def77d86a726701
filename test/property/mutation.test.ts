/**
 * Mutants against requests: on generated rule sets no request is decided otherwise by a mutant that is called equivalent, nor is
 * its shadow; and the test of every survivor passes on the rules as written and fails on the mutant.
 * `EDGEPLAN_MUTATION_SETS` sets how many rule sets are tried.
 */
import { expect, test } from 'vitest';
import { compile } from '../../src/engine/compiler/compile.ts';
import type { Decision } from '../../src/engine/evaluator/decision.ts';
import { type Evaluator, loadPlan } from '../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { createCounters } from '../../src/engine/rate-counters/counters.ts';
import { readTestFile } from '../../src/rules/files/test-file.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { mutantsOf, mutate } from '../../src/workbench/mutation/mutants.ts';
import { startMutation } from '../../src/workbench/mutation/mutate.ts';
import { nameRules } from '../../src/workbench/rule-tests/names.ts';
import { prepareTests } from '../../src/workbench/rule-tests/prepare.ts';
import { runTests } from '../../src/workbench/rule-tests/run.ts';
import { generateCase } from '../support/generate.ts';
import { everyThird } from '../support/generate-lists.ts';
import { sizeOf } from '../support/size.ts';

const SETS = sizeOf('EDGEPLAN_MUTATION_SETS', { usual: 60, full: 600 });
const REQUESTS = 300;
const MUTANTS = 40;

/** Rules of a domain that serves; names of rules are their ids. */
function serving(ruleSet: RuleSet): RuleSet {
  const domain = {
    ...ruleSet.domain,
    status: 'active',
    suspended: false,
    developer_mode_until: null,
  } as const;
  return { ...ruleSet, domain };
}

function namesOf(ruleSet: RuleSet): ReturnType<typeof nameRules> {
  const none = { file: 'edge.yaml', rules: new Map(), records: new Map() };
  return nameRules(ruleSet, none as unknown as Parameters<typeof nameRules>[1]);
}

function bytesOf(ruleSet: RuleSet): Uint8Array {
  return seal(compile(ruleSet).plan, { revision: 1 });
}

/** Windows apart, so that no limit counts two requests. */
const APART_MS = 2 * 86_400_000;

function evaluatorOf(ruleSet: RuleSet): Evaluator {
  return loadPlan(bytesOf(ruleSet), { random: () => 0, counters: createCounters({ random: () => 0.5 }) });
}

/** What a request gets, apart from the records of matches and the turns of balancers. */
function outcome(decision: Decision | null): unknown {
  if (decision === null) return null;
  const { matches: _, shadow, origin, ...rest } = decision;
  const isBalanced = origin?.source === 'record' || origin?.source === 'origin_pool';
  return { ...rest, origin: isBalanced ? origin.source : origin, shadow: outcome(shadow) };
}

function outcomesOf(evaluator: Evaluator, requests: readonly EdgeRequest[]): readonly string[] {
  return requests.map((request, index) => {
    const timed = { ...request, now: Date.UTC(2026, 0, 1) + index * APART_MS };
    const pages = [403, 404, 429, 503].map((status) => evaluator.errorPage(timed, status, 'origin'));
    return JSON.stringify([
      outcome(evaluator.evaluate(timed)),
      pages.map(({ page, shadow }) => [page, shadow]),
    ]);
  });
}

test(`no request shows a mutant that is called equivalent, on ${SETS} rule sets`, {
  timeout: 3_600_000,
}, () => {
  const counts = { killed: 0, survived: 0, equivalent: 0, unknown: 0 };
  for (let seed = 1; seed <= SETS; seed++) {
    const generated = generateCase(seed, REQUESTS, { answers: 0.3, conditions: { share: 0.3 } });
    const ruleSet = everyThird(seed, serving(generated.ruleSet));
    const names = namesOf(ruleSet);
    const was = outcomesOf(evaluatorOf(ruleSet), generated.requests);
    const run = startMutation({ ruleSet, names, tests: [], waf: null }, { most: MUTANTS, seed });
    for (const { mutant, judged } of run.results) {
      counts[judged.outcome]++;
      const changed = mutate(ruleSet, mutant);
      const about = `seed ${seed}, ${mutant.rule.type}/${mutant.rule.id} ${mutant.operator} ${mutant.field.join('.')} ${mutant.change}`;
      if (judged.outcome === 'equivalent') {
        const now = outcomesOf(evaluatorOf(changed), generated.requests);
        const place = was.findIndex((text, index) => text !== now[index]);
        if (place >= 0)
          throw new Error(
            `${about}: ${JSON.stringify(generated.requests[place])}\n${was[place]}\n${now[place]}`,
          );
      }
      if (judged.outcome !== 'survived') continue;
      const read = readTestFile(`tests:\n${judged.shown.test}`, 'witness');
      const { tests } = prepareTests(read.tests, { ruleSet, names });
      const passes = [ruleSet, changed].map((one) =>
        runTests(tests, { bytes: bytesOf(one), names }).map(({ passed }) => passed),
      );
      expect({ about, passes }).toEqual({ about, passes: [[true], [false]] });
    }
  }
  if (process.env['SHOW'] !== undefined) console.log(counts);
  expect(counts.equivalent).toBeGreaterThan(SETS);
  expect(counts.survived).toBeGreaterThan(SETS);
});

test('a selection of mutants follows from the seed and leaves no rule out', () => {
  const { ruleSet } = generateCase(3, 1);
  const all = mutantsOf(ruleSet, { most: 100_000, seed: 1 });
  const enabled = ruleSet.rules.filter((rule) => rule.enabled);
  const most = enabled.length * 2;
  const one = mutantsOf(ruleSet, { most, seed: 1 });
  expect(mutantsOf(ruleSet, { most, seed: 1 })).toEqual(one);
  expect(mutantsOf(ruleSet, { most, seed: 2 }).mutants).not.toEqual(one.mutants);
  expect(all.mutants).toHaveLength(all.total);
  expect(one).toMatchObject({ total: all.total });
  expect(one.mutants).toHaveLength(most);
  expect(new Set(one.mutants.map(({ rule }) => rule.id)).size).toBe(enabled.length);
});
