/**
 * Requests of HTTP/1.1 whose target has octets above 0x7F. Node's parser refuses them; HTTP/2, and most servers, take them
 * for what a percent-encoded target means (semantics §1.1). In: a connection whose parser has refused such a target. Out: the
 * same connection, read again from its request line on, with these octets percent-encoded.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
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
