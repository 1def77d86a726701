/** The history of plans over the API: read, compared, rolled back, and written with `?wait=published`. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { openPlan } from '../../src/engine/plan/seal.ts';
import { testDatabases } from '../support/databases.ts';
import { addDomain, addDrop, changeDomain, type House, openHouse } from '../support/publish-setup.ts';

for (const database of testDatabases()) {
  describe(`the history of plans on ${database.kind}`, () => {
    let made: Awaited<ReturnType<typeof database.make>>;
    let house: House;
    let domain: DomainRow;

    /** Three revisions: empty, `/a` dropped, `/a` and `/b` dropped. */
    beforeEach(async () => {
      made = await database.make();
      house = await openHouse({ database: made.database, idle: true });
      domain = await addDomain(house, 'shop.test');
      await house.publisher.publishNow();
      for (const path of ['/a', '/b']) {
        await addDrop(house, domain, path);
        await house.publisher.publishNow();
      }
    });
    afterEach(async () => {
      await house.close();
      await made.drop();
    });

    async function sections(revision: number): Promise<unknown> {
      const row = (await house.store.latest.plans.get(domain.id, revision))!;
      const opened = openPlan((await house.store.latest.plans.blob(row.digest!))!);
      expect(opened.revision).toBe(revision);
      return opened.plan;
    }

    test('plans are listed newest first, with their reasons, page by page', async () => {
      const { status, body } = await house.call('GET', '/domains/shop.test/plans/');
      expect(status).toBe(200);
      expect(body.map((one: { revision: number; reason: string }) => [one.revision, one.reason])).toEqual([
        [3, 'rule for /b'],
        [2, 'rule for /a'],
        [1, 'domain created'],
      ]);
      expect(body[0]).toMatchObject({ account_id: null, account: null, key_id: null });
      const { body: paged } = await house.call('GET', '/domains/shop.test/plans/?before=3&limit=1');
      expect(paged.map((one: { revision: number }) => one.revision)).toEqual([2]);
      expect((await house.call('GET', '/domains/shop.test/plans/?limit=0')).status).toBe(400);
      expect((await house.call('GET', '/domains/shop.test/plans')).status).toBe(404);
    });

    test('a printed revision has whether it is the current one', async () => {
      const { body } = await house.call('GET', '/domains/shop.test/plans/2');
      expect(body).toMatchObject({ revision: 2, current: false, propagation: { live: 0, nodes: 0 } });
      expect(body.plan).toMatchObject({ revision: 2, domain: { name: 'shop.test' } });
      expect(body.plan.rules).toHaveLength(1);
      expect((await house.call('GET', '/domains/shop.test/plans/3')).body.current).toBe(true);
      for (const segment of ['4', '0', '-1', '1.5', 'x', '99999999999999999999']) {
        expect((await house.call('GET', `/domains/shop.test/plans/${segment}`)).status).toBe(404);
      }
    });

    test('compares two revisions line by line', async () => {
      const { status, headers, text } = await house.call('GET', '/domains/shop.test/plans/2/diff/3');
      expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
      expect(text.split('\n').slice(0, 2)).toEqual(['--- shop.test revision 2', '+++ shop.test revision 3']);
      const changed = text
        .split('\n')
        .slice(2)
        .filter((line) => /^[-+]/.test(line));
      expect(changed.length).toBeGreaterThan(5);
      expect(changed.every((line) => line.startsWith('+'))).toBe(true);
      expect(changed.some((line) => line.includes('"/b"'))).toBe(true);
      expect((await house.call('GET', '/domains/shop.test/plans/2/diff/2')).text).toBe('');
      expect((await house.call('GET', '/domains/shop.test/plans/2/diff/9')).status).toBe(404);
    });

    test('a rollback publishes old content under a new revision, and the next change ends it', async () => {
      const path = '/domains/shop.test/plans/1/rollback?wait=published';
      const { status, body, headers } = await house.call('POST', path);
      expect([status, headers['x-revision']]).toEqual([200, '4']);
      expect(body).toMatchObject({ revision: 4, reason: 'rollback to revision 1', account: 'owner' });
      expect(await sections(4)).toEqual(await sections(1));
      expect(await sections(4)).not.toEqual(await sections(3));
      expect(await house.store.latest.plans.current('shop.test')).toMatchObject({ revision: 4 });
      const [entry] = await house.store.latest.audit.list(domain.id, { limit: 1 });
      expect(entry).toMatchObject({
        action: 'plan.rollback',
        subject: 'plan/1',
        account_id: house.accountId,
      });
      await addDrop(house, domain, '/c');
      await house.publisher.publishNow();
      expect((await house.call('GET', '/domains/shop.test/plans/5')).body.plan.rules).toHaveLength(3);
    });

    test('a rollback covers waiting changes, so that a publication a moment later does not undo it', async () => {
      const { outboxId } = await addDrop(house, domain, '/c');
      expect((await house.call('POST', '/domains/shop.test/plans/2/rollback')).body.revision).toBe(4);
      expect(await house.publisher.publishNow()).toBe(0);
      const covering = await house.store.latest.plans.covering(domain.id, outboxId);
      expect(covering?.revision).toBe(4);
      expect(await sections(4)).toEqual(await sections(2));
    });

    test('a refused rollback has its reason, and validate_only changes nothing', async () => {
      const back = (revision: number) => house.call('POST', `/domains/shop.test/plans/${revision}/rollback`);
      const checked = await house.call('POST', '/domains/shop.test/plans/1/rollback?validate_only=true');
      expect([checked.status, checked.body.revision]).toEqual([200, 4]);
      expect((await house.store.latest.plans.current('shop.test'))?.revision).toBe(3);
      expect((await back(9)).status).toBe(404);
      await changeDomain(house, domain, { suspended: true });
      await house.publisher.publishNow();
      const suspended = await back(1);
      expect([suspended.status, suspended.body.error]).toEqual([
        409,
        'the domain is suspended and serves nothing, so no plan can be published',
      ]);
      await changeDomain(house, domain, { suspended: false });
      await house.publisher.publishNow();
      expect((await back(4)).body.error).toBe('revision 4 is a tombstone and has no plan');
    });

    test('a requested publication is made and waited for', async () => {
      house.publisher.start();
      const { status, headers } = await house.call('POST', '/domains/shop.test/plans/?wait=published');
      expect([status, headers['x-revision']]).toEqual([200, '4']);
      expect(await sections(4)).toEqual(await sections(3));
      const { body } = await house.call('GET', '/domains/shop.test/plans/4');
      expect(body).toMatchObject({ reason: 'published on request', account: 'owner' });
    });
  });
}
