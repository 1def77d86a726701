/** Reads the version of the tables, the settings and the clock of a PostgreSQL database, without a change. */
import pg from 'pg';
import type { PostgresAccess, StoreReport } from '../../place.ts';
import { TABLES_VERSION } from '../../tables/steps.ts';
import { inspect } from './migrate.ts';
import { clientConfig, postgresFault } from './pool.ts';

/** Reads a database over a connection of its own. @throws StoreFault */
export async function readVersion(access: PostgresAccess): Promise<StoreReport> {
  const client = new pg.Client(clientConfig(access));
  // A connection that is lost between two queries is reported by the next one.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const warnings = await inspect(client);
    const { rows } = await client.query(
      "SELECT to_regclass('edgeplan_version') IS NOT NULL AS exists, extract(epoch FROM clock_timestamp()) * 1000 AS clock",
    );
    const { exists, clock } = rows[0] as { exists: boolean; clock: string };
    const found = exists ? await client.query('SELECT max(version) AS version FROM edgeplan_version') : null;
    return {
      version: Number(found?.rows[0]?.version ?? 0),
      known: TABLES_VERSION,
      warnings,
      clock: Number(clock),
    };
  } catch (error) {
    throw postgresFault(error);
  } finally {
    await client.end();
  }
}
