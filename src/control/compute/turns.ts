/**
 * The queue in front of the threads of a lane: the account that has used the least thread time is next, and of one account
 * the oldest job. At most one job an account runs, so that no account occupies every thread. In: an account that has a job. Out: the thread it may use, or the fault it is refused with.
 */
import { ComputeFault, stoppingFault } from './fault.ts';
import { MAX_WAITING_JOBS, MAX_WAITING_OF_ACCOUNT } from './limits.ts';
import { createPooledThread, type PooledThread } from './pooled-thread.ts';
import type { UsedTimes } from './used-times.ts';

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
  readonly used: UsedTimes;
  closed: boolean;
}

export function createTurns({
  threads,
  waitMs,
  used,
}: Pick<Turns, 'waitMs' | 'used'> & { readonly threads: number }): Turns {
  const pooled = Array.from({ length: threads }, createPooledThread);
  return { threads: pooled, running: new Set(), waiting: [], waitMs, used, closed: false };
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
