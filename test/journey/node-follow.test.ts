/** A node that follows a real control plane over real sockets, through everything that may come between. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { beginEpoch } from '../../src/control/publishing/pages.ts';
import { manifestText, type SignedPage } from '../../src/engine/plan/manifest.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import {
  newFolder,
  startFollower,
  type TestFollower,
  type TestFollowerOptions,
} from '../support/edge-follower.ts';
import { namedPlans } from '../support/named-plans.ts';
import {
  addDomain,
  addDrop,
  changeDomain,
  type House,
  openHouse,
  removeDomain,
  until,
} from '../support/publish-setup.ts';

let folder: string;
let house: House;
let proxy: ControlProxy;
let token: string;
const followers = new Set<TestFollower>();

beforeEach(async () => {
  folder = newFolder();
  house = await openHouse({ database: folder });
  proxy = await startControlProxy(house.port);
  token = await house.token('node-1');
});
afterEach(async () => {
  for (const follower of followers) await stop(follower);
  await proxy.close();
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(options: Partial<TestFollowerOptions> = {}): Promise<TestFollower> {
  const follower = await startFollower({ url: proxy.url, token, ...options });
  followers.add(follower);
  return follower;
}

async function stop(follower: TestFollower): Promise<void> {
  followers.delete(follower);
  await follower.stop();
}

async function restart(
  follower: TestFollower,
  options: Partial<TestFollowerOptions> = {},
): Promise<TestFollower> {
  await stop(follower);
  return start({ directory: follower.directory, ...options });
}

const settled = (follower: TestFollower, what: string): Promise<unknown> =>
  until(() => follower.state().pending === 0 && follower.state().comparisons > 0, what);

/** What the API says a domain's nodes answered last. */
async function answers(
  domain: string,
): Promise<readonly { outcome: string; revision: number; reason: string }[]> {
  return (await house.call('GET', `/domains/${domain}/nodes/`)).body;
}

function plansOf({ directory }: TestFollower): readonly string[] {
  return readdirSync(join(directory, 'plans'));
}

describe('a node with a reachable control plane', () => {
  test('serves and reports every change, purge, tombstone and return', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start();
    await until(() => node.decide('shop.test', '/admin') === 'forward', 'the first plan');
    expect(node.secrets).toHaveLength(1);
    await addDrop(house, domain, '/admin');
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the second plan');
    await until(async () => (await answers('shop.test'))[0]?.revision === 2, 'its ack');
    expect((await answers('shop.test'))[0]?.outcome).toBe('ack');
    expect(plansOf(node)).toHaveLength(2);
    await addDrop(house, domain, '/more');
    await until(() => node.decide('shop.test', '/more') === 'block', 'the third plan');
    await until(() => plansOf(node).length === 2, 'all but the newest two plans to be removed');
    await house.call('DELETE', '/domains/shop.test/cache/');
    await until(() => {
      const found = node.plans.find('shop.test');
      return found !== null && found !== 'refused' && found.purgeEpoch > 0;
    }, 'the purge');
    await changeDomain(house, domain, { suspended: true });
    await until(() => node.decide('shop.test', '/') === 'refused', 'the suspension');
    await changeDomain(house, domain, { suspended: false });
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the return');
    await removeDomain(house, domain);
    await until(() => node.decide('shop.test', '/') === '421', 'the end');
    await addDomain(house, 'shop.test');
    await until(() => node.decide('shop.test', '/admin') === 'forward', 'a new domain of that name');
    expect(node.revision('shop.test')).toBeGreaterThan(4);
    expect(node.state()).toMatchObject({ mode: 'stream', problem: null, failing: [], pending: 0 });
    expect(node.warnings).toEqual([]);
  });

  test('requests nothing that the feed has sent ahead', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start();
    await until(() => node.decide('shop.test', '/admin') === 'forward', 'the first plan');
    await settled(node, 'the comparison');
    proxy.asked.length = 0;
    for (const path of ['/admin', '/more']) {
      await addDrop(house, domain, path);
      await until(() => node.decide('shop.test', path) === 'block', 'the next plan');
    }
    await until(async () => (await answers('shop.test'))[0]?.revision === 3, 'its ack');
    expect(proxy.asked.filter((path) => !path.startsWith('/nodes/reports'))).toEqual([]);
    expect(node.warnings).toEqual([]);
  });

  test('serves the stored plans before and without a control plane', async () => {
    const domain = await addDomain(house, 'shop.test');
    await addDrop(house, domain, '/admin');
    const gone = await addDomain(house, 'gone.test', { suspended: true });
    const node = await start();
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the plan');
    await until(() => node.decide(gone.name, '/') === 'refused', 'the tombstone');
    await settled(node, 'everything');
    proxy.target = 0;
    proxy.cutAll();
    const again = await restart(node);
    expect(again.decide('shop.test', '/admin')).toBe('block');
    expect(again.decide('gone.test', '/')).toBe('refused');
    expect(again.secrets).toEqual(node.secrets);
    await until(() => again.state().problem !== null, 'the problem to be told');
    expect(again.state().problem).toMatch(/^the control plane cannot be reached: /);
    proxy.target = house.port;
    await addDrop(house, domain, '/more');
    await until(() => again.decide('shop.test', '/more') === 'block', 'the change after it came back');
    expect(again.state().problem).toBeNull();
  });

  test('follows a control plane after its restart', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start();
    await until(() => node.decide('shop.test', '/') === 'forward', 'the plan');
    await house.close();
    proxy.cutAll();
    house = await openHouse({ database: folder });
    proxy.target = house.port;
    await addDrop(house, domain, '/admin');
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the change');
  });

  test('reports a refused token and serves the stored plans', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start();
    await until(() => node.decide('shop.test', '/') === 'forward', 'the plan');
    const [row] = await house.store.latest.nodes.list();
    await house.store.write((tx) => tx.nodes.revoke(row!.id, Date.now()));
    await addDrop(house, domain, '/admin');
    await until(() => node.state().problem?.includes('refuses this node token'), 'the refusal');
    expect(node.decide('shop.test', '/admin')).toBe('forward');
  });
});

