/**
 * Reads which version the tables of a store have, and changes nothing: the file of an embedded store must exist, and no
 * step to newer tables is taken.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresAccess } from '../place.ts';
import type { StoreReport } from './store-report.ts';

/** Inspects the embedded store in a folder; `null`: there is none. @throws StoreFault */
export async function inspectFolder(folder: string): Promise<StoreReport | null> {
  const file = join(folder, 'edgeplan.db');
  if (!existsSync(file)) return null;
  const { readVersion } = await import('./sqlite/read-version.ts');
  return readVersion(file);
}

/** Inspects a PostgreSQL database. @throws StoreFault */
export async function inspectPostgres(access: PostgresAccess): Promise<StoreReport> {
  const { readVersion } = await import('./postgres/read-version.ts');
  return readVersion(access);
}
