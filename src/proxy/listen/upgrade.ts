/**
 * Wishes to switch protocols (RFC 9110 §7.8). Node hands a connection over at any of them, whatever is wished for, with the
 * request's body unread. Only WebSockets are passed on as such; other wishes are not heard, as a server may do, and their
 * requests are read once more without them.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Whether this is the start of a WebSocket (RFC 6455 §4.1). */
export function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

export interface UnsupportedUpgrade {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  /** What was read behind the head. */
  readonly rest: Uint8Array;
}

/** Has the server read a request again, without its wish, on a connection it gave away. */
export function readUnsupportedUpgrade(server: Server, { message, socket, rest }: UnsupportedUpgrade): void {
  const { method, url, httpVersion, rawHeaders } = message;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    // As long as it came at most, so that no bound is met that was not met before.
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}:${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest]));
  server.emit('connection', socket);
}
