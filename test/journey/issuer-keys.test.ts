/** Keys of token issuers on both databases: a real API, a worker, and a real https server that publishes key sets on this machine. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createSpecialJudge } from '../../src/base/addresses/special-addresses.ts';
import type { FetchWorker } from '../../src/control/lists/feed/fetch-worker.ts';
import { readRegistry } from '../../src/control/publishing/plan-registry.ts';
import { MAX_KEY_SET_OCTETS } from '../../src/control/registry/limits.ts';
import { createKeyWorker } from '../../src/control/registry/worker.ts';
import { type Answer, type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';
import { type FeedServer, startFeedServer } from '../support/feed-server.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { until } from '../support/until.ts';

const MINUTE_MS = 60_000;

function pairOf(kid: string): {
  readonly open: object;
  readonly secret: { readonly d?: string; readonly kid: string };
} {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    open: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' },
    secret: { ...privateKey.export({ format: 'jwk' }), kid },
  };
}

describe.skipIf(OPENSSL_MISSING !== null).each(testDatabases())('keys of issuers on $kind', (database) => {
  let api: TestApi;
  let server: FeedServer;
  let plain: FeedServer;
  let owner: Person;
  let domain: string;
  let ca: string;
  let folder: string;
  let count = 0;
  const workers: FetchWorker[] = [];
  const [a, b] = [pairOf('a'), pairOf('b')];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'edgeplan-keys-'));
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    await makeCertificate({ names: ['keys.example'], cert, key });
    ca = readFileSync(cert, 'utf8');
    server = await startFeedServer({ cert: ca, key: readFileSync(key, 'utf8') });
    plain = await startFeedServer();
    api = await startApi(database, { allowedOrigins: ['127.0.0.1'] });
  });
  afterAll(async () => {
    await api.close();
    await Promise.all([server.close(), plain.close()]);
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    count += 1;
    for (const one of [server, plain]) {
      one.asked.length = 0;
      one.answers.clear();
    }
    owner = await api.person(`owner${count}`);
    domain = `d${Math.random().toString(36).slice(2)}.example`;
    const made = await owner.call('POST', '/domains/', { name: domain, dns_mode: 'external' });
    expect(made.status, made.text).toBe(200);
  });
  // Issuers of a test before would be fetched beside those of the next one.
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    for (const { id } of (await owner.call('GET', issuers())).body)
      await owner.call('DELETE', `${issuers()}${id}`);
  });

  /** The names of these tests are this machine, but for one, which is where clouds have their secrets. */
  const lookup: LookupFunction = (name, options, done) => {
    const address = name === 'metadata.example' ? '169.254.169.254' : '127.0.0.1';
    if (options.all === true) done(null, [{ address, family: 4 }]);
    else done(null, address, 4);
  };
  function startWorker(): FetchWorker {
    const worker = createKeyWorker({
      store: api.store,
      special: createSpecialJudge({ prefixes: ['127.0.0.1'], local: false }),
      lookupFor: () => lookup,
      ca,
      clock: () => api.now(),
      log: { info: () => undefined, warn: () => undefined },
      pollMs: 20,
    });
    workers.push(worker);
    worker.start();
    return worker;
  }
  const issuers = (): string => `/domains/${domain}/token-issuers/`;
  const urlOf = (path = '/jwks', host = 'keys.example'): string => {
    const url = new URL(path, server.url);
    url.hostname = host;
    return url.href;
  };
  const publish = (keys: readonly unknown[], headers: Record<string, string> = {}, path = '/jwks') =>
    server.answers.set(path, (response) => response.writeHead(200, headers).end(JSON.stringify({ keys })));
  const good = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await owner.call(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };
  const make = async (more: object = {}): Promise<number> => {
    const body = {
      name: 'idp',
      issuer: 'https://idp.example/',
      audiences: ['api'],
      jwks_url: urlOf(),
      ...more,
    };
    return (await good('POST', issuers(), body)).body.id;
  };
  const status = async (id: number) => (await good('GET', `${issuers()}${id}`)).body.keys_status;
  /** The state once so many fetches have ended. */
  const fetched = (id: number, isDone: (state: Awaited<ReturnType<typeof status>>) => boolean) =>
    until(
      async () => {
        const state = await status(id);
        return Date.parse(state.next_at) > api.now() && isDone(state) && state;
      },
      'the fetch ends',
      10_000,
    );
  const domainId = async (): Promise<number> =>
    (await api.store.latest.domains.seenBy(owner.account.id, domain))!.domain.id;
  const kidsOfRegistry = async () => {
    const { token_issuers } = await readRegistry(api.store.latest, await domainId());
    return token_issuers[0]!.keys!.map(({ kid }) => kid);
  };
  const version = async () => (await api.store.latest.registries.get(await domainId()))!.version;

  test('keys are fetched by https, those that cannot be used are left out and reported, and the registry has the rest', async () => {
    const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey.export({ format: 'jwk' });
    publish([
      { ...a.open, x5c: ['MII'] },
      b.secret,
      { kty: 'oct', kid: 'shared', k: 'c2VjcmV0' },
      { ...p521, kid: 'wide' },
      { ...b.open, use: 'enc' },
      'no key',
    ]);
    const id = await make();
    startWorker();
    const state = await fetched(id, ({ kids }) => kids.length > 0);
    expect(state).toMatchObject({ kids: ['a'], failures: 0 });
    expect(state.error).toBeUndefined();
    expect(state.left_out.map(({ kid }: { kid: string | null }) => kid)).toEqual([
      'b',
      'shared',
      'wide',
      'b',
      null,
    ]);
    const text = JSON.stringify(state) + JSON.stringify(await api.store.latest.tokenIssuers.byId(id));
    expect(text).not.toContain(b.secret.d);
    expect(text).not.toContain('c2VjcmV0');
    expect(await kidsOfRegistry()).toEqual(['a']);
    const rows = await api.store.latest.outbox.list(await domainId());
    expect(rows.map(({ reason }) => reason)).toContain('keys of token issuer `idp` fetched');
    const audit = (await good('GET', `/domains/${domain}/audit/`)).body;
    expect(audit[0]).toMatchObject({ action: 'token_issuer.keys' });
  });

  test('the last good keys stay in force while fetches fail, and new ones replace them', async () => {
    publish([a.open], { etag: '"one"', 'cache-control': 'public, max-age=600' });
    const id = await make();
    startWorker();
    await fetched(id, ({ kids }) => kids.length > 0);
    const sealed = await version();
    const wrong = ['{', '{"keys":[]}', '{"keys":{}}', `{"keys":[],"x":"${'x'.repeat(MAX_KEY_SET_OCTETS)}"}`];
    for (const broken of wrong) {
      const { failures } = await status(id);
      server.answers.set('/jwks', (response) => response.end(broken));
      api.ahead += 70 * MINUTE_MS;
      const state = await fetched(id, (now) => now.failures > failures);
      expect(state).toMatchObject({ kids: ['a'], failures: failures + 1 });
      expect(state.error.reason).toMatch(/key set|more than 262144 octets/);
    }
    expect(await version()).toBe(sealed);
    server.answers.set('/jwks', (response, headers) =>
      response.writeHead(headers['if-none-match'] === '"one"' ? 304 : 500).end(),
    );
    api.ahead += 70 * MINUTE_MS;
    expect(await fetched(id, ({ failures }) => failures === 0)).toMatchObject({ kids: ['a'] });
    expect(await version()).toBe(sealed);
    publish([b.open]);
    api.ahead += 70 * MINUTE_MS;
    await fetched(id, ({ kids }) => kids[0] === 'b');
    expect(await kidsOfRegistry()).toEqual(['b']);
    expect(await version()).toBe(sealed + 1);
  });

  test.each([
    [undefined, 60, 66],
    ['max-age=1', 5, 5.5],
    ['no-store', 5, 5.5],
    ['public, max-age=1200', 20, 22],
    ['max-age=99999999', 1_440, 1_584],
  ])('with Cache-Control %s the next fetch is %d to %d minutes later', async (caching, least, most) => {
    publish([a.open], caching === undefined ? {} : { 'cache-control': caching });
    const id = await make();
    startWorker();
    const { fetched_at, next_at } = await fetched(id, ({ kids }) => kids.length > 0);
    const minutes = (Date.parse(next_at) - Date.parse(fetched_at)) / MINUTE_MS;
    expect(minutes).toBeGreaterThanOrEqual(least);
    expect(minutes).toBeLessThanOrEqual(most + 0.01);
  });

  test('special addresses are refused where a name leads to them, also behind a redirect, and http behind https', async () => {
    startWorker();
    const first = await make({ jwks_url: urlOf('/jwks', 'metadata.example') });
    expect((await fetched(first, ({ failures }) => failures > 0)).error.reason).toContain('metadata address');
    await good('DELETE', `${issuers()}${first}`);
    for (const location of ['https://169.254.169.254/latest', `${plain.url}/jwks`]) {
      server.answers.set('/jwks', (response) => response.writeHead(302, { location }).end());
      const id = await make();
      const state = await fetched(id, ({ failures }) => failures > 0);
      expect(state.error.reason).toContain('the target of a redirect');
      await good('DELETE', `${issuers()}${id}`);
    }
    expect(plain.asked).toEqual([]);
  });

  test('another URL begins without keys, and other algorithms are judged at once', async () => {
    publish([a.open], { etag: '"one"' });
    publish([b.open], {}, '/other');
    const id = await make();
    startWorker();
    await fetched(id, ({ kids }) => kids.length > 0);
    await good('PUT', `${issuers()}${id}`, { algorithms: ['RS256'] });
    const state = await fetched(id, ({ failures }) => failures > 0);
    expect(state.error.reason).toContain('`ES256`');
    await good('PUT', `${issuers()}${id}`, { algorithms: ['ES256'], jwks_url: urlOf('/other') });
    expect((await fetched(id, ({ kids }) => kids[0] === 'b')).failures).toBe(0);
  });

  test('two workers fetch the keys of an issuer once', async () => {
    publish([a.open]);
    const id = await make();
    startWorker();
    startWorker();
    await fetched(id, ({ kids }) => kids.length > 0);
    expect(server.asked).toHaveLength(1);
  });

  test('an outage of three fetches and an hour is notified of once, and the next one again', async () => {
    const notices = async () =>
      (
        await api.store.latest.notifications.list(owner.account.id, {
          before: Number.MAX_SAFE_INTEGER,
          limit: 100,
          unread: false,
        })
      )
        .filter(({ kind }) => kind === 'token_issuer.failed')
        .map(({ data_json }) => JSON.parse(data_json));
    publish([a.open]);
    const id = await make();
    startWorker();
    const first = await fetched(id, ({ kids }) => kids.length > 0);
    const goTo = (time: number): void => {
      api.ahead += time - api.now();
    };
    /** Lets the next fetch be due, at `time` at the earliest, and waits for its end. */
    const next = async (failures: number, time = 0): Promise<void> => {
      const { next_at } = await status(id);
      goTo(Math.max(time, Date.parse(next_at) + 1));
      await fetched(id, (state) => state.failures === failures && state.next_at !== next_at);
    };
    const broken = (): unknown =>
      server.answers.set('/jwks', (response) => response.writeHead(503).end('no'));
    const outage = async (): Promise<void> => {
      broken();
      // The first fetch is an hour after the good one.
      await next(1);
      await next(2);
      expect(await notices()).toHaveLength(noticed);
      await next(3);
      await next(4);
      await next(5);
    };
    let noticed = 0;
    await outage();
    expect(await notices()).toEqual([
      {
        ...{ token_issuer: 'idp', host: new URL(urlOf()).host, failures: 3, key_count: 1 },
        ...{ fetched_at: first.fetched_at, reason: expect.stringContaining('503') },
      },
    ]);
    publish([a.open]);
    await next(0);
    noticed = 1;
    await outage();
    expect(await notices()).toHaveLength(2);
  });

  test('failures within an hour of the last good fetch are not notified of', async () => {
    publish([a.open], { 'Cache-Control': 'max-age=300' });
    const id = await make();
    startWorker();
    await fetched(id, ({ kids }) => kids.length > 0);
    server.answers.set('/jwks', (response) => response.writeHead(503).end('no'));
    for (const failures of [1, 2, 3]) {
      api.ahead += Date.parse((await status(id)).next_at) + 1 - api.now();
      await fetched(id, (state) => state.failures === failures);
    }
    const page = { before: Number.MAX_SAFE_INTEGER, limit: 100, unread: false };
    const rows = await api.store.latest.notifications.list(owner.account.id, page);
    expect(rows.filter(({ kind }) => kind === 'token_issuer.failed')).toEqual([]);
  });
});
