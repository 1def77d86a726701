/**
 * Finds domains with waiting rows and publishes them, one revision each, until nothing waits. Several processes may run
 * one each on the same store: claims with a lease share the work out, and `publishDomain` keeps them apart where two
 * meet all the same. Hints from the store wake it at once; a poll behind them makes a lost hint a delay.
 */
import { steadyNow } from '../base/steady-clock.ts';
import { backoffMs } from '../platform/backoff.ts';
import { isStoreFault } from '../store/fault.ts';
import type { DomainRow, PendingDomain, RevisionRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { PublishFault } from './fault.ts';
import { CLAIMS_UNDER_WAY, PRUNE_EVERY, SLOW_MS } from './limits.ts';
import { createPacing } from './pacing.ts';
import { createPlanMaker, type PlanMaker } from './plan-maker.ts';
import { pruneName } from './prune.ts';
import { type EntitlementsFor, publishDomain } from './publish.ts';
import { clearAway } from './upkeep.ts';
import { createWaiters } from './waiters.ts';

/** Where faults and publications are told; a pino logger fits. */
export interface PublisherLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface PublisherOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Milliseconds by a clock that nobody sets, for back-off and rest. Default: `steadyNow`. */
  readonly steady?: () => number;
  readonly log: PublisherLog;
  /** Milliseconds between looks without a hint. Default 1,000. */
  readonly pollMs?: number;
  /** Milliseconds after which the claim of a process that died lapses; renewed during a publication. Default 3,000. */
  readonly leaseMs?: number;
  /** No other process publishes from this store: claims found at the start died with an earlier process. */
  readonly alone?: boolean;
  /** Makes the plans; closed when the publisher stops. Default: large ones in a thread. */
  readonly plans?: PlanMaker;
  /** What the owner of a domain has bought, as far as nodes enforce it. Default: everything. */
  readonly entitlementsFor?: EntitlementsFor;
  /** Told of every revision this process made, for metrics. */
  readonly onPublished?: (published: PublishedRevision) => void;
}

export interface PublishedRevision {
  readonly revision: RevisionRow;
  /** Milliseconds from the oldest covered write to the commit of the revision. */
  readonly sinceWriteMs: number;
  /** Milliseconds reading, compiling, testing and committing took. */
  readonly tookMs: number;
}

export interface Publisher {
  start(): void;
  /** Stops looking for work and waits for what is under way. */
  stop(): Promise<void>;
  /**
   * Resolves with a revision that covers an outbox row as soon as one is out, whoever made it, or with `null` when
   * `signal` ends the waiting first (`?wait=published`).
   */
  waitForOutbox(
    domain: Pick<DomainRow, 'id' | 'name'>,
    outboxId: number,
    signal: AbortSignal,
  ): Promise<RevisionRow | null>;
  /** Publishes what can be claimed now, started or not; answers how many revisions it made. */
  publishNow(): Promise<number>;
  /** Domains whose last attempt failed here, and what was said; for metrics. Whoever covers their rows, here or elsewhere, ends it. */
  failing(): readonly { readonly domain: string; readonly attempts: number; readonly message: string }[];
}

/** Domains claimed at once, and published side by side so that their commits share a sync of the disk. */
const CLAIMED_AT_ONCE = 16;
const SIDE_BY_SIDE = 4;
/** Milliseconds before the second attempt; doubled for each further one, up to the last. */
const FIRST_BACK_OFF = 1_000;
const LAST_BACK_OFF = 60_000;
/** Milliseconds from one claim to the next while there is work; the first write is published at once. */
const PACE_MS = 15;
/**
 * In a stream of writes, where several had come for one domain, publishing rests this many times as long as it took, so
 * that at most a fifth of the processor goes into revisions that are replaced at once; and at most so many milliseconds.
 */
const REST = 4;
const LONGEST_REST_MS = 250;
/** Milliseconds between clearing away. */
const UPKEEP_MS = 3_600_000;
/** Milliseconds by which a timer may be early against the clock. */
const TIMER_SLACK = 5;

interface Failure {
  readonly domain: string;
  readonly attempts: number;
  readonly message: string;
  /** Not before this time again, of the steady clock: a wall clock may be set back for hours. */
  readonly notBefore: number;
}

