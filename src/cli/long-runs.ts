/**
 * Commands that run until a signal ends them: a listener that cannot be opened, the end in order, and `--watch`, which
 * runs a command again whenever a file that it reads changes.
 */
import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { followPaths } from '../base/platform/followed-paths.ts';
import { quantity, visible } from '../workbench/simulation/render-text.ts';
import { CommandFault, EXIT, usageFault } from './exit.ts';
import { note, noteFault, write } from './output.ts';

/** The most files that `--watch` follows: a rule set of signatures has hundreds, and each costs a stat a second. */
const MAX_WATCHED_FILES = 5_000;

/** The address of a command's listeners. */
export interface ListenPlaces {
  /** The value of `--host`. */
  readonly host: string;
  /** The port of each option; `undefined`: the option was not given. */
  readonly ports: Readonly<Record<string, number | undefined>>;
}

/** The first port that needs no privilege, unless the system is set up otherwise (`net.ipv4.ip_unprivileged_port_start`). */
const FIRST_FREE_PORT = 1_024;

/** The fault to print; `null` when the error is not one of `listen`. */
export function listenFault(error: unknown, { host, ports }: ListenPlaces): CommandFault | null {
  const { code, port, syscall, address } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EADDRNOTAVAIL') {
    if (syscall !== 'listen' && syscall !== 'bind' && syscall !== 'getaddrinfo') return null;
    const message = `\`${address ?? host}\` is no address of this machine`;
    const remedy = '--host takes one of its own: 127.0.0.1 for this machine alone, 0.0.0.0 or :: for all';
    return new CommandFault(EXIT.server, message, { cause: error, remedy });
  }
  if ((syscall !== 'listen' && syscall !== 'bind') || port === undefined) return null;
  const options = Object.keys(ports).filter((option) => ports[option] === port);
  const option = options[0] ?? '--port';
  if (code === 'EADDRINUSE') {
    // One port for two options: the second listener finds the first.
    if (options.length > 1) return usageFault(`${options.join(' and ')} are the same port, ${port}`);
    const remedy = `choose another with ${option}, or end the process that listens there`;
    return new CommandFault(EXIT.server, `port ${port} is taken`, { cause: error, remedy });
  }
  if (code !== 'EACCES' && code !== 'EPERM') return null;
  const remedy =
    port < FIRST_FREE_PORT
      ? `choose a port from ${FIRST_FREE_PORT} with ${option}, or give Node the right to this one: setcap cap_net_bind_service=+ep, authbind, or AmbientCapabilities= of systemd`
      : `choose another with ${option}; a security policy of this system forbids it`;
  return new CommandFault(EXIT.server, `this process has no right to port ${port}`, { cause: error, remedy });
}

/** Options of `stopOnSignals`. */
export interface SignalOptions {
  /** Called on SIGHUP instead of stopping: reopens a rotated log. */
  readonly onHangUp?: () => void;
}

/** Calls `stop` on SIGTERM, SIGINT and SIGHUP. A second signal ends the process at once with exit code 4. */
export function stopOnSignals(
  stop: (signal: NodeJS.Signals) => Promise<void>,
  { onHangUp }: SignalOptions = {},
): void {
  let stopping = false;
  const end = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(EXIT.server);
    stopping = true;
    stop(signal).catch((error: unknown) => {
      note(`edgeplan: the end was not clean: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = EXIT.server;
    });
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end);
  // Without `onHangUp`, SIGHUP means that the terminal was closed.
  process.on('SIGHUP', onHangUp ?? end);
}

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
