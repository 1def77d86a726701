/** `edgeplan node-token rotate`: a node gets another token while it follows and serves, and misses no change. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_REPLACED_TOKENS } from '../../src/control/publishing/limits.ts';
import { createNode, nodeOf, rotateToken } from '../../src/control/publishing/nodes.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import type { NodeRow } from '../../src/control/store/tables/nodes.ts';
import { ask } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { until } from '../support/publish-setup.ts';
import { serve } from '../support/served.ts';
import { startWorkerNode } from '../support/worker-node.ts';

const T = 1_800_000_000_000;

describe.each(testDatabases())('on $kind', (database) => {
  let store: Store;
  let drop: () => Promise<void>;
  let node: NodeRow;
  let first: string;
  beforeEach(async () => {
    const made = await database.make();
    drop = made.drop;
    store = await openStore({ database: made.database });
    const created = await store.write((tx) => createNode(tx, 'one', T));
    node = created.node;
    first = created.token;
  });
  afterEach(async () => {
    await store.close();
    await drop();
  });

  async function rotate(overlapMs: number, now = T): Promise<string> {
    const rotation = await store.write((tx) => rotateToken(tx, node, { now, overlapMs }));
    if (!rotation.ok) throw new Error('too many tokens are valid');
    return rotation.token;
  }

  async function isValid(token: string, now: number): Promise<boolean> {
    const found = await nodeOf(store.latest, { token, now });
    expect(found?.id ?? node.id).toBe(node.id);
    return found !== null;
  }

  test('both tokens are valid until the overlap ends, then the new one alone', async () => {
    const second = await rotate(60_000);
    expect([await isValid(first, T + 59_999), await isValid(second, T + 59_999)]).toEqual([true, true]);
    expect([await isValid(first, T + 60_000), await isValid(second, T + 60_000)]).toEqual([false, true]);
    await rotate(60_000, T + 60_000);
    const rest = await store.latest.nodes.replacedTokens('all');
    expect(rest.map(({ until }) => until)).toEqual([T + 120_000]);
  });

  test('tokens that overlap are bounded; without an overlap, and revoked, all before end', async () => {
    const made = [first];
    for (let count = 0; count < MAX_REPLACED_TOKENS; count++) made.push(await rotate(60_000 + count));
    for (const token of made) expect(await isValid(token, T)).toBe(true);
    expect(await store.write((tx) => rotateToken(tx, node, { now: T, overlapMs: 1 }))).toEqual({
      ok: false,
      until: T + 60_000,
    });
    const last = await rotate(0);
    for (const token of made) expect(await isValid(token, T)).toBe(false);
    const newest = await rotate(60_000);
    await store.write((tx) => tx.nodes.revoke(node.id, T));
    expect([await isValid(last, T), await isValid(newest, T)]).toEqual([false, false]);
  });
});

test('a running node uses the new token in its file without a restart', { timeout: 180_000 }, async () => {
  await builtCli();
  const served = await serve();
  const file = join(served.folder, 'token');
  const missing = await served.run(['node', '--control', served.url, '--token-file', file]);
  expect([missing.code, missing.err]).toEqual([3, expect.stringContaining('there is no file')]);
  const created = await served.run(['node-token', 'create', 'node-1', ...served.data]);
  writeFileSync(file, created.out, { mode: 0o600 });
  const args = ['--control', served.url, '--token-file', file, '--data', join(served.folder, 'node')];
  const node = await startWorkerNode([...args, '--log-level', 'info'], { cwd: served.folder });
  let published = 0;
  const publish = async (): Promise<void> => {
    const host = `d${published++}.test`;
    await served.domain(host);
    const record = { name: '@', type: 'A', destination: '127.0.0.1', proxied: true, scheme: 'Http', port: 9 };
    expect((await served.call('POST', `/domains/${host}/records/`, record)).status).toBe(200);
    const status = async (): Promise<number> => (await ask(node.port, '/', { host })).status;
    await until(async () => ((await status()) === 421 ? null : true), `${host} at the node`);
  };
  const streams = (): number => node.err().split('the feed ended; following again').length - 1;
  const lines = async (): Promise<string> => (await served.run(['node-token', 'list', ...served.data])).out;
  try {
    await publish();
    const rotated = await served.run(['node-token', 'rotate', 'node-1', '--overlap', '15s', ...served.data]);
    const at = Date.now();
    expect([rotated.code, rotated.out]).toEqual([
      0,
      expect.stringMatching(/^EDGEPLAN_NODE_TOKEN=edn_\S{43}\n$/),
    ]);
    expect(await lines()).toMatch(/node-1 .* valid until /);
    await publish();
    expect(streams()).toBe(0);
    writeFileSync(file, rotated.out);
    node.signal('SIGHUP');
    await until(() => (streams() === 1 ? true : null), 'another stream');
    while (Date.now() < at + 17_000) {
      await publish();
      await wait(500);
    }
    // On the new token, the end of the old one ended nothing.
    expect(streams()).toBe(1);
    expect(await lines()).not.toMatch(/valid until/);
    // Without a signal: the server ends the stream of the old token, and the node comes back with the new one.
    const again = await served.run(['node-token', 'rotate', 'node-1', '--overlap', '0', ...served.data]);
    writeFileSync(file, again.out);
    await until(() => (streams() >= 2 ? true : null), 'the end of the stream');
    await publish();
    expect(await node.metric('edgeplan_node_following')).toBe(1);
    // An unreadable file is said, and the last token used.
    rmSync(file);
    await publish();
    await node.said(/the token file .* cannot be read: it is not there; the last good token is used/);
    expect((await served.run(['node-token', 'rotate', 'nobody', ...served.data])).code).toBe(1);
  } finally {
    node.signal('SIGTERM');
    await node.ended;
    await served.stop();
  }
});
