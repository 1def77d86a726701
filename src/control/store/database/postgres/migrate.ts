/** Migrates a PostgreSQL database to this version's tables. */
import type pg from 'pg';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { type Migration, stepsFrom } from '../../tables/steps.ts';
import { postgresFault } from './pool.ts';

/** Key of the advisory lock under which tables are changed, so that processes started together do it once: "edge". */
const MIGRATION_LOCK = 0x65646765;

/** Runs the missing steps, all in one transaction. Throws `too_new` for tables of a later version. */
export async function migrate(client: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await client.query('CREATE TABLE IF NOT EXISTS edgeplan_version (version bigint NOT NULL)');
    const found = await client.query('SELECT max(version) AS version FROM edgeplan_version');
    const version = Number(found.rows[0]?.version ?? 0);
    for (const step of stepsFrom(migrations, version)) {
      await client.query(step.ddl);
      await client.query('INSERT INTO edgeplan_version (version) VALUES ($1)', [step.version]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw postgresFault(error);
  }
}

/** Checks the server's settings. Returns warnings for its operator; throws `unreadable` for settings that lose data. */
export async function inspect(client: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await client.query(
    "SELECT current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync, current_setting('server_version') AS version",
  );
  const { encoding, fsync, version } = rows[0] as { encoding: string; fsync: string; version: string };
  if (Number.parseInt(version, 10) < 13) {
    throw new StoreFault('unreadable', `postgresql ${version} is too old, it must be 13 or later`);
  }
  if (encoding !== 'UTF8') {
    throw new StoreFault('unreadable', `the database's encoding is \`${encoding}\` and must be \`UTF8\``);
  }
  if (fsync === 'on') return [];
  return [
    'the PostgreSQL server runs with fsync off: a power loss may destroy writes that were acknowledged',
  ];
}
