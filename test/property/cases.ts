/** The generated cases that properties are tried on, and the comparison of two evaluators in lockstep. */
import { expect } from 'vitest';
import type { Decision, EdgeRequest, Evaluator, EvaluatorOptions } from '../../src/engine/evaluator/index.ts';
import type { OracleEnv } from '../oracle/index.ts';
import { type CaseOptions, type GeneratedCase, generateCase } from '../support/generate.ts';
import { wordProgram } from '../support/generate-waf.ts';
import { optionsOf } from '../support/load.ts';

/** Where the seeds start; another number tries other cases. */
const FIRST_SEED = Number(process.env['EDGEPLAN_SEED'] ?? 1);

export interface Case extends GeneratedCase {
  readonly options: EvaluatorOptions;
}

/** `count` cases of `requests` requests each, from consecutive seeds. */
export function cases(count: number, requests: number, options: CaseOptions = {}): readonly Case[] {
  return Array.from({ length: count }, (_, index) => {
    const made = generateCase(FIRST_SEED + index, requests, options);
    const env: OracleEnv = { ...made.env, waf: made.seed % 3 === 0 ? null : wordProgram };
    return { ...made, options: optionsOf(env) };
  });
}

/** Sends every request to both evaluators; `view` is what must be equal of the two decisions. */
export function expectSame(
  pair: readonly [Evaluator, Evaluator],
  { seed, requests }: { readonly seed: number; readonly requests: readonly EdgeRequest[] },
  view: (decision: Decision) => unknown = (decision) => decision,
): void {
  for (const [index, request] of requests.entries()) {
    const [first, second] = [view(pair[0].evaluate(request)), view(pair[1].evaluate(request))];
    if (JSON.stringify(first) !== JSON.stringify(second)) {
      expect(second, `seed ${seed}, request ${index}: ${JSON.stringify(request)}`).toEqual(first);
      throw new Error(`seed ${seed}, request ${index}: the decisions differ in the order of their fields`);
    }
  }
}
