/**
 * HTTP/2 over established TLS connections. In: a connection and the facts of its handshake. Out: every request to the
 * handler, within limits: concurrent streams, octets and fields of a head, resets, control frames, the time that a request
 * may take to arrive, the time without any traffic on a stream or on the connection.
 */
import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { ClientRequest } from '../../../base/http/client-messages.ts';
import type { Incoming } from '../../decide/request-context.ts';
import {
  CONTROL_FRAMES_PER_SECOND,
  IDLE_MS,
  MAX_CONTROL_FRAMES,
  MAX_HEAD_OCTETS,
  MAX_HEADERS,
  MAX_ORIGIN_HEAD_OCTETS,
  MAX_STREAM_RESETS,
  MAX_STREAMS,
  REQUEST_MS,
  STALL_MS,
} from '../../proxy/limits.ts';
import type { Handler } from '../../proxy/serve-request.ts';
import type { Listener, TrustedProxies } from '../../proxy/visitor.ts';
import { EarlyEnd, UNREAD } from '../../proxy/write-response.ts';
import { type ConnectionOrigin, incomingOf } from '../http.ts';
import { createStreamClient, isResetByNode, isWebSocketConnect } from './websocket-stream.ts';

export interface Http2Options {
  readonly handler: Handler;
  readonly trusted: TrustedProxies;
  readonly listener: Listener;
  /** Milliseconds a connection may be without any traffic. Default: `IDLE_MS`. */
  readonly idleMs?: number;
  /** Milliseconds a stream may be without any traffic. Default: `STALL_MS`. */
  readonly stallMs?: number;
  /** Milliseconds for a whole request to arrive. Default: `REQUEST_MS`. */
  readonly requestMs?: number;
}

export interface Http2Front {
  /** Serves a connection whose client chose `h2`. */
  take(socket: TLSSocket, arrival: ConnectionOrigin): void;
  /**
   * Sends clients a GOAWAY (RFC 9113 §6.8), one that connects later with its first request: streams that the node has are served,
   * and clients send what they have sent meanwhile again, elsewhere (§8.7).
   */
  retire(): void;
  /** Closes connections without streams. */
  closeIdle(): void;
  /**
   * Retires those that are left, and ends WebSockets in their closing handshake; may be called again.
   */
  drain(): void;
  /** Ends the checks of streams; connections continue. */
  close(): void;
}

/** Octets that every field counts in addition to its name and value (RFC 9113 §6.5.2). */
const FIELD_OVERHEAD = 32;
/** Octets of a request's head, counted in that way. */
const MAX_LIST_OCTETS = MAX_HEAD_OCTETS + FIELD_OVERHEAD * MAX_HEADERS;
/**
 * Octets of a response's compressed head, for which nghttp2 counts 12 a field in addition to its own: enough for any head
 * that an origin may send, whose shortest fields have four octets, and as many again for the headers that the node adds.
 */
const MAX_SENT_OCTETS = 8 * MAX_ORIGIN_HEAD_OCTETS;
/** Invalid frames before a connection ends; a correct client sends none. */
const MAX_INVALID_FRAMES = 20;

interface FrontState {
  readonly options: Required<Http2Options>;
  readonly sessions: Map<ServerHttp2Session, ServedConnection>;
  retiring: boolean;
  /** The connection whose session the server creates, within `emit`; `null`: none. */
  arriving: Pick<ServedConnection, 'socket' | 'arrival'> | null;
}

export function createHttp2Front(options: Http2Options): Http2Front {
  const state: FrontState = {
    options: { idleMs: IDLE_MS, stallMs: STALL_MS, requestMs: REQUEST_MS, ...options },
    sessions: new Map(),
    retiring: false,
    arriving: null,
  };
  const { sessions } = state;
  const server = createServer({
    settings: {
      maxConcurrentStreams: MAX_STREAMS,
      maxHeaderListSize: MAX_LIST_OCTETS,
      // WebSockets are opened by it (RFC 8441 §3).
      enableConnectProtocol: true,
    },
    // As many as fit: Node ends a stream with more, for which `readRequest` has an answer.
    maxHeaderListPairs: Math.floor(MAX_LIST_OCTETS / FIELD_OVERHEAD),
    maxSendHeaderBlockLength: MAX_SENT_OCTETS,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionRejectedStreams: MAX_STREAM_RESETS,
  });
  server.on('session', (session) => serveSession(state, session));
  server.on('request', (message, response) => serveRequest(state, { message, response, proceed: nothing }));
  server.on('checkContinue', (message, response) => {
    serveRequest(state, { message, response, proceed: () => response.writeContinue() });
  });
  server.on('checkExpectation', (message, response) => {
    serveRequest(state, { message, response, proceed: nothing });
  });
  server.on('connect', (message, response) => serveConnect(state, { message, response, proceed: nothing }));
  const checks = setInterval(() => endStalled(state), state.options.stallMs);
  checks.unref();

  return {
    take(socket, arrival) {
      state.arriving = { socket, arrival };
      server.emit('connection', socket);
      state.arriving = null;
    },
    retire() {
      state.retiring = true;
      for (const session of sessions.keys()) leave(session);
    },
    closeIdle() {
      for (const [session, { streams }] of sessions) {
        if (streams.size === 0) leave(session);
      }
    },
    drain() {
      for (const session of sessions.keys()) leave(session);
      options.handler.leave();
    },
    close: () => clearInterval(checks),
  };
}

