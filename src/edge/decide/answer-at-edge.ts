/**
 * Stage `answer at the edge`. In: a decided request. Out: the answer that the edge makes itself (page, redirect,
 * challenge); `null`: the request is forwarded.
 */
import { type HostFacts, parseHost } from '../../base/addresses/host.ts';
import { answerTo } from '../answers/answer-to.ts';
import { answerUnserved } from './read.ts';
import { exchangeOf, identifiedOf, type RequestContext, type StageResult } from './request-context.ts';

/** PERF: one object for all requests; nothing reads it after the answer is made. */
const facts: HostFacts = { host: '', port: -1, literal: false };

/** Reads the request's body only if the answer depends on it: the solution of a challenge. */
export function answerAtEdge(context: RequestContext): StageResult {
  const exchange = exchangeOf(context);
  if (exchange.decision.action === 'forward') return null;
  const { action, status } = exchange.decision;
  if (action === 'refuse' && status === 421) return answerWithoutRecord(context);
  const { incoming, reader, services } = context;
  return answerTo(exchange, {
    challenges: services.challenges,
    readBody: async (most) => {
      incoming.proceed();
      const body = await reader.read(incoming.message, most);
      context.octetsRead += body === null ? 0 : body.length;
      return body;
    },
  });
}

/** The 421 of a plan's gate: the domain serves nothing, or has no proxied record for the host. */
function answerWithoutRecord(context: RequestContext): StageResult {
  const { request } = identifiedOf(context);
  parseHost(String(request.host), facts);
  return answerUnserved(context, { host: facts.host, headers: request.headers ?? {}, reason: 'record' });
}
