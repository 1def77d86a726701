/**
 * The client's end of a response: a sink that writes what is pushed into it, and pauses the source while the client does
 * not read. A client that takes its response below the minimum rate is disconnected.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RateBounds } from '../buffers/limits.ts';
import type { ClientRequest, ClientResponse } from '../http/client-messages.ts';
import {
  type EdgeAnswer,
  GONE,
  type HeaderList,
  type ResponseFault,
  type ResponseHead,
  type ResponseSink,
  type ResponseSource,
} from '../http/response.ts';
import {
  addTrailers,
  endWithBody,
  isBodiless,
  isComplete,
  writeHead,
  writeInterim,
} from './write-response.ts';

/** How a response ended. */
export interface ClientOutcome {
  /** The status that was sent; 499 (`GONE`) if the client left before one was. */
  readonly status: number;
  /** Octets of body written to the connection. */
  readonly octets: number;
  /** When the head was written, milliseconds on the monotonic clock; `null`: none was. */
  readonly headAt: number | null;
  readonly fault: ResponseFault | null;
}

export interface ClientSinkOptions {
  readonly request: ClientRequest;
  readonly response: ClientResponse;
  /** The minimum rate at which the client has to take its response; absent: none. */
  readonly rate?: RateBounds;
  /** Called once, when the response has ended, however it ends. */
  readonly done: (outcome: ClientOutcome) => void;
}

/** A sink that writes to the client. A failure before the head is not answered here but in `stages/respond.ts`. */
export interface ClientSink extends ResponseSink {
  /** Writes a whole response at once. */
  answer(answer: EdgeAnswer): void;
  /** Whether the head is sent, so that no other response can be. */
  started(): boolean;
  /** Sets the source that is aborted if the client leaves before the head. */
  attach(source: ResponseSource): void;
}

/**
 * Octets of a body that is written as one string. PERF: over HTTP/1 a first chunk is delayed for the chunks that arrive
 * with it: to the end of the tick when it is small, else until all readable connections have been read. Most responses are
 * complete by then, and one write sends head and body.
 */
const SMALL = 4 * 1024;
/**
 * Octets that the connection may queue before the source is paused. PERF: Node's own mark is 16 KiB, less than one read
 * from an origin; most larger responses would pause and resume.
 */
const MAX_QUEUED = 128 * 1024;

/** Octets queued at the end of a response whose rate is not measured: a few packets. */
const UNMEASURED = 16 * 1024;

const ANY_RATE: RateBounds = { minRate: 0, graceMs: 0, windowMs: 0 };

/** One response being written. */
interface Writing {
  readonly request: ClientRequest;
  readonly response: ServerResponse;
  readonly rate: RateBounds;
  readonly done: (outcome: ClientOutcome) => void;
  /**
   * The connection of a response that queues behind others (pipelining, RFC 9112 §9.3.2): Node reports its end to the first
   * of them alone, which has the socket. `null`: the response has the socket itself.
   */
  readonly connection: Socket | null;
  /** The listener for the end of the response or its connection. */
  readonly left: () => void;
  source: ResponseSource | null;
  /** Octets of body so far. */
  octets: number;
  /** As in `ClientOutcome`. */
  headAt: number | null;
  /** `done` was called. */
  over: boolean;
  fault: ResponseFault | null;
  /** A first chunk that waits for more to be written with it. */
  delayed: Uint8Array | null;
  /** The connection's queue is above `MAX_QUEUED` and has not drained since. */
  full: boolean;
  /** Disconnects the client unless it takes the queued octets in time. */
  timer: NodeJS.Timeout | null;
}

export function createClientSink({
  request,
  response,
  rate = ANY_RATE,
  done,
}: ClientSinkOptions): ClientSink {
  const outgoing = response as ServerResponse;
  const state: Writing = {
    request,
    response: outgoing,
    rate,
    done,
    connection: 'stream' in request || outgoing.socket !== null ? null : request.socket,
    left: () => leave(state),
    source: null,
    octets: 0,
    headAt: null,
    over: false,
    fault: null,
    delayed: null,
    full: false,
    timer: null,
  };
  outgoing.on('close', state.left);
  // A client may pipeline any number of requests, each with a listener.
  state.connection?.setMaxListeners(0).once('close', state.left);
  // A broken connection is also reported by `close`.
  outgoing.on('error', ignore);

  return {
    started: () => outgoing.headersSent,
    attach(source) {
      if (state.over) source.abort();
      else state.source ??= source;
    },
    informational: (status, headers) => pushInterim(state, status, headers),
    head: (head, source) => pushHead(state, head, source),
    data: (chunk) => pushData(state, chunk),
    end: (trailers) => pushEnd(state, trailers),
    fail(fault) {
      state.delayed = null;
      state.fault = fault;
      outgoing.destroy();
    },
    answer: (answer) => pushAnswer(state, answer),
  };
}

