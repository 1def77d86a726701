/**
 * Runs computations whose cost grows faster than their answers in threads of their own (semantics §7). In: a job of JSON
 * values and octets. Out: its result or a `ComputeFault`. Short and long kinds have threads of their own. Of each account one
 * job runs in a lane; its others wait in a short queue, where the account that used most goes last (`turns.ts`). A job that exceeds its time or memory, or whose thread ends, fails, and a new thread runs the next
 * (`pooled-thread.ts`).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { StoreFault } from '../../base/storage/fault.ts';
import type { Store } from '../store/store.ts';
import { deliver, type JobDelivery } from './deliver.ts';
import { ComputeFault, stoppingFault } from './fault.ts';
import {
  type Asker,
  type Compute,
  type Job,
  type JobDone,
  type JobKind,
  type JobOf,
  type JobResults,
  LANE_OF,
} from './job.ts';
import {
  COMPUTE_HEAP_MB,
  COMPUTE_MS,
  COMPUTE_WAIT_MS,
  LONG_THREADS,
  SHORT_MS,
  SHORT_THREADS,
} from './limits.ts';
import { endThread, type PooledThread, runInThread } from './pooled-thread.ts';
import { closeTurns, createTurns, releaseThread, takeThread } from './turns.ts';
import { createUsedTimes } from './used-times.ts';

export interface ComputeOptions {
  /** Where jobs read rows by themselves. */
  readonly store: Pick<Store, 'read' | 'place'>;
  /** The thread's code; `null` computes on the caller's thread. */
  readonly file?: URL | null;
  /** Milliseconds a job may run. Default: `SHORT_MS` and `COMPUTE_MS`, by its lane. */
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
  const { store, file = threadFile(), budgetMs, waitMs = COMPUTE_WAIT_MS } = options;
  const { heapMb = COMPUTE_HEAP_MB, onJob } = options;
  const used = createUsedTimes(() => performance.now());
  const lanes = {
    short: { turns: createTurns({ threads: SHORT_THREADS, waitMs, used }), budgetMs: budgetMs ?? SHORT_MS },
    long: { turns: createTurns({ threads: LONG_THREADS, waitMs, used }), budgetMs: budgetMs ?? COMPUTE_MS },
  };

  async function runJob(
    pooled: PooledThread,
    { account, kind }: Asker,
    prepare: () => Promise<Job>,
  ): Promise<JobDelivery> {
    const lane = lanes[LANE_OF[kind]];
    const job = await prepare();
    if (lane.turns.closed) throw stoppingFault();
    const from = performance.now();
    try {
      if (file === null) return await deliver(job, store);
      return await runInThread(pooled, job, { file, place: store.place, heapMb, budgetMs: lane.budgetMs });
    } finally {
      const ms = performance.now() - from;
      used.add(account, ms);
      onJob?.({ account, kind, seconds: ms / 1_000 });
    }
  }

  return {
    async run<Kind extends JobKind>(asker: Asker<Kind>, prepare: () => Promise<JobOf<Kind>>) {
      const { turns } = lanes[LANE_OF[asker.kind]];
      const pooled = await takeThread(turns, asker.account);
      try {
        return resultOf(await runJob(pooled, asker, prepare as () => Promise<Job>)) as JobResults[Kind];
      } finally {
        releaseThread(turns, pooled, asker.account);
      }
    },
    async close() {
      for (const { turns } of Object.values(lanes)) closeTurns(turns);
      await Promise.all(
        Object.values(lanes)
          .flatMap(({ turns }) => turns.threads)
          .map(async (pooled) => {
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
