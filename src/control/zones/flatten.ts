/**
 * Looks up the addresses of names outside a zone that the zone contains (`targets` of `zoneContent`). In: the rows of
 * targets and a DNS client. Out: rows with the current answer, and a call for each target whose answer has changed.
 * Several processes may run it on one database; a target is then looked up more often than it must be, no more.
 */
import { setMaxListeners } from 'node:events';
import { type Backoff, backoffMs, createSemaphore, pause } from '../../base/platform/tasks.ts';
import type { Dns } from '../dns/resolver.ts';
import type { Store } from '../store/store.ts';
import type { FlattenedTargetRow } from '../store/tables/zones.ts';
import {
  LAST_ANSWER_MS,
  LOOKUP_BATCH,
  LOOKUP_POLL_MS,
  LOOKUPS_AT_ONCE,
  MAX_FLATTENED_ADDRESSES,
  MAX_LOOKUP_SEC,
  MIN_LOOKUP_SEC,
  TARGET_CLAIM_MS,
} from './limits.ts';

/** A row of the table `flattened_targets`; times in milliseconds since the epoch. */
export interface FlattenedTarget {
  /** Canonical, without a trailing dot. */
  readonly target: string;
  /** The last answer, sorted: JSON in the table. */
  readonly addresses: readonly string[];
  /** When the last answer came; `null`: there was none yet. */
  readonly good_at: number | null;
  /** Failed lookups since the last answer. */
  readonly failures: number;
  /** When the target is due for a lookup. */
  readonly next_at: number;
}

/**
 * Targets whose last lookup failed have places of their own: a domain with targets that never answer must not delay those of
 * others.
 */
export type LookupLane = 'answering' | 'failing';

/** The store's side. @throws StoreFault from both methods */
export interface FlattenedTargets {
  /** At most `limit` rows of a lane with `next_at` up to `now`, the earliest first. */
  due(now: number, limit: number, lane: LookupLane): Promise<readonly FlattenedTarget[]>;
  /**
   * Updates the row if it still exists. With `changed`, the zones of the target are marked for publication in the same
   * transaction, so that a crash loses no change.
   */
  put(row: FlattenedTarget, changed: boolean): Promise<void>;
}

/** The result of one lookup. A failure is no answer. */
export type LookupOutcome =
  | { readonly kind: 'answer'; readonly addresses: readonly string[]; readonly ttlSec: number }
  | { readonly kind: 'failure' };

/** The row of a new target, due at once. */
export function newTarget(target: string, now: number): FlattenedTarget {
  return { target, addresses: [], good_at: null, failures: 0, next_at: now };
}

/** The answer about a target as `zoneContent` takes it; `null`: there was none yet. */
export function answerOf({ addresses, good_at }: FlattenedTarget): readonly string[] | null {
  return good_at === null ? null : addresses;
}

/** The row after a lookup that ended at `now`. */
export function nextState(previous: FlattenedTarget, outcome: LookupOutcome, now: number): FlattenedTarget {
  const { target, good_at, failures } = previous;
  if (outcome.kind === 'failure') {
    const over = good_at !== null && now - good_at >= LAST_ANSWER_MS;
    const addresses = over ? [] : previous.addresses;
    return {
      target,
      addresses,
      good_at,
      failures: failures + 1,
      next_at: now + backoffMs(failures, RETRIES),
    };
  }
  const waitSec = Math.min(MAX_LOOKUP_SEC, Math.max(MIN_LOOKUP_SEC, outcome.ttlSec));
  const addresses = boundedAddresses(outcome.addresses);
  return { target, addresses, good_at: now, failures: 0, next_at: now + waitSec * 1_000 };
}

/** Whether the zone's content differs between two rows of a target. */
export function answerChanged(before: FlattenedTarget, after: FlattenedTarget): boolean {
  return JSON.stringify(answerOf(before)) !== JSON.stringify(answerOf(after));
}

/** The waits after failed lookups. */
const RETRIES: Backoff = { first: MIN_LOOKUP_SEC * 1_000, last: MAX_LOOKUP_SEC * 1_000 };

/** Sorted, distinct, IPv4 first, at most `MAX_FLATTENED_ADDRESSES` of each family. */
function boundedAddresses(addresses: readonly string[]): readonly string[] {
  const sorted = [...new Set(addresses)].sort();
  return [false, true].flatMap((colon) =>
    sorted.filter((address) => address.includes(':') === colon).slice(0, MAX_FLATTENED_ADDRESSES),
  );
}

/** What the flattener is created with. */
export interface FlattenerOptions {
  readonly dns: Pick<Dns, 'hostAddresses'>;
  readonly targets: FlattenedTargets;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Milliseconds between polls for due targets. Default: `LOOKUP_POLL_MS`. */
  readonly pollMs?: number;
  /** Called with each note, for logs and metrics. */
  readonly note?: (note: FlattenerNote) => void;
}

