/** Before all tests: finds out whether PostgreSQL answers. Where `CI` is `true` it must. */
import type { TestProject } from 'vitest/node';
import { asAdmin, POSTGRES } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Why no test runs on PostgreSQL, or `null`. */
    missingPostgres: string | null;
  }
}

export default async function setup(project: TestProject): Promise<void> {
  project.provide('missingPostgres', await missing());
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
