/**
 * Writes response messages through Node's servers, HTTP/1.1 and HTTP/2 alike. In: heads, interim responses and trailers as
 * flat lists (name, value, …). Out: the calls that Node's two response classes differ in.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ClientRequest, ClientResponse } from '../../base/http/client-messages.ts';
import { lowerName } from '../../base/http/header-fields.ts';
import type { EdgeAnswer, HeaderList, ResponseFault, ResponseHead } from '../../base/http/response.ts';
import { LINGER_MS } from './limits.ts';

/** Whether a response has no body, whatever its headers state (RFC 9110 §6.4.1). */
export function isBodiless(method: string | undefined, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304;
}

/** Writes the status line and the headers. */
export function writeHead(
  response: ServerResponse,
  { status, headers, reason }: Pick<ResponseHead, 'status' | 'headers' | 'reason'>,
): void {
  if ('stream' in response) return void response.writeHead(status, byName(headers));
  if (reason === undefined) response.writeHead(status, headers as string[]);
  else response.writeHead(status, reason, headers as string[]);
}

/** Ends a response with a body of at most a few KB. */
export function endWithBody(response: ServerResponse, octets: Uint8Array): void {
  const body = Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
  if (response.chunkedEncoding) return void response.end(body, 'latin1');
  // PERF: Node writes a head together with a first string, but delays the write to the end of the tick, and `end` adds an
  // empty write: two buffers to gather. Corked here and uncorked at once, both leave in a single write.
  const { socket } = response;
  // A write to a TLS socket never completes at once; an `end` before its completion would send the empty write after it.
  const isDeferred = socket !== null && 'encrypted' in socket;
  const written = (error: unknown): void => {
    if (!error) response.end();
  };
  socket?.cork();
  response.write(body, 'latin1', isDeferred ? written : undefined);
  socket?.uncork();
  if (!isDeferred) response.end();
}

/** The fault of a client that has taken no octet for the time that a connection may be without traffic. */
export const UNREAD: ResponseFault = { code: 'slow', reason: 'the client takes nothing of the response' };

/** An end of a response or its connection that the node itself causes. */
export class EarlyEnd extends Error {
  readonly fault: ResponseFault;
  constructor(fault: ResponseFault) {
    super(fault.reason);
    this.fault = fault;
  }
}

/**
 * Ends a response within its body, so that the client does not take it for whole: over HTTP/2 its stream is reset with an
 * error code (RFC 9113 §8.1), over HTTP/1.1 its connection is closed before its length or its last chunk (RFC 9112 §8). To
 * HTTP/1.0 a body without a length ends with the connection, which is reset.
 */
export function endShort(response: ServerResponse, fault: ResponseFault): void {
  if ('stream' in response) return void response.destroy(new EarlyEnd(fault));
  const { socket } = response;
  // Node corks a connection for the rest of the tick; `destroy` would discard what was written in it.
  while (socket !== null && socket.writableCorked > 0) socket.uncork();
  if (response.req.httpVersion === '1.0' && socket !== null) breakOff(socket);
  else response.destroy();
}

/** Ends a connection whose end is that of a body, so that this is not taken for whole: by a reset, or TLS without its end. */
export function breakOff(socket: Duplex): void {
  if (socket instanceof Socket && !('encrypted' in socket)) socket.resetAndDestroy();
  else socket.destroy();
}

/** The fault for which the node has ended a response or its connection; `null`: it has not. */
export function endedFor(response: ClientResponse, request: ClientRequest): ResponseFault | null {
  const error = 'stream' in response ? response.stream.errored : request.socket.errored;
  return error instanceof EarlyEnd ? error.fault : null;
}

/** Whether all of a response was written. Node ends a stream that the client resets, and only sets `aborted`. */
export function isComplete(response: ClientResponse): boolean {
  return 'stream' in response ? !response.stream.aborted : response.writableFinished;
}

