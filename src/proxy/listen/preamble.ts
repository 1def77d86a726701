/**
 * What comes on a connection before its protocol: read bounded in octets and time, however it is cut into segments, and
 * what is not used put back, so that the server after it sees the connection as if nobody had looked.
 */
import type { Socket } from 'node:net';

/** What a reader makes of the octets so far: all of them, from the first. `used` of them are not put back. */
export type PreambleStep<T> =
  | 'more'
  | { readonly ok: true; readonly value: T; readonly used: number }
  | { readonly ok: false; readonly reason: string };

export type PreambleOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

export interface PreambleOptions<T> {
  /** Asked again whenever more has come, with everything so far. */
  readonly read: (octets: Buffer) => PreambleStep<T>;
  /** Octets after which a reader may not want more. */
  readonly maxOctets: number;
  /** Milliseconds to be done in. */
  readonly ms: number;
  /** Told once. On a refusal the connection is still open; it may be answered or destroyed. */
  readonly done: (outcome: PreambleOutcome<T>) => void;
}

/** Reads the start of a connection. The socket is left paused. */
export function readPreamble<T>(socket: Socket, { read, maxOctets, ms, done }: PreambleOptions<T>): void {
  let held: Buffer = Buffer.alloc(0);
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
      if (length === 0) held = chunk;
      else held = appended(held, length, chunk);
      length += chunk.length;
    }
    if (length === 0) return;
    const octets = held.subarray(0, length);
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
    // The listener goes first: octets put back would wake it.
    socket.off('readable', onReadable);
    if (step.used < length) socket.unshift(octets.subarray(step.used));
    end({ ok: true, value: step.value });
  }

  const timer = setTimeout(() => end({ ok: false, reason: `nothing whole came within ${ms} ms` }), ms);
  socket.on('readable', onReadable);
  socket.on('end', onEnd);
  socket.on('close', onEnd);
}

/** Room doubles, so that octets that come one by one are not copied each time. */
function appended(held: Buffer, length: number, chunk: Buffer): Buffer {
  let room = held;
  if (length + chunk.length > held.length) {
    room = Buffer.allocUnsafe(Math.max(2 * held.length, length + chunk.length, 512));
    held.copy(room, 0, 0, length);
  }
  chunk.copy(room, length);
  return room;
}
