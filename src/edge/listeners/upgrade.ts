/**
 * Requests with an Upgrade header (RFC 9110 §7.8). Node hands over the connection of each, whatever the protocol, with the
 * request's body unread. Only WebSockets are forwarded as such. A server may ignore other upgrades, so their requests are
 * parsed again without the header.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Whether a request opens a WebSocket (RFC 6455 §4.1). */
export function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

/** A request whose upgrade is ignored. */
export interface UnsupportedUpgrade {
  readonly message: IncomingMessage;
  readonly socket: Duplex;
  /** The octets after the head. */
  readonly rest: Uint8Array;
}

/** Makes the server parse a request again, without its Upgrade header, on a connection that it has handed over. */
export function readUnsupportedUpgrade(server: Server, { message, socket, rest }: UnsupportedUpgrade): void {
  const { method, url, httpVersion, rawHeaders } = message;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    // No longer than received, so that the head exceeds no limit that it did not exceed before.
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}:${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), rest]));
  server.emit('connection', socket);
}
