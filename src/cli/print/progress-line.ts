/** A line on a terminal's stderr that is written again while a command works. */

/** Milliseconds between two lines: fast enough to look alive, slow enough to be read. */
const REDRAWN_MS = 200;
/** Characters of the bar. */
const BAR = 24;

/** The line. It appears after `REDRAWN_MS`, so a command that is faster prints none. */
export interface ProgressLine {
  /** Writes the text, of one line, if it is time for it. */
  readonly draw: (text: () => string) => void;
  /** Removes the line. */
  readonly clear: () => void;
}

/** Creates a line that is not written yet. `shown`: stderr is a terminal, and the user wants it. */
export function createProgressLine(shown: boolean): ProgressLine {
  const started = performance.now();
  let drawn = started;
  return {
    draw(text) {
      const now = performance.now();
      if (!shown || now - drawn < REDRAWN_MS) return;
      drawn = now;
      // A line that wraps could not be removed.
      process.stderr.write(`\r\u001b[K${text().slice(0, (process.stderr.columns || 80) - 1)}`);
    },
    clear() {
      if (drawn !== started) process.stderr.write('\r\u001b[K');
    },
  };
}

/** `[########                ]  33 %`. */
export function barText(done: number, all: number): string {
  const share = Math.min(1, done / all);
  const full = Math.floor(share * BAR);
  return `[${'#'.repeat(full)}${' '.repeat(BAR - full)}] ${String(Math.floor(share * 100)).padStart(3)} %`;
}
