/** Requests of consumers by day, on both databases. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import type { ConsumerDay } from '../../../src/control/store/tables/traffic.ts';
import {
  readConsumerUse,
  readDaysOf,
  readGatewayUse,
  readHighUse,
} from '../../../src/control/traffic/gateway-use.ts';
import { seed } from '../../support/sample-rows.ts';
import { kinds, openForAll } from './databases.ts';

const DAY = 1_440;
const DAY_MS = DAY * 60_000;

describe.each(kinds)('use of consumers on $name', (kind) => {
  let store: Store;
  let domain: DomainRow;
  let count = 0;

  openForAll(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    count += 1;
    domain = (await store.write((tx) => seed(tx, `use${count}.example`))).domain;
  });

  const row = (consumer: string, day: number, changes: Partial<ConsumerDay> = {}): ConsumerDay => ({
    ...{ domain_id: domain.id, consumer, day: day * DAY, requests: 3, admitted: 2 },
    ...changes,
  });
  const add = (...rows: readonly ConsumerDay[]) => store.write((tx) => tx.consumerDays.add(rows));
  const use = (from: number, to: number) =>
    store.read((tx) => readGatewayUse(tx, { domainId: domain.id, from: from * DAY_MS, to: to * DAY_MS }));

  test('requests of a day are added to those that are there', async () => {
    await add(row('acme', 20), row('', 20, { admitted: 0 }));
    await add(row('acme', 21), row('acme', 20, { requests: 2 ** 40 }));
    expect(await use(20, 22)).toEqual(
      new Map([
        ['acme', { requests: 2 ** 40 + 6, admitted: 6 }],
        ['', { requests: 3, admitted: 0 }],
      ]),
    );
  });

  test('a span has whole days: that of its start, and that which its end is in', async () => {
    await add(...[19, 20, 21, 22].map((day) => row('acme', day)));
    const ofAcme = (from: number, to: number) =>
      store.read((tx) => readConsumerUse(tx, { domainId: domain.id, consumer: 'acme', from, to }));
    expect(await ofAcme(20 * DAY_MS, 21 * DAY_MS)).toEqual({ requests: 3, admitted: 2 });
    expect(await ofAcme(20 * DAY_MS + 1, 21 * DAY_MS + 1)).toEqual({ requests: 6, admitted: 4 });
    expect(await ofAcme(23 * DAY_MS, 24 * DAY_MS)).toEqual({ requests: 0, admitted: 0 });
  });

  test('the consumers with so many admitted requests are those of a naive sum', async () => {
    await add(row('acme', 20), row('acme', 21, { admitted: 8 }), row('beta', 21, { admitted: 9 }));
    await add(row('', 20, { admitted: 50 }), row('late', 22, { admitted: 50 }));
    const high = (atLeast: number) =>
      store.read((tx) =>
        readHighUse(tx, { domainId: domain.id, from: 20 * DAY_MS, to: 22 * DAY_MS, atLeast }),
      );
    expect(await high(10)).toEqual(new Map([['acme', 10]]));
    expect(await high(9)).toEqual(
      new Map([
        ['acme', 10],
        ['beta', 9],
      ]),
    );
    expect(await high(11)).toEqual(new Map());
  });

  test('the days of named consumers come oldest first', async () => {
    await add(row('acme', 22), row('acme', 20), row('beta', 21), row('gamma', 21));
    const days = await store.read((tx) =>
      readDaysOf(tx, {
        ...{ domainId: domain.id, from: 20 * DAY_MS, to: 23 * DAY_MS },
        consumers: ['acme', 'beta', 'nobody'],
      }),
    );
    expect([...days]).toEqual([
      ['acme', [20, 22].map((day) => ({ at: day * DAY_MS, admitted: 2 }))],
      ['beta', [{ at: 21 * DAY_MS, admitted: 2 }]],
    ]);
  });

  test('days of a domain that is gone are neither stored nor left behind', async () => {
    await add(row('acme', 20));
    await store.write((tx) => tx.domains.remove(domain.id));
    expect(await use(0, 100)).toEqual(new Map());
    await add(row('acme', 20));
    expect(await use(0, 100)).toEqual(new Map());
  });

  test('days before a time expire, some at a time', async () => {
    await add(...[10, 11, 12].map((day) => row('acme', day)), row('beta', 11));
    const expire = (limit: number) => store.write((tx) => tx.consumerDays.expire(12 * DAY, limit));
    expect(await expire(2)).toBe(2);
    expect(await expire(10)).toBe(1);
    expect(await use(0, 100)).toEqual(new Map([['acme', { requests: 3, admitted: 2 }]]));
  });

  test('two processes that add to the same consumers at once lose nothing', async () => {
    const rows = ['a', 'b', 'c', 'd'].map((consumer) => row(consumer, 20));
    await Promise.all(Array.from({ length: 20 }, (_, at) => add(...(at % 2 ? rows : [...rows].reverse()))));
    expect([...(await use(20, 21)).values()]).toEqual(rows.map(() => ({ requests: 60, admitted: 40 })));
  });
});
