/** The thread that makes large plans and seals large lists and registries: what `plan-maker.ts` starts. One order after the other, each answered by its number. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../base/platform/tasks.ts';
import { StoreFault, type StoreFaultCode } from '../../base/storage/fault.ts';
import { openSnapshots, type Snapshots } from '../store/database/open.ts';
import type { StorePlace } from '../store/place.ts';
import { PublishFault, type PublishFaultCode } from './fault.ts';
import { makePlan, type PlanSubject, readContent } from './make-plan.ts';
import { createListCache, type ListSubject, type SealedContent, sealContent } from './plan-lists.ts';
import { type RegistrySubject, sealRegistryContent } from './plan-registry.ts';

/** A plan to make, or a list or a registry to seal. */
export type PlanOrder = { readonly number: number } & Ordered;

/** What is ordered. */
export type Ordered =
  | { readonly kind: 'plan'; readonly subject: PlanSubject; readonly revision: number }
  | { readonly kind: 'list'; readonly list: ListSubject }
  | { readonly kind: 'registry'; readonly registry: RegistrySubject };

/** What became of it. */
export type PlanResult =
  | { readonly number: number; readonly kind: 'made'; readonly bytes: Uint8Array | null }
  | { readonly number: number; readonly kind: 'sealed'; readonly content: SealedContent | null }
  | {
      readonly number: number;
      readonly kind: 'refused';
      readonly code: PublishFaultCode;
      readonly message: string;
    }
  | {
      readonly number: number;
      readonly kind: 'unread';
      readonly code: StoreFaultCode;
      readonly message: string;
    };

/** What the thread is started with. */
export interface PlanThreadData {
  readonly place: StorePlace;
}

if (parentPort !== null) {
  lowerPriority();
  const snapshots = openSnapshots((workerData as PlanThreadData).place);
  let last: Promise<void> = Promise.resolve();
  parentPort.on('message', (order: PlanOrder) => {
    last = last.then(() => deliver(order, snapshots));
  });
}

async function deliver(order: PlanOrder, snapshots: Snapshots): Promise<void> {
  const delivery = await make(order, snapshots);
  const bytes = octetsOf(delivery);
  parentPort!.postMessage(delivery, bytes === null ? [] : [bytes.buffer as ArrayBuffer]);
}

function octetsOf(delivery: PlanResult): Uint8Array | null {
  if (delivery.kind === 'made') return delivery.bytes;
  return delivery.kind === 'sealed' ? (delivery.content?.bytes ?? null) : null;
}

const cache = createListCache();

async function make(order: PlanOrder, snapshots: Snapshots): Promise<PlanResult> {
  const { number } = order;
  try {
    if (order.kind === 'list') {
      const content = await snapshots.read((tx) => sealContent(tx, order.list));
      return { number, kind: 'sealed', content };
    }
    if (order.kind === 'registry') {
      const content = await snapshots.read((tx) => sealRegistryContent(tx, order.registry));
      return { number, kind: 'sealed', content };
    }
    const content = await snapshots.read((tx) => readContent(tx, order.subject, cache));
    return { number, kind: 'made', bytes: content && makePlan(content, order.revision) };
  } catch (error) {
    if (error instanceof PublishFault) {
      return { number, kind: 'refused', code: error.code, message: error.message };
    }
    if (error instanceof StoreFault) {
      return { number, kind: 'unread', code: error.code, message: error.message };
    }
    // A mistake of ours: it ends the thread, and the publication fails.
    throw error;
  }
}
