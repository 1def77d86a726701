/** The log store on each database: what is appended is found, once, by every filter, for as long as it should be. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_SEARCHES_OF_ACCOUNT } from '../../../src/control/logs/limits.ts';
import {
  type LogAction,
  LogFault,
  type LogQuery,
  LogRefusal,
  type LogStore,
} from '../../../src/control/logs/log-store.ts';
import { openLogs } from '../../../src/control/logs/open-logs.ts';
import type { LogPlaceOfStore } from '../../../src/control/logs/place.ts';
import { openStore } from '../../../src/control/store/database/open.ts';
import { everyDatabase, type TestDatabase } from '../../support/databases.ts';
import { batchOf, type CountedParts, countedOf, type LineParts, lineOf } from '../../support/log-lines.ts';

const DAY = 86_400_000;
/** Noon, so that hours around it are of one day. */
const NOW = Date.parse('2026-11-25T12:00:00.000Z');
const SHOP = { name: 'shop.test', id: 7, since: 0 };
const BLOG = { name: 'blog.test', id: 9, since: 0 };

type Bounds = { readonly domainOctets?: number; readonly totalOctets?: number };

interface Opened {
  readonly logs: LogStore;
  /** Opens the same entries again, with other bounds. */
  again(bounds?: Bounds): LogStore;
  close(): Promise<void>;
}

async function openOn(database: TestDatabase): Promise<Opened> {
  const made = await database.make();
  // Migrates the tables.
  await (await openStore({ database: made.database })).close();
  const place = (bounds: Bounds): LogPlaceOfStore =>
    database.kind === 'sqlite'
      ? { kind: 'sqlite', folder: join(made.database, 'logs'), days: 7, ...bounds }
      : { kind: 'postgres', access: { address: made.database }, days: 7, ...bounds };
  const stores: LogStore[] = [];
  const again = (bounds: Bounds = {}): LogStore => {
    const logs = openLogs({ place: place(bounds), file: null });
    stores.push(logs);
    return logs;
  };
  return {
    logs: again(),
    again,
    async close() {
      for (const logs of stores) await logs.close();
      await made.drop();
    },
  };
}

function append(logs: LogStore, parts: readonly LineParts[], now = NOW) {
  return logs.append({ nodeId: 3, bytes: batchOf(parts.map(lineOf)), domains: [SHOP, BLOG], now });
}

function appendCounted(logs: LogStore, parts: readonly Omit<CountedParts, 'domain' | 'at'>[]) {
  const lines = parts.map((one) => countedOf({ domain: 'shop.test', at: NOW, ...one }));
  return logs.append({ nodeId: 3, bytes: batchOf(lines), domains: [SHOP], now: NOW });
}

const ALL: LogQuery = {
  domainId: SHOP.id,
  account: 1,
  from: 0,
  to: NOW + DAY,
  before: null,
  limit: 200,
  action: null,
  rule: null,
  ip: null,
  path: null,
};

/** Ids of everything that a query finds, page by page. */
async function idsOf(logs: LogStore, query: Partial<LogQuery>): Promise<readonly string[]> {
  const ids: string[] = [];
  let before: LogQuery['before'] = null;
  for (;;) {
    const page = await logs.find({ ...ALL, ...query, before });
    ids.push(...page.entries.map(({ line }) => JSON.parse(line).id as string));
    if (page.next === null) return ids;
    before = page.next;
  }
}

