/** The stores that tests run on: a fresh data folder, and a fresh PostgreSQL database, dropped afterwards. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, inject } from 'vitest';
import { asAdmin, POSTGRES } from './postgres.ts';
import { FULL } from './size.ts';

export interface TestDatabase {
  readonly kind: 'sqlite' | 'postgres';
  /** Makes an empty one: what `openStore` takes, and the function that removes it. */
  make(): Promise<{ readonly database: string; drop(): Promise<void> }>;
}

const sqlite: TestDatabase = {
  kind: 'sqlite',
  async make() {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-store-'));
    return { database: folder, drop: async () => rmSync(folder, { recursive: true, force: true }) };
  },
};

const postgres: TestDatabase = {
  kind: 'postgres',
  async make() {
    const name = `${inject('databases')}${randomBytes(6).toString('hex')}`;
    await asAdmin(`CREATE DATABASE ${name}`);
    const address = new URL(POSTGRES);
    address.pathname = `/${name}`;
    const drop = async (): Promise<void> => {
      await asAdmin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    };
    return { database: address.href, drop };
  },
};

/** Every store that answers here. */
export function everyDatabase(): readonly TestDatabase[] {
  return inject('missingPostgres') === null ? [sqlite, postgres] : [sqlite];
}

/**
 * The stores of tests whose subject is above the store: the embedded one in `npm test`, one of both by the file's name in
 * CI, each in `npm run test:full`. The contract of the store (`test/contract/store/`) is tested on each in every run.
 */
export function testDatabases(): readonly TestDatabase[] {
  if (FULL) return everyDatabase();
  if (process.env['CI'] !== 'true') return [sqlite];
  const databases = everyDatabase();
  const sum = [...basename(expect.getState().testPath!)].reduce((all, sign) => all + sign.charCodeAt(0), 0);
  return [databases[sum % databases.length]!];
}