/** Registers the session of a connection, and sets the limits of its streams. */
function serveSession(state: FrontState, session: ServerHttp2Session): void {
  const { arriving, sessions, options } = state;
  if (arriving === null) return void session.destroy();
  const served: ServedConnection = {
    ...arriving,
    streams: new Map(),
    tunnels: new Set(),
    ended: false,
  };
  sessions.set(session, served);
  session.once('close', () => sessions.delete(session));
  session.on('stream', (stream: ServerHttp2Stream) => {
    const unread = { octets: 0, checks: 0 };
    served.streams.set(stream, unread);
    stream.once('close', () => served.streams.delete(stream));
    // A connection that arrives while the node retires gets its first requests served as any other.
    if (state.retiring) leave(session);
    stream.on('drain', () => {
      unread.octets = 0;
    });
    limitStream(stream, { tunnels: served.tunnels, options });
  });
  sizeUploadWindows(session);
  limitSilence(session, { ...served, ms: options.idleMs });
  limitResets(session);
  limitControlFrames(session);
}

interface ArrivedRequest {
  readonly message: Http2ServerRequest;
  readonly response: Http2ServerResponse;
  readonly proceed: () => void;
}

function serveRequest(state: FrontState, { message, response, proceed }: ArrivedRequest): void {
  const incoming = arrivedOn(state, { message, proceed });
  if (incoming !== null) state.options.handler.request(incoming, response);
}

/** The request in the form that the handler takes; `null`: its connection has ended with it in its buffer. */
function arrivedOn(
  { options, sessions }: FrontState,
  { message, proceed }: Pick<ArrivedRequest, 'message' | 'proceed'>,
): Incoming<ClientRequest> | null {
  const { listener, trusted } = options;
  const facts = servedBy(sessions, message)?.arrival;
  const renew = (): void => {
    const { session } = message.stream;
    if (session !== undefined) leave(session as ServerHttp2Session);
  };
  if (facts !== undefined)
    return incomingOf(message, { listener, facts, proceed, last: nothing, renew, trusted });
  message.stream.destroy();
  return null;
}

function servedBy(
  sessions: FrontState['sessions'],
  { stream: { session } }: Http2ServerRequest,
): ServedConnection | undefined {
  return session === undefined ? undefined : sessions.get(session as ServerHttp2Session);
}

/**
 * Serves a CONNECT: a WebSocket, or a request that is refused. The time limits of a WebSocket are those of its tunnel, from
 * the connection to the origin on.
 */
function serveConnect(state: FrontState, arrived: ArrivedRequest): void {
  const { message } = arrived;
  if (!isWebSocketConnect(message)) return void serveRequest(state, arrived);
  const incoming = arrivedOn(state, arrived);
  if (incoming === null) return;
  const { stream } = message;
  const tunnels = servedBy(state.sessions, message)?.tunnels;
  tunnels?.add(stream);
  stream.once('close', () => tunnels?.delete(stream));
  const client = createStreamClient(stream, () => tunnels?.delete(stream));
  state.options.handler.upgrade(incoming, client);
}

/** Ends streams whose client does not read, and sockets whose sessions had ended at the check before. */
function endStalled({ sessions }: FrontState): void {
  for (const [session, served] of sessions) {
    // A session that ends waits for its last octets to be read, and for the client's end: neither may ever come.
    if (served.ended) served.socket.destroy();
    else served.ended = session.destroyed;
    for (const [stream, unread] of served.streams) endUnread(stream, unread);
  }
}

/** A connection with its open streams. */
interface ServedConnection {
  readonly socket: TLSSocket;
  readonly arrival: ConnectionOrigin;
  readonly streams: Map<ServerHttp2Stream, UnreadResponse>;
  /** Those that are WebSockets, or are being opened as such: they may be without traffic for longer than others. */
  readonly tunnels: Set<ServerHttp2Stream>;
  /** Its session had ended at the last check. */
  ended: boolean;
}

