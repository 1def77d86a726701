import type { Answer } from 'dns-packet';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDns, type Dns } from '../../src/control/dns/resolver.ts';
import {
  createFlattener,
  type FlattenedTarget,
  type FlattenedTargets,
  type FlattenerNote,
  newTarget,
} from '../../src/control/zones/flatten.ts';
import {
  a,
  fromTable,
  NXDOMAIN,
  type ScriptedServer,
  SERVFAIL,
  startDnsServer,
} from '../support/dns-server.ts';
import { until } from '../support/until.ts';

const START = 1_700_000_000_000;
const SECOND = 1_000;
const DAY = 86_400 * SECOND;

let resolver: ScriptedServer;
let dns: Dns;
let now = START;
let rows: Map<string, FlattenedTarget>;
let changed: string[];
let notes: FlattenerNote[];

beforeAll(async () => {
  resolver = await startDnsServer('127.0.0.84', 0, () => null);
  dns = createDns({ resolvers: [`127.0.0.84:${resolver.port}`], timeoutMs: 300 });
});
afterAll(() => resolver?.stop());
beforeEach(() => {
  now = START;
  rows = new Map();
  changed = [];
  notes = [];
});

/** The store's side, in memory. */
const targets: FlattenedTargets = {
  async due(time, limit, lane) {
    const due = [...rows.values()].filter(
      ({ next_at, failures }) => next_at <= time && failures > 0 === (lane === 'failing'),
    );
    return due.sort((left, right) => left.next_at - right.next_at).slice(0, limit);
  },
  async put(row, isChanged) {
    rows.set(row.target, row);
    if (isChanged) changed.push(row.target);
  },
};

function flattener() {
  return createFlattener({
    dns,
    targets,
    clock: () => now,
    pollMs: 5,
    note: (note) => notes.push(note),
  });
}

function add(...names: readonly string[]): void {
  for (const name of names) rows.set(name, newTarget(name, now));
}

/** The row after every due lookup has run. */
async function lookedUp(name = 'x.test'): Promise<FlattenedTarget> {
  await flattener().lookUpDue();
  return rows.get(name)!;
}

function aaaa(name: string, ...addresses: readonly string[]): readonly Answer[] {
  return addresses.map((data) => ({ type: 'AAAA', name, ttl: 60, data }));
}

function withTtl(ttl: number, answers: readonly Answer[]): readonly Answer[] {
  return answers.map((answer) => ({ ...answer, ttl }) as Answer);
}

/** The SOA record of a negative answer. */
function soa(ttl: number, minimum: number): readonly Answer[] {
  const data = { mname: 'ns.test', rname: 'a.test', serial: 1, refresh: 1, retry: 1, expire: 1, minimum };
  return [{ type: 'SOA', name: 'test', ttl, data }];
}

