/**
 * Stage `answer at the edge`. In: a decided request. Out: the answer that the edge makes itself (page, redirect,
 * challenge); `null`: the request is forwarded.
 */
import { answerTo } from '../../answers/answer-to.ts';
import { RATE } from '../../buffers/limits.ts';
import { readBody } from '../request-body.ts';
import { exchangeOf, type RequestContext } from '../request-context.ts';
import type { StageResult } from './stage.ts';

/** Reads the request's body only if the answer depends on it: the solution of a challenge. */
export function answerAtEdge(context: RequestContext): StageResult {
  const exchange = exchangeOf(context);
  if (exchange.decision.action === 'forward') return null;
  const { incoming, services } = context;
  return answerTo(exchange, {
    challenges: services.challenges,
    readBody: (most) => {
      incoming.proceed();
      return readBody(incoming.message, most, RATE);
    },
  });
}
