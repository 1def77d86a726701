/**
 * Where entries are, and calls on them, in values that cross to another thread. In: a place, a call. Out: the store there, and
 * the outcome of the call as a value.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { PostgresAccess } from '../store/place.ts';
import { MAX_REMEMBERED_BATCHES } from './limits.ts';
import {
  type Appended,
  type LogBatch,
  LogFault,
  type LogFaultCode,
  type LogKey,
  type LogQuery,
  LogRefusal,
  type LogStore,
} from './log-store.ts';
import { readBatch } from './read-batch.ts';
import { storeOver, withoutRoom } from './tables.ts';

/** The bounds that tests lower. */
interface SizeBounds {
  readonly domainOctets?: number;
  readonly totalOctets?: number;
}

/** Where entries are, and for how many days. It may have a database's password: it is not for logs. */
export type LogPlaceOfStore = { readonly days: number } & (
  | ({ readonly kind: 'sqlite'; readonly folder: string } & SizeBounds)
  | ({ readonly kind: 'postgres'; readonly access: PostgresAccess } & SizeBounds)
  | { readonly kind: 'lines'; readonly file: string }
);

/** A call of a method of the store. */
export type LogCall =
  | { readonly method: 'append'; readonly batch: LogBatch }
  | { readonly method: 'find'; readonly query: LogQuery }
  | { readonly method: 'get'; readonly wanted: LogKey }
  | { readonly method: 'prune'; readonly now: number }
  | { readonly method: 'close' };

/** The outcome of a call. */
export type LogDelivery =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'fault'; readonly code: LogFaultCode; readonly message: string }
  | { readonly kind: 'failed'; readonly stack: string };

/** Opens the entries of a place on this thread. */
export async function openPlace(place: LogPlaceOfStore): Promise<LogStore> {
  switch (place.kind) {
    case 'sqlite':
      return storeOver((await import('./sqlite-days.ts')).openSqliteDays(place), place.days);
    case 'postgres':
      return storeOver((await import('./postgres-days.ts')).openPostgresDays(place), place.days);
    case 'lines':
      return openLines(place);
    default:
      return place satisfies never;
  }
}

/** Runs a call; never rejects. */
export async function deliverCall(store: LogStore, call: LogCall): Promise<LogDelivery> {
  try {
    return { kind: 'done', result: await runCall(store, call) };
  } catch (error) {
    if (error instanceof LogRefusal) return { kind: 'refused', message: error.message };
    if (error instanceof LogFault) return { kind: 'fault', code: error.code, message: error.message };
    return { kind: 'failed', stack: error instanceof Error ? String(error.stack) : String(error) };
  }
}

function runCall(store: LogStore, call: LogCall): Promise<unknown> {
  switch (call.method) {
    case 'append':
      return store.append(call.batch);
    case 'find':
      return store.find(call.query);
    case 'get':
      return store.get(call.wanted);
    case 'prune':
      return store.prune(call.now);
    case 'close':
      return store.close();
    default:
      return call satisfies never;
  }
}

/** The result of a delivery. @throws LogRefusal, LogFault */
export function resultOf(delivery: LogDelivery): unknown {
  switch (delivery.kind) {
    case 'done':
      return delivery.result;
    case 'refused':
      throw new LogRefusal(delivery.message);
    case 'fault':
      throw new LogFault(delivery.code, delivery.message);
    case 'failed':
      throw new Error(`the log of decisions failed: ${delivery.stack}`);
    default:
      return delivery satisfies never;
  }
}

// Log entries as JSON lines in a file or on stdout, for a collector that stores and searches them. In: batches, checked as
// for a database. Out: each entry as one line, with the id of the node that sent it. A batch that is sent again, since its
// answer was lost, is not written again while this process runs and has its digest; later its entries appear twice, with the
// same ids.

export interface LinesOptions {
  /** A path; `-` is stdout. */
  readonly file: string;
  /** Days after which an entry is too old to be written. */
  readonly days: number;
}

/** The mode of a new file, which contains addresses of visitors. */
const PRIVATE = 0o640;

/** The file is opened for each batch, so that it can be moved away at any time. */
function openLines({ file, days }: LinesOptions): LogStore {
  const absent = async (): Promise<never> => {
    throw new LogFault('absent', 'this server writes log entries as lines and stores none (--decision-logs)');
  };
  const recent = new Map<string, Promise<Appended>>();
  async function write(batch: LogBatch): Promise<Appended> {
    const { rows, foreign } = readBatch(batch, days);
    const lines = rows.map(({ line, nodeId }) => `${line.slice(0, -1)},"node_id":${nodeId}}\n`);
    if (lines.length > 0) await writeTo(file, lines.join(''));
    return { stored: rows.length, repeated: 0, dropped: foreign };
  }
  return {
    async append(batch) {
      const digest = createHash('sha256').update(`${batch.nodeId}\n`).update(batch.bytes).digest('base64');
      const before = recent.get(digest);
      if (before !== undefined) {
        // The first one may still be written; where it fails, this one is refused too, and sent again.
        const { stored, dropped } = await before;
        return { stored: 0, repeated: stored, dropped };
      }
      const writing = write(batch);
      recent.set(digest, writing);
      if (recent.size > MAX_REMEMBERED_BATCHES) recent.delete(recent.keys().next().value!);
      try {
        return await writing;
      } catch (error) {
        recent.delete(digest);
        throw error;
      }
    },
    find: absent,
    get: absent,
    prune: async () => 0,
    close: async () => undefined,
  };
}

async function writeTo(file: string, text: string): Promise<void> {
  try {
    if (file === '-') return await writeOut(text);
    const handle: FileHandle = await open(file, 'a', PRIVATE);
    try {
      await handle.appendFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw withoutRoom('the disk is full', error);
    const reason = error instanceof Error ? error.message : String(error);
    throw new LogFault('unavailable', `log entries cannot be written: ${reason}`, { cause: error });
  }
}

function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
