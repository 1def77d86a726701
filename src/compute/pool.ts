/**
 * Runs computations whose cost grows faster than their answers in threads of their own (semantics §7). In: a job of JSON
 * values and octets. Out: its result or a `ComputeFault`. Each account has one running job; its others wait in a short
 * queue (`turns.ts`). A job that exceeds its time or memory, or whose thread ends, fails, and a new thread runs the next
 * (`pooled-thread.ts`).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { StoreFault } from '../store/fault.ts';
import type { Store } from '../store/store.ts';
import { deliver, type JobDelivery } from './deliver.ts';
import { ComputeFault, stoppingFault } from './fault.ts';
import type { Compute, Job, JobDone, JobKind, JobOf, JobResults } from './job.ts';
import { COMPUTE_HEAP_MB, COMPUTE_MS, COMPUTE_THREADS, COMPUTE_WAIT_MS } from './limits.ts';
import { endThread, type PooledThread, runInThread } from './pooled-thread.ts';
import { closeTurns, createTurns, releaseThread, takeThread } from './turns.ts';

export interface ComputeOptions {
  /** Where jobs read rows by themselves. */
  readonly store: Pick<Store, 'read' | 'place'>;
  /** The thread's code; `null` computes on the caller's thread. */
  readonly file?: URL | null;
  /** Milliseconds a job may run. Default: `COMPUTE_MS`. */
  readonly budgetMs?: number;
  /** Milliseconds a job may wait for a thread. Default: `COMPUTE_WAIT_MS`. */
  readonly waitMs?: number;
  /** MiB of a thread's heap. Default: `COMPUTE_HEAP_MB`. */
  readonly heapMb?: number;
  /** Called with the cost of each job, for metrics. */
  readonly onJob?: (done: JobDone) => void;
}

/** The thread's compiled code beside this file; `null` for the sources, which Node 20 cannot run. */
function threadFile(): URL | null {
  const file = new URL('./thread.js', import.meta.url);
  return existsSync(fileURLToPath(file)) ? file : null;
}

/** Creates the pool. Its threads start with their first jobs. */
export function createCompute(options: ComputeOptions): Compute {
  const { store, file = threadFile(), budgetMs = COMPUTE_MS, waitMs = COMPUTE_WAIT_MS } = options;
  const { heapMb = COMPUTE_HEAP_MB, onJob } = options;
  const turns = createTurns({ threads: COMPUTE_THREADS, waitMs });

  async function runJob(
    pooled: PooledThread,
    account: number,
    prepare: () => Promise<Job>,
  ): Promise<JobDelivery> {
    const job = await prepare();
    if (turns.closed) throw stoppingFault();
    const from = performance.now();
    try {
      if (file === null) return await deliver(job, store);
      return await runInThread(pooled, job, { file, place: store.place, heapMb, budgetMs });
    } finally {
      onJob?.({ account, kind: job.kind, seconds: (performance.now() - from) / 1_000 });
    }
  }

  return {
    async run<Kind extends JobKind>(account: number, prepare: () => Promise<JobOf<Kind>>) {
      const pooled = await takeThread(turns, account);
      try {
        return resultOf(await runJob(pooled, account, prepare as () => Promise<Job>)) as JobResults[Kind];
      } finally {
        releaseThread(turns, pooled, account);
      }
    },
    async close() {
      closeTurns(turns);
      await Promise.all(
        turns.threads.map(async (pooled) => {
          const { thread } = pooled;
          if (thread === null) return;
          endThread(pooled, thread, stoppingFault());
          await thread.terminate();
        }),
      );
    },
  };
}

function resultOf(delivery: JobDelivery): unknown {
  switch (delivery.kind) {
    case 'done':
      return delivery.result;
    case 'plan':
      throw new ComputeFault('plan', delivery.message);
    case 'store':
      throw new StoreFault(delivery.code, delivery.message);
    case 'failed':
      throw new Error(`a computation failed: ${delivery.stack}`);
    default:
      return delivery satisfies never;
  }
}
