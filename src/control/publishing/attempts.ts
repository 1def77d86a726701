/**
 * Publishes one claimed domain at a time: skips those that back off, rest or are under way, stores failures, and releases
 * a domain again when its back-off or rest is over. A failure concerns its own domain only; the domain's claim remains
 * until the next attempt.
 */
import { backoffMs } from '../../base/platform/tasks.ts';
import { isStoreFault } from '../../base/storage/fault.ts';
import type { PendingDomain, RevisionRow } from '../store/tables/plans.ts';
import { PublishFault } from './fault.ts';
import { DOMAIN_REST, LONGEST_DOMAIN_REST_MS, PRUNE_EVERY, SLOW_MS } from './limits.ts';
import type { PublishedRevision, PublisherLog } from './log.ts';
import { type PublishTools, publishDomain } from './publish.ts';
import { pruneName } from './revisions.ts';

/** How many milliseconds early, by the clock, a timer can fire. */
const TIMER_SLACK = 5;

/** The state of one publisher's attempts, and what they work with. */
export interface Attempts extends PublishTools {
  readonly log: PublisherLog;
  readonly steady: () => number;
  readonly failures: Failures;
  readonly pacing: Pacing;
  /** Timers of domains that are released later. */
  readonly retries: Set<NodeJS.Timeout>;
  /** Domains whose publication is under way: a claim may lapse before a slow one is done. */
  readonly underWay: Set<number>;
  /** Those of them that were claimed again meanwhile, and so must be released once more. */
  readonly claimedAgain: Set<number>;
  /** Whether the publisher is started: without it nothing rests and nothing is tried again. */
  started: boolean;
  /** Starts a look for work. */
  readonly wake: () => void;
  readonly onPublished: (published: PublishedRevision) => void;
  /** Receives each failure of a plan that cannot be made, with the domain's waiting rows. */
  readonly onFailed: (pending: PendingDomain, failed: FailedAttempt) => void;
}

/** A failed attempt. */
export interface FailedAttempt {
  /** Failed attempts in a row. */
  readonly attempts: number;
  readonly code: PublishFault['code'];
}

/** Publishes a claimed domain. Returns 1 when it made a revision; never rejects. */
export async function attempt(attempts: Attempts, pending: PendingDomain): Promise<0 | 1> {
  const { failures, pacing, underWay, claimedAgain, steady } = attempts;
  const id = pending.domain_id;
  if (underWay.has(id)) {
    claimedAgain.add(id);
    return 0;
  }
  const now = steady();
  if (isBackingOff(failures, id, now)) return 0;
  const rest = attempts.started ? pacing.restOf(id, now) : 0;
  if (rest > 0) {
    releaseLater(attempts, id, rest);
    return 0;
  }
  underWay.add(id);
  try {
    return await publishClaimed(attempts, pending, now);
  } catch (error) {
    if (!isStoreFault(error, 'closed')) postpone(attempts, pending, error);
    return 0;
  } finally {
    underWay.delete(id);
    if (claimedAgain.delete(id)) {
      await release(attempts, id).catch((error: unknown) => reportStore(attempts, error));
    }
  }
}

/** @throws PublishFault, StoreFault as `publishDomain` */
async function publishClaimed(attempts: Attempts, pending: PendingDomain, began: number): Promise<0 | 1> {
  const { store, clock, steady } = attempts;
  const from = clock();
  const revision = await publishDomain(pending, attempts);
  attempts.failures.delete(pending.domain_id);
  if (revision === null) return 0;
  reportRevision(attempts, { revision, sinceWriteMs: clock() - pending.since, tookMs: clock() - from });
  const ended = steady();
  attempts.pacing.published(pending.domain_id, ended, ended - began);
  if (revision.revision % PRUNE_EVERY === 0) {
    await pruneName(store, revision.domain, clock()).catch((error: unknown) => reportStore(attempts, error));
  }
  return 1;
}

function reportRevision({ log, onPublished }: Attempts, published: PublishedRevision): void {
  const { revision, sinceWriteMs, tookMs } = published;
  const { domain, revision: number, digest, reason }: RevisionRow = revision;
  log.info({ domain, revision: number, digest, reason, sinceWriteMs, tookMs }, 'published');
  onPublished(published);
}

