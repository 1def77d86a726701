/**
 * The door for Envoy's `ext_authz` filter over gRPC, and for what else speaks its protocol. In: connections of HTTP/2 in clear
 * text, on TCP or a unix socket. Out: the decision about each request that is asked about. `README.md` beside this file has
 * the configuration of the proxy.
 */
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerOptions } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Unenforced } from '../../decide/verdict.ts';
import type { DecideForDoor } from '../door.ts';
import { type DoorPlace, listenAt, type RunningDoor } from '../listener.ts';
import { type CheckCounts, createCalls } from './calls.ts';
import {
  CALL_MS,
  CONNECTION_WINDOW,
  GOAWAY_MS,
  LOG_MS,
  MAX_CONNECTIONS,
  MAX_HEAD_OCTETS,
  MAX_STREAMS,
  RESETS,
  SESSION_MIB,
  STREAM_WINDOW,
  SWEEP_MS,
} from './limits.ts';
import { sendShutdownNotice } from './shutdown-notice.ts';
import { createStreams, type StreamCounts } from './streams.ts';

/**
 * The parts of a decision that the proxy enforces behind this door, with routes that go by the door's headers: another origin,
 * and another path. It adds headers to responses and removes none, caches nothing, and passes parts of bodies on.
 */
export const EXT_AUTHZ_ENFORCED: ReadonlySet<Unenforced> = new Set(['origin', 'rewrite', 'request']);

/** Numbers since the start, for metrics. */
export interface ExtAuthzCounts extends Readonly<CheckCounts>, Readonly<StreamCounts> {
  /** Open connections. */
  readonly connections: number;
  /** Connections that were closed at once: too many were open. */
  readonly refusedConnections: number;
  /** Connections that ended by an error of HTTP/2. */
  readonly protocolErrors: number;
}

export interface ExtAuthzDoorOptions extends DoorPlace {
  readonly decide: DecideForDoor;
  /** Receives a sentence for the log, of each kind at most one a minute. */
  readonly log: (sentence: string) => void;
  /** Whether health checks get SERVING while the door is not retiring. Default: always. */
  readonly isServing?: () => boolean;
  /** Most connections at a time. Default: `MAX_CONNECTIONS`. */
  readonly maxConnections?: number;
  /** Milliseconds for a message to arrive, and for a response to be taken. Default: `CALL_MS`. */
  readonly callMs?: number;
  /** Milliseconds after a GOAWAY in which calls still arrive. Default: `GOAWAY_MS`. */
  readonly goawayMs?: number;
}

/** A connection. */
interface Served {
  readonly socket: Socket;
  /** When the first GOAWAY was sent, in milliseconds of the monotonic clock; `null`: not yet. */
  goawayAt: number | null;
}

