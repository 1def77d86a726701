/** Streams of nodes: revoked tokens without a hint of them, and heartbeats beside changes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openClearance } from '../../../../src/control/publishing/clearance.ts';
import { createFeed, type Feed } from '../../../../src/control/publishing/feed.ts';
import { createNode } from '../../../../src/control/publishing/nodes.ts';
import { createRecentOctets } from '../../../../src/control/publishing/recent-octets.ts';
import { openSigner, type Signer } from '../../../../src/control/publishing/signer.ts';
import { openStore } from '../../../../src/control/store/database/open.ts';
import type { Store } from '../../../../src/control/store/store.ts';
import type { NodeRow } from '../../../../src/control/store/tables/nodes.ts';
import type { ManifestPage } from '../../../../src/engine/plan/manifest.ts';

let folder: string;
let store: Store;
let feed: Feed;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-feed-'));
  store = await openStore({ database: folder });
  await openClearance(store, Date.now());
  await openFeed(await openSigner(store, Date.now), {});
});
afterEach(async () => {
  feed.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** A feed that gets no hints from the store. */
async function openFeed(signer: Signer, times: { readonly heartbeatMs?: number }): Promise<void> {
  const deaf: Store = { ...store, listen: () => () => undefined };
  feed = createFeed({
    store: deaf,
    signer,
    log: pino({ level: 'silent' }),
    octets: createRecentOctets(),
    pollMs: 20,
    ...times,
  });
  await feed.start();
}

/** Follows as a node. Returns the reasons of its end. */
function follow(node: NodeRow, onPage: (page: ManifestPage) => void = () => undefined): readonly string[] {
  const ended: string[] = [];
  feed.subscribe(
    { ...node, shown_hash: node.token_hash },
    { position: 0, epoch: null },
    {
      pushOctets: () => undefined,
      push: ({ manifest }) => onPage(manifest),
      backlog: () => 0,
      drained: async () => undefined,
      end: (reason) => ended.push(reason),
    },
  );
  return ended;
}

it('ends the stream of a node that was revoked before and after it began, and no other', async () => {
  const [one, two, three] = await store.write(async (tx) => [
    (await createNode(tx, 'one', 1)).node,
    (await createNode(tx, 'two', 1)).node,
    (await createNode(tx, 'three', 1)).node,
  ]);
  const ended = [follow(one!), follow(two!)];
  await store.write((tx) => tx.nodes.revoke(one!.id, 2));
  await store.write((tx) => tx.nodes.revoke(three!.id, 2));
  ended.push(follow(three!));
  await expect.poll(() => feed.subscribers()).toBe(1);
  expect(ended).toEqual([['this node token was revoked'], [], ['this node token was revoked']]);
});

it('a heartbeat whose signing was overtaken by a change is not sent', async () => {
  feed.stop();
  const signer = await openSigner(store, Date.now);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const signed: ManifestPage[] = [];
  let begun = 0;
  const slow: Signer = {
    ...signer,
    async sign(page) {
      const isHeartbeat = page.since === page.through;
      if (isHeartbeat) {
        begun += 1;
        await released;
      }
      const whole = await signer.sign(page);
      if (isHeartbeat) signed.push(page);
      return whole;
    },
  };
  await openFeed(slow, { heartbeatMs: 10 });
  const { node } = await store.write((tx) => createNode(tx, 'one', 1));
  const through: number[] = [];
  follow(node, (page) => through.push(page.through));
  await expect.poll(() => begun).toBeGreaterThan(0);
  await store.write((tx) => tx.plans.renewAll());
  await expect.poll(() => through).toEqual([1]);
  release();
  await expect.poll(() => signed.some((page) => page.through === 0)).toBe(true);
  await expect.poll(() => through.length).toBeGreaterThan(3);
  expect(new Set(through)).toEqual(new Set([1]));
});
