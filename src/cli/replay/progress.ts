/** Progress of a replay on a terminal: a bar, the rate and the time left, in one line that is written again. */
import { note } from '../output.ts';
import { durationText, grouped } from '../print/table.ts';

/** Milliseconds between two lines: fast enough to look alive, slow enough to be read. */
const REDRAWN_MS = 200;
/** Characters of the bar. */
const BAR = 24;

/** What the progress counts. */
export interface ProgressOptions {
  /** Whether a line is drawn at all. */
  readonly shown: boolean;
  /** Octets of all logs; `null`: unknown, so there is neither bar nor time left. */
  readonly octets: number | null;
  /** Lines that were read. */
  readonly lines: () => number;
}

/** The progress of one replay. */
export interface ReplayProgress {
  /** Counts octets that were read, and draws when it is time. */
  read(octets: number): void;
  /** Removes the line; the logs have been read, or cannot be. */
  clear(): void;
  /** Reports the rate on stderr. */
  report(): void;
}

/** Starts the clock. */
export function createProgress({ shown, octets, lines }: ProgressOptions): ReplayProgress {
  const started = performance.now();
  let done = 0;
  let drawn = started;
  let finished = started;

  function draw(now: number): void {
    drawn = now;
    const state = { done, octets, lines: lines(), elapsedMs: now - started };
    process.stderr.write(`\r\u001b[K${progressText(state)}`);
  }

  return {
    read(more) {
      done += more;
      const now = performance.now();
      if (shown && now - drawn >= REDRAWN_MS) draw(now);
    },
    clear() {
      if (drawn !== started) process.stderr.write('\r\u001b[K');
      finished = performance.now();
    },
    report() {
      const seconds = Math.max(0.001, (finished - started) / 1_000);
      const read = `${grouped(lines())} ${lines() === 1 ? 'line' : 'lines'}`;
      note(
        `edgeplan: ${read} in ${seconds.toFixed(1)} s, ${grouped(Math.round(lines() / seconds))} a second`,
      );
    },
  };
}

/** How far a replay is. */
interface ProgressState {
  /** Octets that were read, and octets of all logs; `null`: unknown. */
  readonly done: number;
  readonly octets: number | null;
  readonly lines: number;
  readonly elapsedMs: number;
}

/** `[########                ]  33 %  120,000 lines, 240,000 a second, 4 s left`. */
export function progressText({ done, octets, lines, elapsedMs }: ProgressState): string {
  const rate = `${grouped(lines)} lines, ${grouped(Math.round(lines / (elapsedMs / 1_000)))} a second`;
  if (octets === null || done === 0) return rate;
  const left = durationText((elapsedMs / done) * Math.max(0, octets - done));
  return `${barText(done, octets)}  ${rate}, ${left} left`;
}

/** `[########                ]  33 %`. */
export function barText(done: number, all: number): string {
  const share = Math.min(1, done / all);
  const full = Math.floor(share * BAR);
  return `[${'#'.repeat(full)}${' '.repeat(BAR - full)}] ${String(Math.floor(share * 100)).padStart(3)} %`;
}
