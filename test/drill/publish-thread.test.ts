/** Large plans are made in a thread: the same plans, the same faults, and nothing is lost when it dies. On both stores. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  EVERYTHING,
  makePlan,
  type PlanSubject,
  readContent,
} from '../../src/control/publishing/make-plan.ts';
import { createListCache } from '../../src/control/publishing/plan-lists.ts';
import {
  createPlanMaker,
  type PlanMaker,
  type PlanMakerOptions,
} from '../../src/control/publishing/plan-maker.ts';
import type { Store } from '../../src/control/store/store.ts';
import { builtCli } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { addDomain, changeDomain, type House, openHouse } from '../support/publish-setup.ts';

const THREAD = new URL('../../dist/control/publishing/plan-thread.js', import.meta.url);
const RULES = 3_000;

beforeAll(() => builtCli(), 120_000);

describe.each(testDatabases())('a plan of many rules on $kind', (database) => {
  let made: Awaited<ReturnType<typeof database.make>>;
  let house: House;
  let store: Store;
  let maker: PlanMaker;
  let names = 0;

  beforeAll(async () => {
    made = await database.make();
    house = await openHouse({ database: made.database, idle: true });
    store = house.store;
  });
  afterAll(async () => {
    await house.close();
    await made.drop();
  });
  afterEach(() => maker.close());

  const start = (options: Omit<PlanMakerOptions, 'store'> = { file: THREAD }): PlanMaker => {
    maker = createPlanMaker({ store, ...options });
    return maker;
  };

  /** A domain with so many rules, put into the store directly. */
  async function domainOf(
    count: number,
    body = (index: number) => JSON.stringify({ path_includes: [`/p${index}/*`], ips: ['192.0.2.0/24'] }),
  ): Promise<PlanSubject> {
    names += 1;
    const domain = await addDomain(house, `d${names}.test`);
    const times = { created_at: 1, updated_at: 1 };
    for (let from = 0; from < count; from += 500) {
      await store.write(async (tx) => {
        for (let index = from; index < Math.min(count, from + 500); index++) {
          const rule = {
            domain_id: domain.id,
            type: 'drop',
            priority: 100,
            record_ids: [],
            ...times,
          } as const;
          await tx.rules.insert({ ...rule, body: body(index) });
        }
      });
    }
    return { domain_id: domain.id, domain: domain.name, entitlements: EVERYTHING };
  }

  /** The plan as it is made without a thread. */
  async function planOf(subject: PlanSubject, revision: number): Promise<Buffer> {
    const content = await store.read((tx) => readContent(tx, subject, createListCache()));
    return Buffer.from(makePlan(content!, revision));
  }

  /** Turns of the event loop until something has settled. */
  async function turnsDuring(work: Promise<unknown>): Promise<number> {
    let turns = 0;
    let over = false;
    const settled = work.finally(() => {
      over = true;
    });
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    await settled;
    return turns;
  }

  test('a large plan from the thread has the same octets, and the event loop is not blocked', async () => {
    start();
    const [large, small] = [await domainOf(RULES), await domainOf(20)];
    const work = maker.make(large, 3);
    expect(await turnsDuring(work)).toBeGreaterThan(20);
    expect(Buffer.from((await work)!).equals(await planOf(large, 3))).toBe(true);
    expect(Buffer.from((await maker.make(small, 4))!).equals(await planOf(small, 4))).toBe(true);
  }, 120_000);

  test('a few rules with many long patterns make a large plan, which the thread compiles', async () => {
    start();
    const pattern = (rule: number, index: number): string =>
      `/${rule}-${index}-*${'abcdefghij'.repeat(100)}*z`;
    const subject = await domainOf(2, (rule) =>
      JSON.stringify({
        path_includes: Array.from({ length: 200 }, (_, index) => pattern(rule, index)),
        ips: ['192.0.2.0/24'],
      }),
    );
    const work = maker.make(subject, 3);
    expect(await turnsDuring(work)).toBeGreaterThan(20);
    expect(Buffer.from((await work)!).equals(await planOf(subject, 3))).toBe(true);
  });

  test('large plans are compiled in order, each for its own domain', async () => {
    start();
    const subjects = await Promise.all([400, 300, 200, 150].map((size) => domainOf(size)));
    const plans = await Promise.all(subjects.map((subject, index) => maker.make(subject, index + 1)));
    for (const [index, subject] of subjects.entries()) {
      expect(Buffer.from(plans[index]!).equals(await planOf(subject, index + 1))).toBe(true);
    }
  });

  test('a large plan that cannot be compiled fails as without a thread, and the next one is compiled', async () => {
    start();
    const broken = await domainOf(300, (index) => (index === 200 ? 'not JSON' : '{"path_includes":["/a"]}'));
    await expect(maker.make(broken, 1)).rejects.toMatchObject({
      code: 'stored_rows',
      message: expect.stringMatching(/^rule drop\/\d+ is not JSON in the store$/),
    });
    expect((await maker.make(await domainOf(300), 2))!.length).toBeGreaterThan(0);
  });

  test('no plan is made for a domain that was deleted or suspended', async () => {
    start();
    const subject = await domainOf(200);
    await changeDomain(house, (await store.latest.domains.get(subject.domain_id))!, { suspended: true });
    expect(await maker.make(subject, 1)).toBeNull();
    expect(await maker.make({ ...subject, domain_id: 999_999 }, 1)).toBeNull();
  });

  const code = (text: string): URL =>
    new URL(
      `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads'; ${text}`)}`,
    );
  const CASES: readonly (readonly [string, string, RegExp])[] = [
    [
      'throws',
      `parentPort.on('message', () => { throw new Error('out of paper'); })`,
      /failed: out of paper/,
    ],
    ['ends', `parentPort.on('message', () => process.exit(3))`, /has ended/],
    [
      'runs out of memory',
      `parentPort.on('message', () => { const all = []; for (;;) all.push(new Array(1e5).fill({}).map(() => ({}))); })`,
      /failed: .*memory/,
    ],
  ];
  test.each(CASES)(
    'fails in a thread that %s, and a new one is started for the next',
    async (_, text, said) => {
      start({ file: code(text), heapMb: 32 });
      const subject = await domainOf(200);
      for (const settled of await Promise.allSettled([maker.make(subject, 1), maker.make(subject, 1)])) {
        expect(settled).toMatchObject({ status: 'rejected', reason: { code: 'thread' } });
        expect((settled as PromiseRejectedResult).reason.message).toMatch(said);
      }
      await expect(maker.make(subject, 2)).rejects.toMatchObject({ code: 'thread' });
    },
  );

  test('a plan fails when the thread does not answer in time, and closing fails the waiting ones', async () => {
    const silent = `parentPort.on('message', () => undefined)`;
    const subject = await domainOf(200);
    start({ file: code(silent), makeMs: 200 });
    await expect(maker.make(subject, 1)).rejects.toThrow('took longer than 0.2 seconds');
    start({ file: code(silent) });
    const waiting = maker.make(subject, 1);
    const ended = expect(waiting).rejects.toThrow('the publisher has stopped');
    await maker.close();
    await ended;
  });

  test('a 17th waiting plan is refused', async () => {
    start({ file: code(`parentPort.on('message', () => undefined)`), makeMs: 2_000 });
    const subject = await domainOf(101);
    const settled = await Promise.allSettled(Array.from({ length: 17 }, () => maker.make(subject, 1)));
    const refused = settled.filter(
      (one) =>
        one.status === 'rejected' && /^16 plans are waiting to be made already$/.test(one.reason.message),
    );
    expect(refused).toHaveLength(1);
  });
});
