/**
 * The client's end of a response: a sink that writes what is pushed into it, and pauses the source while the client does
 * not read. A client that takes its response below the minimum rate is disconnected (`unread-responses.ts`).
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ClientRequest, ClientResponse } from '../../base/http/client-messages.ts';
import {
  type EdgeAnswer,
  GONE,
  type HeaderList,
  type ResponseFault,
  type ResponseHead,
  type ResponseSink,
  type ResponseSource,
} from '../../base/http/response.ts';
import type { QueuedResponse, UnreadResponses } from './unread-responses.ts';
import {
  addTrailers,
  endedFor,
  endShort,
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
  /** Ends the response if the client takes too little of it. Default: nothing does. */
  readonly unread?: UnreadResponses;
  /** Called with an exception of Node for a head that it does not write. */
  readonly failed: (error: unknown) => void;
  /** Called with the status of the response before its head is written; default: nothing is. */
  readonly heading?: (status: number) => void;
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

/** Octets of a body that is written as one string. */
const SMALL = 4 * 1024;
/**
 * Octets that the connection may queue before the source is paused. PERF: Node's own mark is 16 KiB, less than one read
 * from an origin; most larger responses would pause and resume.
 */
const MAX_QUEUED = 128 * 1024;

/** One response being written. */
interface Writing extends QueuedResponse {
  readonly unread: UnreadResponses;
  readonly failed: (error: unknown) => void;
  readonly heading: (status: number) => void;
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
  /**
   * The head, and a first chunk, which are written at the end of the tick. PERF: over HTTP/1 most responses are complete by
   * then, and one write sends head and body.
   */
  head: ResponseHead | null;
  delayed: Uint8Array | null;
  /** The connection's queue is above `MAX_QUEUED` and has not drained since. */
  full: boolean;
}

export function createClientSink(options: ClientSinkOptions): ClientSink {
  const { request, response, unread = UNLIMITED, failed, heading = ignore, done } = options;
  const outgoing = response as ServerResponse;
  const state: Writing = {
    request,
    response: outgoing,
    unread,
    failed,
    heading,
    done,
    endSlow: (rate) => fail(state, { code: 'slow', reason: `the client takes ${rate}` }),
    connection: 'stream' in request || outgoing.socket !== null ? null : request.socket,
    left: () => leave(state),
    source: null,
    octets: 0,
    headAt: null,
    over: false,
    fault: null,
    head: null,
    delayed: null,
    full: false,
  };
  outgoing.on('close', state.left);
  // A client may pipeline any number of requests, each with a listener.
  state.connection?.setMaxListeners(0).once('close', state.left);
  // A broken connection is also reported by `close`.
  outgoing.on('error', ignore);

  return new PushedResponse(state);
}

