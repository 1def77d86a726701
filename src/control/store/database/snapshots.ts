/**
 * Snapshots of a store that is open already, through connections of their own. For threads: rows are read where they are
 * used and do not pass through the thread that answers requests.
 */
import type { StorePlace } from '../place.ts';
import type { ReadTransaction } from '../store.ts';

/** Reads snapshots in a thread of its own. */
export interface Snapshots {
  /** See `Store.read`; the first call connects. @throws StoreFault */
  read<T>(work: (tx: ReadTransaction) => Promise<T>): Promise<T>;
}

/** Connects when the first snapshot is read. The connections end with their thread. */
export function openSnapshots(place: StorePlace): Snapshots {
  let opened: Promise<Snapshots> | null = null;
  return {
    async read(work) {
      opened ??= connect(place).catch((error: unknown) => {
        opened = null;
        throw error;
      });
      return (await opened).read(work);
    },
  };
}

/** Opens connections for snapshots alone: no lock, no migration. */
async function connect(place: StorePlace): Promise<Snapshots> {
  if (place.database === 'sqlite') {
    const { createReader } = await import('./sqlite/reader.ts');
    return createReader(place.file);
  }
  const { admitted, createPool } = await import('./postgres/pool.ts');
  const { readOn } = await import('./postgres/transactions.ts');
  const { access } = place;
  const pool = createPool(access, { connections: 1 });
  return { read: (work) => admitted(access, () => readOn(pool, work)) };
}
