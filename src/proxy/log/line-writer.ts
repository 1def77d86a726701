/**
 * Appends lines to a file, or to stdout, behind the caller's back: a line is taken or dropped at once, whatever the disk
 * does. What waits is bounded; what does not fit, or cannot be written, is dropped and counted, and the log itself says
 * at that place how much is missing.
 */
import { close, constants, open, write } from 'node:fs';
import { promisify } from 'node:util';
import { FLUSH_ON_STOP_MS, MAX_WAITING_OCTETS, RETRY_MS, WRITE_MS, WRITE_OCTETS } from './limits.ts';

export interface LineWriter {
  /** Whether a line would be dropped: none needs to be made then, see `drop`. */
  full(): boolean;
  /** Takes a line without its line break. */
  add(line: string): void;
  /** Counts a line that was not even made. */
  drop(): void;
  /** Opens the file anew, after it was moved away; what waits goes to the new one. */
  reopen(): void;
  stats(): WriterStats;
  /** Writes what waits, as far as that is possible within two seconds, and ends. */
  close(): Promise<void>;
}

export interface WriterStats {
  /** Lines written, dropped, and waiting. */
  readonly written: number;
  readonly dropped: number;
  readonly queued: number;
  /** Writes and opens that failed. */
  readonly failures: number;
}

export interface WriterOptions {
  /** A path; `null` is stdout. */
  readonly file: string | null;
  /** A line that says that so many are missing here. */
  readonly gap: (dropped: number) => string;
  /** Told once when writing begins to fail, and not again before it has worked. */
  readonly onFault: (error: unknown) => void;
  /** Octets that may wait. */
  readonly maxQueued?: number;
  readonly retryMs?: number;
}

/** Milliseconds until a pipe whose reader is behind is tried again, and anything at the end. */
const PIPE_MS = 20;

const openFile = promisify(open);
const closeFile = promisify(close);

/** Rights of a new log: it holds addresses of visitors. */
const PRIVATE = 0o640;
const STDOUT = 1;
/**
 * A pipe without a reader fails to open then, which is tried again; waited for in the system it would hold a thread, and
 * no process ends while one is held so.
 */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;

interface Chunk {
  readonly bytes: Buffer;
  /** Of the octets already written. */
  from: number;
  readonly lines: number;
  /** How many dropped lines it tells of, in a line of its own at the end. */
  readonly tells: number;
}

export function createLineWriter(options: WriterOptions): LineWriter {
  const { file, onFault } = options;
  const maxWaiting = options.maxQueued ?? MAX_WAITING_OCTETS;
  const retryMs = options.retryMs ?? RETRY_MS;
  let lines: string[] = [];
  /** Characters of `lines`, which stand for at least as many octets, and octets of `chunk`. */
  let gathered = 0;
  let chunk: Chunk | null = null;
  let descriptor: number | null = file === null ? STDOUT : null;
  let stale = false;
  let busy: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let failing = false;
  let ending = false;
  /** The file ends within a line, since a write was cut short there. */
  let torn = false;
  let untold = 0;
  const counts = { written: 0, dropped: 0, failures: 0 };

  function drop(count: number): void {
    counts.dropped += count;
    untold += count;
  }

  function schedule(ms: number): void {
    if (timer !== null || busy !== null) return;
    timer = setTimeout(flush, ms);
    timer.unref();
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    busy ??= run().finally(() => {
      busy = null;
      if (!ending && (lines.length > 0 || chunk !== null || stale)) schedule(failing ? retryMs : 0);
    });
  }

  async function run(): Promise<void> {
    try {
      if (stale) await shut();
      descriptor ??= await openFile(file!, APPEND, PRIVATE);
      while (takeChunk()) await writeChunk(descriptor);
      failing = false;
    } catch (error) {
      counts.failures++;
      // INVARIANT: half a line is never completed later: the file may be another one by then.
      if (chunk !== null && chunk.from > 0) abandon(chunk);
      if (!failing) onFault(error);
      failing = true;
      stale = file !== null;
    }
  }

  async function shut(): Promise<void> {
    stale = false;
    const old = descriptor;
    descriptor = file === null ? STDOUT : null;
    if (old !== null && file !== null) await closeFile(old);
  }

  function takeChunk(): boolean {
    if (chunk !== null) return true;
    if (lines.length === 0 && untold === 0) return false;
    const count = lines.length;
    if (untold > 0) lines.push(options.gap(untold));
    const bytes = Buffer.from(`${torn ? '\n' : ''}${lines.join('\n')}\n`, 'utf8');
    lines = [];
    gathered = 0;
    chunk = { bytes, from: 0, lines: count, tells: untold };
    untold = 0;
    return true;
  }

  async function writeChunk(to: number): Promise<void> {
    const { bytes } = chunk!;
    while (chunk!.from < bytes.length) chunk!.from += await append(to, bytes, chunk!.from);
    counts.written += chunk!.lines;
    torn = false;
    chunk = null;
  }

  /** Tries until everything is written; the caller ends it. */
  async function writeAll(): Promise<void> {
    await busy;
    for (;;) {
      flush();
      await busy;
      if (ending || (lines.length === 0 && chunk === null)) return;
      await new Promise((resolve) => setTimeout(resolve, PIPE_MS).unref());
    }
  }

  /** Gives up a chunk of which a part is written: its whole lines count, the rest is dropped. */
  function abandon({ bytes, from, lines: all, tells }: Chunk): void {
    let whole = 0;
    for (let at = bytes.indexOf(10); at >= 0 && at < from; at = bytes.indexOf(10, at + 1)) whole++;
    const written = Math.min(all, torn ? Math.max(0, whole - 1) : whole);
    counts.written += written;
    drop(all - written);
    untold += tells;
    torn = bytes[from - 1] !== 10;
    chunk = null;
  }

  return {
    full: () => gathered + (chunk?.bytes.length ?? 0) >= maxWaiting,
    add(line) {
      if (this.full() || ending) return drop(1);
      lines.push(line);
      gathered += line.length + 1;
      if (gathered >= WRITE_OCTETS && !failing) flush();
      else schedule(failing ? retryMs : WRITE_MS);
    },
    drop: () => {
      drop(1);
      schedule(failing ? retryMs : WRITE_MS);
    },
    reopen() {
      if (file === null) return;
      stale = true;
      flush();
    },
    stats: () => ({ ...counts, queued: lines.length + (chunk?.lines ?? 0) }),
    async close() {
      let late: NodeJS.Timeout | undefined;
      // INVARIANT: it keeps the process alive, which a pipe that is full does not.
      const patience = new Promise<void>((resolve) => {
        late = setTimeout(resolve, FLUSH_ON_STOP_MS);
      });
      await Promise.race([writeAll(), patience]);
      clearTimeout(late);
      ending = true;
      if (timer !== null) clearTimeout(timer);
      if (busy === null) await shut().catch(onFault);
    },
  };
}

/** Writes on; answers how many octets went. A pipe that is full takes none for now. */
function append(to: number, bytes: Buffer, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(to, bytes, from, bytes.length - from, null, (error, count) => {
      if (error === null) resolve(count);
      else if (error.code === 'EAGAIN') setTimeout(() => resolve(0), PIPE_MS).unref();
      else reject(error);
    });
  });
}
