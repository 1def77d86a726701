/**
 * Buffers a response for a client that reads it slowly. In: the body from the origin. Out: the same body to the client, as
 * fast as that reads. Octets pass through while the client reads; once it has paused the origin for a while, its octets are
 * read from the origin into a spool, so that the origin's connection becomes free.
 */
import type { HeaderList, ResponseFault, ResponseSink, ResponseSource } from '../http/response.ts';
import type { Drain, DrainPlace } from './drain-queue.ts';
import { HOLD_UP_MS, MAX_ANSWER_OCTETS } from './limits.ts';
import type { BufferSpace } from './space.ts';
import { createSpool, type Spool } from './spool.ts';

/** Opens storage for one client's response; `onRoom` is called when it has room again. */
export type OpenSpool = (onRoom: () => void) => Spool;

/** Opens spools for clients of one network, of at most `MAX_ANSWER_OCTETS` each. */
export function answerSpools(space: BufferSpace, network: string): OpenSpool {
  return (onRoom) => createSpool({ space, network, most: MAX_ANSWER_OCTETS, onRoom });
}

export interface AnswerBufferOptions {
  /** The client's end. */
  readonly sink: Pick<ResponseSink, 'data' | 'end' | 'fail'>;
  /** The origin's end. */
  readonly source: ResponseSource;
  readonly openSpool: OpenSpool;
  /** Whether other requests wait for the origin's connection, so that storing begins at once. Default: none do. */
  readonly isWanted?: () => boolean;
  /** Joins the queue in which responses are read while their clients read nothing. Default: no queue. */
  readonly joinDrains?: (drain: Drain) => DrainPlace;
}

/** A source for the client, and a sink for the origin. */
export interface AnswerBuffer extends ResponseSource, Pick<ResponseSink, 'data' | 'end' | 'fail'> {
  /** Ends the response at once, with a fault for the client. */
  cut(fault: ResponseFault): void;
  /** Other requests wait for the origin's connection: stores at once what the client does not read. */
  hurry(): void;
  /** Octets pushed to the client so far. */
  octets(): number;
  /** Milliseconds so far in which the origin was paused for the client. */
  waitedMs(): number;
}

/** How a response ends: with trailers, or by a fault. */
type Ending = { readonly trailers: HeaderList } | { readonly fault: ResponseFault };

interface BufferState {
  readonly options: AnswerBufferOptions;
  /** `null`: octets pass through. */
  spool: Spool | null;
  /** The client reads nothing now. */
  paused: boolean;
  /** The start of the origin's pause (`performance.now()`); `null`: it is not paused. */
  pausedSince: number | null;
  /** Milliseconds of earlier pauses. */
  pausedMs: number;
  /** Octets pushed to the client. */
  pushed: number;
  /** Starts storing after `HOLD_UP_MS`. */
  timer: NodeJS.Timeout | null;
  /** Set once the origin has sent everything. */
  ending: Ending | null;
  /** Octets of the spool are being read and pushed. */
  pushing: boolean;
  /** The place in the queue of responses whose clients read nothing; `null`: none. */
  place: DrainPlace | null;
  hasTurn: boolean;
  /** The next octet of the spool for the client. */
  at: number;
  over: boolean;
}

export function createAnswerBuffer(options: AnswerBufferOptions): AnswerBuffer {
  const state: BufferState = {
    options,
    spool: null,
    paused: false,
    pausedSince: null,
    pausedMs: 0,
    pushed: 0,
    timer: null,
    ending: null,
    pushing: false,
    place: null,
    hasTurn: false,
    at: 0,
    over: false,
  };
  return new BufferedAnswer(state);
}

