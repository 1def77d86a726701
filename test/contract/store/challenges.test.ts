/** HTTP-01 challenges in the manifest, on both databases. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CHALLENGE_MS, MAX_CHALLENGES } from '../../../src/base/vocabulary/limits.ts';
import { openClearance } from '../../../src/control/publishing/clearance.ts';
import { readPage } from '../../../src/control/publishing/pages.ts';
import { openSigner } from '../../../src/control/publishing/signer.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { freshChallenges } from '../../../src/control/store/tables/plans.ts';
import { MAX_MANIFEST_OCTETS } from '../../../src/edge/following/limits.ts';
import { createTrust } from '../../../src/edge/following/trust.ts';
import { activeDomain, publication, seed, T } from '../../support/sample-rows.ts';
import { kinds, type Place } from './databases.ts';

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  let store: Store;
  let second: Store;
  let domain: DomainRow;
  let count = 0;

  beforeAll(async () => {
    place = await kind.place();
    store = await place.open();
    second = kind.name === 'postgres' ? await place.open() : store;
  });
  afterAll(async () => {
    if (second !== store) await second?.close();
    await store?.close();
    await place?.dispose();
  });
  beforeEach(async () => {
    count += 1;
    domain = (await store.write((tx) => seed(tx, `d${count}.example`))).domain;
  });

  const entry = () => store.latest.plans.current(domain.name);
  const publish = (revision: number, domainId = domain.id) =>
    store.write((tx) => tx.plans.publish(publication(domain.name, { domain_id: domainId, revision })));
  const set = (token: string, at = T, through = store) =>
    through.write((tx) => tx.plans.setChallenge(domain, { token, answer: `${token}.key`, at }));
  const remove = (token: string, at = T) =>
    store.write((tx) => tx.plans.removeChallenge(domain, { token, at }));
  const tokens = async (now = T) =>
    freshChallenges((await entry())!.challenges, now).map(({ token }) => token);
  const otherOwner = () =>
    store.write(async (tx) => {
      const account = { name: `other ${count}`, active: true, created_at: T, updated_at: T };
      const { id } = await tx.accounts.insert(account);
      const { id: _id, ...columns } = domain;
      return tx.domains.insert({ ...columns, user_id: id });
    });

  test('a name that is not published gets no challenge', async () => {
    expect(await set('t')).toBe(false);
    expect(await entry()).toBeNull();
    await store.write((tx) => tx.plans.purge(domain.name, { domain_id: domain.id, at: T }));
    expect(await set('t')).toBe(false);
    expect(await entry()).toMatchObject({ revision: 0, challenges: null });
  });

  test('each change of challenges has a new position and the same revision', async () => {
    const { position: first } = await publish(1);
    expect(await set('a', T + 1)).toBe(true);
    expect(await set('b', T + 2)).toBe(true);
    const both = (await entry())!;
    expect(both).toMatchObject({ revision: 1, position: first + 2, at: T + 2 });
    expect(await tokens()).toEqual(['a', 'b']);
    await remove('a', T + 3);
    expect(await tokens()).toEqual(['b']);
    await remove('b', T + 4);
    expect(await entry()).toMatchObject({ challenges: null, position: first + 4, at: T + 4 });
    await remove('b', T + 5);
    expect(await entry()).toMatchObject({ position: first + 4, at: T + 4 });
    expect(await store.latest.plans.position()).toBe(first + 4);
  });

  test('a token that is set again has the new answer, once', async () => {
    await publish(1);
    await set('a');
    await set('b');
    await store.write((tx) => tx.plans.setChallenge(domain, { token: 'a', answer: 'new', at: T + 1 }));
    const { challenges } = (await entry())!;
    expect(freshChallenges(challenges, T)).toEqual([
      { token: 'b', answer: 'b.key', at: T },
      { token: 'a', answer: 'new', at: T + 1 },
    ]);
  });

  test('of too many challenges the oldest are removed', async () => {
    await publish(1);
    await store.write(async (tx) => {
      for (let number = 0; number < MAX_CHALLENGES + 2; number++) {
        await tx.plans.setChallenge(domain, { token: `t${number}`, answer: 'k', at: T + number });
      }
    });
    const left = await tokens();
    expect([left.length, left[0], left.at(-1)]).toEqual([MAX_CHALLENGES, 't2', `t${MAX_CHALLENGES + 1}`]);
  });

  test('a challenge that a crash left behind is removed by the next change after an hour', async () => {
    await publish(1);
    await set('lost');
    await set('b', T + CHALLENGE_MS);
    expect(await tokens()).toEqual(['lost', 'b']);
    await set('c', T + CHALLENGE_MS + 1);
    expect(await tokens()).toEqual(['b', 'c']);
  });

  test('challenges of several writers at once are all there', async () => {
    await publish(1);
    const names = Array.from({ length: 12 }, (_, number) => `t${number}`);
    await Promise.all(names.map((token, place) => set(token, T, place % 2 === 0 ? store : second)));
    expect((await tokens()).sort()).toEqual([...names].sort());
  });

  test('challenges remain at a new revision of the domain, and end when the name goes to another', async () => {
    await publish(1);
    await set('a');
    await publish(2);
    expect(await tokens()).toEqual(['a']);
    const other = await otherOwner();
    expect(await store.write((tx) => tx.plans.setChallenge(other, { token: 'x', answer: 'x', at: T }))).toBe(
      false,
    );
    await store.write((tx) => tx.plans.removeChallenge(other, { token: 'a', at: T }));
    expect(await tokens()).toEqual(['a']);
    await publish(3, other.id);
    expect(await entry()).toMatchObject({ domain_id: other.id, challenges: null });
    expect(await set('late')).toBe(false);
  });

  describe('the page of a challenge', () => {
    const DIGEST = 'd'.repeat(64);
    let since: number;

    beforeEach(async () => {
      await openClearance(store, T);
      await store.write((tx) => tx.plans.putBlob(DIGEST, new Uint8Array(8), T));
      since = await store.latest.plans.position();
    });

    /** The page above `from` as a node reads it. */
    const page = async (now = T, from = since) => {
      const signer = await openSigner(store, () => now);
      const signed = await readPage(from, 'default', { store, signer, clock: () => now });
      return createTrust(signer.publicKey).read(JSON.stringify(signed)).page;
    };
    const serve = (name: string, digest: string | null = DIGEST) =>
      store.write(async (tx) => {
        const owner = await tx.domains.insert(activeDomain(name, domain.user_id));
        await tx.plans.publish(publication(name, { domain_id: owner.id, digest }));
        return owner;
      });
    const give = ({ id, name }: DomainRow, token: string, answer: string) =>
      store.write((tx) => tx.plans.setChallenge({ id, name }, { token, answer, at: T }));

    test('has token and answer, also of a refused name, and none of one that is gone', async () => {
      const served = await serve(`served${count}.example`);
      const refused = await serve(`refused${count}.example`, null);
      await publish(1);
      for (const one of [served, refused, domain]) await give(one, 'a', 'a.key');
      const entries = (await page()).entries.map(({ domain: name, tombstone, challenges }) => [
        name,
        tombstone,
        challenges,
      ]);
      expect(entries).toEqual([
        [served.name, null, [{ token: 'a', answer: 'a.key' }]],
        [refused.name, 'refused', [{ token: 'a', answer: 'a.key' }]],
        [domain.name, 'gone', undefined],
      ]);
    });

    test('has no challenge that is older than an hour', async () => {
      await give(await serve(`served${count}.example`), 'a', 'a.key');
      expect((await page(T + CHALLENGE_MS)).entries[0]).toHaveProperty('challenges');
      expect((await page(T + CHALLENGE_MS + 1)).entries[0]).not.toHaveProperty('challenges');
    });

    test('has no challenge of a form for which nodes would refuse the page', async () => {
      const served = await serve(`served${count}.example`);
      await give(served, '../a', 'a.key');
      await give(served, 'b'.repeat(129), 'b.key');
      await give(served, 'c', 'c\r\nkey');
      await give(served, 'd', 'd'.repeat(513));
      expect((await page()).entries[0]).not.toHaveProperty('challenges');
      await give(served, 'e', 'e.key');
      expect((await page()).entries[0]).toMatchObject({ challenges: [{ token: 'e', answer: 'e.key' }] });
    });

    test('ends before its challenges are more than nodes accept, and the next one continues', async () => {
      const names = [1, 2, 3].map((number) => `big${number}-${count}.example`);
      for (const name of names) {
        const { id } = await serve(name);
        await store.write(async (tx) => {
          for (let number = 0; number < MAX_CHALLENGES; number++) {
            const token = `${number}`.padStart(128, 't');
            await tx.plans.setChallenge({ id, name }, { token, answer: '"'.repeat(512), at: T });
          }
        });
      }
      const read: string[][] = [];
      for (let from = since, complete = false; !complete; ) {
        const one = await page(T, from);
        expect(JSON.stringify(one).length).toBeLessThan(MAX_MANIFEST_OCTETS / 2);
        read.push(one.entries.map((entry) => entry.domain));
        ({ through: from, complete } = one);
      }
      expect(read).toEqual(names.map((name) => [name]));
    });
  });
});
