/**
 * HTTP/2 on connections that TLS has been set up on. In: a connection and what it told before. Out: every request to the
 * handler, within bounds: streams at once, octets and fields of a head, streams given up, time that a request may take to
 * come, time without any traffic on a stream or on all of the connection.
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
} from '../limits.ts';
import { type ConnectionOrigin, incomingOf } from '../listen/http.ts';
import type { Handler } from '../serve-request.ts';
import type { Listener, TrustedProxies } from '../visitor.ts';

export interface Http2Options {
  readonly handler: Handler;
  readonly trusted: TrustedProxies;
  readonly listener: Listener;
  /** Milliseconds a connection may be without any traffic. Default: `IDLE_MS`. */
  readonly idleMs?: number;
  /** Milliseconds a stream may be so. Default: `STALL_MS`. */
  readonly stallMs?: number;
  /** Milliseconds for a whole request to arrive. Default: `REQUEST_MS`. */
  readonly requestMs?: number;
}

export interface Http2Front {
  /** Serves a connection whose client chose `h2`. */
  take(socket: TLSSocket, arrival: ConnectionOrigin): void;
  /** Asks clients to open no more streams, and serves those that are on their way (the first GOAWAY, RFC 9113 §6.8). */
  retire(): void;
  /** Closes connections that have no stream. */
  closeIdle(): void;
  /** Tells clients to open no more streams and closes what is idle (GOAWAY, RFC 9113 §6.8); may be called again. */
  drain(): void;
  /** Ends what it does beside connections. */
  close(): void;
}

/** Octets that every field counts beside its own (RFC 9113 §6.5.2). */
const FIELD_OVERHEAD = 32;
/** Octets of a head as they are counted here. */
const MAX_LIST_OCTETS = MAX_HEAD_OCTETS + FIELD_OVERHEAD * MAX_HEADERS;
/**
 * Octets that an answer's head may be packed into, by nghttp2's reckoning of 12 for each field beside its own: those of
 * any that an origin may send, the shortest fields taking four there, and as many again for what is added here.
 */
const MAX_SENT_OCTETS = 8 * MAX_ORIGIN_HEAD_OCTETS;
/** The highest number of a stream that a client opens (RFC 9113 §5.1.1). */
const LAST_STREAM = 2 ** 31 - 1;
/** Frames that are against the protocol before a connection ends; a client that speaks it sends none. */
const MAX_INVALID_FRAMES = 20;

export function createHttp2Front(options: Http2Options): Http2Front {
  const { handler, trusted, listener } = options;
  const { idleMs = IDLE_MS, stallMs = STALL_MS, requestMs = REQUEST_MS } = options;
  const sessions = new Map<ServerHttp2Session, Served>();
  let retiring = false;
  /** Whose session the server is making: it does so within `emit`. */
  let arriving: Pick<Served, 'socket' | 'arrival'> | null = null;
  const server = createServer({
    settings: {
      maxConcurrentStreams: MAX_STREAMS,
      maxHeaderListSize: MAX_LIST_OCTETS,
      enableConnectProtocol: false,
    },
    // As many as fit: Node ends a stream with more, where `readRequest` has an answer.
    maxHeaderListPairs: Math.floor(MAX_LIST_OCTETS / FIELD_OVERHEAD),
    maxSendHeaderBlockLength: MAX_SENT_OCTETS,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    maxSessionRejectedStreams: MAX_STREAM_RESETS,
  });

  server.on('session', (session) => {
    if (arriving === null) return void session.destroy();
    const served: Served = { ...arriving, open: new Map(), noticed: false, ended: false };
    sessions.set(session, served);
    session.once('close', () => sessions.delete(session));
    session.on('stream', (stream: ServerHttp2Stream) => {
      const untaken = { octets: 0, looks: 0 };
      served.open.set(stream, untaken);
      stream.once('close', () => served.open.delete(stream));
      // A client that came while the node retires has its first requests served like any other's.
      if (retiring) notice(session, served);
      stream.on('drain', () => {
        untaken.octets = 0;
      });
      watchStream(stream, { stallMs, requestMs });
    });
    watchSilence(session, { open: served.open, ms: idleMs });
    watchResets(session);
    watchControl(session);
  });

  function serve(message: Http2ServerRequest, response: Http2ServerResponse, proceed: () => void): void {
    const { session } = message.stream;
    const facts = session === undefined ? undefined : sessions.get(session as ServerHttp2Session)?.arrival;
    // The connection ended with requests still in its buffer.
    if (facts === undefined) return void message.stream.destroy();
    handler.request(incomingOf(message, { listener, facts, proceed, last: nothing, trusted }), response);
  }
  server.on('request', (message, response) => serve(message, response, nothing));
  server.on('checkContinue', (message, response) => {
    serve(message, response, () => response.writeContinue());
  });
  server.on('checkExpectation', (message, response) => serve(message, response, nothing));

  // A session that ends waits for what it wrote last to be taken, and for the client's end: both may never come.
  const looks = setInterval(() => {
    for (const [session, served] of sessions) {
      if (served.ended) served.socket.destroy();
      else served.ended = session.destroyed;
      for (const [stream, untaken] of served.open) endUntaken(stream, untaken);
    }
  }, stallMs);
  looks.unref();

  return {
    take(socket, arrival) {
      arriving = { socket, arrival };
      server.emit('connection', socket);
      arriving = null;
    },
    retire() {
      retiring = true;
      for (const [session, served] of sessions) notice(session, served);
    },
    closeIdle() {
      for (const [session, { open }] of sessions) if (open.size === 0 && !session.closed) session.close();
    },
    drain() {
      for (const session of sessions.keys()) if (!session.closed) session.close();
    },
    close: () => clearInterval(looks),
  };
}

