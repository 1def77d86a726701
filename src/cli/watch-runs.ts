/** `--watch`: runs a command again whenever a file that it reads changes, until a signal ends it. */
import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { followPaths } from '../base/platform/followed-paths.ts';
import { quantity, visible } from '../workbench/simulation/render-text.ts';
import { CommandFault, EXIT, usageFault } from './exit.ts';
import { MAX_WATCHED_FILES } from './limits.ts';
import { note, noteFault, write } from './output.ts';
import { stopOnSignals } from './stop-on-signals.ts';

/** What is run again. */
export interface WatchedCommand {
  /** The files and folders that a run reads. */
  readonly paths: () => readonly string[];
  /** Prints a result and sets the exit code, or throws a `CommandFault`. */
  readonly run: () => Promise<void>;
}

/** Changed files that a header names. */
const MOST_NAMED = 3;

/** Clears a terminal and what can be scrolled back. */
const CLEAR = '\u001b[2J\u001b[3J\u001b[H';

/** `--watch`. */
export function watchOption(): Option {
  return new Option('-w, --watch', 'run again whenever a file that is read changes; Ctrl-C ends with 0');
}

/**
 * Runs the command now and after each change. A fault is printed and waits for the next change; only a mistake of the command
 * line ends the first run. A signal ends with exit code 0: what was asked for, watching, has worked.
 * @throws CommandFault with exit code 2
 */
export async function watchRuns({ paths, run }: WatchedCommand): Promise<void> {
  let known = paths();
  if (known.includes('-'))
    throw usageFault('--watch needs files: stdin is read once', 'name a file instead of -');
  /** The paths now; while they cannot be found, such as in a folder that is replaced, those before. */
  const current = (): readonly string[] => {
    try {
      known = paths();
    } catch (error) {
      if (!(error instanceof CommandFault)) throw error;
    }
    return known;
  };
  const followed = followPaths({ paths: current, most: MAX_WATCHED_FILES });
  let first = true;
  let running = false;
  stopOnSignals(async () => {
    followed.stop();
    // A result that nobody waits for any more.
    if (running) process.exit(EXIT.fine);
  });
  for (let changed: readonly string[] = []; first || changed.length > 0; changed = await followed.next()) {
    await printHeader(changed);
    process.exitCode = EXIT.fine;
    running = true;
    try {
      await run();
    } catch (error) {
      if (first && error instanceof CommandFault && error.exitCode === EXIT.usage) {
        followed.stop();
        throw error;
      }
      noteError(error);
    }
    running = false;
    first = false;
    note(`watching ${watchedText(known)}; Ctrl-C ends`);
  }
  process.exitCode = EXIT.fine;
}

/** Prints an error without ending the process. */
function noteError(error: unknown): void {
  if (error instanceof CommandFault) {
    noteFault(error);
    return;
  }
  note(`edgeplan: this is a bug in edgeplan: ${error instanceof Error ? error.message : String(error)}`);
}

/** Prints the time and what changed, on a cleared screen if stdout is a terminal. */
async function printHeader(changed: readonly string[]): Promise<void> {
  if (process.stdout.isTTY === true) await write(CLEAR);
  if (changed.length === 0) return;
  const named = changed.slice(0, MOST_NAMED).join(', ');
  const rest = changed.length - MOST_NAMED;
  const more = rest > 0 ? ` and ${rest} more` : '';
  note(visible(`[${new Date().toTimeString().slice(0, 8)}] changed: ${named}${more}`));
}

/** `edge.yaml, edge.test.yaml`, or the number of paths. */
function watchedText(known: readonly string[]): string {
  const paths = known.filter((path) => existsSync(path));
  return paths.length <= MOST_NAMED ? visible(paths.join(', ')) : quantity(paths.length, 'path');
}
