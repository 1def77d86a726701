/** What a write reads does not grow with the rules of its domain, and what it stores of them is exact, on both stores. */
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/base/storage/sqlite.ts';
import { MAX_AUDITED_MOVES } from '../../src/control/api/operation/limits.ts';
import type { Store, WriteTransaction } from '../../src/control/store/store.ts';
import type { RuleCosts } from '../../src/control/store/tables/rules.ts';
import { patternCost } from '../../src/rules/model/pattern.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';

/** Rows that the nouns of write transactions have answered. */
interface Counted {
  rows: number;
}

/** The store with its writes counted. */
function counting(store: Store, counted: Counted): Store {
  const countRows = <T extends object>(noun: T): T =>
    new Proxy(noun, {
      get(target, name, receiver) {
        const value = Reflect.get(target, name, receiver);
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]) => {
          const answer = await value.apply(target, given);
          counted.rows += Array.isArray(answer) ? answer.length : answer instanceof Set ? answer.size : 1;
          return answer;
        };
      },
    });
  const countNouns = (tx: WriteTransaction): WriteTransaction =>
    // Over nothing: a noun, once made, is a property of its transaction that a proxy of it must not replace.
    new Proxy({} as WriteTransaction, {
      get(_, name) {
        const value = Reflect.get(tx, name);
        return typeof value === 'object' ? countRows(value) : value;
      },
    });
  return { ...store, write: (work, options) => store.write((tx) => work(countNouns(tx)), options) };
}

