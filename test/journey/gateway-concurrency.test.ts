/** `concurrency` of usage plans at each kind of edge that sees the end of responses: never more in flight, and no slot is lost. */
import { once } from 'node:events';
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Hex } from '../../src/base/platform/cryptography.ts';
import { listenHttp } from '../../src/edge/listeners/http.ts';
import { createEdge as createFetchEdge } from '../../src/edge/middleware/fetch/index.ts';
import { compileEdge } from '../../src/edge/middleware/node/edge-input.ts';
import { createEdge as createNodeEdge } from '../../src/edge/middleware/node/index.ts';
import { createNode } from '../../src/edge/proxy/node.ts';
import { trustProxies } from '../../src/edge/proxy/visitor.ts';
import { seal } from '../../src/engine/compiler/index.ts';
import { createCounters } from '../../src/engine/evaluator/index.ts';
import { NO_CHALLENGES } from '../support/edge-tls.ts';
import { LOCAL_ORIGINS } from '../support/origin-bounds.ts';

const HOST = 'shop.localhost';
const LIMIT = 4;
const keyOf = (name: string): string => `epk_${name}`.padEnd(47, 'x');

function plan(port: number): Uint8Array {
  const auth = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
  const text = JSON.stringify({
    domain: HOST,
    records: [{ name: '@', type: 'A', destination: '127.0.0.1', port, scheme: 'Http', proxied: true }],
    usage_plans: [{ name: 'narrow', concurrency: LIMIT }],
    consumers: ['acme', 'beta'].map((username) => ({
      username,
      keys: [{ sha256: sha256Hex(keyOf(username)) }],
    })),
    gateways: [
      { name: 'api', base_path: '/v1', default_plan: 'narrow', auth },
      { name: 'trial', base_path: '/dry', default_plan: 'narrow', auth, action_mode: 'dry_run' },
    ],
  });
  const result = compileEdge(Buffer.from(text), 'edge.yaml');
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return seal(result.plan, { revision: 2 });
}

/** Requests in progress at the application, and the most of them at any time. */
const load = { now: 0, most: 0 };
/** Ends the responses to `/wait`. */
const waiting: (() => void)[] = [];
function release(): void {
  for (const end of waiting.splice(0)) end();
}
/** `/wait` answers when it is released, `/hang` never, `/break` ends in the middle, `/part` stops in the middle, others take 20 ms. */
const application: RequestListener = (request, response) => {
  load.most = Math.max(load.most, ++load.now);
  let isOver = false;
  // Node reports the end of a connection to the first of its pipelined responses alone.
  const over = (): void => {
    if (!isOver) load.now--;
    isOver = true;
  };
  response.once('close', over);
  request.socket.setMaxListeners(0).once('close', over);
  const path = request.url!.slice(request.url!.lastIndexOf('/'));
  if (path === '/hang') return;
  if (path === '/wait') return void waiting.push(() => response.end('done'));
  if (path === '/break' || path === '/part') {
    response.writeHead(200, { 'content-length': 100 });
    response.write('a part', () => path === '/break' && response.destroy());
    return;
  }
  setTimeout(() => response.end('done'), 20);
};

async function listening(server: Server): Promise<number> {
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => undefined);
    // A switched connection is in flight until both sides have ended it, or one has and a while has passed.
    socket.on('end', () => socket.end()).resume();
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

interface Sent {
  readonly consumer?: string;
  readonly method?: string;
  /** Ends the connection after so many milliseconds, or when the response has begun. */
  readonly leave?: number | 'begun';
  readonly upgrade?: boolean;
}

/** The status of a request on a connection of its own; 0: it failed. */
function statusOf(
  port: number,
  path: string,
  { consumer = 'acme', method = 'GET', leave, upgrade }: Sent = {},
) {
  return new Promise<{ status: number; retryAfter?: string | undefined }>((resolve) => {
    const headers = {
      ...{ host: HOST, 'x-api-key': keyOf(consumer) },
      ...(upgrade === true
        ? {
            connection: 'Upgrade',
            upgrade: 'websocket',
            'sec-websocket-version': '13',
            'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          }
        : {}),
    };
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });
    const failed = (): void => resolve({ status: 0 });
    request.on('response', (response) => {
      if (leave === 'begun') request.destroy();
      const { statusCode = 0 } = response;
      response.resume().on('error', failed);
      response.on('close', () =>
        resolve({ status: statusCode, retryAfter: response.headers['retry-after'] }),
      );
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode! });
    });
    request.on('error', failed);
    if (typeof leave === 'number') setTimeout(() => request.destroy(), leave);
    request.end();
  });
}

interface Edge {
  readonly port: number;
  /** Consumers with requests in flight; absent: only behaviour shows them. */
  readonly slots?: () => number;
  stop(): unknown;
}

async function nodeProxy(): Promise<Edge> {
  const origin = createServer(application);
  const originPort = await listening(origin);
  const counters = createCounters();
  const node = createNode({
    counters,
    challenges: NO_CHALLENGES,
    classifier: { country: () => null, asn: () => null, bot: () => undefined },
    requestLog: { done: () => undefined },
    cache: null,
    waf: null,
    nodeId: null,
    perOrigin: 200,
    anyCertificate: false,
    originBounds: LOCAL_ORIGINS,
    openOctets: 1_000_000,
    onFault: (error) => {
      throw error;
    },
  });
  const bytes = plan(originPort);
  node.plans.set(HOST, { revision: 2, digest: 'a'.repeat(64), purgeEpoch: 0, read: () => bytes });
  const where = { host: '127.0.0.1', port: 0, publicPort: null };
  const listener = await listenHttp({ handler: node.handler, trusted: trustProxies([]), ...where });
  return {
    port: listener.address.port,
    slots: () => counters.slots.size(),
    async stop() {
      await listener.stop(0);
      await node.close();
      origin.closeAllConnections();
      origin.close();
    },
  };
}

