/**
 * Stage `evaluate`. In: an identified request. Out: the exchange, which is the request with the evaluator's decision. Stage `take a slot`:
 * the request is in flight for its usage plan, where the software around the edge sees the end of responses.
 */
import type { Match } from '../../engine/evaluator/index.ts';
import { exchangeOf, identifiedOf, type RequestContext } from './request-context.ts';

const NO_MATCHES: readonly Match[] = Object.freeze([]);

/** Evaluates the domain's plan. Returns no answer, and never throws (`engine/evaluator/evaluate.ts`). */
export function evaluate(context: RequestContext): null {
  const { domain, request } = identifiedOf(context);
  const decision = domain.evaluator.evaluate(request);
  const { id, startedAt, incoming } = context;
  const { visitor } = incoming;
  context.exchange = { id, startedAt, visitor, request, domain, decision, pageMatches: NO_MATCHES };
  return null;
}

/** Takes the slot that the request needs, until `endRequest`. INVARIANT: no other request is evaluated between `evaluate` and this. */
export function takeSlot(context: RequestContext): null {
  const { decision, domain } = exchangeOf(context);
  // A client that has left while its request was decided is not in flight.
  if (!context.hasEnded) context.freeSlot = domain.evaluator.takeSlot(decision);
  return null;
}