describe('the flattener', () => {
  it('stores the addresses of both families and looks them up again after the lowest TTL', async () => {
    resolver.tell(
      fromTable({
        'x.test A': a('x.test', '192.0.2.1'),
        'x.test AAAA': withTtl(45, aaaa('x.test', '2001:db8::1')),
      }),
    );
    add('x.test');
    const row = await lookedUp();
    expect(row).toEqual({
      target: 'x.test',
      addresses: ['192.0.2.1', '2001:db8::1'],
      good_at: START,
      failures: 0,
      next_at: START + 45 * SECOND,
    });
    expect(changed).toEqual(['x.test']);
    now = row.next_at - 1;
    expect(await flattener().lookUpDue()).toBe(0);
    now = row.next_at;
    expect(await flattener().lookUpDue()).toBe(1);
    expect(changed).toEqual(['x.test']);
  });

  it('reports no change while a cached TTL decreases and the order of addresses rotates', async () => {
    add('x.test');
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    for (const [turn, ttl] of [300, 200, 100, 31, 0].entries()) {
      const order = [...addresses.slice(turn % 3), ...addresses.slice(0, turn % 3)];
      resolver.tell(({ type }) => ({ answers: type === 'A' ? withTtl(ttl, a('x.test', ...order)) : [] }));
      now = rows.get('x.test')!.next_at;
      expect((await lookedUp()).next_at - now).toBe(Math.max(30, ttl) * SECOND);
    }
    expect(changed).toEqual(['x.test']);
  });

  it('follows a CNAME chain, whose lowest TTL counts', async () => {
    const chain: readonly Answer[] = [
      { type: 'CNAME', name: 'x.test', ttl: 250, data: 'Y.cdn.test' },
      { type: 'CNAME', name: 'y.cdn.test', ttl: 40, data: 'z.cdn.test' },
    ];
    resolver.tell(({ type }) => ({
      answers: [
        ...chain,
        ...withTtl(90, type === 'A' ? a('z.cdn.test', '192.0.2.9') : aaaa('z.cdn.test', '2001:db8::9')),
      ],
    }));
    add('x.test');
    const row = await lookedUp();
    expect(row.addresses).toEqual(['192.0.2.9', '2001:db8::9']);
    expect(row.next_at - now).toBe(40 * SECOND);
  });

  it('counts a CNAME chain of more than eight records, or a loop, as a failure', async () => {
    const cname = (name: string, data: string): Answer => ({ type: 'CNAME', name, ttl: 60, data });
    resolver.tell(() => ({ answers: [cname('x.test', 'y.test'), cname('y.test', 'x.test')] }));
    add('x.test');
    expect(await lookedUp()).toMatchObject({ good_at: null, failures: 1 });
  });

  it('takes NXDOMAIN and an empty answer as answers for the negative TTL, at once', async () => {
    add('x.test');
    resolver.tell(fromTable({ 'x.test A': a('x.test', '192.0.2.1') }));
    await lookedUp();
    now += 300 * SECOND;
    resolver.tell(() => ({ rcode: NXDOMAIN, authorities: soa(200, 120) }));
    const gone = await lookedUp();
    expect(gone).toMatchObject({ addresses: [], good_at: now, failures: 0, next_at: now + 120 * SECOND });
    expect(changed).toEqual(['x.test', 'x.test']);
    now += 300 * SECOND;
    resolver.tell(() => ({}));
    expect((await lookedUp()).next_at).toBe(now + 300 * SECOND);
    expect(changed).toHaveLength(2);
  });

  it('stores at most 20 addresses of each family', async () => {
    const four = Array.from({ length: 30 }, (_, at) => `192.0.2.${at}`);
    const six = Array.from({ length: 30 }, (_, at) => `2001:db8::${at + 1}`);
    resolver.tell(fromTable({ 'x.test A': a('x.test', ...four), 'x.test AAAA': aaaa('x.test', ...six) }));
    add('x.test');
    const { addresses } = await lookedUp();
    expect(addresses.filter((address) => address.includes('.'))).toHaveLength(20);
    expect(addresses.filter((address) => address.includes(':'))).toHaveLength(20);
  });

  it('serves the last answer through a day in which the resolver fails, then none', async () => {
    add('x.test');
    resolver.tell(fromTable({ 'x.test A': a('x.test', '192.0.2.1') }));
    await lookedUp();
    resolver.tell(() => ({ rcode: SERVFAIL }));
    let lookups = 0;
    while (rows.get('x.test')!.addresses.length > 0) {
      now = rows.get('x.test')!.next_at;
      await lookedUp();
      lookups++;
      expect(changed).toHaveLength(now - START >= DAY ? 2 : 1);
    }
    expect(now - START).toBeGreaterThanOrEqual(DAY);
    expect(now - START).toBeLessThan(DAY + 300 * SECOND);
    expect(lookups).toBeLessThan(DAY / (300 * SECOND) + 6);
    now = rows.get('x.test')!.next_at;
    resolver.tell(fromTable({ 'x.test A': a('x.test', '192.0.2.1') }));
    expect(await lookedUp()).toMatchObject({ addresses: ['192.0.2.1'], failures: 0 });
    expect(changed).toHaveLength(3);
  });

  it('takes no answer about one family for an answer when the other fails', async () => {
    add('x.test');
    resolver.tell(({ type }) => (type === 'A' ? { answers: a('x.test', '192.0.2.1') } : { rcode: SERVFAIL }));
    expect(await lookedUp()).toMatchObject({ addresses: [], good_at: null, failures: 1 });
    expect(notes).toMatchObject([{ kind: 'failed', target: 'x.test' }]);
  });

  it('retries after a time-out without an answer', async () => {
    resolver.tell(() => null);
    add('x.test');
    expect(await lookedUp()).toMatchObject({ failures: 1, next_at: START + 30 * SECOND });
  });

  it('looks up every due target, eight at once', async () => {
    let most = 0;
    const open = new Set<string>();
    resolver.tell(({ name, type }) => {
      open.add(name);
      most = Math.max(most, open.size);
      setTimeout(() => open.delete(name), 8);
      return { answers: type === 'A' ? a(name, '192.0.2.1') : [], delayMs: 10 };
    });
    add(...Array.from({ length: 150 }, (_, at) => `t${at}.test`));
    expect(await flattener().lookUpDue()).toBe(150);
    expect(new Set(changed).size).toBe(150);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  it('polls until it is stopped, and a stopped lookup changes nothing', async () => {
    resolver.tell(fromTable({ 'x.test A': a('x.test', '192.0.2.1') }));
    add('x.test');
    const running = flattener();
    running.start();
    await until(() => changed.length === 1, 'the first change');
    resolver.tell(() => null);
    const { queries } = resolver;
    const before = queries.length;
    add('y.test');
    await until(() => queries.length > before, 'a query');
    await running.stop();
    expect(rows.get('y.test')).toEqual(newTarget('y.test', now));
    expect(notes.filter(({ kind }) => kind === 'failed')).toEqual([]);
  });

  it('goes on after the store has failed', async () => {
    resolver.tell(fromTable({ 'x.test A': a('x.test', '192.0.2.1') }));
    add('x.test');
    let failures = 2;
    const running = createFlattener({
      dns,
      targets: {
        ...targets,
        async put(row, isChanged) {
          if (failures-- > 0) throw new Error('the store is down');
          await targets.put(row, isChanged);
        },
      },
      clock: () => now,
      pollMs: 5,
      note: (note) => notes.push(note),
    });
    running.start();
    await until(() => changed.length === 1, 'the first change');
    await running.stop();
    expect(notes.filter(({ kind }) => kind === 'failed')).toHaveLength(2);
  });
});
