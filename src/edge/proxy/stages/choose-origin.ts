/**
 * Stage `choose the origin`. In: a request that the decision forwards. Out: its route; 502 if there is no origin, 508
 * if the request has passed through edges like this one too often (RFC 8586).
 */
import { forwardedTarget } from '../../answers/decided.ts';
import { exchangeOf, type StageResult } from '../../decide/request-context.ts';
import { isLooping, LOOP } from '../origin-headers.ts';
import { isExpectationPassed, type NodeContext } from '../request-context.ts';

export function chooseOrigin(context: NodeContext): StageResult {
  const { incoming } = context;
  const { decision } = exchangeOf(context);
  const isPassed = isExpectationPassed(context);
  if (!isPassed) incoming.proceed();
  const { origin } = decision;
  const path = forwardedTarget(decision);
  // The client sends no body then, and its next request could be taken for it.
  const refuse = (status: number): StageResult => {
    if (isPassed) incoming.last();
    return context.page(status);
  };
  if (origin === null || path === null) return refuse(502);
  if (isLooping(incoming.message.headers['cdn-loop'])) {
    context.fault = LOOP;
    return refuse(508);
  }
  context.route = { origin, path };
  return null;
}
