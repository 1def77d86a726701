/** Consumers, keys, usage plans and token issuers, on both databases: their order, the version of the registry, claims of fetches. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import type { ConsumerRow, TokenIssuerRow } from '../../../src/control/store/tables/registry.ts';
import { activeDomain, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForEach } from './databases.ts';

const LEASE = 60_000;

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let domain: DomainRow;
  let other: DomainRow;

  openForEach(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    await store.write(async (tx) => {
      ({ domain } = await seed(tx));
      other = await tx.domains.insert(activeDomain('other.example', domain.user_id));
    });
  });

  const consumer = (username: string, changes: Partial<ConsumerRow> = {}): Promise<ConsumerRow> =>
    store.write((tx) =>
      tx.consumers.insert({
        domain_id: domain.id,
        username,
        custom_id: null,
        usage_plan: null,
        body: '{}',
        created_at: T,
        updated_at: T,
        ...changes,
      }),
    );
  const key = (of: ConsumerRow, sha256: string) =>
    store.write((tx) =>
      tx.consumerKeys.insert({
        domain_id: of.domain_id,
        consumer_id: of.id,
        sha256,
        prefix: 'ek_',
        last4: 'abcd',
        name: 'first',
        created_at: T,
        expires_at: null,
      }),
    );
  const issuer = (name: string, domainId = domain.id): Promise<TokenIssuerRow> =>
    store.write((tx) =>
      tx.tokenIssuers.insert({
        domain_id: domainId,
        name,
        default_consumer: null,
        body: '{}',
        keys_state: '{}',
        created_at: T,
        updated_at: T,
      }),
    );
  const version = async (id = domain.id) => (await store.latest.registries.get(id))?.version ?? 0;
  const claim = (now: number, busy: readonly number[] = []) =>
    store.write((tx) =>
      tx.issuerFetches.claim({ now, until: now + LEASE, claim: now % 1_000_000, limit: 4, busy }),
    );

  test('consumers come by id in pages, by username as a whole, and those of a usage plan by username', async () => {
    const made = [];
    for (const username of ['b', 'c', 'a']) made.push(await consumer(username, { usage_plan: 'gold' }));
    await consumer('a', { domain_id: other.id, usage_plan: 'gold' });
    const names = (rows: readonly ConsumerRow[]) => rows.map(({ username }) => username);
    const { consumers } = store.latest;
    expect(names(await consumers.page(domain.id, { after: 0, limit: 2 }))).toEqual(['b', 'c']);
    expect(names(await consumers.page(domain.id, { after: made[1]!.id, limit: 2 }))).toEqual(['a']);
    expect(names(await consumers.list(domain.id))).toEqual(['a', 'b', 'c']);
    expect(await consumers.onPlan(domain.id, 'gold', 2)).toEqual(['a', 'b']);
    expect(await consumers.count(domain.id)).toBe(3);
    expect(await consumers.octets(domain.id)).toBe(6);
    await consumer('ü', { body: '"ü"' });
    expect(await consumers.octets(domain.id)).toBe(10);
    expect(await consumers.octets(0)).toBe(0);
  });

  test('a second username or custom id of a domain is a conflict, and one without a custom id is not', async () => {
    await consumer('a', { custom_id: '7' });
    await consumer('b');
    await consumer('c');
    await expect(consumer('a')).rejects.toMatchObject({ code: 'conflict' });
    await expect(consumer('d', { custom_id: '7' })).rejects.toMatchObject({ code: 'conflict' });
    await consumer('a', { domain_id: other.id, custom_id: '7' });
    expect((await store.latest.consumers.byCustomId(other.id, '7'))?.username).toBe('a');
  });

  test('every change of a consumer, key, usage plan or issuer raises the version of the registry of its domain alone', async () => {
    expect(await version()).toBe(0);
    const row = await consumer('a');
    expect(await version()).toBe(1);
    await store.write((tx) => tx.consumers.update({ ...row, body: '{"enabled":false}', updated_at: T + 1 }));
    const added = await key(row, 'aa');
    expect(await version()).toBe(3);
    await store.write((tx) => tx.consumerKeys.revoke(added, T + 2));
    expect(await version()).toBe(4);
    await store.write((tx) =>
      tx.usagePlans.insert({
        domain_id: domain.id,
        name: 'gold',
        body: '{}',
        created_at: T,
        updated_at: T,
        quota_period: null,
      }),
    );
    const made = await issuer('idp');
    expect(await version()).toBe(6);
    await store.write((tx) => tx.tokenIssuers.setKeys(made, { keys_state: '{"a":1}', changed: false }));
    expect(await version()).toBe(6);
    await store.write((tx) => tx.tokenIssuers.setKeys(made, { keys_state: '{"a":2}', changed: true }));
    expect(await version()).toBe(7);
    await store.write((tx) => tx.consumers.remove(domain.id, row.id));
    expect(await version()).toBe(8);
    expect(await version(other.id)).toBe(0);
  });

  test('a revoked key is in the list of its consumer and not among those of the domain', async () => {
    const row = await consumer('a');
    const [first, second] = [await key(row, 'aa'), await key(row, 'bb')];
    expect(await store.write((tx) => tx.consumerKeys.revoke(first, T + 5))).toMatchObject({
      revoked_at: T + 5,
    });
    expect(await store.write((tx) => tx.consumerKeys.revoke(first, T + 6))).toBeNull();
    expect((await store.latest.consumerKeys.list(row.id)).map(({ revoked_at }) => revoked_at)).toEqual([
      T + 5,
      null,
    ]);
    expect(await store.latest.consumerKeys.ofDomain(domain.id, 10)).toEqual([second]);
    expect(await store.latest.consumerKeys.countInForce(domain.id, T)).toBe(1);
    await store.write((tx) => tx.consumers.remove(domain.id, row.id));
    expect(await store.latest.consumerKeys.list(row.id)).toEqual([]);
  });

  test('an expired key is not in force, and comes after those that are where there is no room for all', async () => {
    const row = await consumer('a');
    const expiring = (sha256: string, expires_at: number | null) =>
      store.write((tx) =>
        tx.consumerKeys.insert({
          ...{ domain_id: row.domain_id, consumer_id: row.id, sha256, prefix: '', last4: '', name: '' },
          ...{ created_at: T, expires_at },
        }),
      );
    for (const [sha256, at] of [
      ['past', T + 1],
      ['later', T + 3],
      ['newest past', T + 2],
      ['for ever', null],
    ] as const)
      await expiring(sha256, at);
    const { consumerKeys } = store.latest;
    expect(
      await Promise.all([T, T + 1, T + 2, T + 3].map((at) => consumerKeys.countInForce(domain.id, at))),
    ).toEqual([4, 3, 2, 1]);
    const hashes = async (limit: number) =>
      (await consumerKeys.ofDomain(domain.id, limit)).map(({ sha256 }) => sha256);
    expect(await hashes(10)).toEqual(['for ever', 'later', 'newest past', 'past']);
    expect(await hashes(2)).toEqual(['for ever', 'later']);
  });

  test('the sealed form belongs to the version that was read, and its octets stay while the registry has them', async () => {
    await consumer('a');
    const sealed = { digest: 'd1', bytes: Uint8Array.of(1), at: T };
    expect(await store.write((tx) => tx.registries.putSealed(domain.id, { ...sealed, version: 1 }))).toBe(
      true,
    );
    await consumer('b');
    expect(
      await store.write((tx) => tx.registries.putSealed(domain.id, { ...sealed, digest: 'd2', version: 1 })),
    ).toBe(false);
    expect(await store.latest.registries.get(domain.id)).toMatchObject({
      version: 2,
      sealed_version: 1,
      digest: 'd1',
    });
    expect(await store.write((tx) => tx.lists.prune(T + 1, 10))).toBe(1);
    expect([...(await store.latest.lists.blob('d1'))!]).toEqual([1]);
    expect(await store.latest.lists.blob('d2')).toBeNull();
  });

  test('a fetch is claimed once, one of each account, and none of a disabled domain', async () => {
    const [one, two] = [await issuer('one'), await issuer('two')];
    await store.write(async (tx) => {
      await tx.issuerFetches.put(one.id, T);
      await tx.issuerFetches.put(two.id, T + 1);
    });
    expect(await store.latest.issuerFetches.isDue(T - 1)).toBe(false);
    const [claimed, ...more] = await claim(T + 2);
    expect(more).toEqual([]);
    expect(claimed).toMatchObject({ issuer_id: one.id, account_id: domain.user_id });
    expect(await claim(T + 3, [domain.user_id])).toEqual([]);
    const [second] = await claim(T + 3);
    expect(second).toMatchObject({ issuer_id: two.id });
    expect(await claim(T + 4)).toEqual([]);
    expect(await store.write((tx) => tx.issuerFetches.end(claimed!, T + 100))).toBe(true);
    expect(await store.write((tx) => tx.issuerFetches.end(claimed!, T + 200))).toBe(false);
    // A change of the issuer voids the claim.
    await store.write((tx) => tx.issuerFetches.put(two.id, T + 5));
    expect(await store.write((tx) => tx.issuerFetches.end(second!, T + 100))).toBe(false);
    const hidden = await issuer('three', other.id);
    await store.write(async (tx) => {
      await tx.issuerFetches.put(hidden.id, T);
      await tx.issuerFetches.remove(two.id);
      await tx.domains.update(other.id, { status: 'disabled', updated_at: T });
    });
    expect(await claim(T + 50)).toEqual([]);
    expect((await claim(T + 101)).map(({ issuer_id }) => issuer_id)).toEqual([one.id]);
  });

  test('the last use of a key is stored once it is a step after the stored one', async () => {
    const [acme, beta] = [await consumer('acme'), await consumer('beta', { domain_id: other.id })];
    const digest = 'ab'.repeat(32);
    const [own, second, foreign] = [
      await key(acme, digest),
      await key(acme, 'ac'.repeat(32)),
      await key(beta, digest),
    ];
    const versions = () => store.read((tx) => tx.registries.get(domain.id));
    const before = await versions();
    const note = (at: number) =>
      store.write((tx) => tx.consumerKeys.noteUses([{ domain_id: domain.id, key_id: 'abababab', at }], 100));
    const used = async () => {
      const keys = await store.read((tx) => tx.consumerKeys.list(acme.id));
      return keys.map(({ id, last_used_at }) => [id, last_used_at]);
    };
    await note(T);
    expect(await used()).toEqual([
      [own.id, T],
      [second.id, null],
    ]);
    for (const [at, stored] of [
      [T + 99, T],
      [T + 100, T + 100],
      [T - 500, T + 100],
    ] as const) {
      await note(at);
      expect((await used())[0]).toEqual([own.id, stored]);
    }
    expect(await store.read((tx) => tx.consumerKeys.list(beta.id))).toMatchObject([
      { id: foreign.id, last_used_at: null },
    ]);
    expect(await versions()).toEqual(before);
  });
});
