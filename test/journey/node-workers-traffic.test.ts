/**
 * What clients send to a node of several workers, over real sockets: PROXY headers, HTTP/2, WebSockets, challenges, cached
 * answers and bodies that are cut by a worker's death. One node, led by a control plane, serves all of it.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { solve } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { newFolder } from '../support/edge-follower.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { addDomain, addDrop, type House, openHouse, until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import {
  ADDRESSES,
  ask,
  askFromAll,
  NO_CHILDREN,
  startWorkerNode,
  type WorkerNode,
} from '../support/worker-node.ts';

const PATIENCE_MS = 60_000;
const WORKERS = 3;
/** It speaks for many visitors, by a PROXY header. */
const PROXY = '127.0.0.8';
const folder = newFolder();
let house: House;
let domain: DomainRow;
let origin: Server;
let node: WorkerNode;
/** What `/cached` holds at the origin, and how often it was asked for. */
let version = 1;
let fetched = 0;
/** Bodies that have begun and have no end yet. */
const streams = new Set<ServerResponse>();

function answerCached(response: ServerResponse): void {
  fetched++;
  response.setHeader('cache-control', 'public, max-age=600');
  response.end(`version ${version}`);
}

function beginStream(response: ServerResponse): void {
  streams.add(response);
  response.on('close', () => streams.delete(response));
  response.write('begun');
}

