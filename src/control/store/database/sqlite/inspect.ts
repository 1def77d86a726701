/** Checks a copy of the database, and reports what is in it. */
import { statSync } from 'node:fs';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { faulty, openDatabase } from '../../../../base/storage/sqlite.ts';

/** What a checked copy contains. */
export interface CopyReport {
  /** The size of the file. */
  readonly octets: number;
  readonly domains: number;
  readonly revisions: number;
  /** When the newest revision was made, milliseconds since the epoch; `null` without any. */
  readonly newest: number | null;
}

/** Reads every page of a copy that no other process has open. Throws `unreadable` when SQLite finds damage. */
export function inspectCopy(file: string): CopyReport {
  const database = openDatabase(file);
  try {
    const ask = (sql: string): Record<string, unknown> =>
      faulty(() => database.prepare(sql).all())[0] as Record<string, unknown>;
    const { integrity_check: verdict } = ask('PRAGMA integrity_check(1)');
    if (verdict !== 'ok') throw new StoreFault('unreadable', `the copy \`${file}\` is damaged: ${verdict}`);
    const stranger = faulty(() => database.prepare('PRAGMA foreign_key_check').all())[0];
    if (stranger !== undefined)
      throw new StoreFault(
        'unreadable',
        `the copy \`${file}\` has a row that refers to one that is not there`,
      );
    const { domains } = ask('SELECT count(*) AS domains FROM domains');
    const { revisions, newest } = ask('SELECT count(*) AS revisions, max(at) AS newest FROM plan_revisions');
    return {
      octets: statSync(file).size,
      domains: Number(domains),
      revisions: Number(revisions),
      newest: newest === null ? null : Number(newest),
    };
  } finally {
    database.close();
  }
}
