/** The thread that makes large plans: what `plan-maker.ts` starts. One order after the other, each answered by its number. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../base/platform/tasks.ts';
import { StoreFault, type StoreFaultCode } from '../../base/storage/fault.ts';
import { openSnapshots, type Snapshots } from '../store/database/open.ts';
import type { StorePlace } from '../store/place.ts';
import { PublishFault, type PublishFaultCode } from './fault.ts';
import { makePlan, type PlanSubject, readSubject } from './make-plan.ts';

/** A plan to make. */
export interface PlanOrder {
  readonly number: number;
  readonly subject: PlanSubject;
  readonly revision: number;
}

/** What became of it. */
export type PlanResult =
  | { readonly number: number; readonly kind: 'made'; readonly bytes: Uint8Array | null }
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
  const bytes = delivery.kind === 'made' ? delivery.bytes : null;
  parentPort!.postMessage(delivery, bytes === null ? [] : [bytes.buffer as ArrayBuffer]);
}

async function make({ number, subject, revision }: PlanOrder, snapshots: Snapshots): Promise<PlanResult> {
  try {
    const rows = await snapshots.read((tx) => readSubject(tx, subject));
    return { number, kind: 'made', bytes: rows === null ? null : makePlan(rows, revision) };
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
