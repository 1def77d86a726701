/**
 * The log of decisions of a server: where nodes' entries go, and how long they are stored. In: the value of `--decision-logs` and
 * the store of the server. Out: the log store with its regular removal of old days, and what the API's routes need.
 */
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { PRUNE_MS } from '../control/logs/limits.ts';
import { LogFault, type LogStore } from '../control/logs/log-store.ts';
import { openLogs } from '../control/logs/open-logs.ts';
import type { LogPlaceOfStore } from '../control/logs/place.ts';
import { createNodeRates, type LogIntake } from '../control/logs/take-batch.ts';
import type { Store } from '../control/store/store.ts';

/** Where entries go: `store` beside the other data, `off` nowhere, else a path, or `-` for stdout. */
export interface DecisionLogTarget {
  readonly to: string;
  /** Days that entries are stored, today included. */
  readonly days: number;
}

/** The open log of a server. */
export interface DecisionLogs {
  /** For searches; absent: the server stores no entries. */
  readonly search: LogStore | null;
  readonly intake: LogIntake;
  /** Finishes running calls, and closes the files or connections. */
  close(): Promise<void>;
}

interface DecisionLogParts {
  readonly store: Pick<Store, 'place'>;
  readonly log: Logger;
  readonly onAppended: LogIntake['onAppended'];
  /** Called with the code of a fault for each batch that could not be stored. */
  readonly onFailed: (code: string) => void;
}

/** Opens the log; `null`: it is off. */
export function openDecisionLogs(
  { to, days }: DecisionLogTarget,
  { store, log, onAppended, onFailed }: DecisionLogParts,
): DecisionLogs | null {
  if (to === 'off') return null;
  const logs = openLogs({
    place: to === 'store' ? placeBeside(store, days) : { kind: 'lines', file: to, days },
  });
  const pruning = setInterval(() => prune(logs, log), PRUNE_MS);
  prune(logs, log);
  let isFailing = false;
  return {
    search: to === 'store' ? logs : null,
    intake: {
      store: logs,
      rates: createNodeRates(Date.now),
      onAppended(result) {
        if (isFailing) log.info('log entries of nodes are stored again');
        isFailing = false;
        onAppended(result);
      },
      onFault(error) {
        onFailed(error instanceof LogFault ? error.code : 'unavailable');
        // Once, and not for every batch of every node until it works again.
        if (!isFailing)
          log.error({ err: error }, 'log entries of nodes cannot be stored; nodes send them again');
        isFailing = true;
      },
    },
    async close() {
      clearInterval(pruning);
      await logs.close();
    },
  };
}

/** The folder `logs` beside the embedded database, or tables of the PostgreSQL database. */
function placeBeside({ place }: Pick<Store, 'place'>, days: number): LogPlaceOfStore {
  if (place.database === 'sqlite') return { kind: 'sqlite', folder: join(dirname(place.file), 'logs'), days };
  return { kind: 'postgres', access: place.access, days };
}

function prune(logs: LogStore, log: Logger): void {
  logs
    .prune(Date.now())
    .then((days) => {
      if (days > 0) log.info({ days }, 'days of log entries were removed');
    })
    .catch((error: unknown) => log.warn({ err: error }, 'old log entries not removed; will retry'));
}
