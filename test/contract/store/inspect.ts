/** Looks at what a killed or copied writer (`child.ts`) has left behind. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { openDatabase } from '../../../src/base/storage/sqlite.ts';
import { openSqlite } from '../../../src/control/store/database/sqlite/open.ts';
import type { Store } from '../../../src/control/store/store.ts';

/** The numbers of the writes a folder holds, after checking that the database hangs together. */
export async function inspectFolder(where: string, domainId: number): Promise<ReadonlySet<number>> {
  const database = openDatabase(join(where, 'edgeplan.db'));
  expect(database.prepare('PRAGMA integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }]);
  expect(database.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
  database.close();
  const store = await openSqlite({ folder: where, role: 'server' });
  try {
    return await inspectRows(store, domainId);
  } finally {
    await store.close();
  }
}

async function inspectRows(store: Store, domainId: number): Promise<ReadonlySet<number>> {
  return store.read(async (tx) => {
    const numbers = (await tx.rules.list(domainId, 'drop')).map((rule) => rule.priority);
    expect(new Set(numbers).size).toBe(numbers.length);
    // Each write is there whole: rule, audit entry, and outbox row unless a publication has settled it.
    const audited = (await tx.audit.list(domainId, { limit: 1e9 })).map((entry) =>
      Number(entry.action.slice(6)),
    );
    expect([...audited].sort((a, b) => a - b)).toEqual(numbers);
    const revisions = await tx.plans.list(domainId, { limit: 1e9 });
    expect(revisions.map((row) => row.revision)).toEqual(
      revisions.map((_, index) => revisions.length - index),
    );
    expect(revisions.map((row) => Number(row.reason)).sort((a, b) => a - b)).toEqual(
      numbers.filter((number) => number % 10 === 0),
    );
    for (const row of revisions.slice(0, 3)) expect(await tx.plans.blob(row.digest!)).toHaveLength(2_000);
    const waiting = await tx.outbox.list(domainId);
    for (const row of waiting) expect(row.id).toBeGreaterThan(revisions[0]?.through ?? 0);
    return new Set(numbers);
  });
}

/** Every write that was acknowledged must be there. */
export function expectAll(found: ReadonlySet<number>, wanted: readonly number[]): void {
  expect(wanted.filter((number) => !found.has(number))).toEqual([]);
}
