/**
 * Where entries are, and calls on them, in values that cross to another thread. In: a place, a call. Out: the store there, and
 * the outcome of the call as a value.
 */
import type { PostgresAccess } from '../store/place.ts';
import { LogFault, type LogFaultCode, LogRefusal } from './fault.ts';
import { openLines } from './lines.ts';
import type { LogBatch, LogKey, LogQuery, LogStore } from './log-store.ts';
import { storeOver } from './tables.ts';

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
