/** Sends answers: JSON with its entity tag, texts, and every refusal as `{ "error": … }`. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreFault } from '../../base/storage/fault.ts';
import { ComputeFault } from '../compute/job.ts';
import { LogFault } from '../logs/log-store.ts';
import { TrafficFault } from '../traffic/fault.ts';
import { gzipped, isWorthCompressing, namesTag, tagOf, takesGzip } from './operation/answer-fields.ts';
import { onlyReads, refuseRoute } from './operation/checks.ts';
import { MAX_BODY_OCTETS, MAX_HEADER_OCTETS } from './operation/limits.ts';
import { methodsAt, segmentsOf } from './operation/read-request.ts';
import { badRequest, conflict, notFound, Refusal } from './operation/refusal.ts';
import { type ApiRoute, JSON_TYPE, type Response } from './operation/route.ts';
import type { CacheableResponse } from './response-cache.ts';
import { ROUTES } from './routes.ts';

/** One request and its reply, in Fastify's types. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * Headers of every answer beside those of the page and the reference, which have a policy of their own: answers contain texts of
 * customers, and a browser that opens one as a document guesses no other type, loads and runs nothing, and shows it in no frame.
 */
export const DATA_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
} as const;
/** The same as a flat list (name, value, …). */
const DATA_HEADER_LIST = Object.entries(DATA_HEADERS).flat();

/** A response text and its headers, without the request id. */
export type ResponseContext = Pick<CacheableResponse, 'headers' | 'text'>;

/** How an answer is sent. */
interface AnswerOptions {
  readonly route: ApiRoute;
  /** Stores a 200 with an entity tag in the response cache; `null`: the answer is not cacheable. */
  readonly store: ((response: ResponseContext) => void) | null;
}

/** Sends a handler's answer, or a 304 where `If-None-Match` has its tag (RFC 9110 §13.1.2). */
export function sendAnswer(
  answer: Response,
  { request, reply, route, store }: Exchange & AnswerOptions,
): FastifyReply | Promise<FastifyReply> {
  const text = isWritten(answer) ? answer.body : JSON.stringify(answer.body);
  reply.header('cache-control', 'no-store');
  if (answer.headers !== undefined) reply.headers(answer.headers);
  closeWhileDraining({ request, reply });
  // No tag: the answer to a creation can have fields that no GET has (`www_record`), and a deletion has no object.
  if (route.method !== 'POST' && route.method !== 'DELETE') {
    const tag = tagOf(answer.tagged === undefined ? text : JSON.stringify(answer.tagged));
    reply.header('etag', tag);
    if (typeof text === 'string') store?.({ headers: headersOf(text, tag), text });
    const known = request.headers['if-none-match'];
    if (known !== undefined && onlyReads(route.method) && namesTag(known, tag)) return reply.code(304).send();
  }
  reply.code(route.status ?? 200).type(answer.type ?? JSON_TYPE);
  if (!isWorthCompressing(text)) return reply.send(text);
  reply.header('vary', 'accept-encoding');
  if (!takesGzip(request.headers['accept-encoding'])) return reply.send(text);
  const tag = reply.getHeader('etag');
  // The octets differ, the meaning does not (RFC 9110 §8.8.1); a condition with either form of the tag matches.
  if (typeof tag === 'string') reply.header('etag', `W/${tag}`);
  return sendGzipped(text, reply);
}

/** Whether the body is a text or octets of the answer's own type, which are sent as they are. */
function isWritten(answer: Response): answer is Response & { readonly body: string | Uint8Array } {
  return answer.body instanceof Uint8Array || (typeof answer.body === 'string' && Boolean(answer.type));
}

/** Sends a text or octets in gzip. */
async function sendGzipped(text: string | Uint8Array, reply: FastifyReply): Promise<FastifyReply> {
  const octets = await gzipped(text);
  return reply.header('content-encoding', 'gzip').send(octets);
}