function pushInterim({ request, response }: Writing, status: number, headers: HeaderList): void {
  // HTTP/1.0 has no interim responses (RFC 9110 §15.2), and the edge itself sends 100 to a client that expects it.
  if (status !== 103 || response.destroyed || request.httpVersion === '1.0') return;
  writeInterim(response, headers, request.httpVersionMajor);
}

function pushHead(state: Writing, head: ResponseHead, source: ResponseSource): void {
  if (state.over || state.response.destroyed) return void source.abort();
  state.source = source;
  state.headAt = performance.now();
  writeHead(state.response, head);
}

function pushData(state: Writing, chunk: Uint8Array): void {
  state.octets += chunk.length;
  if (state.octets === chunk.length && !('stream' in state.response)) {
    state.delayed = chunk;
    if (state.octets <= SMALL) process.nextTick(writeDelayed, state);
    else setImmediate(writeDelayed, state);
    return;
  }
  writeDelayed(state);
  write(state, chunk);
}

function pushEnd(state: Writing, trailers: HeaderList): void {
  const { response } = state;
  if (trailers.length > 0) {
    writeDelayed(state);
    addTrailers(response, trailers);
  }
  const body = state.delayed;
  state.delayed = null;
  if (body === null) response.end();
  else if (state.octets <= SMALL) return void endWithBody(response, body);
  else response.end(body);
  if (response.writableLength > UNMEASURED) limitQueueTime(state);
}

function pushAnswer(state: Writing, { status, headers, body }: EdgeAnswer): void {
  const { response } = state;
  if (state.over || response.destroyed) return void finish(state);
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : (body ?? Buffer.alloc(0));
  const lengthless = status === 204 || status === 304;
  const length = lengthless ? [] : ['Content-Length', String(bytes.length)];
  state.headAt = performance.now();
  writeHead(response, { status, headers: [...headers, ...length] });
  if (isBodiless(state.request.method, status)) return void response.end();
  state.octets = bytes.length;
  if (bytes.length <= SMALL && !('stream' in response)) endWithBody(response, bytes);
  else response.end(bytes);
}

function writeDelayed(state: Writing): void {
  const chunk = state.delayed;
  if (chunk === null) return;
  state.delayed = null;
  if (!state.response.destroyed) write(state, chunk);
}

function write(state: Writing, chunk: Uint8Array): void {
  const { response } = state;
  if (response.write(chunk) || response.writableLength < MAX_QUEUED) return;
  state.source?.pause();
  if (state.full) return;
  state.full = true;
  limitQueueTime(state);
  response.once('drain', () => drained(state));
}

function drained(state: Writing): void {
  state.full = false;
  if (state.timer !== null) clearTimeout(state.timer);
  state.timer = null;
  state.source?.resume();
}

/**
 * Disconnects the client unless it takes the queued octets in the time that they need at the minimum rate. Node reports
 * only that all of a write was taken, so the rate is measured over as many octets as are queued.
 */
function limitQueueTime(state: Writing): void {
  const { minRate, graceMs, windowMs } = state.rate;
  if (minRate === 0 || state.timer !== null) return;
  const queued = state.response.writableLength;
  const ms = graceMs + Math.max(windowMs, (queued / minRate) * 1_000);
  state.timer = setTimeout(() => {
    const reason = `the client takes below ${minRate} octets a second: ${queued} waited ${Math.round(ms / 1_000)} s`;
    state.fault = { code: 'slow', reason };
    state.source?.abort();
    state.response.destroy();
  }, ms);
}

/** The response has closed: completely written, or because the client left. */
function leave(state: Writing): void {
  if (state.over) return;
  if (!isComplete(state.response)) {
    state.fault ??= { code: 'aborted', reason: 'the client went away' };
    state.source?.abort();
  }
  finish(state);
}

function finish(state: Writing): void {
  if (state.over) return;
  const { response, octets, headAt, fault } = state;
  state.over = true;
  if (state.timer !== null) clearTimeout(state.timer);
  state.connection?.off('close', state.left);
  state.done({ status: response.headersSent ? response.statusCode : GONE, octets, headAt, fault });
}

function ignore(): void {}
