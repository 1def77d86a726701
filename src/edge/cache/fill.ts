/**
 * One answer of an origin on its way to everybody who asked for it at the same time, and into the cache. It is recorded
 * in memory as it comes, so that each reader takes it at its own pace and a slow one holds nobody. Past the bounds it goes
 * live: what all have read is let go, a file may be written beside, and each reader of several has a buffer of its own.
 */
import { type AnswerBuffer, createAnswerBuffer, type OpenSpool } from '../buffers/answer-buffer.ts';
import type { HeaderList, ResponseFault, ResponseSink, ResponseSource } from '../response.ts';
import { LIVE_WINDOW, ORPHAN_MS } from './limits.ts';

/** Octets of answers being recorded, over all of them. */
export interface Budget {
  /** `false`: there is no room. */
  take(octets: number): boolean;
  give(octets: number): void;
}

export function createBudget(octets: number): Budget {
  let left = octets;
  return {
    take: (wanted) => {
      if (wanted > left) return false;
      left -= wanted;
      return true;
    },
    give: (back) => {
      left += back;
    },
  };
}

/** A file being written beside an answer. */
export interface Spill {
  /** `false`: the disk fails; nothing more needs to be written. */
  write(chunk: Uint8Array): boolean;
  /** The origin should wait, until `onRest` is called. */
  isBehind(): boolean;
  abandon(): void;
}

export interface FillOptions {
  /** The origin's answer; its head is here, its body comes through `data`. */
  readonly source: ResponseSource;
  readonly budget: Budget;
  /** Octets recorded in memory at most; 0 goes live at once. */
  readonly mostInMemory: number;
  /** Octets of a body that may be kept at all. */
  readonly most: number;
  /** Opens a file for a body that leaves memory; `null`: none. `onRest` is called when it is no longer behind. */
  readonly spill: (onRest: () => void) => Spill | null;
  /** Told once how it ended: the body, the file it is in, or that nothing is kept. */
  readonly done: (kept: Uint8Array | Spill | null, octets: number) => void;
}

export interface ReaderOptions {
  readonly sink: ResponseSink;
  readonly from: number;
  /** The octet after the last wanted; `Infinity`: to the end. */
  readonly to: number;
  readonly openSpool: OpenSpool;
}

export interface Fill {
  /** Adds a reader; only before the first octet or while recording. Call `start` once its head is out. */
  attach(options: ReaderOptions): Reader;
  /** Everything since the first octet is here, and each reader goes at its own pace. */
  isRecording(): boolean;
  data(chunk: Uint8Array): void;
  end(trailers: HeaderList): void;
  fail(fault: ResponseFault): void;
}

export interface Reader extends ResponseSource {
  start(): void;
}

interface Place {
  sink: Pick<ResponseSink, 'data' | 'end' | 'fail'>;
  readonly openSpool: OpenSpool;
  /** What stands between the answer and a reader that shares it live; `null`: nothing. */
  buffer: AnswerBuffer | null;
  /** Octets to leave out before the first one wanted. */
  skip: number;
  /** Octets still wanted. */
  left: number;
  /** The next chunk, counted from the first there ever was, and the octets of it that are done. */
  chunk: number;
  done: number;
  paused: boolean;
  pushing: boolean;
  /** The head is out. */
  started: boolean;
}

export function createFill(options: FillOptions): Fill {
  const { source, budget } = options;
  const readers = new Set<Place>();
  let chunks: Uint8Array[] = [];
  /** Chunks let go of. */
  let gone = 0;
  let octets = 0;
  let held = 0;
  let taken = 0;
  let live = options.mostInMemory === 0;
  let spill: Spill | null = live ? options.spill(rested) : null;
  let waiting = false;
  let ended: HeaderList | null = null;
  let settled = false;
  let orphaned: NodeJS.Timeout | null = null;

  function settle(kept: Uint8Array | Spill | null): void {
    if (settled) return;
    settled = true;
    if (orphaned !== null) clearTimeout(orphaned);
    budget.give(taken);
    taken = 0;
    if (kept === null) spill?.abandon();
    options.done(kept, octets);
  }

  /** Gives a reader what is here, until it has enough for now. */
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

  /** Nobody reads any more: what is being recorded may still become whole, what is live is not worth its octets. */
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
    spill = keep ? options.spill(rested) : null;
    for (const chunk of chunks) write(chunk);
    if (readers.size === 0) orphan();
  }

  /** Gives a reader a buffer: while it is slow, others would wait for it. */
  function shield(reader: Place): void {
    const { openSpool, paused } = reader;
    const buffer = createAnswerBuffer({ sink: reader.sink, source: directSource(reader), openSpool });
    reader.sink = buffer;
    reader.buffer = buffer;
    if (paused) buffer.pause();
  }

  /** The answer as a reader has it without a buffer. */
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

  /** Lets go of what every reader has, and makes the origin wait or go on. */
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

  /** Lets go of the pieces: who still reads goes on in the body that is kept, so that nobody slow holds a second copy. */
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
      else if (octets > options.mostInMemory) goLive(true);
      else if (budget.take(chunk.length)) taken += chunk.length;
      else goLive(false);
      if (octets > options.most && spill !== null) {
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

/** A copy of its own size: chunks are parts of larger buffers, which they would keep alive. */
function joined(chunks: readonly Uint8Array[], octets: number): Uint8Array {
  const body = Buffer.allocUnsafeSlow(octets);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
