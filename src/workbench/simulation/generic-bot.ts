/**
 * Completes the bot of a simulated request as a node's classifier does: a User-Agent of a program (isbot) that no named
 * kind claims is a `generic-bot` (semantics §1, fact `bot`).
 */
import { isGenericBot } from '../../engine/classification/generic-bot.ts';
import type { EdgeRequest } from '../../engine/evaluator/index.ts';
import type { Trace } from '../../engine/evaluator/trace.ts';

/** The first value of the User-Agent header. */
function userAgentOf(request: EdgeRequest): string | undefined {
  const header = request.headers?.['user-agent'];
  return typeof header === 'string' ? header : header?.[0];
}

/**
 * The request with the bot kind `generic-bot` if it applies; otherwise the same object, so that a caller can compare
 * by identity. A request that states its bot, `null` included, is not classified. `explain` is called only for a
 * User-Agent of a program, to see whether the evaluator finds a named bot.
 */
export function withGenericBot(
  request: EdgeRequest,
  explain: (request: EdgeRequest) => Pick<Trace, 'facts'>,
): EdgeRequest {
  if (request.bot !== undefined || !isGenericBot(userAgentOf(request))) return request;
  if (explain(request).facts.bot !== null) return request;
  return { ...request, bot: { kind: 'generic-bot', verified: false } };
}