describe('streams', () => {
  test.each(['hold', 'cut'] as const)('the node polls when a proxy would %s streams', async (streams) => {
    proxy.streams = streams;
    const domain = await addDomain(house, 'shop.test');
    const node = await start();
    await until(() => node.state().mode === 'poll', 'polling');
    await addDrop(house, domain, '/admin');
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the change');
    expect(node.state().mode).toBe('poll');
  });

  test('a stalled stream is opened again at the last position', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start();
    await until(
      () => node.state().mode === 'stream' && node.decide('shop.test', '/') === 'forward',
      'the plan',
    );
    // Octets go nowhere from here on, and no end is heard of.
    for (const response of proxy.open) response.socket?.pause();
    for (const response of proxy.open) response.write = () => true;
    await addDrop(house, domain, '/admin');
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the change');
    expect(proxy.asked.filter((path) => path.startsWith('/nodes/feed?since=')).at(-1)).not.toBe(
      '/nodes/feed?since=0',
    );
  });

  test('a lost event is found by the next comparison', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start({ times: { compareMs: 700, stallMs: 60_000 } });
    await until(
      () => node.state().mode === 'stream' && node.decide('shop.test', '/') === 'forward',
      'the plan',
    );
    for (const response of proxy.open) response.write = () => true;
    await addDrop(house, domain, '/admin');
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the change');
  });
});

/** A page like another, changed and signed by a key. */
function forge(text: string, change: (page: SignedPage) => void, key: Parameters<typeof sign>[2]): string {
  const page = JSON.parse(text) as SignedPage;
  change(page);
  const signature = sign(null, Buffer.from(manifestText(page.manifest)), key).toString('base64');
  return JSON.stringify({ ...page, signature });
}

/** Rewrites pages wherever they come by: polled, compared, streamed. */
function lieAboutPages(change: (text: string) => string): ControlProxy['rewrite'] {
  return (path, body) => {
    if (path.startsWith('/nodes/manifest')) return Buffer.from(change(body.toString('utf8')));
    if (path !== '/nodes/feed') return null;
    // An event a piece, or several; the server's last says only why it ends.
    const lie = (event: string): string => {
      const [before, data] = event.split('data: ');
      return data !== undefined && event.includes('event: manifest')
        ? `${before}data: ${change(data)}`
        : event;
    };
    return Buffer.from(body.toString('utf8').split('\n\n').map(lie).join('\n\n'));
  };
}

function purgesOf(node: TestFollower, host: string): number | null {
  const found = node.plans.find(host);
  return found === null || found === 'refused' ? null : found.purgeEpoch;
}

async function signingKey(): Promise<string> {
  return (await house.store.latest.secrets.get('signing_key'))!;
}

