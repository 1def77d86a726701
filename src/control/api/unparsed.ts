/** Answers octets that Node could not parse as a request: for them no Fastify request exists, only a socket. */
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { DATA_HEADERS } from './answer.ts';
import { refuseRoute } from './operation/checks.ts';
import { MAX_HEADER_OCTETS } from './operation/limits.ts';
import { methodsAt, segmentsOf } from './operation/paths.ts';
import { Refusal } from './operation/refusal.ts';
import { ROUTES } from './routes.ts';

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
