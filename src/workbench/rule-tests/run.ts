/**
 * Runs rule tests against a sealed plan. Input: prepared tests and the plan's bytes, exactly as an edge receives
 * them. Output: the result of each test, with the trace's reasons for those that failed. Every test starts with
 * empty counters, turns and clearances; clock, health and load are set by the test, random numbers are fixed, and
 * no test waits.
 */
import type { SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import type { Decision, ErrorPageAnswer } from '../../engine/evaluator/decision.ts';
import { type Evaluator, loadPlan } from '../../engine/evaluator/index.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { Trace } from '../../engine/evaluator/trace.ts';
import type { WafProgram } from '../../engine/waf/request/inspection.ts';
import type { WrittenInvariant } from '../../rules/files/test-file.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import {
  type Breach,
  type InvariantResult,
  MAX_INVARIANT_STEPS,
  openInvariants,
} from '../proofs/invariants.ts';
import { createBudget } from '../proofs/space/budget.ts';
import { nameOfRule } from '../proofs/subject.ts';
import { countAnswer, withAssumptions } from '../simulation/conditions.ts';
import { withGenericBot } from '../simulation/generic-bot.ts';
import { decisionText, witnessText } from '../simulation/render-changes.ts';
import {
  compare,
  describeDecision,
  describePage,
  type Mismatch,
  type Reason,
  reasonsFor,
} from './compare.ts';
import type { Coverage } from './coverage.ts';
import type { Expectation } from './expectation.ts';
import type { RuleNames } from './names.ts';
import { DEFAULT_NOW, type ReadyStep, type ReadyTest } from './prepare.ts';

/** An unmet expectation. */
export interface TestFailure {
  readonly at: SourcePlace;
  /** The step's name and, in a repetition, which request it was. */
  readonly step: string | null;
  /** The request line as written. */
  readonly line: string;
  /** Which expectation of the step was not met. */
  readonly what: 'expect' | 'earlier' | 'would' | 'invariant';
  readonly expected: string;
  readonly got: string;
  readonly differences: readonly Mismatch[];
  readonly reasons: readonly Reason[];
}

/** The result of one test, or of one invariant. */
export interface TestResult {
  readonly name: string;
  readonly at: SourcePlace;
  /** What an invariant claims: `never forward`; `null`: it is a test. */
  readonly claim: string | null;
  readonly passed: boolean;
  /** Number of requests sent. */
  readonly requests: number;
  readonly failures: readonly TestFailure[];
  /** How long it ran; 0 without a stopwatch. */
  readonly seconds: number;
}

/** What tests run against. */
export interface RunOptions {
  readonly bytes: Uint8Array;
  readonly names: RuleNames;
  /** Absent or `null`: waf rules do not inspect. */
  readonly waf?: WafProgram | null;
  /** Receives every traced request. */
  readonly coverage?: Pick<Coverage, 'note' | 'noteAnswer'>;
  /** Milliseconds, for `seconds` of the results. */
  readonly stopwatch?: () => number;
  /**
   * `false`: requests are evaluated without traces, several times as fast, on bytes that this process has compiled; failures
   * have no reasons. Default: true.
   */
  readonly traced?: boolean;
}

/** Runs tests in order. @throws PlanFault when the bytes are not a plan */
export function runTests(tests: readonly ReadyTest[], options: RunOptions): readonly TestResult[] {
  return tests.map((test) => runTest(test, options));
}

/** The place of the first test that fails; `null`: every test passes. Nothing is traced. @throws PlanFault */
export function findFailing(tests: readonly ReadyTest[], options: RunOptions): number | null {
  const place = tests.findIndex((test) => !runTest(test, { ...options, traced: false }).passed);
  return place < 0 ? null : place;
}

/**
 * The same tests with requests that state their bot, which is the same for every plan: without this each step classifies its
 * request again.
 */
export function withBots(tests: readonly ReadyTest[], bytes: Uint8Array): readonly ReadyTest[] {
  const evaluator = loadPlan(bytes, { random: () => 0 });
  const stated = (request: EdgeRequest): EdgeRequest => {
    const completed = withGenericBot(request, (bare) => evaluator.explain(bare));
    if (completed.bot !== undefined) return completed;
    const { bot } = evaluator.explain(completed).facts;
    return { ...completed, bot: bot === null ? null : { kind: bot.kind, verified: bot.verified } };
  };
  return tests.map((test) => ({
    ...test,
    steps: test.steps.map((step) => ({ ...step, request: stated(step.request) })),
  }));
}

/** The state of one test while it runs. */
interface Running extends RunOptions {
  readonly evaluator: Evaluator;
  /** Milliseconds since the epoch; only steps move it. */
  now: number;
  step: ReadyStep | null;
  /** The step's request with its classified bot, without a time. */
  request: EdgeRequest | null;
}

/** Runs the steps of one test on an evaluator of its own. */
function runTest(test: ReadyTest, options: RunOptions): TestResult {
  const running: Running = {
    ...options,
    evaluator: open(test, options, () => running),
    now: DEFAULT_NOW,
    step: null,
    request: null,
  };
  const started = options.stopwatch?.() ?? 0;
  const failures = test.steps.flatMap((step) => runStep(step, running));
  const seconds = ((options.stopwatch?.() ?? 0) - started) / 1000;
  const requests = test.steps.reduce((sum, { times }) => sum + times, 0);
  return {
    name: test.name,
    at: test.at,
    claim: null,
    passed: failures.length === 0,
    requests,
    failures,
    seconds,
  };
}

