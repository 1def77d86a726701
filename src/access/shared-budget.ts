/**
 * One budget for several processes on one database. A process holds a share of a key's budget: so many requests in any
 * minute, which it counts by itself and exactly. It asks for more when its share is used up, and gives back what it has
 * left over; all shares together are never more than the budget, so neither is what is let through. A process alone
 * soon holds the whole budget and is as exact as `request-budget.ts`.
 *
 * - No request writes: one statement asks for all keys that need anything, a twentieth of the budget each, and what is
 *   left of a key's budget is halved at every asking, so that nobody takes the last of it while others have none.
 * - What is given back was not used within the minute. Whoever stops asking (a crash, a database out of reach) may use
 *   its share for `HOLD_MS`, and it becomes free a minute after that.
 * - Held back from the others, as it may come in handy: at most a twentieth of the budget for each process.
 */
import type { BudgetRequest, Shares } from '../store/store.ts';
import { budgetLeft, type RequestBudget } from './request-budget.ts';
import { createRequestTimes, WINDOW_MS } from './request-times.ts';

/** The part of a budget that is asked for at once, and kept beyond what is in use. */
const CHUNK = 1 / 20;
/** Milliseconds a share may be used after it was last asked for. */
const HOLD_MS = 30_000;
/** Milliseconds between two looks for shares to give back or to ask for again. */
const LOOK_MS = 1_000;
/** Milliseconds in which nobody asks again for what was not to be had. */
const PAUSE_MS = 1_000;
/** Keys of one statement. */
const MOST_ASKED = 1_000;

export interface SharedBudgetOptions {
  readonly shares: Shares;
  /** Requests a minute and key, of all processes together. */
  readonly limit: number;
  /** Milliseconds since the epoch, the clock of requests. */
  readonly clock: () => number;
  /** Told when the database could not be asked outside any request. */
  readonly failed: (error: unknown) => void;
}

interface Share {
  slots: number;
  /** Until when it may be used, and from when on there is a point in asking for more; of the monotonic clock. */
  until: number;
  askFrom: number;
  /** Requests that wait for more of it. */
  waiting: number;
}

/** This process's part of the budgets. */
export function createSharedBudget({ shares, limit, clock, failed }: SharedBudgetOptions): RequestBudget {
  const times = createRequestTimes(limit);
  const held = new Map<number, Share>();
  const chunk = Math.max(1, Math.round(limit * CHUNK));
  let wanted = new Set<number>();
  let next: Promise<void> | null = null;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  const slotsOf = ({ slots, until }: Share): number => (until <= performance.now() ? 0 : slots);

  const take: RequestBudget['take'] = (keyId, now) => {
    const share = held.get(keyId);
    const slots = share === undefined ? 0 : slotsOf(share);
    const wait = times.take(keyId, now, slots);
    // The others have it all; what they do not use any more comes back at their next look.
    return slots === 0 ? Math.ceil((WINDOW_MS + LOOK_MS) / 1_000) : wait;
  };

  /** Asks for these keys with the next statement; one is under way at a time. */
  function askFor(keyId: number): Promise<void> {
    wanted.add(keyId);
    next ??= running
      .catch(() => undefined)
      .then(() => {
        const keys = [...wanted];
        wanted = new Set();
        next = null;
        running = divide(keys);
        return running;
      });
    return next;
  }

  async function divide(keys: readonly number[]): Promise<void> {
    for (let from = 0; from < keys.length; from += MOST_ASKED) {
      const asked = performance.now();
      const asks = keys.slice(from, from + MOST_ASKED).map(askOf);
      const given = await shares.divide(asks, { limit, countedMs: HOLD_MS + WINDOW_MS });
      for (const { key_id, wanted: more } of asks) {
        const share = held.get(key_id)!;
        share.slots = given.get(key_id) ?? 0;
        share.until = asked + HOLD_MS;
        if (more === 0 && share.waiting === 0) held.delete(key_id);
      }
    }
  }

  function shareOf(keyId: number): Share {
    const known = held.get(keyId) ?? { slots: 0, until: 0, askFrom: 0, waiting: 0 };
    held.set(keyId, known);
    return known;
  }

  /** INVARIANT: what is given back here is out of use before the others can have it, and was not used for a minute. */
  function askOf(keyId: number): BudgetRequest {
    const share = shareOf(keyId);
    const used = times.used(keyId, clock());
    const idle = used === 0 && share.waiting === 0;
    const most = stopped || idle ? used : Math.min(limit, used + Math.max(chunk, share.waiting));
    share.slots = Math.min(slotsOf(share), most);
    return { key_id: keyId, used, held: share.slots, wanted: most };
  }

  function look(): void {
    const now = clock();
    const soon = performance.now() + HOLD_MS / 2;
    for (const [keyId, share] of held) {
      if (share.waiting > 0) continue;
      const used = times.used(keyId, now);
      const spare = share.slots - used > chunk;
      if (spare || used === 0 || share.until < soon) askFor(keyId).catch(failed);
    }
  }
  const timer = setInterval(look, LOOK_MS);
  timer.unref();

  return {
    limit,
    take,
    left: (keyId, now) => budgetLeft(times, { keyId, now, limit }),
    async spend(keyId, now) {
      for (;;) {
        const wait = take(keyId, now);
        if (wait === 0 || stopped) return wait;
        const share = shareOf(keyId);
        const before = slotsOf(share);
        if (before >= limit || share.askFrom > performance.now()) return wait;
        share.waiting++;
        try {
          await askFor(keyId);
        } finally {
          share.waiting--;
        }
        if (slotsOf(share) <= before) share.askFrom = performance.now() + PAUSE_MS;
      }
    },
    async stop() {
      clearInterval(timer);
      stopped = true;
      await Promise.all([...held.keys()].map(askFor)).catch(failed);
    },
    size: times.size,
  };
}
