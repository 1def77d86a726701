/**
 * Publishes again every domain whose current plan has an older version than this build writes, or is from before an
 * operator's request. It only appends rows to the outbox, a few at a time and while no customer's change waits; the
 * publisher does the rest. What is left is read from the stored plans, so a restart goes on where the process ended, and
 * several processes on one store share the work.
 */
import { steadyNow } from '../base/steady-clock.ts';
import { HEADER, MAGIC, PLAN_VERSION } from '../plan/layout.ts';
import { isStoreFault } from '../store/fault.ts';
import type { PlanHead } from '../store/rows.ts';
import { type ReadTransaction, SERVICE, type Store } from '../store/store.ts';
import {
  LONGEST_GIVING_WAY_MS,
  LONGEST_REPUBLISH_WAIT_MS,
  REPUBLISH_AFTER_FAILURE_MS,
  REPUBLISH_COUNT_MS,
  REPUBLISH_HEADS,
  REPUBLISH_LOOK_MS,
  REPUBLISH_PROGRESS_MS,
  REPUBLISH_REST,
  REPUBLISHED_AT_ONCE,
  SHORTEST_REPUBLISH_REST_MS,
} from './limits.ts';
import type { Publisher, PublisherLog } from './publisher.ts';
import { FORMAT_REASON, REQUEST_REASON } from './republish-content.ts';

/** The name of the stored request: the outbox id that every current revision has to cover. */
const REQUEST = 'republish';
/** Milliseconds between questions whether customers' changes still wait. */
const ASK_MS = 25;

export interface RepublisherOptions {
  readonly store: Store;
  readonly publisher: Pick<Publisher, 'waitForOutbox'>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: PublisherLog;
}

export interface Republisher {
  start(): void;
  /** Ends after the rows under way are appended. */
  stop(): Promise<void>;
  /** Current plans of an older version as they were counted last, less those published since; for metrics. */
  older(): number;
}

/** What a store's current plans come to. */
export interface Survey {
  readonly plans: number;
  /** Plans of an older version. */
  readonly older: number;
  /** Plans to publish again, those of an older version among them. */
  readonly left: number;
}

/** The version of a sealed plan by its first eight octets; 0 where they are not a plan's. */
export function versionOf(head: Uint8Array | null): number {
  if (head === null || head.byteLength < 8) return 0;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  return view.getUint32(HEADER.magic * 4, true) === MAGIC ? view.getUint32(HEADER.version * 4, true) : 0;
}

// A newer version is another process's, in the middle of an upgrade: to replace it would go on for ever.
function isOlder({ head }: PlanHead): boolean {
  return versionOf(head) < PLAN_VERSION;
}

function isLeft(plan: PlanHead, request: number): boolean {
  return isOlder(plan) || plan.through < request;
}

async function* allHeads(tx: Pick<ReadTransaction, 'plans'>): AsyncGenerator<PlanHead> {
  for (let after = ''; ; ) {
    const heads = await tx.plans.heads(after, REPUBLISH_HEADS);
    yield* heads;
    const last = heads.at(-1);
    if (last === undefined || heads.length < REPUBLISH_HEADS) return;
    after = last.domain;
  }
}

/** Counts the current plans. `request` is what `requestAll` answered; 0: none. */
export async function survey(tx: Pick<ReadTransaction, 'plans'>, request: number): Promise<Survey> {
  const counted = { plans: 0, older: 0, left: 0 };
  for await (const plan of allHeads(tx)) {
    counted.plans += 1;
    if (isOlder(plan)) counted.older += 1;
    if (isLeft(plan, request)) counted.left += 1;
  }
  return counted;
}

/**
 * Asks for every domain that has a plan to be published again, by the server that runs on the store or by the next one.
 * Answers what `survey` counts by, or 0 where no domain has a plan.
 */
export function requestAll(store: Store, now: number): Promise<number> {
  return store.write(async (tx) => {
    for await (const { domain, domain_id } of allHeads(tx)) {
      if ((await tx.domains.get(domain_id)) === null) continue;
      // Its id is above those of all changes before, so it is what the other domains are measured by.
      const id = await tx.outbox.append({ ...SERVICE, domain_id, domain, at: now, reason: REQUEST_REASON });
      await tx.secrets.put(REQUEST, String(id), now);
      return id;
    }
    return 0;
  });
}