export function createPublisher(options: PublisherOptions): Publisher {
  const { store, log } = options;
  const clock = options.clock ?? Date.now;
  const steady = options.steady ?? steadyNow;
  const pollMs = options.pollMs ?? 1_000;
  const leaseMs = options.leaseMs ?? 3_000;
  const plans = options.plans ?? createPlanMaker({ store });
  const waiters = createWaiters(store);
  const failures = new Map<number, Failure>();
  const retries = new Set<NodeJS.Timeout>();
  let started = false;
  let stopping = false;
  let unlisten: (() => void) | null = null;
  let poll: NodeJS.Timeout | null = null;
  let upkeep: NodeJS.Timeout | null = null;
  const pacing = createPacing();
  /** Domains whose publication is under way: a claim may lapse before a slow one is done. */
  const underWay = new Set<number>();
  /** Those of them that were claimed again meanwhile, and so must be released once more. */
  const claimedAgain = new Set<number>();
  let draining: Promise<number> | null = null;
  let again = false;
  let lookAgain: () => void = () => undefined;

  /** One drain at a time; a call during one makes it look once more. */
  function drain(): Promise<number> {
    if (draining !== null) {
      again = true;
      lookAgain();
      return draining;
    }
    draining = claimAndPublish().finally(() => {
      draining = null;
    });
    return draining;
  }

  /** Claims and publishes until nothing can be claimed and nothing is under way. */
  async function claimAndPublish(): Promise<number> {
    const claims = new Set<Promise<void>>();
    let made = 0;
    while (!stopping) {
      again = false;
      const now = clock();
      const claim = { now, until: now + leaseMs, limit: CLAIMED_AT_ONCE };
      const claimed = await store.write((tx) => tx.outbox.claim(claim));
      if (claimed.length > 0) {
        const from = steady();
        const work = publishAll(claimed).then((revisions) => {
          made += revisions;
          claims.delete(work);
        });
        claims.add(work);
        // Others do not wait for a domain that takes long.
        await Promise.race([work, pause(SLOW_MS)]);
        await pause(restAfter(claimed, steady() - from));
        if (claims.size >= CLAIMS_UNDER_WAY) await Promise.race(claims);
      } else if (!again) {
        if (claims.size === 0) break;
        const woken = new Promise<void>((resolve) => {
          lookAgain = resolve;
        });
        await Promise.race([...claims, woken]);
      }
    }
    await Promise.all(claims);
    return made;
  }

  /** Milliseconds until the next claim, after one that took so many. */
  function restAfter(claimed: readonly PendingDomain[], took: number): number {
    // A full claim is a backlog of many domains, which rest would only make longer.
    const stream = claimed.length < CLAIMED_AT_ONCE && claimed.some(({ rows }) => rows > 1);
    return Math.max(PACE_MS - took, stream ? Math.min(REST * took, LONGEST_REST_MS) : 0);
  }

  /** A stop does not wait. */
  async function pause(milliseconds: number): Promise<void> {
    if (milliseconds <= 0 || stopping) return;
    await new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
  }

  async function publishAll(claimed: readonly PendingDomain[]): Promise<number> {
    const queue = [...claimed];
    const unpublished = new Set(claimed.map((pending) => pending.domain_id));
    let made = 0;
    const worker = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        // Not `+= await`, which adds to what the count was before the others ended.
        const revisions = await attempt(next);
        made += revisions;
        unpublished.delete(next.domain_id);
      }
    };
    const renewing = setInterval(() => renew([...unpublished]), leaseMs / 3);
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
    clearInterval(renewing);
    return made;
  }

  /** A claim that is not renewed costs another process the same work, nothing else. */
  function renew(domainIds: readonly number[]): void {
    store.write((tx) => tx.outbox.renew(domainIds, clock() + leaseMs)).catch(noteStore);
  }

  /** 1 when it made a revision. A failure is kept to its own domain, whose claim stays until it is tried again. */
  async function attempt(pending: PendingDomain): Promise<0 | 1> {
    const failure = failures.get(pending.domain_id);
    if (underWay.has(pending.domain_id)) {
      claimedAgain.add(pending.domain_id);
      return 0;
    }
    const now = steady();
    if (failure !== undefined && failure.notBefore > now) return 0;
    const rest = started ? pacing.restOf(pending.domain_id, now) : 0;
    if (rest > 0) {
      retryIn(rest, pending.domain_id);
      return 0;
    }
    const from = clock();
    underWay.add(pending.domain_id);
    try {
      const revision = await publishDomain(pending, {
        store,
        plans,
        clock,
        entitlementsFor: options.entitlementsFor,
      });
      failures.delete(pending.domain_id);
      if (revision === null) return 0;
      tell(revision, { pending, from });
      pacing.published(pending.domain_id, steady(), steady() - now);
      if (revision.revision % PRUNE_EVERY === 0) {
        await pruneName(store, revision.domain, clock()).catch(noteStore);
      }
      return 1;
    } catch (error) {
      if (!isStoreFault(error, 'closed')) postpone(pending, error);
      return 0;
    } finally {
      underWay.delete(pending.domain_id);
      if (claimedAgain.delete(pending.domain_id)) await release(pending.domain_id).catch(noteStore);
    }
  }

  function tell(revision: RevisionRow, { pending, from }: { pending: PendingDomain; from: number }): void {
    const published = { revision, sinceWriteMs: clock() - pending.since, tookMs: clock() - from };
    waiters.published(revision);
    const { domain, revision: number, digest, reason } = revision;
    const { sinceWriteMs, tookMs } = published;
    log.info({ domain, revision: number, digest, reason, sinceWriteMs, tookMs }, 'published');
    options.onPublished?.(published);
  }

  function postpone(pending: PendingDomain, error: unknown): void {
    const attempts = (failures.get(pending.domain_id)?.attempts ?? 0) + 1;
    const message = error instanceof Error ? error.message : String(error);
    const backOff = backoffMs(attempts - 1, { first: FIRST_BACK_OFF, last: LAST_BACK_OFF });
    const { domain } = pending;
    failures.set(pending.domain_id, { domain, attempts, message, notBefore: steady() + backOff });
    const fields = { domain, attempts, retryInMs: backOff, err: error };
    // What the store could not do now is the weather; a plan that cannot be made is a bug that somebody must see.
    if (error instanceof PublishFault) log.error(fields, `cannot publish: ${message}`);
    else log.warn(fields, `publication put off: ${message}`);
    retryIn(backOff, pending.domain_id);
  }

  function retryIn(backOff: number, domainId: number): void {
    if (!started) return;
    const retry = setTimeout(() => {
      retries.delete(retry);
      release(domainId).then(wake, (error: unknown) => {
        noteStore(error);
        retryIn(LAST_BACK_OFF, domainId);
      });
    }, backOff + TIMER_SLACK);
    retries.add(retry.unref());
  }

  /** Gives a domain back that failed; what another process or a rollback has covered meanwhile fails no more. */
  async function release(domainId: number): Promise<void> {
    await store.write((tx) => tx.outbox.release(domainId));
    if ((await store.latest.outbox.list(domainId)).length === 0) failures.delete(domainId);
  }

  function noteStore(error: unknown): void {
    if (isStoreFault(error, 'closed')) return;
    log.warn({ err: error }, 'the store cannot be asked for work; looking again later');
  }

  function wake(): void {
    if (started) drain().catch(noteStore);
  }

  function schedule(): void {
    // Spread out, so that several processes do not look at the same moment.
    const delay = pollMs * (0.75 + Math.random() / 2);
    poll = setTimeout(() => {
      wake();
      schedule();
    }, delay).unref();
  }

  return {
    start() {
      if (started) return;
      started = true;
      stopping = false;
      unlisten = store.listen((change) => {
        if (change === 'outbox' || change === 'unknown') wake();
      });
      upkeep = setInterval(() => {
        clearAway(store, clock()).catch(noteStore);
      }, UPKEEP_MS).unref();
      schedule();
      if (options.alone === true) store.write((tx) => tx.outbox.releaseAll()).then(wake, noteStore);
      else wake();
    },
    async stop() {
      started = false;
      stopping = true;
      unlisten?.();
      if (poll !== null) clearTimeout(poll);
      if (upkeep !== null) clearInterval(upkeep);
      for (const retry of retries) clearTimeout(retry);
      retries.clear();
      await draining?.catch(() => undefined);
      await plans.close();
      waiters.stop();
    },
    waitForOutbox: ({ id }, outboxId, signal) => waiters.waitFor({ domainId: id, outboxId, signal }),
    async publishNow() {
      stopping = false;
      const running = draining;
      if (running !== null) await running.catch(() => undefined);
      return drain();
    },
    failing: () =>
      [...failures.values()].map(({ domain, attempts, message }) => ({ domain, attempts, message })),
  };
}
