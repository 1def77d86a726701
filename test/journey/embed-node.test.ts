/** What is the Node edge's own: facts, faults, streams, protocols, thousands of domains. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { afterEach, expect, test, vi } from 'vitest';
import { createEdge as createFetchEdge } from '../../src/edge/middleware/fetch/index.ts';
import {
  createEdge,
  type NodeEdge,
  type NodeEdgeOptions,
  PlanFault,
} from '../../src/edge/middleware/node/index.ts';
import { ask } from '../support/ask.ts';
import { listenLocally, sealedPlan, sealedSignatures } from '../support/embed.ts';
import { writeMmdb } from '../support/mmdb.ts';

const DROP = {
  id: 1,
  type: 'drop',
  path_includes: ['/admin'],
  ips: ['203.0.113.7'],
  ip_match_type: 'include',
};
const PLAN = sealedPlan({ rules: [DROP], settings: { sec_strip_headers: true } });

const PATIENCE = { interval: 50 };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Started {
  readonly port: number;
  readonly edge: NodeEdge;
  readonly faults: unknown[];
}

function fine(_request: IncomingMessage, response: ServerResponse): void {
  response.end('fine');
}

async function start(options: NodeEdgeOptions = {}, app: RequestListener = fine): Promise<Started> {
  const faults: unknown[] = [];
  const edge = await createEdge({
    plans: [PLAN],
    signatures: null,
    trustProxy: ['127.0.0.1'],
    botDns: false,
    onFault: (error) => faults.push(error),
    ...options,
  });
  const { port, close } = await listenLocally(createServer(edge.wrap(app)));
  closing.push(edge.close, close);
  return { port, edge, faults };
}

test('rules match the facts that a proxy in front supplies', async () => {
  const plan = sealedPlan({
    rules: [{ id: 1, type: 'drop', countries: ['NZ'], country_match_type: 'include' }],
  });
  const { port } = await start({
    plans: [plan],
    facts: ({ headers }) => ({ country: String(headers['cf-ipcountry'] ?? 'XX') }),
  });
  const from = async (country: string): Promise<number> =>
    (await ask(port, '/', { headers: { 'cf-ipcountry': country } })).status;
  expect([await from('NZ'), await from('AU')]).toEqual([403, 200]);
});

test('databases supply what a proxy in front does not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-embed-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const both = { country: { iso_code: 'NZ' }, autonomous_system_number: 64_496 };
  writeFileSync(join(folder, 'both.mmdb'), writeMmdb({ '203.0.113.0/24': both }));
  writeFileSync(
    join(folder, 'asns.mmdb'),
    writeMmdb({ '203.0.113.0/24': { autonomous_system_number: 64_497 } }),
  );
  const seen = async (options: NodeEdgeOptions): Promise<unknown> => {
    const found: unknown[] = [];
    const { port } = await start({
      countries: join(folder, 'both.mmdb'),
      onDecision: ({ request }) => found.push([request.country, request.asn]),
      ...options,
    });
    await ask(port, '/', { headers: { 'x-forwarded-for': '203.0.113.9' } });
    return found;
  };
  expect(await seen({})).toEqual([['NZ', 64_496]]);
  expect(await seen({ asns: join(folder, 'asns.mmdb') })).toEqual([['NZ', 64_497]]);
  expect(await seen({ facts: () => ({ asn: 64_498 }) })).toEqual([['NZ', 64_498]]);
  expect(await seen({ facts: () => ({ asn: null }) })).toEqual([['NZ', null]]);
});

test('a listener that throws does not change the response', async () => {
  const faults: unknown[] = [];
  const { port } = await start({
    onDecision: () => {
      throw new Error('listener');
    },
    onFault: (error, about) => faults.push([about, (error as Error).message]),
  });
  expect((await ask(port, '/')).status).toBe(200);
  expect(faults).toEqual([['onDecision', 'listener']]);
});

test('a request is not forwarded when its facts cannot be obtained', async () => {
  const { port, faults } = await start({
    facts: () => {
      throw new Error('no facts');
    },
  });
  expect((await ask(port, '/')).status).toBe(500);
  expect(faults).toHaveLength(1);
});

test('a response is aborted when the application throws after its start', async () => {
  const { port, faults } = await start({}, (_request, response) => {
    response.write('a part');
    throw new Error('in the middle');
  });
  await expect(ask(port, '/')).rejects.toThrow();
  expect(faults).toHaveLength(1);
});

test('answers of thousands of pieces, and through a pipe, arrive whole', async () => {
  const { port } = await start({}, (request, response) => {
    response.writeHead(200, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Powered-By', 'test']);
    request.pipe(response);
  });
  const body = 'piece '.repeat(200_000);
  const answer = await ask(port, '/form', { method: 'POST', body });
  expect(answer.body === body).toBe(true);
  expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  expect(answer.headers).not.toHaveProperty('x-powered-by');
});

test('requests to switch protocols are decided', async () => {
  const { edge } = await start();
  const server = createServer();
  server.on('upgrade', (request, socket) => {
    edge.upgrade(request, socket, () => {
      socket.end(`HTTP/1.1 101 Switching Protocols\r\nX-Action: ${request.edge?.decision.action}\r\n\r\n`);
    });
  });
  const { port, close } = await listenLocally(server);
  closing.push(close);
  const upgrade = async (path: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: shop.localhost\r\nX-Forwarded-For: 203.0.113.7\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    let said = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      said += text;
    });
    await once(socket, 'close');
    return said;
  };
  expect(await upgrade('/live')).toContain('X-Action: forward');
  expect(await upgrade('/admin')).toMatch(/^HTTP\/1\.1 403 /);
});

test('serves thousands of domains, opening a plan at its first request', async () => {
  const plans = Array.from({ length: 2_000 }, (_, at) => sealedPlan({ domain: `d${at}.test` }));
  const { port, edge } = await start({ plans, openOctets: 100_000 });
  expect(edge.size).toBe(2_000);
  for (const at of [0, 999, 1_999, 0]) {
    expect((await ask(port, '/', { host: `d${at}.test` })).status).toBe(200);
  }
});

test('serves HTTP/2 as well', async () => {
  const { edge } = await start({
    plans: [
      sealedPlan({
        rules: [
          DROP,
          { id: 3, type: 'waf', path_includes: ['/form'], paranoia: 1, threshold: 5, body_cap_kb: 64 },
        ],
        settings: { sec_no_sniff: true },
      }),
    ],
    signatures: sealedSignatures(),
    trustProxy: [],
  });
  const server = createHttp2Server(
    edge.wrap(async (request: Http2ServerRequest, response: Http2ServerResponse) => {
      let octets = 0;
      for await (const chunk of request) octets += chunk.length;
      response.end(`${octets} ${request.url} ${request.edge?.decision.action}`);
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => new Promise<void>((resolve) => session.close(resolve)),
  );
  const send = async (path: string, body: string): Promise<readonly unknown[]> => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      ':authority': 'shop.localhost',
      ...headers,
    });
    stream.end(body);
    const [head] = await once(stream, 'response');
    let text = '';
    for await (const chunk of stream) text += chunk;
    return [head[':status'], head['x-content-type-options'], text];
  };
  expect(await send('/a', 'b=1')).toEqual([200, 'nosniff', '3 /a forward']);
  expect(await send('/form', `b=${'x'.repeat(90_000)}`)).toEqual([200, 'nosniff', '90002 /form forward']);
  expect((await send('/form', 'b=attack'))[0]).toBe(403);
});

test('Fastify’s own test client meets the edge as well', async () => {
  const { edge } = await start({ signatures: sealedSignatures() });
  edge.install(
    sealedPlan({ rules: [{ id: 3, type: 'waf', paranoia: 1, threshold: 5, body_cap_kb: 64 }], settings: {} }),
  );
  const app = Fastify();
  await app.register(edge.fastify);
  app.post('/', (request) => ({ got: request.body, action: request.edge.decision.action }));
  const send = (word: string): Promise<{ statusCode: number; body: string }> =>
    app.inject({ method: 'POST', url: '/', headers: { host: 'shop.localhost' }, payload: { word } });
  expect(JSON.parse((await send('fine')).body)).toEqual({ got: { word: 'fine' }, action: 'forward' });
  expect((await send('attack')).statusCode).toBe(403);
  await app.close();
});

test('an edge file is served and followed, and the plan before stays when the file breaks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-embed-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'edge.yaml');
  const text = (path: string): string =>
    `domain: shop.localhost\nrecords:\n  - { name: '@', type: A, destination: 127.0.0.1, proxied: true }\nrules:\n  - { type: drop, path_includes: ['${path}'], ips: ['203.0.113.7'], ip_match_type: include }\n`;
  writeFileSync(file, text('/one'));
  const { port, faults } = await start({ plans: [], file });
  const status = async (path: string): Promise<number> => (await ask(port, path)).status;
  expect([await status('/one'), await status('/two')]).toEqual([403, 200]);
  writeFileSync(file, `${text('/two')}  - { type: drop, nonsense: 1 }\n`);
  await vi.waitFor(() => expect(faults).not.toEqual([]), PATIENCE);
  expect(String(faults[0])).toContain('edge.yaml:6:');
  expect(await status('/one')).toBe(403);
  writeFileSync(file, text('/two'));
  await vi.waitFor(async () => expect(await status('/two')).toBe(403), PATIENCE);
  expect(await status('/one')).toBe(200);
  await expect(createEdge({ file: join(folder, 'none.yaml'), signatures: null })).rejects.toThrow('ENOENT');
});

test('createEdge refuses bad options at once', async () => {
  for (const name of ['countries', 'asns', 'botRanges']) {
    const options = { [name]: '/none/here', signatures: null };
    await expect(createEdge(options)).rejects.toThrow(`\`${name}\` cannot be read: ENOENT`);
  }
  await expect(createEdge({ secret: 'short', signatures: null })).rejects.toThrow('at least 16');
  await expect(createEdge({ trustProxy: ['10.0.0.0/8', 'lan'], signatures: null })).rejects.toThrow('`lan`');
  await expect(createEdge({ plans: [new Uint8Array(9)], signatures: null })).rejects.toThrow(PlanFault);
  await expect(createEdge({ signatures: new Uint8Array(9) })).rejects.toThrow(PlanFault);
});

test.each([
  [{ plan: new Uint8Array(9) }, 'createEdge has no option `plan`; it has plans, '],
  [{ plans: 'edge.edgeplan' }, '`plans` must be a list of sealed plans, each a Uint8Array, found a string'],
  [
    { plans: ['edge.edgeplan'] },
    '`plans` must be a list of sealed plans, each a Uint8Array, found a string in it',
  ],
  [{ signatures: 'crs.bin' }, '`signatures` must be a sealed signature program, a Uint8Array, or `null`'],
  [{ secret: 5 }, '`secret` must be a string or a Uint8Array, found a number'],
  [
    { signatures: new ArrayBuffer(8) },
    '`signatures` must be a sealed signature program, a Uint8Array, or `null`, found an ArrayBuffer',
  ],
  [{ counterOctets: '64' }, '`counterOctets` must be a whole number above 0, found a string'],
  [{ onFault: {} }, '`onFault` must be a function, found an object'],
  [null, 'createEdge takes an object of options, found null'],
])('plain JavaScript that gives %j is told the option', async (options, sentence) => {
  const wrong = (error: unknown): boolean =>
    error instanceof TypeError && error.message.startsWith(sentence.split('; it has ')[0]!);
  await expect(createEdge(options as never)).rejects.toSatisfy(wrong);
  expect(() => createFetchEdge(options as never)).toThrow(TypeError);
  expect(() => createFetchEdge(options as never)).toThrow(sentence.split('; it has ')[0]!);
});

test.each([
  [
    { token: undefined },
    '`control.token` must be a string, found nothing; `edgeplan node-token create NAME` makes',
  ],
  [{ token: '' }, '`control.token` must be a string, found an empty one; `edgeplan node-token create NAME`'],
  [{ url: undefined }, '`control.url` must be a string, found nothing; give the server'],
  [{ folder: 5 }, '`control.folder` must be a string, found a number; name a folder'],
  [{ key: 'a' }, '`control` has no field `key`; it has url, token, folder, trust'],
])('createEdge names the field of control that %j gives wrong', async (fields, sentence) => {
  const whole = { url: 'http://127.0.0.1:9', token: 'node_1', folder: './edge-app' };
  const control = { ...whole, ...fields };
  await expect(createEdge({ control, signatures: null } as never)).rejects.toThrow(sentence);
});

test('createEdge refuses plans that are no Uint8Array and options of the other edge', async () => {
  for (const edge of [await createEdge({ signatures: null }), createFetchEdge()]) {
    expect(() => edge.install('edge.edgeplan' as never)).toThrow(
      new TypeError('a sealed plan is a Uint8Array, found a string'),
    );
  }
  expect(() => createFetchEdge({ trustProxy: ['10.0.0.0/8'] } as never)).toThrow(
    'has no option `trustProxy`',
  );
  await expect(createEdge({ trustProxy: '10.0.0.0/8' as never })).rejects.toThrow(
    'a list of strings, found a string',
  );
});
