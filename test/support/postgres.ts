/** The PostgreSQL server of the tests, which make and drop databases of their own there. */
import pg from 'pg';

export const POSTGRES =
  process.env['EDGEPLAN_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/** Runs SQL as the owner of the server, by default in the database that `POSTGRES` names. */
export async function asAdmin(sql: string, address = POSTGRES): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: address, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
