/**
 * Regions beside rules against requests: on generated rule sets no request enters a region that is proved empty, and the request
 * shown for a region enters it. `EDGEPLAN_REGION_SETS` sets how many rule sets are tried.
 */
import { expect, test } from 'vitest';
import { compile } from '../../src/engine/compiler/compile.ts';
import { type Evaluator, loadPlan } from '../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { createCounters } from '../../src/engine/rate-counters/counters.ts';
import { openRegions, regionsIn } from '../../src/workbench/proofs/regions.ts';
import { compilable, readSubject } from '../../src/workbench/proofs/subject.ts';
import { requestOf } from '../../src/workbench/proofs/witness.ts';
import { generateCase } from '../support/generate.ts';
import { everyThird } from '../support/generate-lists.ts';
import { sizeOf } from '../support/size.ts';

const SETS = sizeOf('EDGEPLAN_REGION_SETS', { usual: 80, full: 800 });
const REQUESTS = 300;
/** Windows apart, so that no limit counts two requests. */
const APART_MS = 2 * 86_400_000;

/** `<type>/<id> <region>` of every region that a request enters. */
function entered(evaluator: Evaluator, request: EdgeRequest): readonly string[] {
  return regionsIn(evaluator.explain(request)).map(({ rule, region }) => `${rule.type}/${rule.id} ${region}`);
}

test(`no request enters a region that is proved empty, on ${SETS} rule sets`, { timeout: 3_600_000 }, () => {
  const counts = { found: 0, empty: 0, unknown: 0, entered: 0 };
  for (let seed = 1; seed <= SETS; seed++) {
    const made = generateCase(
      seed,
      REQUESTS,
      seed % 2 === 0 ? { answers: 0.3, conditions: { share: 0.5 } } : {},
    );
    const { requests } = made;
    const ruleSet = everyThird(seed, made.ruleSet);
    const bytes = seal(compile(compilable(ruleSet)).plan, { revision: 1 });
    const evaluator = loadPlan(bytes, { counters: createCounters({ random: () => 0.5 }) });
    const subject = readSubject(bytes);
    const regions = openRegions(subject);
    const known = new Map<string, string>();
    for (const { type, ref } of subject.rules) {
      for (const region of regions.of(type, ref.id)) {
        const name = `${type}/${ref.id} ${region}`;
        const result = regions.find(type, ref.id, region);
        known.set(name, result.kind);
        counts[result.kind]++;
        if (result.kind !== 'found') continue;
        const shown = entered(evaluator, requestOf(result.witness, subject.moment()));
        expect({ seed, shown }).toEqual({ seed, shown: expect.arrayContaining([name]) });
      }
    }
    for (const [index, request] of requests.entries()) {
      const timed = { ...request, now: Date.UTC(2026, 0, 1) + index * APART_MS };
      for (const name of entered(evaluator, timed)) {
        counts.entered++;
        if (known.get(name) === 'empty')
          throw new Error(`seed ${seed}, request ${index} enters ${name}: ${JSON.stringify(request)}`);
        // A filter that every request passes has no region to enter.
        if (!known.has(name))
          throw new Error(`seed ${seed}, request ${index} enters ${name}, which is not listed`);
      }
    }
  }
  if (process.env['SHOW'] !== undefined) console.log(counts);
  expect(counts.entered).toBeGreaterThan(SETS);
  expect(counts.empty).toBeGreaterThan(0);
  expect(counts.found).toBeGreaterThan(10 * counts.unknown);
});
