/**
 * Makes plans without keeping the API waiting: small ones at once, large ones in a thread, which is started when the
 * first of them comes. A thread that dies, or takes too long, fails what it was asked for, which is tried again later
 * like any publication that failed, in a new thread.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { PublishFault } from './fault.ts';
import { makePlan } from './make-plan.ts';
import type { Delivery, Order } from './plan-thread.ts';
import type { DomainRows } from './rule-set.ts';

export interface PlanMaker {
  /** The sealed plan of that revision. Throws `PublishFault`. */
  make(rows: DomainRows, revision: number): Promise<Uint8Array>;
  /** Ends the thread; what it was asked for fails. */
  close(): Promise<void>;
}

/** Rules and records up to which a plan is made at once: that takes some 5 ms, and a thread some 40 MB. */
const AT_ONCE = 100;
/** The same for the characters of all rules: what 100 ordinary ones have. Long patterns take 0.3 to 2 µs a character. */
const AT_ONCE_CHARACTERS = 65_536;
/** Milliseconds a plan may take, waiting included; the largest takes about two seconds. */
const MAKE_MS = 60_000;
/** Plans that may wait for the thread: more than a publisher makes side by side. */
const MOST_ORDERS = 16;
/** MiB of the thread's heap: a plan that needs more takes the thread down, not the process. */
const THREAD_HEAP_MB = 2_048;

/** The thread's code stands beside this file once it is built; unbuilt sources have none that Node can run. */
function threadFile(): URL | null {
  const file = new URL('./plan-thread.js', import.meta.url);
  return existsSync(fileURLToPath(file)) ? file : null;
}

function isSmall({ rules, records }: DomainRows): boolean {
  if (rules.length + records.length > AT_ONCE) return false;
  return rules.reduce((characters, { body }) => characters + body.length, 0) <= AT_ONCE_CHARACTERS;
}

interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (fault: PublishFault) => void;
  readonly timer: NodeJS.Timeout;
}

export interface PlanMakerOptions {
  readonly makeMs?: number;
  readonly heapMb?: number;
}

/** `file` is the thread's code; `null` makes every plan at once. */
export function createPlanMaker(
  file: URL | null = threadFile(),
  { makeMs = MAKE_MS, heapMb = THREAD_HEAP_MB }: PlanMakerOptions = {},
): PlanMaker {
  const waiting = new Map<number, Waiting>();
  let thread: Worker | null = null;
  let given = 0;

  function settle(number: number): Waiting | undefined {
    const found = waiting.get(number);
    if (found !== undefined) clearTimeout(found.timer);
    waiting.delete(number);
    // Only a thread that has something to do keeps the process alive.
    if (waiting.size === 0) thread?.unref();
    return found;
  }

  function lose(lost: Worker, message: string, cause?: unknown): void {
    if (thread !== lost) return;
    thread = null;
    const fault = new PublishFault('thread', message, { cause });
    for (const number of [...waiting.keys()]) settle(number)?.reject(fault);
    void lost.terminate();
  }

  function open(code: URL): Worker {
    const own = new Worker(code, {
      execArgv: [],
      name: 'edgeplan-plans',
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    own.on('message', (delivery: Delivery) => {
      const order = settle(delivery.number);
      if ('bytes' in delivery) order?.resolve(delivery.bytes);
      else order?.reject(new PublishFault(delivery.code, delivery.message));
    });
    own.on('error', (error) => lose(own, `the thread that makes plans has failed: ${error.message}`, error));
    own.on('exit', () => lose(own, 'the thread that makes plans has ended'));
    return own;
  }

  function order(code: URL, { rows, revision }: Omit<Order, 'number'>): Promise<Uint8Array> {
    if (waiting.size >= MOST_ORDERS) {
      const message = `${MOST_ORDERS} plans are waiting to be made already`;
      return Promise.reject(new PublishFault('thread', message));
    }
    thread ??= open(code);
    const own = thread;
    own.ref();
    given += 1;
    const number = given;
    return new Promise((resolve, reject) => {
      const late = `making the plan of \`${rows.domain.name}\` took longer than ${makeMs / 1_000} seconds`;
      const timer = setTimeout(() => lose(own, late), makeMs);
      waiting.set(number, { resolve, reject, timer });
      own.postMessage({ number, rows, revision } satisfies Order);
    });
  }

  return {
    async make(rows, revision) {
      return file === null || isSmall(rows) ? makePlan(rows, revision) : order(file, { rows, revision });
    },
    async close() {
      const own = thread;
      if (own === null) return;
      lose(own, 'the publisher has stopped');
      await own.terminate();
    },
  };
}
