/** How a command that serves ends: by a signal, in order. */
import { EXIT } from './exit.ts';
import { note } from './output.ts';

export interface SignalOptions {
  /** What SIGHUP does instead of ending: a log was moved away. */
  readonly onHangUp?: () => void;
}

/** The first signal lets `stop` run to its end, the second one does not wait. */
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
  // Without a log to reopen, SIGHUP says that the terminal was closed.
  process.on('SIGHUP', onHangUp ?? end);
}