/** PERF: methods instead of ten closures a response. */
class BufferedAnswer implements AnswerBuffer {
  readonly #state: BufferState;
  constructor(state: BufferState) {
    this.#state = state;
  }
  data(chunk: Uint8Array): void {
    receive(this.#state, chunk);
  }
  end(trailers: HeaderList): void {
    receiveEnding(this.#state, { trailers });
  }
  fail(fault: ResponseFault): void {
    receiveEnding(this.#state, { fault });
  }
  pause(): void {
    pause(this.#state);
  }
  resume(): void {
    resume(this.#state);
  }
  abort(): void {
    if (this.#state.over) return;
    close(this.#state);
    this.#state.options.source.abort();
  }
  cut(fault: ResponseFault): void {
    if (this.#state.over) return;
    finish(this.#state, { fault });
    this.#state.options.source.abort();
  }
  hurry(): void {
    store(this.#state);
  }
  octets(): number {
    return this.#state.pushed;
  }
  waitedMs(): number {
    const { pausedSince, pausedMs } = this.#state;
    return pausedSince === null ? pausedMs : pausedMs + performance.now() - pausedSince;
  }
}

function receive(state: BufferState, chunk: Uint8Array): void {
  const { spool } = state;
  if (state.over) return;
  if (spool === null) return void pushChunk(state, chunk);
  spool.write(chunk);
  state.place?.took(chunk.length);
  if (!spool.hasRoom()) pauseSource(state);
  if (!state.paused) pushStored(state);
}

/** Passes the end on at once if nothing is stored before it. */
function receiveEnding(state: BufferState, ending: Ending): void {
  const { spool } = state;
  if (state.over) return;
  state.ending = ending;
  leaveQueue(state);
  if (spool === null || (state.at === spool.length && !state.pushing)) finish(state, ending);
  else if (!state.paused) pushStored(state);
}

/** The client reads no more for now. */
function pause(state: BufferState): void {
  const { joinDrains, isWanted } = state.options;
  state.paused = true;
  if (state.over || state.ending !== null) return;
  if (state.spool !== null) {
    fillSpool(state);
    if (joinDrains !== undefined && !state.hasTurn) pauseSource(state);
    return;
  }
  pauseSource(state);
  if (isWanted?.() === true) store(state);
  else state.timer ??= setTimeout(() => store(state), HOLD_UP_MS);
}

/** The client reads again. */
function resume(state: BufferState): void {
  state.paused = false;
  if (state.spool !== null) {
    leaveQueue(state);
    fillSpool(state);
    pushStored(state);
    return;
  }
  clearTimer(state);
  resumeSource(state);
}

function clearTimer(state: BufferState): void {
  if (state.timer !== null) clearTimeout(state.timer);
  state.timer = null;
}

function pauseSource(state: BufferState): void {
  if (state.pausedSince !== null || state.ending !== null) return;
  state.pausedSince = performance.now();
  state.options.source.pause();
}

function resumeSource(state: BufferState): void {
  if (state.pausedSince === null) return;
  state.pausedMs += performance.now() - state.pausedSince;
  state.pausedSince = null;
  state.options.source.resume();
}

function pushChunk(state: BufferState, chunk: Uint8Array): void {
  state.pushed += chunk.length;
  state.options.sink.data(chunk);
}

/** Starts storing: the client has paused the origin for too long, or other requests wait for its connection. */
function store(state: BufferState): void {
  clearTimer(state);
  if (state.over || !state.paused || state.spool !== null || state.ending !== null) return;
  state.spool = state.options.openSpool(() => fillSpool(state));
  fillSpool(state);
}

/**
 * Resumes the origin to fill the spool: immediately if the client is reading, otherwise when the response reaches its
 * turn in the queue.
 */
function fillSpool(state: BufferState): void {
  const { joinDrains } = state.options;
  if (state.over || state.ending !== null || !state.spool!.hasRoom()) return;
  if (!state.paused || joinDrains === undefined || state.hasTurn) resumeSource(state);
  else state.place ??= joinDrains(drainOf(state));
}

/** The response's turns in the queue. */
function drainOf(state: BufferState): Drain {
  return {
    start() {
      state.hasTurn = true;
      resumeSource(state);
    },
    stop() {
      state.hasTurn = false;
      pauseSource(state);
      if (!state.spool!.hasRoom()) leaveQueue(state);
    },
  };
}

function leaveQueue(state: BufferState): void {
  state.hasTurn = false;
  state.place?.leave();
  state.place = null;
}

/** Pushes stored octets to the client, as fast as it reads. */
function pushStored(state: BufferState): void {
  const { spool } = state;
  if (state.pushing || state.over || spool === null) return;
  state.pushing = true;
  pushUntilPaused(state, spool)
    .catch((error: unknown) => {
      if (state.over) return;
      const reason = error instanceof Error ? error.message : 'a file failed';
      finish(state, { fault: { code: 'cut', reason } });
      state.options.source.abort();
    })
    .finally(() => {
      state.pushing = false;
      // Octets, or the end, may have arrived after the last read.
      if (!state.paused && !state.over && (state.at < spool.length || state.ending !== null))
        pushStored(state);
    });
}

async function pushUntilPaused(state: BufferState, spool: Spool): Promise<void> {
  while (!state.paused && !state.over && state.at < spool.length) {
    const read = spool.read(state.at);
    const chunk = read instanceof Promise ? await read : read;
    if (state.over) return;
    state.at += chunk.length;
    pushChunk(state, chunk);
    spool.release(state.at);
  }
  if (!state.paused && !state.over && state.ending !== null) finish(state, state.ending);
}

function finish(state: BufferState, ending: Ending): void {
  const { sink } = state.options;
  close(state);
  if ('fault' in ending) sink.fail(ending.fault);
  else sink.end(ending.trailers);
}

function close(state: BufferState): void {
  state.over = true;
  leaveQueue(state);
  if (state.timer !== null) clearTimeout(state.timer);
  state.spool?.close();
}
