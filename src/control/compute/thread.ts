/** The code of a compute thread, which `pooled-thread.ts` starts. It answers each job before the next one is sent. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority, processorClock } from '../../base/platform/tasks.ts';
import { openSnapshots } from '../store/database/open.ts';
import type { StorePlace } from '../store/place.ts';
import { deliver, type JobDelivery } from './deliver.ts';
import type { Job } from './job.ts';

/** The `workerData` of a thread. */
export interface ComputeThreadData {
  readonly place: StorePlace;
}

/** What a thread posts before the results of its jobs: it takes jobs now. */
export interface ThreadStarted {
  readonly kind: 'started';
  /** See `processorClock`. */
  readonly clock: string | null;
}

/** What a thread posts. */
export type ThreadMessage = ThreadStarted | JobDelivery;

if (parentPort !== null) {
  lowerPriority();
  const port = parentPort;
  const snapshots = openSnapshots((workerData as ComputeThreadData).place);
  port.postMessage({ kind: 'started', clock: processorClock() } satisfies ThreadMessage);
  port.on('message', async (job: Job) => port.postMessage(await deliver(job, snapshots)));
}
