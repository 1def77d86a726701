/** A domain whose plan takes long holds up no other one, and rests before it is published again. On both stores. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LONGEST_DOMAIN_REST_MS, SLOW_MS } from '../../src/control/publishing/limits.ts';
import { createPlanMaker, type PlanMaker } from '../../src/control/publishing/plan-maker.ts';
import { createPublisher, type Publisher } from '../../src/control/publishing/publisher.ts';
import type { Store } from '../../src/control/store/store.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { testDatabases } from '../support/databases.ts';
import { addDomain, changeDomain, type House, openHouse } from '../support/publish-setup.ts';

describe.each(testDatabases())('publishing at a pace on $kind', (database) => {
  let made: Awaited<ReturnType<typeof database.make>>;
  let house: House;
  let store: Store;
  let publisher: Publisher;
  let slow: DomainRow;
  let quick: DomainRow;
  /** Names in the order in which their plans were begun. */
  let begun: string[];
  /** Milliseconds since the epoch; stands still unless a test moves it. */
  let now: number;
  let opened: Promise<void>;
  let open: () => void;

  beforeEach(async () => {
    made = await database.make();
    house = await openHouse({ database: made.database, idle: true });
    store = house.store;
    slow = await addDomain(house, 'slow.test');
    quick = await addDomain(house, 'quick.test');
    await house.publisher.publishNow();
    begun = [];
    now = Date.now() + 60_000;
    opened = new Promise((resolve) => {
      open = resolve;
    });
    const real = createPlanMaker({ store });
    const plans: PlanMaker = {
      ...real,
      async make(subject, revision) {
        begun.push(subject.domain);
        if (subject.domain === slow.name) {
          await opened;
          now += 10 * SLOW_MS;
        }
        return real.make(subject, revision);
      },
    };
    publisher = createPublisher({
      store,
      log: pino({ level: 'silent' }),
      plans,
      clock: () => now,
      steady: () => now,
      pollMs: 50,
    });
    publisher.start();
  });
  afterEach(async () => {
    open();
    await publisher.stop();
    await house.close();
    await made.drop();
  });

  const revisionOf = async (domain: DomainRow) => (await store.latest.plans.current(domain.name))!.revision;
  const change = (domain: DomainRow, flag: boolean) => changeDomain(house, domain, { sec_no_sniff: flag });

  test('a domain is published while the plan of another is being made', async () => {
    await change(slow, true);
    await expect.poll(() => begun).toEqual([slow.name]);
    await change(quick, true);
    await expect.poll(() => revisionOf(quick)).toBe(2);
    await change(quick, false);
    await expect.poll(() => revisionOf(quick)).toBe(3);
    expect(await revisionOf(slow)).toBe(1);
    open();
    await expect.poll(() => revisionOf(slow)).toBe(2);
    expect(begun.filter((name) => name === slow.name)).toHaveLength(1);
  });

  test('writes on a slow domain share the revision after its rest', async () => {
    open();
    await change(slow, true);
    await expect.poll(() => revisionOf(slow)).toBe(2);
    for (const flag of [false, true, false]) await change(slow, flag);
    await change(quick, true);
    await expect.poll(() => revisionOf(quick)).toBe(2);
    await change(quick, false);
    await expect.poll(() => revisionOf(quick)).toBe(3);
    expect(begun.filter((name) => name === slow.name)).toHaveLength(1);
    now += LONGEST_DOMAIN_REST_MS;
    await expect.poll(() => revisionOf(slow)).toBe(3);
    expect(await store.latest.outbox.list(slow.id)).toEqual([]);
  }, 60_000);
});