export function createRepublisher({ store, publisher, clock, log }: RepublisherOptions): Republisher {
  let older = 0;
  let running: Promise<void> | null = null;
  let lastRequest = -1;
  let countAt = 0;
  let stopping = new AbortController();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await look();
      } catch (error) {
        if (isStoreFault(error, 'closed')) return;
        log.warn(
          { err: error },
          'the store cannot be asked for plans of an older version; looking again later',
        );
      }
      await pause(REPUBLISH_LOOK_MS);
    }
  }

  async function look(): Promise<void> {
    const request = Number((await store.latest.secrets.get(REQUEST)) ?? 0);
    if (request === lastRequest && steadyNow() < countAt) return;
    const before = await survey(store.latest, request);
    older = before.older;
    const after = before.left === 0 ? before : await republish(request, before);
    older = after.older;
    lastRequest = request;
    countAt = steadyNow() + (after.left > 0 ? REPUBLISH_AFTER_FAILURE_MS : REPUBLISH_COUNT_MS);
  }

  async function republish(request: number, { left, older: outdated }: Survey): Promise<Survey> {
    const from = steadyNow();
    log.info({ left, older: outdated, version: PLAN_VERSION }, 'publishing domains again');
    let done = 0;
    let progressAt = from + REPUBLISH_PROGRESS_MS;
    for await (const batch of batches(request)) {
      await giveWay();
      if (stopping.signal.aborted) break;
      const began = steadyNow();
      const published = await Promise.all(batch.map(publishAgain));
      done += published.filter((out) => out).length;
      older = Math.max(0, older - batch.filter((plan, place) => published[place] && isOlder(plan)).length);
      if (steadyNow() >= progressAt) {
        progressAt = steadyNow() + REPUBLISH_PROGRESS_MS;
        log.info({ done, left: Math.max(0, left - done) }, 'publishing domains again');
      }
      await pause(Math.max(SHORTEST_REPUBLISH_REST_MS, REPUBLISH_REST * (steadyNow() - began)));
    }
    const after = await survey(store.latest, request);
    const fields = { done, left: after.left, older: after.older, tookMs: Math.round(steadyNow() - from) };
    if (after.left === 0) log.info(fields, 'all domains are published again');
    else if (!stopping.signal.aborted)
      log.warn(fields, 'some domains are not published again yet; trying later');
    return after;
  }

  async function* batches(request: number): AsyncGenerator<readonly PlanHead[]> {
    let batch: PlanHead[] = [];
    for await (const plan of allHeads(store.latest)) {
      if (!isLeft(plan, request)) continue;
      batch.push(plan);
      if (batch.length < REPUBLISHED_AT_ONCE) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /** Waits until no change waits for its publication, or for so long that a stream of them does not stop the rest. */
  async function giveWay(): Promise<void> {
    const end = steadyNow() + LONGEST_GIVING_WAY_MS;
    while ((await store.latest.outbox.backlog()).rows > 0 && steadyNow() < end) {
      if (stopping.signal.aborted) return;
      await pause(ASK_MS);
    }
  }

  /** True when the domain is out again, or needs nothing any more. */
  async function publishAgain(plan: PlanHead): Promise<boolean> {
    const { domain: name, domain_id: id } = plan;
    const row = await store.write(async (tx) => {
      if ((await tx.domains.get(id)) === null) return null;
      const waiting = (await tx.outbox.list(id)).at(-1);
      // A change, or a row that another process appended: one publication covers both.
      if (waiting !== undefined) return waiting.id;
      if ((await tx.plans.current(name))?.revision !== plan.revision) return null;
      const reason = isOlder(plan) ? FORMAT_REASON : REQUEST_REASON;
      return tx.outbox.append({ ...SERVICE, domain_id: id, domain: name, at: clock(), reason });
    });
    if (row === null) return true;
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(LONGEST_REPUBLISH_WAIT_MS)]);
    return (await publisher.waitForOutbox({ id, name }, row, signal)) !== null;
  }

  async function pause(milliseconds: number): Promise<void> {
    const { signal } = stopping;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds).unref();
      signal.addEventListener('abort', end);
    });
  }

  return {
    start() {
      if (running !== null) return;
      stopping = new AbortController();
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
      running = null;
    },
    older: () => older,
  };
}