/** Opens the door. @throws the error of listening */
export async function openExtAuthzDoor(options: ExtAuthzDoorOptions): Promise<RunningDoor<ExtAuthzCounts>> {
  const { decide, isServing = yes, maxConnections = MAX_CONNECTIONS } = options;
  const { callMs = CALL_MS, goawayMs = GOAWAY_MS } = options;
  const log = limited(options.log);
  const sessions = new Map<ServerHttp2Session, Served>();
  const sockets = new Set<Socket>();
  const checks: CheckCounts = { forwarded: 0, answered: 0, faults: 0, healthChecks: 0 };
  const connections = { refusedConnections: 0, protocolErrors: 0 };
  let retiring = false;
  /** Idle connections without a first GOAWAY are closed too: their clients have not acknowledged the settings. */
  let stopping = false;
  const calls = createCalls({
    decide,
    log,
    isServing: () => !retiring && isServing(),
    counts: checks,
  });
  const streams = createStreams({ calls, callMs, onEnd: closeLeft });
  const http2 = createHttp2Server(HTTP2_OPTIONS);
  /** The socket whose session the server creates, within `emit`. */
  let arriving: Socket | null = null;
  http2.on('session', (session) => {
    if (arriving === null) return void session.destroy();
    const served: Served = { socket: arriving, goawayAt: null };
    sessions.set(session, served);
    session.once('close', () => sessions.delete(session));
    session.setLocalWindowSize(CONNECTION_WINDOW);
    if (retiring) leave(session, served);
  });
  http2.on('sessionError', (error) => {
    connections.protocolErrors++;
    log(
      `a connection of the gRPC door ended: ${error.message}; does the proxy speak HTTP/2 in clear text to it?`,
    );
  });
  http2.on('stream', streams.serve);
  const listener = createServer({ noDelay: true }, (socket) => {
    // An error of a connection ends it, and nothing else.
    socket.on('error', () => socket.destroy());
    if (sockets.size >= maxConnections) {
      connections.refusedConnections++;
      log(`the gRPC door closed a connection: ${maxConnections} are open, which is the most`);
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    arriving = socket;
    http2.emit('connection', socket);
    arriving = null;
  });
  const bound = await listenAt(listener, options);
  const sweep = setInterval(streams.endStalled, Math.min(SWEEP_MS, callMs));
  sweep.unref();

  function retire(): void {
    if (retiring) return;
    retiring = true;
    listener.close();
    bound.remove();
    for (const [session, served] of sessions) leave(session, served);
  }

  /** Sends the client of a connection the first GOAWAY: it opens no more calls. */
  function leave(session: ServerHttp2Session, served: Served): void {
    if (session.closed || session.destroyed) return;
    // The notice follows the settings, with which every connection begins (RFC 9113 §3.4).
    if (session.pendingSettingsAck) session.once('localSettings', () => leave(session, served));
    else if (sendShutdownNotice(served.socket)) {
      served.goawayAt = performance.now();
      setTimeout(() => closeLeft(session), goawayMs).unref();
    } else session.close();
  }

  /** Sends the last GOAWAY, and closes the connection, if no calls can be on their way. */
  function closeLeft(session: ServerHttp2Session): void {
    const goawayAt = sessions.get(session)?.goawayAt ?? null;
    const isDue = goawayAt === null ? stopping : performance.now() - goawayAt >= goawayMs;
    if (isDue && streams.isIdle(session) && !session.closed) session.close();
  }

  return {
    address: bound.address,
    socket: bound,
    retire,
    async stop(graceMs) {
      retire();
      stopping = true;
      await drained(sessions, { closeLeft, until: performance.now() + graceMs });
      clearInterval(sweep);
      for (const session of sessions.keys()) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
    counts: () => ({ ...checks, ...streams.counts, ...connections, connections: sockets.size }),
  };
}

function yes(): true {
  return true;
}

/** Options that Node has and its types lack. */
interface ResetOptions extends ServerOptions {
  readonly streamResetBurst: number;
  readonly streamResetRate: number;
}

const HTTP2_OPTIONS: ResetOptions = {
  settings: {
    maxConcurrentStreams: MAX_STREAMS,
    initialWindowSize: STREAM_WINDOW,
    maxHeaderListSize: MAX_HEAD_OCTETS,
    enableConnectProtocol: false,
  },
  maxSessionMemory: SESSION_MIB,
  streamResetBurst: RESETS.burst,
  streamResetRate: RESETS.perSecond,
};

interface Draining {
  readonly closeLeft: (session: ServerHttp2Session) => void;
  /** Milliseconds of the monotonic clock. */
  readonly until: number;
}

/** Closes connections without calls, until there are none or the time is over. */
async function drained(
  sessions: ReadonlyMap<ServerHttp2Session, Served>,
  { closeLeft, until }: Draining,
): Promise<void> {
  while (sessions.size > 0 && performance.now() < until) {
    for (const session of sessions.keys()) closeLeft(session);
    await delay(DRAIN_LOOK_MS);
  }
}

/** Milliseconds between two looks at connections that drain. */
const DRAIN_LOOK_MS = 10;

/** The log, with each kind of sentence at most once a minute; the kind is how it begins. */
function limited(log: (sentence: string) => void): (sentence: string) => void {
  const loggedAt = new Map<string, number>();
  return (sentence) => {
    const kind = sentence.slice(0, KIND_CHARACTERS);
    const now = performance.now();
    if (now - (loggedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < LOG_MS) return;
    loggedAt.set(kind, now);
    log(sentence);
  };
}

/** Characters by which sentences of the door differ in kind. */
const KIND_CHARACTERS = 8;
