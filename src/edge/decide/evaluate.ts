/** Stage `evaluate`. In: an identified request. Out: the exchange, which is the request with the evaluator's decision. */
import type { Match } from '../../engine/evaluator/index.ts';
import { identifiedOf, type RequestContext } from './request-context.ts';

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
