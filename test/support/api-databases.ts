/** The stores that journeys run on: a fresh data folder, and a fresh PostgreSQL database, dropped afterwards. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

export interface TestDatabase {
  readonly kind: 'sqlite' | 'postgres';
  /** Makes an empty one; answers what `openStore` takes, and how to be rid of it. */
  make(): Promise<{ readonly database: string; drop(): Promise<void> }>;
}

const SERVER = process.env['EDGEPLAN_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

const sqlite: TestDatabase = {
  kind: 'sqlite',
  async make() {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-api-'));
    return { database: folder, drop: async () => rmSync(folder, { recursive: true, force: true }) };
  },
};

const postgres: TestDatabase = {
  kind: 'postgres',
  async make() {
    const name = `edgeplan_api_${randomBytes(6).toString('hex')}`;
    await ask(`CREATE DATABASE ${name}`);
    const address = new URL(SERVER);
    address.pathname = `/${name}`;
    return { database: address.href, drop: () => ask(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
  },
};

async function ask(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: SERVER, connectionTimeoutMillis: 2_000 });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Why PostgreSQL cannot be used here, or `null`. */
async function whyNoPostgres(): Promise<string | null> {
  try {
    await ask('SELECT 1');
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Every store there is; a PostgreSQL that cannot be reached is told loudly, and required where `CI` is true. */
export async function testDatabases(): Promise<readonly TestDatabase[]> {
  const reason = await whyNoPostgres();
  if (reason === null) return [sqlite, postgres];
  if (process.env['CI'] === 'true') throw new Error(`PostgreSQL is required here: ${reason}`);
  process.stderr.write(`\nSKIPPED: everything on PostgreSQL, which cannot be reached: ${reason}\n\n`);
  return [sqlite];
}
