/**
 * Every case of `fixtures/cases/*.json` through every path that decides: the oracle, the plan (sealed and opened, as
 * an edge gets it), the trace, and a scan of all rules without indexes. Their expected values were written by hand
 * from the semantics.
 */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import { compile } from '../../src/engine/compiler/compile.ts';
import type { Decision, ErrorPageAnswer } from '../../src/engine/evaluator/decision.ts';
import type { Evaluator } from '../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { createOracle } from '../oracle/index.ts';
import { loadLinear } from '../support/linear.ts';
import { loadRuleSet, optionsOf } from '../support/load.ts';
import { statedFields } from '../support/stated-limits.ts';
import { type Case, differences, readCases, requestOf, type Step, worldOf } from './case.ts';

interface Decider {
  decide(request: EdgeRequest): Decision;
  fields(decision: Decision): Step['fields'];
  respond(decision: Decision, status: number): void;
  errorPage(request: EdgeRequest, status: number, madeBy: 'edge' | 'origin'): ErrorPageAnswer;
}

function deciderOf({
  evaluate,
  errorPage,
  rateLimitFields,
  countResponse,
}: Pick<Evaluator, 'evaluate' | 'errorPage' | 'rateLimitFields' | 'countResponse'>): Decider {
  return { decide: evaluate, errorPage, fields: rateLimitFields, respond: countResponse };
}

/** The paths, each made anew for a case so that counters and turns start empty. */
const PATHS: Readonly<Record<string, (ruleSet: RuleSet, of: Case) => Decider>> = {
  oracle(ruleSet, of) {
    const oracle = createOracle(ruleSet, worldOf(of));
    return {
      decide: oracle.evaluate,
      errorPage: oracle.errorPage,
      respond: oracle.respond,
      fields: (decision) => statedFields(oracle.states(decision)),
    };
  },
  'sealed plan'(ruleSet, of) {
    return deciderOf(loadRuleSet(ruleSet, worldOf(of)));
  },
  trace(ruleSet, of) {
    const evaluator = loadRuleSet(ruleSet, worldOf(of));
    return { ...deciderOf(evaluator), decide: (request) => evaluator.explain(request).decision };
  },
  'linear scan'(ruleSet, of) {
    return deciderOf(loadLinear(compile(ruleSet).plan, optionsOf(worldOf(of))));
  },
};

function read(of: Case): RuleSet {
  const parsed = parseRuleSet(of.ruleSet);
  if (!parsed.ok) throw new Error(`${of.file}: ${parsed.diagnostics.map(formatDiagnostic).join('\n')}`);
  return parsed.ruleSet;
}

/** The places where a step differs from what is expected. */
function wrongIn(decider: Decider, of: Case, step: Step): readonly string[] {
  const request = requestOf(of, step);
  if (step.errorPage !== undefined) {
    const { status, madeBy } = step.errorPage;
    return differences(step.expect, decider.errorPage(request, status, madeBy));
  }
  const decision = decider.decide(request);
  const found = differences(step.expect, decision);
  const stated =
    step.fields === undefined ? [] : differences(step.fields, decider.fields(decision), 'fields');
  if (step.status !== undefined) decider.respond(decision, step.status);
  return [...found, ...stated];
}

describe.each(readCases().map((of) => [of.file, of] as const))('%s', (_, of) => {
  test.each(Object.entries(PATHS))('%s', (_, make) => {
    const decider = make(read(of), of);
    const wrong = of.steps.flatMap((step, index) =>
      Array.from({ length: step.repeat ?? 1 }, (_, time) => {
        const found = wrongIn(decider, of, step);
        return found.map(
          (line) => `step ${index} (${step.note})${time > 0 ? `, time ${time + 1}` : ''}: ${line}`,
        );
      }).flat(),
    );
    expect(wrong).toEqual([]);
  });
});
