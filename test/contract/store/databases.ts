/** The databases the contract holds for: a fresh one for each `open`, gone after `dispose`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Migration } from '../../../src/store/migration.ts';
import { openPostgres } from '../../../src/store/postgres/open.ts';
import { openSqlite } from '../../../src/store/sqlite/open.ts';
import type { Store } from '../../../src/store/store.ts';

/** Where tests find PostgreSQL; they make and drop databases of their own there. */
export const POSTGRES =
  process.env['EDGEPLAN_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/** A place to keep a store; opening it twice opens the same data. */
export interface Place {
  /** Opens the store, with the steps of this version unless others are given. */
  open(migrations?: readonly Migration[]): Promise<Store>;
  /** A folder or an address. */
  readonly database: string;
  dispose(): Promise<void>;
}

export interface Kind {
  readonly name: 'sqlite' | 'postgres';
  place(): Promise<Place>;
}

export const sqlite: Kind = {
  name: 'sqlite',
  async place() {
    const folder = await mkdtemp(join(tmpdir(), 'edgeplan-store-'));
    return {
      database: folder,
      open: (migrations) => openSqlite({ folder, role: 'server', ...(migrations && { migrations }) }),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
};

export const postgres: Kind = {
  name: 'postgres',
  async place() {
    const name = `edgeplan_${process.pid}_${Math.random().toString(36).slice(2)}`;
    // Another locale than "C", so that an order that leans on it shows.
    await asAdmin(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
    const address = new URL(POSTGRES);
    address.pathname = `/${name}`;
    return {
      database: address.href,
      open: (migrations) => openPostgres({ address: address.href, ...(migrations && { migrations }) }),
      dispose: () => asAdmin(`DROP DATABASE ${name} WITH (FORCE)`),
    };
  },
};

export async function asAdmin(sql: string, address = POSTGRES): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

async function postgresAnswers(): Promise<boolean> {
  try {
    await asAdmin('SELECT 1');
    return true;
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`\nNOT TESTED on PostgreSQL: ${POSTGRES} does not answer (${reason})\n\n`);
    return false;
  }
}

/** Those that can be tested here: PostgreSQL may be missing on a desk, never where CI is "true". */
export const kinds: readonly Kind[] = (await postgresAnswers()) ? [sqlite, postgres] : [sqlite];
