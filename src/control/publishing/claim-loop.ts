/**
 * Claims domains with waiting rows and publishes them until nothing can be claimed. Slow domains do not hold up others:
 * the loop claims further ones while they are compiled. Its pace leaves most of the processor to requests of the API.
 */
import type { PendingDomain } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { CLAIMS_UNDER_WAY, SLOW_MS } from './limits.ts';

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
  /** Milliseconds by a clock that is never set. */
  readonly steady: () => number;
  /** Milliseconds after which a claim lapses; renewed three times in it. */
  readonly leaseMs: number;
  /** Publishes one domain; 1 when it made a revision. Never rejects. */
  readonly attempt: (pending: PendingDomain) => Promise<0 | 1>;
  readonly onStoreFault: (error: unknown) => void;
}

export interface ClaimLoop {
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

export function createClaimLoop(options: ClaimLoopOptions): ClaimLoop {
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
