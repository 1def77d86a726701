/** A thread that computes: what `pool.ts` starts. One job after the other, each answered before the next is sent. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../publisher/low-priority.ts';
import type { StorePlace } from '../store/place.ts';
import { openSnapshots } from '../store/snapshots.ts';
import { deliver } from './deliver.ts';
import type { Job } from './job.ts';

/** What a thread is started with. */
export interface ComputeThreadData {
  readonly place: StorePlace;
}

if (parentPort !== null) {
  lowerPriority();
  const port = parentPort;
  const snapshots = openSnapshots((workerData as ComputeThreadData).place);
  port.on('message', async (job: Job) => port.postMessage(await deliver(job, snapshots)));
}
