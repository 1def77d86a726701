/**
 * Delivers one origin response to all requests that wait for it, and to the cache. In: the response, chunk by chunk. Out:
 * the requested octets to each reader, and the whole body to the cache. The body is recorded in memory as it arrives, so
 * that each reader proceeds at its own pace. Beyond the limits the fill switches to live streaming: chunks that all readers
 * have taken are released, a body file may be written, and each of several readers gets a buffer.
 */
import { type AnswerBuffer, createAnswerBuffer, type OpenSpool } from '../../base/buffers/answer-buffer.ts';
import type { Budget } from '../../base/buffers/space.ts';
import type { HeaderList, ResponseFault, ResponseSink, ResponseSource } from '../../base/http/response.ts';
import { LIVE_WINDOW, ORPHAN_MS } from './limits.ts';

/** A file that receives the response body while it is delivered. */
export interface BodyFile {
  /** `false`: the disk fails; further writes have no effect. */
  write(chunk: Uint8Array): boolean;
  /** Whether the origin must be paused until `onRest` is called. */
  isBehind(): boolean;
  abandon(): void;
}

export interface FillOptions {
  /** The origin's response. Its head has arrived; its body arrives through `data`. */
  readonly source: ResponseSource;
  readonly budget: Budget;
  /** Octets recorded in memory at most; 0 streams live at once. */
  readonly maxInMemory: number;
  /** Largest body in octets that may be stored. */
  readonly maxOctets: number;
  /**
   * Opens a file for a body that exceeds the memory limit; `null`: no file. `onRest` is called when the file
   * has caught up.
   */
  readonly openBodyFile: (onRest: () => void) => BodyFile | null;
  /** Called once at the end: with the body, the file that contains it, or `null` if nothing is stored. */
  readonly done: (stored: Uint8Array | BodyFile | null, octets: number) => void;
}

export interface ReaderOptions {
  readonly sink: ResponseSink;
  readonly from: number;
  /** The position after the last requested octet; `Infinity`: to the end. */
  readonly to: number;
  readonly openSpool: OpenSpool;
}

export interface Fill {
  /**
   * Adds a reader; only before the first octet or while recording. Call `start` once the client has the head.
   */
  attach(options: ReaderOptions): FillReader;
  /** Whether every octet since the first one is available, so that each reader proceeds at its own pace. */
  isRecording(): boolean;
  data(chunk: Uint8Array): void;
  end(trailers: HeaderList): void;
  fail(fault: ResponseFault): void;
}

export interface FillReader extends ResponseSource {
  start(): void;
}

interface Reader {
  sink: Pick<ResponseSink, 'data' | 'end' | 'fail'>;
  readonly openSpool: OpenSpool;
  /** Buffer between the live response and one of several readers; `null`: none. */
  buffer: AnswerBuffer | null;
  /** Octets to skip before the first requested one. */
  skip: number;
  /** Requested octets not delivered yet. */
  left: number;
  /** The index of the next chunk since the start, and the octets of it already delivered. */
  chunk: number;
  done: number;
  paused: boolean;
  pushing: boolean;
  /** The client has the head. */
  started: boolean;
}

interface FillState {
  readonly options: FillOptions;
  readonly readers: Set<Reader>;
  /** The chunks not released yet, and the number of those released. */
  chunks: Uint8Array[];
  released: number;
  /** Octets of the body so far, and octets of `chunks`. */
  octets: number;
  inMemory: number;
  /** Octets taken from the budget. */
  taken: number;
  live: boolean;
  file: BodyFile | null;
  /** The origin is paused. */
  waiting: boolean;
  /** The trailers; `null`: the body has not ended. */
  ended: HeaderList | null;
  /** `done` was called. */
  settled: boolean;
  /** Ends a recording without readers; `null`: it has readers, or has ended. */
  orphaned: NodeJS.Timeout | null;
}

