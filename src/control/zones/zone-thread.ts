/** The thread that makes zones: what `zone-maker.ts` starts. One order after the other, each answered by its number. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../base/platform/tasks.ts';
import { StoreFault, type StoreFaultCode } from '../../base/storage/fault.ts';
import { openSnapshots, type Snapshots } from '../store/database/open.ts';
import type { StorePlace } from '../store/place.ts';
import { type MadeZone, makeZone } from './make-zone.ts';
import type { ZoneSettings } from './settings.ts';

/** A zone to make. */
export interface ZoneOrder {
  readonly number: number;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What became of it. */
export type ZoneResult =
  | { readonly number: number; readonly kind: 'made'; readonly made: MadeZone | null }
  | {
      readonly number: number;
      readonly kind: 'unread';
      readonly code: StoreFaultCode;
      readonly message: string;
    };

/** What the thread is started with. */
export interface ZoneThreadData {
  readonly place: StorePlace;
  readonly settings: ZoneSettings;
}

if (parentPort !== null) {
  lowerPriority();
  const { place, settings } = workerData as ZoneThreadData;
  const snapshots = openSnapshots(place);
  let last: Promise<void> = Promise.resolve();
  parentPort.on('message', (order: ZoneOrder) => {
    last = last.then(async () => parentPort!.postMessage(await make(order, { snapshots, settings })));
  });
}

async function make(
  { number, name, now }: ZoneOrder,
  { snapshots, settings }: { readonly snapshots: Snapshots; readonly settings: ZoneSettings },
): Promise<ZoneResult> {
  try {
    const made = await snapshots.read((tx) => makeZone(tx, name, { settings, now }));
    return { number, kind: 'made', made };
  } catch (error) {
    // Any other error is a mistake of ours: it ends the thread, and the zone is made again later.
    if (!(error instanceof StoreFault)) throw error;
    return { number, kind: 'unread', code: error.code, message: error.message };
  }
}
