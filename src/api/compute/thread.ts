/** A thread that computes: what `pool.ts` starts. One job after the other, each answered before the next is sent. */
import { parentPort } from 'node:worker_threads';
import { deliver } from './deliver.ts';
import type { Job } from './job.ts';

parentPort?.on('message', (job: Job) => parentPort!.postMessage(deliver(job)));
