/**
 * The channel to the writing thread. A message costs some 30 µs however small it is, so statements of the same turn of the
 * event loop are sent in one.
 */
import type { Worker } from 'node:worker_threads';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { sqliteFault } from '../../../../base/storage/sqlite.ts';
import type { SqlValue } from '../session.ts';
import { type Request, startWorker, type WorkerAnswer } from './worker.ts';

/** Runs statements in the writing thread, in the order in which they are sent. */
export interface Channel {
  /** Runs one statement after all that were sent before. Throws `StoreFault`. */
  send(sql: string, values?: readonly SqlValue[]): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

/** The promise of a statement that was sent. */
interface Waiting {
  readonly resolve: (rows: readonly unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens the channel to a database file. Throws `StoreFault`. */
export async function openChannel(file: string): Promise<Channel> {
  const worker = startWorker(file);
  await new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', (error) => reject(sqliteFault(error)));
  });
  worker.removeAllListeners('error');
  return overWorker(worker);
}

/** The channel over a started thread. If the thread stops, every waiting statement fails. */
function overWorker(worker: Worker): Channel {
  let batch: Request[] = [];
  let unsent: Waiting[] = [];
  const sent: (readonly Waiting[])[] = [];
  let broken: StoreFault | null = null;

  worker.on('message', (answers: readonly WorkerAnswer[]) => {
    const waiting = sent.shift()!;
    answers.forEach((answer, index) => {
      if ('rows' in answer) waiting[index]!.resolve(answer.rows);
      else waiting[index]!.reject(sqliteFault(new Error(answer.error)));
    });
  });
  const fail = (fault: StoreFault): void => {
    broken ??= fault;
    for (const waiting of [...sent.splice(0).flat(), ...unsent.splice(0)]) waiting.reject(broken);
    batch = [];
  };
  worker.on('error', (cause) => {
    fail(new StoreFault('unavailable', 'the thread that writes has failed', { cause, undone: false }));
  });
  worker.on('exit', () => fail(new StoreFault('closed', 'the store is closed')));

  const flush = (): void => {
    if (batch.length === 0) return;
    sent.push(unsent);
    worker.postMessage(batch);
    batch = [];
    unsent = [];
  };
  return {
    send(sql, values = []) {
      return new Promise((resolve, reject) => {
        if (broken !== null) return reject(broken);
        // After everything that is ready to run has run: a microtask comes before the promises it would wait for.
        if (batch.length === 0) queueMicrotask(() => process.nextTick(flush));
        batch.push({ sql, values });
        unsent.push({ resolve, reject });
      });
    },
    async close() {
      if (broken !== null) return;
      flush();
      const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      worker.postMessage('close');
      await gone;
    },
  };
}
