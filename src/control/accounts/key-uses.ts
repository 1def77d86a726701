/** Counts the uses of API keys, by key and day: in memory, written in batches, so that no read request causes a write. */
import type { Store } from '../store/store.ts';
import type { KeyUseRow } from '../store/tables/accounts.ts';

const DAY_MS = 86_400_000;
/** Days of counts that are stored per key (semantics §6). */
export const DAYS_STORED = 30;

export interface KeyUses {
  /** Counts one use at `now`, milliseconds since the epoch. */
  note(keyId: number, now: number): void;
  /** Writes the counts since the last flush; those of a failed flush are written by the next. @throws StoreFault */
  flush(): Promise<void>;
}

/** The day of a time, in whole days since the epoch (UTC). */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** A row whose counts still rise. */
type PendingUse = { -readonly [Name in keyof KeyUseRow]: KeyUseRow[Name] };

/** A counter that writes to a store. */
export function createKeyUses(store: Pick<Store, 'write'>): KeyUses {
  let pending: PendingUse[] = [];
  /** The pending row of each key's last day. */
  const newest = new Map<number, PendingUse>();
  let running: Promise<void> | null = null;
  let prunedOn = 0;

  function add(row: PendingUse): void {
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