function idAt(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

/** Lines whose parts collide often, over three days. */
function generate(count: number): readonly Required<Omit<LineParts, 'digest' | 'revision'>>[] {
  let seed = 7;
  const next = (most: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % most;
  };
  const pick = <T>(list: readonly T[]): T => list[next(list.length)]!;
  const rules = ['drop/1', 'drop/11', 'waf/1', 'waf/42'];
  return Array.from({ length: count }, (_, number) => ({
    domain: next(5) === 0 ? 'blog.test' : 'shop.test',
    // Few distinct times, so that the id decides the order.
    at: NOW - next(3) * DAY - next(20) * 1_000,
    id: idAt(number),
    action: pick(['forward', 'block', 'challenge']),
    shadow: pick([null, null, 'block', 'challenge']),
    rule: pick([null, ...rules]),
    matches: next(2) === 0 ? [] : [pick(rules)],
    ip: pick(['192.0.2.1', '192.0.2.77', '198.51.100.4', '2001:db8::1', '2001:db8:0:1::1', null]),
    target: pick(['/', '/api/a', '/api/b?x=/admin', '/admin', '/a/admin/b', '/apiary', '/aaa']),
    fault: pick([null, null, 'timeout']),
  }));
}

type Generated = ReturnType<typeof generate>[number];

/** The filters as their documentation has them, written without the code under test. */
const FILTERS: Readonly<Record<string, readonly [Partial<LogQuery>, (line: Generated) => boolean]>> = {
  everything: [{}, () => true],
  action: [{ action: 'block' }, ({ action }) => action === 'block'],
  'would-': [{ action: 'would-challenge' as LogAction }, ({ shadow }) => shadow === 'challenge'],
  fault: [{ action: 'fault' }, ({ fault }) => fault !== null],
  rule: [{ rule: 'drop/1' }, ({ rule, matches }) => rule === 'drop/1' || matches.includes('drop/1')],
  address: [{ ip: '192.0.2.77' }, ({ ip }) => ip === '192.0.2.77'],
  prefix: [{ ip: '192.0.2.0/26' }, ({ ip }) => ip === '192.0.2.1'],
  prefix6: [{ ip: '2001:db8::/64' }, ({ ip }) => ip === '2001:db8::1'],
  path: [{ path: '/api' }, ({ target }) => /^\/api/.test(target)],
  glob: [{ path: '*/admin*' }, ({ target }) => /\/admin/.test(target.replace(/\?.*/, ''))],
  middle: [{ path: '/a*a*a' }, ({ target }) => target === '/aaa'],
  end: [{ path: '*/b' }, ({ target }) => /\/b$/.test(target.replace(/\?.*/, ''))],
  time: [
    { from: NOW - DAY - 10_000, to: NOW - 5_000 },
    ({ at }) => at >= NOW - DAY - 10_000 && at < NOW - 5_000,
  ],
  several: [
    { action: 'block', rule: 'waf/42', path: '/a*' },
    ({ action, rule, matches, target }) =>
      action === 'block' && (rule === 'waf/42' || matches.includes('waf/42')) && target.startsWith('/a'),
  ],
};

function newestFirst(a: Generated, b: Generated): number {
  return b.at - a.at || (a.id < b.id ? 1 : -1);
}

describe.each(everyDatabase())('the log store on $kind', (database) => {
  let opened: Opened;
  let logs: LogStore;
  beforeEach(async () => {
    opened = await openOn(database);
    logs = opened.logs;
  });
  afterEach(() => opened.close());

  test.each(Object.keys(FILTERS))(
    'the filter %s finds what a naive filter finds, newest first, in pages',
    async (name) => {
      const lines = generate(900);
      await append(logs, lines.slice(0, 500));
      await append(logs, lines.slice(500));
      const [query, passes] = FILTERS[name]!;
      const expected = lines.filter((line) => line.domain === 'shop.test' && passes(line)).sort(newestFirst);
      expect(expected.length).toBeGreaterThan(name === 'several' ? 3 : 20);
      expect(await idsOf(logs, { ...query, limit: 37 })).toEqual(expected.map(({ id }) => id));
    },
  );

  test('a batch that is sent again stores nothing twice, whatever it is mixed with', async () => {
    const lines = generate(60);
    expect(await append(logs, lines)).toEqual({ stored: 60, repeated: 0, dropped: 0 });
    expect(await append(logs, lines)).toEqual({ stored: 0, repeated: 60, dropped: 0 });
    const more = generate(70);
    expect(await append(opened.again(), more)).toEqual({ stored: 10, repeated: 60, dropped: 0 });
    expect(new Set(await idsOf(logs, {})).size).toBe((await idsOf(logs, {})).length);
  });

  test('an entry is found by its id, in its own domain only', async () => {
    const [line] = generate(1);
    await append(logs, [{ ...line!, domain: 'shop.test' }]);
    const found = await logs.get({ domainId: SHOP.id, id: line!.id, since: line!.at });
    expect(found).toMatchObject({ nodeId: 3 });
    expect(JSON.parse(found!.line)).toMatchObject({ id: line!.id, domain: 'shop.test' });
    expect(await logs.get({ domainId: BLOG.id, id: line!.id, since: 0 })).toBeNull();
    // An entry before its domain was made is of an earlier domain with the same id.
    expect(await logs.get({ domainId: SHOP.id, id: line!.id, since: line!.at + 1 })).toBeNull();
    expect(await logs.get({ domainId: SHOP.id, id: idAt(999), since: 0 })).toBeNull();
  });

  test('a cursor goes on at its place while newer entries arrive', async () => {
    const lines = generate(100).map((line) => ({ ...line, domain: 'shop.test', at: line.at - 60_000 }));
    await append(logs, lines);
    const first = await logs.find({ ...ALL, limit: 40 });
    await append(logs, [{ domain: 'shop.test', at: NOW, id: idAt(5_000) }]);
    const rest = await logs.find({ ...ALL, before: first.next });
    const ids = [...first.entries, ...rest.entries].map(({ line }) => JSON.parse(line).id);
    expect(ids).toEqual([...lines].sort(newestFirst).map(({ id }) => id));
  });

  test('entries that are too old, of no domain, or of an earlier domain of the name are not stored', async () => {
    const renewed = { ...SHOP, since: NOW - 1_000 };
    const parts = [
      { domain: 'shop.test', at: NOW - 8 * DAY },
      { domain: 'shop.test', at: NOW - 2_000 },
      { domain: 'gone.test', at: NOW },
      { domain: 'shop.test', at: NOW, id: idAt(1) },
    ];
    const bytes = batchOf(parts.map(lineOf));
    const result = await logs.append({ nodeId: 3, bytes, domains: [renewed], now: NOW });
    expect(result).toEqual({ stored: 1, repeated: 0, dropped: 3 });
    expect(await idsOf(logs, {})).toEqual([idAt(1)]);
  });

  test('a domain made again under another id does not see the entries of the one before', async () => {
    await append(logs, generate(20));
    expect(await idsOf(logs, { domainId: 10 })).toEqual([]);
  });

  test('a batch with one wrong entry is refused whole, with the line of the entry', async () => {
    const good = lineOf({ domain: 'shop.test', at: NOW });
    const counted = countedOf({ domain: 'shop.test', at: NOW });
    const wrong: readonly [object, RegExp][] = [
      [{ ...good, time: 'yesterday' }, /line 3: `time` must be RFC 3339/],
      [{ ...good, time: new Date(NOW + DAY).toISOString() }, /line 3: `time` must be at most/],
      [{ ...good, id: '7' }, /line 3: `id` must be a UUID/],
      [{ ...good, domain: 'other.test' }, /line 3: `domain` is not one that line 1 lists/],
      [{ ...good, matches: [7] }, /line 3: `matches\[0\]` must be an object/],
      [{ ...good, decision: null }, /line 3: `decision` must be an object/],
      [
        { ...good, format: 'x' },
        /line 3: `format` must be one of `edgeplan.decision\/v1`, `edgeplan.counted\/v1`/,
      ],
      [{ ...counted, network: 'home' }, /line 3: `network` must be a prefix of addresses, or null/],
      [{ ...counted, requests: 0 }, /line 3: `requests` must be a whole number from 1 on/],
      [{ ...counted, action: 'Block' }, /line 3: `action` must be a word in lower case/],
      [{ ...good, status: 'ok' }, /line 3: `status` must be/],
    ];
    for (const [line, message] of wrong) {
      const bytes = batchOf([good, line as typeof good], ['shop.test']);
      const sent = logs.append({ nodeId: 3, bytes, domains: [SHOP], now: NOW });
      await expect(sent).rejects.toThrow(message);
      await expect(sent).rejects.toBeInstanceOf(LogRefusal);
    }
    expect(await idsOf(logs, {})).toEqual([]);
  });

  test('beyond the bound of its day a domain gets one gap that counts, and other domains are stored', async () => {
    const small = opened.again({ domainOctets: 4_000 });
    const shop = Array.from({ length: 30 }, (_, number) => ({
      domain: 'shop.test',
      at: NOW,
      id: idAt(number),
    }));
    const result = await append(small, shop);
    expect(result.stored).toBeGreaterThan(2);
    expect(result.stored + result.dropped).toBe(30);
    expect((await append(small, [{ domain: 'blog.test', at: NOW }])).stored).toBe(1);
    await append(small, [{ domain: 'shop.test', at: NOW + 1_000, id: idAt(31) }], NOW + 1_000);
    const { entries } = await small.find({ ...ALL, action: 'gap' });
    expect(entries.map(({ line }) => JSON.parse(line))).toMatchObject([
      {
        ...{ format: 'edgeplan.gap/v1', domain: 'shop.test', dropped: result.dropped + 1 },
        time: new Date(NOW + 1_000).toISOString(),
      },
    ]);
    // A gap is no decision, so no id finds it.
    expect(await small.get({ domainId: SHOP.id, id: JSON.parse(entries[0]!.line).id, since: 0 })).toBeNull();
    // What was stored before the bound was reached is recognised when it is sent again.
    expect((await append(small, shop.slice(0, result.stored))).repeated).toBe(result.stored);
  });

  const COUNTED: readonly Omit<CountedParts, 'domain' | 'at'>[] = [
    { id: idAt(1) },
    { id: idAt(2), action: 'would-block', rule: 'waf/42', network: '198.51.100.0/24' },
    { id: idAt(3), action: 'fault', rule: null, network: '2001:db8:1::/48' },
    { id: idAt(4), action: 'challenge', rule: 'captcha/3', network: null },
  ];

  test.each([
    ['everything', {}, [4, 3, 2, 1]],
    ['an action', { action: 'block' }, [1]],
    ['an action of shadows', { action: 'would-block' }, [2]],
    ['faults', { action: 'fault' }, [3]],
    ['counted lines', { action: 'counted' }, [4, 3, 2, 1]],
    ['a rule', { rule: 'waf/42' }, [2]],
    ['an address in the network', { ip: '192.0.2.77' }, [1]],
    ['a prefix around the network', { ip: '192.0.0.0/16' }, [1]],
    ['a range that overlaps with the network', { ip: '198.51.99.1-198.51.100.7' }, [2]],
    ['an IPv6 address in the network', { ip: '2001:db8:1:2::3' }, [3]],
    ['another network', { ip: '192.0.3.0/24' }, []],
    ['paths, which counted lines lack', { path: '/' }, []],
    ['decisions only', { onlyDecisions: true }, []],
  ] as readonly (readonly [string, Partial<LogQuery>, readonly number[]])[])(
    'a search of %s finds the counted lines that it means',
    async (_, query, expected) => {
      await appendCounted(logs, COUNTED);
      expect(await idsOf(logs, query)).toEqual(expected.map(idAt));
    },
  );

  test('a counted line is read by its id, stored once, and removed with its day', async () => {
    await appendCounted(logs, COUNTED);
    expect(await appendCounted(logs, COUNTED)).toEqual({ stored: 0, repeated: 4, dropped: 0 });
    const found = await logs.get({ domainId: SHOP.id, id: idAt(1), since: 0 });
    expect(JSON.parse(found!.line)).toEqual(countedOf({ domain: 'shop.test', at: NOW, id: idAt(1) }));
    await logs.prune(NOW + 8 * DAY);
    expect(await idsOf(logs, {})).toEqual([]);
  });

  test('the gap of a full day counts the requests of the counted lines that it replaces', async () => {
    const small = opened.again({ domainOctets: 1 });
    await append(small, [{ domain: 'shop.test', at: NOW }]);
    await appendCounted(small, [{ requests: 500 }, { requests: 70 }]);
    const { entries } = await small.find({ ...ALL, action: 'gap' });
    expect(entries.map(({ line }) => JSON.parse(line).dropped)).toEqual([571]);
  });

  test('a day that decisions have filled has room for counted lines, a quarter of its bound', async () => {
    const small = opened.again({ domainOctets: 20_000 });
    const decisions = Array.from({ length: 60 }, (_, number) => ({
      domain: 'shop.test',
      at: NOW,
      id: idAt(number),
    }));
    expect((await append(small, decisions)).dropped).toBeGreaterThan(0);
    const counted = Array.from({ length: 60 }, (_, number) => ({ id: idAt(100 + number) }));
    const { stored, dropped } = await appendCounted(small, counted);
    expect(stored * JSON.stringify(countedOf({ domain: 'shop.test', at: NOW })).length).toBeGreaterThan(
      4_500,
    );
    expect(dropped).toBeGreaterThan(0);
    expect(await idsOf(small, { action: 'counted' })).toHaveLength(stored);
  });

  test('two processes that store entries of days that neither has seen both store all of them', async () => {
    const other = opened.again();
    const sent = Array.from({ length: 6 }, (_, day) => [
      append(logs, [{ domain: 'shop.test', at: NOW - day * DAY, id: idAt(2 * day) }]),
      append(other, [{ domain: 'shop.test', at: NOW - day * DAY, id: idAt(2 * day + 1) }]),
    ]).flat();
    expect((await Promise.all(sent)).map(({ stored }) => stored)).toEqual(Array(12).fill(1));
    expect([...(await idsOf(other, {}))].sort()).toEqual(
      Array.from({ length: 12 }, (_, number) => idAt(number)),
    );
  });

  test('a day that another process has removed is made again for an entry that comes late', async () => {
    const other = opened.again({ totalOctets: 1 });
    const late = (id: number) => append(logs, [{ domain: 'shop.test', at: NOW - DAY, id: idAt(id) }]);
    expect((await late(1)).stored).toBe(1);
    expect(await other.prune(NOW)).toBe(1);
    expect(await idsOf(logs, {})).toEqual([]);
    expect((await late(2)).stored).toBe(1);
    expect(await idsOf(logs, {})).toEqual([idAt(2)]);
  });

  test('more searches of one account at once than the bound are refused, and those of another account run', async () => {
    await append(logs, generate(50));
    const searches = Array.from({ length: MAX_SEARCHES_OF_ACCOUNT + 1 }, () => logs.find(ALL));
    const other = logs.find({ ...ALL, account: 2 });
    const outcomes = await Promise.allSettled(searches);
    expect(outcomes.map(({ status }) => status)).toEqual([
      ...Array.from({ length: MAX_SEARCHES_OF_ACCOUNT }, () => 'fulfilled'),
      'rejected',
    ]);
    expect(outcomes.at(-1)).toMatchObject({ reason: { code: 'busy' } });
    expect((await other).entries.length).toBeGreaterThan(0);
    expect((await logs.find(ALL)).entries.length).toBeGreaterThan(0);
  });

  test('searches that wait end with their clients, and make room for others', async () => {
    await append(logs, generate(50));
    const first = logs.find(ALL);
    const client = new AbortController();
    const waiting = Array.from({ length: MAX_SEARCHES_OF_ACCOUNT - 1 }, () =>
      logs.find(ALL, client.signal).catch((error: unknown) => error),
    );
    client.abort('gone');
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => 'gone'));
    await expect(logs.find(ALL, client.signal)).rejects.toBe('gone');
    const others = Array.from({ length: MAX_SEARCHES_OF_ACCOUNT - 1 }, () => logs.find(ALL));
    for (const page of await Promise.all([first, ...others])) expect(page.entries.length).toBeGreaterThan(0);
  });

  test('days that are over are removed, and the oldest days beyond the bound of all', async () => {
    const days = [0, 1, 2, 3, 4, 5, 6].map((ago) => ({
      domain: 'shop.test',
      at: NOW - ago * DAY,
      id: idAt(ago),
    }));
    await append(logs, days);
    expect(await logs.prune(NOW)).toBe(0);
    expect(await logs.prune(NOW + 2 * DAY)).toBe(2);
    expect(await idsOf(logs, {})).toEqual([0, 1, 2, 3, 4].map(idAt));
    const tiny = opened.again({ totalOctets: 1 });
    await tiny.prune(NOW);
    expect(await idsOf(logs, {})).toEqual([idAt(0)]);
    await expect(append(tiny, [{ domain: 'shop.test', at: NOW }])).rejects.toMatchObject({ code: 'full' });
    expect((await append(logs, [{ domain: 'shop.test', at: NOW - 3 * DAY }])).stored).toBe(1);
  });
});

test('lines for a collector have every entry once with its node, and a search says that none are stored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-lines-'));
  const file = join(folder, 'decisions.jsonl');
  const logs = openLogs({ place: { kind: 'lines', file, days: 7 }, file: null });
  await append(logs, generate(30));
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ id }) => id)).toEqual(generate(30).map(({ id }) => id));
  expect(lines.every(({ node_id }) => node_id === 3)).toBe(true);
  // Sent again, also while the first one is written.
  expect(await append(logs, generate(30))).toEqual({ stored: 0, repeated: 30, dropped: 0 });
  const more = generate(40).slice(30);
  const both = await Promise.all([append(logs, more), append(logs, more)]);
  expect(both.map(({ stored, repeated }) => [stored, repeated])).toEqual([
    [10, 0],
    [0, 10],
  ]);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(40);
  await expect(logs.find(ALL)).rejects.toBeInstanceOf(LogFault);
  rmSync(folder, { recursive: true });
});
