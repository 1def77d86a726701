/**
 * Requests that Node's parser of HTTP/1.1 does not finish: those whose target has octets above 0x7F, and those with an
 * Upgrade header.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { HEAD_MS, MAX_HEAD_OCTETS } from '../proxy/limits.ts';
import { encodeOctets } from '../proxy/read-request.ts';
import { type PreambleStep, readPreamble } from './preamble.ts';

/** The error of Node's parser. */
export interface ParserError extends NodeJS.ErrnoException {
  /** The octets that it was reading. */
  readonly rawPacket?: Buffer;
  /** The number of them before the one that it refused. */
  readonly bytesParsed?: number;
}

const LF = 10;
/** What the parser has read of the line: a method and the part of a target that is ASCII. */
const LINE_START = /^[A-Z-]{1,32} [!-~]*$/;

/**
 * The octets of a refused request from its request line on; `null`: another error, or a request line whose start came in an
 * earlier segment, which the parser has not stored.
 */
export function rawTargetOf({ code, rawPacket, bytesParsed }: ParserError): Buffer | null {
  if (code !== 'HPE_INVALID_URL' || rawPacket === undefined || bytesParsed === undefined) return null;
  if (!(rawPacket[bytesParsed]! > 0x7f)) return null;
  const start = bytesParsed === 0 ? 0 : rawPacket.lastIndexOf(LF, bytesParsed - 1) + 1;
  return LINE_START.test(rawPacket.toString('latin1', start, bytesParsed)) ? rawPacket.subarray(start) : null;
}

/**
 * Has the server read a connection again.
 * @param octets from the request line on
 * @param refuse called if the line does not end within the limits of a head
 * @returns `false`: Node's listeners are not those that are known, and nothing has changed
 */
export function readAgain(
  server: Server,
  socket: Socket,
  { octets, refuse }: { readonly octets: Buffer; readonly refuse: () => void },
): boolean {
  if (!detach(socket)) return false;
  socket.unshift(octets);
  readPreamble(socket, {
    read: readLine,
    maxOctets: MAX_HEAD_OCTETS,
    ms: HEAD_MS,
    done(outcome) {
      if (!outcome.ok) return void (socket.writable ? refuse() : socket.destroy());
      socket.unshift(Buffer.from(encodeOctets(outcome.value), 'latin1'));
      server.emit('connection', socket);
    },
  });
  return true;
}

function readLine(octets: Buffer): PreambleStep<string> {
  const end = octets.indexOf(LF) + 1;
  return end === 0 ? 'more' : { ok: true, value: octets.toString('latin1', 0, end), used: end };
}

/** The listeners by which Node's server reads a connection. `close` returns the parser, whose octets go to the socket then. */
const NODE_LISTENERS = {
  close: 'bound socketOnClose',
  data: 'bound socketOnData',
  end: 'bound socketOnEnd',
  drain: 'bound socketOnDrain',
  timeout: 'socketOnTimeout',
  pause: 'onSocketPause',
  resume: 'onSocketResume',
} as const;

/** Takes a connection from Node's server, as the server itself does for an upgrade. */
function detach(socket: Socket): boolean {
  const found = Object.entries(NODE_LISTENERS).map(([event, name]) => ({
    event,
    listener: socket.listeners(event).find((listener) => listener.name === name) as (() => void) | undefined,
  }));
  if (found.some(({ listener }) => listener === undefined)) return false;
  for (const { event, listener } of found) {
    socket.off(event, listener!);
    if (event === 'close') listener!();
  }
  // As Node does: a paused stream would not flow for its next reader.
  (socket as { readableFlowing: boolean | null }).readableFlowing = null;
  return true;
}

// Requests with an Upgrade header (RFC 9110 §7.8). Node hands over the connection of each, whatever the protocol, with the
// request's body unread. Only WebSockets are forwarded as such. A server may ignore other upgrades, so their requests are
// parsed again without the header.

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
