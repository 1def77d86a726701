/**
 * One call for every edge beside other software: before an application, and beside a proxy. In: the context of a request.
 * Out: the answer that the edge makes itself, or the verdict with which the request is forwarded. Asynchronous only where
 * a clearance, credentials, a body or a challenge are awaited.
 */
import type { EdgeAnswer } from '../../base/http/header-fields.ts';
import { countStatus } from '../answers/answer-to.ts';
import { answerAtEdge } from './answer-at-edge.ts';
import { evaluate, takeSlot } from './evaluate.ts';
import type { DecidingDomain, Exchange } from './exchange.ts';
import { inspectBody } from './inspect-body.ts';
import { read } from './read.ts';
import { answerOf, exchangeOf, type RequestContext, runStages, type Stage } from './request-context.ts';
import { type DecisionReporter, type EdgeVerdict, type Enforced, verdictOf } from './verdict.ts';
import { verifyCredentials } from './verify-credentials.ts';

/** The stages up to the decision. */
export const STAGES: readonly Stage<RequestContext>[] = [read, verifyCredentials, inspectBody, evaluate];

/** The same where the caller sees the end of each response, and calls `endRequest` then. */
export const IN_FLIGHT_STAGES: readonly Stage<RequestContext>[] = [...STAGES, takeSlot];

/** Those of a request to switch protocols (RFC 9110 §7.8), which has no body. */
export const UPGRADE_STAGES: readonly Stage<RequestContext>[] = [read, verifyCredentials, evaluate, takeSlot];

/** A forwarded request, or the answer to it. */
export type DecideOutcome<Domain extends DecidingDomain = DecidingDomain> =
  | { readonly kind: 'forward'; readonly exchange: Exchange<Domain>; readonly verdict: EdgeVerdict }
  | {
      readonly kind: 'answer';
      /** `null`, as the verdict: refused before a decision. */
      readonly exchange: Exchange<Domain> | null;
      readonly verdict: EdgeVerdict | null;
      readonly answer: EdgeAnswer;
    };

/** How a request is decided. */
export interface DecideOptions {
  /** Receives the verdict or the refusal before the answer is made. */
  readonly reporter: Pick<DecisionReporter, 'decided' | 'refused'>;
  /** The parts of a decision that the caller enforces. */
  readonly enforced: Enforced;
  /** The stages up to the decision: `STAGES`, `IN_FLIGHT_STAGES`, or `UPGRADE_STAGES`. */
  readonly stages: readonly Stage<RequestContext>[];
}

/**
 * Decides a request. Throws, or rejects, for a bug of ours alone.
 * PERF: returns a promise only where a stage waits.
 */
export function decideRequest<Message, Domain extends DecidingDomain>(
  context: RequestContext<Message, Domain>,
  options: DecideOptions,
): DecideOutcome<Domain> | Promise<DecideOutcome<Domain>> {
  const refused = runStages(options.stages, context as RequestContext);
  return refused instanceof Promise
    ? refused.then((answer) => conclude(context, answer, options))
    : conclude(context, refused, options);
}

/** Reports the refusal or the decision, and makes the edge's own answer. */
function conclude<Message, Domain extends DecidingDomain>(
  context: RequestContext<Message, Domain>,
  refusal: EdgeAnswer | null,
  { reporter, enforced }: DecideOptions,
): DecideOutcome<Domain> | Promise<DecideOutcome<Domain>> {
  const { id } = context;
  if (refusal !== null) {
    reporter.refused({ id, status: refusal.status });
    return { kind: 'answer', exchange: null, verdict: null, answer: answerOf(context, refusal) };
  }
  const exchange = exchangeOf(context);
  const verdict = verdictOf(exchange, { enforced, isPartial: context.isPartial });
  reporter.decided(verdict);
  const finish = (own: EdgeAnswer | null): DecideOutcome<Domain> => {
    if (own === null) return { kind: 'forward', exchange, verdict };
    countStatus(exchange, own.status);
    return { kind: 'answer', exchange, verdict, answer: answerOf(context, own) };
  };
  const own = answerAtEdge(context as RequestContext);
  return own instanceof Promise ? own.then(finish) : finish(own);
}
