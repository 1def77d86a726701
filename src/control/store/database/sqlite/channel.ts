/**
 * The channel to the writing thread. A message costs some 30 µs however small it is, so statements of the same turn of the
 * event loop are sent in one.
 */
import { Worker } from 'node:worker_threads';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { driverPath, sqliteFault } from '../../../../base/storage/sqlite.ts';
import type { SqlValue } from '../statement.ts';
import { ASSERTED, SETTINGS } from './settings.ts';

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

// The writing thread. It has the only writing connection and runs statements in the order in which they are sent, a batch at
// a time; `writer.ts` decides which transactions they form.

/** One statement to run. */
interface Request {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The result of one: its rows, or the message of its error. */
type WorkerAnswer = { readonly rows: readonly unknown[] } | { readonly error: string };

/** What the thread is started with. */
export interface WorkerData {
  readonly driver: string;
  readonly file: string;
  readonly settings: typeof SETTINGS;
  readonly asserted: typeof ASSERTED;
}

/**
 * All of the thread's code. The thread is started from this function's text, so that there is no file to be found
 * beside this one: the sources run unbuilt in tests, and bundled elsewhere. It must therefore use nothing from outside
 * itself but its types.
 */
function work(): void {
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const { createRequire } = process.getBuiltinModule('node:module');
  const data = workerData as WorkerData;
  const { DatabaseSync } = createRequire(`${process.cwd()}/`)(data.driver);
  const database = new DatabaseSync(data.file);
  for (const setting of data.settings) database.prepare(setting).all();
  for (const [pragma, wanted] of data.asserted) {
    const [row] = database.prepare(`PRAGMA ${pragma}`).all();
    const found = Object.values(row)[0];
    if (found !== wanted) throw new Error(`sqlite: ${pragma} is \`${found}\` and must be \`${wanted}\``);
  }

  const statements = new Map<string, { all(...values: readonly unknown[]): unknown[] }>();
  const run = ({ sql, values }: Request): WorkerAnswer => {
    try {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = database.prepare(sql) as { all(...values: readonly unknown[]): unknown[] };
        // Statements whose text is fixed are few; those built for one call would only fill the cache.
        if (statements.size < 500) statements.set(sql, statement);
      }
      return { rows: statement.all(...values) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };

  parentPort!.on('message', (batch: readonly Request[] | 'close') => {
    if (batch === 'close') {
      statements.clear();
      database.close();
      parentPort!.close();
      return;
    }
    const answers = batch.map((request) => {
      const answer = run(request);
      // A commit that failed leaves nothing behind, so that the next transaction can begin.
      if ('error' in answer && request.sql === 'COMMIT') run({ sql: 'ROLLBACK', values: [] });
      return answer;
    });
    parentPort!.postMessage(answers);
  });
  parentPort!.postMessage('open');
}

/** Starts the thread on a database file. It posts `open` once it is ready, and stops with an error if it cannot open it. */
function startWorker(file: string): Worker {
  const workerData: WorkerData = { driver: driverPath(), file, settings: SETTINGS, asserted: ASSERTED };
  return new Worker(`(${work.toString()})()`, {
    eval: true,
    workerData,
    execArgv: [],
    name: 'edgeplan-store',
  });
}
