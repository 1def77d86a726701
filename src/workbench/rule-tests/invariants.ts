/** Proves the invariants of a test file. In: a rule set and invariants with their places. Out: results as those of tests. */

import type { WrittenInvariant } from '../../rules/files/test-file.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { nameOfRule } from '../proofs/effects.ts';
import { type Breach, type InvariantResult, openInvariants } from '../proofs/invariants.ts';
import { createBudget } from '../proofs/space/budget.ts';
import { MAX_INVARIANT_STEPS } from '../proofs/space/limits.ts';
import { decisionText, witnessText } from '../simulation/witness-text.ts';
import type { TestFailure, TestResult } from './run.ts';

/** Proves invariants in order, each within a budget of its own. `stopwatch`: milliseconds. */
export function proveWritten(
  ruleSet: RuleSet,
  written: readonly WrittenInvariant[],
  stopwatch: () => number,
): readonly TestResult[] {
  if (written.length === 0) return [];
  const prove = openInvariants(
    ruleSet,
    written.map(({ invariant }) => invariant),
  );
  return written.map(({ invariant: { name, claim }, at }, index) => {
    const started = stopwatch();
    const failures = failuresOf(prove(index, createBudget()), { claim, at });
    const seconds = (stopwatch() - started) / 1000;
    return { name, at, claim, passed: failures.length === 0, requests: 0, failures, seconds };
  });
}

/** Why an invariant is not proved. */
function failuresOf(
  result: InvariantResult,
  { claim, at }: { readonly claim: string; readonly at: TestFailure['at'] },
): readonly TestFailure[] {
  const failure = (line: string, got: string): readonly TestFailure[] => [
    { at, step: null, line, what: 'invariant', expected: claim, got, differences: [], reasons: [] },
  ];
  switch (result.kind) {
    case 'proved':
      return [];
    case 'broken':
      return failure(witnessText(result.witness), breachText(result));
    case 'empty':
      return failure('every request of `when`', 'no request that the domain serves is meant');
    case 'unknown':
      return failure(
        'every request of `when`',
        `not decided in ${MAX_INVARIANT_STEPS} steps: ${result.open}`,
      );
    default:
      return result satisfies never;
  }
}

/** What the request gets, and in which state. */
export function breachText({ action, rule, needs, decision }: Breach): string {
  if (needs === null) return decisionText(decision, rule);
  const name = rule === null ? '' : ` by ${nameOfRule(rule)}`;
  const state = needs === 'limit' ? 'once its limit is exceeded' : 'if its score reaches the threshold';
  return `${action}${name}, ${state}`;
}