describe('an attacker between the node and its control plane', () => {
  const lies: readonly [string, (text: string) => string, RegExp][] = [
    [
      'changes a page',
      (text) => text.replace('"revision":2', '"revision":3'),
      /the signature of the page is wrong/,
    ],
    ['cuts a page off', (text) => text.slice(0, -20), /the page is not JSON/],
    ['sends something else', () => '{"manifest":1}', /is not a signed page/],
    [
      'nests a page',
      (text) => text.replace('"manifest":{', `"manifest":{"x":${'['.repeat(50_000)}${']'.repeat(50_000)},`),
      /signature/,
    ],
    [
      'signs with a key of its own',
      (text) => {
        const { privateKey, publicKey } = generateKeyPairSync('ed25519');
        const spki = publicKey.export({ type: 'spki', format: 'der' });
        const key_id = createHash('sha256').update(spki).digest('hex').slice(0, 16);
        return forge(text, (page) => Object.assign(page, { key_id }), privateKey);
      },
      /is signed with the key `[0-9a-f]{16}`, this node trusts/,
    ],
    ['sends a giant page', (text) => text.replace('{', `{"x":"${'x'.repeat(2_000_000)}",`), /longer than/],
  ];
  test.each(lies)('%s: nothing changes, and the node reports the fault', async (_, lie, sentence) => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start({ times: { compareMs: 300 } });
    await until(() => node.decide('shop.test', '/admin') === 'forward', 'the plan');
    proxy.rewrite = lieAboutPages(lie);
    proxy.cutAll();
    await addDrop(house, domain, '/admin');
    await until(() => sentence.test(node.state().problem ?? ''), `the problem, not ${node.state().problem}`);
    expect(node.revision('shop.test')).toBe(1);
    proxy.rewrite = null;
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the truth');
    await until(() => node.state().problem === null, 'no problem any more');
  });

  test('a step back of a revision is refused and reported, and other names change on', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start();
    await until(() => node.revision('shop.test') === 1, 'the first plan');
    await addDrop(house, domain, '/admin');
    await until(() => node.revision('shop.test') === 2 && node.state().mode === 'stream', 'the second plan');
    const key = await signingKey();
    const back = lieAboutPages((text) =>
      forge(
        text,
        (page) => {
          for (const entry of page.manifest.entries)
            if (entry.domain === 'shop.test') Object.assign(entry, { revision: 1, digest: 'a'.repeat(64) });
        },
        key,
      ),
    );
    proxy.rewrite = back;
    proxy.cutAll();
    await addDrop(house, domain, '/more');
    await addDomain(house, 'other.test');
    await until(() => node.decide('other.test', '/') === 'forward', 'the other name');
    await until(() => node.state().failing.length > 0, 'the refusal');
    expect(node.state().failing).toEqual([
      { domain: 'shop.test', revision: 1, reason: 'this node holds revision 2 and does not go back to 1' },
    ]);
    expect([node.decide('shop.test', '/admin'), node.decide('shop.test', '/more')]).toEqual([
      'block',
      'forward',
    ]);
    await until(async () => {
      const reports = await house.store.latest.nodes.reportsOn('shop.test', 1);
      return reports.some(({ outcome }) => outcome === 'nack');
    }, 'the report');
  });

  test.each([
    [
      'other octets',
      (body: Buffer) => Buffer.from(body.map((octet, at) => (at === 100 ? octet ^ 1 : octet))),
      /^the digest of what was fetched is/,
    ],
    [
      'half a plan',
      (body: Buffer) => body.subarray(0, body.length >> 1),
      /^the digest of what was fetched is/,
    ],
    ['a giant', () => Buffer.alloc(65 * 1024 * 1024), /^the answer is longer than 67108864 octets/],
  ])('sends %s for a plan: nacked, and the old plan serves', async (_, lie, reason) => {
    proxy.pushes = false;
    const domain = await addDomain(house, 'shop.test');
    const node = await start();
    await until(() => node.decide('shop.test', '/admin') === 'forward', 'the plan');
    proxy.rewrite = (path, body) => (path.startsWith('/nodes/plans/') ? lie(body) : null);
    await addDrop(house, domain, '/admin');
    await until(async () => (await answers('shop.test'))[0]?.outcome === 'nack', 'the nack');
    expect((await answers('shop.test'))[0]?.reason).toMatch(reason);
    expect(node.revision('shop.test')).toBe(1);
    proxy.rewrite = null;
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the right plan');
    await until(async () => (await answers('shop.test'))[0]?.outcome === 'ack', 'the ack');
  });

  test('sends other octets ahead of a page: the plan is fetched', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start();
    await until(() => node.decide('shop.test', '/admin') === 'forward', 'the plan');
    await settled(node, 'the first plan');
    const events: string[] = [];
    // The first of the Base64, or all of it.
    const lies = [/^([0-9a-f]{64} )../, /^([0-9a-f]{64}) .*/];
    for (const [at, lie] of lies.entries()) {
      proxy.rewrite = (path, body) => {
        const text = body.toString('latin1');
        // The control plane writes the data of an event apart from its name.
        if (path !== '/nodes/feed' || !lie.test(text)) return null;
        events.push(text);
        return Buffer.from(text.replace(lie, '$1AA'), 'latin1');
      };
      proxy.asked.length = 0;
      await addDrop(house, domain, `/admin${at}`);
      await until(() => node.decide('shop.test', `/admin${at}`) === 'block', 'the right plan');
      expect(events).toHaveLength(at + 1);
      expect(proxy.asked.filter((path) => path.startsWith('/nodes/plans/'))).toHaveLength(1);
    }
    expect(node.warnings).toEqual([]);
  });

  test('a signed plan that does not open is nacked once, and the old plan is served', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start({ times: { compareMs: 300 } });
    await until(() => node.decide('shop.test', '/admin') === 'forward', 'the plan');
    const key = await signingKey();
    const junk = Buffer.from('EPLN, or so it says');
    const digest = createHash('sha256').update(junk).digest('hex');
    const pages = lieAboutPages((text) =>
      forge(
        text,
        (page) => {
          for (const entry of page.manifest.entries) Object.assign(entry, { digest, revision: 7 });
        },
        key,
      ),
    );
    proxy.rewrite = (path, body) => (path.startsWith('/nodes/plans/') ? junk : pages!(path, body));
    await addDrop(house, domain, '/admin');
    await until(() => node.state().failing.length === 1, 'the refusal');
    expect(node.state().failing[0]?.reason).toMatch(/^the plan does not open: a plan has at least/);
    const before = node.state().comparisons;
    await until(() => node.state().comparisons > before + 1, 'more comparisons');
    expect(proxy.asked.filter((path) => path.endsWith(digest))).toHaveLength(1);
    expect([node.revision('shop.test'), node.state().pending]).toEqual([1, 0]);
    await house.call('DELETE', '/domains/shop.test/cache/');
    await until(() => purgesOf(node, 'shop.test') === 1, 'the purge of what the old plan serves');
    await house.call('DELETE', '/domains/shop.test/cache/');
    await until(() => purgesOf(node, 'shop.test') === 2, 'another purge');
    expect(node.revision('shop.test')).toBe(1);
    const again = await restart(node);
    expect(purgesOf(again, 'shop.test')).toBe(2);
  });
});