/** An evaluator that reads clock, health and load from the running test. */
function open({ node }: ReadyTest, { bytes, waf, traced }: RunOptions, running: () => Running): Evaluator {
  return loadPlan(bytes, {
    clock: () => running().now,
    random: () => 0,
    nodeId: node,
    trusted: traced === false,
    waf: waf ?? null,
    origins: {
      healthy: (pool, origin) => running().step?.origins.down.has(`${pool}/${origin}`) !== true,
      inFlight: (pool, origin) => running().step?.origins.busy.get(`${pool}/${origin}`) ?? 0,
    },
  });
}

/** Sends the requests of one step and compares their results. */
function runStep(step: ReadyStep, running: Running): readonly TestFailure[] {
  running.step = step;
  running.now = (step.now ?? running.now) + step.afterMs;
  running.request = withGenericBot(step.request, (bare) =>
    loadPlan(running.bytes, { random: () => 0, trusted: true }).explain(bare),
  );
  const earlier = earlierRequests(step, running);
  return [...earlier, ...lastRequest(step, running)];
}

/**
 * Sends all requests of a repetition but the last; compares them until the first mismatch, to report one failure.
 */
function earlierRequests(step: ReadyStep, running: Running): readonly TestFailure[] {
  let failed: readonly TestFailure[] = [];
  for (let time = 1; time < step.times; time++) {
    const request = requestAt(step, running);
    const traced = time === 1 || (step.earlier !== null && failed.length === 0);
    const { decision: got, trace } = traced
      ? decided(request, running)
      : { decision: answered(running.evaluator.evaluate(request), running), trace: null };
    if (traced && step.earlier !== null && failed.length === 0) {
      failed = check({ step, trace, what: 'earlier', expectation: step.earlier, got, time }, running);
    }
    running.now += step.everyMs;
  }
  return failed;
}

/** Sends a step's last request and compares its decision (or error page) and shadow with the expected ones. */
function lastRequest(step: ReadyStep, running: Running): readonly TestFailure[] {
  const request = requestAt(step, running);
  const { decision, trace } = decided(request, running);
  const base = { step, trace, time: step.times };
  const { response } = step;
  if (response === null) return both(base, { got: decision, shadow: decision.shadow }, running);
  const answer = running.evaluator.errorPage(request, response.status, response.by);
  if (trace !== null) running.coverage?.noteAnswer(answer, trace);
  return both(base, { got: answer, shadow: answer.shadow }, running);
}

/** A result that an expectation is compared with. */
type Got = Decision | ErrorPageAnswer | null;

/** A sent request. */
interface Base {
  readonly step: ReadyStep;
  /** `null`: it was not traced. */
  readonly trace: Trace | null;
  /** Which request of a repetition it is, from 1. */
  readonly time: number;
}

/** Compares the result and the shadow with their expectations. */
function both(
  base: Base,
  { got, shadow }: { got: Got; shadow: Got },
  running: Running,
): readonly TestFailure[] {
  const { expect, would } = base.step;
  return [
    ...(expect === null ? [] : check({ ...base, what: 'expect', expectation: expect, got }, running)),
    ...(would === null ? [] : check({ ...base, what: 'would', expectation: would, got: shadow }, running)),
  ];
}

/** One comparison. */
interface Comparison extends Base {
  readonly what: TestFailure['what'];
  readonly expectation: Expectation;
  readonly got: Got;
}

/** Compares one result; the list is empty when it meets the expectation. */
function check(
  { step, trace, what, expectation, got, time }: Comparison,
  { names }: Running,
): readonly TestFailure[] {
  const isPage = got !== null && 'page' in got;
  const differences = compare(expectation, isPage ? got.page : got);
  if (differences.length === 0) return [];
  const counted = step.times > 1 ? `request ${time} of ${step.times}` : null;
  const traced = [step.name, counted].filter((part) => part !== null).join(', ');
  const about =
    step.response !== null
      ? describePage(got as ErrorPageAnswer | null, names)
      : describeDecision(got as Decision | null, names);
  return [
    {
      at: step.at,
      step: traced === '' ? null : traced,
      line: step.line,
      what,
      expected: expectation.text,
      got: about,
      differences,
      reasons: trace === null ? [] : reasonsFor({ trace, got, expectation }, names),
    },
  ];
}

/** The request at the current time of the test. */
function requestAt(step: ReadyStep, { request, now }: Running): EdgeRequest {
  return withAssumptions({ ...(request ?? step.request), now });
}

/** Decides a request and, unless the run is not traced, traces it and adds it to the coverage. */
function decided(
  request: EdgeRequest,
  running: Running,
): { readonly decision: Decision; readonly trace: Trace | null } {
  const { evaluator, coverage, traced } = running;
  if (traced === false) return { decision: answered(evaluator.evaluate(request), running), trace: null };
  const trace = evaluator.explain(request);
  coverage?.note(trace);
  return { decision: answered(trace.decision, running), trace };
}

/** The decision, counted by the status of its response: that of the step, or the edge's own. */
function answered(decision: Decision, { evaluator, step }: Running): Decision {
  countAnswer(evaluator, decision, step?.response?.status ?? null);
  return decision;
}

// Proves the invariants of a test file. In: a rule set and invariants with their places. Out: results as those of tests.

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
  const state =
    needs === 'body' && action === 'forward' ? 'with a body that its operation takes' : STATES[needs];
  return `${action}${name}, ${state}`;
}

const STATES: Readonly<Record<NonNullable<Breach['needs']>, string>> = {
  limit: 'once its limit is exceeded',
  score: 'if its score reaches the threshold',
  body: 'by the body of the request',
};