/** An event for logs and metrics. */
export type FlattenerNote =
  | { readonly kind: 'changed'; readonly target: string; readonly addresses: readonly string[] }
  /** A lookup failed and will run again; `null`: a failure of the store, about no one target. */
  | { readonly kind: 'failed'; readonly target: string | null; readonly error: unknown };

/** Looks up targets. */
export interface Flattener {
  /** Starts polling for due targets. */
  start(): void;
  /** Polls now, if it polls: a target may be new. */
  wake(): void;
  /** Stops polling, aborts the lookups in progress and resolves when they have ended. */
  stop(): Promise<void>;
  /** Looks up every target that is due now. Returns how many. @throws StoreFault */
  lookUpDue(): Promise<number>;
}

/** The options with their defaults, and the signal that `stop` aborts. */
interface FlattenerContext extends FlattenerOptions {
  readonly clock: () => number;
  readonly note: (note: FlattenerNote) => void;
  readonly signal: AbortSignal;
}

/** Creates the flattener. Nothing runs before `start` or a call. */
export function createFlattener(options: FlattenerOptions): Flattener {
  const stopping = new AbortController();
  // Both queries of every running lookup listen, and so does the place in the queue of a resolver.
  setMaxListeners(4 * (LOOKUPS_AT_ONCE.answering + LOOKUPS_AT_ONCE.failing), stopping.signal);
  const { clock = Date.now, note = () => {}, pollMs = LOOKUP_POLL_MS } = options;
  const context: FlattenerContext = { ...options, clock, note, signal: stopping.signal };
  const passes = { answering: createSemaphore(1), failing: createSemaphore(1) } as const;
  let polling: Promise<unknown> | null = null;
  let wake = new AbortController();

  const pass = (lane: LookupLane): Promise<number> => passes[lane].run(() => lookUpDue(context, lane));
  const poll = async (lane: LookupLane): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await pass(lane);
      } catch (error) {
        note({ kind: 'failed', target: null, error });
      }
      // At another moment in each process, so that one of them finds the work and the others find it done.
      const woken = lane === 'answering' ? wake : stopping;
      await pause(pollMs * (0.75 + Math.random() / 2), woken.signal);
      if (!stopping.signal.aborted && woken.signal.aborted) wake = new AbortController();
    }
  };
  return {
    start() {
      polling ??= Promise.all([poll('answering'), poll('failing')]);
    },
    wake: () => wake.abort(),
    async stop() {
      stopping.abort();
      wake.abort();
      await polling;
      for (const lane of [passes.answering, passes.failing]) await lane.run(async () => {});
    },
    lookUpDue: async () => (await pass('answering')) + (await pass('failing')),
  };
}

/** Looks up due targets of a lane in batches until none is due, `LOOKUPS_AT_ONCE` at once. */
async function lookUpDue(context: FlattenerContext, lane: LookupLane): Promise<number> {
  const { targets, clock, signal } = context;
  let done = 0;
  while (!signal.aborted) {
    const rows = await targets.due(clock(), LOOKUP_BATCH, lane);
    const queue = [...rows];
    const work = async (): Promise<void> => {
      for (let row = queue.shift(); row !== undefined && !signal.aborted; row = queue.shift()) {
        await lookUp(context, row);
        done++;
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: LOOKUPS_AT_ONCE[lane] }, work));
    const failed = ended.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    if (rows.length < LOOKUP_BATCH) break;
  }
  return done;
}

/** Looks up one target and stores its row; a lookup that `stop` aborts changes nothing. @throws StoreFault */
async function lookUp(
  { dns, targets, clock, note, signal }: FlattenerContext,
  row: FlattenedTarget,
): Promise<void> {
  const { target } = row;
  let outcome: LookupOutcome = { kind: 'failure' };
  try {
    outcome = { kind: 'answer', ...(await dns.hostAddresses(target, signal)) };
  } catch (error) {
    if (signal.aborted) return;
    note({ kind: 'failed', target, error });
  }
  const after = nextState(row, outcome, clock());
  const changed = answerChanged(row, after);
  await targets.put(after, changed);
  if (changed) note({ kind: 'changed', target, addresses: after.addresses });
}

// Targets of ALIAS records as the store has them, for the flattener. Several processes divide them by claims.

/** Reads and writes targets. `clock` in milliseconds since the epoch. */
export function createStoreTargets(store: Store, clock: () => number): FlattenedTargets {
  return {
    async due(now, limit, lane) {
      const claim = { now, until: now + TARGET_CLAIM_MS, limit, failing: lane === 'failing' };
      return (await store.write((tx) => tx.zones.claimTargets(claim))).map(targetOf);
    },
    put: ({ addresses, ...target }, changed) =>
      store.write(async (tx) => {
        await tx.zones.putTarget({ ...target, addresses_json: JSON.stringify(addresses) });
        if (changed) await tx.zones.mark(await tx.zones.usersOf(target.target), clock());
      }),
  };
}

function targetOf({ addresses_json, ...row }: FlattenedTargetRow): FlattenedTarget {
  return { ...row, addresses: JSON.parse(addresses_json) };
}
