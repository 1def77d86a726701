/**
 * Runs computations that grow faster than their answers in threads of their own (semantics §7). In goes a job of JSON
 * values and octets, out comes its result or a refusal. Each account has one job under way; its others wait in a short
 * queue. A job past its time, its memory, or the end of its thread is a 503, and a new thread serves the next job.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StoreFault } from '../../store/fault.ts';
import type { Store } from '../../store/store.ts';
import {
  COMPUTE_HEAP_MB,
  COMPUTE_MS,
  COMPUTE_THREADS,
  COMPUTE_WAIT_MS,
  MAX_WAITING,
  MAX_WAITING_OF_ACCOUNT,
} from '../limits.ts';
import { Refusal } from '../refusal.ts';
import { deliver, type JobDelivery } from './deliver.ts';
import type { Compute, Job, JobDone, JobKind, JobOf, JobResults } from './job.ts';
import type { ComputeThreadData } from './thread.ts';

export interface ComputeOptions {
  /** Where jobs read rows by themselves. */
  readonly store: Pick<Store, 'read' | 'place'>;
  /** The thread's code; `null` computes on the caller's thread. */
  readonly file?: URL | null;
  readonly budgetMs?: number;
  readonly waitMs?: number;
  readonly heapMb?: number;
  /** Notes what a job cost, for metrics. */
  readonly onJob?: (done: JobDone) => void;
}

/** The thread's code stands beside this file once it is built; Node cannot run the sources. */
function threadFile(): URL | null {
  const file = new URL('./thread.js', import.meta.url);
  return existsSync(fileURLToPath(file)) ? file : null;
}

interface Waiting {
  readonly account: number;
  readonly begin: (slot: Slot) => void;
  readonly refuse: (refusal: Refusal) => void;
}

/** The place of one thread, which is started by the first job and again after its end. */
interface Slot {
  thread: Worker | null;
  busy: boolean;
  /** Refuses the job under way. */
  lose: ((refusal: Refusal) => void) | null;
}

export function createCompute(options: ComputeOptions): Compute {
  const { store, file = threadFile(), budgetMs = COMPUTE_MS, waitMs = COMPUTE_WAIT_MS } = options;
  const heapMb = options.heapMb ?? COMPUTE_HEAP_MB;
  const slots = Array.from(
    { length: COMPUTE_THREADS },
    (): Slot => ({ thread: null, busy: false, lose: null }),
  );
  const running = new Set<number>();
  const queue: Waiting[] = [];
  let closed = false;

  /** Gives free threads to those who came first and whose account has nothing under way. */
  function advance(): void {
    for (const slot of slots) {
      if (slot.busy) continue;
      const index = queue.findIndex(({ account }) => !running.has(account));
      const [next] = index < 0 ? [] : queue.splice(index, 1);
      if (next === undefined) return;
      slot.busy = true;
      running.add(next.account);
      next.begin(slot);
    }
  }

  function release(slot: Slot, account: number): void {
    slot.busy = false;
    running.delete(account);
    advance();
  }

  function enter(account: number): Promise<Slot> {
    if (closed) return Promise.reject(stopping());
    const own = queue.filter((waiting) => waiting.account === account).length;
    if (own >= MAX_WAITING_OF_ACCOUNT) return Promise.reject(crowded('this account', MAX_WAITING_OF_ACCOUNT));
    if (queue.length >= MAX_WAITING) return Promise.reject(crowded('all accounts', MAX_WAITING));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(waiting), 1);
        const seconds = waitMs / 1_000;
        reject(unavailable(`no thread for this computation was free within ${seconds} s`));
      }, waitMs);
      const waiting: Waiting = {
        account,
        begin(slot) {
          clearTimeout(timer);
          resolve(slot);
        },
        refuse(refusal) {
          clearTimeout(timer);
          reject(refusal);
        },
      };
      queue.push(waiting);
      advance();
    });
  }

  function end(slot: Slot, ended: Worker, refusal: Refusal): void {
    if (slot.thread !== ended) return;
    slot.thread = null;
    slot.lose?.(refusal);
    void ended.terminate();
  }

  function open(slot: Slot, code: URL): Worker {
    const own = new Worker(code, {
      execArgv: [],
      name: 'edgeplan-compute',
      workerData: { place: store.place } satisfies ComputeThreadData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    own.on('error', (error) => end(slot, own, crashed(error, heapMb)));
    own.on('exit', () =>
      end(slot, own, unavailable('the thread of this computation ended before its answer')),
    );
    return own;
  }

  function compute(slot: Slot, job: Job, code: URL): Promise<JobDelivery> {
    slot.thread ??= open(slot, code);
    const thread = slot.thread;
    // Only a thread with a job keeps the process alive.
    thread.ref();
    return new Promise<JobDelivery>((resolve, reject) => {
      const seconds = budgetMs / 1_000;
      const late = `this computation took longer than ${seconds} s, which is the limit`;
      const timer = setTimeout(() => end(slot, thread, unavailable(late)), budgetMs);
      const settle = (): void => {
        clearTimeout(timer);
        slot.lose = null;
        thread.off('message', answered);
        thread.unref();
      };
      const answered = (delivery: JobDelivery): void => {
        settle();
        resolve(delivery);
      };
      slot.lose = (refusal) => {
        settle();
        reject(refusal);
      };
      thread.on('message', answered);
      try {
        thread.postMessage(job);
      } catch (error) {
        // What cannot be cloned is a mistake of ours; the thread is as good as before.
        settle();
        reject(error);
      }
    });
  }

  async function take(slot: Slot, account: number, prepare: () => Promise<Job>): Promise<JobDelivery> {
    const job = await prepare();
    if (closed) throw stopping();
    const from = performance.now();
    try {
      return await (file === null ? deliver(job, store) : compute(slot, job, file));
    } finally {
      options.onJob?.({ account, kind: job.kind, seconds: (performance.now() - from) / 1_000 });
    }
  }

  return {
    async run<Kind extends JobKind>(account: number, prepare: () => Promise<JobOf<Kind>>) {
      const slot = await enter(account);
      try {
        return resultOf(await take(slot, account, prepare as () => Promise<Job>)) as JobResults[Kind];
      } finally {
        release(slot, account);
      }
    },
    async close() {
      closed = true;
      for (const waiting of queue.splice(0)) waiting.refuse(stopping());
      await Promise.all(
        slots.map(async (slot) => {
          const { thread } = slot;
          if (thread === null) return;
          end(slot, thread, stopping());
          await thread.terminate();
        }),
      );
    },
  };
}

function resultOf(delivery: JobDelivery): unknown {
  if (delivery.kind === 'done') return delivery.result;
  if (delivery.kind === 'refused') throw new Refusal(delivery.status, delivery.message);
  if (delivery.kind === 'unread') throw new StoreFault(delivery.code, delivery.message);
  throw new Error(`a computation failed: ${delivery.stack}`);
}

/** Seconds after which a refused computation may be asked for again: most are over by then. */
const RETRY_AFTER = '5';

function unavailable(reason: string): Refusal {
  return new Refusal(503, reason, { 'retry-after': RETRY_AFTER });
}

function crowded(whose: string, most: number): Refusal {
  return unavailable(`${most} computations of ${whose} are waiting, which is the limit`);
}

function stopping(): Refusal {
  return unavailable('the server is stopping');
}

function crashed(error: Error, heapMb: number): Refusal {
  const memory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return unavailable(
    memory
      ? `this computation needs more memory than ${heapMb} MiB, which is the limit`
      : 'the thread of this computation failed before its answer',
  );
}
