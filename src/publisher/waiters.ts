/**
 * Who waits for a revision that covers a write. A revision made in this process answers at once; one made by another is
 * seen through the store's hints and, behind them, by asking every so often.
 */
import type { RevisionRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds between questions to the store while anyone waits. */
const ASK_MS = 250;

export interface AwaitedRevision {
  readonly domainId: number;
  readonly outboxId: number;
  /** Ends the waiting: the answer is `null`. */
  readonly signal: AbortSignal;
}

export interface Waiters {
  waitFor(wish: AwaitedRevision): Promise<RevisionRow | null>;
  /** Answers those whom a revision made here covers. */
  published(revision: RevisionRow): void;
  /** Answers everyone `null`. */
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
  let asking = false;
  let hinted = false;

  async function ask(): Promise<void> {
    if (asking) {
      hinted = true;
      return;
    }
    asking = true;
    do {
      hinted = false;
      for (const waiter of [...waiting]) {
        try {
          const revision = await store.latest.plans.covering(waiter.domainId, waiter.outboxId);
          if (revision !== null) waiter.answer(revision);
        } catch {
          // The store's trouble is told where it is written to; whoever waits is answered when it is back, or in time.
        }
      }
    } while (hinted);
    asking = false;
  }

  function begin(): void {
    unlisten ??= store.listen((change) => {
      if (change === 'manifest' || change === 'unknown') void ask();
    });
    timer ??= setInterval(() => void ask(), ASK_MS).unref();
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
        // It may have been covered before anyone listened.
        void ask();
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
