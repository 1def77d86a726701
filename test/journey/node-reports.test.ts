/** Reports of nodes are filed as far as they can be true: a forged one changes nothing, an honest one is never refused. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { moveDomain } from '../../src/control/publishing/nodes.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { createControl } from '../../src/edge/following/control-plane.ts';
import { createReports } from '../../src/edge/following/install-state.ts';
import { openTraffic } from '../../src/edge/following/traffic/traffic.ts';
import { countedSecond } from '../support/counted-seconds.ts';
import { testDatabases } from '../support/databases.ts';
import { addDomain, type House, openHouse, until } from '../support/publish-setup.ts';
import { ask } from './feed-node.ts';

const MINUTE_MS = 60_000;
const EVER = { from: 0, to: 10 ** 9 };
const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS);

describe.each(testDatabases())('reports of nodes on $kind', (database) => {
  let drop: () => Promise<void>;
  let house: House;
  let shop: DomainRow;
  let token: string;

  beforeEach(async () => {
    const made = await database.make();
    drop = made.drop;
    house = await openHouse({ database: made.database });
    shop = await addDomain(house, 'shop.test');
    await until(() => house.store.latest.plans.current('shop.test'), 'the first plan');
    token = await house.token('node-1');
  });
  afterEach(async () => {
    await house.close();
    await drop();
  });

  async function post(body: unknown): Promise<readonly [number, string]> {
    const sent = { path: '/nodes/reports', body: JSON.stringify(body) };
    const { status, bytes } = await ask({ port: house.port, token }, sent);
    return [status, bytes.toString()];
  }
  const figures = (changes: object = {}): object => ({
    ...{ domain: 'shop.test', minute: minuteOf(Date.now()), requests: 100, octets: 1_000 },
    ...changes,
  });
  const counted = async (): Promise<number> =>
    (await house.store.latest.traffic.partSums(shop.id, EVER)).requests;
  const refused = (limit: string): unknown => [400, expect.stringContaining(limit)];

  test('a report of 1,000,000,000 requests in a minute is refused, logged by field, and counts nothing', async () => {
    const forged = { batch: 9, usage: [figures({ requests: 1_000_000_000 })] };
    const answered = await post({
      ...forged,
      reports: [{ domain: 'shop.test', revision: 1, outcome: 'ack' }],
    });
    expect(answered).toEqual(refused('found 1000000000 and 1000'));
    expect(answered[1]).toMatch(/usage: at most \d+ requests .*200000 and 12500000000 a second/);
    expect(await counted()).toBe(0);
    expect(await house.store.latest.nodes.latestReports('shop.test')).toEqual([]);
    const line = house.log.find((one) => one.includes('a report of a node was refused'));
    expect(JSON.parse(line!)).toMatchObject({ node: 'node-1' });
    // In pieces neither: what one took is not there for the next.
    const piece = [figures({ requests: 20_000_000 })];
    const pieces = await Promise.all(Array.from({ length: 50 }, () => post({ usage: piece })));
    expect(pieces.filter(([status]) => status === 200)).toHaveLength(1);
    expect(await counted()).toBe(20_000_000);
    // The number of a batch that was refused was not taken.
    expect((await post({ batch: 9, usage: [figures()] }))[0]).toBe(200);
  });

  test('unused time before the minute of an accepted report gives no credit', async () => {
    const now = Date.now();
    const [node] = await house.store.latest.nodes.list();
    const terms = { since: now - 10 * 3_600_000, earliest: 0, now, until: now + 120_000 };
    const spend = (ms: number, floor: number): Promise<boolean> =>
      house.store.write((tx) => tx.nodes.spend(node!.id, { ...terms, ms, floor }));
    expect(await spend(3_600_000, now - 60_000)).toBe(true);
    expect(await spend(200_000, now - 60_000)).toBe(false);
    expect(await spend(180_000, now - 60_000)).toBe(true);
    expect(await spend(1, now - 60_000)).toBe(false);
    // A clock of the server that was ahead does not end all reports.
    const back = { ...terms, now: now - 7_200_000, until: now - 7_080_000 };
    const again = (tx: Parameters<Parameters<typeof house.store.write>[0]>[0]): Promise<boolean> =>
      tx.nodes.spend(node!.id, { ...back, ms: 1_000, floor: 0 });
    expect(await house.store.write(again)).toBe(true);
  });

  test('impossible times, octets and matches are refused with the field and its limit', async () => {
    const now = minuteOf(Date.now());
    const hit = { domain: 'shop.test', minute: now, type: 'drop', id: 7, count: 101 };
    const cases: readonly (readonly [object, string])[] = [
      [{ usage: [figures({ minute: now + 10 })] }, 'usage[0].minute: from '],
      [{ usage: [figures({ minute: now - 36 * 24 * 60 })] }, 'usage[0].minute: from '],
      [{ hits: [{ ...hit, minute: 5 }] }, 'hits[0].minute: from '],
      [{ usage: [figures(), figures({ octets: 2 ** 52 })] }, 'usage[1].octets: at most 1099511627776'],
      [{ usage: [figures({ gateway_requests: 101 })] }, 'usage[0].gateway_requests: at most its 100'],
      [{ usage: [figures()], hits: [hit] }, 'hits: the rule 7 of type drop would have 101'],
      [{ hits: [{ ...hit, count: 1 }] }, 'more than its domain had requests'],
    ];
    for (const [body, limit] of cases) expect(await post(body)).toEqual(refused(limit));
    expect(await counted()).toBe(0);
    expect((await post({ usage: [figures()], hits: [{ ...hit, count: 100 }] }))[0]).toBe(200);
    // Hits that come after the requests of their minute.
    expect((await post({ hits: [{ ...hit, id: 8, count: 100 }] }))[0]).toBe(200);
    expect(await post({ hits: [{ ...hit, id: 8 }] })).toEqual(refused('would have 101'));
  });

  test('outcomes of unpublished revisions and rows of other groups are refused', async () => {
    const other = await addDomain(house, 'other.test');
    await house.store.write((tx) => moveDomain(tx, other, { groups: 'eu', now: Date.now() }));
    await until(
      async () => (await house.store.latest.plans.current('other.test'))?.node_groups === 'eu',
      'its groups',
    );
    const ack = (domain: string, revision: number): object => ({ domain, revision, outcome: 'ack' });
    expect(await post({ reports: [ack('shop.test', 1), ack('shop.test', 2)] })).toEqual(
      refused('reports[1].revision: the newest revision of `shop.test` is 1, found 2'),
    );
    expect(await post({ reports: [ack('nobody.test', 1)] })).toEqual(refused('reports[0].domain: '));
    expect(await house.store.latest.nodes.latestReports('shop.test')).toEqual([]);
    token = await house.token('us-1');
    const nodes = await house.store.latest.nodes.list();
    await house.store.write((tx) => tx.nodes.setGroups(nodes.at(-1)!.id, 'us'));
    expect(await post({ reports: [ack('other.test', 1)] })).toEqual(refused('is in no group of this node'));
    const forged = { usage: [figures({ domain: 'other.test' })] };
    expect(await post(forged)).toEqual(refused('`other.test` is in no group of this node'));
    expect((await house.store.latest.traffic.partSums(other.id, EVER)).requests).toBe(0);
  });

  test('a node with a high request rate reports every minute, and a whole hour after a disconnection', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-reports-'));
    const control = createControl({ url: `http://127.0.0.1:${house.port}`, token: () => token });
    const problems: string[] = [];
    const note = (fields: object, message: string): void => {
      problems.push(`${message} ${JSON.stringify(fields)}`);
    };
    const log = { info: note, warn: note, error: note };
    // The node was made before it was cut off.
    const [node] = await house.store.latest.nodes.list();
    const ago = Date.now() - 3_700_000;
    const begun = { ms: 0, since: ago, earliest: ago, floor: ago, now: ago, until: ago };
    await house.store.write((tx) => tx.nodes.spend(node!.id, begun));
    let now = Date.now() - 3_600_000;
    const bounds = { tickMs: 5, spreadMs: 0 };
    const traffic = await openTraffic({ control, directory: folder, log, clock: () => now, bounds });
    const rules = Array.from({ length: 600 }, (_, rule) => rule + 1);
    const busy = { domain: 'shop.test', requests: 3_000_000, octets: 6e10 };
    for (let minute = 0; minute < 60; minute++) {
      const second = countedSecond({ ...busy, at: now, rules: minute < 2 ? rules : [] });
      await traffic.add({ seconds: [second], droppedTops: 0 });
      now += MINUTE_MS;
    }
    // All minutes are complete, the last one too.
    now += MINUTE_MS;
    await until(async () => (await counted()) === 180_000_000 && traffic.state().files === 0, 'the backlog');
    expect(problems).toEqual([]);
    expect(traffic.state()).toMatchObject({ droppedTops: 0, droppedBatches: 0, lostSpans: 0, disk: null });
    const { body } = await house.call('GET', '/domains/shop.test/traffic?minutes=120');
    expect(body).toMatchObject({ requests: 180_000_000, octets: 3_600_000_000_000 });
    expect((body as { rules: { hits: number }[] }).rules.map(({ hits }) => hits)).toEqual(
      rules.map(() => 6_000_000),
    );
    await traffic.stop();
    await control.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('one refused outcome does not prevent the others of its batch from being accepted', async () => {
    const control = createControl({ url: `http://127.0.0.1:${house.port}`, token: () => token });
    const problems: string[] = [];
    const note = (fields: object, message: string): void => {
      problems.push(`${message} ${JSON.stringify(fields)}`);
    };
    const reports = createReports(control, { info: note, warn: note, error: note });
    for (const domain of ['a.test', 'b.test', 'shop.test', 'c.test', 'd.test']) {
      reports.add({ domain, revision: 1, outcome: 'ack', reason: '' });
    }
    await until(() => reports.queued() === 0, 'all answers');
    expect(await house.store.latest.nodes.latestReports('shop.test')).toHaveLength(1);
    expect(problems).toHaveLength(4);
    expect(problems[0]).toContain('refuses this report');
    await reports.stop();
    await control.close();
  });
});
