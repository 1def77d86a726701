/**
 * One connection of HAProxy. In: its socket. Out: the handshake, an ACK for every NOTIFY in the order in which decisions finish,
 * and the end. A decision that waits for a clearance or a body delays no other one.
 *
 * Every frame is written whole. ACKs of the same turn are one write; AGENT-HELLO is a write of its own, because HAProxy 3.2
 * resets a connection whose HELLO arrives in parts (haproxy#3478).
 */
import type { Socket } from 'node:net';
import type { DecideForDoor, DoorAnswer } from '../door.ts';
import type { Tickets } from '../tickets.ts';
import { readArguments } from './arguments.ts';
import { createFrameWriter, FrameFault, LENGTH_OCTETS, type SpopStatus } from './codec.ts';
import type { SpopTally } from './counts.ts';
import {
  agentDisconnect,
  agentHello,
  FIN,
  FRAME,
  type FrameHead,
  HELLO_FRAME_OCTETS,
  readDisconnect,
  readHead,
  readHello,
} from './frames.ts';
import { CLOSE_MS, HELLO_MS, MAX_PENDING, MAX_PENDING_OCTETS, MAX_UNWRITTEN_OCTETS } from './limits.ts';
import { createFrameSplitter, type FrameSplitter } from './split-frames.ts';
import { type AckSubject, ackOf, faultAck } from './variables.ts';

/** What connections of a door share. */
export interface ConnectionServices {
  readonly decide: DecideForDoor;
  readonly tickets: Pick<Tickets, 'issue'>;
  readonly tally: SpopTally;
}

/** One connection. */
export interface SpopConnection {
  /** Milliseconds without a frame; 0 while a decision is awaited or an ACK is not written. */
  quietMs(): number;
  /** Ends the connection in order: AGENT-DISCONNECT with the status `normal`. */
  disconnect(): void;
  destroy(): void;
  /** Reads no more. */
  pause(): void;
  /** Whether no decision is awaited, no ACK is to be written, and no frame waits for room. */
  isIdle(): boolean;
  /** What the next process needs to go on with the paused and idle connection; `null`: it is ending. */
  handOver(): HandedConnection | null;
  /** Node's own object of the socket. */
  handle(): object;
  /** Reads again: no other process has taken it. */
  resume(): void;
}

/** The state of a connection between two frames. */
export interface HandedConnection {
  /** Octets of the longest frame; `null`: the handshake is still to come. */
  readonly maxFrame: number | null;
  /** What has arrived of the next frame. */
  readonly rest: Uint8Array;
}

interface Connection {
  readonly socket: Socket;
  readonly services: ConnectionServices;
  readonly frames: FrameSplitter;
  readonly helloTimer: NodeJS.Timeout;
  state: 'hello' | 'open' | 'ending';
  /** Octets of the longest frame that both sides take. */
  maxFrame: number;
  /** Decisions that are awaited, and the octets of their frames. */
  pending: number;
  pendingOctets: number;
  /** Whether the socket is paused: there was no room. */
  isPaused: boolean;
  /** Whether `readFrames` is running, which writes the ACKs at its end. */
  isReading: boolean;
  lastFrameAt: number;
  /** ACKs of this turn. */
  acks: Buffer[];
}

/** PERF: one writer for all connections, since a frame is written without a pause. */
const writer = createFrameWriter();

/**
 * Serves a connection until it is closed.
 * @param handed the state in which another process has left it; `null`: it is new
 */