/** Runs a statement past the store, as an older version's migration would. */
async function change(kind: 'sqlite' | 'postgres', place: string, statement: string): Promise<void> {
  if (kind === 'sqlite') {
    const database = openDatabase(join(place, 'edgeplan.db'));
    try {
      database.exec(statement);
    } finally {
      database.close();
    }
    return;
  }
  const client = new pg.Client({ connectionString: place });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Rules that one transaction inserts: the store ends one of 15 seconds, which thousands take on a busy machine. */
const AT_ONCE = 100;

const ADDRESSES = ['192.0.2.1', '198.51.100.0/24'];
const pathOf = (number: number) => `^/p${number}x[a-z]+$`;

describe.each(testDatabases())('the cost of rules on $kind', (database) => {
  const counted: Counted = { rows: 0 };
  let subject: Subject;
  let ask: Subject['ask'];
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(database, { around: (store) => counting(store, counted) });
  });
  beforeEach(async () => {
    subject = await addSubject(api);
    ask = subject.ask;
  });
  afterAll(() => api.close());

  async function addRule(slug: string, fields: object): Promise<{ id: number; path: string }> {
    const answer = await ask('POST', `/rules/${slug}/`, fields);
    expect(answer.status, answer.text).toBe(200);
    return { id: answer.body.id, path: `/rules/${slug}/${answer.body.id}` };
  }

  /** Puts copies of the API's own rules beside them, as the API would store them. */
  async function fill(most: number): Promise<void> {
    const domain_id = subject.domain.id;
    const drop = (await api.store.latest.rules.list(domain_id, 'drop'))[0]!;
    const redirect = (await api.store.latest.rules.list(domain_id, 'redirect'))[0]!;
    for (let from = 1; from <= most; from += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, most - from + 1) }, (_, at) => from + at);
      await api.store.write(async (tx) => {
        for (const number of numbers) {
          const costs = { addresses: ADDRESSES.length, patterns: [] };
          await tx.rules.insert({ ...drop, record_ids: [], costs });
          const { octets, build } = patternCost(pathOf(0), { ignoreCase: false, of: 'path' })!;
          const prefix = Buffer.from(`/p${number}x`, 'utf16le').toString('hex');
          const patterns = [{ digest: `${number}`, octets, build, eighths: 8, prefix }];
          await tx.rules.insert({ ...redirect, record_ids: [], costs: { addresses: 0, patterns } });
        }
      });
    }
  }

  /** Rows read by each kind of write. */
  async function writes(): Promise<Record<string, number>> {
    const read: Record<string, number> = {};
    const note = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      counted.rows = 0;
      const answer = await work();
      read[name] = counted.rows;
      return answer;
    };
    const put = async (path: string, body: object) =>
      expect((await ask('PUT', path, body)).status, path).toBe(200);
    const drop = await note('drop', () => addRule('drop', { ips: ADDRESSES }));
    await note('more addresses', () => put(drop.path, { ips: [...ADDRESSES, '203.0.113.9'] }));
    await note('toggle', () => ask('PATCH', `${drop.path}/toggle`));
    const fields = { target: '/', path_match_type: 'regex', path_includes: [pathOf(9_000)] };
    const regex = await note('regex', () => addRule('redirect', fields));
    await note('another regex', () => put(regex.path, { path_includes: [pathOf(9_001)] }));
    await note('regex removed', () => ask('DELETE', regex.path));
    await note('removed', () => ask('DELETE', drop.path));
    return read;
  }

  test('a write reads as many rows among 2,000 rules of a type as among 100', async () => {
    await addRule('drop', { ips: ADDRESSES });
    await addRule('redirect', { target: '/', path_match_type: 'regex', path_includes: [pathOf(0)] });
    await fill(100);
    const few = await writes();
    await fill(1_900);
    expect(await writes()).toEqual(few);
    expect(Math.max(...Object.values(few))).toBeLessThan(40);
  });

  test('the stored totals equal the sums over the stored rules', async () => {
    const { id: first } = await addRule('drop', { ips: ADDRESSES });
    const { body: record } = await ask('POST', '/records/', {
      name: 'www',
      type: 'A',
      destination: '192.0.2.1',
      proxied: true,
    });
    const scoped = await addRule('drop', { ips: ADDRESSES, record_ids: [record.id] });
    const host = { host_match_type: 'regex', host_includes: ['^a.+\\.example$', '^b.+\\.example$'] };
    const both = await addRule('waf', {
      ...host,
      path_match_type: 'regex',
      path_includes: ['^/x', '\\x00y'],
    });
    const same = await addRule('captcha', { path_match_type: 'regex', path_includes: ['^/x', '^/x'] });
    const pages = await addRule('error-page', { codes: [502], content: { 502: 'é' } });
    await check();
    await ask('PUT', both.path, { host_match_type: 'exact', host_includes: ['www.d.example'] });
    await ask('PUT', scoped.path, { ips: ['203.0.113.1'], priority: 3 });
    await ask('PATCH', `${same.path}/toggle`);
    await ask('PUT', pages.path, { content: {} });
    await check();
    await ask('DELETE', `/records/${record.id}`);
    await ask('DELETE', same.path);
    await ask('POST', '/rules/drop/?validate_only=true', { ips: ADDRESSES });
    await ask('PUT', '/rules/drop/reorder', { ids: [scoped.id, first] });
    await check();
    await ask('DELETE', both.path);
    await check();
    expect((await costs()).octets).toBe(0);
  });

  const costs = () => api.store.latest.rules.patternCosts(subject.domain.id, { without: 0 });

  /** Holds the stored totals against the rules themselves. */
  async function check(): Promise<void> {
    const { rules } = api.store.latest;
    const totals = new Map<string, RuleCosts>();
    const patterns = new Set<string>();
    const content = new Map(
      (await rules.contents(subject.domain.id)).map((row) => [row.rule_id, row.content]),
    );
    for (const { id, type, body } of await rules.listAll(subject.domain.id)) {
      const fields = JSON.parse(body);
      const there = totals.get(type) ?? { type, rules: 0, octets: 0, addresses: 0 };
      totals.set(type, {
        type,
        rules: there.rules + 1,
        octets: there.octets + Buffer.byteLength(body) + Buffer.byteLength(content.get(id) ?? ''),
        addresses: there.addresses + (fields.ips?.length ?? 0),
      });
      const hosts = fields.host_match_type === 'regex' ? fields.host_includes : [];
      const paths = fields.path_match_type === 'regex' ? fields.path_includes : [];
      for (const source of hosts) patterns.add(`i${source}`);
      for (const source of paths) patterns.add(`c${source}`);
    }
    expect(await rules.totals(subject.domain.id)).toEqual([...totals.values()]);
    const sum = { octets: 0, build: 0, eighths: 0, counted: true };
    for (const use of patterns) {
      const cost = patternCost(use.slice(1), {
        ignoreCase: use.startsWith('i'),
        of: use.startsWith('i') ? 'host' : 'path',
      })!;
      sum.octets += cost.octets;
      sum.build += cost.build;
      sum.eighths += cost.scans * 8;
    }
    expect(await costs()).toEqual(sum);
  }

  test('regexes of rules without stored costs are counted by the first write of a regex', async () => {
    const fields = { target: '/', path_match_type: 'regex', path_includes: [pathOf(0)] };
    const { id } = await addRule('redirect', fields);
    const before = await costs();
    const key = { domain_id: subject.domain.id, type: 'redirect', id } as const;
    const row = (await api.store.latest.rules.get(key))!;
    await api.store.write(async (tx) => {
      await tx.rules.update(key, { ...row, record_ids: [], costs: { addresses: 0, patterns: [] } });
    });
    const uncount = `UPDATE pattern_totals SET counted = 0 WHERE domain_id = ${subject.domain.id}`;
    await change(database.kind, api.database, uncount);
    expect(await costs()).toMatchObject({ octets: 0, counted: false });
    await addRule('captcha', { path_match_type: 'regex', path_includes: [pathOf(0)] });
    expect(await costs()).toEqual(before);
  });

  test('a reorder of thousands of rules moves each, and its audit entry lists the first', async () => {
    await addRule('drop', { ips: ADDRESSES });
    await addRule('redirect', { target: '/', path_match_type: 'regex', path_includes: [pathOf(0)] });
    await fill(2_000);
    const ids = (await api.store.latest.rules.order(subject.domain.id, 'drop')).map(({ id }) => id).reverse();
    const answer = await ask('PUT', '/rules/drop/reorder', { ids });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.map(({ id }: { id: number }) => id)).toEqual(ids);
    expect(answer.body.at(-1).priority).toBe(ids.length * 10);
    const [entry] = await api.store.latest.audit.list(subject.domain.id, { limit: 1 });
    const after = JSON.parse(entry!.after_json!);
    expect(after.rules).toHaveLength(MAX_AUDITED_MOVES);
    expect(after.rules[1]).toEqual({ id: ids[1], priority: 20 });
    expect(after.unlisted).toBeGreaterThan(1_800);
    expect(JSON.parse(entry!.before_json!).rules[1]).toMatchObject({ id: ids[1] });
    expect((await ask('PUT', '/rules/drop/reorder', { ids: ids.slice(1) })).status).toBe(400);
  });
});
