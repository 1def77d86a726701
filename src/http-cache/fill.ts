/**
 * Delivers one origin response to all requests that wait for it, and to the cache. The body is recorded in
 * memory as it arrives, so that each reader proceeds at its own pace. Beyond the limits the fill switches to
 * live streaming: chunks that all readers have taken are released, a body file may be written, and each of
 * several readers gets a buffer.
 */
import { type AnswerBuffer, createAnswerBuffer, type OpenSpool } from '../buffers/answer-buffer.ts';
import type { Budget } from '../buffers/budget.ts';
import type { HeaderList, ResponseFault, ResponseSink, ResponseSource } from '../http/response.ts';
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
  /** Called once at the end: with the body, the file that contains it, or `null` where nothing is stored. */
  readonly done: (kept: Uint8Array | BodyFile | null, octets: number) => void;
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

interface Place {
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

export function createFill(options: FillOptions): Fill {
  const { source, budget } = options;
  const readers = new Set<Place>();
  let chunks: Uint8Array[] = [];
  /** Number of released chunks. */
  let gone = 0;
  let octets = 0;
  let held = 0;
  let taken = 0;
  let live = options.maxInMemory === 0;
  let spill: BodyFile | null = live ? options.openBodyFile(rested) : null;
  let waiting = false;
  let ended: HeaderList | null = null;
  let settled = false;
  let orphaned: NodeJS.Timeout | null = null;

  function settle(kept: Uint8Array | BodyFile | null): void {
    if (settled) return;
    settled = true;
    if (orphaned !== null) clearTimeout(orphaned);
    budget.give(taken);
    taken = 0;
    if (kept === null) spill?.abandon();
    options.done(kept, octets);
  }

  /** Delivers available chunks to a reader until it has enough or pauses. */
  function push(reader: Place): void {
    if (reader.pushing || !reader.started) return;
    reader.pushing = true;
    while (!reader.paused && reader.left > 0 && readers.has(reader)) {
      const chunk = chunks[reader.chunk - gone];
      if (chunk === undefined) break;
      const at = reader.done + Math.min(reader.skip, chunk.length - reader.done);
      reader.skip -= at - reader.done;
      const until = Math.min(chunk.length, at + reader.left);
      reader.left -= until - at;
      reader.done = until;
      if (until === chunk.length) {
        reader.chunk++;
        reader.done = 0;
      }
      if (until > at) reader.sink.data(until - at === chunk.length ? chunk : chunk.subarray(at, until));
    }
    reader.pushing = false;
    const atEnd = ended !== null && reader.chunk - gone >= chunks.length;
    if (!readers.has(reader) || (reader.left > 0 && !atEnd)) return;
    readers.delete(reader);
    reader.sink.end(ended ?? []);
    if (ended === null && readers.size === 0) orphan();
  }

  /**
   * Handles the loss of the last reader: recording continues, so that the body can be stored; a live stream
   * ends.
   */
  function orphan(): void {
    if (settled || ended !== null) return;
    if (live) {
      source.abort();
      settle(null);
      return;
    }
    orphaned ??= setTimeout(() => {
      source.abort();
      settle(null);
    }, ORPHAN_MS).unref();
  }

  function goLive(keep: boolean): void {
    live = true;
    if (readers.size > 1) for (const reader of readers) shield(reader);
    budget.give(taken);
    taken = 0;
    spill = keep ? options.openBodyFile(rested) : null;
    for (const chunk of chunks) write(chunk);
    if (readers.size === 0) orphan();
  }

  /** Gives a reader a buffer, so that a slow reader does not delay the others. */
  function shield(reader: Place): void {
    const { openSpool, paused } = reader;
    const buffer = createAnswerBuffer({ sink: reader.sink, source: directSource(reader), openSpool });
    reader.sink = buffer;
    reader.buffer = buffer;
    if (paused) buffer.pause();
  }

  /** The source of a reader without a buffer. */
  function directSource(reader: Place): ResponseSource {
    return {
      pause: () => {
        reader.paused = true;
      },
      resume: () => {
        if (!reader.paused) return;
        reader.paused = false;
        push(reader);
        if (live) trim();
      },
      abort: () => drop(reader),
    };
  }

  function write(chunk: Uint8Array): void {
    if (spill === null || spill.write(chunk)) return;
    spill.abandon();
    spill = null;
  }

  /** Releases chunks that every reader has taken, and pauses or resumes the origin. */
  function trim(): void {
    let first = Number.POSITIVE_INFINITY;
    for (const { chunk } of readers) first = Math.min(first, chunk);
    while (gone < first && chunks.length > 0) {
      held -= chunks.shift()!.length;
      gone++;
    }
    const behind = spill?.isBehind() ?? false;
    if (!waiting && (held > LIVE_WINDOW || behind)) {
      waiting = true;
      source.pause();
    } else if (waiting && held <= LIVE_WINDOW / 2 && !behind) {
      waiting = false;
      source.resume();
    }
  }

  /** Releases the chunks; readers continue in the stored body, so that a slow one needs no second copy. */
  function moveTo(body: Uint8Array): void {
    const starts = [0];
    for (const chunk of chunks) starts.push(starts.at(-1)! + chunk.length);
    for (const reader of readers) {
      reader.done += starts[reader.chunk - gone]!;
      reader.chunk = gone;
    }
    chunks = [body];
  }

  function rested(): void {
    if (live && !settled) trim();
  }

  function drop(reader: Place): void {
    if (!readers.delete(reader)) return;
    if (readers.size === 0) orphan();
    else if (live) trim();
  }

  return {
    attach({ sink, from, to, openSpool }) {
      const reader: Place = {
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
      const direct = directSource(reader);
      readers.add(reader);
      if (orphaned !== null) clearTimeout(orphaned);
      orphaned = null;
      return {
        start: () => {
          reader.started = true;
          push(reader);
        },
        pause: () => (reader.buffer ?? direct).pause(),
        resume: () => (reader.buffer ?? direct).resume(),
        abort: () => (reader.buffer ?? direct).abort(),
      };
    },
    isRecording: () => !live,
    data(chunk) {
      if (settled) return;
      octets += chunk.length;
      held += chunk.length;
      chunks.push(chunk);
      if (live) write(chunk);
      else if (octets > options.maxInMemory) goLive(true);
      else if (budget.take(chunk.length)) taken += chunk.length;
      else goLive(false);
      if (octets > options.maxOctets && spill !== null) {
        spill.abandon();
        spill = null;
      }
      for (const reader of readers) push(reader);
      if (live && !settled) trim();
    },
    end(trailers) {
      if (settled) return;
      ended = trailers;
      const body = live ? null : joined(chunks, octets);
      if (body !== null) moveTo(body);
      settle(body ?? spill);
      for (const reader of readers) push(reader);
    },
    fail(fault) {
      if (settled) return;
      settle(null);
      const left = [...readers];
      readers.clear();
      chunks = [];
      for (const { sink } of left) sink.fail(fault);
    },
  };
}

/** A copy of exact size: chunks are views of larger buffers and would keep them in memory. */
function joined(chunks: readonly Uint8Array[], octets: number): Uint8Array {
  const body = Buffer.allocUnsafeSlow(octets);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
