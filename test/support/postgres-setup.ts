/** Before all tests: finds out whether PostgreSQL answers; where `CI` is `true` it must. After them: drops their databases. */
import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { asAdmin, POSTGRES } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Why no test runs on PostgreSQL, or `null`. */
    missingPostgres: string | null;
    /** What the names of this run's databases begin with. */
    databases: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const reason = await missing();
  const prefix = `edgeplan_test_${randomBytes(6).toString('hex')}_`;
  project.provide('missingPostgres', reason);
  project.provide('databases', prefix);
  return async () => {
    if (reason === null) await dropDatabases(prefix);
  };
}

async function dropDatabases(prefix: string): Promise<void> {
  const { rows } = await asAdmin(`SELECT datname FROM pg_database WHERE starts_with(datname, '${prefix}')`);
  for (const { datname } of rows) await asAdmin(`DROP DATABASE "${datname}" WITH (FORCE)`);
}

async function missing(): Promise<string | null> {
  try {
    await asAdmin('SELECT 1');
    return null;
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return `PostgreSQL does not answer at ${POSTGRES} (${reason})`;
  }
}
