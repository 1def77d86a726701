/** A node token opens the domains of its groups: what nodes read, fetch and report, while nodes and domains are moved. */
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { moveDomain } from '../../src/control/publishing/nodes.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type { SignedPage } from '../../src/engine/plan/manifest.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { testDatabases } from '../support/databases.ts';
import { startFollower, type TestFollower, type TestFollowerOptions } from '../support/edge-follower.ts';
import { addDomain, addDrop, type House, openHouse, removeDomain, until } from '../support/publish-setup.ts';
import { ask } from './feed-node.ts';

describe.each(testDatabases())('node groups on $kind', (database) => {
  let drop: () => Promise<void>;
  let house: House;
  let proxy: ControlProxy;
  const followers: TestFollower[] = [];

  beforeEach(async () => {
    const made = await database.make();
    drop = made.drop;
    house = await openHouse({ database: made.database });
    proxy = await startControlProxy(house.port);
  });
  afterEach(async () => {
    for (const follower of followers.splice(0)) {
      await follower.stop();
      rmSync(follower.directory, { recursive: true, force: true });
    }
    await proxy.close();
    await house.close();
    await drop();
  });

  async function setNode(name: string, groups: string): Promise<void> {
    const node = (await house.store.latest.nodes.list()).find((one) => one.name === name)!;
    await house.store.write((tx) => tx.nodes.setGroups(node.id, groups));
  }
  async function token(name: string, groups: string): Promise<string> {
    const made = await house.token(name);
    await setNode(name, groups);
    return made;
  }
  function move(domain: DomainRow, groups: string): Promise<unknown> {
    return house.store.write((tx) => moveDomain(tx, domain, { groups, now: Date.now() }));
  }
  async function grouped(name: string, groups: string): Promise<DomainRow> {
    const domain = await addDomain(house, name);
    await move(domain, groups);
    await until(
      async () => (await house.store.latest.plans.current(name))?.node_groups === groups,
      'its groups',
    );
    return domain;
  }
  async function start(options: Partial<TestFollowerOptions> & { token: string }): Promise<TestFollower> {
    const follower = await startFollower({ url: proxy.url, ...options });
    followers.push(follower);
    return follower;
  }
  async function pageOf(shown: string): Promise<SignedPage> {
    const { bytes } = await ask({ port: house.port, token: shown }, { path: '/nodes/manifest?wait=0' });
    return JSON.parse(bytes.toString('utf8'));
  }
  const settled = (node: TestFollower): Promise<unknown> =>
    until(() => node.state().pending === 0 && node.state().comparisons > 0, 'a comparison');

  test('a token reads only entries, plans and secrets of domains in its groups', async () => {
    await grouped('shop.test', 'eu,us');
    await grouped('blog.test', 'us');
    const eu = await token('eu-1', 'eu');
    const old = await house.token('old-1');
    await addDomain(house, 'plain.test');
    await until(() => house.store.latest.plans.current('plain.test'), 'the last plan');
    const page = await pageOf(eu);
    expect(page.manifest.groups).toEqual(['eu']);
    expect(page.manifest.entries.map(({ domain }) => domain)).toEqual(['shop.test']);
    expect(JSON.stringify(page)).not.toContain('blog.test');
    // Without groups the page is as it was, and names that left `default` are gone there.
    const plain = await pageOf(old);
    expect(plain.manifest).not.toHaveProperty('groups');
    expect(plain.manifest.through).toBe(page.manifest.through);
    const held = plain.manifest.entries.filter(({ tombstone }) => tombstone === null);
    expect(held.map(({ domain }) => domain)).toEqual(['plain.test']);
    for (const entry of plain.manifest.entries) {
      if (entry.tombstone !== null) expect(entry).not.toHaveProperty('clearance');
    }
    const fetched = async (shown: string, name: string): Promise<number> => {
      const { digest } = (await house.store.latest.plans.current(name))!;
      return (await ask({ port: house.port, token: shown }, { path: `/nodes/plans/${digest}` })).status;
    };
    expect(await fetched(eu, 'shop.test')).toBe(200);
    expect(await fetched(eu, 'blog.test')).toBe(404);
    expect(await fetched(eu, 'plain.test')).toBe(404);
    expect(await fetched(old, 'plain.test')).toBe(200);
    expect(await fetched(old, 'shop.test')).toBe(404);
  });

  test('a node removes a domain that leaves its groups and installs one that enters them', async () => {
    const shop = await grouped('shop.test', 'eu');
    const [eu, us] = [
      await start({ token: await token('eu-1', 'eu') }),
      await start({ token: await token('us-1', 'us') }),
    ];
    await until(() => eu.decide('shop.test', '/') === 'forward', 'the plan');
    await settled(us);
    expect(us.decide('shop.test', '/')).toBe('421');
    expect(us.state().names).toBe(0);
    await move(shop, 'us');
    await until(() => us.decide('shop.test', '/') === 'forward', 'the plan in the other group');
    await until(() => eu.decide('shop.test', '/') === '421', 'its end in the first');
    await addDrop(house, shop, '/admin');
    await until(() => us.decide('shop.test', '/admin') === 'block', 'a change');
    await until(async () => (await house.call('GET', '/domains/shop.test/nodes/')).body[0]?.current, 'ack');
    const { body } = await house.call('GET', '/domains/shop.test/nodes/');
    expect(body.map((one: { name: string }) => one.name)).toEqual(['us-1']);
    const { revision } = (await house.store.latest.plans.current('shop.test'))!;
    const detail = await house.call('GET', `/domains/shop.test/plans/${revision}`);
    expect(detail.body.propagation.summary).toMatch(/^live on 1 of 1 node, /);
    await move(shop, 'eu,us');
    await until(() => eu.decide('shop.test', '/admin') === 'block', 'its return');
    expect(us.decide('shop.test', '/admin')).toBe('block');
    // Its end, too, is read where it was.
    await removeDomain(house, shop);
    await until(() => eu.decide('shop.test', '/') === '421', 'the end');
    await until(() => us.decide('shop.test', '/') === '421', 'the end in the other');
    expect([...eu.warnings, ...us.warnings]).toEqual([]);
    expect(eu.state().problem ?? us.state().problem).toBeNull();
  });

  test('a moved node follows without a restart and removes domains of its old groups', async () => {
    await grouped('eu.test', 'eu');
    await grouped('us.test', 'us');
    await grouped('both.test', 'eu,us');
    const shown = await token('node-1', 'eu');
    const node = await start({ token: shown });
    await until(() => node.decide('eu.test', '/') === 'forward', 'the first plans');
    await settled(node);
    expect([node.decide('both.test', '/'), node.decide('us.test', '/')]).toEqual(['forward', '421']);
    await setNode('node-1', 'us');
    await until(() => node.decide('us.test', '/') === 'forward', 'the plan of the other group');
    await until(() => node.decide('eu.test', '/') === '421', 'the end of the first');
    expect([node.decide('both.test', '/'), node.state().names]).toEqual(['forward', 2]);
    await until(() => node.state().mode === 'stream' && node.state().problem === null, 'following');
    // What was forgotten stays so without a control plane, and while it was off it is moved again.
    followers.splice(0);
    await node.stop();
    await setNode('node-1', 'eu');
    proxy.target = 0;
    const again = await start({ token: shown, directory: node.directory });
    expect([again.decide('us.test', '/'), again.decide('eu.test', '/')]).toEqual(['forward', '421']);
    proxy.target = house.port;
    await until(() => again.decide('eu.test', '/') === 'forward', 'the plan of the first group');
    await until(() => again.decide('us.test', '/') === '421', 'the end of the second');
    expect(again.decide('both.test', '/')).toBe('forward');
  });

  test('pages of other groups are refused, of the manifest and of the feed', async () => {
    await grouped('eu.test', 'eu');
    await grouped('us.test', 'us');
    const [eu, us] = [await token('eu-1', 'eu'), await token('us-1', 'us')];
    const node = await start({ token: eu, times: { compareMs: 300 } });
    await until(() => node.decide('eu.test', '/') === 'forward', 'the plan');
    await settled(node);
    const foreign = await pageOf(us);
    const { comparisons } = node.state();
    proxy.rewrite = (path) =>
      path.startsWith('/nodes/manifest') ? Buffer.from(JSON.stringify(foreign)) : null;
    await until(() => /is of the groups `us`/.test(node.state().problem ?? ''), 'the refusal');
    expect([node.decide('eu.test', '/'), node.decide('us.test', '/')]).toEqual(['forward', '421']);
    expect(node.state().comparisons).toBeLessThanOrEqual(comparisons + 1);
    // Nor is one without groups, or one whose groups were changed after it was signed.
    const forged = { ...foreign, manifest: { ...foreign.manifest, groups: ['eu'] } };
    proxy.rewrite = (path) =>
      path.startsWith('/nodes/manifest') ? Buffer.from(JSON.stringify(forged)) : null;
    await until(() => /signature of the page is wrong/.test(node.state().problem ?? ''), 'the forgery');
    proxy.rewrite = (path, body) =>
      path === '/nodes/feed' && body.includes('event: manifest')
        ? Buffer.from(`event: manifest\ndata: ${JSON.stringify(foreign)}\n\n`)
        : null;
    proxy.cutAll();
    await until(() => node.warnings.some((line) => /is of the groups `us`/.test(line)), 'the refusal');
    expect(node.decide('us.test', '/')).toBe('421');
    proxy.rewrite = null;
    await until(() => node.state().mode === 'stream' && node.state().problem === null, 'following');
    expect(node.decide('eu.test', '/')).toBe('forward');
  });

  test('a name that another account registers is in the default group and removed from the group before', async () => {
    const shop = await grouped('shop.test', 'eu');
    const [eu, plain] = [
      await start({ token: await token('eu-1', 'eu') }),
      await start({ token: await house.token('plain-1') }),
    ];
    await until(() => eu.decide('shop.test', '/') === 'forward', 'the plan');
    await removeDomain(house, shop);
    await addDomain(house, 'shop.test');
    await until(() => plain.decide('shop.test', '/') === 'forward', 'the plan of the new domain');
    await until(() => eu.decide('shop.test', '/') === '421', 'the end of the old one');
  });
});