/**
 * Sends a GOAWAY with the last stream that the node has, and closes the connection after it. Not with the highest possible stream
 * first: nghttp2 ignores every stream that comes after a GOAWAY, and its client would wait for a response until the connection ends.
 */
function leave(session: ServerHttp2Session): void {
  if (!session.closed && !session.destroyed) session.close();
}

/** A response whose client may have stopped to read. */
interface UnreadResponse {
  /** Octets queued for the client at the last check. */
  octets: number;
  /** Consecutive checks with this number of octets. */
  checks: number;
}

interface SilenceLimit {
  readonly streams: ReadonlyMap<ServerHttp2Stream, unknown>;
  readonly tunnels: ReadonlySet<ServerHttp2Stream>;
  readonly ms: number;
}

/**
 * Ends a connection without traffic, unless one of its streams waits for its origin or is a WebSocket; each of the others has
 * a limit of its own. Without the error Node would reset streams with NO_ERROR, as if their responses were whole.
 */
function limitSilence(session: ServerHttp2Session, { streams, tunnels, ms }: SilenceLimit): void {
  session.setTimeout(ms);
  // `setTimeout` would call its callback only once.
  session.on('timeout', () => {
    if (tunnels.size > 0 || [...streams.keys()].some(isOriginAwaited)) session.setTimeout(ms);
    else if (streams.size === 0) session.destroy();
    else session.destroy(new EarlyEnd(UNREAD), constants.NGHTTP2_INTERNAL_ERROR);
  });
}

/** Whether the request is complete, and its response has not begun or waits for further octets. */
function isOriginAwaited(stream: ServerHttp2Stream): boolean {
  const isComplete = stream.endAfterHeaders || stream.readableEnded;
  return isComplete && !stream.writableEnded && stream.writableLength === 0;
}

interface StreamLimits {
  readonly tunnels: ServedConnection['tunnels'];
  readonly options: Pick<Required<Http2Options>, 'stallMs' | 'requestMs'>;
}

/** Ends a stream without traffic, or whose request takes too long to arrive; the connection's other streams continue. */
function limitStream(
  stream: ServerHttp2Stream,
  { tunnels, options: { stallMs, requestMs } }: StreamLimits,
): void {
  const end = (): void => endStream(stream);
  stream.setTimeout(stallMs);
  stream.on('timeout', () => {
    if (isOriginAwaited(stream) || tunnels.has(stream)) stream.setTimeout(stallMs);
    else end();
  });
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => {
    if (!tunnels.has(stream)) end();
  }, requestMs);
  stream.once('end', () => clearTimeout(timer));
  stream.once('close', () => clearTimeout(timer));
  stream.once('finish', () => {
    if (!tunnels.has(stream)) refuseRest(stream, 1);
  });
}

/**
 * Ends the rest of an upload that has its whole response: the client stops sending (RFC 9113 §8.1). The reset goes out behind
 * the frame that ends the response. Node finishes a stream before nghttp2 has sent that frame, which a reset would discard,
 * and has no event for it: the connection of a client that reads nothing may be blocked for long.
 */
function refuseRest(stream: ServerHttp2Stream, waitMs: number): void {
  if (stream.readableEnded || stream.destroyed) return;
  if (stream.state.localClose !== 1) {
    setTimeout(refuseRest, waitMs, stream, Math.min(waitMs * 2, MAX_REFUSAL_WAIT_MS)).unref();
    return;
  }
  stream.close(constants.NGHTTP2_NO_ERROR);
  // A stream that is closed alone waits for the reader of what has arrived.
  stream.destroy();
}

/** Milliseconds between two looks at a stream whose last frame is not sent yet, at most. */
const MAX_REFUSAL_WAIT_MS = 1_000;

/**
 * Ends a stream whose client opens no window for the response, at the third check. Node's own time-out of a stream restarts
 * with every write of the connection, replies to pings included.
 */
function endUnread(stream: ServerHttp2Stream, unread: UnreadResponse): void {
  const { writableLength } = stream;
  if (writableLength === 0 || writableLength !== unread.octets) {
    unread.octets = writableLength;
    unread.checks = 0;
  } else if (++unread.checks >= 2) endStream(stream);
}

/**
 * Ends a stream for its client: one that has not sent its request, or takes nothing of the response. `close` would end the
 * body before the reset, and half of it could pass for the whole.
 */