/** Writes a 103; without effect once the head is out. `httpVersionMajor` is that of the request. */
export function writeInterim(response: ServerResponse, headers: HeaderList, httpVersionMajor: number): void {
  if (httpVersionMajor >= 2) writeInformation(response, headers);
  else writeEarlyHints(response, headers);
}

/** Adds trailers to a response; called before its end. */
export function addTrailers(response: ServerResponse, trailers: HeaderList): void {
  const pairs: [string, string][] = [];
  for (let at = 0; at < trailers.length; at += 2) pairs.push([trailers[at]!, trailers[at + 1]!]);
  if ('stream' in response) response.addTrailers(Object.fromEntries(pairs));
  else response.addTrailers(pairs);
}

/** Headers by lower-case name, as HTTP/2 requires them; a header that occurs several times has a list. */
export function byName(headers: HeaderList): Record<string, string | string[]> {
  const object: Record<string, string | string[]> = {};
  for (let at = 0; at < headers.length; at += 2) {
    const name = lowerName(headers[at]!);
    const before = object[name];
    const value = headers[at + 1]!;
    if (before === undefined) object[name] = value;
    else if (typeof before === 'string') object[name] = [before, value];
    else before.push(value);
  }
  return object;
}

function writeEarlyHints(response: ServerResponse, headers: HeaderList): void {
  const { link, ...rest } = byName(headers);
  if (link === undefined || response.headersSent) return;
  const others = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]));
  try {
    response.writeEarlyHints({ ...others, link });
  } catch (error) {
    // Node throws on links that it cannot parse. A missing hint does no harm, and the response itself still follows.
    if (!isInvalidArgument(error)) throw error;
  }
}

function isInvalidArgument(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_ARG_VALUE';
}

function writeInformation(response: ServerResponse, headers: HeaderList): void {
  if (response.headersSent || !('stream' in response)) return;
  const stream = response.stream as import('node:http2').ServerHttp2Stream;
  if (!stream.destroyed) stream.additionalHeaders({ ':status': 103, ...byName(headers) });
}

// Lingering close, for responses before the end of their request: an upload that is refused, or that its origin does not
// read to the end. The kernel resets a connection that is closed while its client still sends, and the client loses the
// response (RFC 9112 §9.6). So what the client still sends is read and discarded for a while before the connection ends.

/** Lets a client that sends a body read its response before the connection closes. */
export function lingerOver(message: IncomingMessage, response: ServerResponse): void {
  const { socket } = message;
  // Node itself ends a connection once the kernel has its last response, without waiting for the client.
  socket.destroySoon = () => {
    Reflect.deleteProperty(socket, 'destroySoon');
    if (message.complete) return socket.destroySoon();
    socket.end();
    message.once('end', () => socket.destroy());
  };
  response.once('finish', () => {
    if (message.complete) return;
    message.unpipe();
    message.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    message.once('end', () => clearTimeout(timer));
    message.once('close', () => clearTimeout(timer));
  });
  message.once('end', () => Reflect.deleteProperty(socket, 'destroySoon'));
}

/** Ends a connection within `ms`, once its last octets are written and no server handles it any more. */
export function endSoon(socket: Duplex, ms = LINGER_MS): void {
  // A paused socket would not report what the client still sends, nor its end.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), ms);
  socket.once('close', () => clearTimeout(timer));
}

// Responses on raw connections: those that Node's server hands over when a client requests another protocol.

/** Writes a whole response of HTTP/1.1, and ends the connection. */
export function answerOnSocket(socket: Duplex, { status, headers, body }: EdgeAnswer): void {
  if (socket.destroyed) return;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : (body ?? Buffer.alloc(0));
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  lines.push(`Content-Length: ${bytes.length}`, 'Connection: close', '', '');
  // An error means that the client has left.
  socket.on('error', () => undefined);
  socket.end(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), bytes]));
  endSoon(socket);
}
