/**
 * Opens the log store of a server. Entries are written by one thread and searched by another, so that neither a flood of
 * entries nor a long search delays the API's own thread, and a search does not delay what nodes send. The unbuilt sources run
 * both on the caller's thread.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { MAX_SEARCHES_OF_ACCOUNT, MAX_WAITING_CALLS } from './limits.ts';
import { type Appended, LogFault, type LogPage, type LogStore, type StoredLogEntry } from './log-store.ts';
import {
  deliverCall,
  type LogCall,
  type LogDelivery,
  type LogPlaceOfStore,
  openPlace,
  resultOf,
} from './place.ts';
import type { NumberedCall } from './thread.ts';

export interface OpenLogsOptions {
  readonly place: LogPlaceOfStore;
  /** The threads' code; `null` runs calls on the caller's thread. Default: the compiled file, if there is one. */
  readonly file?: URL | null;
}

/** Runs calls on the entries, somewhere. */
interface Caller {
  /** @throws LogRefusal, LogFault */
  call(call: LogCall): Promise<unknown>;
  close(): Promise<void>;
}

/** Opens the entries. The threads start with their first calls, and again after one has ended. */
export function openLogs({ place, file = threadFile() }: OpenLogsOptions): LogStore {
  const writer = file === null ? callHere(place) : callInThread(place, file);
  const reader = file === null ? writer : callInThread(place, file);
  const searching = new Map<number, Searching>();
  return {
    append: (batch) => writer.call({ method: 'append', batch }) as Promise<Appended>,
    find: (query, gone) =>
      inTurn(
        searching,
        { account: query.account, gone },
        () => reader.call({ method: 'find', query }) as Promise<LogPage>,
      ),
    get: (wanted) => reader.call({ method: 'get', wanted }) as Promise<StoredLogEntry | null>,
    prune: (now) => writer.call({ method: 'prune', now }) as Promise<number>,
    async close() {
      await writer.close();
      if (reader !== writer) await reader.close();
    },
  };
}

/** The searches of one account. */
interface Searching {
  /** Those that run or wait. */
  count: number;
  /** Resolves when the last of them has ended; never rejects. */
  last: Promise<unknown>;
}

/** Whose search it is; `gone` aborts once nobody waits for its result. */
interface Searcher {
  readonly account: number;
  readonly gone: AbortSignal | undefined;
}

/**
 * Runs the searches of an account one after another; one that waits ends when its client has gone.
 * @throws LogFault `busy` where the account has as many as it may; the reason of `gone`
 */
async function inTurn<T>(
  searching: Map<number, Searching>,
  { account, gone }: Searcher,
  search: () => Promise<T>,
): Promise<T> {
  gone?.throwIfAborted();
  const own = searching.get(account) ?? { count: 0, last: Promise.resolve() };
  if (own.count >= MAX_SEARCHES_OF_ACCOUNT) {
    throw new LogFault('busy', `${own.count} searches of this account run or wait already; try again`);
  }
  searching.set(account, own);
  own.count++;
  const { last } = own;
  const turn = new Promise<void>((resolve, reject) => {
    void last.then(() => resolve());
    gone?.addEventListener('abort', () => reject(gone.reason), { once: true });
  });
  const found = turn.then(search);
  // A search that has left ends before those that run before it.
  own.last = last.then(() => found).catch(() => undefined);
  try {
    return await found;
  } finally {
    if (--own.count === 0) searching.delete(account);
  }
}

/** The thread's compiled code beside this file; `null` for the sources, which Node 20 cannot run. */
function threadFile(): URL | null {
  const file = new URL('./thread.js', import.meta.url);
  return existsSync(fileURLToPath(file)) ? file : null;
}

function callHere(place: LogPlaceOfStore): Caller {
  const store = openPlace(place);
  // The first call reports why the place cannot be opened.
  store.catch(() => undefined);
  const call = async (one: LogCall): Promise<unknown> => resultOf(await deliverCall(await store, one));
  return { call, close: async () => void (await call({ method: 'close' })) };
}

interface Waiting {
  readonly resolve: (delivery: LogDelivery) => void;
  readonly reject: (fault: LogFault) => void;
}

interface ThreadState {
  readonly place: LogPlaceOfStore;
  readonly file: URL;
  readonly waiting: Map<number, Waiting>;
  thread: Worker | null;
  lastNumber: number;
  closed: boolean;
}

function callInThread(place: LogPlaceOfStore, file: URL): Caller {
  const state: ThreadState = { place, file, waiting: new Map(), thread: null, lastNumber: 0, closed: false };
  const call = async (one: LogCall): Promise<unknown> => resultOf(await send(state, one));
  return {
    call,
    async close() {
      const { thread } = state;
      if (state.closed || thread === null) {
        state.closed = true;
        return;
      }
      try {
        await call({ method: 'close' });
      } finally {
        state.closed = true;
        await thread.terminate();
      }
    },
  };
}

function send(state: ThreadState, call: LogCall): Promise<LogDelivery> {
  if (state.closed) return Promise.reject(new LogFault('unavailable', 'the server is stopping'));
  if (state.waiting.size >= MAX_WAITING_CALLS && call.method !== 'close') {
    const message = `${MAX_WAITING_CALLS} calls on the log of decisions wait already; try again`;
    return Promise.reject(new LogFault('busy', message));
  }
  state.thread ??= startThread(state);
  const { thread } = state;
  const number = ++state.lastNumber;
  // Keeps the process alive while a call runs; an idle thread does not.
  thread.ref();
  return new Promise((resolve, reject) => {
    state.waiting.set(number, { resolve, reject });
    thread.postMessage({ number, call } satisfies NumberedCall);
  });
}

function startThread(state: ThreadState): Worker {
  const thread = new Worker(state.file, { execArgv: [], name: 'edgeplan-logs', workerData: state.place });
  thread.on('message', ({ number, delivery }: { number: number; delivery: LogDelivery }) => {
    state.waiting.get(number)?.resolve(delivery);
    state.waiting.delete(number);
    if (state.waiting.size === 0) thread.unref();
  });
  thread.on('error', (error) => endThread(state, thread, error));
  thread.on('exit', () => endThread(state, thread, new Error('it ended')));
  return thread;
}

/** Rejects the calls of a thread that has ended; the next call starts another one. */
function endThread(state: ThreadState, thread: Worker, cause: Error): void {
  if (state.thread !== thread) return;
  state.thread = null;
  const fault = new LogFault('unavailable', `the thread of the log has failed: ${cause.message}`, { cause });
  for (const { reject } of state.waiting.values()) reject(fault);
  state.waiting.clear();
}
