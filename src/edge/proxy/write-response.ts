/**
 * Writes response messages through Node's servers, HTTP/1.1 and HTTP/2 alike. In: heads, interim responses and trailers as
 * flat lists (name, value, …). Out: the calls that Node's two response classes differ in.
 */
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ClientRequest, ClientResponse } from '../../base/http/client-messages.ts';
import { lowerName } from '../../base/http/header-fields.ts';
import type { HeaderList, ResponseFault, ResponseHead } from '../../base/http/response.ts';

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
function byName(headers: HeaderList): Record<string, string | string[]> {
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
