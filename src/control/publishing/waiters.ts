/**
 * Requests that wait for a revision that covers their write. A revision of this process resolves them at once; one of
 * another process is found through the store's hints and, behind them, by polling.
 */
import type { Store } from '../store/store.ts';
import type { RevisionRow } from '../store/tables/plans.ts';

/** Milliseconds between two reads of the store while a request waits. */
const POLL_MS = 250;

export interface AwaitedRevision {
  readonly domainId: number;
  readonly outboxId: number;
  /** Ends the waiting: the answer is `null`. */
  readonly signal: AbortSignal;
}

export interface Waiters {
  waitFor(wish: AwaitedRevision): Promise<RevisionRow | null>;
  /** Resolves the requests that a revision of this process covers. */
  published(revision: RevisionRow): void;
  /** Resolves all requests with `null`. */
  stop(): void;
}

interface Waiter {
  readonly domainId: number;
  readonly outboxId: number;
  readonly answer: (revision: RevisionRow | null) => void;
}

export function createWaiters(store: Store): Waiters {
  const waiting = new Set<Waiter>();
  let unlisten: (() => void) | null = null;
  let timer: NodeJS.Timeout | null = null;
  let reading = false;
  let hinted = false;

  async function readCovering(): Promise<void> {
    if (reading) {
      hinted = true;
      return;
    }
    reading = true;
    do {
      hinted = false;
      for (const waiter of [...waiting]) {
        try {
          const revision = await store.latest.plans.covering(waiter.domainId, waiter.outboxId);
          if (revision !== null) waiter.answer(revision);
        } catch {
          // Writers report a fault of the store; a waiting request is resolved once the store is back, or by its signal.
        }
      }
    } while (hinted);
    reading = false;
  }

  function begin(): void {
    unlisten ??= store.listen((change) => {
      if (change === 'manifest' || change === 'unknown') void readCovering();
    });
    timer ??= setInterval(() => void readCovering(), POLL_MS).unref();
  }

  function end(): void {
    unlisten?.();
    unlisten = null;
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  return {
    waitFor({ domainId, outboxId, signal }) {
      if (signal.aborted) return Promise.resolve(null);
      return new Promise((resolve) => {
        const giveUp = (): void => answer(null);
        const answer = (revision: RevisionRow | null): void => {
          signal.removeEventListener('abort', giveUp);
          waiting.delete(waiter);
          if (waiting.size === 0) end();
          resolve(revision);
        };
        const waiter: Waiter = { domainId, outboxId, answer };
        signal.addEventListener('abort', giveUp);
        waiting.add(waiter);
        begin();
        // The write may be covered already.
        void readCovering();
      });
    },
    published(revision) {
      for (const waiter of [...waiting]) {
        if (waiter.domainId === revision.domain_id && waiter.outboxId <= revision.through)
          waiter.answer(revision);
      }
    },
    stop() {
      for (const waiter of [...waiting]) waiter.answer(null);
    },
  };
}
