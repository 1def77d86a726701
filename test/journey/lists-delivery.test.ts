/** Named lists from the store to a node: sealed once, carried by digest beside plans, and back in time by a rollback. */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/base/storage/sqlite.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type { ListRow } from '../../src/control/store/tables/lists.ts';
import { digestsIn } from '../../src/engine/plan/list-digests.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import {
  newFolder,
  startFollower,
  type TestFollower,
  type TestFollowerOptions,
} from '../support/edge-follower.ts';
import { addDomain, addDrop, type House, openHouse, until } from '../support/publish-setup.ts';
import { addList, addListDrop, changeList } from '../support/stored-lists.ts';

let folder: string;
let house: House;
let proxy: ControlProxy;
let token: string;
let domain: DomainRow;
let list: ListRow;
const followers = new Set<TestFollower>();

beforeEach(async () => {
  folder = newFolder();
  house = await openHouse({ database: folder });
  proxy = await startControlProxy(house.port);
  token = await house.token('node-1');
  domain = await addDomain(house, 'shop.test');
  list = await addList(house, ofDomain(), { name: 'bad', values: ['192.0.2.1'] });
  await addListDrop(house, domain, { list: 'bad' });
});
afterEach(async () => {
  for (const follower of followers) await stop(follower);
  await proxy.close();
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

const ofDomain = () => ({ account_id: null, domain_id: domain.id });

async function start(options: Partial<TestFollowerOptions> = {}): Promise<TestFollower> {
  const follower = await startFollower({ url: proxy.url, token, ...options });
  followers.add(follower);
  return follower;
}

async function stop(follower: TestFollower): Promise<void> {
  followers.delete(follower);
  await follower.stop();
}

/** What becomes of a request from no listed address. */
const decideAt = (node: TestFollower, target: string): string => decide(node, '192.0.2.99', { target });

function decide(
  node: TestFollower,
  ip: string,
  { name = 'shop.test', target = '/' }: { readonly name?: string; readonly target?: string } = {},
): string {
  const found = node.plans.find(name);
  if (found === null || found === 'refused') return found ?? '421';
  return found.evaluator.evaluate({ scheme: 'https', method: 'GET', host: name, target, ip }).action;
}

/** A node that drops 192.0.2.1. */
async function following(): Promise<TestFollower> {
  const node = await start();
  await until(() => decide(node, '192.0.2.1') === 'block', 'the list on the node');
  await settled(node);
  return node;
}

const settled = (node: TestFollower): Promise<unknown> =>
  until(() => node.state().pending === 0 && node.state().comparisons > 0, 'everything');

async function currentPlan(name = 'shop.test'): Promise<Uint8Array> {
  const current = await house.store.latest.plans.current(name);
  return (await house.store.latest.plans.blob(current!.digest!))!;
}

const listOf = async (name = 'shop.test'): Promise<string> => digestsIn(await currentPlan(name))[0]!;

/** Waits until the current plan names another list than this one, and returns its digest. */
async function after(digest: string): Promise<string> {
  await until(async () => (await listOf()) !== digest, 'the changed list in the plan');
  return listOf();
}

const fetchList = (digest: string, as = token): Promise<Response> =>
  fetch(`http://127.0.0.1:${house.port}/nodes/lists/${digest}`, {
    headers: { authorization: `Bearer ${as}` },
  });

const hexOf = (octets: ArrayBuffer): string =>
  createHash('sha256').update(new Uint8Array(octets)).digest('hex');

const answers = async (): Promise<readonly { outcome: string; reason: string }[]> =>
  (await house.call('GET', '/domains/shop.test/nodes/')).body;

const filesOf = ({ directory }: TestFollower): ReadonlySet<string> =>
  new Set(readdirSync(join(directory, 'plans')));

describe('a changed list', () => {
  test('reaches a node as the next revision, whose reason names it, and nothing is compiled', async () => {
    const node = await following();
    const revision = node.revision('shop.test')!;
    const before = await listOf();
    await changeList(house, list, ['192.0.2.2']);
    await until(() => decide(node, '192.0.2.2') === 'block', 'the changed list');
    expect(decide(node, '192.0.2.1')).toBe('forward');
    expect(node.revision('shop.test')).toBe(revision + 1);
    const [last] = await house.store.latest.plans.list(domain.id, { limit: 1 });
    expect(last).toMatchObject({ revision: revision + 1, reason: 'list `bad` replaced' });
    await settled(node);
    // The plan before may be needed, and its list with it.
    expect(filesOf(node)).toContain(before);
    await changeList(house, list, ['192.0.2.3']);
    await until(() => decide(node, '192.0.2.3') === 'block', 'another change');
    await settled(node);
    await until(() => !filesOf(node).has(before), 'the removal of the first list');
  });

  test('and a changed rule take effect together', async () => {
    const node = await following();
    await house.publisher.stop();
    await changeList(house, list, ['192.0.2.2']);
    await addDrop(house, domain, '/admin');
    await changeList(house, list, ['192.0.2.3']);
    await house.publisher.publishNow();
    await until(() => decide(node, '192.0.2.3') === 'block', 'both');
    expect([decide(node, '192.0.2.2'), decideAt(node, '/admin')]).toEqual(['forward', 'block']);
  });

  test('of an account is sealed once for all domains that name it', async () => {
    proxy.pushes = false;
    const shared = await addList(
      house,
      { account_id: house.accountId, domain_id: null },
      { name: 'shared', values: ['198.51.100.1'] },
    );
    const names = ['a.test', 'b.test', 'c.test'];
    for (const name of names)
      await addListDrop(house, await addDomain(house, name), { list: 'shared', path: '/*' });
    const node = await start();
    await until(() => names.every((name) => decide(node, '198.51.100.1', { name }) === 'block'), 'the plans');
    const digest = await listOf('a.test');
    expect(await Promise.all(names.map(listOf))).toEqual(names.map(() => digest));
    proxy.asked.length = 0;
    expect(await changeList(house, shared, ['198.51.100.2'])).toBe(3);
    await until(
      () => names.every((name) => decide(node, '198.51.100.2', { name }) === 'block'),
      'the change',
    );
    const fetched = proxy.asked.filter((path) => path.startsWith('/nodes/lists/'));
    expect(fetched).toEqual([`/nodes/lists/${await listOf('a.test')}`]);
  });

  test('whose domain list takes the place of the list of the account is that of the domain', async () => {
    await addList(
      house,
      { account_id: house.accountId, domain_id: null },
      { name: 'bad', values: ['198.51.100.1'] },
    );
    const node = await following();
    expect(decide(node, '198.51.100.1')).toBe('forward');
  });
});

/**
 * Writes to the store of the server, which may have a transaction open. The server is in this process, so SQLite's own wait for the lock
 * would keep the transaction open.
 */
async function written<T>(write: () => T): Promise<T> {
  const { result } = await until(() => {
    try {
      return { result: write() };
    } catch (error) {
      if ((error as Error).message !== 'database is locked') throw error;
      return null;
    }
  }, 'the lock of the store');
  return result;
}

describe('the list of a node', () => {
  test('that the control plane does not have is reported, and the old state is served', async () => {
    proxy.pushes = false;
    const node = await following();
    proxy.rewrite = (path) => (path.startsWith('/nodes/lists/') ? Buffer.from('no list') : null);
    await changeList(house, list, ['192.0.2.2']);
    await until(async () => (await answers())[0]?.outcome === 'nack', 'the nack');
    expect((await answers())[0]?.reason).toMatch(/^the digest of what was fetched is/);
    expect([decide(node, '192.0.2.1'), decide(node, '192.0.2.2')]).toEqual(['block', 'forward']);
    proxy.rewrite = null;
    await until(() => decide(node, '192.0.2.2') === 'block', 'the list');
    await until(async () => (await answers())[0]?.outcome === 'ack', 'the ack');
  });

  test('whose octets are lost at the control plane is reported, and the old state is served', async () => {
    const node = await following();
    const before = await listOf();
    proxy.target = 0;
    proxy.cutAll();
    await changeList(house, list, ['192.0.2.2']);
    const digest = await after(before);
    const database = openDatabase(join(folder, 'edgeplan.db'));
    database.exec('PRAGMA foreign_keys = OFF');
    const [lost] = await written(
      () =>
        database.prepare('DELETE FROM list_blobs WHERE digest = ? RETURNING bytes').all(digest) as [
          { bytes: Buffer },
        ],
    );
    proxy.target = house.port;
    await until(async () => (await answers())[0]?.outcome === 'nack', 'the nack');
    expect((await answers())[0]?.reason).toMatch(/^\/nodes\/lists\/[0-9a-f]{64} was answered with 404/);
    expect([decide(node, '192.0.2.1'), decide(node, '192.0.2.2')]).toEqual(['block', 'forward']);
    await written(() =>
      database
        .prepare('INSERT INTO list_blobs (digest, created_at, bytes) VALUES (?, ?, ?)')
        .all(digest, Date.now(), lost.bytes),
    );
    database.close();
    await until(() => decide(node, '192.0.2.2') === 'block', 'the list');
  });

  test('serves after a restart without a control plane', async () => {
    const node = await following();
    await stop(node);
    proxy.target = 0;
    proxy.cutAll();
    const again = await start({ directory: node.directory });
    expect([decide(again, '192.0.2.1'), decide(again, '192.0.2.2')]).toEqual(['block', 'forward']);
    expect(again.warnings.filter((line) => line.includes('damaged'))).toEqual([]);
  });

  test.each([
    ['damaged', (file: string) => writeFileSync(file, 'damaged')],
    ['gone', (file: string) => rmSync(file)],
  ])('that is %s is fetched again; until then the plan before serves', async (_, harm) => {
    const node = await following();
    const before = node.revision('shop.test')!;
    await changeList(house, list, ['192.0.2.2']);
    await until(() => decide(node, '192.0.2.2') === 'block', 'the changed list');
    await settled(node);
    const digest = await listOf();
    proxy.target = 0;
    proxy.cutAll();
    await stop(node);
    harm(join(node.directory, 'plans', digest));
    const again = await start({ directory: node.directory });
    expect([decide(again, '192.0.2.1'), decide(again, '192.0.2.2')]).toEqual(['block', 'forward']);
    expect(again.revision('shop.test')).toBe(before);
    expect(again.warnings.join('\n')).toContain(`revision ${before} is served until it is fetched`);
    proxy.target = house.port;
    await until(() => decide(again, '192.0.2.2') === 'block', 'the list fetched again');
    expect(filesOf(again)).toContain(digest);
  });

  test('is fetched by nodes of the groups only that serve a plan with it', async () => {
    await following();
    const digest = await listOf();
    const found = await fetchList(digest);
    expect(hexOf(await found.arrayBuffer())).toBe(digest);
    expect(found.headers.get('etag')).toBe(`"${digest}"`);
    const other = await house.token('node-2');
    await house.store.write(async (tx) => {
      const node = (await tx.nodes.list()).find(({ name }) => name === 'node-2')!;
      await tx.nodes.setGroups(node.id, 'elsewhere');
    });
    expect((await fetchList(digest, other)).status).toBe(404);
    expect((await fetchList('f'.repeat(64))).status).toBe(404);
    expect((await fetchList('no-digest')).status).toBe(404);
    expect((await fetchList(digest, 'no-token')).status).toBe(401);
  });
});

describe('a rollback', () => {
  const rollBack = (revision: number) => house.call('POST', `/domains/shop.test/plans/${revision}/rollback`);

  test('brings back the content of the lists, and a list that changes afterwards takes effect', async () => {
    const other = await addList(house, ofDomain(), { name: 'worse', values: ['203.0.113.1'] });
    await addListDrop(house, domain, { list: 'worse' });
    const node = await following();
    await until(() => decide(node, '203.0.113.1') === 'block', 'both lists');
    const revision = node.revision('shop.test')!;
    await changeList(house, list, ['192.0.2.2']);
    await until(() => decide(node, '192.0.2.2') === 'block', 'the changed list');
    const rule = await addDrop(house, domain, '/later');
    await until(() => decideAt(node, '/later') === 'block', 'the later rule');
    expect(rule.outboxId).toBeGreaterThan(0);
    expect(await rollBack(revision)).toMatchObject({ status: 200 });
    await until(() => decide(node, '192.0.2.1') === 'block', 'the old list');
    expect([decide(node, '192.0.2.2'), decideAt(node, '/later')]).toEqual(['forward', 'forward']);
    await changeList(house, other, ['203.0.113.2']);
    await until(() => decide(node, '203.0.113.2') === 'block', 'the other list');
    // Rules and the first list are those of the rollback.
    expect([decide(node, '192.0.2.1'), decideAt(node, '/later')]).toEqual(['block', 'forward']);
    const [last] = await house.store.latest.plans.list(domain.id, { limit: 1 });
    expect(last?.reason).toBe(`rollback to revision ${revision}; list \`worse\` replaced`);
  });

  test('pruning leaves the lists of stored plans, and removes those of none', async () => {
    await following();
    const first = await listOf();
    await changeList(house, list, ['192.0.2.2']);
    await after(first);
    const { pruneAll } = await import('../../src/control/publishing/revisions.ts');
    const { UNUSED_LIST_MS } = await import('../../src/control/publishing/limits.ts');
    await pruneAll(house.store, Date.now() + 2 * UNUSED_LIST_MS);
    expect(await house.store.latest.lists.blob(first)).not.toBeNull();
    const revisions = await house.store.latest.plans.list(domain.id, { limit: 10 });
    await house.store.write((tx) =>
      tx.plans.prune(
        'shop.test',
        revisions.slice(1).map(({ revision }) => revision),
      ),
    );
    await pruneAll(house.store, Date.now() + 2 * UNUSED_LIST_MS);
    expect(await house.store.latest.lists.blob(first)).toBeNull();
    expect(await house.store.latest.lists.blob(await listOf())).not.toBeNull();
  });
});

describe('the API', () => {
  test('shows, compares and simulates revisions by the lists that they name', async () => {
    await following();
    const before = await listOf();
    const { revision } = (await house.store.latest.plans.current('shop.test'))!;
    await changeList(house, list, ['192.0.2.2']);
    const digest = await after(before);
    const path = `/domains/shop.test/plans/${revision + 1}`;
    const shown = await house.call('GET', path);
    expect(shown.body.plan.lists).toEqual([{ name: 'bad', kind: 'ip', digest }]);
    const text = await house.call('GET', `${path}/diff/${revision}`);
    expect(text.text).toContain(`-      "digest": "${digest}"`);
    const compared = await house.call(
      'GET',
      `/domains/shop.test/diff?from=${revision}&to=${revision + 1}&proof=true`,
    );
    expect(compared.body).toMatchObject({
      same: false,
      rules: [{ change: 'changed', rule: 'drop/1' }],
      lists: [{ name: 'bad', before, after: digest }],
      proof: { equivalent: false, complete: true, outcomes: 2 },
    });
    const simulated = async (ip: string): Promise<string> => {
      const request = { host: 'shop.test', target: '/', ip };
      const { body } = await house.call('POST', '/domains/shop.test/simulate', { request });
      return body.decision.action;
    };
    expect([await simulated('192.0.2.1'), await simulated('192.0.2.2')]).toEqual(['forward', 'block']);
    const octets = await house.call('GET', `${path}/lists/${digest}`);
    expect(octets.status).toBe(200);
    expect(octets.headers['edgeplan-digest']).toBe(`sha256:${digest}`);
    expect((await house.call('GET', `${path}/lists/${before}`)).status).toBe(404);
    expect((await house.call('GET', `/domains/shop.test/plans/${revision}/lists/${before}`)).status).toBe(
      200,
    );
  });
});
