/**
 * Runs computations whose cost grows faster than their answers in threads of their own (semantics §7). In: a job of JSON
 * values and octets. Out: its result or a `ComputeFault`. Short and long kinds have threads of their own. Of each account one
 * job runs in a lane; its others wait in a short queue, where the account that used most goes last. A job that exceeds its time or memory, or whose thread ends, fails, and a new thread runs the next
 * (`pooled-thread.ts`).
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import { StoreFault } from '../../base/storage/fault.ts';
import type { Store } from '../store/store.ts';
import { deliver, type JobDelivery } from './deliver.ts';
import {
  type Asker,
  type Compute,
  ComputeFault,
  type Job,
  type JobDone,
  type JobKind,
  type JobOf,
  type JobResults,
  LANE_OF,
  stoppingFault,
} from './job.ts';
import { createPooledThread, endThread, type PooledThread, runInThread } from './pooled-thread.ts';

/**
 * Threads that run long jobs (proofs, analysis, diff, recommendations). Two, so that one slow job never delays every other
 * account; more would take processor time from the API's own thread.
 */
const LONG_THREADS = 2;
/** Threads that run short jobs (simulation, printing, traffic), which no long job can take. */
const SHORT_THREADS = 2;
/**
 * Maximum processor time of one long job, in milliseconds: the analysis of 10,000 rules takes six to nine seconds. Where the
 * system does not count the processor time of a thread, it limits the run time.
 */
const COMPUTE_MS = 20_000;
/** The same of one short job: a simulation of the largest domain takes less than one second. */
const SHORT_MS = 5_000;
/**
 * Maximum run time of one job, in milliseconds, for machines that are busy otherwise. With the wait for a thread it stays
 * within a minute, the time-out of most proxies.
 */
const RUN_MS = 30_000;
/** Milliseconds in which the thread time that an account has used counts half as much for its next turn. */
const USED_HALF_MS = 60_000;
/** Accounts whose used time is stored; those that used it longest ago are removed first. */
const MAX_USED_ACCOUNTS = 10_000;
/**
 * Maximum time a job waits for a thread, in milliseconds: less than three waits of a client that is refused (`Retry-After`).
 */
const COMPUTE_WAIT_MS = 20_000;
/** Maximum number of jobs per account that wait while another of it runs: what one page load requests at once. */
export const MAX_WAITING_OF_ACCOUNT = 8;
/** Maximum number of jobs of all accounts that wait. Each is a closure: its input is read when its turn comes. */
export const MAX_WAITING_JOBS = 256;
/** Maximum heap of a thread, in MiB; a job that needs more ends its thread, not the process. */
const COMPUTE_HEAP_MB = 1_024;

