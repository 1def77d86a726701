/** A node whose token was revoked is cut off even where no hint of it comes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openClearance } from '../../../src/publisher/clearance.ts';
import { createFeed, type Feed } from '../../../src/publisher/feed.ts';
import { createNode } from '../../../src/publisher/node-token.ts';
import { openSigner } from '../../../src/publisher/signer.ts';
import { openStore } from '../../../src/store/open.ts';
import type { NodeRow } from '../../../src/store/rows.ts';
import type { Store } from '../../../src/store/store.ts';

let folder: string;
let store: Store;
let feed: Feed;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-feed-'));
  store = await openStore({ database: folder });
  const deaf: Store = { ...store, listen: () => () => undefined };
  await openClearance(store, Date.now());
  const signer = await openSigner(store, Date.now);
  feed = createFeed({ store: deaf, signer, log: pino({ level: 'silent' }), pollMs: 20 });
  await feed.start();
});
afterEach(async () => {
  feed.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Follows as a node; tells why it was ended. */
function follow(node: NodeRow): readonly string[] {
  const ended: string[] = [];
  feed.follow(
    { ...node, shown_hash: node.token_hash },
    { position: 0, epoch: null },
    {
      push: () => undefined,
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
  await expect.poll(() => feed.followers()).toBe(1);
  expect(ended).toEqual([['this node token was revoked'], [], ['this node token was revoked']]);
});