function postpone(attempts: Attempts, pending: PendingDomain, error: unknown): void {
  const { failure, backOff } = addFailure(attempts.failures, pending, { error, now: attempts.steady() });
  const { domain, message } = failure;
  const fields = { domain, attempts: failure.attempts, retryInMs: backOff, err: error };
  // A store that fails is expected now and then; a plan that cannot be made is a bug that an operator must see.
  if (error instanceof PublishFault) {
    attempts.log.error(fields, `cannot publish: ${message}`);
    attempts.onFailed(pending, { attempts: failure.attempts, code: error.code });
  } else attempts.log.warn(fields, `publication put off: ${message}`);
  releaseLater(attempts, pending.domain_id, backOff);
}

function releaseLater(attempts: Attempts, domainId: number, afterMs: number): void {
  if (!attempts.started) return;
  const retry = setTimeout(() => {
    attempts.retries.delete(retry);
    release(attempts, domainId).then(attempts.wake, (error: unknown) => {
      reportStore(attempts, error);
      releaseLater(attempts, domainId, LAST_BACK_OFF);
    });
  }, afterMs + TIMER_SLACK);
  attempts.retries.add(retry.unref());
}

/** Ends the claim of a domain, and its failure if another process or a rollback has covered its rows meanwhile. */
async function release({ store, failures }: Attempts, domainId: number): Promise<void> {
  await store.write((tx) => tx.outbox.release(domainId));
  if ((await store.latest.outbox.list(domainId)).length === 0) failures.delete(domainId);
}

/** Logs a fault of the store, unless the store was closed. */
export function reportStore({ log }: Pick<Attempts, 'log'>, error: unknown): void {
  if (isStoreFault(error, 'closed')) return;
  log.warn({ err: error }, 'the store cannot be read for work; trying again later');
}

// The domains whose last publication failed, with their back-off. Plain data and its transitions.

/** Milliseconds before the second attempt; doubled for each further one, up to `LAST_BACK_OFF`. */
const FIRST_BACK_OFF = 1_000;
const LAST_BACK_OFF = 60_000;

export interface Failure {
  readonly domain: string;
  /** Failed attempts in a row. */
  readonly attempts: number;
  /** Of the last attempt's error. */
  readonly message: string;
  /** Time of the next attempt by the steady clock, in milliseconds: a wall clock may be set back for hours. */
  readonly notBefore: number;
}

/** By domain id. */
type Failures = Map<number, Failure>;

/** Stores a failed attempt at `now` (steady clock) and returns the milliseconds until the next one. */
function addFailure(
  failures: Failures,
  { domain_id, domain }: Pick<PendingDomain, 'domain_id' | 'domain'>,
  { error, now }: { readonly error: unknown; readonly now: number },
): { readonly failure: Failure; readonly backOff: number } {
  const attempts = (failures.get(domain_id)?.attempts ?? 0) + 1;
  const message = error instanceof Error ? error.message : String(error);
  const backOff = backoffMs(attempts - 1, { first: FIRST_BACK_OFF, last: LAST_BACK_OFF });
  const failure = { domain, attempts, message, notBefore: now + backOff };
  failures.set(domain_id, failure);
  return { failure, backOff };
}

/** Whether a domain is still in its back-off at `now` (steady clock). */
function isBackingOff(failures: Failures, domainId: number, now: number): boolean {
  const failure = failures.get(domainId);
  return failure !== undefined && failure.notBefore > now;
}

interface Pacing {
  /** Notes a publication that ended at `now` and took so many milliseconds. */
  published(domainId: number, now: number, tookMs: number): void;
  /** Milliseconds until the domain may be published again; 0 when it may be now. */
  restOf(domainId: number, now: number): number;
}

export function createPacing(): Pacing {
  const until = new Map<number, number>();
  return {
    published(domainId, now, tookMs) {
      if (tookMs < SLOW_MS) return;
      // So that what is stored are the domains that rest, not all that ever did.
      for (const [other, end] of until) if (end <= now) until.delete(other);
      until.set(domainId, now + Math.min(DOMAIN_REST * tookMs, LONGEST_DOMAIN_REST_MS));
    },
    restOf: (domainId, now) => Math.max(0, (until.get(domainId) ?? now) - now),
  };
}
