/** Secrets of clearance as the server makes, derives, sends and rotates them, on every store. */
import { hkdfSync } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  clearanceOf,
  openClearance,
  readMasters,
  rotateClearance,
} from '../../src/control/publishing/clearance.ts';
import { CLEARANCE_OVERLAP_MS, MAX_PREVIOUS_SECRETS } from '../../src/control/publishing/limits.ts';
import { readPage } from '../../src/control/publishing/pages.ts';
import { openSigner } from '../../src/control/publishing/signer.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import type { Clearance, ManifestEntry } from '../../src/engine/plan/manifest.ts';
import { testDatabases } from '../support/databases.ts';
import { newFolder, startFollower } from '../support/edge-follower.ts';
import { addDomain, type House, openHouse, until } from '../support/publish-setup.ts';

const T = 1_800_000_000_000;
const LEGACY = Buffer.alloc(32, 7).toString('base64');

describe.each(testDatabases())('on $kind', (database) => {
  let store: Store;
  let drop: () => Promise<void>;
  beforeEach(async () => {
    const made = await database.make();
    drop = made.drop;
    store = await openStore({ database: made.database });
  });
  afterEach(async () => {
    await store.close();
    await drop();
  });

  async function entries(now: number, since = 0): Promise<readonly ManifestEntry[]> {
    const signer = await openSigner(store, () => now);
    return (await readPage(since, 'default', { store, signer, clock: () => now })).manifest.entries;
  }

  async function publish(name: string, id: number): Promise<void> {
    const row = { account_id: null, key_id: null, reason: 'test', at: T, through: 0 };
    await store.write(async (tx) => {
      await tx.plans.putBlob('d'.repeat(64), new Uint8Array(8), T);
      await tx.plans.publish({ ...row, domain: name, domain_id: id, revision: 1, digest: 'd'.repeat(64) });
    });
  }

  test('each domain has its own secret, derived by HKDF-SHA-256 from a master that no entry contains', async () => {
    await openClearance(store, T);
    await publish('a.test', 1);
    await publish('b.test', 2);
    const { current } = await readMasters(store.latest);
    const [a, b] = await entries(T);
    const master = Buffer.from(current.secret, 'base64');
    const expected = (id: number, name: string): string => {
      const info = JSON.stringify(['edgeplan clearance of a domain/v1', id, name]);
      return Buffer.from(hkdfSync('sha256', master, '', info, 32)).toString('base64');
    };
    expect(a!.clearance).toEqual({ current: expected(1, 'a.test'), previous: [] });
    expect(b!.clearance).toEqual({ current: expected(2, 'b.test'), previous: [] });
    expect(JSON.stringify([a, b])).not.toContain(current.secret);
    const masters = await readMasters(store.latest);
    const later = clearanceOf(masters, { domain: 'a.test', domain_id: 9 }, T);
    expect(later.current).not.toBe(a!.clearance!.current);
  });

  test('a rotation gives every name a new position, and the secret before its end', async () => {
    await openClearance(store, T);
    await publish('a.test', 1);
    await publish('b.test', 2);
    const position = await store.latest.plans.position();
    const before = await entries(T);
    const rotated = await store.write((tx) => rotateClearance(tx, { now: T, overlapMs: 60_000 }));
    expect(rotated.ok).toBe(true);
    const after = await entries(T, position);
    expect(after.map(({ domain }) => domain)).toEqual(['a.test', 'b.test']);
    expect(after.at(-1)!.position).toBe(await store.latest.plans.position());
    for (const [at, { clearance }] of after.entries()) {
      const was = before[at]!.clearance!.current;
      expect(clearance!.current).not.toBe(was);
      expect(clearance!.previous).toEqual([{ secret: was, until: T + 60_000 }]);
    }
    const [ended] = await entries(T + 60_000);
    expect(ended!.clearance!.previous).toEqual([]);
    await publish('c.test', 3);
    expect((await entries(T, after.at(-1)!.position)).map(({ domain }) => domain)).toEqual(['c.test']);
  });

  test('rotations that overlap are bounded; without an overlap all before end', async () => {
    await openClearance(store, T);
    await publish('a.test', 1);
    const rotate = (overlapMs: number) => store.write((tx) => rotateClearance(tx, { now: T, overlapMs }));
    for (let count = 0; count < MAX_PREVIOUS_SECRETS; count++) {
      expect((await rotate(60_000 + count)).ok).toBe(true);
    }
    expect(await rotate(90_000)).toEqual({ ok: false, until: T + 60_000 });
    expect((await rotate(0)).ok).toBe(true);
    expect((await entries(T))[0]!.clearance!.previous).toEqual([]);
  });

  test('the one secret of the release before is accepted until its cookies have expired', async () => {
    await store.write((tx) => tx.secrets.putOnce('clearance', LEGACY, T - 1));
    await publish('a.test', 1);
    const position = await store.latest.plans.position();
    await openClearance(store, T);
    const [entry] = await entries(T, position);
    const until = T + CLEARANCE_OVERLAP_MS;
    expect(entry!.clearance!.previous).toEqual([{ secret: LEGACY, until }]);
    expect(entry!.clearance!.current).not.toBe(LEGACY);
    await openClearance(store, T + 5);
    expect(await entries(T, position)).toEqual([entry]);
    expect((await entries(until))[0]!.clearance!.previous).toEqual([]);
  });
});

describe('at a node', () => {
  const folder = newFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('rotated secrets arrive by the feed, are stored, and cause no plan to be fetched', async () => {
    const house: House = await openHouse({ database: join(folder, 'data') });
    const token = await house.token('node-1');
    const directory = join(folder, 'node');
    const url = `http://127.0.0.1:${house.port}`;
    let node = await startFollower({ url, token, directory });
    const first = await addDomain(house, 'a.test');
    await addDomain(house, 'b.test');
    const at = (name: string): Clearance | null => node.plans.clearanceOf(name);
    await until(() => (at('a.test') !== null && at('b.test') !== null ? true : null), 'the plans');
    expect(at('a.test')!.current).not.toBe(at('b.test')!.current);
    const before = at('a.test')!.current;
    const opened = node.plans.find('a.test');
    const rotation = { now: Date.now(), overlapMs: 60_000 };
    await house.store.write((tx) => rotateClearance(tx, rotation));
    await until(() => (at('a.test')!.current === before ? null : true), 'the new secret');
    const rotated = at('a.test');
    expect(rotated!.previous).toEqual([{ secret: before, until: rotation.now + 60_000 }]);
    expect(node.plans.find('a.test')).toBe(opened);
    await node.stop();
    // A start without the server.
    await house.close();
    node = await startFollower({ url, token, directory });
    expect(at('a.test')).toEqual(rotated);
    expect(node.revision(first.name)).toBe(1);
    await node.stop();
  });
});
