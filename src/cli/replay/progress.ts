/** Progress of a replay on a terminal: a bar, the rate and the time left, in one line that is written again. */
import { note } from '../output.ts';
import { barText, createProgressLine } from '../print/progress-line.ts';
import { durationText, grouped } from '../print/table.ts';

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
  const line = createProgressLine(shown);
  const started = performance.now();
  let done = 0;
  let finished = started;

  return {
    read(more) {
      done += more;
      line.draw(() => progressText({ done, octets, lines: lines(), elapsedMs: performance.now() - started }));
    },
    clear() {
      line.clear();
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
