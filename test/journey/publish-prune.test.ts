/** Old plans are removed and say so; what is published or runs on a node stays. On both stores. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_STORED_PLANS, PRUNE_EVERY, STORED_MS } from '../../src/control/publishing/limits.ts';
import { clearAway } from '../../src/control/publishing/publisher.ts';
import { pruneAll } from '../../src/control/publishing/revisions.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { testDatabases } from '../support/databases.ts';
import { addDomain, changeDomain, type House, openHouse } from '../support/publish-setup.ts';

describe.each(testDatabases())('old plans on $kind', (database) => {
  let made: Awaited<ReturnType<typeof database.make>>;
  let house: House;
  let domain: DomainRow;
  beforeEach(async () => {
    made = await database.make();
    house = await openHouse({ database: made.database, idle: true });
    domain = await addDomain(house, 'shop.test');
    await house.publisher.publishNow();
  });
  afterEach(async () => {
    await house.close();
    await made.drop();
  });

  async function publish(times: number): Promise<void> {
    for (let number = 0; number < times; number++) {
      await changeDomain(house, domain, { sec_no_sniff: number % 2 === 0 });
      await house.publisher.publishNow();
    }
  }

  const stored = async () =>
    (await house.store.latest.plans.stored(domain.name, 1_000)).map(({ revision }) => revision);

  test('plans older than a month are pruned unless they are in use, and the history marks them', async () => {
    await publish(14);
    const node = await house.store.write((tx) =>
      tx.nodes.insert({ name: 'n', token_hash: 't', created_at: 1 }),
    );
    const report = { node_id: node.id, domain: domain.name, revision: 2, reason: '', at: Date.now() };
    await house.store.write((tx) => tx.nodes.report([{ ...report, outcome: 'ack' }]));
    expect(await pruneAll(house.store, Date.now())).toBe(0);
    await clearAway(house.store, Date.now() + STORED_MS + 60_000);
    expect(await stored()).toEqual([15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 2]);

    const { body } = await house.call('GET', '/domains/shop.test/plans/');
    const pruned = body.filter((one: { pruned: boolean }) => one.pruned);
    expect(pruned.map((one: { revision: number }) => one.revision)).toEqual([5, 4, 3, 1]);
    const sentence =
      'the plan of revision 3 has been pruned; the list of plans names the newer ones that are stored';
    for (const [method, path] of [
      ['GET', '/plans/3'],
      ['GET', '/plans/3/diff/15'],
      ['GET', '/diff?from=3&to=15'],
      ['POST', '/plans/3/rollback'],
    ] as const) {
      const answer = await house.call(method, `/domains/shop.test${path}`);
      expect([path, answer.status, answer.body.error]).toEqual([path, 409, sentence]);
    }
    expect((await house.call('POST', '/domains/shop.test/plans/2/rollback')).status).toBe(200);
    expect((await house.call('GET', '/domains/shop.test/plans/16')).body.pruned).toBe(false);
  });

  test('a burst of publications prunes old plans meanwhile', async () => {
    const most = MAX_STORED_PLANS + PRUNE_EVERY;
    await publish(most - 1);
    expect(await stored()).toEqual(Array.from({ length: MAX_STORED_PLANS }, (_, place) => most - place));
  });
});
