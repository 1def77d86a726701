/** From a published plan to nodes on real sockets: what they hold, what they miss, what they refuse. */
import { createHash } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import { createEventReader } from '../../src/edge/following/feed.ts';
import { digestsIn } from '../../src/engine/plan/list-digests.ts';
import type { SignedPage } from '../../src/engine/plan/manifest.ts';
import { send } from '../support/api.ts';
import { everyDatabase } from '../support/databases.ts';
import {
  addDomain,
  addDrop,
  changeDomain,
  type House,
  openHouse,
  removeDomain,
  until,
} from '../support/publish-setup.ts';
import { addList, addListDrop, changeList } from '../support/stored-lists.ts';
import {
  type Answered,
  ask,
  follow,
  isSigned,
  type NodeOptions,
  startNode,
  type TestNode,
} from './feed-node.ts';

function page({ bytes }: Answered): SignedPage {
  return JSON.parse(bytes.toString('utf8')) as SignedPage;
}

function decide(node: TestNode, domain: string, target: string): string | undefined {
  const request = { scheme: 'https', method: 'GET', host: domain, target, ip: '192.0.2.1' };
  return node.held.get(domain)?.evaluator?.evaluate(request).action;
}

/** What an event of octets carries. */
interface SentOctets {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** Opens the feed, and reads its events as they come. */
async function openEvents({
  port,
  token,
  push,
}: {
  readonly port: number;
  readonly token: string;
  readonly push?: string;
}) {
  const types: string[] = [];
  const octets: SentOctets[] = [];
  const reader = createEventReader({
    limit: 1_048_576,
    onEvent({ type, data }) {
      types.push(type);
      if (type !== 'octets') return;
      const [digest = '', base64 = ''] = data.split(' ');
      octets.push({ digest, bytes: new Uint8Array(Buffer.from(base64, 'base64')) });
    },
  });
  const headers = {
    authorization: `Bearer ${token}`,
    ...(push === undefined ? {} : { 'edgeplan-push': push }),
  };
  const asked = httpRequest({ host: '127.0.0.1', port, path: '/nodes/feed', headers, agent: false });
  asked.on('error', () => undefined);
  asked.on('response', (response) => response.on('data', (chunk: Buffer) => reader.push(chunk)));
  asked.end();
  return { types: () => types, octets: () => octets, close: () => asked.destroy() };
}

/** Addresses that no plan merges into ranges. */
function manyAddresses(count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, at) => `10.${(at >> 15) & 255}.${(at >> 7) & 255}.${(at & 127) * 2}`,
  );
}

