/** Writes the log of a database back into its file. */
import { StoreFault } from '../../../../base/storage/fault.ts';
import { faulty, openDatabase } from '../../../../base/storage/sqlite.ts';

/**
 * Makes the file of a database complete without its log, before the file is copied or renamed. `Store.close` does not: the driver's connections end when their prepared statements are collected, and SQLite writes the log back after
 * the last of them. Throws `contended` if another process reads or writes.
 */
export function foldLog(file: string): void {
  const database = openDatabase(file);
  try {
    const [row] = faulty(() => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all());
    if ((row as { readonly busy: number }).busy === 0) return;
    throw new StoreFault('contended', `\`${file}\` is in use: its log cannot be written back`);
  } finally {
    database.close();
  }
}
