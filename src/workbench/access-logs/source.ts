/** A log as a source of requests: its chunks are split into lines, each is read, and what cannot be read is counted. */
import { isAscii } from 'node:buffer';
import { sizeText } from '../../rules/files/size.ts';
import type { AccessEntry, LineNote, LineReader } from './entry.ts';
import type { Timed, TimedSource } from './in-order.ts';

/**
 * The longest line in octets. nginx writes at most 4 × 32 KiB of request head in its largest usual buffers, each octet as
 * four characters: half of it.
 */
export const LONGEST_LOG_LINE = 1024 * 1024;

/** What the lines of some logs came to. */
export interface LogTally {
  /** Lines, without blank ones and comments. */
  lines: number;
  /** Lines of connections without an HTTP request. */
  noRequest: number;
  unreadable: number;
  /** The place of the first unreadable line and the reason. */
  firstUnreadable: string | null;
}

/** Counters at zero. */
export function createTally(): LogTally {
  return { lines: 0, noRequest: 0, unreadable: 0, firstUnreadable: null };
}

/** A log to read. */
export interface LogInput<Item> {
  readonly file: string;
  readonly chunks: AsyncIterator<Uint8Array>;
  /** Reads a line; `null`: it has no item, which the reader has counted. Lines count from 1. */
  readonly read: (line: string, number: number) => Item | null;
  /** Receives the place and the reason of lines that are too long to be read. */
  readonly onUnreadable: (at: string, reason: string) => void;
}

/** Creates the source of a log. */
export function createSource<Item extends Timed>(input: LogInput<Item>): TimedSource<Item> {
  const { file, chunks, read, onUnreadable } = input;
  const lines = createLogLines();
  let number = 0;
  let ended = false;
  return {
    next() {
      for (;;) {
        const line = lines.next();
        if (line === null) return null;
        number++;
        if (line === undefined) {
          onUnreadable(`${file}:${number}`, `the line is longer than ${sizeText(LONGEST_LOG_LINE)}`);
          continue;
        }
        const item = read(line, number);
        if (item !== null) return item;
      }
    },
    async fill() {
      if (ended) return false;
      const { value, done } = await chunks.next();
      if (done === true) {
        ended = true;
        // The last line may have no line feed.
        lines.end();
      } else lines.push(value);
      return true;
    },
  };
}

/** Counts a line that cannot be read. */
export function countUnreadable(tally: LogTally, at: string, reason: string): void {
  tally.lines++;
  tally.unreadable++;
  tally.firstUnreadable ??= `${at}: ${reason}`;
}

/** The `read` of an access log: the reader of its format with the counts of its notes. */
export function countedReader(
  reader: LineReader,
  { file, tally }: { readonly file: string; readonly tally: LogTally },
): (line: string, number: number) => AccessEntry | null {
  const count = (note: LineNote, number: number): null => {
    if (note.kind === 'unreadable') countUnreadable(tally, `${file}:${number}`, note.reason);
    else if (note.kind === 'no_request') {
      tally.lines++;
      tally.noRequest++;
    }
    return null;
  };
  return (line, number) => {
    const entry = reader(line);
    if (entry.kind !== 'request') return count(entry, number);
    tally.lines++;
    entry.file = file;
    entry.line = number;
    return entry;
  };
}

// Splits a log into lines. Chunks of octets go in; lines come out one by one without waiting, since waiting for each
// would take longer than reading it. Only the current chunk and the part of a line before it are stored.

/** The lines of one log. */
export interface LogLines {
  /**
   * The next line without its end; `null`: the next chunk is needed, or after `end` that there are no more. `undefined`:
   * a line that is longer than `LONGEST_LOG_LINE`, without its text.
   */
  next(): string | null | undefined;
  /** Adds a chunk, once `next` has returned `null`. */
  push(chunk: Uint8Array): void;
  /** Ends the log: what is after its last line feed is a line too. */
  end(): void;
}

// Octets above 0x7F as Latin-1 characters.
const HIGH = /[\u0080-\u00ff]/;

/** Creates an empty log. */
export function createLogLines(): LogLines {
  let text = '';
  let at = 0;
  let ascii = true;
  // The start of a line that the chunk ends in, and whether it is too long to be stored.
  let start = '';
  let startAscii = true;
  let overlong = false;
  let ended = false;

  function finish(rest: string): string | undefined {
    const whole = start === '' ? rest : start + rest;
    const plain = ascii && startAscii;
    const tooLong = overlong || whole.length > LONGEST_LOG_LINE;
    start = '';
    startAscii = true;
    overlong = false;
    if (tooLong) return undefined;
    const line = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
    return plain || !HIGH.test(line) ? line : Buffer.from(line, 'latin1').toString();
  }

  return {
    next() {
      // PERF: one-octet strings are scanned with memchr, and a slice of one is not copied.
      const end = text.indexOf('\n', at);
      if (end >= 0) {
        const rest = text.slice(at, end);
        at = end + 1;
        return finish(rest);
      }
      if (at < text.length) {
        if (start.length + text.length - at > LONGEST_LOG_LINE) overlong = true;
        start = overlong ? '' : start + text.slice(at);
        startAscii &&= ascii;
      }
      text = '';
      at = 0;
      if (!ended || (start === '' && !overlong)) return null;
      return finish('');
    },
    push(chunk) {
      text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
      ascii = isAscii(chunk);
      at = 0;
    },
    end() {
      ended = true;
    },
  };
}

/** Hosts of a log that are cached; beyond, all are forgotten. */
const MAX_HOSTS = 1_024;

/** Creates an empty cache. */
export function createHostCache(): (host: string) => string {
  const known = new Map<string, string>();
  return (host) => {
    const cached = known.get(host);
    if (cached !== undefined) return cached;
    if (known.size >= MAX_HOSTS) known.clear();
    const copy = Buffer.from(host).toString();
    known.set(copy, copy);
    return copy;
  };
}