/** The headers that `sendAnswer` sends with a JSON text, for the response cache. */
function headersOf(text: string, tag: string): readonly string[] {
  const vary = isWorthCompressing(text) ? ['vary', 'accept-encoding'] : [];
  const length = String(Buffer.byteLength(text));
  return [
    ...DATA_HEADER_LIST,
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

/** While the server drains, each connection closes after its answer; an idle connection would delay the end. */
function closeWhileDraining({ request, reply }: Exchange): void {
  if (!request.server.server.listening) reply.header('connection', 'close');
}

/** Sends `{ "error": … }` for a thrown value; a bug of ours is a 500 that shows only the request's id. */
export function answerRefusal(error: unknown, { request, reply }: Exchange): FastifyReply {
  const refusal = refusalOf(error, request.routeOptions.bodyLimit);
  const fields = { reqId: request.id, err: error };
  if (refusal === null) request.log.error(fields, 'internal error');
  else if (refusal.status >= 500) request.log.warn(fields, 'not available');
  // Fastify would close the connection, and a client that still sends its body would see a reset instead of the answer.
  // Node reads and discards the rest of the body, within the request's time limit.
  reply.removeHeader('connection');
  closeWhileDraining({ request, reply });
  return reply
    .code(refusal?.status ?? 500)
    .headers({ 'cache-control': 'no-store', ...refusal?.headers })
    .type(JSON_TYPE)
    .send(
      JSON.stringify({
        error: refusal?.message ?? `internal error, request ${request.id}`,
        ...refusal?.fields,
      }),
    );
}

/**
 * The refusal for a thrown value; `null`: the value is a bug of ours, and the client gets a 500 without details. `most`: octets of
 * a body that the route takes.
 */
export function refusalOf(error: unknown, most: number = MAX_BODY_OCTETS): Refusal | null {
  if (error instanceof Refusal) return error;
  if (error instanceof StoreFault) return refusalOfFault(error);
  if (error instanceof ComputeFault) return refusalOfComputation(error);
  if (error instanceof TrafficFault)
    return new Refusal(503, 'traffic cannot be taken at the moment', { 'retry-after': '5' });
  if (error instanceof LogFault) return refusalOfLog(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return FRAMEWORK[code]?.(most) ?? null;
}

/** Refusals by Fastify, by its error code, with the messages of this API. */
const FRAMEWORK: Readonly<Record<string, (most: number) => Refusal>> = {
  FST_ERR_BAD_URL: () => badRequest('the path must be percent-encoded UTF-8'),
  FST_ERR_MAX_PARAM_LENGTH: () => notFound(),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new Refusal(415, 'the content type must be `application/json`'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => badRequest('the body is not as long as `Content-Length` says'),
  FST_ERR_CTP_BODY_TOO_LARGE: (most) => new Refusal(413, `the body must be at most ${most} octets`),
};

/** Seconds after which a failed computation may be requested again: those that wait now have ended at the third retry. */
const COMPUTE_RETRY_S = 10;

/** The refusal of a failed computation: 409 where its plan is the cause, else 503 with `Retry-After`. */
function refusalOfComputation({ code, message }: ComputeFault): Refusal {
  if (code === 'plan') return conflict(message);
  return new Refusal(503, message, { 'retry-after': String(COMPUTE_RETRY_S) });
}

/** Seconds after which a search or a batch that the log store could not take may be tried again. */
const LOG_RETRY_S = 5;

/** The refusal of a fault of the log store; where no entries are stored, trying again does not help. */
function refusalOfLog({ code, message }: LogFault): Refusal {
  return new Refusal(503, message, code === 'absent' ? {} : { 'retry-after': String(LOG_RETRY_S) });
}

/** The refusal of a store fault; `null`: one that no client can cause. */
function refusalOfFault(fault: StoreFault): Refusal | null {
  if (fault.code === 'text') return badRequest('the body must not hold NUL characters or lone surrogates');
  if (fault.code === 'missing') return notFound();
  if (fault.code === 'conflict') return conflict('somebody else has changed this; read it and try again');
  if (fault.code === 'unreadable' || fault.code === 'too_new' || fault.code === 'in_use') return null;
  const outcome = fault.undone ? 'nothing was changed' : 'the change may or may not have been made';
  const what = fault.code === 'full' ? 'the store is full' : 'the store is not available at the moment';
  return new Refusal(503, `${what}; ${outcome}`, { 'retry-after': '1' });
}

// Answers octets that Node could not parse as a request: for them no Fastify request exists, only a socket.

/** Reason phrases by status (RFC 9110 §15). */
const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** Writes the refusal to the socket as HTTP/1.1, and closes it. */
export function answerUnparsed(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, message, headers } = refuse(error);
  const body = JSON.stringify({ error: message });
  const lines = Object.entries({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    'x-request-id': randomUUID(),
    ...DATA_HEADERS,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${PHRASES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
}

/** The refusal of a parser error of Node: 431, 408, 404 or 405 for an unknown method, else 400. */
function refuse(error: Error & { readonly code?: string; readonly rawPacket?: unknown }): Refusal {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return new Refusal(431, `the headers must be at most ${MAX_HEADER_OCTETS} octets`);
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Refusal(408, 'the request took too long to arrive');
  const line = error.rawPacket instanceof Uint8Array ? requestLine(error.rawPacket) : null;
  if (error.code === 'HPE_INVALID_METHOD' && line !== null) return refuseMethod(line);
  return new Refusal(400, 'this is not an HTTP request');
}

/** The target of a request whose method Node does not know; `null`: not a request line (RFC 9112 §3). */
function requestLine(packet: Uint8Array): { readonly target: string } | null {
  const text = Buffer.from(packet).subarray(0, MAX_HEADER_OCTETS).toString('latin1');
  const parts = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64} (\/[^ \r\n]*) HTTP\/1\.[01]\r?\n/.exec(text);
  return parts === null ? null : { target: parts[1]! };
}

/** The refusal of a method that Node's parser does not support, as for any method without a route. */
function refuseMethod({ target }: { readonly target: string }): Refusal {
  return refuseRoute(methodsAt(ROUTES, segmentsOf(target)));
}