export interface ComputeOptions {
  /** Where jobs read rows by themselves. */
  readonly store: Pick<Store, 'read' | 'place'>;
  /** The thread's code; `null` computes on the caller's thread. */
  readonly file?: URL | null;
  /** Milliseconds of processor time a job may use. Default: `SHORT_MS` and `COMPUTE_MS`, by its lane. */
  readonly budgetMs?: number;
  /** Milliseconds a job may run. Default: `RUN_MS`. */
  readonly runMs?: number;
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
  const { heapMb = COMPUTE_HEAP_MB, runMs = RUN_MS, onJob } = options;
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
      const { budgetMs } = lane;
      return await runInThread(pooled, job, { file, place: store.place, heapMb, budgetMs, runMs });
    } finally {
      const ms = performance.now() - from;
      used.add(account, ms);
      onJob?.({ account, kind, seconds: ms / 1_000 });
    }
  }

  return {
    async run<Kind extends JobKind>(asker: Asker<Kind>, prepare: () => Promise<JobOf<Kind>>) {
      const { turns } = lanes[LANE_OF[asker.kind]];
      const pooled = await takeThread(turns, asker);
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

// The queue in front of the threads of a lane: the account that has used the least thread time is next, and of one account
// the oldest job. At most one job an account runs, so that no account occupies every thread. In: an account that has a job. Out: the thread it may use, or the fault it is refused with.

interface WaitingJob {
  readonly account: number;
  readonly start: (pooled: PooledThread) => void;
  readonly refuse: (reason: unknown) => void;
}

/** The threads, the accounts with a running job, and the jobs that wait, the oldest first. */
export interface Turns {
  readonly threads: readonly PooledThread[];
  readonly running: Set<number>;
  readonly waiting: WaitingJob[];
  /** Milliseconds a job waits for a thread. */
  readonly waitMs: number;
  readonly used: UsedTimes;
  closed: boolean;
}

function createTurns({
  threads,
  waitMs,
  used,
}: Pick<Turns, 'waitMs' | 'used'> & { readonly threads: number }): Turns {
  const pooled = Array.from({ length: threads }, createPooledThread);
  return { threads: pooled, running: new Set(), waiting: [], waitMs, used, closed: false };
}

/**
 * Resolves with a free thread for a job of the account; `releaseThread` must follow.
 * @throws ComputeFault `unavailable`; the reason of `gone`
 */
function takeThread(turns: Turns, { account, gone }: Asker): Promise<PooledThread> {
  if (gone?.aborted === true) return Promise.reject(gone.reason);
  const fault = refusalOfJob(turns, account);
  if (fault !== null) return Promise.reject(fault);
  return new Promise((resolve, reject) => {
    const leave = (reason: unknown): void => {
      turns.waiting.splice(turns.waiting.indexOf(job), 1);
      job.refuse(reason);
    };
    const timer = setTimeout(() => {
      const seconds = turns.waitMs / 1_000;
      const message = `no thread for this computation was free within ${seconds} s`;
      leave(new ComputeFault('unavailable', message));
    }, turns.waitMs);
    const onGone = (): void => leave(gone?.reason);
    gone?.addEventListener('abort', onGone);
    const settle = (): void => {
      clearTimeout(timer);
      gone?.removeEventListener('abort', onGone);
    };
    const job: WaitingJob = {
      account,
      start(pooled) {
        settle();
        resolve(pooled);
      },
      refuse(reason) {
        settle();
        reject(reason);
      },
    };
    turns.waiting.push(job);
    startWaiting(turns);
  });
}

/** Frees the thread of a job that has ended, and starts the next. */
function releaseThread(turns: Turns, pooled: PooledThread, account: number): void {
  pooled.busy = false;
  turns.running.delete(account);
  startWaiting(turns);
}

/** Refuses every waiting job and every later one. */
function closeTurns(turns: Turns): void {
  turns.closed = true;
  for (const job of turns.waiting.splice(0)) job.refuse(stoppingFault());
}

/** Why a job is refused; `null`: it may wait. In a full queue it takes the place of a job that is after it in order. */
function refusalOfJob(turns: Turns, account: number): ComputeFault | null {
  const { waiting, closed } = turns;
  if (closed) return stoppingFault();
  if (waitingOf(turns, account) >= MAX_WAITING_OF_ACCOUNT)
    return crowded('this account', MAX_WAITING_OF_ACCOUNT);
  if (waiting.length < MAX_WAITING_JOBS) return null;
  const fault = crowded('all accounts', MAX_WAITING_JOBS);
  const last = waiting.reduce((one, other) => (isBefore(turns, other.account, one.account) ? one : other));
  if (!isBefore(turns, account, last.account)) return fault;
  waiting.splice(waiting.indexOf(last), 1);
  last.refuse(fault);
  return null;
}

function waitingOf({ waiting }: Turns, account: number): number {
  return waiting.filter((job) => job.account === account).length;
}

/** Whether an account is before another: it has used less, or as much and has fewer jobs that wait. */
function isBefore(turns: Turns, account: number, other: number): boolean {
  const [used, others] = [turns.used.of(account), turns.used.of(other)];
  return used < others || (used === others && waitingOf(turns, account) < waitingOf(turns, other));
}

/** Gives free threads to the jobs of the accounts that have used least, of those without a running one. */
function startWaiting({ threads, running, waiting, used }: Turns): void {
  for (const pooled of threads) {
    if (pooled.busy) continue;
    let next: WaitingJob | null = null;
    for (const job of waiting) {
      if (running.has(job.account)) continue;
      if (next === null || used.of(job.account) < used.of(next.account)) next = job;
    }
    if (next === null) return;
    waiting.splice(waiting.indexOf(next), 1);
    pooled.busy = true;
    running.add(next.account);
    next.start(pooled);
  }
}

function crowded(whose: string, most: number): ComputeFault {
  return new ComputeFault('unavailable', `${most} computations of ${whose} are waiting, which is the limit`);
}

// The thread time that accounts have used, which halves every `USED_HALF_MS`: what decides whose job is next.

interface UsedTimes {
  /** Adds milliseconds of a thread. */
  add(account: number, ms: number): void;
  /** Milliseconds, those of before at a lower weight; 0: none. */
  of(account: number): number;
}

interface Used {
  readonly ms: number;
  readonly at: number;
}

/** `clock` in milliseconds, monotonic. */
function createUsedTimes(clock: () => number): UsedTimes {
  const accounts = new LRUCache<number, Used>({ max: MAX_USED_ACCOUNTS });
  const of: UsedTimes['of'] = (account) => {
    const used = accounts.peek(account);
    return used === undefined ? 0 : used.ms * 2 ** ((used.at - clock()) / USED_HALF_MS);
  };
  return {
    of,
    add(account, ms) {
      accounts.set(account, { ms: of(account) + ms, at: clock() });
    },
  };
}
