/** Connections before their first request: the octets that precede their protocol, and those without any octet. */
import type { Socket } from 'node:net';

/** The result of a reader for all octets so far. `used` of them are not put back. */
export type PreambleStep<T> =
  | 'more'
  | { readonly ok: true; readonly value: T; readonly used: number }
  | { readonly ok: false; readonly reason: string };

/** The value that was read, or why none could be. */
export type PreambleOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

export interface PreambleOptions<T> {
  /** Called whenever octets have arrived, with all of them so far. */
  readonly read: (octets: Buffer) => PreambleStep<T>;
  /** Octets at which a reader that returns `more` is refused. */
  readonly maxOctets: number;
  /** Milliseconds until the preamble has to be complete. */
  readonly ms: number;
  /** Called once. On a refusal the connection is still open, and may be answered or destroyed. */
  readonly done: (outcome: PreambleOutcome<T>) => void;
}

/** Reads the start of a connection. The socket is left paused. */
export function readPreamble<T>(socket: Socket, { read, maxOctets, ms, done }: PreambleOptions<T>): void {
  let buffer: Buffer = Buffer.alloc(0);
  let length = 0;

  function end(outcome: PreambleOutcome<T>): void {
    clearTimeout(timer);
    socket.off('readable', onReadable);
    socket.off('end', onEnd);
    socket.off('close', onEnd);
    done(outcome);
  }
  function onEnd(): void {
    end({ ok: false, reason: 'the connection ended early' });
  }
  function onReadable(): void {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read()) {
      if (length === 0) buffer = chunk;
      else buffer = appended(buffer, length, chunk);
      length += chunk.length;
    }
    if (length === 0) return;
    const octets = buffer.subarray(0, length);
    const step = read(octets);
    if (step === 'more') {
      if (length >= maxOctets)
        end({ ok: false, reason: `what came first is longer than ${maxOctets} octets` });
      return;
    }
    if (!step.ok) {
      end(step);
      return;
    }
    // Octets that are put back would call a `readable` listener again.
    socket.off('readable', onReadable);
    if (step.used < length) socket.unshift(octets.subarray(step.used));
    end({ ok: true, value: step.value });
  }

  const timer = setTimeout(() => end({ ok: false, reason: `nothing whole came within ${ms} ms` }), ms);
  socket.on('readable', onReadable);
  socket.on('end', onEnd);
  socket.on('close', onEnd);
}

/** The buffer with a chunk appended; it doubles its size, so that octets that arrive one by one are not copied each time. */
function appended(buffer: Buffer, length: number, chunk: Buffer): Buffer {
  let room = buffer;
  if (length + chunk.length > buffer.length) {
    room = Buffer.allocUnsafe(Math.max(2 * buffer.length, length + chunk.length, 512));
    buffer.copy(room, 0, 0, length);
  }
  chunk.copy(room, length);
  return room;
}

// Connections without any octet from the client: browsers and load balancers open some before they have a request. Node
// counts them as connections within a request, so that a graceful stop would wait for them.

/** The connections of a listener from which no octet of a request has arrived. */
export interface SilentConnections {
  /** Adds a connection; octets that were read and put back before this call do not count. */
  watch(socket: Socket): void;
  /** Ends the connections that have been silent for `SILENT_MS`. */
  end(): void;
}

/** Milliseconds in which the first octets of a distant client arrive, once it is connected. */
const SILENT_MS = 500;

/** An empty set. */
export function createSilentConnections(): SilentConnections {
  const watched = new Map<Socket, { readonly since: number; readonly octets: number }>();
  return {
    watch(socket) {
      const octets = socket.bytesRead - socket.readableLength;
      watched.set(socket, { since: performance.now(), octets });
      socket.once('close', () => watched.delete(socket));
    },
    end() {
      const now = performance.now();
      for (const [socket, { since, octets }] of watched) {
        if (socket.bytesRead > octets) watched.delete(socket);
        else if (now - since >= SILENT_MS) socket.destroy();
      }
    },
  };
}
