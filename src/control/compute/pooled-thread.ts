/**
 * One thread of the pool: starts the thread with its first job and again after its end, sends it one job at a time, and
 * ends it when the job exceeds its time or memory.
 */
import { Worker } from 'node:worker_threads';
import { processorMs } from '../../base/platform/tasks.ts';
import type { StorePlace } from '../store/place.ts';
import type { JobDelivery } from './deliver.ts';
import { ComputeFault, type Job } from './job.ts';
import type { ComputeThreadData, ThreadMessage, ThreadStarted } from './thread.ts';

/** Milliseconds between looks at the processor time of a job, at least. */
const LOOK_MS = 50;
/** Maximum time, in milliseconds, until a new thread takes its first job: a few tenths of a second on an idle machine. */
const START_MS = 60_000;

/** One of the pool's threads; a new `Worker` takes the place of one that has ended. */
export interface PooledThread {
  thread: Worker | null;
  /** Of `thread`; `null`: it does not take jobs yet. */
  started: ThreadStarted | null;
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
  /** Milliseconds of processor time a job may use. */
  readonly budgetMs: number;
  /** Milliseconds a job may run. */
  readonly runMs: number;
}

export function createPooledThread(): PooledThread {
  return { thread: null, started: null, busy: false, fail: null };
}

/** Runs a job in the thread. @throws ComputeFault `unavailable` when it exceeds a limit or its thread ends */
export function runInThread(pooled: PooledThread, job: Job, options: ThreadOptions): Promise<JobDelivery> {
  pooled.thread ??= startThread(pooled, options);
  const { thread } = pooled;
  // Keeps the process alive while this job runs; `settle` calls `unref` again, so an idle thread does not keep it alive.
  thread.ref();
  return new Promise<JobDelivery>((resolve, reject) => {
    const stopWatch = watchJob(pooled, options, (late) => endThread(pooled, thread, unavailable(late)));
    const settle = (): void => {
      stopWatch();
      pooled.fail = null;
      thread.off('message', delivered);
      thread.unref();
    };
    const delivered = (message: ThreadMessage): void => {
      if (message.kind === 'started') return;
      settle();
      resolve(message);
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

/**
 * Calls `onLate` with a sentence when the job that was given to the thread exceeds a limit. Its time counts from when the
 * thread takes jobs: the start of a thread is no work of the job, and takes seconds on a busy machine. Returns the function
 * that stops the watch.
 */
function watchJob(
  pooled: PooledThread,
  { budgetMs, runMs }: ThreadOptions,
  onLate: (sentence: string) => void,
): () => void {
  const given = performance.now();
  let from: { readonly at: number; readonly used: number | null } | null = null;
  let timer = setTimeout(look, 0);

  function look(): void {
    const now = performance.now();
    const { started } = pooled;
    if (started === null) {
      if (now - given < START_MS) again(LOOK_MS);
      else onLate(`no thread for this computation started within ${START_MS / 1_000} s`);
      return;
    }
    from ??= { at: now, used: usedMs(started) };
    const ran = now - from.at;
    const total = usedMs(started);
    const used = total === null || from.used === null ? ran : total - from.used;
    if (used >= budgetMs)
      onLate(`this computation took longer than ${budgetMs / 1_000} s, which is the limit`);
    else if (ran >= runMs)
      onLate(`this computation did not end within ${runMs / 1_000} s, for the machine is busy`);
    else again(Math.max(LOOK_MS, Math.min(budgetMs - used, runMs - ran)));
  }

  function again(waitMs: number): void {
    timer = setTimeout(look, waitMs);
  }

  return () => clearTimeout(timer);
}

function usedMs({ clock }: ThreadStarted): number | null {
  return clock === null ? null : processorMs(clock);
}

/** Ends a thread and rejects its job; does nothing if the thread has already been replaced. */
export function endThread(pooled: PooledThread, thread: Worker, fault: ComputeFault): void {
  if (pooled.thread !== thread) return;
  pooled.thread = null;
  pooled.started = null;
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
  thread.on('message', (message: ThreadMessage) => {
    if (message.kind === 'started' && pooled.thread === thread) pooled.started = message;
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
