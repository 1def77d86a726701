/** The code of the thread of traffic, which `thread.ts` starts. Orders are answered by their number, one after the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../base/platform/tasks.ts';
import { openSnapshots } from '../store/database/open.ts';
import type { StorePlace } from '../store/place.ts';
import { deliverTraffic, type TrafficDelivery, type TrafficOrder } from './deliver.ts';

/** The `workerData` of the thread. */
export interface TrafficThreadData {
  readonly place: StorePlace;
}

/** An order with its number. */
export interface NumberedOrder {
  readonly number: number;
  readonly order: TrafficOrder;
}

/** The answer to the order of the number. */
export interface NumberedDelivery {
  readonly number: number;
  readonly delivery: TrafficDelivery;
}

if (parentPort !== null) {
  lowerPriority();
  const port = parentPort;
  const snapshots = openSnapshots((workerData as TrafficThreadData).place);
  let last: Promise<void> = Promise.resolve();
  port.on('message', ({ number, order }: NumberedOrder) => {
    last = last.then(async () => {
      const delivery = await deliverTraffic(order, snapshots);
      port.postMessage({ number, delivery } satisfies NumberedDelivery);
    });
  });
}
