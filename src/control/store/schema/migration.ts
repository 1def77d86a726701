/** One step from older tables to newer ones. */
import { StoreFault } from '../../../base/storage/fault.ts';

/** A step: `sqlite.ts` and `postgres.ts` list them. */
export interface Migration {
  /** Counts from 1 without gaps. */
  readonly version: number;
  /** Statements run in one transaction. */
  readonly ddl: string;
}

// The steps that a database still needs.

/**
 * The steps still to take from `version`. Throws `too_new` when the tables are ahead of the steps: a database that a
 * later version has changed is never touched.
 */
export function stepsFrom(migrations: readonly Migration[], version: number): readonly Migration[] {
  const known = migrations.at(-1)?.version ?? 0;
  if (version > known) {
    const message = `the database has tables of version ${version}, this edgeplan knows up to ${known}; start the newer one`;
    throw new StoreFault('too_new', message);
  }
  return migrations.filter((migration) => migration.version > version);
}
