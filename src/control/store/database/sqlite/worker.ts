/**
 * The writing thread. It has the only writing connection and runs statements in the order in which they are sent, a batch at
 * a time; `writer.ts` decides which transactions they form.
 */
import { Worker } from 'node:worker_threads';
import { DRIVER } from '../../../../base/storage/sqlite.ts';
import type { SqlValue } from '../session.ts';
import { ASSERTED, SETTINGS } from './settings.ts';

/** One statement to run. */
export interface Request {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The result of one: its rows, or the message of its error. */
export type WorkerAnswer = { readonly rows: readonly unknown[] } | { readonly error: string };

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
export function startWorker(file: string): Worker {
  const workerData: WorkerData = { driver: DRIVER, file, settings: SETTINGS, asserted: ASSERTED };
  return new Worker(`(${work.toString()})()`, {
    eval: true,
    workerData,
    execArgv: [],
    name: 'edgeplan-store',
  });
}
