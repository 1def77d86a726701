/** Ends a serving command on a signal, in order. */
import { EXIT } from './exit.ts';
import { note } from './output.ts';

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