describe('a control plane that was set up again', () => {
  test('is refused until an operator names its key', async () => {
    const domain = await addDomain(house, 'shop.test');
    await addDomain(house, 'old.test');
    await addDrop(house, domain, '/admin');
    const node = await start();
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the plan');
    await until(() => node.decide('old.test', '/') === 'forward', 'the other plan');
    await settled(node, 'everything');
    await house.close();
    proxy.cutAll();
    rmSync(folder, { recursive: true });
    house = await openHouse({ database: folder });
    token = await house.token('node-1');
    proxy.target = house.port;
    const met = await restart(node);
    await until(() => met.state().problem?.includes('signs with the key'), 'the refusal');
    expect(met.state().problem).toMatch(
      /no transition leads there; if .* set up anew, name the key .* with --trust$/,
    );
    await addDomain(house, 'shop.test');
    expect(met.decide('shop.test', '/admin')).toBe('block');
    const told = await restart(met, { publicKey: house.signer.publicKey });
    expect(told.decide('shop.test', '/admin')).toBe('block');
    await until(() => told.decide('shop.test', '/admin') === 'forward', 'the new plan');
    expect(told.revision('shop.test')).toBe(1);
    await until(() => told.decide('old.test', '/') === '421', 'what is not known any more to be forgotten');
    expect(told.state().problem).toBeNull();
    await until(() => plansOf(told).length === 1, 'old files to be removed');
  });
});

