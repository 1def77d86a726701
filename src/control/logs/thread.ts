/**
 * The code of a log thread, which `open-logs.ts` starts: opens the entries and runs calls on them, each on its own. Its
 * `workerData` says where the entries are.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { deliverCall, type LogCall, type LogPlaceOfStore, openPlace } from './place.ts';

/** A call with the number that its answer repeats. */
export interface NumberedCall {
  readonly number: number;
  readonly call: LogCall;
}

if (parentPort !== null) {
  const port = parentPort;
  const store = openPlace(workerData as LogPlaceOfStore);
  port.on('message', async ({ number, call }: NumberedCall) => {
    port.postMessage({ number, delivery: await deliverCall(await store, call) });
  });
}
