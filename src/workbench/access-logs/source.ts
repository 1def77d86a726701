/** A log as a source of requests: its chunks are split into lines, each is read, and what cannot be read is counted. */
import { sizeText } from '../../rules/files/size.ts';
import type { AccessEntry, LineNote, LineReader } from './entry.ts';
import type { Timed, TimedSource } from './in-order.ts';
import { LONGEST_LOG_LINE } from './limits.ts';
import { createLogLines } from './lines.ts';

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
