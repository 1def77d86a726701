/**
 * One request to one origin. In: the request, a connection pool and time limits. Out: the response, pushed into a sink, or
 * one fault that names what went wrong. The start of a response waits until the event loop has read what has arrived: a
 * connection that breaks until then fails the whole request, which may be sent again or answered with an error.
 */
import { STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { BodyFault } from '../../../base/buffers/client-body.ts';
import type {
  HeaderList,
  ResponseFault,
  ResponseHead,
  ResponseSink,
  ResponseSource,
} from '../../../base/http/response.ts';
import { MAX_INFORMATIONAL } from '../limits.ts';
import type { OpenedConnection } from './connections.ts';
import { faultOf, type Progress } from './faults.ts';
import {
  createTransferDecoder,
  endsByClose,
  interimHeaders,
  type TransferDecoder,
  transferCodingOf,
} from './http1.ts';
import type { OriginUse, OutgoingRequest } from './request.ts';

export interface Attempt {
  readonly to: OpenedConnection;
  /** Sends it on a connection of its own. */
  readonly isFresh: boolean;
  readonly request: Pick<OutgoingRequest, 'method' | 'path' | 'headers' | 'use'>;
  readonly body: Uint8Array | Readable | null;
  /** Whether the client, and not the origin, delays the request: its body has not arrived yet. */
  readonly isClientAwaited: () => boolean;
  /**
   * Milliseconds that the origin may take to connect, to take each piece of the body, and from the end of the request to
   * the head of its response.
   */
  readonly headMs: number;
  /** Milliseconds that the origin may be silent within its response. */
  readonly idleMs: number;
}

/** The start of a response that is not pushed yet. */
interface ResponseStart {
  readonly head: ResponseHead;
  readonly chunks: Uint8Array[];
}

/** One attempt under way. */
interface Sending {
  readonly attempt: Attempt;
  readonly sink: ResponseSink;
  readonly use: OriginUse;
  /** What the sink pauses, resumes and aborts. */
  readonly source: ResponseSource;
  progress: Progress;
  /** `null`: no head has come, or it is pushed. */
  start: ResponseStart | null;
  /** Removes a transfer coding; `null`: the body has none besides `chunked`. */
  decoder: TransferDecoder | null;
  /** A fault or the end was pushed, or the sink aborted: nothing more is pushed. */
  over: boolean;
  paused: boolean;
  /** Interim responses so far. */
  interim: number;
  /** The time from which the origin is awaited (`performance.now()`). */
  awaitedSince: number;
  timer: NodeJS.Timeout;
  /** undici's functions, once it has a connection and a head. */
  abort: (error?: Error) => void;
  resume: () => void;
}

/** Sends the request, and pushes its response. Pushes nothing before it has returned. */
export function attempt(options: Attempt, sink: ResponseSink): ResponseSource {
  const { to, isFresh, request, body, headMs, idleMs } = options;
  const state: Sending = {
    attempt: options,
    sink,
    use: request.use,
    source: {
      pause: () => {
        state.paused = true;
        state.decoder?.pause();
      },
      resume: () => {
        if (!state.paused) return;
        state.paused = false;
        if (state.decoder === null) queueMicrotask(() => resumeParser(state));
        else state.decoder.resume();
      },
      abort: () => {
        if (end(state)) state.abort();
      },
    },
    progress: 'unsent',
    start: null,
    decoder: null,
    over: false,
    paused: false,
    interim: 0,
    awaitedSince: performance.now(),
    timer: setTimeout(() => checkTime(state), headMs),
    abort: nothing,
    resume: nothing,
  };
  if (body instanceof Readable) watchBody(state, body);
  const { method, path, headers } = request;
  const sent = { method, path, headers: headers as string[], body: bodyOf(body), bodyTimeout: idleMs };
  try {
    if (isFresh) dispatchAlone(to.fresh(), sent, state);
    else to.pool.dispatch(sent, new AttemptHandler(state, to));
  } catch (error) {
    // undici refuses headers and paths that HTTP does not allow.
    const reason = error instanceof Error ? error.message : '';
    queueMicrotask(() => fail(state, { code: 'malformed', reason }));
  }
  return state.source;
}

/** Sends the request on a connection that closes behind its response. */
function dispatchAlone(client: Dispatcher, options: Dispatcher.DispatchOptions, state: Sending): void {
  client.dispatch(options, new AttemptHandler(state, null));
  // It waits for the response; the handler gets every error.
  client.close().catch(nothing);
}

/** What undici calls for an attempt. PERF: methods instead of six closures an attempt. */
class AttemptHandler implements Dispatcher.DispatchHandler {
  readonly #state: Sending;
  readonly #from: OpenedConnection | null;
  /** @param from the connections that the request is sent on; `null`: one of its own */
  constructor(state: Sending, from: OpenedConnection | null) {
    this.#state = state;
    this.#from = from;
  }
  onConnect(abort: Sending['abort']): void {
    const state = this.#state;
    state.progress = 'sent';
    state.use.reused = this.#from !== null && !this.#from.isFirst();
    state.awaitedSince = performance.now();
    state.abort = abort;
    if (state.over) abort();
  }
  onBodySent(): void {
    this.#state.awaitedSince = performance.now();
  }
  onHeaders(status: number, headers: readonly Buffer[], resume: () => void, phrase: string): boolean {
    const state = this.#state;
    if (state.over) return true;
    if (status < 200) return receiveInterim(state, status, headers);
    state.resume = resume;
    receiveHead(state, {
      status,
      headers: texts(headers),
      madeBy: 'origin',
      reason: reasonOf(status, phrase),
    });
    return true;
  }
  onData(chunk: Buffer): boolean {
    const state = this.#state;
    if (state.decoder !== null) return state.decoder.write(chunk);
    receiveData(state, chunk);
    return !state.paused;
  }
  onComplete(trailers: readonly string[] | null): void {
    const sent = trailers === null ? [] : texts(trailers as unknown as readonly Buffer[]);
    const { decoder } = this.#state;
    if (decoder === null) complete(this.#state, sent);
    else decoder.end(sent);
  }
  onError(error: Error): void {
    const state = this.#state;
    // A switch of protocols that was not requested is a response.
    if (error.message === 'bad upgrade') state.use.reused = false;
    fail(state, faultOf(error, state.progress));
  }
}

/** Delays the head: a response that has arrived whole, or has broken off already, is pushed as one. */
function receiveHead(state: Sending, head: ResponseHead): void {
  const { status, headers } = head;
  const { to, request } = state.attempt;
  clearTimeout(state.timer);
  state.progress = 'answered';
  state.use.ms = performance.now() - state.awaitedSince;
  const isWithoutBody = isBodiless(status) || request.method === 'HEAD';
  const coding = isWithoutBody ? 'none' : transferCodingOf(headers);
  if (coding === 'unknown') {
    fail(state, { code: 'malformed', reason: 'the response has a transfer coding that was not requested' });
    state.abort();
    return;
  }
  // Node reports the end of a TLS connection that was cut in the way of one that was closed (RFC 9112 §9.8).
  const isDoubtful = to.isTls && !isWithoutBody && endsByClose(headers);
  state.start = { head: isDoubtful ? { ...head, isDoubtful } : head, chunks: [] };
  if (coding !== 'none') state.decoder = decoderOf(state, coding);
  if (isBodiless(status)) complete(state, []);
  else if (starting.push(state) === 1) setImmediate(pushStarts);
}

/** The phrase of a response where it is another than Node writes by itself; one with other octets than ASCII is left out. */
function reasonOf(status: number, phrase: string): string | undefined {
  return phrase === STATUS_CODES[status] || !VISIBLE.test(phrase) ? undefined : phrase;
}

const VISIBLE = /^[\t\x20-\x7e]*$/;

/**
 * Resumes undici's parser once the present call is over. Node emits `drain` of a pipelined response while it queues another
 * one behind it, within the events of that one's parser, and a parser refuses to resume within those of another.
 */
function resumeParser(state: Sending): void {
  if (!state.paused && !state.over) state.resume();
}

/** Responses whose start is delayed. PERF: one immediate for all of them. */
const starting: Sending[] = [];

function pushStarts(): void {
  for (const state of starting.splice(0)) {
    try {
      pushStart(state);
    } catch (error) {
      // As undici does with an exception of its handler.
      state.abort(error as Error);
    }
  }
}

function pushStart(state: Sending): void {
  const { start, sink } = state;
  if (start === null || state.over) return;
  state.start = null;
  state.use.result = start.head.status >= 500 ? 'failed' : 'answered';
  sink.head(start.head, state.source);
  for (const chunk of start.chunks) if (!state.over) sink.data(chunk);
}

function receiveData(state: Sending, chunk: Uint8Array): void {
  if (state.over) return;
  if (state.start === null) state.sink.data(chunk);
  else state.start.chunks.push(chunk);
}

function decoderOf(state: Sending, coding: 'gzip' | 'deflate'): TransferDecoder {
  const fault = (reason: string): void => {
    fail(state, { code: 'cut', reason });
    state.abort();
  };
  return createTransferDecoder(coding, {
    data: (chunk) => receiveData(state, chunk),
    end: (trailers) => complete(state, trailers),
    fault,
    onRoom: () => state.resume(),
  });
}

/** Passes an interim response on, up to a number that only a broken origin exceeds. @returns undici reads on */
function receiveInterim(state: Sending, status: number, headers: readonly (Buffer | string)[]): true {
  state.use.reused = false;
  if (++state.interim <= MAX_INFORMATIONAL) state.sink.informational(status, interimHeaders(texts(headers)));
  else {
    fail(state, { code: 'malformed', reason: `more than ${MAX_INFORMATIONAL} interim answers` });
    state.abort();
  }
  return true;
}

/** PERF: one timer, whose end is checked when it fires: pieces of a body move the limit often. */
function checkTime(state: Sending): void {
  const { headMs, isClientAwaited } = state.attempt;
  if (isClientAwaited()) state.awaitedSince = performance.now();
  const leftMs = headMs - (performance.now() - state.awaitedSince);
  if (leftMs >= 1) {
    state.timer = setTimeout(() => checkTime(state), leftMs);
    return;
  }
  fail(state, { code: 'timeout', reason: `no answer within ${headMs} ms` });
  state.abort();
}

/** The time limit restarts at the end of the body; a body that breaks off fails the request. */
function watchBody(state: Sending, body: Readable): void {
  body.on('end', () => {
    state.awaitedSince = performance.now();
  });
  body.on('error', (error: Error) => {
    fail(state, { code: error instanceof BodyFault ? error.code : 'body', reason: error.message });
  });
}

/** Ends the attempt. @returns `false`: it has ended before */
function end(state: Sending): boolean {
  if (state.over) return false;
  state.over = true;
  clearTimeout(state.timer);
  state.decoder?.close();
  return true;
}

function fail(state: Sending, fault: ResponseFault): void {
  if (end(state)) state.sink.fail(fault);
}

function complete(state: Sending, trailers: HeaderList): void {
  pushStart(state);
  if (end(state)) state.sink.end(trailers);
}

/** An empty body counts as none. */
function bodyOf(body: Attempt['body']): Readable | Uint8Array | null {
  return body instanceof Uint8Array && body.length === 0 ? null : body;
}

function texts(octets: readonly (Buffer | string)[]): string[] {
  const list = new Array<string>(octets.length);
  for (let at = 0; at < octets.length; at++) list[at] = octets[at]!.toString('latin1' as never);
  return list;
}

/**
 * Whether a response ends with its head, whatever length that states (RFC 9112 §6.3). Completed at the head, since undici
 * takes the length in a 304, which is that of the 200 it replaces (RFC 9110 §15.4.5), for octets to come.
 */
function isBodiless(status: number): boolean {
  return status === 204 || status === 304;
}

function nothing(): void {}
