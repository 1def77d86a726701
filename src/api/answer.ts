/** Writes answers out: JSON with its entity tag, texts, and refusals in the one error shape. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreFault } from '../store/fault.ts';
import { onlyReads } from './checks.ts';
import { namesTag, tagOf } from './etag.ts';
import { MAX_BODY_OCTETS } from './limits.ts';
import { badRequest, conflict, notFound, Refusal } from './refusal.ts';
import type { Answer, Route } from './route.ts';

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends a handler's answer; 304 where `If-None-Match` names its tag. */
export function sendAnswer(
  answer: Answer,
  { request, reply, route }: Exchange & { readonly route: Route },
): FastifyReply {
  const text = typeof answer.body === 'string' && answer.type ? answer.body : JSON.stringify(answer.body);
  reply.headers({ 'cache-control': 'no-store', ...answer.headers, ...closing(request) });
  // A created object's answer may hold what no GET shows (`www_record`), and a message is no object.
  if (route.method !== 'POST' && route.method !== 'DELETE') {
    const tag = tagOf(answer.tagged === undefined ? text : JSON.stringify(answer.tagged));
    reply.header('etag', tag);
    const known = request.headers['if-none-match'];
    if (known !== undefined && onlyReads(route.method) && namesTag(known, tag)) return reply.code(304).send();
  }
  return reply
    .code(200)
    .type(answer.type ?? JSON_TYPE)
    .send(text);
}

/** While the server drains, each connection ends with its answer; an idle one would hold the end up. */
function closing(request: FastifyRequest): { readonly connection?: string } {
  return request.server.server.listening ? {} : { connection: 'close' };
}

/** Sends `{ "error": … }` for whatever was thrown. */
export function answerRefusal(error: unknown, { request, reply }: Exchange): FastifyReply {
  const refusal = refusalOf(error);
  if (refusal === null) request.log.error({ err: error }, 'a mistake of ours');
  else if (refusal.status >= 500) request.log.warn({ err: error }, 'not available');
  return reply
    .code(refusal?.status ?? 500)
    .headers({ 'cache-control': 'no-store', ...refusal?.headers, ...closing(request) })
    .type(JSON_TYPE)
    .send(JSON.stringify({ error: refusal?.message ?? `internal error, request ${request.id}` }));
}

/** What a thrown thing says to whoever asked; `null` for a mistake of ours, of which nothing is shown. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreFault) return refusalOfFault(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return FRAMEWORK[code]?.() ?? null;
}

/** What Fastify refuses by itself, in our words. */
const FRAMEWORK: Readonly<Record<string, () => Refusal>> = {
  FST_ERR_BAD_URL: () => badRequest('the path must be percent-encoded UTF-8'),
  FST_ERR_MAX_PARAM_LENGTH: () => notFound(),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Refusal(415, 'the content type must be `application/json`'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badRequest('the body is not as long as `Content-Length` says'),
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new Refusal(413, `the body must be at most ${MAX_BODY_OCTETS} octets`, { connection: 'close' }),
};

function refusalOfFault(fault: StoreFault): Refusal | null {
  if (fault.code === 'text') return badRequest('the body must not hold NUL characters or lone surrogates');
  if (fault.code === 'missing') return notFound();
  if (fault.code === 'conflict') return conflict('somebody else has changed this; read it and try again');
  if (fault.code === 'unreadable' || fault.code === 'too_new' || fault.code === 'in_use') return null;
  const said = fault.undone ? 'nothing was changed' : 'the change may or may not have been made';
  const what = fault.code === 'full' ? 'the store is full' : 'the store is not available at the moment';
  return new Refusal(503, `${what}; ${said}`, { 'retry-after': '1' });
}
