/**
 * One request budget for several processes on one database. A process has a share of a key's budget: the number
 * of requests it may admit in any minute, which it counts locally and exactly. It requests a larger share when its share is
 * used up and returns the part it does not use; all shares together never exceed the budget, so neither do the admitted
 * requests. A process alone soon has the whole budget and is as exact as `request-budget.ts`.
 *
 * - No request causes a write of its own: one statement divides the budgets of all keys that need it, a twentieth of the budget
 *   each. Every division halves what is left of a key's budget, so that no process takes the last of it.
 * - The returned part of a share was unused for a minute. A process that stops renewing (a crash, an unreachable database)
 *   may use its share for `HOLD_MS`, and the share becomes free a minute after that.
 * - The cost: up to a twentieth of the budget for each process is unavailable to the others.
 *
 * `SharedState` with the functions on it decides; `createSharedBudget` adds the statements and the timer.
 */
import type { BudgetRequest, Shares } from '../store/store.ts';
import {
  budgetLeft,
  createRequestTimes,
  type RequestBudget,
  type RequestTimes,
  WINDOW_MS,
} from './request-budget.ts';

/** The part of a budget that one division grants, and that a share may exceed its use by. */
const CHUNK = 1 / 20;
/** Milliseconds a share may be used after the statement that granted it was sent. */
const HOLD_MS = 30_000;
/** Milliseconds between two passes that return unused parts of shares and renew shares. */
const LOOK_MS = 1_000;
/** Milliseconds before a larger share is requested after a division that granted no more. */
const PAUSE_MS = 1_000;
/** Maximum number of keys per statement. */
const MAX_KEYS_OF_STATEMENT = 1_000;

export interface SharedBudgetOptions {
  readonly shares: Shares;
  /** Requests per minute and key, of all processes together. */
  readonly limit: number;
  /** The wall clock used to time requests, in milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called with the error when a division fails and no request is waiting for its result. */
  readonly failed: (error: unknown) => void;
}

/** This process's share of one key's budget. Times are milliseconds of the monotonic clock (`performance.now`). */
interface Share {
  /** Requests a minute that this process may admit. */
  granted: number;
  /** When the share ends. */
  until: number;
  /** When a larger share may be requested. */
  retryAt: number;
  /** Requests that wait for a division. */
  waiting: number;
}

/** The shares of one process. */
interface SharedState {
  readonly limit: number;
  /** Requests per minute that one division grants beyond the use. */
  readonly chunk: number;
  readonly times: RequestTimes;
  readonly shares: Map<number, Share>;
  stopped: boolean;
}

/** The two clocks: milliseconds since the epoch for requests, the monotonic clock for shares. */
interface Moment {
  readonly now: number;
  readonly steady: number;
}

function usableShare({ granted, until }: Share, steady: number): number {
  return until <= steady ? 0 : granted;
}

/** Takes one request from the share. Returns 0, or the whole seconds until this process could admit it. */
function takeRequest({ shares, times }: SharedState, keyId: number, now: number): number {
  const share = shares.get(keyId);
  const granted = share === undefined ? 0 : usableShare(share, performance.now());
  const wait = times.take(keyId, now, granted);
  // Other processes have the whole budget; their next pass returns what they have not used for a minute.
  return granted === 0 ? Math.ceil((WINDOW_MS + LOOK_MS) / 1_000) : wait;
}

function shareOf({ shares }: SharedState, keyId: number): Share {
  const known = shares.get(keyId) ?? { granted: 0, until: 0, retryAt: 0, waiting: 0 };
  shares.set(keyId, known);
  return known;
}

/**
 * The request for one key in the next division: its use plus a chunk, or, for an idle key, the end of the share.
 * INVARIANT: what this returns is out of use here before the statement frees it, and was unused for a minute.
 */