async function nodeMiddleware(): Promise<Edge> {
  const edge = await createNodeEdge({ plans: [plan(1)], secret: 's'.repeat(32) });
  const server = createServer(edge.wrap(application as never) as never);
  const port = await listening(server);
  return {
    port,
    async stop() {
      server.closeAllConnections();
      server.close();
      await edge.close();
    },
  };
}

/** A `fetch` handler, whose requests are aborted as their clients leave. */
async function fetchMiddleware(): Promise<Edge> {
  const edge = createFetchEdge({ plans: [plan(1)], secret: 's'.repeat(32) });
  const inner = createServer(application);
  const innerPort = await listening(inner);
  const server = createServer(async (request, response) => {
    const left = new AbortController();
    // Node reports the end of a connection to the first of its pipelined responses alone.
    for (const one of [response, request.socket.setMaxListeners(0)]) one.once('close', () => left.abort());
    const url = `http://${HOST}${request.url}`;
    const headers = new Headers({ 'x-api-key': String(request.headers['x-api-key']) });
    const sent = new Request(url, { method: request.method!, headers, signal: left.signal });
    const answer = await edge.handle(sent, { ip: '203.0.113.7' }, ({ signal }) =>
      fetch(`http://127.0.0.1:${innerPort}${request.url}`, { method: request.method!, signal }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    try {
      for await (const chunk of (answer.body ?? []) as unknown as AsyncIterable<Uint8Array>)
        response.write(chunk);
      response.end();
    } catch {
      response.destroy();
    }
  });
  const port = await listening(server);
  return {
    port,
    stop() {
      for (const one of [server, inner]) {
        one.closeAllConnections();
        one.close();
      }
    },
  };
}

const EDGES = [
  ['a node', nodeProxy],
  ['the middleware for Node', nodeMiddleware],
  ['the middleware for fetch', fetchMiddleware],
] as const;

describe.each(EDGES)('%s', (name, start) => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await start();
  });
  afterAll(() => edge.stop());

  const ask = (path: string, sent?: Sent) => statusOf(edge.port, path, sent);
  const many = (count: number, path: string, sent?: Sent) =>
    Promise.all(Array.from({ length: count }, () => ask(path, sent)));

  /** Waits until nothing is in flight, and checks that exactly as many as the limit are admitted then. */
  async function expectFree(): Promise<void> {
    while (load.now > 0) await sleep(5);
    for (let tries = 0; ; tries++) {
      const admitted = (await many(LIMIT, '/v1/x')).every(({ status }) => status === 200);
      if (admitted) break;
      expect(tries, 'all slots are free after a while').toBeLessThan(100);
      await sleep(20);
    }
    if (edge.slots !== undefined) while (edge.slots() > 0) await sleep(5);
  }

  test('admits as many requests at once as the limit, and refuses the others with 429', async () => {
    load.most = 0;
    const refused: (string | undefined)[] = [];
    const asked = Array.from({ length: 40 }, async () => {
      const { status, retryAfter } = await ask('/v1/wait');
      if (status === 429) refused.push(retryAfter);
      return status;
    });
    while (refused.length < 40 - LIMIT) await sleep(5);
    expect(refused).toEqual(refused.map(() => '1'));
    expect((await ask('/v1/x', { consumer: 'beta' })).status).toBe(200);
    release();
    expect((await Promise.all(asked)).filter((status) => status === 200)).toHaveLength(LIMIT);
    // One of them was the other consumer's.
    expect(load.most).toBeLessThanOrEqual(LIMIT + 1);
    await expectFree();
  });

  test('takes no slot under dry_run', async () => {
    load.most = 0;
    const answers = await many(LIMIT * 3, '/dry/x');
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    await expectFree();
  });

  test.each([
    ['whose clients leave before the response', '/v1/hang', { leave: 3 }],
    ['whose clients leave within the response', '/v1/part', { leave: 'begun' }],
    ['whose clients leave at once', '/v1/x', { leave: 0 }],
    ['whose application breaks off', '/v1/break', {}],
    ['of HEAD', '/v1/x', { method: 'HEAD' }],
  ] as const)('frees the slots of 200 requests %s', async (_, path, sent) => {
    load.most = 0;
    for (let round = 0; round < 10; round++) await many(20, path, sent);
    expect(load.most).toBeLessThanOrEqual(LIMIT);
    await expectFree();
  });

  test('frees the slots of pipelined requests whose connection breaks', async () => {
    const socket = connect(edge.port, '127.0.0.1');
    const one = `GET /v1/hang HTTP/1.1\r\nHost: ${HOST}\r\nX-Api-Key: ${keyOf('acme')}\r\n\r\n`;
    socket.write(one.repeat(20));
    while (load.now === 0) await sleep(5);
    await sleep(50);
    socket.destroy();
    await expectFree();
  });

  // The applications behind the middlewares switch no protocol.
  if (name === 'a node')
    test('frees the slots of WebSockets, refused and switched', async () => {
      for (let round = 0; round < 5; round++) await many(10, '/v1/x', { upgrade: true });
      await expectFree();
    });
});

describe('a node', () => {
  test('has no request in flight after 1,000 that were aborted', async () => {
    const edge = await nodeProxy();
    for (let round = 0; round < 50; round++)
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => statusOf(edge.port, '/v1/hang', { leave: at % 5 })),
      );
    while (edge.slots!() > 0) await sleep(5);
    expect(edge.slots!()).toBe(0);
    await edge.stop();
  });
});