export function createFill(options: FillOptions): Fill {
  const state: FillState = {
    options,
    readers: new Set(),
    chunks: [],
    released: 0,
    octets: 0,
    inMemory: 0,
    taken: 0,
    live: options.maxInMemory === 0,
    file: null,
    waiting: false,
    ended: null,
    settled: false,
    orphaned: null,
  };
  if (state.live) state.file = options.openBodyFile(() => resume(state));
  return {
    attach: (reader) => attach(state, reader),
    isRecording: () => !state.live,
    data: (chunk) => receive(state, chunk),
    end: (trailers) => complete(state, trailers),
    fail: (fault) => fail(state, fault),
  };
}

function attach(state: FillState, { sink, from, to, openSpool }: ReaderOptions): FillReader {
  const reader: Reader = {
    sink,
    openSpool,
    buffer: null,
    skip: from,
    left: to - from,
    chunk: 0,
    done: 0,
    paused: false,
    pushing: false,
    started: false,
  };
  const direct = directSource(state, reader);
  state.readers.add(reader);
  if (state.orphaned !== null) clearTimeout(state.orphaned);
  state.orphaned = null;
  return {
    start: () => {
      reader.started = true;
      push(state, reader);
    },
    pause: () => (reader.buffer ?? direct).pause(),
    resume: () => (reader.buffer ?? direct).resume(),
    abort: () => (reader.buffer ?? direct).abort(),
  };
}

function receive(state: FillState, chunk: Uint8Array): void {
  const { options } = state;
  if (state.settled) return;
  state.octets += chunk.length;
  state.inMemory += chunk.length;
  state.chunks.push(chunk);
  if (state.live) writeFile(state, chunk);
  else if (state.octets > options.maxInMemory) goLive(state, true);
  else if (options.budget.take(chunk.length)) state.taken += chunk.length;
  else goLive(state, false);
  if (state.octets > options.maxOctets) abandonFile(state);
  for (const reader of state.readers) push(state, reader);
  if (state.live && !state.settled) trim(state);
}

function complete(state: FillState, trailers: HeaderList): void {
  if (state.settled) return;
  state.ended = trailers;
  const body = state.live ? null : joined(state.chunks, state.octets);
  if (body !== null) moveTo(state, body);
  settle(state, body ?? state.file);
  for (const reader of state.readers) push(state, reader);
}

function fail(state: FillState, fault: ResponseFault): void {
  if (state.settled) return;
  settle(state, null);
  const readers = [...state.readers];
  state.readers.clear();
  state.chunks = [];
  for (const { sink } of readers) sink.fail(fault);
}

/** Ends the recording, and reports what can be stored. */
function settle(state: FillState, stored: Uint8Array | BodyFile | null): void {
  if (state.settled) return;
  state.settled = true;
  if (state.orphaned !== null) clearTimeout(state.orphaned);
  giveBudget(state);
  if (stored === null) state.file?.abandon();
  state.options.done(stored, state.octets);
}

function giveBudget(state: FillState): void {
  state.options.budget.give(state.taken);
  state.taken = 0;
}

/** Delivers available chunks to a reader until it has enough or pauses. */
function push(state: FillState, reader: Reader): void {
  const { readers } = state;
  if (reader.pushing || !reader.started) return;
  reader.pushing = true;
  while (!reader.paused && reader.left > 0 && readers.has(reader)) {
    const chunk = state.chunks[reader.chunk - state.released];
    if (chunk === undefined) break;
    const part = nextPart(reader, chunk);
    if (part !== null) reader.sink.data(part);
  }
  reader.pushing = false;
  const atEnd = state.ended !== null && reader.chunk - state.released >= state.chunks.length;
  if (!readers.has(reader) || (reader.left > 0 && !atEnd)) return;
  readers.delete(reader);
  reader.sink.end(state.ended ?? []);
  if (state.ended === null && readers.size === 0) orphan(state);
}