function budgetRequest(state: SharedState, keyId: number, { now, steady }: Moment): BudgetRequest {
  const { limit, chunk, times, stopped } = state;
  const share = shareOf(state, keyId);
  const used = times.used(keyId, now);
  const isIdle = used === 0 && share.waiting === 0;
  const wanted = stopped || isIdle ? used : Math.min(limit, used + Math.max(chunk, share.waiting));
  share.granted = Math.min(usableShare(share, steady), wanted);
  return { key_id: keyId, used, held: share.granted, wanted };
}

/** Applies the grants of one division to the shares; `sentAt`: when that division's statement was sent. */
function applyDivision(
  { shares }: SharedState,
  requests: readonly BudgetRequest[],
  { granted, sentAt }: { readonly granted: ReadonlyMap<number, number>; readonly sentAt: number },
): void {
  for (const { key_id, wanted } of requests) {
    const share = shares.get(key_id)!;
    share.granted = granted.get(key_id) ?? 0;
    share.until = sentAt + HOLD_MS;
    if (wanted === 0 && share.waiting === 0) shares.delete(key_id);
  }
}

/** Keys whose share has an unused part to return, or is in its second half and must be renewed. */
function dueKeys({ shares, times, chunk }: SharedState, { now, steady }: Moment): readonly number[] {
  const renewBefore = steady + HOLD_MS / 2;
  const due: number[] = [];
  for (const [keyId, share] of shares) {
    if (share.waiting > 0) continue;
    const used = times.used(keyId, now);
    if (share.granted - used > chunk || used === 0 || share.until < renewBefore) due.push(keyId);
  }
  return due;
}

/**
 * Batches keys: `work` runs for one batch at a time, and keys that come meanwhile form the next batch. The promise is
 * that of the key's batch.
 */
function createBatches(work: (keyIds: readonly number[]) => Promise<void>): (keyId: number) => Promise<void> {
  let batch = new Set<number>();
  let next: Promise<void> | null = null;
  let running: Promise<void> = Promise.resolve();
  return (keyId) => {
    batch.add(keyId);
    next ??= running
      .catch(() => undefined)
      .then(() => {
        const keyIds = [...batch];
        batch = new Set();
        next = null;
        running = work(keyIds);
        return running;
      });
    return next;
  };
}

/** This process's part of the budgets. */
export function createSharedBudget({ shares, limit, clock, failed }: SharedBudgetOptions): RequestBudget {
  const times = createRequestTimes(limit);
  const chunk = Math.max(1, Math.round(limit * CHUNK));
  const state: SharedState = { limit, chunk, times, shares: new Map(), stopped: false };
  const moment = (): Moment => ({ now: clock(), steady: performance.now() });

  const divide = createBatches(async (keyIds) => {
    for (let from = 0; from < keyIds.length; from += MAX_KEYS_OF_STATEMENT) {
      const sentAt = performance.now();
      const keys = keyIds.slice(from, from + MAX_KEYS_OF_STATEMENT);
      const requests = keys.map((keyId) => budgetRequest(state, keyId, moment()));
      const granted = await shares.divide(requests, { limit, countedMs: HOLD_MS + WINDOW_MS });
      applyDivision(state, requests, { granted, sentAt });
    }
  });

  const timer = setInterval(() => {
    for (const keyId of dueKeys(state, moment())) divide(keyId).catch(failed);
  }, LOOK_MS);
  timer.unref();

  return {
    limit,
    take: (keyId, now) => takeRequest(state, keyId, now),
    left: (keyId, now) => budgetLeft(times, { keyId, now, limit }),
    async spend(keyId, now) {
      for (;;) {
        const wait = takeRequest(state, keyId, now);
        if (wait === 0 || state.stopped) return wait;
        const share = shareOf(state, keyId);
        const before = usableShare(share, performance.now());
        if (before >= limit || share.retryAt > performance.now()) return wait;
        share.waiting++;
        try {
          await divide(keyId);
        } finally {
          share.waiting--;
        }
        if (usableShare(share, performance.now()) <= before) share.retryAt = performance.now() + PAUSE_MS;
      }
    },
    async stop() {
      clearInterval(timer);
      state.stopped = true;
      await Promise.all([...state.shares.keys()].map(divide)).catch(failed);
    },
    size: times.size,
  };
}