export function serveConnection(
  socket: Socket,
  services: ConnectionServices,
  handed: HandedConnection | null = null,
): SpopConnection {
  const connection: Connection = {
    socket,
    services,
    frames: createFrameSplitter(HELLO_FRAME_OCTETS),
    helloTimer: setTimeout(
      () => breakOff(connection, 'timeout', 'no HAPROXY-HELLO arrived in time'),
      HELLO_MS,
    ),
    state: 'hello',
    maxFrame: HELLO_FRAME_OCTETS,
    pending: 0,
    pendingOctets: 0,
    isPaused: false,
    isReading: false,
    lastFrameAt: performance.now(),
    acks: [],
  };
  socket.on('data', (chunk: Buffer) => {
    connection.frames.add(chunk);
    readFrames(connection);
  });
  socket.on('drain', () => {
    if (connection.isPaused) readFrames(connection);
  });
  // A connection that breaks is reported by `close`.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    connection.state = 'ending';
    clearTimeout(connection.helloTimer);
  });
  if (handed !== null) restore(connection, handed);
  return {
    pause: () => handleOf(socket)?.readStop(),
    isIdle() {
      const isReadable = connection.isPaused || socket.readableLength > 0;
      // ACKs of decisions that were awaited are written at the end of their turn.
      const isWriting = connection.acks.length > 0 || socket.writableLength > 0;
      return connection.pending === 0 && !isWriting && !isReadable;
    },
    handOver() {
      if (connection.state === 'ending' || handleOf(socket) === null) return null;
      const isOpen = connection.state === 'open';
      return { maxFrame: isOpen ? connection.maxFrame : null, rest: connection.frames.rest() };
    },
    handle: () => handleOf(socket)!,
    resume: () => handleOf(socket)?.readStart(),
    quietMs() {
      const isBusy = connection.pending > 0 || connection.acks.length > 0 || socket.writableLength > 0;
      return isBusy ? 0 : performance.now() - connection.lastFrameAt;
    },
    disconnect: () => end(connection, agentDisconnect('normal', 'the agent stops')),
    destroy: () => void socket.destroy(),
  };
}

/** The part of Node's own object of a socket by which reading stops at once: a paused stream reads on into its buffer. */
interface ReadingHandle {
  readStart(): void;
  readStop(): void;
}

/** `null`: the socket is closed. */
function handleOf(socket: Socket): ReadingHandle | null {
  return (socket as Socket & { readonly _handle?: ReadingHandle | null })._handle ?? null;
}

/** Goes on where another process has left a connection. */
function restore(connection: Connection, { maxFrame, rest }: HandedConnection): void {
  if (maxFrame !== null) open(connection, maxFrame);
  connection.frames.add(Buffer.from(rest));
  readFrames(connection);
}

/** Handles the frames that have arrived. Without room it stops reading, and runs again when there is some. */
function readFrames(connection: Connection): void {
  if (connection.isReading) return;
  connection.isReading = true;
  try {
    while (connection.state !== 'ending') {
      const hasSpace = hasRoom(connection);
      const frame = hasSpace ? connection.frames.next() : null;
      if (frame === null) {
        setPaused(connection, !hasSpace);
        break;
      }
      handle(connection, readHead(frame), frame.length + LENGTH_OCTETS);
    }
  } catch (error) {
    if (!(error instanceof FrameFault)) throw error;
    breakOff(connection, error.status, error.message);
  } finally {
    connection.isReading = false;
    flush(connection);
  }
  // This write may be the one that a peer which does not read has no room for.
  if (!hasRoom(connection)) setPaused(connection, true);
}

/** The bounds of decisions that are awaited and of octets that HAProxy does not read. */
function hasRoom({ pending, pendingOctets, socket }: Connection): boolean {
  return (
    pending < MAX_PENDING &&
    pendingOctets < MAX_PENDING_OCTETS &&
    socket.writableLength < MAX_UNWRITTEN_OCTETS
  );
}

function setPaused(connection: Connection, isPaused: boolean): void {
  if (connection.isPaused === isPaused) return;
  connection.isPaused = isPaused;
  if (isPaused) connection.socket.pause();
  else connection.socket.resume();
}

/** Adds an ACK to those of this turn. */
function send(connection: Connection, ack: Buffer): void {
  // Outside of `readFrames` the first one waits for those of other promises that settle in the same turn.
  if (connection.acks.push(ack) === 1 && !connection.isReading) setImmediate(flush, connection);
}

/** Writes the ACKs of this turn at once. */
function flush(connection: Connection): void {
  const { acks, socket } = connection;
  if (acks.length === 0) return;
  connection.acks = [];
  if (connection.state !== 'ending' && socket.writable) {
    socket.write(acks.length === 1 ? acks[0]! : Buffer.concat(acks));
  }
}

