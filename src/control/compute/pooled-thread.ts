/**
 * One thread of the pool: starts the thread with its first job and again after its end, sends it one job at a time, and
 * ends it when the job exceeds its time or memory.
 */
import { Worker } from 'node:worker_threads';
import type { StorePlace } from '../store/place.ts';
import type { JobDelivery } from './deliver.ts';
import { ComputeFault, type Job } from './job.ts';
import type { ComputeThreadData } from './thread.ts';

/** One of the pool's threads; a new `Worker` takes the place of one that has ended. */
export interface PooledThread {
  thread: Worker | null;
  /** A job has taken the thread. */
  busy: boolean;
  /** Rejects the job that runs in the thread; `null`: no job runs. */
  fail: ((fault: ComputeFault) => void) | null;
}

export interface ThreadOptions {
  /** The thread's code. */
  readonly file: URL;
  /** Where jobs read rows by themselves. */
  readonly place: StorePlace;
  readonly heapMb: number;
  /** Milliseconds a job may run. */
  readonly budgetMs: number;
}

export function createPooledThread(): PooledThread {
  return { thread: null, busy: false, fail: null };
}

/** Runs a job in the thread. @throws ComputeFault `unavailable` when it exceeds a limit or its thread ends */
export function runInThread(pooled: PooledThread, job: Job, options: ThreadOptions): Promise<JobDelivery> {
  const { budgetMs } = options;
  pooled.thread ??= startThread(pooled, options);
  const { thread } = pooled;
  // Keeps the process alive while this job runs; `settle` calls `unref` again, so an idle thread does not keep it alive.
  thread.ref();
  return new Promise<JobDelivery>((resolve, reject) => {
    const late = `this computation took longer than ${budgetMs / 1_000} s, which is the limit`;
    const timer = setTimeout(() => endThread(pooled, thread, unavailable(late)), budgetMs);
    const settle = (): void => {
      clearTimeout(timer);
      pooled.fail = null;
      thread.off('message', delivered);
      thread.unref();
    };
    const delivered = (delivery: JobDelivery): void => {
      settle();
      resolve(delivery);
    };
    pooled.fail = (fault) => {
      settle();
      reject(fault);
    };
    thread.on('message', delivered);
    try {
      thread.postMessage(job);
    } catch (error) {
      // A job that cannot be cloned is a bug of ours; the thread never saw it and can take the next.
      settle();
      reject(error);
    }
  });
}

/** Ends a thread and rejects its job; does nothing if the thread has already been replaced. */
export function endThread(pooled: PooledThread, thread: Worker, fault: ComputeFault): void {
  if (pooled.thread !== thread) return;
  pooled.thread = null;
  pooled.fail?.(fault);
  void thread.terminate();
}

function startThread(pooled: PooledThread, { file, place, heapMb }: ThreadOptions): Worker {
  const thread = new Worker(file, {
    execArgv: [],
    name: 'edgeplan-compute',
    workerData: { place } satisfies ComputeThreadData,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  thread.on('error', (error) => endThread(pooled, thread, crashed(error, heapMb)));
  thread.on('exit', () =>
    endThread(pooled, thread, unavailable('the thread of this computation ended before its answer')),
  );
  return thread;
}

function unavailable(message: string): ComputeFault {
  return new ComputeFault('unavailable', message);
}

function crashed(error: Error, heapMb: number): ComputeFault {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return unavailable(
    isMemory
      ? `this computation needs more memory than ${heapMb} MiB, which is the limit`
      : 'the thread of this computation failed before its answer',
  );
}
