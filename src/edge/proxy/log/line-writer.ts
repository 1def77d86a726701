/**
 * Appends lines to a file, or to stdout, without ever blocking the caller: a line is queued or dropped at once, whatever the
 * disk does. The queue is bounded; a line that does not fit or cannot be written is dropped and counted, and the log itself
 * states at that place how many lines are missing.
 */
import { close, constants, open, write } from 'node:fs';
import { promisify } from 'node:util';
import { FLUSH_ON_STOP_MS, MAX_WAITING_OCTETS, RETRY_MS, WRITE_MS, WRITE_OCTETS } from '../limits.ts';

export interface LineWriter {
  /** Whether a line would be dropped. The caller then makes none, and calls `drop`. */
  full(): boolean;
  /** Queues a line, given without its line break. */
  add(line: string): void;
  /** Counts a line that was not made. */
  drop(): void;
  /** Opens the file again, after it was moved away; queued lines go to the new one. */
  reopen(): void;
  stats(): WriterStats;
  /** Writes the queued lines, as far as that is possible within two seconds, and ends. */
  close(): Promise<void>;
}

export interface WriterStats {
  /** Lines written, dropped, and queued. */
  readonly written: number;
  readonly dropped: number;
  readonly queued: number;
  /** Writes and opens that failed. */
  readonly failures: number;
}

export interface WriterOptions {
  /** A path; `null` is stdout. */
  readonly file: string | null;
  /** Makes the line that states how many lines are missing at its place. */
  readonly gap: (dropped: number) => string;
  /** Called once when writing begins to fail, and not again before it has worked. */
  readonly onFault: (error: unknown) => void;
  /** Octets queued at most. Default: `MAX_WAITING_OCTETS`. */
  readonly maxQueued?: number;
  /** Milliseconds until a failed write is tried again. Default: `RETRY_MS`. */
  readonly retryMs?: number;
}

/** Milliseconds until a full pipe is tried again, and anything at the end. */
const PIPE_MS = 20;

const openFile = promisify(open);
const closeFile = promisify(close);

/** The mode of a new log, which contains addresses of visitors. */
const PRIVATE = 0o640;
const STDOUT = 1;
/**
 * Opening a pipe without a reader fails with these flags, and is tried again; a blocking open would occupy a thread, and
 * the process could not exit meanwhile.
 */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
const LF = 10;

/** Lines that are written together. */
interface Chunk {
  readonly bytes: Buffer;
  /** The octets of it written so far. */
  from: number;
  readonly lines: number;
  /** The number of dropped lines that its last line states; 0: it has no such line. */
  readonly gap: number;
}

interface WriterState {
  readonly options: WriterOptions;
  readonly maxQueued: number;
  readonly retryMs: number;
  /** Lines that are in no chunk yet. */
  lines: string[];
  /** Characters of `lines`, which are at most as many as their octets. */
  characters: number;
  chunk: Chunk | null;
  descriptor: number | null;
  /** The file has to be opened again before the next write. */
  stale: boolean;
  /** The write under way. */
  busy: Promise<void> | null;
  timer: NodeJS.Timeout | null;
  /** The last write or open failed. */
  failing: boolean;
  ended: boolean;
  /** The file ends within a line, since a write was cut short there. */
  torn: boolean;
  /** Dropped lines that no gap line states yet. */
  unreported: number;
  readonly counts: { written: number; dropped: number; failures: number };
}

export function createLineWriter(options: WriterOptions): LineWriter {
  const { file, maxQueued = MAX_WAITING_OCTETS, retryMs = RETRY_MS } = options;
  const state: WriterState = {
    options,
    maxQueued,
    retryMs,
    lines: [],
    characters: 0,
    chunk: null,
    descriptor: file === null ? STDOUT : null,
    stale: false,
    busy: null,
    timer: null,
    failing: false,
    ended: false,
    torn: false,
    unreported: 0,
    counts: { written: 0, dropped: 0, failures: 0 },
  };
  return {
    full: () => isFull(state),
    add: (line) => addLine(state, line),
    drop: () => {
      drop(state, 1);
      scheduleWrite(state);
    },
    reopen() {
      if (file === null) return;
      state.stale = true;
      flush(state);
    },
    stats: () => ({ ...state.counts, queued: state.lines.length + (state.chunk?.lines ?? 0) }),
    close: () => end(state),
  };
}

function isFull({ characters, chunk, maxQueued }: WriterState): boolean {
  return characters + (chunk?.bytes.length ?? 0) >= maxQueued;
}

function addLine(state: WriterState, line: string): void {
  if (isFull(state) || state.ended) return void drop(state, 1);
  state.lines.push(line);
  state.characters += line.length + 1;
  if (state.characters >= WRITE_OCTETS && !state.failing) flush(state);
  else scheduleWrite(state);
}

