/** The settings of every connection, and the check that they are in force. */
import { StoreFault } from '../../../../base/storage/fault.ts';
import { type Database, faulty } from '../../../../base/storage/sqlite.ts';

/** Milliseconds a connection waits for another process's write. */
const BUSY_MS = 5_000;

/**
 * Statements that set a connection. `synchronous=FULL` makes a commit wait until the log is on the disk, without which
 * an acknowledged write would not survive power loss; `fullfsync` means the same to macOS. The log is folded back
 * into the file every 4,000 pages (16 MiB), a fourth as often as by SQLite's default: each time costs two more waits
 * for the disk.
 */
export const SETTINGS: readonly string[] = [
  `PRAGMA busy_timeout=${BUSY_MS}`,
  'PRAGMA journal_mode=WAL',
  'PRAGMA synchronous=FULL',
  'PRAGMA fullfsync=ON',
  'PRAGMA checkpoint_fullfsync=ON',
  'PRAGMA foreign_keys=ON',
  'PRAGMA wal_autocheckpoint=4000',
  'PRAGMA journal_size_limit=67108864',
];

/** What must be true afterwards: pragma to value. */
export const ASSERTED: readonly (readonly [string, string | number])[] = [
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['foreign_keys', 1],
  ['encoding', 'UTF-8'],
];

/** Sets a connection and checks it. Throws `unreadable` if a setting does not take. */
export function settle(database: Database): void {
  for (const setting of SETTINGS) faulty(() => database.prepare(setting).all());
  for (const [pragma, wanted] of ASSERTED) {
    const found = pragmaValue(database, pragma);
    if (found === wanted) continue;
    const message = `sqlite: ${pragma} is \`${found}\` and must be \`${wanted}\`, else writes would not be safe`;
    throw new StoreFault('unreadable', message);
  }
}

/** The value of a pragma that returns one. */
export function pragmaValue(database: Database, pragma: string): unknown {
  const [row] = faulty(() => database.prepare(`PRAGMA ${pragma}`).all());
  return row === undefined ? undefined : Object.values(row)[0];
}
