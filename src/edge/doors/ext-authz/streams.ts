/**
 * The calls on the streams of HTTP/2 connections. In: a stream and the headers of its request. Out: the response. Octets of
 * unread messages, the size of a message and the time of a call are bounded; a call that waits or is refused affects no other.
 */
import {
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { CallReply, ServeCall } from './calls.ts';
import {
  framedLength,
  GRPC,
  type GrpcRefusal,
  isGrpc,
  PREFIX_OCTETS,
  refusal,
  sendHttpStatus,
  sendMessage,
  sendRefusal,
  unaryMessage,
} from './grpc.ts';
import { MAX_BUFFERED_OCTETS, MAX_MESSAGE_OCTETS } from './limits.ts';

/** Numbers since the start, for metrics. */
export interface StreamCounts {
  /** Calls in progress. */
  calls: number;
  /** Calls of methods that do not exist, and requests that are not of gRPC. */
  unknownCalls: number;
  /** Calls whose message is malformed, compressed, or not one. */
  malformed: number;
  /** Calls whose message is too large, or came when too many octets of others were unread. */
  tooLarge: number;
  /** Calls that ended because their client sent or read too slowly. */
  tooSlow: number;
  /** Calls that the proxy cancelled before the reply: it waits no longer. */
  cancelled: number;
}

export interface Streams {
  serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void;
  /** Ends calls whose client sends or reads too slowly. */
  endStalled(): void;
  /** Whether a connection has no calls. */
  isIdle(session: ServerHttp2Session): boolean;
  readonly counts: StreamCounts;
}

export interface StreamOptions {
  readonly calls: ReadonlyMap<string, ServeCall>;
  /** Called at the end of each call. */
  readonly onEnd: (session: ServerHttp2Session) => void;
  /** Milliseconds for a message to arrive, and for a response to be taken. */
  readonly callMs: number;
}

/** A stream with its call. */
interface OpenCall {
  readonly stream: ServerHttp2Stream;
  /** That of the stream, which forgets it at its end. */
  readonly session: ServerHttp2Session;
  /** `receiving` its message, `deciding`, or `sending` its response. */
  state: 'receiving' | 'deciding' | 'sending';
  /** When the state began, in milliseconds of the monotonic clock. */
  since: number;
  readonly chunks: Buffer[];
  octets: number;
  /** Octets of memory of `chunks`. */
  memory: number;
  /** Length of the framed message, as its prefix states; 0: not yet known. */
  expected: number;
}

interface StreamsState extends StreamOptions {
  readonly open: Set<OpenCall>;
  readonly counts: StreamCounts;
  /** Octets of memory of all messages that are not read yet. */
  buffered: number;
}

/** Octets of memory of a chunk besides its own: a client chooses how small its frames are. */
const CHUNK_OVERHEAD = 128;

/** Serves calls. */
export function createStreams(options: StreamOptions): Streams {
  const state: StreamsState = {
    ...options,
    open: new Set(),
    counts: { calls: 0, unknownCalls: 0, malformed: 0, tooLarge: 0, tooSlow: 0, cancelled: 0 },
    buffered: 0,
  };
  return {
    counts: state.counts,
    endStalled: () => endStalled(state),
    isIdle(session) {
      for (const call of state.open) if (call.session === session) return false;
      return true;
    },
    serve: (stream, headers) => serveStream(state, stream, headers),
  };
}

/** Serves one stream: refuses it at once, or its call once the message has arrived. */
function serveStream(state: StreamsState, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const { open, counts, calls } = state;
  const since = performance.now();
  const call: OpenCall = {
    ...{ stream, session: stream.session as ServerHttp2Session, state: 'receiving', since },
    ...{ chunks: [], octets: 0, memory: 0, expected: 0 },
  };
  open.add(call);
  counts.calls++;
  stream.once('close', () => {
    open.delete(call);
    counts.calls--;
    release(state, call);
    if (call.state !== 'sending') counts.cancelled++;
    state.onEnd(call.session);
  });
  // Its stream alone has failed, or its connection, which the session reports.
  stream.on('error', () => undefined);
  stream.on('data', (chunk: Buffer) => receive(state, call, chunk));
  const serve = calls.get(headers[':path'] ?? '');
  const status = httpStatusOf(headers);
  if (serve !== undefined && status === null) {
    stream.once('end', () => complete(state, call, serve));
    return;
  }
  counts.unknownCalls++;
  if (status === null)
    return void refuse(state, call, refusal(GRPC.unimplemented, 'there is no method of this path'));
  enter(call, 'sending');
  sendHttpStatus(stream, status);
}

function enter(call: OpenCall, state: OpenCall['state']): void {
  call.state = state;
  call.since = performance.now();
}

/** Forgets what has arrived of a message. */
function release(state: StreamsState, call: OpenCall): void {
  state.buffered -= call.memory;
  call.memory = 0;
  call.chunks.length = 0;
}

/** Sends a refusal; what still arrives of the request is discarded until the time of the call is over. */
function refuse(state: StreamsState, call: OpenCall, why: GrpcRefusal): void {
  release(state, call);
  if (call.stream.destroyed || call.stream.closed) return;
  enter(call, 'sending');
  sendRefusal(call.stream, why);
}

/** Takes octets of a message, up to the limits. */
function receive(state: StreamsState, call: OpenCall, chunk: Buffer): void {
  if (call.state !== 'receiving') return;
  call.chunks.push(chunk);
  call.octets += chunk.length;
  call.memory += chunk.length + CHUNK_OVERHEAD;
  state.buffered += chunk.length + CHUNK_OVERHEAD;
  if (call.expected === 0) call.expected = framedLength(joined(call));
  const isLarge = Math.max(call.octets, call.expected) > PREFIX_OCTETS + MAX_MESSAGE_OCTETS;
  if (!isLarge && state.buffered <= MAX_BUFFERED_OCTETS) return;
  state.counts.tooLarge++;
  const reason = isLarge
    ? `the message has more than ${MAX_MESSAGE_OCTETS} octets; lower max_request_bytes`
    : `more than ${MAX_BUFFERED_OCTETS} octets of calls are unread`;
  refuse(state, call, refusal(GRPC.resourceExhausted, reason));
}

/** Serves a call whose request has ended. */
function complete(state: StreamsState, call: OpenCall, serve: ServeCall): void {
  if (call.state !== 'receiving') return;
  const message = unaryMessage(joined(call));
  if (!Buffer.isBuffer(message)) {
    state.counts.malformed++;
    return void refuse(state, call, message);
  }
  enter(call, 'deciding');
  const reply = serve(message);
  if (reply instanceof Promise) void reply.then((settled) => answer(state, call, settled));
  else answer(state, call, reply);
}

/** Sends the reply, unless the client has cancelled the call. */
function answer(state: StreamsState, call: OpenCall, reply: CallReply): void {
  if (!Buffer.isBuffer(reply)) {
    if (reply.code === GRPC.invalidArgument) state.counts.malformed++;
    return void refuse(state, call, reply);
  }
  release(state, call);
  const { stream } = call;
  if (stream.destroyed || stream.closed) return;
  enter(call, 'sending');
  sendMessage(stream, reply);
}

function endStalled({ open, counts, callMs }: StreamsState): void {
  const before = performance.now() - callMs;
  for (const { state, since, stream } of open) {
    if (state === 'deciding' || since > before) continue;
    counts.tooSlow++;
    stream.close(constants.NGHTTP2_CANCEL);
    // A stream that is closed alone waits for the reader of what has arrived.
    stream.destroy();
  }
}

/** The status of HTTP for a request that is not a call of gRPC; `null`: it is one. */
function httpStatusOf(headers: IncomingHttpHeaders): number | null {
  if (headers[':method'] !== 'POST') return 405;
  return isGrpc(headers) ? null : 415;
}

/** What has arrived. PERF: most messages arrive at once. */
function joined({ chunks }: OpenCall): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
