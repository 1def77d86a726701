/** The key that signs manifests is rotated while nodes follow, are off, and are lied to. */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_RETIRING_KEYS, MAX_TRANSITIONS } from '../../src/control/publishing/limits.ts';
import { newKey, openKey, openSigner, readKeys, rotateKeys } from '../../src/control/publishing/signer.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type { SignedTransition } from '../../src/engine/plan/manifest.ts';
import { ask } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import {
  newFolder,
  startFollower,
  type TestFollower,
  type TestFollowerOptions,
} from '../support/edge-follower.ts';
import { addDomain, addDrop, type House, openHouse, until } from '../support/publish-setup.ts';
import { type Served, serve } from '../support/served.ts';
import { startWorkerNode } from '../support/worker-node.ts';

const OVERLAP_MS = 60_000;

describe('followers', () => {
  let folder: string;
  let house: House;
  let proxy: ControlProxy;
  let token: string;
  let domain: DomainRow;
  let nodes: TestFollower[];
  beforeEach(async () => {
    folder = newFolder();
    nodes = [];
    house = await openHouse({ database: join(folder, 'data') });
    proxy = await startControlProxy(house.port);
    token = await house.token('node-1');
    domain = await addDomain(house, 'shop.test');
  });
  afterEach(async () => {
    for (const node of nodes) await node.stop();
    await proxy.close();
    await house.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(options: Partial<TestFollowerOptions> = {}): Promise<TestFollower> {
    const node = await startFollower({ url: proxy.url, token, ...options });
    nodes.push(node);
    return node;
  }

  async function stop(node: TestFollower): Promise<void> {
    nodes = nodes.filter((one) => one !== node);
    await node.stop();
  }

  async function rotate(overlapMs = OVERLAP_MS, compromised = false): Promise<string> {
    const rotated = await house.store.write((tx) =>
      rotateKeys(tx, { now: Date.now(), overlapMs, compromised }),
    );
    if (!rotated.ok) throw new Error('too many keys overlap');
    return openKey(rotated.keys.current).keyId;
  }

  /** The key that the store signs with. */
  async function currentKey(): Promise<string> {
    return openKey((await readKeys(house.store.latest))!.current).publicKey;
  }

  async function takes(node: TestFollower, path: string): Promise<void> {
    await addDrop(house, domain, path);
    await until(
      () => node.decide('shop.test', path) === 'block',
      `${path} at the node: ${node.state().problem}`,
    );
  }

  test('a connected node trusts the new key, stores it, and gets every change', async () => {
    const publicKey = house.signer.publicKey;
    const node = await start({ publicKey });
    await takes(node, '/before');
    const revision = node.revision('shop.test')!;
    const keyId = await rotate();
    await takes(node, '/right-after');
    await until(() => node.state().keyId === keyId, 'the new key to be trusted');
    expect(statSync(join(node.directory, 'control.json')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(node.directory, 'control.json'), 'utf8')).toContain(await currentKey());
    await takes(node, '/after');
    expect(node.revision('shop.test')).toBe(revision + 2);
    const { directory } = node;
    await stop(node);
    // Named in its environment as before the rotation.
    const again = await start({ directory, publicKey });
    expect(again.state().keyId).toBe(keyId);
    expect(again.decide('shop.test', '/after')).toBe('block');
    await takes(again, '/restarted');
    expect(again.state().problem).toBeNull();
  });

  test('those pinned to the old key, to the new key and to none all follow while it overlaps', async () => {
    const old = house.signer.publicKey;
    const keyId = await rotate();
    const pins = [old, await currentKey(), undefined];
    for (const [at, publicKey] of pins.entries()) {
      const node = await start({ token: await house.token(`n${at}`), ...(publicKey && { publicKey }) });
      await takes(node, `/pin-${at}`);
      await until(() => node.state().keyId === keyId, 'the new key to be trusted');
    }
  });

  test('a node that was off during several overlaps follows the transitions to the current key', async () => {
    const node = await start();
    await takes(node, '/before');
    const { directory } = node;
    const revision = node.revision('shop.test')!;
    await stop(node);
    for (let count = 0; count < MAX_TRANSITIONS; count++) await rotate(1);
    const keyId = await rotate(0).then(
      async () => openKey((await readKeys(house.store.latest))!.current).keyId,
    );
    const { transitions } = (await readKeys(house.store.latest))!;
    expect(transitions).toHaveLength(MAX_TRANSITIONS);
    const lost = await start({ directory });
    await until(() => /no transition leads there/.test(lost.state().problem ?? ''), 'the end of the list');
    expect(lost.decide('shop.test', '/before')).toBe('block');
    await stop(lost);
    // As if it had been off for one rotation less.
    const first = transitions[0]!;
    const file = join(directory, 'control.json');
    expect(readFileSync(file, 'utf8')).not.toContain(first.public_key);
    const fresh = await start({ token: await house.token('n2'), publicKey: first.public_key });
    await until(() => fresh.state().keyId === keyId, 'the newest key');
    await takes(fresh, '/after');
    expect(fresh.revision('shop.test')).toBe(revision + 1);
  });

  test('a transition that the trusted key did not sign is refused, and the refusal is logged', async () => {
    const node = await start();
    await takes(node, '/before');
    const { keyId } = node.state();
    const forger = openKey(newKey());
    const forged = { format: 'edgeplan.key-transition/v1', from: keyId, public_key: forger.publicKey };
    const transition = { ...forged, at: 1, until: 2, signature: forger.sign('anything') };
    proxy.streams = 'hold';
    proxy.rewrite = (path, body) => {
      if (!/^\/nodes\/(?:self|manifest)/.test(path)) return null;
      return Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), transitions: [transition] }));
    };
    proxy.cutAll();
    await until(() => /is not signed by it/.test(node.state().problem ?? ''), 'the refusal');
    expect(node.state().keyId).toBe(keyId);
    expect(node.warnings.join()).not.toContain('was rotated');
    proxy.rewrite = null;
    proxy.streams = 'pass';
    proxy.cutAll();
    await takes(node, '/after');
    expect(node.state().keyId).toBe(keyId);
  });

  test('nodes refuse what only a compromised key signed, serve their plans, and accept the new key by --trust', async () => {
    const node = await start();
    await takes(node, '/before');
    await rotate();
    await rotate(OVERLAP_MS, true);
    const { retiring, transitions } = (await readKeys(house.store.latest))!;
    expect([retiring, transitions]).toEqual([[], []]);
    await addDrop(house, domain, '/after');
    proxy.cutAll();
    await until(() => /edgeplan signing-key show.*--trust/.test(node.state().problem ?? ''), 'the remedy');
    expect([node.decide('shop.test', '/before'), node.decide('shop.test', '/after')]).toEqual([
      'block',
      'forward',
    ]);
    const { directory } = node;
    await stop(node);
    const told = await start({ directory, publicKey: await currentKey() });
    await until(() => told.decide('shop.test', '/after') === 'block', 'the change');
  });

  test('the keys that sign at a time are bounded, and end by the clock', async () => {
    for (let count = 0; count < MAX_RETIRING_KEYS; count++) await rotate(2_000 + count);
    const refused = await house.store.write((tx) =>
      rotateKeys(tx, { now: Date.now(), overlapMs: 1, compromised: false }),
    );
    expect(refused).toEqual({ ok: false, until: expect.any(Number) });
    const signer = await openSigner(house.store, Date.now);
    const page = {
      format: 'edgeplan.manifest/v1',
      since: 0,
      through: 0,
      complete: true,
      at: 0,
      entries: [],
    } as const;
    expect((await signer.sign(page)).also).toHaveLength(MAX_RETIRING_KEYS);
    await wait(2_100);
    const later = await signer.sign(page);
    expect([later.also, later.transitions, later.key_id]).toEqual([undefined, undefined, signer.keyId]);
    const self = await signer.signSelf({ id: 1, name: 'n', clearance: 'x', nonce: '' });
    const leads = (self.transitions as readonly SignedTransition[]).map(({ public_key }) => public_key);
    expect(leads).toHaveLength(MAX_RETIRING_KEYS);
    expect(self.public_key).toBe(leads.at(-1));
  });
});

