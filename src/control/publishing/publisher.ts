/**
 * Publishes domains with waiting rows, one revision each, until nothing waits. Several processes may run one publisher
 * each on the same store: claims with a lease divide the work, and `publishDomain` decides between two that claim the same
 * domain. Hints from the store start the work at once; a poll behind them makes a lost hint a delay.
 *
 * This file has the timers and claims domains, `attempts.ts` publishes one domain, `publish.ts` makes its revision.
 */
import { steadyNow } from '../../base/text/time.ts';
import type { Store } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { PendingDomain, RevisionRow } from '../store/tables/plans.ts';
import { type Attempts, attempt, createPacing, type FailedAttempt, reportStore } from './attempts.ts';
import { CLAIMS_UNDER_WAY, SLOW_MS } from './limits.ts';
import type { PublishedRevision, PublisherLog } from './log.ts';
import { createPlanMaker, type PlanMaker } from './plan-maker.ts';
import type { EntitlementsFor } from './publish.ts';
import { pruneAll } from './revisions.ts';
import { createListSealer } from './seal-lists.ts';
import { createWaiters } from './waiters.ts';

/** What a publisher works with. */
export interface PublisherOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Milliseconds of a monotonic clock, for back-off and rest. Default: `steadyNow`. */
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
    lists: createListSealer({ store, plans, clock, cache: plans.cache }),
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

// Claims domains with waiting rows and publishes them until nothing can be claimed. Slow domains do not hold up others:
// the loop claims further ones while they are compiled. Its pace leaves most of the processor to requests of the API.

/** Domains claimed at once, and published side by side so that their commits share a sync of the disk. */
const CLAIMED_AT_ONCE = 16;
const SIDE_BY_SIDE = 4;
/** Milliseconds from one claim to the next while there is work; the first write is published at once. */
const PACE_MS = 15;
/**
 * In a stream of writes, where several had come for one domain, publishing rests this many times as long as it took, so
 * that at most a fifth of the processor goes into revisions that are replaced at once; and at most so many milliseconds.
 */
const REST = 4;
const LONGEST_REST_MS = 250;

export interface ClaimLoopOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly steady: () => number;
  /** Milliseconds after which a claim lapses; renewed three times in it. */
  readonly leaseMs: number;
  /** Publishes one domain; 1 when it made a revision. Never rejects. */
  readonly attempt: (pending: PendingDomain) => Promise<0 | 1>;
  readonly onStoreFault: (error: unknown) => void;
}

interface ClaimLoop {
  /** Runs until nothing can be claimed; resolves with the number of revisions. A call during a run prolongs it. */
  run(): Promise<number>;
  /** Claims nothing further; resolves once the run under way has ended. */
  stop(): Promise<void>;
  /** Ends the effect of `stop`; resolves once the run under way has ended, if there is one. */
  resume(): Promise<void>;
}

interface State extends ClaimLoopOptions {
  running: Promise<number> | null;
  stopping: boolean;
  /** A call of `run` during a run: one more claim follows. */
  again: boolean;
  /** Ends the wait of a run that has nothing to claim. */
  wake: () => void;
}

function createClaimLoop(options: ClaimLoopOptions): ClaimLoop {
  const state: State = {
    ...options,
    running: null,
    stopping: false,
    again: false,
    wake: () => undefined,
  };
  const ended = async (): Promise<void> => {
    await state.running?.catch(() => undefined);
  };
  return {
    run: () => run(state),
    stop() {
      state.stopping = true;
      return ended();
    },
    resume() {
      state.stopping = false;
      return ended();
    },
  };
}

function run(state: State): Promise<number> {
  if (state.running !== null) {
    state.again = true;
    state.wake();
    return state.running;
  }
  state.running = claimAndPublish(state).finally(() => {
    state.running = null;
  });
  return state.running;
}

/** Claims and publishes until nothing can be claimed and nothing is under way. */
async function claimAndPublish(state: State): Promise<number> {
  const { store, clock, steady, leaseMs } = state;
  const batches = new Set<Promise<void>>();
  let made = 0;
  while (!state.stopping) {
    state.again = false;
    const now = clock();
    const claim = { now, until: now + leaseMs, limit: CLAIMED_AT_ONCE };
    const claimed = await store.write((tx) => tx.outbox.claim(claim));
    if (claimed.length > 0) {
      const from = steady();
      const batch = publishAll(state, claimed).then((revisions) => {
        made += revisions;
        batches.delete(batch);
      });
      batches.add(batch);
      // Other domains do not wait for one that takes long.
      await Promise.race([batch, pause(state, SLOW_MS)]);
      await pause(state, restAfter(claimed, steady() - from));
      if (batches.size >= CLAIMS_UNDER_WAY) await Promise.race(batches);
    } else if (!state.again) {
      if (batches.size === 0) break;
      const woken = new Promise<void>((resolve) => {
        state.wake = resolve;
      });
      await Promise.race([...batches, woken]);
    }
  }
  await Promise.all(batches);
  return made;
}

/** Milliseconds until the next claim, after one whose publication took `took` milliseconds. */
function restAfter(claimed: readonly PendingDomain[], took: number): number {
  // A full claim is a backlog of many domains, which rest would only make longer.
  const stream = claimed.length < CLAIMED_AT_ONCE && claimed.some(({ rows }) => rows > 1);
  return Math.max(PACE_MS - took, stream ? Math.min(REST * took, LONGEST_REST_MS) : 0);
}

/** A stop does not wait. */
async function pause({ stopping }: State, milliseconds: number): Promise<void> {
  if (milliseconds <= 0 || stopping) return;
  await new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
}

/** Publishes the domains of one claim, several side by side, and renews the claims of those that are not done. */
async function publishAll(state: State, claimed: readonly PendingDomain[]): Promise<number> {
  const queue = [...claimed];
  const unpublished = new Set(claimed.map((pending) => pending.domain_id));
  let made = 0;
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      // Not `+= await`, which adds to the count as it was before the other workers ended.
      const revisions = await state.attempt(next);
      made += revisions;
      unpublished.delete(next.domain_id);
    }
  };
  let renewing = false;
  const timer = setInterval(async () => {
    // One at a time: on a store that stalls they would take every connection.
    if (renewing) return;
    renewing = true;
    await renew(state, [...unpublished]);
    renewing = false;
  }, state.leaseMs / 3);
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  clearInterval(timer);
  return made;
}

/** A claim that is not renewed costs another process the same work, nothing else. */
async function renew(state: State, domainIds: readonly number[]): Promise<void> {
  const { store, clock, leaseMs, onStoreFault } = state;
  await store.write((tx) => tx.outbox.renew(domainIds, clock() + leaseMs)).catch(onStoreFault);
}