/** PERF: methods instead of eight closures a response. */
class PushedResponse implements ClientSink {
  readonly #state: Writing;
  constructor(state: Writing) {
    this.#state = state;
  }
  started(): boolean {
    return this.#state.response.headersSent;
  }
  attach(source: ResponseSource): void {
    if (this.#state.over) source.abort();
    else this.#state.source ??= source;
  }
  informational(status: number, headers: HeaderList): void {
    pushInterim(this.#state, status, headers);
  }
  head(head: ResponseHead, source: ResponseSource): void {
    pushHead(this.#state, head, source);
  }
  data(chunk: Uint8Array): void {
    pushData(this.#state, chunk);
  }
  end(trailers: HeaderList): void {
    pushEnd(this.#state, trailers);
  }
  fail(fault: ResponseFault): void {
    fail(this.#state, fault);
  }
  answer(answer: EdgeAnswer): void {
    pushAnswer(this.#state, answer);
  }
}

function pushInterim({ request, response }: Writing, status: number, headers: HeaderList): void {
  // HTTP/1.0 has no interim responses (RFC 9110 §15.2), and the edge itself sends 100 to a client that expects it.
  if (status !== 103 || response.destroyed || request.httpVersion === '1.0') return;
  writeInterim(response, headers, request.httpVersionMajor);
}

function pushHead(state: Writing, head: ResponseHead, source: ResponseSource): void {
  if (state.over || state.response.destroyed) return void source.abort();
  state.source = source;
  state.head = head;
  state.heading(head.status);
  if ('stream' in state.response) writeStart(state);
  else process.nextTick(writeInTick, state);
}

function pushData(state: Writing, chunk: Uint8Array): void {
  state.octets += chunk.length;
  if (state.octets === chunk.length && !('stream' in state.response)) {
    state.delayed = chunk;
    if (state.head === null) process.nextTick(writeInTick, state);
    return;
  }
  writeStart(state);
  write(state, chunk);
}

function pushEnd(state: Writing, trailers: HeaderList): void {
  const { response } = state;
  if (trailers.length > 0) {
    writeStart(state);
    addTrailers(response, trailers);
  }
  writeDelayedHead(state);
  const body = state.delayed;
  state.delayed = null;
  if (body === null) response.end();
  else if (state.octets <= SMALL) return void endWithBody(response, body);
  else response.end(body);
  if (response.writableLength > 0) state.unread.add(state);
}

/** Ends a response that has begun, and its source. What has arrived before is written. */
function fail(state: Writing, fault: ResponseFault): void {
  state.fault ??= fault;
  writeStart(state);
  state.source?.abort();
  endShort(state.response, fault);
}

function pushAnswer(state: Writing, { status, headers, body }: EdgeAnswer): void {
  const { response } = state;
  if (state.over || response.destroyed) return void finish(state);
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : (body ?? Buffer.alloc(0));
  // Nothing of a response that failed within its first tick is written.
  state.head = null;
  state.delayed = null;
  state.octets = 0;
  const lengthless = status === 204 || status === 304;
  const length = lengthless ? [] : ['Content-Length', String(bytes.length)];
  state.headAt = performance.now();
  state.heading(status);
  writeHead(response, { status, headers: [...headers, ...length] });
  if (isBodiless(state.request.method, status)) return void response.end();
  state.octets = bytes.length;
  if (bytes.length <= SMALL && !('stream' in response)) return void endWithBody(response, bytes);
  response.end(bytes);
  if (response.writableLength > 0) state.unread.add(state);
}

function writeInTick(state: Writing): void {
  try {
    writeStart(state);
  } catch (error) {
    state.source?.abort();
    state.failed(error);
  }
}

/** Writes the head and the first chunk; a head alone when no octet of the body has come with it. */
function writeStart(state: Writing): void {
  const { response } = state;
  const isHead = writeDelayedHead(state);
  const chunk = state.delayed;
  state.delayed = null;
  if (response.destroyed) return;
  if (chunk !== null) write(state, chunk);
  else if (isHead && !('stream' in response)) response.flushHeaders();
}

/** @returns `false`: it was written before, or none has come */
function writeDelayedHead(state: Writing): boolean {
  const { head, response } = state;
  if (head === null || response.destroyed) return false;
  state.head = null;
  state.headAt = performance.now();
  writeHead(response, head);
  return true;
}

function write(state: Writing, chunk: Uint8Array): void {
  const { response } = state;
  const isTaken = response.write(chunk);
  const queued = response.writableLength;
  if (queued > 0) state.unread.add(state);
  if (isTaken || queued < MAX_QUEUED) return;
  state.source?.pause();
  if (state.full) return;
  state.full = true;
  response.once('drain', () => {
    state.full = false;
    state.source?.resume();
  });
}

/** The response has closed: completely written, or because the client left. */
function leave(state: Writing): void {
  if (state.over) return;
  if (!isComplete(state.response)) {
    state.fault ??= endedFor(state.response, state.request) ?? LEFT;
    state.source?.abort();
  }
  finish(state);
}

function finish(state: Writing): void {
  if (state.over) return;
  const { response, octets, headAt, fault } = state;
  state.over = true;
  state.unread.delete(state);
  state.connection?.off('close', state.left);
  state.done({ status: response.headersSent ? response.statusCode : GONE, octets, headAt, fault });
}

const UNLIMITED: UnreadResponses = { add: ignore, delete: ignore };
const LEFT: ResponseFault = { code: 'aborted', reason: 'the client went away' };

function ignore(): void {}