test('the command rotates beside a server and a node that run', { timeout: 180_000 }, async () => {
  await builtCli();
  const served: Served = await serve();
  const data = join(served.folder, 'node');
  const env = await served.node('node-1');
  const args = ['--control', served.url, '--data', data];
  let node = await startWorkerNode(args, { cwd: served.folder, env });
  const publish = async (host: string): Promise<void> => {
    await served.domain(host);
    const record = { name: '@', type: 'A', destination: '127.0.0.1', proxied: true, scheme: 'Http', port: 9 };
    expect((await served.call('POST', `/domains/${host}/records/`, record)).status).toBe(200);
    const status = async (): Promise<number> => (await ask(node.port, '/', { host })).status;
    await until(async () => ((await status()) === 421 ? null : true), `${host} at the node`);
  };
  try {
    await publish('a.test');
    const shown = await served.run(['signing-key', 'show', ...served.data]);
    expect(shown.out).toBe(`EDGEPLAN_NODE_TRUST=${env['EDGEPLAN_NODE_TRUST']}\n`);
    const rotated = await served.run(['signing-key', 'rotate', ...served.data]);
    expect([rotated.code, rotated.err]).toEqual([0, expect.stringMatching(/signs too until/)]);
    const [, trust] = /^EDGEPLAN_NODE_TRUST=(\S+)\n$/.exec(rotated.out)!;
    expect(trust).not.toBe(env['EDGEPLAN_NODE_TRUST']);
    await publish('b.test');
    await node.said(/the key of the control plane was rotated/);
    await served.run(['signing-key', 'rotate', '--overlap', '0', ...served.data]);
    await node.said(/was rotated[\s\S]*was rotated/);
    await publish('c.test');
    node.signal('SIGTERM');
    expect(await node.ended).toBe(0);
    await served.run(['signing-key', 'rotate', '--overlap', '0', ...served.data]);
    node = await startWorkerNode(args, { cwd: served.folder, env });
    await publish('d.test');
    await served.run(['signing-key', 'rotate', '--compromised', ...served.data]);
    await node.said(/edgeplan signing-key show/);
  } finally {
    node.signal('SIGTERM');
    await node.ended;
    await served.stop();
  }
});
