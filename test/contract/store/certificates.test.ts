/** Certificates, the digests of their sets, and the keys of nodes, on both databases. */
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/base/storage/sqlite.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { migrationsOf } from '../../../src/control/store/tables/steps.ts';
import { asAdmin } from '../../support/postgres.ts';
import { newCertificate, publication, seed, T } from '../../support/sample-rows.ts';
import { kinds, openForAll } from './databases.ts';

const DAY = 86_400_000;
const STEPS = { sqlite: migrationsOf('sqlite'), postgres: migrationsOf('postgres') } as const;

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let domain: DomainRow;
  let count = 0;

  openForAll(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    count += 1;
    domain = (await store.write((tx) => seed(tx, `d${count}.example`))).domain;
  });

  const octets = (text: string) => new Uint8Array(Buffer.from(text));
  const row = (sha256: string, key = 'k') =>
    newCertificate(domain.id, { sha256, chain: 'PEM', sealed_key: octets(key) });
  const entry = () => store.latest.plans.current(domain.name);
  const publish = (revision: number) =>
    store.write((tx) => tx.plans.publish(publication(domain.name, { domain_id: domain.id, revision })));
  const give = (digest: string | null) =>
    store.write((tx) => tx.plans.setCertificates(domain, { digest, at: T + 1 }));

  test('a list has no chain and no key, and a leaf is once in a domain', async () => {
    const one = await store.write((tx) => tx.certificates.insert(row('a')));
    expect(await store.latest.certificates.list(domain.id)).toEqual([one]);
    expect(one).not.toHaveProperty('chain');
    expect(one).not.toHaveProperty('sealed_key');
    const [whole] = await store.latest.certificates.onFile(domain.id);
    expect(whole).toMatchObject({ ...one, chain: 'PEM' });
    expect(Buffer.from(whole!.sealed_key!).toString()).toBe('k');
    await expect(store.write((tx) => tx.certificates.insert(row('a')))).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('a replaced certificate has its id, the new chain and key, and no error', async () => {
    const { id } = await store.write((tx) => tx.certificates.insert(row('a')));
    await store.write(async (tx) => {
      await tx.certificates.setState({ id, domain_id: domain.id, status: 'failed', error: 'lost' });
      await tx.certificates.replace({ id, domain_id: domain.id, chain: 'NEW', sealed_key: octets('n') });
    });
    const [whole] = await store.latest.certificates.onFile(domain.id);
    expect(whole).toMatchObject({ id, chain: 'NEW', status: 'active', error: '' });
    expect(Buffer.from(whole!.sealed_key!).toString()).toBe('n');
  });

  test('a key is sealed again only where it still is the one that was read', async () => {
    const one = await store.write((tx) => tx.certificates.insert(row('a')));
    const reseal = (before: string, after: string) =>
      store.write((tx) => tx.certificates.reseal(one, { before: octets(before), after: octets(after) }));
    expect(await reseal('other', 'n')).toBe(false);
    expect(await reseal('k', 'n')).toBe(true);
    const rows = await store.latest.certificates.withKeys(one.id - 1, 1);
    expect(rows.map(({ sealed_key }) => Buffer.from(sealed_key!).toString())).toEqual(['n']);
    expect(await store.latest.certificates.withKeys(one.id, 1)).toEqual([]);
  });

  test('of certificates that end, those are found that were not noticed before', async () => {
    const one = await store.write((tx) => tx.certificates.insert(row('a')));
    const ending = async (noticed: 'expiring' | 'expired') => {
      const found = await store.latest.certificates.ending({
        ...{ before: T + 91 * DAY, late: T, noticed, limit: 100 },
      });
      return found.filter(({ domain_id }) => domain_id === domain.id).map((found) => found.domain);
    };
    const note = (noticed: 'expiring' | 'expired') =>
      store.write((tx) => tx.certificates.setNoticed({ ...one, noticed }));
    expect([await ending('expiring'), await ending('expired')]).toEqual([[domain.name], [domain.name]]);
    await note('expiring');
    expect([await ending('expiring'), await ending('expired')]).toEqual([[], [domain.name]]);
    await note('expired');
    expect([await ending('expiring'), await ending('expired')]).toEqual([[], []]);
    const early = await store.latest.certificates.ending({
      before: T + 89 * DAY,
      late: T,
      noticed: 'expired',
      limit: 9,
    });
    expect(early).toEqual([]);
  });

  test('the set of a domain is in the manifest at a new position, and in every later revision', async () => {
    await give('s1');
    expect(await entry()).toBeNull();
    await publish(1);
    const first = await entry();
    expect(first).toMatchObject({ certificates: 's1', revision: 1 });
    await give('s2');
    const second = await entry();
    expect(second).toMatchObject({ certificates: 's2', revision: 1, at: T + 1 });
    expect(second!.position).toBeGreaterThan(first!.position);
    expect(await store.latest.plans.position()).toBe(second!.position);
    expect(await store.latest.certificates.digest(domain.id)).toBe('s2');
    await publish(2);
    expect(await entry()).toMatchObject({ certificates: 's2', revision: 2 });
    await give(null);
    expect(await entry()).toMatchObject({ certificates: null });
    expect(await store.latest.certificates.digest(domain.id)).toBeNull();
  });

  test('the set does not reach a name that another domain has', async () => {
    await publish(1);
    const other = await store.write(async (tx) => {
      const account = { name: `other ${count}`, active: true, created_at: T, updated_at: T };
      const { id } = await tx.accounts.insert(account);
      const { id: _id, ...columns } = domain;
      return tx.domains.insert({ ...columns, user_id: id });
    });
    await store.write((tx) => tx.plans.setCertificates(other, { digest: 'theirs', at: T }));
    expect(await entry()).toMatchObject({ domain_id: domain.id, certificates: null });
  });

  test('a deleted domain has no certificates, nor has the next one of its name', async () => {
    await give('s1');
    await publish(1);
    await store.write(async (tx) => {
      await tx.certificates.insert(row('a'));
      await tx.domains.remove(domain.id);
    });
    await publish(2);
    expect(await entry()).toMatchObject({ certificates: null });
    expect(await store.latest.certificates.list(domain.id)).toEqual([]);
    expect(await store.latest.certificates.digest(domain.id)).toBeNull();
  });

  test('a node has the key that was stored last', async () => {
    const node = await store.write((tx) =>
      tx.nodes.insert({ name: `n${count}`, token_hash: `h${count}`, created_at: T }),
    );
    expect(node.box_key).toBeNull();
    await store.write((tx) => tx.nodes.setBoxKey(node.id, 'key'));
    expect(await store.latest.nodes.get(node.id)).toMatchObject({ box_key: 'key' });
  });

  test('certificates of a version before are still listed, without chain and key', async () => {
    const older = await kind.place();
    try {
      const steps = STEPS[kind.name];
      const before = await older.open(steps.filter(({ version }) => version < 18));
      const { domain: owner } = await before.write((tx) => seed(tx));
      await before.close();
      const text = `INSERT INTO certificates (domain_id, hostnames_json, status, issued_at, expires_at)
        VALUES (${owner.id}, '["a.example"]', 'active', ${T}, ${T + DAY})`;
      if (kind.name === 'postgres') await asAdmin(text, older.database);
      else {
        const database = openDatabase(join(older.database, 'edgeplan.db'));
        database.exec(text);
        database.close();
      }
      const now = await older.open();
      expect(await now.latest.certificates.onFile(owner.id)).toMatchObject([
        {
          ...{ source: 'custom', names_json: '["a.example"]', not_before: T, not_after: T + DAY },
          ...{ status: 'active', created_at: T, chain: null, sealed_key: null, renew_at: null },
        },
      ]);
      await now.close();
    } finally {
      await older.dispose();
    }
  });
});