function drop(state: WriterState, lines: number): void {
  state.counts.dropped += lines;
  state.unreported += lines;
}

function scheduleWrite(state: WriterState): void {
  schedule(state, state.failing ? state.retryMs : WRITE_MS);
}

function schedule(state: WriterState, ms: number): void {
  if (state.timer !== null || state.busy !== null) return;
  state.timer = setTimeout(flush, ms, state);
  state.timer.unref();
}

/** Writes the queue, unless a write is under way, which then continues with it. */
function flush(state: WriterState): void {
  if (state.timer !== null) clearTimeout(state.timer);
  state.timer = null;
  state.busy ??= writeQueue(state).finally(() => {
    state.busy = null;
    const isPending = state.lines.length > 0 || state.chunk !== null || state.stale;
    if (!state.ended && isPending) schedule(state, state.failing ? state.retryMs : 0);
  });
}

async function writeQueue(state: WriterState): Promise<void> {
  const { file, onFault } = state.options;
  try {
    if (state.stale) await closeDescriptor(state);
    state.descriptor ??= await openFile(file!, APPEND, PRIVATE);
    while (takeChunk(state)) await writeChunk(state, state.descriptor);
    state.failing = false;
  } catch (error) {
    state.counts.failures++;
    // INVARIANT: half a line is never completed later, since the file may be another one by then.
    if (state.chunk !== null && state.chunk.from > 0) abandon(state, state.chunk);
    if (!state.failing) onFault(error);
    state.failing = true;
    state.stale = file !== null;
  }
}

async function closeDescriptor(state: WriterState): Promise<void> {
  const { file } = state.options;
  state.stale = false;
  const old = state.descriptor;
  state.descriptor = file === null ? STDOUT : null;
  if (old !== null && file !== null) await closeFile(old);
}

/** Makes a chunk of the queued lines. @returns `false`: there is nothing to write */
function takeChunk(state: WriterState): boolean {
  if (state.chunk !== null) return true;
  const { lines, unreported } = state;
  if (lines.length === 0 && unreported === 0) return false;
  const count = lines.length;
  if (unreported > 0) lines.push(state.options.gap(unreported));
  const bytes = Buffer.from(`${state.torn ? '\n' : ''}${lines.join('\n')}\n`, 'utf8');
  state.lines = [];
  state.characters = 0;
  state.chunk = { bytes, from: 0, lines: count, gap: unreported };
  state.unreported = 0;
  return true;
}

async function writeChunk(state: WriterState, descriptor: number): Promise<void> {
  const chunk = state.chunk!;
  while (chunk.from < chunk.bytes.length) chunk.from += await append(descriptor, chunk.bytes, chunk.from);
  state.counts.written += chunk.lines;
  state.torn = false;
  state.chunk = null;
}

/** Drops a chunk of which a part is written: its whole lines count as written, the rest as dropped. */
function abandon(state: WriterState, { bytes, from, lines, gap }: Chunk): void {
  let whole = 0;
  for (let at = bytes.indexOf(LF); at >= 0 && at < from; at = bytes.indexOf(LF, at + 1)) whole++;
  const written = Math.min(lines, state.torn ? Math.max(0, whole - 1) : whole);
  state.counts.written += written;
  drop(state, lines - written);
  state.unreported += gap;
  state.torn = bytes[from - 1] !== LF;
  state.chunk = null;
}

async function end(state: WriterState): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  // INVARIANT: this timer is referenced and keeps the process alive; a full pipe alone does not.
  const timeLimit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FLUSH_ON_STOP_MS);
  });
  await Promise.race([writeAll(state), timeLimit]);
  clearTimeout(timer);
  state.ended = true;
  if (state.timer !== null) clearTimeout(state.timer);
  if (state.busy === null) await closeDescriptor(state).catch(state.options.onFault);
}

/** Tries until everything is written, or `end` gives up. */
async function writeAll(state: WriterState): Promise<void> {
  await state.busy;
  for (;;) {
    flush(state);
    await state.busy;
    if (state.ended || (state.lines.length === 0 && state.chunk === null)) return;
    await new Promise((resolve) => setTimeout(resolve, PIPE_MS).unref());
  }
}

/** Resolves to the number of octets written; a full pipe accepts none for now. */
function append(descriptor: number, bytes: Buffer, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, from, bytes.length - from, null, (error, count) => {
      if (error === null) resolve(count);
      else if (error.code === 'EAGAIN') setTimeout(() => resolve(0), PIPE_MS).unref();
      else reject(error);
    });
  });
}