/** Advances a reader through its current chunk. Returns the requested part of it; `null`: none was requested. */
function nextPart(reader: Reader, chunk: Uint8Array): Uint8Array | null {
  const at = reader.done + Math.min(reader.skip, chunk.length - reader.done);
  reader.skip -= at - reader.done;
  const until = Math.min(chunk.length, at + reader.left);
  reader.left -= until - at;
  reader.done = until;
  if (until === chunk.length) {
    reader.chunk++;
    reader.done = 0;
  }
  if (until <= at) return null;
  return until - at === chunk.length ? chunk : chunk.subarray(at, until);
}

/**
 * Handles the loss of the last reader: recording continues, so that the body can be stored; a live stream
 * ends.
 */
function orphan(state: FillState): void {
  if (state.settled || state.ended !== null) return;
  const stop = (): void => {
    state.options.source.abort();
    settle(state, null);
  };
  if (state.live) stop();
  else state.orphaned ??= setTimeout(stop, ORPHAN_MS).unref();
}

/** Switches from recording to live streaming; `toFile` writes the body to a file, if one can be opened. */
function goLive(state: FillState, toFile: boolean): void {
  state.live = true;
  if (state.readers.size > 1) for (const reader of state.readers) addBuffer(state, reader);
  giveBudget(state);
  state.file = toFile ? state.options.openBodyFile(() => resume(state)) : null;
  for (const chunk of state.chunks) writeFile(state, chunk);
  if (state.readers.size === 0) orphan(state);
}

/** Gives a reader a buffer, so that a slow reader does not delay the others. */
function addBuffer(state: FillState, reader: Reader): void {
  const { openSpool, paused, sink } = reader;
  const buffer = createAnswerBuffer({ sink, source: directSource(state, reader), openSpool });
  reader.sink = buffer;
  reader.buffer = buffer;
  if (paused) buffer.pause();
}

/** The source of a reader without a buffer. */
function directSource(state: FillState, reader: Reader): ResponseSource {
  return {
    pause: () => {
      reader.paused = true;
    },
    resume: () => {
      if (!reader.paused) return;
      reader.paused = false;
      push(state, reader);
      if (state.live) trim(state);
    },
    abort: () => removeReader(state, reader),
  };
}

function writeFile(state: FillState, chunk: Uint8Array): void {
  if (state.file !== null && !state.file.write(chunk)) abandonFile(state);
}

function abandonFile(state: FillState): void {
  state.file?.abandon();
  state.file = null;
}

/** Releases chunks that every reader has taken, and pauses or resumes the origin. */
function trim(state: FillState): void {
  let first = Number.POSITIVE_INFINITY;
  for (const { chunk } of state.readers) first = Math.min(first, chunk);
  while (state.released < first && state.chunks.length > 0) {
    state.inMemory -= state.chunks.shift()!.length;
    state.released++;
  }
  const isBehind = state.file?.isBehind() ?? false;
  if (!state.waiting && (state.inMemory > LIVE_WINDOW || isBehind)) {
    state.waiting = true;
    state.options.source.pause();
  } else if (state.waiting && state.inMemory <= LIVE_WINDOW / 2 && !isBehind) {
    state.waiting = false;
    state.options.source.resume();
  }
}

/** The body file has caught up. */
function resume(state: FillState): void {
  if (state.live && !state.settled) trim(state);
}

/** Releases the chunks; readers continue in the stored body, so that a slow one needs no second copy. */
function moveTo(state: FillState, body: Uint8Array): void {
  const starts = [0];
  for (const chunk of state.chunks) starts.push(starts.at(-1)! + chunk.length);
  for (const reader of state.readers) {
    reader.done += starts[reader.chunk - state.released]!;
    reader.chunk = state.released;
  }
  state.chunks = [body];
}

function removeReader(state: FillState, reader: Reader): void {
  if (!state.readers.delete(reader)) return;
  if (state.readers.size === 0) orphan(state);
  else if (state.live) trim(state);
}

/** A copy of exact size: chunks are views of larger buffers and would prevent those from being freed. */
function joined(chunks: readonly Uint8Array[], octets: number): Uint8Array {
  const body = Buffer.allocUnsafeSlow(octets);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
