/** When keys were last used and how often a day: counted in memory, written in batches, so that no read becomes a write. */
import type { KeyUseRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';

const DAY_MS = 86_400_000;
/** Days of requests that are kept per key (semantics §6). */
export const DAYS_STORED = 30;

export interface KeyUses {
  note(keyId: number, now: number): void;
  /** Writes what was noted since the last time. What could not be written is kept for the next. */
  flush(): Promise<void>;
}

/** The day of a moment, in whole days since the epoch. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** As rows, counting on. */
type Counted = { -readonly [Name in keyof KeyUseRow]: KeyUseRow[Name] };

/** Counts uses towards a store. */
export function createKeyUses(store: Pick<Store, 'write'>): KeyUses {
  let pending: Counted[] = [];
  /** The pending row of each key's last day. */
  const newest = new Map<number, Counted>();
  let running: Promise<void> | null = null;
  let prunedOn = 0;

  function add(row: Counted): void {
    const known = newest.get(row.key_id);
    if (known !== undefined && known.day === row.day) {
      known.requests += row.requests;
      known.last_used_at = Math.max(known.last_used_at, row.last_used_at);
      return;
    }
    pending.push(row);
    if (known === undefined || known.day < row.day) newest.set(row.key_id, row);
  }

  async function writeOut(): Promise<void> {
    if (pending.length === 0) return;
    const batch = pending;
    pending = [];
    newest.clear();
    const today = Math.max(...batch.map(({ day }) => day));
    try {
      await store.write(async (tx) => {
        await tx.keys.recordUse(batch);
        if (today !== prunedOn) await tx.keys.pruneUses(today - DAYS_STORED + 1);
      });
      prunedOn = today;
    } catch (error) {
      for (const row of batch) add(row);
      throw error;
    }
  }

  return {
    note(keyId, now) {
      add({ key_id: keyId, day: dayOf(now), requests: 1, last_used_at: now });
    },
    async flush() {
      while (running !== null) await running.catch(() => undefined);
      running = writeOut().finally(() => {
        running = null;
      });
      await running;
    },
  };
}
