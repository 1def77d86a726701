/**
 * The queue in front of the threads: first come, first served, but at most one running job an account, so that no account
 * occupies every thread. In: an account that has a job. Out: the thread it may use, or the fault it is refused with.
 */
import { ComputeFault, stoppingFault } from './fault.ts';
import { MAX_WAITING_JOBS, MAX_WAITING_OF_ACCOUNT } from './limits.ts';
import { createPooledThread, type PooledThread } from './pooled-thread.ts';

interface WaitingJob {
  readonly account: number;
  readonly start: (pooled: PooledThread) => void;
  readonly refuse: (fault: ComputeFault) => void;
}

/** The threads, the accounts with a running job, and the jobs that wait, the oldest first. */
export interface Turns {
  readonly threads: readonly PooledThread[];
  readonly running: Set<number>;
  readonly waiting: WaitingJob[];
  /** Milliseconds a job waits for a thread. */
  readonly waitMs: number;
  closed: boolean;
}

export function createTurns({
  threads,
  waitMs,
}: {
  readonly threads: number;
  readonly waitMs: number;
}): Turns {
  const pooled = Array.from({ length: threads }, createPooledThread);
  return { threads: pooled, running: new Set(), waiting: [], waitMs, closed: false };
}

/** Resolves with a free thread for a job of the account; `releaseThread` must follow. @throws ComputeFault `unavailable` */
export function takeThread(turns: Turns, account: number): Promise<PooledThread> {
  const fault = refusalOfJob(turns, account);
  if (fault !== null) return Promise.reject(fault);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      turns.waiting.splice(turns.waiting.indexOf(job), 1);
      const seconds = turns.waitMs / 1_000;
      const message = `no thread for this computation was free within ${seconds} s`;
      reject(new ComputeFault('unavailable', message));
    }, turns.waitMs);
    const job: WaitingJob = {
      account,
      start(pooled) {
        clearTimeout(timer);
        resolve(pooled);
      },
      refuse(reason) {
        clearTimeout(timer);
        reject(reason);
      },
    };
    turns.waiting.push(job);
    startWaiting(turns);
  });
}

/** Frees the thread of a job that has ended, and starts the next. */
export function releaseThread(turns: Turns, pooled: PooledThread, account: number): void {
  pooled.busy = false;
  turns.running.delete(account);
  startWaiting(turns);
}

/** Refuses every waiting job and every later one. */
export function closeTurns(turns: Turns): void {
  turns.closed = true;
  for (const job of turns.waiting.splice(0)) job.refuse(stoppingFault());
}

function refusalOfJob({ waiting, closed }: Turns, account: number): ComputeFault | null {
  if (closed) return stoppingFault();
  const own = waiting.filter((job) => job.account === account).length;
  if (own >= MAX_WAITING_OF_ACCOUNT) return crowded('this account', MAX_WAITING_OF_ACCOUNT);
  return waiting.length >= MAX_WAITING_JOBS ? crowded('all accounts', MAX_WAITING_JOBS) : null;
}

/** Gives free threads to the oldest jobs whose account has no running one. */
function startWaiting({ threads, running, waiting }: Turns): void {
  for (const pooled of threads) {
    if (pooled.busy) continue;
    const index = waiting.findIndex(({ account }) => !running.has(account));
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    pooled.busy = true;
    running.add(next.account);
    next.start(pooled);
  }
}

function crowded(whose: string, most: number): ComputeFault {
  return new ComputeFault('unavailable', `${most} computations of ${whose} are waiting, which is the limit`);
}
