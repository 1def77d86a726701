/** Real stores for tests of the lifecycle room: SQLite in a folder of its own, PostgreSQL in a database of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';

const SERVER = process.env['EDGEPLAN_TEST_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432';

/** A fresh, empty database: what to open, and how to be rid of it. */
export interface Place {
  readonly database: string;
  drop(): Promise<void>;
}

export function sqlitePlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-life-'));
  const drop = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  return Promise.resolve({ database: folder, drop });
}

export async function postgresPlace(): Promise<Place> {
  const name = `edgeplan_life_${randomBytes(6).toString('hex')}`;
  await command(`create database ${name}`);
  return { database: `${SERVER}/${name}`, drop: () => command(`drop database ${name} with (force)`) };
}

/** Whether a PostgreSQL server answers. With CI=true it must, so that a run meant to have it fails without it. */
export async function hasPostgres(): Promise<boolean> {
  try {
    await command('select 1');
    return true;
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    console.warn(`SKIPPED: the lifecycle on PostgreSQL, no server at ${SERVER}`);
    return false;
  }
}

async function command(sql: string): Promise<void> {
  const client = new Client({ connectionString: `${SERVER}/postgres` });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
