/**
 * Sums what nodes report of consumers with a quota, and publishes the registry of a domain when the exhausted quotas change. In: a
 * store. Out: exhausted quotas, and notifications of quotas that are nearly or fully used. Several processes may run it on one database:
 * they find the same, and each change is written once.
 */
import { isStoreFault } from '../../base/storage/fault.ts';
import type { ReachedDomain } from '../store/repositories/list-uses.ts';
import type { Store } from '../store/store.ts';
import { SERVICE } from '../store/tables/accounts.ts';
import { isOtherExhausted, readQuotaUses, storeExhausted } from './exhausted.ts';
import { QUOTA_DOMAINS_AT_ONCE, QUOTA_POLL_MS } from './limits.ts';
import { levelChanges, notifyLevels } from './quota-levels.ts';

/** What a watch is created with. */
export interface QuotaWatchOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Milliseconds between two rounds. Default: `QUOTA_POLL_MS`. */
  readonly pollMs?: number;
}

/** The watch of one process. */
export interface QuotaWatch {
  start(): void;
  /** Resolves when the round under way has ended. */
  stop(): Promise<void>;
  /** Checks every domain with a quota, once. Never rejects. */
  round(): Promise<void>;
}

/** Creates a watch. Nothing runs before `start` or a call. */
export function createQuotaWatch(options: QuotaWatchOptions): QuotaWatch {
  const ends = new AbortController();
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  const begin = (): void => {
    running = round(options, ends.signal).finally(() => {
      // Spread, so that several processes do not read at the same moment.
      const waits = (options.pollMs ?? QUOTA_POLL_MS) * (0.75 + Math.random() / 2);
      if (!ends.signal.aborted) timer = setTimeout(begin, waits);
    });
  };
  return {
    start() {
      timer ??= setTimeout(begin, 0);
    },
    async stop() {
      ends.abort();
      if (timer !== null) clearTimeout(timer);
      await running;
    },
    round: () => round(options, ends.signal),
  };
}

async function round(options: QuotaWatchOptions, signal: AbortSignal): Promise<void> {
  const { store, log } = options;
  try {
    for (let after = 0; ; ) {
      const domains = await store.latest.exhaustedQuotas.domains(after, QUOTA_DOMAINS_AT_ONCE);
      for (const domain of domains) {
        if (signal.aborted) return;
        await checkOne(options, domain);
      }
      if (domains.length < QUOTA_DOMAINS_AT_ONCE) return;
      after = domains.at(-1)!.id;
    }
  } catch (error) {
    if (!isStoreFault(error, 'closed')) log.warn({ err: error }, 'quotas were not checked; will retry');
  }
}

/** Checks one domain, after other work of this thread; a fault is logged, and the next round checks it again. */
async function checkOne({ store, clock, log }: QuotaWatchOptions, domain: ReachedDomain): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  try {
    const now = clock();
    // PERF: most rounds find no change, and a write would wait for the disk.
    const seen = await readQuotaUses(store.latest, domain, { now });
    if (!isOtherExhausted(seen) && (await levelChanges(store.latest, seen)) === null) return;
    const isChanged = await store.write(async (tx) => {
      const uses = await readQuotaUses(tx, domain, { now });
      await notifyLevels(tx, uses);
      if (!(await storeExhausted(tx, uses))) return false;
      await tx.outbox.appendLists([domain], { ...SERVICE, at: now, reason: 'quotas of consumers settled' });
      return true;
    });
    if (isChanged) log.info({ domain: domain.name }, 'exhausted quotas of consumers changed');
  } catch (error) {
    if (isStoreFault(error, 'closed')) throw error;
    log.warn({ err: error, domain: domain.name }, 'the quotas of a domain were not checked; will retry');
  }
}
