/** Stage `decide`. In: an identified request. Out: the exchange, which is the request with the evaluator's decision. */
import { identifiedOf, type RequestContext } from '../request-context.ts';

/** Evaluates the domain's plan. Returns no answer, and never throws (`evaluator/evaluate.ts`). */
export function decide(context: RequestContext): null {
  const { domain, request } = identifiedOf(context);
  const decision = domain.evaluator.evaluate(request);
  const { id, startedAt, incoming } = context;
  context.exchange = { id, startedAt, visitor: incoming.visitor, request, domain, decision };
  return null;
}
