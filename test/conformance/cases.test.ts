/**
 * Every case of `fixtures/cases/*.json` through every path that decides: the oracle, the plan (sealed and opened, as
 * an edge gets it), the trace, and a scan of all rules without indexes. Their expected values were written by hand
 * from the semantics.
 */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import { compile } from '../../src/engine/compiler/compile.ts';
import type { ErrorPageAnswer } from '../../src/engine/evaluator/decision.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { createOracle } from '../oracle/index.ts';
import { loadLinear } from '../support/linear.ts';
import { loadRuleSet, optionsOf } from '../support/load.ts';
import { type Case, differences, readCases, requestOf, type Step, worldOf } from './case.ts';

interface Decider {
  decide(request: EdgeRequest): unknown;
  errorPage(request: EdgeRequest, status: number, madeBy: 'edge' | 'origin'): ErrorPageAnswer;
}

/** The paths, each made anew for a case so that counters and turns start empty. */
const PATHS: Readonly<Record<string, (ruleSet: RuleSet, of: Case) => Decider>> = {
  oracle(ruleSet, of) {
    const oracle = createOracle(ruleSet, worldOf(of));
    return { decide: oracle.evaluate, errorPage: oracle.errorPage };
  },
  'sealed plan'(ruleSet, of) {
    const { evaluate, errorPage } = loadRuleSet(ruleSet, worldOf(of));
    return { decide: evaluate, errorPage };
  },
  trace(ruleSet, of) {
    const { explain, errorPage } = loadRuleSet(ruleSet, worldOf(of));
    return { decide: (request) => explain(request).decision, errorPage };
  },
  'linear scan'(ruleSet, of) {
    const { evaluate, errorPage } = loadLinear(compile(ruleSet).plan, optionsOf(worldOf(of)));
    return { decide: evaluate, errorPage };
  },
};

function read(of: Case): RuleSet {
  const parsed = parseRuleSet(of.ruleSet);
  if (!parsed.ok) throw new Error(`${of.file}: ${parsed.diagnostics.map(formatDiagnostic).join('\n')}`);
  return parsed.ruleSet;
}

function answer(decider: Decider, of: Case, step: Step): unknown {
  const request = requestOf(of, step);
  if (step.errorPage === undefined) return decider.decide(request);
  return decider.errorPage(request, step.errorPage.status, step.errorPage.madeBy);
}

describe.each(readCases().map((of) => [of.file, of] as const))('%s', (_, of) => {
  test.each(Object.entries(PATHS))('%s', (_, make) => {
    const decider = make(read(of), of);
    const wrong = of.steps.flatMap((step, index) =>
      Array.from({ length: step.repeat ?? 1 }, (_, time) => {
        const found = differences(step.expect, answer(decider, of, step));
        return found.map(
          (line) => `step ${index} (${step.note})${time > 0 ? `, time ${time + 1}` : ''}: ${line}`,
        );
      }).flat(),
    );
    expect(wrong).toEqual([]);
  });
});
