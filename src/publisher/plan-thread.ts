/** The thread that makes large plans: what `plan-maker.ts` starts. One order after the other, each answered by its number. */
import { parentPort } from 'node:worker_threads';
import { PublishFault, type PublishFaultCode } from './fault.ts';
import { makePlan } from './make-plan.ts';
import type { DomainRows } from './rule-set.ts';

/** A plan to make. */
export interface Order {
  readonly number: number;
  readonly rows: DomainRows;
  readonly revision: number;
}

/** What became of it. */
export type Delivery =
  | { readonly number: number; readonly bytes: Uint8Array }
  | { readonly number: number; readonly code: PublishFaultCode; readonly message: string };

parentPort?.on('message', ({ number, rows, revision }: Order) => {
  try {
    const bytes = makePlan(rows, revision);
    parentPort!.postMessage({ number, bytes } satisfies Delivery, [bytes.buffer as ArrayBuffer]);
  } catch (error) {
    // Anything else is a mistake of ours: it ends the thread, and whoever ordered is told.
    if (!(error instanceof PublishFault)) throw error;
    const { code, message } = error;
    parentPort!.postMessage({ number, code, message } satisfies Delivery);
  }
});