/** A connection that is served. */
interface Served {
  readonly socket: TLSSocket;
  readonly arrival: ConnectionOrigin;
  readonly open: Map<ServerHttp2Stream, Untaken>;
  /** Its client was asked to open no more streams. */
  noticed: boolean;
  /** Its session had ended at the last look. */
  ended: boolean;
}

/** Sends the GOAWAY that ends nothing yet: the highest number a stream may have stands for all that are on their way. */
function notice(session: ServerHttp2Session, served: Served): void {
  if (served.noticed || session.closed || session.destroyed) return;
  served.noticed = true;
  session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM);
}

/** What of an answer waited for its client at the last look, and looks since that found the same. */
interface Untaken {
  octets: number;
  looks: number;
}

interface Silence {
  readonly open: ReadonlyMap<ServerHttp2Stream, unknown>;
  readonly ms: number;
}

/** Ends a connection without traffic, unless all its clients' requests are whole and wait for their origins. */
function watchSilence(session: ServerHttp2Session, { open, ms }: Silence): void {
  session.setTimeout(ms);
  // A callback given to `setTimeout` would be told once only.
  session.on('timeout', () => {
    const waits = open.size > 0 && [...open.keys()].every(isAnswerDue);
    if (waits) session.setTimeout(ms);
    else session.destroy();
  });
}

function isAnswerDue(stream: ServerHttp2Stream): boolean {
  return (stream.endAfterHeaders || stream.readableEnded) && !stream.headersSent;
}

/** Ends a stream that stands still, or whose request takes too long: other traffic keeps its connection. */
function watchStream(
  stream: ServerHttp2Stream,
  { stallMs, requestMs }: { readonly stallMs: number; readonly requestMs: number },
): void {
  const end = (): void => stream.close(constants.NGHTTP2_CANCEL);
  stream.setTimeout(stallMs);
  stream.on('timeout', () => {
    if (isAnswerDue(stream)) stream.setTimeout(stallMs);
    else end();
  });
  if (stream.endAfterHeaders) return;
  const late = setTimeout(end, requestMs);
  stream.once('end', () => clearTimeout(late));
  stream.once('close', () => clearTimeout(late));
}

/**
 * Ends a stream whose answer is not taken, at the third look: its client opens no window for it. Node's own time-out of a
 * stream goes by what its connection writes, be it answers to pings.
 */
function endUntaken(stream: ServerHttp2Stream, untaken: Untaken): void {
  const { writableLength } = stream;
  if (writableLength === 0 || writableLength !== untaken.octets) {
    untaken.octets = writableLength;
    untaken.looks = 0;
  } else if (++untaken.looks >= 2) stream.close(constants.NGHTTP2_CANCEL);
}

/**
 * Ends a connection whose client gives up more streams than it lets finish, beyond what impatient people do: opening a
 * stream and resetting it costs the client next to nothing and the node a request (CVE-2023-44487).
 */
function watchResets(session: ServerHttp2Session): void {
  let opened = 0;
  let given = 0;
  session.on('stream', (stream: ServerHttp2Stream) => {
    opened++;
    stream.once('aborted', () => {
      // Ended by the node itself, as when an origin cuts its answer.
      if (stream.destroyed) return;
      given++;
      if (given <= MAX_STREAM_RESETS || given * 2 <= opened || session.destroyed) return;
      // Node sends the code only beside an error.
      session.destroy(new Error('too many streams were given up'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  });
}

/**
 * Ends a connection whose client asks for answers that serve no request, beyond what one that measures its line does
 * (CVE-2019-9512, CVE-2019-9515). Node tells of no other frames without content: those about windows and priorities
 * are not counted, since they have no answer and cost less to read than as many octets of a body.
 */
function watchControl(session: ServerHttp2Session): void {
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