async function startOrigin(): Promise<void> {
  origin = createServer((message, response) => {
    if (message.url === '/cached') answerCached(response);
    else if (message.url === '/stream') beginStream(response);
    else response.end(JSON.stringify({ for: message.headers['x-forwarded-for'] }));
  });
  origin.on('upgrade', (_message, socket: Socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
}

/** The domain as its owner has it: its origin, addresses that are shut out, members that are asked, a page that is kept. */
async function publish(): Promise<void> {
  domain = await addDomain(house, 'shop.test');
  const at = Date.now();
  const { port } = origin.address() as AddressInfo;
  const place = { destination: '127.0.0.1', scheme: 'Http', port } as const;
  await house.store.write(async (tx) => {
    const [record] = await tx.records.list(domain.id);
    await tx.records.update(domain.id, [{ ...record!, ...place, updated_at: at }]);
    const rules = [
      { type: 'drop', body: { path_includes: ['/shut'], ips: ['203.0.113.0/24', '2001:db8::/32'] } },
      { type: 'captcha', body: { path_includes: ['/members/*'] } },
      { type: 'cache', body: { path_includes: ['/cached'] } },
    ] as const;
    for (const { type, body } of rules) {
      const row = { domain_id: domain.id, type, priority: 100, body: JSON.stringify(body), record_ids: [] };
      await tx.rules.insert({ ...row, created_at: at, updated_at: at });
    }
  });
  await addDrop(house, domain, '/published');
}

beforeAll(async () => {
  await builtCli();
  await startOrigin();
  house = await openHouse({ database: join(folder, 'data') });
  await publish();
  const certs = join(folder, 'certs');
  const secure = ['--tls-port', '0', '--certificates', certs];
  if (OPENSSL_MISSING === null) {
    const pair = { cert: join(certs, 'shop.crt'), key: join(certs, 'shop.key') };
    await makeCertificate({ names: ['shop.test'], ...pair });
  }
  const args = [
    ...['--workers', String(WORKERS), '--control', `http://127.0.0.1:${house.port}`],
    ...['--data', join(folder, 'node'), '--proxy-protocol', PROXY],
    ...(OPENSSL_MISSING === null ? secure : []),
  ];
  node = await startWorkerNode(args, {
    cwd: folder,
    env: { EDGEPLAN_NODE_TOKEN: await house.token('node-1') },
  });
  await until(
    async () => (await askFromAll(node.port, '/published')).every(({ status }) => status === 403),
    'the plan',
    PATIENCE_MS,
  );
}, 180_000);
afterAll(async () => {
  node.signal('SIGTERM');
  expect(await node.ended).toBe(0);
  await house.close();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

type Header = (from: string) => string | Buffer;

const VERSION_1: Header = (from) => {
  const [family, to] = from.includes(':') ? ['TCP6', '2001:db8:1::1'] : ['TCP4', '192.0.2.1'];
  return `PROXY ${family} ${from} ${to} 51234 443\r\n`;
};

/** Of IPv4 only. */
const VERSION_2: Header = (from) =>
  Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c', 'latin1'),
    Buffer.from(from.split('.').map(Number)),
    Buffer.from([192, 0, 2, 1, 0xc8, 0x22, 0x01, 0xbb]),
  ]);

/** A connection of the proxy's that begins with a header. */
function proxied(port: number, header: string | Buffer): Socket {
  const socket = connect({ host: '127.0.0.1', port, localAddress: PROXY });
  socket.write(header);
  return socket;
}

interface Proxied {
  readonly from: string;
  readonly header?: Header;
  readonly headers?: Readonly<Record<string, string>>;
  /** A form. */
  readonly body?: string;
  readonly secure?: boolean;
}

interface Answered {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** One request on a connection of its own, which the proxy makes for a visitor: the next worker's turn. */
async function askProxied(path: string, { from, header = VERSION_1, ...sent }: Proxied): Promise<Answered> {
  const socket = proxied(sent.secure === true ? node.tlsPort! : node.port, header(from));
  const carried = sent.secure === true ? secured(socket) : socket;
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const message = request({
    path,
    method: sent.body === undefined ? 'GET' : 'POST',
    headers: {
      host: 'shop.test',
      'user-agent': 'test/1',
      connection: 'close',
      ...(sent.body === undefined ? {} : type),
      ...sent.headers,
    },
    createConnection: () => carried,
  });
  message.end(sent.body);
  const [response] = await once(message, 'response');
  let body = '';
  for await (const text of response.setEncoding('utf8')) body += text;
  return { status: response.statusCode, headers: response.headers, body };
}

function secured(socket: Socket, ...protocols: string[]): TLSSocket {
  const more = protocols.length === 0 ? {} : { ALPNProtocols: protocols };
  return connectTls({ socket, servername: 'shop.test', rejectUnauthorized: false, ...more });
}

/** One turn of each worker, and more. */
const TURNS = Array.from({ length: 2 * WORKERS }, (_, at) => at + 1);

describe('a PROXY header', () => {
  test.each([
    ['version 1', VERSION_1, '203.0.113.9', '198.51.100.7'],
    ['version 1 with IPv6', VERSION_1, '2001:db8::9', '2001:db9::9'],
    ['version 2', VERSION_2, '203.0.113.9', '198.51.100.7'],
  ])('of %s says to every worker whom rules see', async (_, header, shut, other) => {
    for (const turn of TURNS) {
      const { status } = await askProxied('/shut', { from: shut, header });
      expect([turn, status]).toEqual([turn, 403]);
      const open = await askProxied('/shut', { from: other, header });
      expect([turn, open.status, JSON.parse(open.body)]).toEqual([turn, 200, { for: other }]);
    }
  });

  test('comes before TLS', requires(OPENSSL_MISSING), async () => {
    for (const header of [VERSION_1, VERSION_2]) {
      for (const turn of TURNS) {
        const { status } = await askProxied('/shut', { from: '203.0.113.9', header, secure: true });
        const open = await askProxied('/shut', { from: '198.51.100.7', header, secure: true });
        expect([turn, status, open.status]).toEqual([turn, 403, 200]);
      }
    }
  });

  test('is accepted from configured proxies only', async () => {
    const answer = await ask({
      port: node.port,
      path: '/shut',
      headers: { 'x-forwarded-for': '203.0.113.9' },
    });
    expect(answer.status).toBe(200);
    const socket = connect({ host: '127.0.0.1', port: node.port, localAddress: ADDRESSES[0] });
    socket.end(`${VERSION_1('198.51.100.7')}GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });
});

test('every worker serves HTTP/2', requires(OPENSSL_MISSING), async () => {
  const before = await node.metric('edgeplan_node_requests_total{action="forward",status="2xx"}');
  for (const from of ADDRESSES) {
    const socket = connect({ host: '127.0.0.1', port: node.tlsPort!, localAddress: from });
    const client = connectHttp2('https://shop.test', { createConnection: () => secured(socket, 'h2') });
    const answers = ['/a', '/b', '/c'].map(async (path) => {
      const stream = client.request({ ':path': path });
      const [headers] = await once(stream, 'response');
      let body = '';
      for await (const text of stream.setEncoding('utf8')) body += text;
      return [headers[':status'], JSON.parse(body).for];
    });
    expect([from, ...(await Promise.all(answers))]).toEqual([from, [200, from], [200, from], [200, from]]);
    client.close();
  }
  const after = await node.metric('edgeplan_node_requests_total{action="forward",status="2xx"}');
  expect(after - before).toBe(3 * ADDRESSES.length);
});

test('every worker forwards WebSockets', async () => {
  const lines = ['GET /ws HTTP/1.1', 'Host: shop.test', 'Upgrade: websocket', 'Connection: Upgrade'];
  const handshake = [...lines, 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13', '\r\n'].join('\r\n');
  /** `Hello`, masked (RFC 6455 §5.7). */
  const frame = Buffer.from([0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
  for (const from of ADDRESSES) {
    const socket = connect({ host: '127.0.0.1', port: node.port, localAddress: from });
    socket.write(handshake);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
    socket.write(frame);
    const [echo] = (await once(socket, 'data')) as [Buffer];
    expect(echo).toEqual(frame);
    socket.destroy();
  }
});

test('a challenge of one worker can be solved at another, and all workers accept its clearance', async () => {
  const visitor = { from: '198.51.100.50' };
  const ask = (headers: Readonly<Record<string, string>>): Promise<Answered> =>
    askProxied('/members/a', { ...visitor, headers });
  const html = { accept: 'text/html' };
  const page = await ask(html);
  expect(page.status).toBe(403);
  const proof = await solve(page);
  const body = new URLSearchParams({ proof, back: '/members/a' }).toString();
  const handed = await askProxied('/.well-known/edgeplan/proof', { ...visitor, body });
  expect([handed.status, handed.headers['location']]).toEqual([303, '/members/a']);
  const cookie = handed.headers['set-cookie']![0]!.split(';', 1)[0]!;
  for (const turn of TURNS) {
    expect([turn, (await ask({ ...html, cookie })).status, (await ask(html)).status]).toEqual([
      turn,
      200,
      403,
    ]);
  }
});

test('a purge reaches the cache of every worker', { timeout: 240_000 }, async () => {
  const texts = async (): Promise<ReadonlySet<string>> =>
    new Set((await askFromAll(node.port, '/cached')).map(({ text }) => text));
  for (const _ of TURNS) expect(await texts()).toEqual(new Set(['version 1']));
  // What arrives before the first answer is there is fetched together; each worker keeps its own.
  const kept = fetched;
  version = 2;
  expect(await texts()).toEqual(new Set(['version 1']));
  expect(fetched).toBe(kept);
  expect((await house.call('DELETE', '/domains/shop.test/cache/')).status).toBe(200);
  await until(async () => (await texts()).has('version 2'), 'the purge', PATIENCE_MS);
  await until(async () => !(await texts()).has('version 1'), 'the purge at every worker', PATIENCE_MS);
  const again = fetched;
  expect(await texts()).toEqual(new Set(['version 2']));
  expect(fetched).toBe(again);
});

/** How a body that the origin streams comes to its end; `begins` is called once its beginning is here. */
async function streamed(from: string, begins: () => void): Promise<'whole' | 'cut'> {
  const { port } = node;
  const message = request({
    host: '127.0.0.1',
    port,
    path: '/stream',
    headers: { host: 'shop.test' },
    localAddress: from,
    agent: false,
  });
  message.end();
  const [response] = await once(message, 'response');
  let body = '';
  try {
    for await (const text of response.setEncoding('utf8')) {
      if (body === '') begins();
      body += text;
    }
  } catch {
    expect(body).toBe('begun');
    return 'cut';
  }
  expect([body, response.complete]).toEqual(['begun and ended', true]);
  return 'whole';
}

test(`a body that a worker's death truncates is not a complete response, and no other response is truncated`, {
  ...requires(NO_CHILDREN),
  timeout: 240_000,
}, async () => {
  const ends: string[] = [];
  let begun = 0;
  const all = ADDRESSES.map(async (from) => void ends.push(await streamed(from, () => void begun++)));
  // Not only sent by the origin: what a dead worker had not passed on would be no answer at all.
  await until(() => begun === ADDRESSES.length, 'the bodies', PATIENCE_MS);
  const [victim, ...others] = node.workers();
  process.kill(victim!, 'SIGKILL');
  await node.said(/worker \d ended \(SIGKILL\); another one starts at once/);
  // The origin is left too, and nothing goes on for nobody.
  await until(
    () => streams.size === ADDRESSES.length - ends.length && ends.length > 0,
    'the cut',
    PATIENCE_MS,
  );
  for (const stream of streams) stream.end(' and ended');
  await Promise.all(all);
  const cut = ends.filter((end) => end === 'cut').length;
  expect(cut).toBeGreaterThan(0);
  expect(cut).toBeLessThan(ADDRESSES.length);
  await node.said(/worker \d serves again/);
  expect(node.workers()).toEqual(expect.arrayContaining(others));
  const after = await askFromAll(node.port, '/after');
  expect(new Set(after.map(({ status }) => status))).toEqual(new Set([200]));
});
