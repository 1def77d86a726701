/** Rate limits at every edge that sees responses: the fields that state them, and counts by status, over real sockets. */
import { createServer, type RequestListener } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createDecider, type ProxiedRequest } from '../../src/edge/middleware/decide/index.ts';
import { createEdge as createFetchEdge } from '../../src/edge/middleware/fetch/index.ts';
import { createEdge as createNodeEdge } from '../../src/edge/middleware/node/index.ts';
import { ask } from '../support/ask.ts';
import { type CacheNode, startCacheNode, startCacheOrigin } from '../support/edge-cache.ts';
import { get } from '../support/edge-cache-client.ts';
import { listenLocally, sealedPlan } from '../support/embed.ts';

type Rule = Readonly<Record<string, unknown>>;

const clean: (() => unknown)[] = [];

afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
});

async function place(rules: readonly Rule[], answer: RequestListener, rule: Rule = {}): Promise<CacheNode> {
  const origin = await startCacheOrigin(answer);
  clean.push(() => {
    origin.server.closeAllConnections();
    origin.server.close();
  });
  const node = await startCacheNode({ originPort: origin.port, rules, rule });
  clean.push(() => node.stop());
  return node;
}

/** Two failed logins a window, and ten requests that are stated. */
const RULES: readonly Rule[] = [
  { id: 7, type: 'rate_limit', path_includes: ['/login*'], limit: 2, count_statuses: [401] },
  { id: 8, type: 'rate_limit', priority: 200, limit: 10, headers: true },
];

/** 401 for a wrong password, which the query has. */
const LOGIN: RequestListener = (request, response) => {
  response.writeHead(request.url!.includes('wrong') ? 401 : 200, { RateLimit: '"origin";r=5;t=9' });
  response.end('an answer');
};

test('a node counts responses by their status, and states limits beside the fields of the origin', async () => {
  const { port, faults } = await place(RULES, LOGIN);
  const first = await get(port, '/login?right');
  expect(first.status).toBe(200);
  expect(first.headers['ratelimit-policy']).toBe('"rule-8";q=10;w=60');
  expect(first.headers['ratelimit']).toBe('"origin";r=5;t=9, "rule-8";r=9;t=60');
  expect((await get(port, '/login?right')).status).toBe(200);
  for (const status of [401, 401, 429]) expect((await get(port, '/login?wrong')).status).toBe(status);
  const refused = await get(port, '/login?right');
  expect(refused.status).toBe(429);
  expect(refused.headers['ratelimit-policy']).toBe('"rule-7";q=2;w=60, "rule-8";q=10;w=60');
  expect(refused.headers['ratelimit']).toMatch(/^"rule-7";r=0;t=(?:60|59), "rule-8";r=4;t=60$/);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(58);
  expect((await get(port, '/other')).status).toBe(200);
  expect(faults).toEqual([]);
});

test('a stored response has the fields of the visitor who gets it', async () => {
  const answer: RequestListener = (_request, response) => void response.end('stored');
  const { port, entries } = await place([RULES[1]!], answer, { mode: 'force', edge_ttl_sec: 60 });
  const stated = [];
  for (const _ of [1, 2, 3]) stated.push((await get(port, '/page')).headers['ratelimit']);
  expect(stated).toEqual([9, 8, 7].map((left) => `"rule-8";r=${left};t=60`));
  expect(entries.map(({ cache }) => cache)).toEqual(['miss', 'hit', 'hit']);
});

test('a limit without `headers` is stated by its answers alone, a challenge among them', async () => {
  const rules = [
    { id: 3, type: 'rate_limit', path_includes: ['/a'], limit: 1 },
    { id: 4, type: 'rate_limit', path_includes: ['/b'], limit: 1, on_breach: 'captcha' },
  ];
  const { port } = await place(rules, (_request, response) => void response.end('passed'));
  for (const [path, id, status] of [
    ['/a', 3, 429],
    ['/b', 4, 403],
  ] as const) {
    expect((await get(port, path)).headers).not.toHaveProperty('ratelimit');
    const over = await get(port, path);
    expect(over.status).toBe(status);
    expect(over.headers['ratelimit-policy']).toBe(`"rule-${id}";q=1;w=60`);
    expect(over.headers['ratelimit']).toMatch(/^"rule-\d";r=0;t=(?:60|59)$/);
  }
});

/** The same limits for an application of the plan's domain. */
const PLAN = sealedPlan({ rules: RULES });
const HOST = 'shop.localhost';

test('an application behind the edge of Node.js has its statuses counted', async () => {
  const edge = await createNodeEdge({ plans: [PLAN], signatures: null, botDns: false });
  clean.push(() => edge.close());
  const { port, close } = await listenLocally(createServer(edge.wrap(LOGIN)));
  clean.push(close);
  const first = await ask(port, '/login?right', { host: HOST });
  expect(first.headers['ratelimit']).toBe('"origin";r=5;t=9, "rule-8";r=9;t=60');
  for (const status of [401, 401, 429])
    expect((await ask(port, '/login?wrong', { host: HOST })).status).toBe(status);
});

test('a fetch handler behind the edge has its statuses counted', async () => {
  const edge = createFetchEdge({ plans: [PLAN] });
  const ask = (query: string): Promise<Response> =>
    edge.handle(new Request(`https://${HOST}/login?${query}`), { ip: '192.0.2.1' }, ({ url }) => {
      const headers = { RateLimit: '"origin";r=5;t=9' };
      return new Response('an answer', { status: url.includes('wrong') ? 401 : 200, headers });
    });
  const first = await ask('right');
  expect(first.headers.get('ratelimit')).toBe('"origin";r=5;t=9, "rule-8";r=9;t=60');
  for (const status of [401, 401, 429]) expect((await ask('wrong')).status).toBe(status);
});

test('a decider counts the statuses that its program reports, once each', async () => {
  const decider = createDecider({ plans: [PLAN] });
  const request: ProxiedRequest = {
    ...{ scheme: 'https', method: 'GET', host: HOST, target: '/login', protocol: 'HTTP/1.1', port: 443 },
    ...{ headers: {}, ip: '192.0.2.1', serverName: null, body: null },
  };
  const send = async (status: number | null): Promise<string> => {
    const decided = await decider.decide(request);
    if (decided.kind === 'answer') return String(decided.answer.status);
    if (status !== null) {
      decider.responded(decided.verdict, status);
      decider.responded(decided.verdict, status);
    }
    return decided.verdict.unenforced.join();
  };
  expect(await send(null)).toContain('response');
  const sent = [];
  for (const status of [401, 200, 401, 200]) sent.push(await send(status));
  expect(sent.map((outcome) => outcome === '429')).toEqual([false, false, false, true]);
});