/** Ends the connection with a last frame; a peer that does not close is closed. */
function end(connection: Connection, last: Buffer): void {
  if (connection.state === 'ending') return;
  flush(connection);
  connection.state = 'ending';
  clearTimeout(connection.helloTimer);
  const { socket } = connection;
  // What still arrives is read and dropped, so that the last frame is not lost in a reset.
  setPaused(connection, false);
  socket.end(last);
  setTimeout(() => socket.destroy(), CLOSE_MS).unref();
}

/** Ends the connection for an error of the protocol. */
function breakOff(connection: Connection, status: SpopStatus, message: string): void {
  if (connection.state === 'ending') return;
  connection.services.tally.protocolError(status, message);
  end(connection, agentDisconnect(status, message));
}

function handle(connection: Connection, head: FrameHead, octets: number): void {
  const { state } = connection;
  const { type, flags, payload } = head;
  connection.lastFrameAt = performance.now();
  if (type === FRAME.disconnect) {
    const { status, message } = readDisconnect(payload);
    const sentence = `HAProxy ended a connection with the status ${status}, ${quoted(message)}`;
    if (status !== 0) connection.services.tally.report('disconnect', sentence);
    end(connection, agentDisconnect('normal', 'HAProxy ended the connection'));
    return;
  }
  if (type === FRAME.fragment || (type === FRAME.notify && flags !== FIN)) {
    throw new FrameFault('fragmented', 'a frame is fragmented, which this agent does not announce');
  }
  if (state === 'hello' && type === FRAME.hello) {
    greet(connection, head);
  } else if (state === 'open' && type === FRAME.notify) {
    notify(connection, head, octets);
  } else {
    const when = state === 'hello' ? 'before' : 'after';
    throw new FrameFault('invalid', `a frame of the type ${type} arrived ${when} the handshake`);
  }
}

function greet(connection: Connection, { payload }: FrameHead): void {
  const { maxFrame, isHealthCheck } = readHello(payload);
  const hello = agentHello(maxFrame);
  if (isHealthCheck) {
    connection.services.tally.healthChecks++;
    end(connection, hello);
    return;
  }
  open(connection, maxFrame);
  connection.socket.write(hello);
}

/** The handshake is over. */
function open(connection: Connection, maxFrame: number): void {
  clearTimeout(connection.helloTimer);
  connection.maxFrame = maxFrame;
  connection.frames.limit(maxFrame);
  connection.state = 'open';
}

function notify(connection: Connection, { ids, payload }: FrameHead, octets: number): void {
  const { decide, tally } = connection.services;
  const found = readArguments(payload);
  if (!found.ok) {
    tally.badArguments(found);
    send(connection, faultAck(writer, ids));
    return;
  }
  const { request, sentTarget } = found;
  const subject: AckSubject = { ids, target: sentTarget, scheme: request.scheme };
  const answer = decide(request);
  if (!(answer instanceof Promise)) {
    acknowledge(connection, subject, answer);
    return;
  }
  connection.pending++;
  connection.pendingOctets += octets;
  tally.pending++;
  void answer.then((settled) => {
    connection.pending--;
    connection.pendingOctets -= octets;
    tally.pending--;
    acknowledge(connection, subject, settled);
    if (connection.isPaused) readFrames(connection);
  });
}

function acknowledge(connection: Connection, subject: AckSubject, answer: DoorAnswer): void {
  const { tally, tickets } = connection.services;
  tally.decisions++;
  if (answer.kind === 'fault') tally.faults++;
  if (connection.state === 'ending') return;
  const ack = ackOf(writer, answer, { subject, tickets });
  if (ack.length - LENGTH_OCTETS <= connection.maxFrame) {
    send(connection, ack);
    return;
  }
  tally.longAnswers++;
  tally.report('long', 'an answer is longer than a frame that HAProxy takes; raise `tune.bufsize`');
  send(connection, faultAck(writer, subject.ids));
}

/** Text of the peer for a log: short, and one line. */
function quoted(text: string): string {
  return `\`${text.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, '?')}\``;
}
