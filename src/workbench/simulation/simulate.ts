/**
 * Simulates one request against a sealed plan. Input: the plan's bytes, exactly as an edge receives them, and a
 * request. Output: the trace document. Counters are as the conditions say, clock and random numbers are fixed, so the
 * same input always gives the same document (except its timing).
 */
import type { ErrorPageAnswer } from '../../engine/evaluator/decision.ts';
import { type Evaluator, loadPlan } from '../../engine/evaluator/index.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { Trace } from '../../engine/evaluator/trace.ts';
import type { WafProgram } from '../../engine/evaluator/waf.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { traceDocument } from './account.ts';
import { type World, withAssumedBody } from './assume.ts';
import { countersAfter } from './counted.ts';
import type { RuleSources } from './describe.ts';
import type { SignaturesNote, TraceDocument } from './document.ts';
import { withGenericBot } from './generic-bot.ts';

/** The signatures that `waf` rules inspect with. */
export interface Signatures extends SignaturesNote {
  readonly waf: WafProgram;
}

/** A sealed plan with what is known of its source. */
export interface SimulationSubject {
  readonly bytes: Uint8Array;
  /** `sha256:` and 64 hex digits. */
  readonly digest: string;
  /** The name of the file. */
  readonly name: string;
  /** Keys and places of rules; empty for a sealed plan. */
  readonly sources: RuleSources;
  /** `null` when the file is a sealed plan. */
  readonly ruleSet: RuleSet | null;
  /** Absent or `null`: none, so `waf` rules do not inspect. */
  readonly signatures?: Signatures | null;
}

/** A request with the conditions to simulate it under. */
export interface SimulatedRequest {
  readonly request: EdgeRequest;
  readonly url: string;
  readonly world: World;
  /** The status that the origin or the edge answers with, to show the error page. */
  readonly response?: { readonly status: number; readonly madeBy: 'edge' | 'origin' } | undefined;
  /** A monotonic clock in milliseconds; absent: no time is measured. */
  readonly stopwatch?: (() => number) | undefined;
}

/**
 * An evaluator with a fixed clock, random number and origin health. A request without a body is evaluated as one
 * with an empty body.
 */
export function fixedEvaluator({ bytes, signatures }: SimulationSubject, world: World): Evaluator {
  const down = new Set(world.down);
  const { counted } = world;
  const evaluator: Evaluator = loadPlan(bytes, {
    ...(counted === undefined ? {} : { counters: countersAfter(counted, () => evaluator.domain) }),
    clock: () => world.now,
    random: () => 0,
    nodeId: world.nodeId,
    waf: signatures?.waf ?? null,
    origins: { healthy: (pool, origin) => !down.has(`${pool}/${origin}`), inFlight: () => 0 },
  });
  return {
    ...evaluator,
    evaluate: (request) => evaluator.evaluate(withAssumedBody(request)),
    explain: (request) => evaluator.explain(withAssumedBody(request)),
  };
}

/** The request with the bot that the node's classifier would find, and whether that is a `generic-bot`. */
export function classified(
  subject: SimulationSubject,
  { request, world }: SimulatedRequest,
): { readonly request: EdgeRequest; readonly generic: boolean } {
  const completed = withGenericBot(request, (bare) =>
    fixedEvaluator({ ...subject, signatures: null }, world).explain(bare),
  );
  return { request: completed, generic: completed !== request };
}

/** The error page of one status. */
interface PageForStatus {
  readonly status: number;
  readonly madeBy: 'edge' | 'origin';
  readonly answer: ErrorPageAnswer;
}

/**
 * The error page: of the given status for a forwarded request, of the decision's own status for a block; else
 * `null`.
 */
function pageFor(evaluator: Evaluator, trace: Trace, asked: SimulatedRequest): PageForStatus | null {
  const { action, status } = trace.decision;
  const response =
    action === 'forward'
      ? asked.response
      : action === 'block' && status !== null
        ? { status, madeBy: 'edge' as const }
        : undefined;
  if (response === undefined) return null;
  return { ...response, answer: evaluator.errorPage(asked.request, response.status, response.madeBy) };
}

/** Timed runs, and the time after which no further one starts. */
const WARM_RUNS = 200;
const MAX_MEASURE_MS = 20;

/** The median time of warm runs on a separate evaluator, in microseconds with one decimal. */
function measure(subject: SimulationSubject, asked: SimulatedRequest): number | null {
  const { stopwatch, world } = asked;
  // With counts of requests before, most of the time would be theirs.
  if (stopwatch === undefined || world.counted !== undefined) return null;
  const evaluator = fixedEvaluator(subject, world);
  const start = stopwatch();
  const times: number[] = [];
  let last = start;
  while (times.length < WARM_RUNS && last - start < MAX_MEASURE_MS) {
    const before = stopwatch();
    evaluator.evaluate(asked.request);
    last = stopwatch();
    times.push(last - before);
  }
  times.sort((left, right) => left - right);
  return Math.round((times[times.length >> 1] ?? 0) * 10_000) / 10;
}

/** Simulates one request. @throws PlanFault when the bytes are not a plan */
export function simulate(subject: SimulationSubject, given: SimulatedRequest): TraceDocument {
  const { request, generic } = classified(subject, given);
  const asked = { ...given, request };
  const evaluator = fixedEvaluator(subject, asked.world);
  const trace = evaluator.explain(request);
  return traceDocument({
    trace,
    plan: {
      version: evaluator.revision,
      digest: subject.digest,
      domain: evaluator.domain,
      source: subject.name,
    },
    request,
    url: asked.url,
    world: asked.world,
    sources: subject.sources,
    ruleSet: subject.ruleSet,
    signatures: subject.signatures ?? null,
    genericBot: generic,
    errorPage: pageFor(evaluator, trace, asked),
    evaluateUs: measure(subject, asked),
  });
}
