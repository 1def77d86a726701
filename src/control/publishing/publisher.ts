/**
 * Publishes domains with waiting rows, one revision each, until nothing waits. Several processes may run one publisher
 * each on the same store: claims with a lease divide the work, and `publishDomain` decides between two that claim the same
 * domain. Hints from the store start the work at once; a poll behind them makes a lost hint a delay.
 *
 * This file has the timers; `claim-loop.ts` claims, `attempts.ts` publishes one domain, `publish.ts` makes its revision.
 */
import { steadyNow } from '../../base/text/time.ts';
import type { DomainRow, PendingDomain, RevisionRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { type Attempts, attempt, type FailedAttempt, reportStore } from './attempts.ts';
import { type ClaimLoop, createClaimLoop } from './claim-loop.ts';
import type { PublishedRevision, PublisherLog } from './log.ts';
import { createPacing } from './pacing.ts';
import { createPlanMaker, type PlanMaker } from './plan-maker.ts';
import { pruneAll } from './prune.ts';
import type { EntitlementsFor } from './publish.ts';
import { createWaiters } from './waiters.ts';

/** What a publisher works with. */
export interface PublisherOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Milliseconds by a clock that is never set, for back-off and rest. Default: `steadyNow`. */
  readonly steady?: () => number;
  readonly log: PublisherLog;
  /** Milliseconds between two polls of the store. Default 1,000. */
  readonly pollMs?: number;
  /** Milliseconds after which the claim of a process that died lapses; renewed during a publication. Default 3,000. */
  readonly leaseMs?: number;
  /** No other process publishes from this store: claims that exist at the start are of a process that ended. */
  readonly alone?: boolean;
  /** Makes the plans; closed when the publisher stops. Default: a maker that compiles large plans in a thread. */
  readonly plans?: PlanMaker;
  /** What the owner of a domain has bought, as far as nodes enforce it. Default: everything. */
  readonly entitlementsFor?: EntitlementsFor;
  /** Receives every revision that this process made, for metrics. */
  readonly onPublished?: (published: PublishedRevision) => void;
  /** Receives every failed attempt to make a plan, for notifications. */
  readonly onFailed?: (pending: PendingDomain, failed: FailedAttempt) => void;
}

/** Publishes the domains of one store. */
export interface Publisher {
  /** Starts the hints, the poll and the upkeep. */
  start(): void;
  /** Claims nothing further; resolves once the publications under way have ended. */
  stop(): Promise<void>;
  /**
   * Resolves with a revision that covers an outbox row as soon as a process has published one, or with `null` when
   * `signal` aborts before (`?wait=published`).
   */
  waitForOutbox(
    domain: Pick<DomainRow, 'id' | 'name'>,
    outboxId: number,
    signal: AbortSignal,
  ): Promise<RevisionRow | null>;
  /** Publishes what can be claimed now, started or not; resolves with the number of revisions. */
  publishNow(): Promise<number>;
  /** Domains whose last attempt failed in this process and whose rows no process has published since; for metrics. */
  failing(): readonly { readonly domain: string; readonly attempts: number; readonly message: string }[];
}

const POLL_MS = 1_000;
const LEASE_MS = 3_000;
/** Milliseconds between two runs of the upkeep. */
const UPKEEP_MS = 3_600_000;

export function createPublisher(options: PublisherOptions): Publisher {
  const { store, log, clock = Date.now, steady = steadyNow, leaseMs = LEASE_MS } = options;
  const plans = options.plans ?? createPlanMaker({ store });
  const waiters = createWaiters(store);
  const onStoreFault = (error: unknown): void => reportStore({ log }, error);
  const wake = (): void => {
    if (attempts.started) loop.run().catch(onStoreFault);
  };
  const attempts: Attempts = {
    ...{ store, plans, clock, entitlementsFor: options.entitlementsFor, log, steady, wake },
    failures: new Map(),
    pacing: createPacing(),
    retries: new Set(),
    underWay: new Set(),
    claimedAgain: new Set(),
    started: false,
    onPublished(published) {
      waiters.published(published.revision);
      options.onPublished?.(published);
    },
    onFailed: (pending, failed) => options.onFailed?.(pending, failed),
  };
  const loop: ClaimLoop = createClaimLoop({
    ...{ store, clock, steady, leaseMs, onStoreFault },
    attempt: (pending) => attempt(attempts, pending),
  });
  let stopTimers = (): void => undefined;
  return {
    start() {
      if (attempts.started) return;
      attempts.started = true;
      void loop.resume();
      stopTimers = startTimers(store, { wake, pollMs: options.pollMs ?? POLL_MS, clock, onStoreFault });
      if (options.alone === true) store.write((tx) => tx.outbox.releaseAll()).then(wake, onStoreFault);
      else wake();
    },
    async stop() {
      attempts.started = false;
      stopTimers();
      for (const retry of attempts.retries) clearTimeout(retry);
      attempts.retries.clear();
      await loop.stop();
      await plans.close();
      waiters.stop();
    },
    waitForOutbox: ({ id }, outboxId, signal) => waiters.waitFor({ domainId: id, outboxId, signal }),
    async publishNow() {
      await loop.resume();
      return loop.run();
    },
    failing: () =>
      [...attempts.failures.values()].map(({ domain, attempts: count, message }) => ({
        domain,
        attempts: count,
        message,
      })),
  };
}

interface TimerOptions {
  readonly wake: () => void;
  readonly pollMs: number;
  readonly clock: () => number;
  readonly onStoreFault: (error: unknown) => void;
}

/** Starts the store's hints, the poll and the upkeep; returns the function that stops them. */
function startTimers(store: Store, { wake, pollMs, clock, onStoreFault }: TimerOptions): () => void {
  let poll: NodeJS.Timeout;
  const schedule = (): void => {
    // Spread, so that several processes do not poll at the same moment.
    const delay = pollMs * (0.75 + Math.random() / 2);
    poll = setTimeout(() => {
      wake();
      schedule();
    }, delay).unref();
  };
  const unlisten = store.listen((change) => {
    if (change === 'outbox' || change === 'unknown') wake();
  });
  const upkeep = setInterval(() => {
    clearAway(store, clock()).catch(onStoreFault);
  }, UPKEEP_MS).unref();
  schedule();
  return () => {
    unlisten();
    clearTimeout(poll);
    clearInterval(upkeep);
  };
}

// Removes outdated plans and reports; a publisher runs it every hour.

/** Milliseconds for which answers to superseded revisions are stored. */
const STORED_REPORTS_MS = 7 * 24 * 3_600_000;

/** Removes what is older than its bound, in short transactions. Throws StoreFault. */
export async function clearAway(store: Store, now: number): Promise<void> {
  await pruneAll(store, now);
  await store.write((tx) => tx.nodes.pruneReports(now - STORED_REPORTS_MS));
}
