/**
 * The thread of traffic: opens, checks and merges counts beside the thread that answers requests. In: orders of plain values.
 * Out: their results. The thread is started by the first order; if it ends, or an order takes too long, all its orders fail,
 * and the next one starts another. Batches that were not taken are sent again by their nodes, chunks are merged again.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StoreFault } from '../../base/storage/fault.ts';
import type { Store } from '../store/store.ts';
import { deliverTraffic, type TrafficDelivery, type TrafficOrder, type TrafficOrders } from './deliver.ts';
import { TrafficFault, TrafficRefusal } from './fault.ts';
import { MAX_WAITING_ORDERS, ORDER_MS, THREAD_HEAP_MB } from './limits.ts';
import type { NumberedDelivery, NumberedOrder, TrafficThreadData } from './thread-code.ts';

/** Orders to the thread. */
export interface TrafficThread {
  /** See `checkBatch`. @throws TrafficRefusal, TrafficFault */
  check(order: TrafficOrders['check']['order']): Promise<TrafficOrders['check']['result']>;
  /** See `mergeParts`. @throws TrafficFault, StoreFault */
  merge(order: TrafficOrders['merge']['order']): Promise<TrafficOrders['merge']['result']>;
  /** See `buildDays`. @throws TrafficFault, StoreFault */
  buildDays(order: TrafficOrders['day']['order']): Promise<TrafficOrders['day']['result']>;
  /** Ends the thread; its open orders fail. */
  close(): Promise<void>;
}

export interface TrafficThreadOptions {
  /** Where the thread reads by itself. */
  readonly store: Pick<Store, 'read' | 'place'>;
  /** The thread's code; `null` runs orders on the caller's thread. Default: that beside this file, if it is built. */
  readonly file?: URL | null;
  /** Milliseconds for an order. */
  readonly orderMs?: number;
}

interface Waiting {
  readonly resolve: (delivery: TrafficDelivery) => void;
  readonly reject: (fault: TrafficFault) => void;
  readonly timer: NodeJS.Timeout;
}

interface State {
  readonly place: Store['place'];
  readonly orderMs: number;
  readonly waiting: Map<number, Waiting>;
  thread: Worker | null;
  given: number;
  closed: boolean;
}

const STOPPED = 'the server is stopping';

/** The thread's compiled code beside this file; `null` for the sources, which Node 20 cannot run. */
function threadFile(): URL | null {
  const file = new URL('./thread-code.js', import.meta.url);
  return existsSync(fileURLToPath(file)) ? file : null;
}

export function createTrafficThread(options: TrafficThreadOptions): TrafficThread {
  const { store, file = threadFile(), orderMs = ORDER_MS } = options;
  const state: State = {
    place: store.place,
    orderMs,
    waiting: new Map(),
    thread: null,
    given: 0,
    closed: false,
  };
  const run = async <Kind extends keyof TrafficOrders>(
    order: { readonly kind: Kind } & TrafficOrders[Kind]['order'],
  ): Promise<TrafficOrders[Kind]['result']> => {
    const given = order as object as TrafficOrder;
    if (state.closed) throw new TrafficFault(STOPPED);
    const delivery = await (file === null ? deliverTraffic(given, store) : send(state, given, file));
    return resultOf(delivery) as TrafficOrders[Kind]['result'];
  };
  return {
    check: (order) => run({ kind: 'check', ...order }),
    merge: (order) => run({ kind: 'merge', ...order }),
    buildDays: (order) => run({ kind: 'day', ...order }),
    async close() {
      state.closed = true;
      const { thread } = state;
      if (thread === null) return;
      lose(state, thread, new TrafficFault(STOPPED));
      await thread.terminate();
    },
  };
}

/** Posts an order, and resolves with its answer. */
function send(state: State, order: TrafficOrder, file: URL): Promise<TrafficDelivery> {
  const { waiting, orderMs } = state;
  if (waiting.size >= MAX_WAITING_ORDERS) {
    const message = `${MAX_WAITING_ORDERS} batches of traffic are waiting, which is the limit`;
    return Promise.reject(new TrafficFault(message));
  }
  state.thread ??= start(state, file);
  const { thread } = state;
  thread.ref();
  state.given += 1;
  const number = state.given;
  return new Promise((resolve, reject) => {
    const late = new TrafficFault(
      `an order of traffic took longer than ${orderMs / 1_000} s, which is the limit`,
    );
    const timer = setTimeout(() => lose(state, thread, late), orderMs);
    waiting.set(number, { resolve, reject, timer });
    thread.postMessage({ number, order } satisfies NumberedOrder);
  });
}

function start(state: State, file: URL): Worker {
  const thread = new Worker(file, {
    execArgv: [],
    name: 'edgeplan-traffic',
    workerData: { place: state.place } satisfies TrafficThreadData,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  });
  thread.on('message', ({ number, delivery }: NumberedDelivery) => settle(state, number)?.resolve(delivery));
  thread.on('error', (cause) => {
    lose(state, thread, new TrafficFault(`the thread of traffic has failed: ${cause.message}`, { cause }));
  });
  thread.on('exit', () => lose(state, thread, new TrafficFault('the thread of traffic has ended')));
  return thread;
}

/** Removes an order; only a thread with orders prevents the process from ending. */
function settle({ waiting, thread }: State, number: number): Waiting | undefined {
  const found = waiting.get(number);
  clearTimeout(found?.timer);
  waiting.delete(number);
  if (waiting.size === 0) thread?.unref();
  return found;
}

function lose(state: State, thread: Worker, fault: TrafficFault): void {
  if (state.thread !== thread) return;
  state.thread = null;
  for (const number of [...state.waiting.keys()]) settle(state, number)?.reject(fault);
  void thread.terminate();
}

/** @throws TrafficRefusal, StoreFault */
function resultOf(delivery: TrafficDelivery): unknown {
  switch (delivery.kind) {
    case 'done':
      return delivery.result;
    case 'refused':
      throw new TrafficRefusal(delivery.message, delivery.status);
    case 'store':
      throw new StoreFault(delivery.code, delivery.message);
    case 'failed':
      throw new Error(`the thread of traffic failed: ${delivery.stack}`);
    default:
      return delivery satisfies never;
  }
}
