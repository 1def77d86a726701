/** Feeds of lists on both databases: a real API, a worker, and real servers that publish lists on this machine. */
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSpecialJudge } from '../../src/base/addresses/special-addresses.ts';
import { openKeyRing } from '../../src/control/certificates/key-ring.ts';
import { createHostNames } from '../../src/control/dns/host-names.ts';
import type { FetchWorker } from '../../src/control/lists/feed/fetch-worker.ts';
import { MAX_FEED_OCTETS } from '../../src/control/lists/feed/limits.ts';
import { readFeedBody } from '../../src/control/lists/feed/read-feed.ts';
import { resealHeaders } from '../../src/control/lists/feed/sealed-header.ts';
import { createFeedWorker } from '../../src/control/lists/feed/worker.ts';
import { type Answer, newKeyRing, type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';
import { type FeedServer, startFeedServer } from '../support/feed-server.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;
const SECRET = 'Bearer s3cr3t-of-the-feed';

describe.each(testDatabases())('feeds of lists on $kind', (database) => {
  let api: TestApi;
  let feed: FeedServer;
  let other: FeedServer;
  let owner: Person;
  let domain: string;
  let stranger: Person;
  let count = 0;
  const apiRing = newKeyRing();
  let ring = apiRing;
  const workers: FetchWorker[] = [];
  let log: string[] = [];

  beforeAll(async () => {
    [feed, other] = await Promise.all([startFeedServer(), startFeedServer()]);
    api = await startApi(database, { allowedOrigins: ['127.0.0.1'], secretsKey: apiRing });
  });
  afterAll(async () => {
    await api.close();
    await Promise.all([feed.close(), other.close()]);
  });
  beforeEach(async () => {
    count += 1;
    ring = apiRing;
    log = [];
    for (const server of [feed, other]) {
      server.asked.length = 0;
      server.answers.clear();
    }
    owner = await api.person(`owner${count}`);
    stranger = await api.person(`stranger${count}`);
    domain = await add(owner, `d${count}.example`);
  });
  // Feeds of a test before would be fetched beside those of the next one.
  afterEach(async () => {
    await stopWorkers();
    for (const [person, all] of [
      [owner, lists()],
      [owner, '/lists/'],
      [stranger, '/lists/'],
    ] as const)
      for (const { name } of (await person.call('GET', all)).body)
        await person.call('DELETE', `${all}${name}/feed`);
  });

  function startWorker(options: { readonly fetchMs?: number } = {}): FetchWorker {
    const line = (fields: object, message: string): void => {
      log.push(`${message} ${JSON.stringify(fields)}`);
    };
    const worker = createFeedWorker({
      store: api.store,
      read: async (_, body) => readFeedBody(body),
      special: createSpecialJudge({ prefixes: ['127.0.0.1'], local: false }),
      lookupFor: createHostNames({}).lookupFor,
      ring,
      clock: () => api.now(),
      log: { info: line, warn: line },
      pollMs: 20,
      ...options,
    });
    workers.push(worker);
    worker.start();
    return worker;
  }
  async function stopWorkers(): Promise<void> {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  }
  async function add(person: Person, name: string): Promise<string> {
    const made = await person.call('POST', '/domains/', { name, dns_mode: 'external' });
    expect(made.status, made.text).toBe(200);
    return name;
  }
  const good = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await owner.call(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };
  const of = (...addresses: readonly number[]): string =>
    addresses.map((last) => `192.0.2.${last}\n`).join('');
  const upTo = (count: number): string => of(...Array.from({ length: count }, (_, index) => index));
  const publish = (body: string | Buffer, headers: Record<string, string> = {}, path = '/list') =>
    feed.answers.set(path, (response) => response.writeHead(200, headers).end(body));
  const lists = (): string => `/domains/${domain}/lists/`;
  const settings = (more: object = {}) => ({
    url: `${feed.url}/list`,
    format: 'text',
    every_min: 15,
    ...more,
  });
  const make = (more: object = {}, all = lists()): Promise<Answer> =>
    good('POST', all, { name: 'bad', kind: 'ip', feed: settings(more) });
  const state = async (all = lists()) => (await good('GET', `${all}bad`)).body;
  /** The list once its feed has been fetched so many times. */
  const fetched = (times: number, all = lists()) => {
    const before = feed.asked.length;
    return until(
      async () => {
        const list = await state(all);
        return feed.asked.length >= times && list.feed_state.attempted_at !== null && isSettled(list) && list;
      },
      `fetch ${times}, after ${before}`,
      10_000,
    );
  };
  const isSettled = (list: { feed_state: { next_at: string } }): boolean =>
    Date.parse(list.feed_state.next_at) > api.now();
  /** Lets the time of the next fetch come. */
  const later = (minutes = 17): void => {
    api.ahead += minutes * MINUTE_MS;
  };
  const values = async (all = lists()): Promise<readonly string[]> =>
    (await good('GET', `${all}bad/entries?limit=100`)).body.map(({ value }: { value: string }) => value);
  const waiting = async (): Promise<readonly string[]> => {
    const row = await api.store.latest.domains.seenBy(owner.account.id, domain);
    return (await api.store.latest.outbox.list(row!.domain.id)).map(({ reason }) => reason);
  };
  const notices = async (): Promise<readonly { kind: string; data: { code: string } }[]> =>
    (await good('GET', '/notifications/')).body.notifications.filter(
      ({ kind }: { kind: string }) => kind === 'list.refused',
    );

  test.each(['domain', 'account'] as const)(
    'a list of a %s is read from its feed and published',
    async (whose) => {
      publish(upTo(20), { etag: '"one"' });
      const all = whose === 'domain' ? lists() : '/lists/';
      const made = await make({}, all);
      expect(made.body.feed).toEqual({ ...settings(), auth_header: false });
      expect(made.body.feed_state).toMatchObject({ attempted_at: null, succeeded_at: null, error: null });
      await good('POST', `/domains/${domain}/rules/drop/`, { action_mode: 'enforce', ips: ['@bad'] });
      startWorker();
      const list = await fetched(1, all);
      expect(list).toMatchObject({
        entry_count: 20,
        feed_state: { failures: 0, etag: '"one"', error: null },
      });
      expect(await values(all)).toHaveLength(20);
      expect(await waiting()).toContain('list `@bad` read from its feed');
      const audited = (await good('GET', `/domains/${domain}/audit/`)).body;
      expect(audited.map(({ action }: { action: string }) => action)).toContain('list.replace');
    },
  );

  test('an unchanged feed is answered 304, and the list has no new version', async () => {
    feed.answers.set('/list', (response, headers) => {
      if (headers['if-none-match'] === '"one"') response.writeHead(304).end();
      else response.writeHead(200, { etag: '"one"' }).end(upTo(3));
    });
    await make();
    startWorker();
    const first = await fetched(1);
    later();
    const second = await fetched(2);
    expect(second.version).toBe(first.version);
    expect(second.feed_state.succeeded_at).not.toBe(first.feed_state.succeeded_at);
    expect(feed.asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"']);
  });

  test('a feed is not fetched before its interval has passed', async () => {
    publish(upTo(3));
    await make();
    startWorker();
    await fetched(1);
    later(14);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(feed.asked).toHaveLength(1);
    later(3);
    await fetched(2);
  });

  test('content with fewer than half of the entries is refused and notified once, until it is accepted', async () => {
    publish(upTo(20), { etag: '"good"' });
    await make();
    startWorker();
    await fetched(1);
    publish(upTo(9));
    later();
    const refused = await fetched(2);
    expect(refused).toMatchObject({ entry_count: 20, feed_state: { failures: 1, etag: '"good"' } });
    expect(refused.feed_state.error).toMatchObject({
      code: 'shrunk',
      reason: '9 entries in place of 20, fewer than half',
    });
    expect(await values()).toHaveLength(20);
    later();
    await fetched(3);
    expect((await notices()).map(({ data }) => data.code)).toEqual(['shrunk']);
    const early = await owner.call('POST', `${lists()}bad/feed/refresh`);
    expect(early.status).toBe(429);
    later(2);
    await good('POST', `${lists()}bad/feed/refresh?accept_shrink=true`);
    const accepted = await fetched(4);
    expect(accepted).toMatchObject({ entry_count: 9, feed_state: { failures: 0, error: null } });
    // Half and more needs no acceptance.
    publish(upTo(5));
    later();
    expect((await fetched(5)).entry_count).toBe(5);
    publish('');
    later();
    expect((await fetched(6)).feed_state.error.code).toBe('shrunk');
  });

  test('content that cannot be read is refused, and the feed recovers without a notification', async () => {
    publish(upTo(3));
    await make();
    startWorker();
    await fetched(1);
    publish('192.0.2.1\n<html>');
    later();
    expect((await fetched(2)).feed_state.error).toMatchObject({ code: 'unparsable' });
    expect((await fetched(2)).feed_state.error.reason).toMatch(/^line 2: /);
    expect(await values()).toHaveLength(3);
    publish(upTo(4));
    later(40);
    expect((await fetched(3)).feed_state.error).toBeNull();
    expect(await values()).toHaveLength(4);
    expect(await notices()).toHaveLength(1);
  });

  test.each([
    ['as it comes', {}, (octets: Buffer) => octets],
    ['decompressed', { 'content-encoding': 'gzip' }, gzipSync],
  ])('a body above the limit, counted %s, is refused', async (_, headers, encode) => {
    const body = encode(Buffer.alloc(MAX_FEED_OCTETS + 1, '#'));
    feed.answers.set('/list', (response) => {
      response.writeHead(200, headers);
      response.write(body);
      response.end();
    });
    await make();
    startWorker();
    expect((await fetched(1)).feed_state.error).toMatchObject({ code: 'too_large' });
    expect(await notices()).toHaveLength(1);
  });

  test('a compressed body is read', async () => {
    publish(gzipSync(upTo(7)), { 'content-encoding': 'gzip' });
    await make();
    startWorker();
    expect((await fetched(1)).entry_count).toBe(7);
  });

  test('a server that does not answer in time delays no other account', async () => {
    feed.answers.set('/slow', () => undefined);
    for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) {
      const slow = settings({ url: `${feed.url}/slow` });
      await good('POST', lists(), { name, kind: 'ip', feed: slow });
    }
    publish(upTo(3));
    const made = await stranger.call('POST', '/lists/', { name: 'bad', kind: 'ip', feed: settings() });
    expect(made.status, made.text).toBe(200);
    startWorker({ fetchMs: 2_000 });
    await until(
      async () => (await stranger.call('GET', '/lists/bad')).body.entry_count === 3,
      'the list of the stranger',
      1_900,
    );
    const late = await until(async () => {
      const { feed_state } = (await good('GET', `${lists()}one`)).body;
      return feed_state.error;
    }, 'the end of the slow fetch');
    expect(late).toMatchObject({ code: 'unreachable', reason: 'no answer in time' });
  });

  test('a feed that cannot be fetched is notified of after five failures', async () => {
    await make();
    startWorker();
    for (let times = 1; times <= 6; times++) {
      await fetched(times);
      expect(await notices()).toHaveLength(times < 5 ? 0 : 1);
      later(8 * 60);
    }
    expect((await state()).feed_state.error.reason).toBe('the server answered 404');
  });

  test.each([
    ['to a special address', 'http://169.254.169.254/latest/', 'is a metadata address'],
    ['to another scheme', 'file:///etc/passwd', 'must be a URL with http or https'],
    ['to itself', '/list', 'more than 3 times'],
  ])('a redirect %s is refused', async (_, location, reason) => {
    feed.answers.set('/list', (response) => response.writeHead(302, { location }).end());
    await make();
    startWorker();
    const { error } = (await fetched(1)).feed_state;
    expect(error).toMatchObject({ code: 'unreachable' });
    expect(error.reason).toContain(reason);
  });

  test('the header goes to the origin of the URL alone, and is neither answered, logged nor stored as it is', async () => {
    feed.answers.set('/list', (response) => response.writeHead(302, { location: '/moved' }).end());
    feed.answers.set('/moved', (response) =>
      response.writeHead(307, { location: `${other.url}/list` }).end(),
    );
    other.answers.set('/list', (response) => response.writeHead(200).end(upTo(4)));
    const made = await make({ auth_header: SECRET });
    expect(made.body.feed.auth_header).toBe(true);
    startWorker();
    const list = await fetched(2);
    expect(list.entry_count).toBe(4);
    expect(feed.asked.map(({ headers }) => headers.authorization)).toEqual([SECRET, SECRET]);
    expect(other.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    const audited = (await good('GET', `/domains/${domain}/audit/`)).text;
    const row = await api.store.latest.lists.byId(list.id);
    const stored = await api.store.latest.listFeeds.header(list.id);
    const seen = [
      made.text,
      JSON.stringify(list),
      audited,
      JSON.stringify(row),
      Buffer.from(stored!).toString('latin1'),
    ];
    for (const text of [...seen, ...log, ...api.log]) expect(text).not.toContain('s3cr3t');
  });

  test('a stored header stays for its origin, and leaves for no other', async () => {
    publish(upTo(4));
    await make({ auth_header: SECRET });
    const changed = await good('PUT', `${lists()}bad/feed`, settings({ every_min: 60, auth_header: true }));
    expect(changed.body.feed).toMatchObject({ every_min: 60, auth_header: true });
    const moved = settings({ url: `${other.url}/list`, auth_header: true });
    const refused = await owner.call('PUT', `${lists()}bad/feed`, moved);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('write the header');
    startWorker();
    await fetched(1);
    expect(feed.asked[0]!.headers.authorization).toBe(SECRET);
  });

  test('headers are encrypted under the new secrets key after a rotation', async () => {
    publish(upTo(4));
    const { body } = await make({ auth_header: SECRET });
    const before = await api.store.latest.listFeeds.header(body.id);
    const old = ring;
    const fresh = newKeyRing();
    const both = {
      ...openKeyRing({ where: 'memory', read: () => Buffer.alloc(32, 1).toString('base64') }),
      current: () => fresh.current(),
      find: (id: string) => fresh.find(id) ?? old.find(id),
    };
    expect(await resealHeaders(api.store, both)).toEqual({ resealed: 1, lost: 0 });
    expect(await resealHeaders(api.store, both)).toEqual({ resealed: 0, lost: 0 });
    expect(await api.store.latest.listFeeds.header(body.id)).not.toEqual(before);
    ring = fresh;
    startWorker();
    await fetched(1);
    expect(feed.asked[0]!.headers.authorization).toBe(SECRET);
  });

  test('what a stopped worker had under way is fetched by the next one', async () => {
    feed.answers.set('/list', () => undefined);
    await make();
    const first = startWorker();
    await until(() => feed.asked.length === 1, 'the first fetch');
    await first.stop();
    expect((await state()).feed_state).toMatchObject({ attempted_at: null, failures: 0 });
    publish(upTo(3), { etag: '"one"' });
    startWorker();
    expect((await fetched(2)).entry_count).toBe(3);
    await stopWorkers();
    later();
    startWorker();
    await fetched(3);
    expect(feed.asked[2]!.headers['if-none-match']).toBe('"one"');
  });

  test('a feed of which a process died is fetched by another one once the claim has lapsed', async () => {
    publish(upTo(3));
    const { body } = await make();
    const now = api.now();
    const dead = { now, until: now + 180_000, claim: 7, limit: 4, busy: [] };
    const claimed = await api.store.write((tx) => tx.listFeeds.claim(dead));
    expect(claimed.map(({ list_id, account_id }) => [list_id, account_id])).toEqual([
      [body.id, owner.account.id],
    ]);
    startWorker();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(feed.asked).toHaveLength(0);
    later(4);
    await fetched(1);
    const late = { feed_state: '{}', due_at: 0 };
    expect(await api.store.write((tx) => tx.listFeeds.end({ list_id: body.id, claim: 7 }, late))).toBe(false);
  });

  test('two workers fetch a feed once', async () => {
    publish(upTo(3));
    await make();
    startWorker();
    startWorker();
    await fetched(1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(feed.asked).toHaveLength(1);
  });

  test('entries of a list with a feed are not written by hand, and are once the feed is removed', async () => {
    publish(upTo(3));
    await make();
    startWorker();
    await fetched(1);
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const answer = await owner.call(method, `${lists()}bad/entries`, { entries: ['192.0.2.1'] });
      expect(answer.status).toBe(409);
      expect(answer.text).toContain('the list has a feed');
    }
    const removed = await good('DELETE', `${lists()}bad/feed`);
    expect(removed.body.feed).toBeUndefined();
    expect(removed.body.feed_state).toBeUndefined();
    expect((await good('PUT', `${lists()}bad/entries`, { entries: ['192.0.2.9'] })).body.entry_count).toBe(1);
    expect((await owner.call('DELETE', `${lists()}bad/feed`)).status).toBe(404);
    expect((await owner.call('POST', `${lists()}bad/feed/refresh`)).status).toBe(409);
  });

  test.each([
    ['no object', 7, 'must be an object'],
    ['a missing URL', { format: 'text', every_min: 15 }, 'url: is missing'],
    ['another scheme', settingsOf({ url: 'ftp://lists.example/' }), 'http or https'],
    ['a special address', settingsOf({ url: 'http://10.0.0.1/' }), 'is a private address'],
    ['a port of a system service', settingsOf({ url: 'http://lists.example:25/' }), 'port 80 or 443'],
    ['a password in the URL', settingsOf({ url: 'https://a:b@lists.example/' }), 'user or a password'],
    ['an unknown format', settingsOf({ format: 'jsn' }), 'did you mean `json`?'],
    ['a path of text', settingsOf({ path: '1' }), 'has no meaning for `text`'],
    ['a path with an empty name', settingsOf({ format: 'json', path: 'a..b' }), 'names with dots'],
    ['an interval that is too short', settingsOf({ every_min: 14 }), 'from 15 to'],
    ['a header with a line feed', settingsOf({ auth_header: 'Bearer s3cr3t\nX: y' }), 'visible ASCII'],
    [
      'a header over http',
      settingsOf({ url: 'http://lists.example/', auth_header: 'Bearer s3cr3t' }),
      'must have https',
    ],
    ['an unknown field', settingsOf({ every_mins: 15 }), 'every_min'],
  ])('a feed with %s is refused', async (_, given, message) => {
    await good('POST', lists(), { name: 'bad', kind: 'ip' });
    const answer = await owner.call('PUT', `${lists()}bad/feed`, given);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.text).toContain(message);
    expect(answer.text).not.toContain('s3cr3t');
  });
});

function settingsOf(more: object): object {
  return { url: 'https://lists.example/', format: 'text', every_min: 15, ...more };
}