describe('a control plane restored from a backup', () => {
  test('is followed in its new epoch, and reports no write as published before its nodes have it', {
    timeout: 240_000,
  }, async () => {
    const backup = join(folder, 'backup.db');
    const domain = await addDomain(house, 'shop.test');
    await addDrop(house, domain, '/before');
    await until(async () => (await house.store.latest.outbox.backlog()).rows === 0, 'the first revisions');
    await house.store.backup(backup);
    for (const path of ['/lost-1', '/lost-2', '/lost-3']) {
      await house.call('POST', '/domains/shop.test/rules/drop/?wait=published', { path_includes: [path] });
    }
    const node = await start();
    await until(() => node.decide('shop.test', '/lost-3') === 'block', 'the newest plan');
    await settled(node, 'everything');
    const newest = node.revision('shop.test')!;
    await house.close();
    proxy.cutAll();
    for (const name of readdirSync(folder))
      if (name !== 'backup.db') rmSync(join(folder, name), { recursive: true });
    renameSync(backup, join(folder, 'edgeplan.db'));
    house = await openHouse({ database: folder });
    proxy.target = house.port;
    const write = (path: string) =>
      house.call('POST', '/domains/shop.test/rules/drop/?wait=published', { path_includes: [path] });
    await until(() => house.log.some((line) => line.includes('lost history')), 'the node to be noticed');
    const refused = await write('/unseen');
    expect(refused.status).toBe(503);
    expect(refused.body.error).toMatch(/^the change is stored, but nodes have read up to position \d+/);
    expect(node.decide('shop.test', '/unseen')).toBe('forward');
    await beginEpoch(house.store, Date.now());
    await until(() => node.decide('shop.test', '/unseen') === 'block', 'the new epoch');
    expect([node.decide('shop.test', '/before'), node.decide('shop.test', '/lost-1')]).toEqual([
      'block',
      'forward',
    ]);
    expect((await write('/seen')).status).toBe(200);
    await until(() => node.decide('shop.test', '/seen') === 'block', 'a write of the new epoch');
    expect(node.revision('shop.test')).toBeLessThan(newest);
    // What was cached before is stale, whatever number its purges had reached.
    const found = node.plans.find('shop.test');
    expect(found !== null && found !== 'refused' && found.purgeEpoch).toBeGreaterThan(1_000_000);
    const again = await restart(node);
    expect(again.decide('shop.test', '/seen')).toBe('block');
    await settled(again, 'everything again');
    expect(again.state().problem).toBeNull();
  });

  test('is followed in its new epoch without the pause after a comparison', async () => {
    const domain = await addDomain(house, 'shop.test');
    const node = await start({ times: { lastRetryMs: 3_600_000 } });
    await settled(node, 'the first plan');
    await beginEpoch(house.store, Date.now());
    await addDrop(house, domain, '/after');
    await until(() => node.decide('shop.test', '/after') === 'block', 'the new epoch');
    await addDrop(house, domain, '/later');
    await until(() => node.decide('shop.test', '/later') === 'block', 'the feed in the new epoch');
  });

  test('has its newest plan installed although the one before is installed while the manifest is read', async () => {
    proxy.pushes = false;
    const node = await start({ times: { lastRetryMs: 3_600_000, compareMs: 3_600_000 } });
    await settled(node, 'the empty manifest');
    let isEpochRead = false;
    proxy.before = async (path) => {
      if (path.startsWith('/nodes/plans/')) await until(() => isEpochRead, 'the manifest of the new epoch');
      if (!path.startsWith('/nodes/manifest')) return;
      isEpochRead = true;
      await until(() => node.decide('shop.test', '/') === 'forward', 'the first plan');
    };
    const domain = await addDomain(house, 'shop.test');
    await until(() => proxy.asked.some((path) => path.startsWith('/nodes/plans/')), 'a request for its plan');
    await beginEpoch(house.store, Date.now());
    await addDrop(house, domain, '/after');
    await until(() => node.decide('shop.test', '/after') === 'block', 'the newest plan');
  });

  test('is refused with pages of an earlier epoch', async () => {
    await addDomain(house, 'shop.test');
    await beginEpoch(house.store, Date.now());
    const node = await start();
    await until(() => node.decide('shop.test', '/') === 'forward', 'the plan');
    await house.store.write((tx) => tx.secrets.put('epoch', '1', 1));
    await house.close();
    proxy.cutAll();
    house = await openHouse({ database: folder });
    proxy.target = house.port;
    const again = await restart(node);
    await until(() => again.state().problem?.includes('the page is of epoch 1, '), 'the refusal');
    expect(again.decide('shop.test', '/')).toBe('forward');
  });
});

