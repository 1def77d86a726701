/**
 * Log entries as JSON lines in a file or on stdout, for a collector that stores and searches them. In: batches, checked as
 * for a database. Out: each entry as one line, with the id of the node that sent it. A repeated batch is written again, since
 * nothing here is searched; its entries have the same ids.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { LogFault } from './fault.ts';
import type { LogStore } from './log-store.ts';
import { readBatch } from './read-batch.ts';
import { withoutRoom } from './tables.ts';

export interface LinesOptions {
  /** A path; `-` is stdout. */
  readonly file: string;
  /** Days after which an entry is too old to be written. */
  readonly days: number;
}

/** The mode of a new file, which contains addresses of visitors. */
const PRIVATE = 0o640;

/** The file is opened for each batch, so that it can be moved away at any time. */
export function openLines({ file, days }: LinesOptions): LogStore {
  const absent = async (): Promise<never> => {
    throw new LogFault('absent', 'this server writes log entries as lines and stores none (--decision-logs)');
  };
  return {
    async append(batch) {
      const { rows, foreign } = readBatch(batch, days);
      const lines = rows.map(({ line, nodeId }) => `${line.slice(0, -1)},"node_id":${nodeId}}\n`);
      if (lines.length > 0) await writeTo(file, lines.join(''));
      return { stored: rows.length, repeated: 0, dropped: foreign };
    },
    find: absent,
    get: absent,
    prune: async () => 0,
    close: async () => undefined,
  };
}

async function writeTo(file: string, text: string): Promise<void> {
  try {
    if (file === '-') return await writeOut(text);
    const handle: FileHandle = await open(file, 'a', PRIVATE);
    try {
      await handle.appendFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw withoutRoom('the disk is full', error);
    const reason = error instanceof Error ? error.message : String(error);
    throw new LogFault('unavailable', `log entries cannot be written: ${reason}`, { cause: error });
  }
}

function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
