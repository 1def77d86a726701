/** Purges of single responses, on both databases: positions, bounds, what ends them. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MAX_PURGE_VALUES, MAX_PURGES, MAX_PURGES_OCTETS } from '../../../src/base/vocabulary/limits.ts';
import { readPurges } from '../../../src/control/publishing/pages.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import type { CachePurgeRow } from '../../../src/control/store/tables/plans.ts';
import { newDomain, publication, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForEach } from './databases.ts';

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let domain: DomainRow;

  openForEach(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    domain = (await store.write((tx) => seed(tx))).domain;
    await publish(domain, 1);
  });

  const publish = ({ name, id }: DomainRow, revision: number) =>
    store.write(async (tx) => {
      await tx.plans.putBlob('d'.repeat(64), Uint8Array.of(1), T);
      return tx.plans.publish(publication(name, { domain_id: id, revision, digest: 'd'.repeat(64) }));
    });
  const purge = (kind: CachePurgeRow['kind'], ...values: string[]) =>
    store.write((tx) => tx.caches.purge(domain, { kind, values, at: T }));
  const stored = (above = 0) => store.latest.caches.purges(domain.id, above);
  const answer = (since: number) =>
    store.read((tx) => readPurges(tx, { domain: domain.name, since, groups: 'default' }));

  test('a purge has a position of its own, and a later one of its value replaces it', async () => {
    expect(await purge('url', 'a.example/1', 'a.example/2', 'a.example/2')).toMatchObject({
      ...{ revision: 1, position: 2, purge_through: 2, purge_floor: 0, purge_epoch: 0 },
    });
    await purge('tag', 'a.example/1');
    expect(await purge('url', 'a.example/1')).toMatchObject({ position: 4, purge_through: 4 });
    const first = { kind: 'url', value: 'a.example/2', position: 2 };
    const tag = { kind: 'tag', value: 'a.example/1', position: 3 };
    const last = { kind: 'url', value: 'a.example/1', position: 4 };
    expect(await stored()).toEqual([first, tag, last]);
    expect(await stored(2)).toEqual([tag, last]);
    expect(await answer(0)).toMatchObject({ since: 0, through: 4, floor: 0, purges: [first, tag, last] });
    expect(await answer(3)).toMatchObject({ since: 3, through: 4, purges: [last] });
    // A position above every one there is: the node comes from another history.
    expect(await answer(99)).toMatchObject({ since: 0, purges: [first, tag, last] });
  });

  test('a publication leaves the purges of its domain as they are', async () => {
    await purge('tag', 'one');
    expect(await publish(domain, 2)).toMatchObject({ purge_through: 2, purge_floor: 0 });
    expect(await stored()).toHaveLength(1);
  });

  test('the oldest purges end at the bounds, and the floor is at the newest of them', async () => {
    const rounds = Math.ceil(MAX_PURGES / MAX_PURGE_VALUES) + 3;
    for (let round = 0; round < rounds; round++) {
      await purge('tag', ...Array.from({ length: MAX_PURGE_VALUES }, (_, at) => `${round}-${at}`));
    }
    const rows = await stored();
    expect(rows.length).toBeLessThanOrEqual(MAX_PURGES);
    expect(rows.length).toBeGreaterThan(MAX_PURGES - MAX_PURGE_VALUES);
    const { purge_floor, purge_through } = (await store.latest.plans.current(domain.name))!;
    expect([purge_floor, purge_through]).toEqual([rows[0]!.position - 1, rounds + 1]);
    for (let round = 0; round < 10; round++) {
      const long = Array.from({ length: MAX_PURGE_VALUES }, (_, at) => `${round}-${at}/`.padEnd(2_000, 'x'));
      await purge('prefix', ...long);
    }
    const octets = (await stored()).reduce((sum, { value }) => sum + value.length, 0);
    expect(octets).toBeLessThanOrEqual(MAX_PURGES_OCTETS);
    expect((await answer(0))!.purges).toEqual(await stored());
  });

  test('a purge of everything ends those of single responses before it', async () => {
    await purge('tag', 'one');
    await store.write((tx) => tx.plans.purge(domain.name, { domain_id: domain.id, at: T }));
    expect(await answer(0)).toMatchObject({ through: 2, floor: 2, purges: [] });
    await purge('tag', 'two');
    expect(await answer(0)).toMatchObject({ through: 4, floor: 2, purges: [{ value: 'two' }] });
  });

  test('a domain that is deleted leaves no purge to the next of its name', async () => {
    await purge('tag', 'one');
    await store.write((tx) => tx.domains.remove(domain.id));
    expect(await stored()).toEqual([]);
    domain = await store.write((tx) => tx.domains.insert(newDomain(domain.name, domain.user_id)));
    expect(await publish(domain, 2)).toMatchObject({ purge_epoch: 1, purge_through: 2, purge_floor: 2 });
  });

  test('a domain that nodes do not serve purges nothing of the one that has its name', async () => {
    const before = await store.latest.plans.current(domain.name);
    const other = { id: domain.id + 1_000, name: domain.name };
    const claimed = await store.write((tx) =>
      tx.domains.insert({ ...newDomain('b.example', domain.user_id), name: 'b.example' }),
    );
    expect(
      await store.write((tx) =>
        tx.caches.purge({ ...other, id: claimed.id }, { kind: 'tag', values: ['one'], at: T }),
      ),
    ).toBeNull();
    expect(
      await store.write((tx) => tx.plans.purge(domain.name, { domain_id: claimed.id, at: T })),
    ).toBeNull();
    expect(await store.latest.plans.current(domain.name)).toEqual(before);
  });

  test('a node of other groups gets no purges of a domain', async () => {
    await purge('tag', 'one');
    expect(
      await store.read((tx) => readPurges(tx, { domain: domain.name, since: 0, groups: 'asia' })),
    ).toBeNull();
  });
});
