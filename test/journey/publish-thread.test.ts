/** Large plans are made in a thread: the same plans, the same faults, and nothing is lost when it dies. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makePlan } from '../../src/publisher/make-plan.ts';
import { createPlanMaker, type PlanMaker } from '../../src/publisher/plan-maker.ts';
import type { DomainRows } from '../../src/publisher/rule-set.ts';
import { SETTINGS } from '../unit/publisher/rows.ts';
import { builtCli } from './built.ts';

const THREAD = new URL('../../dist/publisher/plan-thread.js', import.meta.url);
const RULES = 3_000;

beforeAll(() => builtCli(), 120_000);

let maker: PlanMaker;
afterEach(() => maker.close());

function rowsOf(
  count: number,
  body = (index: number) => JSON.stringify({ path_includes: [`/p${index}/*`], ips: ['192.0.2.0/24'] }),
): DomainRows {
  const times = { created_at: 1, updated_at: 1 };
  const record = {
    id: 1,
    name: '@',
    type: 'A',
    destination: '198.51.100.1',
    mx_priority: null,
    proxied: true,
    captcha: false,
    scheme: 'Https',
    port: null,
    host_header: '',
    monitor: false,
    timeout: null,
    comment: '',
  } as const;
  return {
    websocketsOff: false,
    domain: { ...SETTINGS, id: 7, user_id: 1, name: 'large.test' },
    records: [{ ...record, ...times, domain_id: 7 }],
    rules: Array.from({ length: count }, (_, index) => ({
      ...times,
      id: index + 1,
      domain_id: 7,
      type: 'drop',
      priority: 100,
      body: body(index),
    })),
    contents: [],
  };
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

test('a thread makes the same octets, and the event loop turns meanwhile', async () => {
  maker = createPlanMaker(THREAD);
  const rows = rowsOf(RULES);
  const work = maker.make(rows, 3);
  expect(await turnsDuring(work)).toBeGreaterThan(20);
  expect(Buffer.from(await work).equals(makePlan(rows, 3))).toBe(true);
  expect(Buffer.from(await maker.make(rowsOf(20), 4)).equals(makePlan(rowsOf(20), 4))).toBe(true);
});

test('a few rules of many long patterns are a large plan too', async () => {
  maker = createPlanMaker(THREAD);
  const pattern = (rule: number, index: number): string => `/${rule}-${index}-*${'abcdefghij'.repeat(100)}*z`;
  const rows = rowsOf(2, (rule) =>
    JSON.stringify({
      path_includes: Array.from({ length: 200 }, (_, index) => pattern(rule, index)),
      ips: ['192.0.2.0/24'],
    }),
  );
  const work = maker.make(rows, 3);
  expect(await turnsDuring(work)).toBeGreaterThan(20);
  expect(Buffer.from(await work).equals(makePlan(rows, 3))).toBe(true);
});

test('several are made one after the other, each for whoever asked', async () => {
  maker = createPlanMaker(THREAD);
  const sizes = [400, 300, 200, 150];
  const made = await Promise.all(sizes.map((size) => maker.make(rowsOf(size), size)));
  for (const [index, size] of sizes.entries()) {
    expect(Buffer.from(made[index]!).equals(makePlan(rowsOf(size), size))).toBe(true);
  }
});

test('a fault is told as it would be without a thread, and the next plan is made', async () => {
  maker = createPlanMaker(THREAD);
  const broken = rowsOf(300, (index) => (index === 200 ? 'not JSON' : '{"path_includes":["/a"]}'));
  const fault = { code: 'stored_rows', message: 'rule drop/201 is not JSON in the store' };
  await expect(maker.make(broken, 1)).rejects.toMatchObject(fault);
  expect((await maker.make(rowsOf(300), 2)).length).toBeGreaterThan(0);
});

describe('a thread that', () => {
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
    '%s fails what it was asked for, and a new one is started for the next',
    async (_, text, said) => {
      maker = createPlanMaker(code(text), { heapMb: 32 });
      const orders = [maker.make(rowsOf(200), 1), maker.make(rowsOf(201), 1)];
      for (const settled of await Promise.allSettled(orders)) {
        expect(settled).toMatchObject({ status: 'rejected', reason: { code: 'thread' } });
        expect((settled as PromiseRejectedResult).reason.message).toMatch(said);
      }
      await expect(maker.make(rowsOf(200), 2)).rejects.toMatchObject({ code: 'thread' });
    },
  );

  test('never answers is given up, and closing ends what waits', async () => {
    const silent = `parentPort.on('message', () => undefined)`;
    maker = createPlanMaker(code(silent), { makeMs: 200 });
    await expect(maker.make(rowsOf(200), 1)).rejects.toThrow('took longer than 0.2 seconds');
    maker = createPlanMaker(code(silent));
    const waiting = maker.make(rowsOf(200), 1);
    const ended = expect(waiting).rejects.toThrow('the publisher has stopped');
    await maker.close();
    await ended;
  });

  test('has too much to do takes no more', async () => {
    maker = createPlanMaker(code(`parentPort.on('message', () => undefined)`), { makeMs: 500 });
    const orders = Array.from({ length: 17 }, () => maker.make(rowsOf(101), 1));
    const settled = await Promise.allSettled(orders);
    expect(settled[16]).toMatchObject({ reason: { message: '16 plans are waiting to be made already' } });
  });
});
