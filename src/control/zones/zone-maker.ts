/**
 * Makes zones in a thread, which reads their rows by itself, so that 10,000 records do not delay the API. A thread that
 * dies, or takes too long, fails what it was asked for, which is tried again later in a new thread.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StoreFault } from '../../base/storage/fault.ts';
import type { Store } from '../store/store.ts';
import { MAKE_ZONE_MS, ZONE_HEAP_MB } from './limits.ts';
import { type MadeZone, makeZone } from './make-zone.ts';
import type { ZoneSettings } from './settings.ts';
import type { ZoneOrder, ZoneResult, ZoneThreadData } from './zone-thread.ts';

/** Makes the next versions of zones. */
export interface ZoneMaker {
  /** See `makeZone`. @throws StoreFault; Error if the thread has failed */
  make(name: string, now: number): Promise<MadeZone | null>;
  /** Ends the thread; its open requests fail. */
  close(): Promise<void>;
}

export interface ZoneMakerOptions {
  readonly store: Pick<Store, 'read' | 'place'>;
  readonly settings: ZoneSettings;
  /** The thread's code; `null` makes zones on the calling thread. Default: that beside this file, if it is built. */
  readonly file?: URL | null;
}

/** The thread's code is beside this file once it is built; Node cannot run the unbuilt source. */
function threadFile(): URL | null {
  const file = new URL('./zone-thread.js', import.meta.url);
  return existsSync(fileURLToPath(file)) ? file : null;
}

interface OpenOrder {
  readonly resolve: (made: MadeZone | null) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export function createZoneMaker(options: ZoneMakerOptions): ZoneMaker {
  const { store, settings, file = threadFile() } = options;
  const open = new Map<number, OpenOrder>();
  let thread: Worker | null = null;
  let given = 0;
  let closed = false;

  function settle(number: number): OpenOrder | undefined {
    const found = open.get(number);
    if (found !== undefined) clearTimeout(found.timer);
    open.delete(number);
    // Only a thread with open requests prevents the process from ending.
    if (open.size === 0) thread?.unref();
    return found;
  }

  function lose(lost: Worker, message: string, cause?: unknown): void {
    if (thread !== lost) return;
    thread = null;
    const error = new Error(message, { cause });
    for (const number of [...open.keys()]) settle(number)?.reject(error);
    void lost.terminate();
  }

  function start(code: URL): Worker {
    const own = new Worker(code, {
      execArgv: [],
      name: 'edgeplan-zones',
      workerData: { place: store.place, settings } satisfies ZoneThreadData,
      resourceLimits: { maxOldGenerationSizeMb: ZONE_HEAP_MB },
    });
    own.on('message', (result: ZoneResult) => {
      const order = settle(result.number);
      if (result.kind === 'made') order?.resolve(result.made);
      else order?.reject(new StoreFault(result.code, result.message));
    });
    own.on('error', (error) => lose(own, `the thread that makes zones has failed: ${error.message}`, error));
    own.on('exit', () => lose(own, 'the thread that makes zones has ended'));
    return own;
  }

  return {
    make(name, now) {
      if (closed) return Promise.reject(new Error('the publisher of zones has stopped'));
      if (file === null) return store.read((tx) => makeZone(tx, name, { settings, now }));
      thread ??= start(file);
      const own = thread;
      own.ref();
      given += 1;
      const number = given;
      return new Promise((resolve, reject) => {
        const late = `making the zone of \`${name}\` took longer than ${MAKE_ZONE_MS / 1_000} seconds`;
        const timer = setTimeout(() => lose(own, late), MAKE_ZONE_MS);
        open.set(number, { resolve, reject, timer });
        own.postMessage({ number, name, now } satisfies ZoneOrder);
      });
    },
    async close() {
      closed = true;
      const own = thread;
      if (own === null) return;
      lose(own, 'the publisher of zones has stopped');
      await own.terminate();
    },
  };
}