function endStream(stream: ServerHttp2Stream): void {
  if (stream.headersSent) stream.destroy(new EarlyEnd(UNREAD));
  else stream.close(constants.NGHTTP2_CANCEL);
}

/**
 * Ends a connection whose client resets more streams than it lets finish, beyond what impatient people do: opening and
 * resetting a stream costs the client next to nothing and the node a request (CVE-2023-44487).
 */
function limitResets(session: ServerHttp2Session): void {
  let opened = 0;
  let resets = 0;
  session.on('stream', (stream: ServerHttp2Stream) => {
    opened++;
    stream.once('aborted', () => {
      // The node itself has ended it, as when an origin cuts its response or breaks off a WebSocket.
      if (stream.destroyed || isResetByNode(stream)) return;
      resets++;
      if (resets <= MAX_STREAM_RESETS || resets * 2 <= opened || session.destroyed) return;
      // Node sends the code only together with an error.
      session.destroy(new Error('too many streams were reset'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  });
}

/**
 * Ends a connection whose client sends more pings and settings, each of which the node acknowledges, than one that measures
 * its line does (CVE-2019-9512, CVE-2019-9515). Node emits no event for window updates and priorities; they need no reply
 * and cost less to read than as many octets of a body.
 */
function limitControlFrames(session: ServerHttp2Session): void {
  let left = MAX_CONTROL_FRAMES;
  let refilledAt = performance.now();
  const count = (): void => {
    const now = performance.now();
    left = Math.min(MAX_CONTROL_FRAMES, left + ((now - refilledAt) / 1_000) * CONTROL_FRAMES_PER_SECOND);
    refilledAt = now;
    if (--left >= 0 || session.destroyed) return;
    session.destroy(new Error('too many pings and settings came'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  session.on('ping', count);
  session.on('remoteSettings', count);
}

function nothing(): void {}

// Flow-control windows for uploads over HTTP/2 (RFC 9113 §5.2). A client sends one window of a stream, and one of the
// connection, per round trip: with the usual 64 KB an upload from 80 ms away gets 0.8 MB a second whatever its line. Few uploads
// of a connection get large windows, many get small ones, so that what a client sends and nobody reads stays bounded.

/** The window of each stream, in octets, at first and of many uploads at once: the default of HTTP/2. */
const SMALL_WINDOW = 65_535;
/** The window of each stream, in octets, of few uploads at once: 100 Mbit/s from 80 ms away. */
const LARGE_WINDOW = 1024 * 1024;
/** Uploads at once with large windows: as many octets as of 128 streams with small ones. */
const MAX_LARGE = 8;
/** Uploads at once below which windows grow again, so that each one more or less does not change them. */
const FEW = 4;
/** The window of the connection, in octets. It bounds only what is under way: Node reads each connection to its end. */
const CONNECTION_WINDOW = MAX_LARGE * LARGE_WINDOW;
/** Milliseconds for a client to acknowledge smaller windows, which apply from then on (RFC 9113 §6.5.3). */
const ACKNOWLEDGE_MS = 10_000;

/** Sets the windows of a connection by the number of its uploads. */
function sizeUploadWindows(session: ServerHttp2Session): void {
  let uploads = 0;
  let isLarge = false;
  let due: NodeJS.Timeout | undefined;
  const adjust = (): void => {
    if (session.destroyed || session.pendingSettingsAck) return;
    if (isLarge ? uploads <= MAX_LARGE : uploads === 0 || uploads > FEW) return;
    isLarge = !isLarge;
    session.settings({ initialWindowSize: isLarge ? LARGE_WINDOW : SMALL_WINDOW });
    if (isLarge) return;
    due = setTimeout(() => endUnacknowledged(session), ACKNOWLEDGE_MS).unref();
  };
  session.setLocalWindowSize(CONNECTION_WINDOW);
  session.on('localSettings', () => {
    clearTimeout(due);
    adjust();
  });
  session.once('close', () => clearTimeout(due));
  session.on('stream', (stream: ServerHttp2Stream) => {
    if (stream.endAfterHeaders) return;
    uploads++;
    stream.once('close', () => {
      uploads--;
      adjust();
    });
    adjust();
  });
}

function endUnacknowledged(session: ServerHttp2Session): void {
  const fault = new EarlyEnd({ code: 'aborted', reason: 'the client does not acknowledge settings' });
  // `destroy` closes the socket before it has written more than the end of one stream.
  session.goaway(constants.NGHTTP2_SETTINGS_TIMEOUT);
  session.destroy(fault, constants.NGHTTP2_SETTINGS_TIMEOUT);
}
