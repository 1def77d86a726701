/** `edgeplan/client` against real servers: a domain from its first record to a deleted rule, and everything that goes wrong. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/base/telemetry/redacting-log.ts';
import { type RunningServer, startServer } from '../../src/cli/start-server.ts';
import { createAccount, createKey } from '../../src/control/accounts/keys.ts';
import { REQUESTS_PER_MINUTE } from '../../src/control/accounts/request-budget.ts';
import {
  ApiFault,
  type Client,
  createClient,
  dataOf,
  ifMatch,
  ifNoneMatch,
} from '../../src/control/client/index.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import { send, startApi, type TestApi } from '../support/api.ts';
import { missingBrowser, startBrowser } from '../support/browser.ts';
import { testDatabases } from '../support/databases.ts';
import { TEST_ORIGINS } from '../support/origin-bounds.ts';
import { requires } from '../support/requires.ts';

const ENTRY = fileURLToPath(new URL('../../src/control/client/index.ts', import.meta.url));
const path = { domain: 'shop.example' };

describe('on a whole server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-client-'));
  let server: RunningServer;
  let key: string;
  let api: Client;

  beforeAll(async () => {
    const store = await openStore({ database: folder });
    server = await startServer({
      store,
      host: '127.0.0.1',
      port: 0,
      operationsPort: 0,
      tier: 'enterprise',
      overQuota: 'serve',
      nameserverSets: [['ns1.edge.test', 'ns2.edge.test']],
      resolvers: [],
      trustNames: true,
      privateNames: true,
      allowedOrigins: { prefixes: TEST_ORIGINS, local: false },
      requestsPerMinute: REQUESTS_PER_MINUTE,
      log: createLog('silent', () => undefined),
    });
    const now = Date.now();
    await createAccount(store, { name: 'ann', now });
    const made = await createKey(store, { account: 'ann', name: 'test', expiry: null, readOnly: false, now });
    if (!made.ok) throw new Error(made.reason);
    key = made.value.key;
    api = createClient({ baseUrl: `${server.url}/`, key });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('the client creates, publishes, changes and reads a domain, its records and a rule', async () => {
    const domain = await dataOf(api.POST('/domains/', { body: { name: 'shop.example' } }));
    expect([domain.name, domain.my_role]).toEqual(['shop.example', 'owner']);
    await dataOf(api.POST('/domains/{domain}/check-ns', { params: { path } }));

    const record = await dataOf(
      api.POST('/domains/{domain}/records/', {
        params: { path },
        body: { name: 'www', type: 'A', destination: '198.51.100.20', proxied: true },
      }),
    );
    const made = await api.POST('/domains/{domain}/rules/drop/', {
      params: { path, query: { wait: 'published' } },
      body: { path_includes: ['/admin/*'], record_ids: [record.id] },
    });
    expect(Number(made.response.headers.get('x-revision'))).toBeGreaterThanOrEqual(1);
    const one = { path: { ...path, ruleId: made.data?.id ?? 0 } };

    const read = await api.GET('/domains/{domain}/rules/drop/{ruleId}', { params: one });
    expect(read.data).toEqual(made.data);
    expect(read.data?.path_includes).toEqual(['/admin/*']);
    const known = { params: one, headers: ifNoneMatch(read.response) };
    const again = await api.GET('/domains/{domain}/rules/drop/{ruleId}', known);
    expect([again.response.status, again.data, again.error]).toEqual([304, undefined, undefined]);

    const change = { params: one, headers: ifMatch(read.response), body: { priority: 7 } };
    expect((await dataOf(api.PUT('/domains/{domain}/rules/drop/{ruleId}', change))).priority).toBe(7);
    const late = await api.PUT('/domains/{domain}/rules/drop/{ruleId}', change);
    expect([late.response.status, late.error]).toEqual([
      412,
      { error: 'the object is not what `If-Match` says' },
    ]);
    const removed = await dataOf(api.DELETE('/domains/{domain}/rules/drop/{ruleId}', { params: one }));
    expect(removed.message).toBe(`rule drop/${one.path.ruleId} deleted`);
    expect(await dataOf(api.GET('/domains/{domain}/rules/drop/', { params: { path } }))).toEqual([]);
  });

  test('a zone file is imported and exported as text', async () => {
    const sent = await dataOf(
      api.POST('/domains/{domain}/records/import', {
        params: { path },
        headers: { 'content-type': 'text/dns' },
        body: '@ 300 IN MX 10 mail.example.net.\n',
      }),
    );
    expect(sent.imported).toBe(1);
    const zone = await dataOf(
      api.GET('/domains/{domain}/records/export', { params: { path }, parseAs: 'text' }),
    );
    expect(zone).toContain('@ IN MX 10 mail.example.net.');
  });

  test('a missing object is a 404 with its message, as a value and as a fault', async () => {
    const params = { path: { domain: 'other.example' } };
    const { data, error, response } = await api.GET('/domains/{domain}', { params });
    expect([data, error, response.status]).toEqual([undefined, { error: 'not found' }, 404]);
    const fault = await dataOf(api.GET('/domains/{domain}', { params })).catch((thrown: unknown) => thrown);
    expect(fault).toBeInstanceOf(ApiFault);
    expect(fault).toMatchObject({ status: 404, message: 'not found' });
  });

  test('a wrong key is a 401', async () => {
    const stranger = createClient({ baseUrl: server.url, key: `svc_${'0'.repeat(65)}` });
    const { error, response } = await stranger.GET('/domains/');
    expect([response.status, error]).toEqual([401, { error: 'invalid API key' }]);
  });

  // Skipped only where Debian's Chromium is missing; the reason is printed above.
  test('the client does the same in a browser', requires(missingBrowser()), async () => {
    const bundled = await build({
      entryPoints: [ENTRY],
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'iife',
      globalName: 'edgeplan',
      logLevel: 'silent',
    });
    const browser = await startBrowser();
    try {
      // The API allows no other origin, so the page is its own; its policy forbids scripts to fetch.
      const page = await browser.newPage({ bypassCSP: true });
      await page.goto(`${server.url}/docs/`);
      const script = `(async () => { ${bundled.outputFiles[0]!.text};
        const api = edgeplan.createClient({ baseUrl: location.origin, key: ${JSON.stringify(key)} });
        const seen = await edgeplan.dataOf(api.GET('/domains/{domain}', { params: { path: { domain: 'shop.example' } } }));
        const { error } = await api.GET('/domains/{domain}', { params: { path: { domain: 'other.example' } } });
        return [seen.name, error];
      })()`;
      expect(await page.evaluate(script)).toEqual(['shop.example', { error: 'not found' }]);
    } finally {
      await browser.close();
    }
  });
});

describe('over its budget', () => {
  let api: TestApi;
  beforeAll(async () => {
    const [database] = testDatabases();
    api = await startApi(database!, { budget: 2 });
  });
  afterAll(() => api.close());

  let people = 0;
  /** A client that counts what it sends, and whose key has just used up its budget until `seconds` from now. */
  async function spent(
    seconds: number,
    options: object = {},
  ): Promise<{ readonly client: Client; readonly sent: Request[] }> {
    const sent: Request[] = [];
    const fetch = (request: Request): Promise<Response> => {
      sent.push(request);
      return globalThis.fetch(request);
    };
    const person = await api.person(`person${++people}`);
    api.ahead -= 60_000 - seconds * 1_000;
    for (let spending = 0; spending < 2; spending++)
      await send(api.port, { method: 'GET', path: '/domains/', headers: { 'x-api-key': person.key } });
    api.ahead += 60_000 - seconds * 1_000;
    return { client: createClient({ baseUrl: api.url, key: person.key, fetch, ...options }), sent };
  }

  test('a request is sent again with its body after the Retry-After', async () => {
    const { client, sent } = await spent(1);
    const begun = performance.now();
    const { data, error } = await client.POST('/domains/', { body: { name: 'again.example' } });
    expect([error, data?.name]).toEqual([undefined, 'again.example']);
    expect(sent).toHaveLength(2);
    expect(performance.now() - begun).toBeGreaterThan(900);
  });

  test('a wait above the limit, or no retries, return the 429 to the caller', async () => {
    for (const options of [{ mostWaitMs: 2_000 }, { retries: 0 }]) {
      const { client, sent } = await spent(30, options);
      const { error, response } = await client.GET('/domains/');
      expect([response.status, error, sent.length]).toEqual([429, { error: 'rate limit exceeded' }, 1]);
    }
  });

  test('the caller can stop waiting', async () => {
    const { client, sent } = await spent(30);
    const signal = AbortSignal.timeout(200);
    await expect(client.GET('/domains/', { signal })).rejects.toThrow(/timeout/);
    expect(sent).toHaveLength(1);
  });
});

describe('without an API behind it', () => {
  test('a response of another server gets the error shape, and a missing response times out', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/domains/') return;
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, key: 'svc_x', timeoutMs: 200 });
    const { error, response } = await client.GET('/nodes/');
    expect([response.status, error]).toEqual([
      502,
      { error: 'the answer is 502 Bad Gateway, not one of this API' },
    ]);
    await expect(client.GET('/domains/')).rejects.toMatchObject({ name: 'TimeoutError' });
    server.closeAllConnections();
    server.close();
  });
});
