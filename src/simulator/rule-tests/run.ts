/**
 * Runs rule tests against a sealed plan. In go tests that are ready to run and the plan's bytes, the same an edge gets;
 * out comes what each got, and for those that failed the trace's own reasons. Every test starts with counters, turns
 * and clearance empty; clock, health and load are what the test says, chance is fixed, and nothing waits.
 */
import type { SourcePlace } from '../../base/diagnostic.ts';
import type { Decision, ErrorPageAnswer } from '../../evaluator/decision.ts';
import { type Evaluator, loadPlan } from '../../evaluator/index.ts';
import type { EdgeRequest } from '../../evaluator/request.ts';
import type { Trace } from '../../evaluator/trace.ts';
import type { WafProgram } from '../../evaluator/waf.ts';
import { withAssumedBody } from '../assume.ts';
import { withGenericBot } from '../generic-bot.ts';
import { compare, type Difference, describeDecision, describePage } from './compare.ts';
import type { Coverage } from './coverage.ts';
import type { Expectation } from './expectation.ts';
import type { RuleNames } from './names.ts';
import { DEFAULT_NOW, type ReadyStep, type ReadyTest } from './prepare.ts';
import { type Reason, reasonsFor } from './reasons.ts';

/** One expectation that was not met. */
export interface TestFailure {
  readonly at: SourcePlace;
  /** The step's name and, in a repetition, which request it was. */
  readonly step: string | null;
  readonly line: string;
  readonly what: 'expect' | 'earlier' | 'would';
  readonly expected: string;
  readonly got: string;
  readonly differences: readonly Difference[];
  readonly reasons: readonly Reason[];
}

export interface TestResult {
  readonly name: string;
  readonly at: SourcePlace;
  readonly passed: boolean;
  /** Requests that were sent. */
  readonly requests: number;
  readonly failures: readonly TestFailure[];
}

export interface RunOptions {
  readonly bytes: Uint8Array;
  readonly names: RuleNames;
  /** Absent or `null`: waf rules inspect nothing. */
  readonly waf?: WafProgram | null;
  /** Told of every request that is explained. */
  readonly coverage?: Coverage;
}

/** Runs tests in order. @throws PlanFault when the bytes are not a plan */
export function runTests(tests: readonly ReadyTest[], options: RunOptions): readonly TestResult[] {
  return tests.map((test) => runTest(test, options));
}

interface Running extends RunOptions {
  readonly evaluator: Evaluator;
  /** Milliseconds since the epoch; only steps move it. */
  now: number;
  step: ReadyStep | null;
  /** The step's request as the edge's classifiers complete it, without a time. */
  request: EdgeRequest | null;
}

function runTest(test: ReadyTest, options: RunOptions): TestResult {
  const running: Running = {
    ...options,
    evaluator: open(test, options, () => running),
    now: DEFAULT_NOW,
    step: null,
    request: null,
  };
  const failures = test.steps.flatMap((step) => runStep(step, running));
  const requests = test.steps.reduce((sum, { times }) => sum + times, 0);
  return { name: test.name, at: test.at, passed: failures.length === 0, requests, failures };
}

function open({ node }: ReadyTest, { bytes, waf }: RunOptions, running: () => Running): Evaluator {
  return loadPlan(bytes, {
    clock: () => running().now,
    random: () => 0,
    nodeId: node,
    waf: waf ?? null,
    origins: {
      healthy: (pool, origin) => running().step?.origins.down.has(`${pool}/${origin}`) !== true,
      inFlight: (pool, origin) => running().step?.origins.busy.get(`${pool}/${origin}`) ?? 0,
    },
  });
}

function runStep(step: ReadyStep, running: Running): readonly TestFailure[] {
  running.step = step;
  running.now = (step.now ?? running.now) + step.afterMs;
  running.request = withGenericBot(step.request, (bare) =>
    loadPlan(running.bytes, { random: () => 0, trusted: true }).explain(bare),
  );
  const earlier = earlierRequests(step, running);
  return [...earlier, ...lastRequest(step, running)];
}

/** Sends all requests of a repetition but the last, and stops comparing at the first that is not as expected. */
function earlierRequests(step: ReadyStep, running: Running): readonly TestFailure[] {
  let failed: readonly TestFailure[] = [];
  for (let time = 1; time < step.times; time++) {
    const request = requestAt(step, running);
    const told = time === 1 || (step.earlier !== null && failed.length === 0);
    const trace = told ? explain(request, running) : null;
    if (trace === null) running.evaluator.evaluate(request);
    else if (step.earlier !== null && failed.length === 0) {
      failed = judge(
        { step, trace, what: 'earlier', expectation: step.earlier, got: trace.decision, time },
        running,
      );
    }
    running.now += step.everyMs;
  }
  return failed;
}

function lastRequest(step: ReadyStep, running: Running): readonly TestFailure[] {
  const request = requestAt(step, running);
  const trace = explain(request, running);
  const base = { step, trace, time: step.times };
  const { response } = step;
  if (response === null) return both(base, { got: trace.decision, shadow: trace.decision.shadow }, running);
  const answer = running.evaluator.errorPage(request, response.status, response.by);
  running.coverage?.noteAnswer(answer, trace);
  return both(base, { got: answer, shadow: answer.shadow }, running);
}

type Got = Decision | ErrorPageAnswer | null;

interface Base {
  readonly step: ReadyStep;
  readonly trace: Trace;
  readonly time: number;
}

function both(
  base: Base,
  { got, shadow }: { got: Got; shadow: Got },
  running: Running,
): readonly TestFailure[] {
  const { expect, would } = base.step;
  return [
    ...(expect === null ? [] : judge({ ...base, what: 'expect', expectation: expect, got }, running)),
    ...(would === null ? [] : judge({ ...base, what: 'would', expectation: would, got: shadow }, running)),
  ];
}

interface Judged extends Base {
  readonly what: TestFailure['what'];
  readonly expectation: Expectation;
  readonly got: Got;
}

function judge(
  { step, trace, what, expectation, got, time }: Judged,
  { names }: Running,
): readonly TestFailure[] {
  const isPage = got !== null && 'page' in got;
  const differences = compare(expectation, isPage ? got.page : got);
  if (differences.length === 0) return [];
  const counted = step.times > 1 ? `request ${time} of ${step.times}` : null;
  const told = [step.name, counted].filter((part) => part !== null).join(', ');
  const about =
    step.response !== null
      ? describePage(got as ErrorPageAnswer | null, names)
      : describeDecision(got as Decision | null, names);
  return [
    {
      at: step.at,
      step: told === '' ? null : told,
      line: step.line,
      what,
      expected: expectation.text,
      got: about,
      differences,
      reasons: reasonsFor({ trace, got, expectation }, names),
    },
  ];
}

function requestAt(step: ReadyStep, { request, now }: Running): EdgeRequest {
  return withAssumedBody({ ...(request ?? step.request), now });
}

function explain(request: EdgeRequest, { evaluator, coverage }: Running): Trace {
  const trace = evaluator.explain(request);
  coverage?.note(trace);
  return trace;
}
