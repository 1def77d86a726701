/** The code of a compute thread, which `pooled-thread.ts` starts. It answers each job before the next one is sent. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../base/platform/tasks.ts';
import { openSnapshots } from '../store/database/open.ts';
import type { StorePlace } from '../store/place.ts';
import { deliver } from './deliver.ts';
import type { Job } from './job.ts';

/** The `workerData` of a thread. */
export interface ComputeThreadData {
  readonly place: StorePlace;
}

if (parentPort !== null) {
  lowerPriority();
  const port = parentPort;
  const snapshots = openSnapshots((workerData as ComputeThreadData).place);
  port.on('message', async (job: Job) => port.postMessage(await deliver(job, snapshots)));
}
