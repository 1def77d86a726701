/** Runs one order of the thread of traffic; the result, or its failure, is plain values, which can be posted from thread to thread. */
import { StoreFault, type StoreFaultCode } from '../../base/storage/fault.ts';
import type { Snapshots } from '../store/database/open.ts';
import type { TrafficBlock } from '../store/tables/traffic.ts';
import { type CheckedBatch, checkBatch, type ReceivedBatch } from './check-batch.ts';
import { TrafficRefusal } from './fault.ts';
import { CHUNK_DOMAINS, DAY, SLICES } from './limits.ts';
import {
  addBlock,
  createMerged,
  type MergedParts,
  type MergeOrder,
  mergeParts,
  sealMerged,
} from './merge-parts.ts';

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

// Builds the blocks of a day that is over from its hours, for the thread of traffic. In: a snapshot of the store. Out: the
// blocks of some domains, and where to go on. A day that is there already is left as it is.

/** The day to build. */
interface DayOrder {
  readonly slice: number;
  /** Its first minute. */
  readonly day: number;
  /** Domains with a higher id. */
  readonly after: number;
}

/** Some domains' blocks of a day. */
interface BuiltDays {
  readonly days: readonly TrafficBlock[];
  /** As `MergedParts.damaged`. */
  readonly damaged: readonly string[];
  /** The last examined domain; `null`: no domain is left. */
  readonly last: number | null;
}

/** @throws StoreFault */
async function buildDays({ slice, day, after }: DayOrder, snapshots: Snapshots): Promise<BuiltDays> {
  return snapshots.read(async (tx) => {
    const span = { from: day, to: day + DAY };
    const ids = await tx.traffic.domainsWithHours(span, {
      ...{ slice, slices: SLICES, limit: CHUNK_DOMAINS, after },
    });
    const built = await tx.traffic.blocks('days', ids, { from: day, to: day + 1 });
    const there = new Set(built.map(({ domain_id }) => domain_id));
    const damaged: string[] = [];
    const days: TrafficBlock[] = [];
    for (const domain_id of ids) {
      if (there.has(domain_id)) continue;
      const merged = createMerged();
      for (const hour of await tx.traffic.wholeBlocks('hours', [domain_id], span))
        addBlock(merged, hour, damaged);
      days.push(sealMerged(merged, { domain_id, start: day }));
    }
    return { days, damaged, last: ids.length < CHUNK_DOMAINS ? null : ids.at(-1)! };
  });
}
