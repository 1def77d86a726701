/**
 * One request to one origin. In: the request, a connection pool and a time limit. Out: the response, pushed into a sink, or
 * one fault that names what went wrong.
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { BodyFault } from '../../buffers/body-fault.ts';
import type { HeaderList, ResponseFault, ResponseSink, ResponseSource } from '../../http/response.ts';
import { MAX_INFORMATIONAL } from '../limits.ts';
import type { OpenedConnection } from './connections.ts';
import { faultOf, type Progress } from './faults.ts';
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
}

/** One attempt under way. */
interface Sending {
  readonly sink: ResponseSink;
  readonly use: OriginUse;
  readonly headMs: number;
  readonly isClientAwaited: () => boolean;
  /** What the sink pauses, resumes and aborts. */
  readonly source: ResponseSource;
  progress: Progress;
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
export function attempt(
  { to, isFresh, request, body, isClientAwaited, headMs }: Attempt,
  sink: ResponseSink,
): ResponseSource {
  const state: Sending = {
    sink,
    use: request.use,
    headMs,
    isClientAwaited,
    source: {
      pause: () => {
        state.paused = true;
      },
      resume: () => {
        if (!state.paused) return;
        state.paused = false;
        state.resume();
      },
      abort: () => {
        if (end(state)) state.abort();
      },
    },
    progress: 'unsent',
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
  try {
    const options = { method, path, headers: headers as string[], body: bodyOf(body) };
    if (isFresh) dispatchAlone(to.fresh(), options, state);
    else to.pool.dispatch(options, handlerOf(state, to));
  } catch (error) {
    // undici refuses headers and paths that HTTP does not allow.
    const reason = error instanceof Error ? error.message : '';
    queueMicrotask(() => fail(state, { code: 'malformed', reason }));
  }
  return state.source;
}

/** Sends the request on a connection that closes behind its response. */
function dispatchAlone(client: Dispatcher, options: Dispatcher.DispatchOptions, state: Sending): void {
  client.dispatch(options, handlerOf(state, null));
  // It waits for the response; the handler gets every error.
  client.close().catch(nothing);
}

/** @param from the connections that the request is sent on; `null`: one of its own */
function handlerOf(state: Sending, from: OpenedConnection | null): Dispatcher.DispatchHandler {
  return {
    onConnect(abort) {
      state.progress = 'sent';
      state.use.reused = from !== null && !from.isFirst();
      state.awaitedSince = performance.now();
      state.abort = abort;
      if (state.over) abort();
    },
    onBodySent() {
      state.awaitedSince = performance.now();
    },
    onHeaders(status, headers, resume) {
      if (state.over) return true;
      if (status < 200) return receiveInterim(state, status, headers);
      clearTimeout(state.timer);
      state.resume = resume;
      state.progress = 'answered';
      state.use.ms = performance.now() - state.awaitedSince;
      state.use.result = status >= 500 ? 'failed' : 'answered';
      state.sink.head({ status, headers: texts(headers), madeBy: 'origin' }, state.source);
      if (isBodiless(status)) complete(state, []);
      return !state.paused;
    },
    onData(chunk) {
      if (!state.over) state.sink.data(chunk);
      return !state.paused;
    },
    onComplete(trailers) {
      complete(state, trailers === null ? [] : texts(trailers as unknown as readonly Buffer[]));
    },
    onError(error) {
      // A switch of protocols that was not requested is a response.
      if (error.message === 'bad upgrade') state.use.reused = false;
      fail(state, faultOf(error, state.progress));
    },
  };
}

/** Passes an interim response on, up to a number that only a broken origin exceeds. @returns undici reads on */
function receiveInterim(state: Sending, status: number, headers: readonly (Buffer | string)[]): true {
  state.use.reused = false;
  if (++state.interim <= MAX_INFORMATIONAL) state.sink.informational(status, texts(headers));
  else {
    fail(state, { code: 'malformed', reason: `more than ${MAX_INFORMATIONAL} interim answers` });
    state.abort();
  }
  return true;
}

/** PERF: one timer, whose end is checked when it fires: pieces of a body move the limit often. */
function checkTime(state: Sending): void {
  const { headMs } = state;
  if (state.isClientAwaited()) state.awaitedSince = performance.now();
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
  return true;
}

function fail(state: Sending, fault: ResponseFault): void {
  if (end(state)) state.sink.fail(fault);
}

function complete(state: Sending, trailers: HeaderList): void {
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
