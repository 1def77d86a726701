/** Reads the version of the tables in a database file, without a change. */
import { StoreFault } from '../../../../base/storage/fault.ts';
import { openDatabase } from '../../../../base/storage/sqlite.ts';
import type { StoreReport } from '../../place.ts';
import { TABLES_VERSION } from '../../tables/steps.ts';
import { APPLICATION_ID } from './migrate.ts';
import { pragmaValue } from './settings.ts';

/** Reads a file that exists. @throws StoreFault `unreadable` when it is no database of edgeplan */
export function readVersion(file: string): StoreReport {
  const database = openDatabase(file);
  try {
    const id = Number(pragmaValue(database, 'application_id'));
    const version = Number(pragmaValue(database, 'user_version'));
    // An empty file has neither: a server that was killed at its first start.
    if (id !== APPLICATION_ID && (id !== 0 || version !== 0)) {
      throw new StoreFault('unreadable', `\`${file}\` is a database, but not one of edgeplan`);
    }
    return { version, known: TABLES_VERSION, warnings: [], clock: null };
  } finally {
    database.close();
  }
}
