/**
 * Makes plans, and seals lists and registries, without delaying the API: small ones at once, large ones in a thread, which reads their rows by itself and is
 * started when the first of them comes. A thread that dies, or takes too long, fails what it was asked for, which is tried
 * again later like any publication that failed, in a new thread.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StoreFault } from '../../base/storage/fault.ts';
import type { ReadTransaction, Store } from '../store/store.ts';
import { PublishFault } from './fault.ts';
import { SEALED_AT_ONCE, SEALED_CONSUMERS_AT_ONCE } from './limits.ts';
import { makePlan, type PlanSubject, readContent } from './make-plan.ts';
import {
  createListCache,
  type ListCache,
  type ListSubject,
  type SealedContent,
  sealContent,
} from './plan-lists.ts';
import { type RegistrySubject, type SealedRegistryContent, sealRegistryContent } from './plan-registry.ts';
import type { Ordered, PlanOrder, PlanResult, PlanThreadData } from './plan-thread.ts';

export interface PlanMaker {
  /**
   * The sealed plan of that revision, of the domain's rows as they are now; `null` if it is gone or must not serve.
   * @throws PublishFault, StoreFault
   */
  make(subject: PlanSubject, revision: number): Promise<Uint8Array | null>;
  /** The sealed list as it is now; `null` if it is gone. @throws PublishFault, StoreFault */
  seal(list: ListSubject): Promise<SealedContent | null>;
  /** The sealed registry as it is now; `null` if the domain is gone. @throws PublishFault, StoreFault */
  sealRegistry(registry: RegistrySubject): Promise<SealedRegistryContent | null>;
  /** The opened lists of this process. */
  readonly cache: ListCache;
  /** Ends the thread; its open requests fail. */
  close(): Promise<void>;
}

/** Rules and records up to which a plan is made at once: that takes some 5 ms, and a thread some 40 MB. */
const AT_ONCE = 100;
/** The same for the octets of all rules: what 100 ordinary ones have. Long patterns take 0.3 to 2 µs an octet. */
const AT_ONCE_OCTETS = 65_536;
/** Milliseconds a plan may take, waiting included; the largest takes about two seconds. */
const MAKE_MS = 60_000;
/** Plans that may wait for the thread: more than a publisher makes side by side. */
const MOST_ORDERS = 16;
/** MiB of the thread's heap: a plan that needs more takes the thread down, not the process. */
const THREAD_HEAP_MB = 2_048;
const STOPPED = 'the publisher has stopped';

/** The thread's code is beside this file once it is built; Node cannot run the unbuilt source. */
function threadFile(): URL | null {
  const file = new URL('./plan-thread.js', import.meta.url);
  return existsSync(fileURLToPath(file)) ? file : null;
}

/** Whether the rows of a domain are few enough to be read and compiled at once, by totals that are stored. */
async function isSmall(tx: ReadTransaction, domainId: number): Promise<boolean> {
  let entries = await tx.records.count(domainId);
  let octets = 0;
  // Published rules that a draft has deleted or shortened are in no total of the domain.
  const beside = await tx.drafts.storedBeside(domainId);
  for (const totals of [beside, ...(await tx.rules.totals(domainId))]) {
    entries += totals.rules;
    octets += totals.octets;
  }
  return entries <= AT_ONCE && octets <= AT_ONCE_OCTETS;
}

/** What a thread has made. */
type Delivered = Extract<PlanResult, { readonly kind: 'made' | 'sealed' }>;

interface Waiting {
  readonly resolve: (result: Delivered) => void;
  readonly reject: (fault: PublishFault | StoreFault) => void;
  readonly timer: NodeJS.Timeout;
}

export interface PlanMakerOptions {
  readonly store: Pick<Store, 'read' | 'place'>;
  /** The thread's code; `null` makes every plan at once. Default: that beside this file, if it is built. */
  readonly file?: URL | null;
  readonly makeMs?: number;
  readonly heapMb?: number;
}

export function createPlanMaker(options: PlanMakerOptions): PlanMaker {
  const { store, file = threadFile(), makeMs = MAKE_MS, heapMb = THREAD_HEAP_MB } = options;
  const waiting = new Map<number, Waiting>();
  const cache = createListCache();
  let thread: Worker | null = null;
  let given = 0;
  let closed = false;

  function settle(number: number): Waiting | undefined {
    const found = waiting.get(number);
    if (found !== undefined) clearTimeout(found.timer);
    waiting.delete(number);
    // Only a thread with open requests prevents the process from ending.
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
      workerData: { place: store.place } satisfies PlanThreadData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    own.on('message', (delivery: PlanResult) => {
      const order = settle(delivery.number);
      if (delivery.kind === 'made' || delivery.kind === 'sealed') order?.resolve(delivery);
      else order?.reject(faultOf(delivery));
    });
    own.on('error', (error) => lose(own, `the thread that makes plans has failed: ${error.message}`, error));
    own.on('exit', () => lose(own, 'the thread that makes plans has ended'));
    return own;
  }

  function order(code: URL, ordered: Ordered): Promise<Delivered> {
    if (closed) return Promise.reject(new PublishFault('thread', STOPPED));
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
      const late = `${taskOf(ordered)} took longer than ${makeMs / 1_000} seconds`;
      const timer = setTimeout(() => lose(own, late), makeMs);
      waiting.set(number, { resolve, reject, timer });
      own.postMessage({ number, ...ordered } satisfies PlanOrder);
    });
  }

  return {
    cache,
    async make(subject, revision) {
      const content = await store.read(async (tx) =>
        file === null || (await isSmall(tx, subject.domain_id)) ? readContent(tx, subject, cache) : 'large',
      );
      if (content !== 'large') return content && makePlan(content, revision);
      const made = await order(file!, { kind: 'plan', subject, revision });
      return made.kind === 'made' ? made.bytes : null;
    },
    async seal({ id, name, entries }) {
      const list = { id, name, entries };
      if (file === null || entries <= SEALED_AT_ONCE) return store.read((tx) => sealContent(tx, list));
      const sealed = await order(file, { kind: 'list', list });
      return sealed.kind === 'sealed' ? sealed.content : null;
    },
    async sealRegistry({ domain_id, domain }) {
      const registry = { domain_id, domain };
      const content = await store.read(async (tx) =>
        file === null || (await tx.consumers.count(domain_id)) <= SEALED_CONSUMERS_AT_ONCE
          ? sealRegistryContent(tx, registry)
          : 'large',
      );
      if (content !== 'large') return content;
      const sealed = await order(file!, { kind: 'registry', registry });
      return sealed.kind === 'sealed' ? sealed.content : null;
    },
    async close() {
      closed = true;
      const own = thread;
      if (own === null) return;
      lose(own, STOPPED);
      await own.terminate();
    },
  };
}

function taskOf(ordered: Ordered): string {
  if (ordered.kind === 'plan') return `making the plan of \`${ordered.subject.domain}\``;
  return ordered.kind === 'list'
    ? `sealing the list \`${ordered.list.name}\``
    : `sealing the registry of \`${ordered.registry.domain}\``;
}

function faultOf(delivery: Exclude<PlanResult, Delivered>): PublishFault | StoreFault {
  const { message } = delivery;
  return delivery.kind === 'refused'
    ? new PublishFault(delivery.code, message)
    : new StoreFault(delivery.code, message);
}
