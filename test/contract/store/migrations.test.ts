/** From an empty database and from older ones to this version's tables, on both databases. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isStoreFault } from '../../../src/store/fault.ts';
import type { Migration } from '../../../src/store/migration.ts';
import { POSTGRES_MIGRATIONS } from '../../../src/store/postgres/ddl.ts';
import { SQLITE_MIGRATIONS } from '../../../src/store/sqlite/ddl.ts';
import { kinds, type Place } from './databases.ts';
import { newRule, outboxRow, seed } from './samples.ts';

const STEPS = { sqlite: SQLITE_MIGRATIONS, postgres: POSTGRES_MIGRATIONS } as const;

test('both databases have the same steps, numbered without gaps', () => {
  const versions = SQLITE_MIGRATIONS.map((step) => step.version);
  expect(POSTGRES_MIGRATIONS.map((step) => step.version)).toEqual(versions);
  expect(versions).toEqual(versions.map((_, index) => index + 1));
  // Landed steps never change, so neither do the tables and columns they name.
  const columns = (steps: readonly Migration[]) =>
    steps.map((step) =>
      [...step.ddl.matchAll(/^(?:CREATE (?:UNLOGGED )?TABLE| {2})(?: )?([a-z][a-z0-9_]*)\b/gm)].map(
        (match) => match[1],
      ),
    );
  // Processes divide budgets among themselves on PostgreSQL alone.
  const shared = (names: readonly unknown[]) => !names.includes('request_shares');
  expect(columns(POSTGRES_MIGRATIONS).filter(shared)).toEqual(
    columns(SQLITE_MIGRATIONS).filter((names) => names.length > 0),
  );
});

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  const steps = STEPS[kind.name];

  beforeEach(async () => {
    place = await kind.place();
  });
  afterEach(() => place.dispose());

  test.each(steps.slice(0, -1))('from version $version', async ({ version }) => {
    const older = await place.open(steps.slice(0, version));
    const { domain } = await older.write(async (tx) => {
      const made = await seed(tx);
      await tx.rules.insert(newRule(made.domain.id, { body: '{"kept":true}' }));
      return made;
    });
    await older.close();
    const newer = await place.open(steps);
    expect(await newer.latest.domains.get(domain.id)).toEqual(domain);
    expect(await newer.latest.rules.listAll(domain.id)).toMatchObject([{ body: '{"kept":true}' }]);
    await newer.write((tx) => tx.outbox.append(outboxRow(domain)));
    expect(await newer.latest.outbox.backlog()).toMatchObject({ rows: 1 });
    await newer.close();
  });

  test('a step that fails changes nothing, and can be taken when it is mended', async () => {
    await (await place.open(steps)).close();
    const next = steps.length + 1;
    const bad = [
      ...steps,
      { version: next, ddl: 'CREATE TABLE extra (id bigint); CREATE TABLE accounts (id bigint);' },
    ];
    await expect(place.open(bad)).rejects.toThrow('already exists');
    const good = [...steps, { version: next, ddl: 'CREATE TABLE extra (id bigint);' }];
    await (await place.open(good)).close();
    await (await place.open(good)).close();
  });

  test('tables of a later version are left alone', async () => {
    const later = [...steps, { version: steps.length + 1, ddl: 'CREATE TABLE extra (id bigint);' }];
    await (await place.open(later)).close();
    const older = place.open(steps);
    await expect(older).rejects.toSatisfy((error) => isStoreFault(error, 'too_new'));
    await expect(older).rejects.toThrow(`version ${steps.length + 1}`);
    await (await place.open(later)).close();
  });

  test('several that start together make the tables once', async () => {
    if (kind.name === 'sqlite') return expect(kind.name).toBe('sqlite'); // one server a folder
    const stores = await Promise.all(Array.from({ length: 4 }, () => place.open(steps)));
    await stores[0]!.write((tx) => seed(tx));
    expect(await stores[3]!.latest.domains.byName('example.com')).not.toBeNull();
    await Promise.all(stores.map((store) => store.close()));
  });
});
