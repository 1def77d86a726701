/** Writes answers out: JSON with its entity tag, texts, and refusals in the one error shape. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ComputeFault } from '../compute/fault.ts';
import { StoreFault } from '../store/fault.ts';
import { onlyReads } from './checks.ts';
import { gzipped, isWorthCompressing, takesGzip } from './compress.ts';
import { namesTag, tagOf } from './etag.ts';
import { MAX_BODY_OCTETS } from './limits.ts';
import { badRequest, conflict, notFound, Refusal } from './refusal.ts';
import type { CacheableResponse } from './response-cache.ts';
import { type ApiRoute, JSON_TYPE, type Response } from './route.ts';

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A text and what is sent with it besides the id of the request. */
export type ResponseContext = Pick<CacheableResponse, 'headers' | 'text'>;

interface AnswerOptions {
  readonly route: ApiRoute;
  /** Stores a 200 with an entity tag in the response cache; `null`: the answer is not cacheable. */
  readonly store: ((response: ResponseContext) => void) | null;
}

/** Sends a handler's answer; 304 where `If-None-Match` names its tag. */
export function sendAnswer(
  answer: Response,
  { request, reply, route, store }: Exchange & AnswerOptions,
): FastifyReply | Promise<FastifyReply> {
  const text = typeof answer.body === 'string' && answer.type ? answer.body : JSON.stringify(answer.body);
  reply.header('cache-control', 'no-store');
  if (answer.headers !== undefined) reply.headers(answer.headers);
  closeWhileDraining({ request, reply });
  // A created object's answer may hold what no GET shows (`www_record`), and a message is no object.
  if (route.method !== 'POST' && route.method !== 'DELETE') {
    const tag = tagOf(answer.tagged === undefined ? text : JSON.stringify(answer.tagged));
    reply.header('etag', tag);
    store?.({ headers: headersOf(text, tag), text });
    const known = request.headers['if-none-match'];
    if (known !== undefined && onlyReads(route.method) && namesTag(known, tag)) return reply.code(304).send();
  }
  reply.code(route.status ?? 200).type(answer.type ?? JSON_TYPE);
  if (!isWorthCompressing(text)) return reply.send(text);
  reply.header('vary', 'accept-encoding');
  if (!takesGzip(request.headers['accept-encoding'])) return reply.send(text);
  const tag = reply.getHeader('etag');
  // The octets differ, the meaning does not (RFC 9110 §8.8.1); conditions made with either form name the same.
  if (typeof tag === 'string') reply.header('etag', `W/${tag}`);
  return sendGzipped(text, reply);
}

async function sendGzipped(text: string, reply: FastifyReply): Promise<FastifyReply> {
  const octets = await gzipped(text);
  return reply.header('content-encoding', 'gzip').send(octets);
}

/** What `sendAnswer` has Fastify send with a JSON text. */
function headersOf(text: string, tag: string): readonly string[] {
  const vary = isWorthCompressing(text) ? ['vary', 'accept-encoding'] : [];
  const length = String(Buffer.byteLength(text));
  return [
    'cache-control',
    'no-store',
    'etag',
    tag,
    ...vary,
    'content-type',
    JSON_TYPE,
    'content-length',
    length,
  ];
}

/** While the server drains, each connection ends with its answer; an idle one would hold the end up. */
function closeWhileDraining({ request, reply }: Exchange): void {
  if (!request.server.server.listening) reply.header('connection', 'close');
}

/** Sends `{ "error": … }` for whatever was thrown. */
export function answerRefusal(error: unknown, { request, reply }: Exchange): FastifyReply {
  const refusal = refusalOf(error);
  const told = { reqId: request.id, err: error };
  if (refusal === null) request.log.error(told, 'a mistake of ours');
  else if (refusal.status >= 500) request.log.warn(told, 'not available');
  // Fastify would close, and whoever is still sending a body would see a broken connection and no answer. Node reads
  // what is left of it and forgets it, for as long as a request may take.
  reply.removeHeader('connection');
  closeWhileDraining({ request, reply });
  return reply
    .code(refusal?.status ?? 500)
    .headers({ 'cache-control': 'no-store', ...refusal?.headers })
    .type(JSON_TYPE)
    .send(JSON.stringify({ error: refusal?.message ?? `internal error, request ${request.id}` }));
}

/** What a thrown thing says to whoever asked; `null` for a mistake of ours, of which nothing is shown. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreFault) return refusalOfFault(error);
  if (error instanceof ComputeFault) return refusalOfComputation(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return FRAMEWORK[code]?.() ?? null;
}

/** What Fastify refuses by itself, in our words. */
const FRAMEWORK: Readonly<Record<string, () => Refusal>> = {
  FST_ERR_BAD_URL: () => badRequest('the path must be percent-encoded UTF-8'),
  FST_ERR_MAX_PARAM_LENGTH: () => notFound(),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Refusal(415, 'the content type must be `application/json`'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badRequest('the body is not as long as `Content-Length` says'),
  FST_ERR_CTP_BODY_TOO_LARGE: () => new Refusal(413, `the body must be at most ${MAX_BODY_OCTETS} octets`),
};

/** Seconds after which a failed computation may be requested again: most running ones have ended by then. */
const COMPUTE_RETRY_S = 5;

function refusalOfComputation({ code, message }: ComputeFault): Refusal {
  if (code === 'plan') return conflict(message);
  return new Refusal(503, message, { 'retry-after': String(COMPUTE_RETRY_S) });
}

function refusalOfFault(fault: StoreFault): Refusal | null {
  if (fault.code === 'text') return badRequest('the body must not hold NUL characters or lone surrogates');
  if (fault.code === 'missing') return notFound();
  if (fault.code === 'conflict') return conflict('somebody else has changed this; read it and try again');
  if (fault.code === 'unreadable' || fault.code === 'too_new' || fault.code === 'in_use') return null;
  const said = fault.undone ? 'nothing was changed' : 'the change may or may not have been made';
  const what = fault.code === 'full' ? 'the store is full' : 'the store is not available at the moment';
  return new Refusal(503, `${what}; ${said}`, { 'retry-after': '1' });
}