describe('the feed', () => {
  test('sends its position with heartbeats, so that a dropped page is noticed', async () => {
    const node = await start({ times: { compareMs: 3_600_000 } });
    const domain = await addDomain(house, 'shop.test');
    await until(() => node.decide('shop.test', '/') === 'forward', 'the plan');
    let dropped = 0;
    proxy.rewrite = (path, body) => {
      if (path !== '/nodes/feed' || !body.includes('"entries":[{')) return null;
      dropped++;
      return Buffer.alloc(0);
    };
    await addDrop(house, domain, '/admin');
    await until(() => dropped > 0, 'the page to be dropped');
    proxy.rewrite = null;
    await until(() => node.decide('shop.test', '/admin') === 'block', 'the page that was dropped');
  });

  test('signs the answer about a node for the nonce of one request only', async () => {
    let earlier: Buffer | null = null;
    proxy.rewrite = (path, body) => {
      if (!path.startsWith('/nodes/self')) return null;
      earlier ??= body;
      return earlier;
    };
    const node = await start();
    await until(() => node.secrets.length === 1, 'the first answer');
    proxy.cutAll();
    await until(() => node.state().problem?.includes('answers an earlier question'), 'the replay');
    proxy.rewrite = (path, body) =>
      path.startsWith('/nodes/self')
        ? Buffer.from(body.toString().replace(/"clearance":"[^"]*"/, '"clearance":"AAAA"'))
        : null;
    proxy.cutAll();
    await until(() => node.state().problem?.includes('answer about this node is wrong'), 'the forgery');
    expect(node.secrets).toHaveLength(1);
  });
});

describe('damage on the disk', () => {
  async function holding(names: readonly string[]): Promise<TestFollower> {
    for (const name of names) await addDrop(house, await addDomain(house, name), '/admin');
    const isOut = async (): Promise<boolean> => (await house.store.latest.outbox.backlog()).rows === 0;
    // So that the node meets one revision of each, with none before it.
    await until(isOut, 'the last revisions');
    const node = await start();
    await until(() => names.every((name) => node.decide(name, '/admin') === 'block'), 'the plans');
    await settled(node, 'everything');
    return node;
  }
  const fileOf = (node: TestFollower, name: string): string => {
    const found = node.plans.find(name);
    if (found === null || found === 'refused') throw new Error(`${name} is not served`);
    return join(node.directory, 'plans', found.digest);
  };

  test.each([
    ['damaged', (file: string) => writeFileSync(file, readFileSync(file).fill(7, 200, 210))],
    ['cut off', (file: string) => truncateSync(file, 300)],
    ['gone', (file: string) => rmSync(file)],
  ])('a plan that is %s is refused, then fetched again', async (_, harm) => {
    const node = await holding(['a.test', 'b.test']);
    harm(fileOf(node, 'a.test'));
    proxy.target = 0;
    proxy.cutAll();
    const again = await restart(node);
    expect([again.decide('a.test', '/admin'), again.decide('a.test', '/')]).toEqual(['refused', 'refused']);
    expect(again.decide('b.test', '/admin')).toBe('block');
    expect(
      again.warnings.filter((line) => line.includes('the name is refused until it is fetched')),
    ).toHaveLength(1);
    proxy.target = house.port;
    await until(() => again.decide('a.test', '/admin') === 'block', 'the plan fetched again');
  });

  test('the previous plan serves until a damaged plan is fetched again', async () => {
    const node = await holding(['a.test']);
    const revision = node.revision('a.test')!;
    await addDrop(house, (await house.store.latest.domains.byName('a.test'))!, '/more');
    await until(() => node.decide('a.test', '/more') === 'block', 'the newer plan');
    await settled(node, 'its report');
    const file = fileOf(node, 'a.test');
    proxy.target = 0;
    proxy.cutAll();
    await stop(node);
    writeFileSync(file, 'damaged');
    const again = await start({ directory: node.directory });
    expect([again.decide('a.test', '/admin'), again.decide('a.test', '/more')]).toEqual(['block', 'forward']);
    expect(again.revision('a.test')).toBe(revision);
    expect(again.warnings.join('\n')).toContain(`revision ${revision} is served until it is fetched`);
    proxy.target = house.port;
    await until(() => again.decide('a.test', '/more') === 'block', 'the newer plan fetched again');
    expect(again.revision('a.test')).toBe(revision + 1);
  });

  test('no earlier plan serves a suspended name, whatever is damaged', async () => {
    const node = await holding(['a.test']);
    const domain = (await house.store.latest.domains.byName('a.test'))!;
    await changeDomain(house, domain, { suspended: true });
    await until(() => node.decide('a.test', '/') === 'refused', 'the suspension');
    await changeDomain(house, domain, { suspended: false });
    await until(() => node.decide('a.test', '/admin') === 'block', 'the return');
    await settled(node, 'its report');
    const file = fileOf(node, 'a.test');
    proxy.target = 0;
    proxy.cutAll();
    await stop(node);
    writeFileSync(file, 'damaged');
    const again = await start({ directory: node.directory });
    expect(again.decide('a.test', '/')).toBe('refused');
  });

  test('a damaged plan is fetched again after its successor is refused', async () => {
    proxy.pushes = false;
    const node = await holding(['a.test']);
    const file = fileOf(node, 'a.test');
    const again = await restart(node, { times: { compareMs: 300 } });
    const junk = Buffer.from('EPLN, or so it says');
    const digest = createHash('sha256').update(junk).digest('hex');
    proxy.rewrite = (path) => (path.startsWith('/nodes/plans/') ? junk : null);
    await addDrop(house, (await house.store.latest.domains.byName('a.test'))!, '/more');
    await until(() => again.state().failing.length === 1, 'the refusal of what was fetched');
    writeFileSync(file, 'damaged');
    expect(again.decide('a.test', '/admin')).toBe('refused');
    const key = await signingKey();
    const pages = lieAboutPages((text) =>
      forge(
        text,
        (page) => {
          for (const entry of page.manifest.entries) Object.assign(entry, { digest, revision: 7 });
        },
        key,
      ),
    );
    // Every plan is junk until then, or a retry of revision 2 may come before the manifest with revision 7.
    proxy.rewrite = (path, body) => (path.startsWith('/nodes/plans/') ? junk : pages!(path, body));
    await until(() => again.state().failing[0]?.revision === 7, 'the refusal for good');
    proxy.rewrite = (path, body) => (path.endsWith(digest) ? junk : pages!(path, body));
    await until(() => again.decide('a.test', '/admin') === 'block', 'the plan before');
    expect(again.revision('a.test')).toBe(node.revision('a.test'));
  });

  test.each([
    ['cut off in its last line', (file: string) => truncateSync(file, readFileSync(file).length - 9)],
    ['cut off in the middle', (file: string) => truncateSync(file, readFileSync(file).length >> 1)],
    ['empty', (file: string) => writeFileSync(file, '')],
    ['garbage', (file: string) => writeFileSync(file, Buffer.alloc(5_000, 0xa5))],
    ['followed by garbage', (file: string) => appendFileSync(file, 'deadbeef ["a.test",1]\n\n\0\0\0')],
    ['gone', (file: string) => rmSync(file)],
  ])('a list of names that is %s is made whole again', async (_, harm) => {
    const names = ['a.test', 'b.test', 'c.test'];
    const node = await holding(names);
    await stop(node);
    harm(join(node.directory, 'names'));
    const again = await start({ directory: node.directory });
    for (const name of names) expect(['block', 'forward', '421']).toContain(again.decide(name, '/admin'));
    await until(() => names.every((name) => again.decide(name, '/admin') === 'block'), 'all plans');
    await settled(again, 'everything');
    proxy.target = 0;
    proxy.cutAll();
    const third = await restart(again);
    expect(names.map((name) => third.decide(name, '/admin'))).toEqual(['block', 'block', 'block']);
    expect(new Set(plansOf(third))).toEqual(namedPlans(third.directory));
  });

  test('with a damaged control.json the node reports the damage and trusts no control plane', async () => {
    const node = await holding(['a.test']);
    await stop(node);
    writeFileSync(join(node.directory, 'control.json'), '{"format":');
    const again = await start({ directory: node.directory });
    expect(again.decide('a.test', '/admin')).toBe('block');
    await until(
      () => again.state().problem?.includes('is damaged, so the trusted key is lost'),
      'the problem',
    );
    const named = await restart(again, { publicKey: house.signer.publicKey });
    await until(() => named.state().mode === 'stream', 'following');
  });
});