/** A proxy that spoils one octet of every plan. */
async function spoiler(port: number): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    httpRequest({ host: '127.0.0.1', port, method, path, headers }, (upstream) => {
      const chunks: Buffer[] = [];
      upstream.on('data', (chunk: Buffer) => chunks.push(chunk));
      upstream.on('end', () => {
        const bytes = Buffer.concat(chunks);
        bytes[bytes.length >> 1]! ^= 1;
        response.writeHead(upstream.statusCode ?? 500).end(bytes);
      });
    }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

for (const database of everyDatabase()) {
  describe(`the feed on ${database.kind}`, () => {
    let made: Awaited<ReturnType<typeof database.make>>;
    let house: House;
    const nodes: TestNode[] = [];

    async function join(name: string, options: Partial<NodeOptions> = {}): Promise<TestNode> {
      const { port, signer } = house;
      const token = options.token ?? (await house.token(name));
      const node = await startNode({ port, token, publicKey: signer.publicKey, ...options });
      nodes.push(node);
      return node;
    }

    beforeEach(async () => {
      made = await database.make();
      house = await openHouse({ database: made.database });
    });
    afterEach(async () => {
      for (const node of nodes.splice(0)) node.stop();
      await house.close();
      await made.drop();
    });

    test('50 nodes install every change, and the API reports their progress', async () => {
      const domain = await addDomain(house, 'shop.test');
      const all = await Promise.all(Array.from({ length: 50 }, (_, index) => join(`node-${index}`)));
      await until(() => all.every((node) => node.held.has('shop.test')), 'the first plan');
      expect(all.map((node) => decide(node, 'shop.test', '/admin'))).toEqual(all.map(() => 'forward'));
      await addDrop(house, domain, '/admin');
      await until(() => all.every((node) => node.held.get('shop.test')?.revision === 2), 'the second plan');
      expect(all.map((node) => decide(node, 'shop.test', '/admin'))).toEqual(all.map(() => 'block'));
      const detail = await until(async () => {
        const { body } = await house.call('GET', '/domains/shop.test/plans/2');
        return body.propagation.live === 50 ? body : null;
      }, 'all acks');
      expect(detail.propagation.summary).toMatch(/^live on 50 of 50 nodes, \d+ ms$/);
      expect(detail.propagation.answers).toHaveLength(50);
      expect(detail.current).toBe(true);
      expect(all.flatMap((node) => node.problems)).toEqual([]);
      const { body: list } = await house.call('GET', '/nodes/');
      expect(list).toHaveLength(50);
      await until(async () => (await house.call('GET', '/nodes/')).body[0].online, 'a node seen');
      const { body: perNode } = await house.call('GET', '/domains/shop.test/nodes/');
      expect(perNode.map((one: { current: boolean }) => one.current)).toEqual(all.map(() => true));
    });

    test('small plans and lists come ahead of the page that names them, once, to nodes that take them', async () => {
      const domain = await addDomain(house, 'shop.test');
      await addDomain(house, 'other.test');
      for (const name of ['shop.test', 'other.test'])
        await until(() => house.store.latest.plans.current(name), 'the first plans');
      const old = await openEvents({ port: house.port, token: await house.token('old') });
      const node = await openEvents({ port: house.port, token: await house.token('new'), push: 'octets' });
      for (const { types } of [old, node]) await until(() => types().includes('manifest'), 'the first pages');
      const list = await addList(
        house,
        { account_id: null, domain_id: domain.id },
        { name: 'bad', values: ['192.0.2.1'] },
      );
      await addListDrop(house, domain, { list: 'bad' });
      await until(() => node.octets().length === 2, 'the plan and its list');
      const current = (await house.store.latest.plans.current('shop.test'))!;
      const [plan, sealed] = node.octets();
      expect(plan!.digest).toBe(current.digest);
      expect(digestsIn(plan!.bytes)).toEqual([sealed!.digest]);
      for (const { digest, bytes } of node.octets())
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest);
      // Ahead of the page that names it, whose id is the position.
      const types = node.types();
      expect(types.slice(types.indexOf('octets'), types.indexOf('octets') + 3)).toEqual([
        'octets',
        'octets',
        'manifest',
      ]);
      // The list is there already.
      await addDrop(house, domain, '/admin');
      await until(() => node.octets().length === 3, 'the next plan');
      // 50,000 addresses take more than is sent ahead; the plan that names them does not.
      await changeList(house, list, manyAddresses(50_000));
      await until(() => node.octets().length === 4, 'the plan with the large list');
      const [large] = digestsIn(node.octets()[3]!.bytes);
      await addDrop(house, domain, '/more');
      await until(() => node.octets().length === 5, 'one more plan');
      expect(node.octets().map(({ digest }) => digest)).not.toContain(large);
      expect(old.types()).not.toContain('octets');
      for (const one of [old, node]) one.close();
    });

    test('a node that reconnects gets exactly the changes it missed', async () => {
      const [shop, blog] = [await addDomain(house, 'shop.test'), await addDomain(house, 'blog.test')];
      const token = await house.token('node-1');
      const first = await join('node-1', { token });
      await until(() => first.held.size === 2, 'both plans');
      first.stop();
      await until(() => house.feed.subscribers() === 0, 'the node to be gone');
      await addDrop(house, shop, '/a');
      await until(
        async () => (await house.store.latest.plans.current('shop.test'))?.revision === 2,
        'revision 2',
      );
      const second = await join('node-1', { token, resume: first.position });
      await until(() => second.held.size === 1, 'what was missed');
      expect([...second.held.keys()]).toEqual(['shop.test']);
      await addDrop(house, blog, '/b');
      await until(() => second.held.get('blog.test')?.revision === 2, 'what came then');
      // Whoever knows more than the server (whose data was restored) is told everything.
      const third = await join('node-1', { token, resume: 1_000_000 });
      await until(() => third.held.size === 2, 'everything');
      expect([...first.problems, ...second.problems, ...third.problems]).toEqual([]);
    });

    test('tombstones state whether the name has its hosts, and purges raise the epoch', async () => {
      const shop = await addDomain(house, 'shop.test');
      await addDomain(house, 'new.shop.test', { status: 'pending', ever_active: false });
      const node = await join('node-1');
      const entry = (name: string) => node.held.get(name)?.entry;
      await until(() => node.held.size === 2, 'both names');
      expect(entry('new.shop.test')?.tombstone).toBe('gone');
      expect(entry('shop.test')?.tombstone).toBeNull();
      await house.store.write((tx) => tx.plans.purge('shop.test', { domain_id: shop.id, at: Date.now() }));
      await until(() => entry('shop.test')?.purge_epoch === 1, 'the purge');
      expect(decide(node, 'shop.test', '/')).toBe('forward');
      await changeDomain(house, shop, { suspended: true });
      await until(() => entry('shop.test')?.tombstone === 'refused', 'the suspension');
      expect(entry('shop.test')?.digest).toBeNull();
      await removeDomain(house, shop);
      await until(() => entry('shop.test')?.tombstone === 'gone', 'the deletion');
      expect(entry('shop.test')?.revision).toBe(3);
      expect(node.problems).toEqual([]);
    });

    test('a long poll waits for a change, answers 304 without one, and is signed', async () => {
      const node = { port: house.port, token: await house.token('node-1') };
      const shop = await addDomain(house, 'shop.test');
      const first = page(await ask(node, { path: '/nodes/manifest?since=0&wait=10' }));
      expect(first.manifest.entries.map(({ domain, revision }) => [domain, revision])).toEqual([
        ['shop.test', 1],
      ]);
      expect(isSigned(first, house.signer.publicKey)).toBe(true);
      const forged = { ...first, manifest: { ...first.manifest, through: first.manifest.through + 1 } };
      expect(isSigned(forged, house.signer.publicKey)).toBe(false);
      const { through } = first.manifest;
      const path = `/nodes/manifest?since=${through}`;
      const headers = { 'if-none-match': `"${through}"` };
      expect((await ask(node, { path: `${path}&wait=0`, headers })).status).toBe(304);
      expect(page(await ask(node, { path: `${path}&wait=0` })).manifest.entries).toEqual([]);
      const waiting = ask(node, { path: `${path}&wait=20`, headers });
      await addDrop(house, shop, '/a');
      const next = await waiting;
      expect(next.status).toBe(200);
      expect(page(next).manifest.entries[0]?.revision).toBe(2);
      expect(next.headers.etag).toBe(`"${page(next).manifest.through}"`);
      expect((await ask(node, { path: '/nodes/manifest?since=-1' })).status).toBe(400);
      expect((await ask(node, { path: '/nodes/manifest?since=0&wait=3600' })).status).toBe(400);
    });

    test('plans are immutable and served by digest to nodes only', async () => {
      await addDomain(house, 'shop.test');
      const token = await house.token('node-1');
      const node = { port: house.port, token };
      const { digest } = await until(() => house.store.latest.plans.current('shop.test'), 'revision 1');
      const path = `/nodes/plans/${digest}`;
      const answer = await ask(node, { path });
      expect(answer.status).toBe(200);
      expect(answer.headers['cache-control']).toContain('immutable');
      expect(answer.headers['content-type']).toBe('application/octet-stream');
      expect((await ask(node, { path, headers: { 'if-none-match': `"${digest}"` } })).status).toBe(304);
      expect((await ask(node, { path: `/nodes/plans/${'0'.repeat(64)}` })).status).toBe(404);
      expect((await ask(node, { path: '/nodes/plans/nothing' })).status).toBe(404);
      const stranger = { port: house.port, token: `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}` };
      for (const one of [path, '/nodes/manifest', '/nodes/feed', '/nodes/self']) {
        const refused = await ask(stranger, { path: one });
        expect([refused.status, refused.bytes.toString()]).toEqual([401, '{"error":"invalid node token"}']);
      }
      const self = JSON.parse((await ask(node, { path: '/nodes/self' })).bytes.toString());
      expect(self).toMatchObject({ name: 'node-1', public_key: house.signer.publicKey });
      expect(Buffer.from(self.clearance, 'base64')).toHaveLength(32);
    });

    test('node paths report the accepted methods and parameters to nodes only', async () => {
      const token = await house.token('node-1');
      const call = (method: string, path: string, bearer = token) =>
        send(house.port, { method, path, headers: { authorization: `Bearer ${bearer}` } });
      const reads = ['/nodes/feed', '/nodes/manifest', '/nodes/self', `/nodes/plans/${'0'.repeat(64)}`];
      for (const [path, allow] of [
        ...reads.map((path) => [path, 'GET, HEAD, OPTIONS'] as const),
        ['/nodes/reports', 'POST, OPTIONS'] as const,
      ]) {
        for (const method of ['DELETE', 'PROPFIND']) {
          const { status, headers, body } = await call(method, path);
          expect([status, headers['allow'], body]).toEqual([
            405,
            allow,
            { error: `this path takes ${allow}` },
          ]);
        }
        const options = await call('OPTIONS', path);
        expect([options.status, options.headers['allow'], options.text]).toEqual([204, allow, '']);
        for (const method of ['DELETE', 'OPTIONS'])
          expect((await call(method, path, 'edn_x')).status, `${method} ${path}`).toBe(401);
      }
      for (const path of ['/nodes/plans/%zz', '/nodes/plans/%ff']) {
        const unreadable = await call('GET', path);
        expect([unreadable.status, unreadable.body]).toEqual([
          400,
          { error: 'the path must be percent-encoded UTF-8' },
        ]);
        expect((await call('GET', path, 'edn_x')).body).toEqual({ error: 'invalid node token' });
        expect((await house.call('GET', path)).body).toEqual({ error: 'invalid node token' });
      }
      const head = await call('HEAD', '/nodes/feed');
      expect([head.status, head.text]).toEqual([200, '']);
      expect(head.headers['content-type']).toMatch(/^text\/event-stream/);
      expect(house.feed.subscribers()).toBe(0);
      expect((await call('HEAD', '/nodes/self')).status).toBe(200);
      expect((await house.call('GET', '/nodes/feed')).status).toBe(401);
      expect((await call('GET', '/nodes/')).body).toEqual({ error: 'invalid API key' });
    });

    test('a node that disconnects during its authentication gets no stream', async () => {
      const token = await house.token('node-1');
      const { nodes } = house.store.latest;
      const byTokenHash = nodes.byTokenHash.bind(nodes);
      let asked = false;
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const slow = vi.spyOn(nodes, 'byTokenHash').mockImplementation(async (hash) => {
        asked = true;
        await released;
        return byTokenHash(hash);
      });
      const gone = connect(house.port, '127.0.0.1');
      gone.write(`GET /nodes/feed HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
      await until(() => asked, 'the look-up');
      gone.destroy();
      const connections = promisify(house.app.server.getConnections.bind(house.app.server));
      await until(async () => (await connections()) === 0, 'the end of the connection');
      slow.mockRestore();
      release();
      expect((await ask({ port: house.port, token }, { path: '/nodes/self' })).status).toBe(200);
      expect(house.feed.subscribers()).toBe(0);
    });

    test('a revoked token ends the stream with a reason and opens nothing more', async () => {
      await addDomain(house, 'shop.test');
      const token = await house.token('node-1');
      const node = await join('node-1', { token });
      await until(() => node.held.size === 1, 'the plan');
      const row = (await house.store.latest.nodes.list())[0]!;
      await house.store.write((tx) => tx.nodes.revoke(row.id, Date.now()));
      await until(() => node.closed, 'the end');
      expect(node.farewell).toBe('this node token was revoked');
      await expect(follow({ port: house.port, token })).rejects.toThrow('401');
    });

    test('a plan damaged in transit is refused by its digest, and the nack changes no traffic', async () => {
      const shop = await addDomain(house, 'shop.test');
      const proxy = await spoiler(house.port);
      const node = await join('node-1', { plansFrom: proxy.port });
      const healthy = await join('node-2');
      await until(() => healthy.held.size === 1 && node.problems.length === 1, 'both answers');
      expect(node.problems[0]).toContain('the digest is wrong');
      expect(node.held.size).toBe(0);
      const detail = await until(async () => {
        const { body } = await house.call('GET', '/domains/shop.test/plans/1');
        return body.propagation.answers.length === 2 ? body : null;
      }, 'both reports');
      expect(detail.propagation).toMatchObject({ live: 1, nodes: 2, refused: 1 });
      expect(detail.propagation.summary).toMatch(/^live on 1 of 2 nodes, \d+ ms, refused by 1$/);
      const current = await house.store.latest.plans.current('shop.test');
      expect(current).toMatchObject({ revision: 1, domain_id: shop.id });
      expect(house.log.some((line) => line.includes('a node refused a plan'))).toBe(true);
      proxy.close();
    });

    test('a plan damaged in the store is not served', async () => {
      const shop = await addDomain(house, 'shop.test');
      const current = await until(() => house.store.latest.plans.current('shop.test'), 'revision 1');
      const bytes = (await house.store.latest.plans.blob(current.digest!))!;
      const digest = 'ab'.repeat(32);
      await house.store.write(async (tx) => {
        await tx.plans.putBlob(digest, bytes, Date.now());
        const at = Date.now();
        const row = {
          ...SERVICE,
          domain: 'shop.test',
          domain_id: shop.id,
          revision: 2,
          digest,
          reason: '',
          at,
        };
        await tx.plans.publish({ ...row, through: current.revision });
      });
      const node = await join('node-1');
      await until(() => node.problems.length === 1, 'the refusal');
      expect(node.problems[0]).toContain('answered with 500');
      expect(house.log.some((line) => line.includes('is damaged'))).toBe(true);
      await addDrop(house, shop, '/a');
      await until(() => node.held.get('shop.test')?.revision === 3, 'the way out');
    });

    test('reports are validated, and traffic is summed', async () => {
      const shop = await addDomain(house, 'shop.test');
      const node = { port: house.port, token: await house.token('node-1') };
      const post = async (body: unknown): Promise<[number, string]> => {
        const { status, bytes } = await ask(node, { path: '/nodes/reports', body: JSON.stringify(body) });
        return [status, bytes.toString()];
      };
      expect(await post({ reports: [{ domain: 'shop.test', revision: 1, outcome: 'maybe' }] })).toEqual([
        400,
        expect.stringContaining('reports[0].outcome: must be one of `ack`, `nack`'),
      ]);
      expect((await post({ rapports: [] }))[0]).toBe(400);
      expect((await post([]))[0]).toBe(400);
      const minute = Math.floor(Date.now() / 60_000) - 20;
      const figures = { domain: 'shop.test', minute, requests: 3, octets: 1_000, gateway_requests: 1 };
      expect((await post({ usage: [figures, { ...figures, domain: 'gone.test' }] }))[0]).toBe(200);
      expect((await post({ usage: [figures] }))[0]).toBe(200);
      // The same batch again, as after a lost answer, does not count; one from before it, which comes late, does.
      const later = { ...figures, minute: minute + 15 };
      for (const batch of [7, 7, 6, 7, 6]) expect((await post({ batch, usage: [later] }))[0]).toBe(200);
      expect((await post({ batch: 8, usage: [later] }))[0]).toBe(200);
      const sums = (from: number, to: number) => house.store.latest.traffic.partSums(shop.id, { from, to });
      expect((await sums(minute + 15, minute + 16)).requests).toBe(3 * figures.requests);
      expect((await post({ batch: 0, usage: [later] }))[0]).toBe(400);
      expect(await sums(0, minute + 10)).toMatchObject({
        ...{ requests: 6, octets_in: 0, octets_out: 2_000, gateway_requests: 2 },
      });
    });

    test('closing the server ends streams with a reason', async () => {
      await addDomain(house, 'shop.test');
      const node = await join('node-1');
      await until(() => node.held.size === 1, 'the plan');
      await house.app.close();
      await until(() => node.closed, 'the end');
      expect(node.farewell).toBe('the server is stopping; connect again');
    });
  });
}

test('a node that does not read its feed is disconnected with a reason, and others are not', async () => {
  const [database] = everyDatabase();
  const made = await database!.make();
  const house = await openHouse({ database: made.database, maxBacklog: 65_536 });
  try {
    const reader = await startNode({
      port: house.port,
      token: await house.token('reader'),
      publicKey: house.signer.publicKey,
      report: false,
    });
    const slow = await follow({ port: house.port, token: await house.token('slow') });
    slow.response.pause();
    const names = Array.from({ length: 400 }, (_, index) => `${'long-'.repeat(40)}${index}.test`);
    await until(() => house.feed.subscribers() === 2, 'both to follow');
    for (let round = 0; round < 60 && house.feed.subscribers() === 2; round++) {
      await house.store.write(async (tx) => {
        await Promise.all(names.map((name) => tx.plans.purge(name, { domain_id: 1, at: Date.now() })));
      });
      await until(() => reader.position === (round + 1) * names.length, `round ${round}`);
    }
    expect(house.feed.subscribers()).toBe(1);
    expect(house.log.some((line) => line.includes('reads its feed too slowly'))).toBe(true);
    let text = '';
    slow.response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    slow.response.on('error', () => undefined);
    slow.response.resume();
    await until(() => text.includes('event: end'), 'the reason');
    expect(text).toMatch(/octets were not read, the limit is 65536/);
    expect(reader.problems).toEqual([]);
    reader.stop();
  } finally {
    await house.close();
    await made.drop();
  }
});
