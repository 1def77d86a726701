/** Migrates a database file to this version's tables. */
import { StoreFault } from '../../../../base/storage/fault.ts';
import { type Database, faulty } from '../../../../base/storage/sqlite.ts';
import { type Migration, stepsFrom } from '../../tables/steps.ts';
import { pragmaValue } from './settings.ts';

/** Written into the file's header (`PRAGMA application_id`), which identifies a database of this store: "edge". */
export const APPLICATION_ID = 0x65646765;

/**
 * Runs the missing steps, all in one transaction. Throws `unreadable` for a database of another program, `too_new` for one
 * of a later version. References are checked once at the end: a step that recreates a table drops the old one, which with
 * checks on would delete every row that refers to it.
 */
export function migrate(database: Database, migrations: readonly Migration[]): void {
  // The setting cannot change inside a transaction.
  faulty(() => database.exec('PRAGMA foreign_keys=OFF'));
  faulty(() => database.exec('BEGIN IMMEDIATE'));
  try {
    const version = Number(pragmaValue(database, 'user_version'));
    checkOurs(database, version);
    const steps = stepsFrom(migrations, version);
    for (const step of steps) {
      faulty(() => database.exec(step.ddl));
      faulty(() => database.exec(`PRAGMA user_version=${step.version}`));
    }
    if (steps.length > 0) checkReferences(database);
    faulty(() => database.exec('COMMIT'));
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // After some faults SQLite has rolled back already, and then there is nothing to undo.
    }
    throw error;
  } finally {
    faulty(() => database.exec('PRAGMA foreign_keys=ON'));
  }
}

/** Throws `unreadable` if a row refers to one that does not exist. */
function checkReferences(database: Database): void {
  const [broken] = faulty(() => database.prepare('PRAGMA foreign_key_check').all());
  if (broken === undefined) return;
  const { table, parent } = broken as { table: string; parent: string };
  const message = `rows of \`${table}\` refer to rows of \`${parent}\` that are not there, so the tables stay as they are`;
  throw new StoreFault('unreadable', message);
}

/** Throws `unreadable` for a database of another program; marks an empty file as one of this store. */
function checkOurs(database: Database, version: number): void {
  const id = Number(pragmaValue(database, 'application_id'));
  if (id === APPLICATION_ID) return;
  const [row] = faulty(() => database.prepare('SELECT count(*) AS tables FROM sqlite_master').all());
  const empty = (row as { tables: number }).tables === 0 && version === 0 && id === 0;
  if (!empty) throw new StoreFault('unreadable', 'the file is a database, but not one of edgeplan');
  faulty(() => database.exec(`PRAGMA application_id=${APPLICATION_ID}`));
}
