/**
 * Publishes again every domain whose current plan has an older version than this build writes, or is from before an
 * operator's request. It only appends rows to the outbox, a few at a time and while no customer's change waits; the
 * publisher does the rest. What is left is read from the stored plans, so a restart continues where the process ended, and
 * several processes on one store share the work.
 */
import { isStoreFault } from '../../base/storage/fault.ts';
import { steadyNow } from '../../base/text/time.ts';
import { PLAN_VERSION } from '../../engine/plan/layout.ts';
import type { Store } from '../store/store.ts';
import { SERVICE } from '../store/tables/accounts.ts';
import type { PlanHead } from '../store/tables/plans.ts';
import {
  LONGEST_GIVING_WAY_MS,
  LONGEST_REPUBLISH_WAIT_MS,
  REPUBLISH_AFTER_FAILURE_MS,
  REPUBLISH_COUNT_MS,
  REPUBLISH_LOOK_MS,
  REPUBLISH_PROGRESS_MS,
  REPUBLISH_REST,
  REPUBLISHED_AT_ONCE,
  SHORTEST_REPUBLISH_REST_MS,
} from './limits.ts';
import type { PublisherLog } from './log.ts';
import type { Publisher } from './publisher.ts';
import {
  allHeads,
  FORMAT_REASON,
  isLeft,
  isOlder,
  REQUEST_REASON,
  readRequest,
  type Survey,
  survey,
} from './republish.ts';

/** Milliseconds between two reads of the backlog of customers' changes. */
const BACKLOG_POLL_MS = 25;

export interface RepublisherOptions {
  readonly store: Store;
  readonly publisher: Pick<Publisher, 'waitForOutbox'>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: PublisherLog;
}

/** Publishes domains again, in the background. */
export interface Republisher {
  start(): void;
  /** Resolves once the rows of the batch under way are appended. */
  stop(): Promise<void>;
  /** Current plans of an older version as they were counted last, less those published since; for metrics. */
  older(): number;
}

interface State extends RepublisherOptions {
  older: number;
  /** The request of the last pass; -1 before the first. */
  lastRequest: number;
  /** When plans are counted again, by the steady clock. */
  countAt: number;
  stopping: AbortController;
}

export function createRepublisher(options: RepublisherOptions): Republisher {
  const state: State = {
    ...options,
    older: 0,
    lastRequest: -1,
    countAt: 0,
    stopping: new AbortController(),
  };
  let running: Promise<void> | null = null;
  return {
    start() {
      if (running !== null) return;
      state.stopping = new AbortController();
      running = run(state);
    },
    async stop() {
      state.stopping.abort();
      await running;
      running = null;
    },
    older: () => state.older,
  };
}

async function run(state: State): Promise<void> {
  while (!state.stopping.signal.aborted) {
    try {
      await look(state);
    } catch (error) {
      if (isStoreFault(error, 'closed')) return;
      state.log.warn(
        { err: error },
        'the store cannot be read for plans of an older version; trying again later',
      );
    }
    await pause(state, REPUBLISH_LOOK_MS);
  }
}

/** Counts the plans if it is time to, or if there is a new request, and publishes again those that are left. */
async function look(state: State): Promise<void> {
  const { store } = state;
  const request = await readRequest(store.latest);
  if (request === state.lastRequest && steadyNow() < state.countAt) return;
  const before = await survey(store.latest, request);
  state.older = before.older;
  const after = before.left === 0 ? before : await republish(state, request, before);
  state.older = after.older;
  state.lastRequest = request;
  state.countAt = steadyNow() + (after.left > 0 ? REPUBLISH_AFTER_FAILURE_MS : REPUBLISH_COUNT_MS);
}

async function republish(state: State, request: number, { left, older }: Survey): Promise<Survey> {
  const { store, log, stopping } = state;
  const from = steadyNow();
  log.info({ left, older, version: PLAN_VERSION }, 'publishing domains again');
  let done = 0;
  let progressAt = from + REPUBLISH_PROGRESS_MS;
  for await (const batch of batches(store, request)) {
    await giveWay(state);
    if (stopping.signal.aborted) break;
    const began = steadyNow();
    done += await publishBatch(state, batch);
    if (steadyNow() >= progressAt) {
      progressAt = steadyNow() + REPUBLISH_PROGRESS_MS;
      log.info({ done, left: Math.max(0, left - done) }, 'publishing domains again');
    }
    await pause(state, Math.max(SHORTEST_REPUBLISH_REST_MS, REPUBLISH_REST * (steadyNow() - began)));
  }
  const after = await survey(store.latest, request);
  const fields = { done, left: after.left, older: after.older, tookMs: Math.round(steadyNow() - from) };
  if (after.left === 0) log.info(fields, 'all domains are published again');
  else if (!stopping.signal.aborted) {
    log.warn(fields, 'some domains are not published again yet; trying later');
  }
  return after;
}

async function* batches(store: Store, request: number): AsyncGenerator<readonly PlanHead[]> {
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

/** Publishes a batch again side by side; returns how many of its domains are done. */
async function publishBatch(state: State, batch: readonly PlanHead[]): Promise<number> {
  const published = await Promise.all(batch.map((plan) => publishAgain(state, plan)));
  const replaced = batch.filter((plan, place) => published[place] && isOlder(plan)).length;
  state.older = Math.max(0, state.older - replaced);
  return published.filter((isDone) => isDone).length;
}

/** Waits until no change waits for its publication, at most so long that a stream of changes does not stop the rest. */
async function giveWay(state: State): Promise<void> {
  const end = steadyNow() + LONGEST_GIVING_WAY_MS;
  while ((await state.store.latest.outbox.backlog()).rows > 0 && steadyNow() < end) {
    if (state.stopping.signal.aborted) return;
    await pause(state, BACKLOG_POLL_MS);
  }
}

/** True when the domain is published again, or has changed so that it need not be. */
async function publishAgain({ store, clock, publisher, stopping }: State, plan: PlanHead): Promise<boolean> {
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

/** Waits; a stop ends the wait. */
async function pause({ stopping: { signal } }: State, milliseconds: number): Promise<void> {
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
