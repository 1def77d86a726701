/** Runs one order of the thread of traffic; the result, or its failure, is plain values, which can be posted from thread to thread. */

import { StoreFault, type StoreFaultCode } from '../../base/storage/fault.ts';
import type { Snapshots } from '../store/database/snapshots.ts';
import { type BuiltDays, buildDays, type DayOrder } from './build-days.ts';
import { type CheckedBatch, checkBatch, type ReceivedBatch } from './check-batch.ts';
import { TrafficRefusal } from './fault.ts';
import { type MergedParts, type MergeOrder, mergeParts } from './merge-parts.ts';

/** Orders by kind, and what each is answered with. */
export interface TrafficOrders {
  readonly check: { readonly order: ReceivedBatch; readonly result: CheckedBatch };
  readonly merge: { readonly order: MergeOrder; readonly result: MergedParts };
  readonly day: { readonly order: DayOrder; readonly result: BuiltDays };
}

/** An order of one kind. */
export type TrafficOrder = {
  [Kind in keyof TrafficOrders]: { readonly kind: Kind } & TrafficOrders[Kind]['order'];
}[keyof TrafficOrders];

/** What the thread answers to an order. */
export type TrafficDelivery =
  | { readonly kind: 'done'; readonly result: TrafficOrders[keyof TrafficOrders]['result'] }
  /** A batch that cannot be true. */
  | { readonly kind: 'refused'; readonly status: TrafficRefusal['status']; readonly message: string }
  /** The store failed. */
  | { readonly kind: 'store'; readonly code: StoreFaultCode; readonly message: string }
  /** A bug of ours; the stack is for the log. */
  | { readonly kind: 'failed'; readonly stack: string };

/** Runs the order. Never rejects. */
export async function deliverTraffic(order: TrafficOrder, snapshots: Snapshots): Promise<TrafficDelivery> {
  try {
    return { kind: 'done', result: await resultOf(order, snapshots) };
  } catch (error) {
    if (error instanceof TrafficRefusal)
      return { kind: 'refused', status: error.status, message: error.message };
    if (error instanceof StoreFault) return { kind: 'store', code: error.code, message: error.message };
    return { kind: 'failed', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

async function resultOf(
  order: TrafficOrder,
  snapshots: Snapshots,
): Promise<TrafficOrders[keyof TrafficOrders]['result']> {
  switch (order.kind) {
    case 'check':
      return checkBatch(order);
    case 'merge':
      return mergeParts(order, snapshots);
    case 'day':
      return buildDays(order, snapshots);
    default:
      return order satisfies never;
  }
}
