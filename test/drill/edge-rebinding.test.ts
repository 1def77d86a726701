/**
 * Origins' names whose DNS changes its mind, before a node as operators run it: whatever the DNS says, and however often
 * it says something else, no connection reaches an address that the operator did not allow.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Answer as DnsAnswer } from 'dns-packet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { NXDOMAIN, type Script, type ScriptedServer, startDnsServer } from '../support/dns-server.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { until } from '../support/publish-setup.ts';
import { type Asked, type RawOrigin, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import { type Served, serve } from '../support/served.ts';
import { startTlsOrigin } from '../support/tls-origin.ts';
import { ask, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 60_000;
/** The one address that the operator allows, and where good origins listen. */
const ALLOWED = '127.0.0.2';
const SWITCHING =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nswitched';
/** Seconds that the DNS lets each origin's name be believed: it has one of each. */
const TTLS = [0, 1] as const;
const HAS_IPV6 = Object.values(networkInterfaces()).some((bound) =>
  bound?.some(({ address }) => address === '::1'),
);

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-rebinding-'));
const log = join(folder, 'decisions.jsonl');
const clean: (() => unknown)[] = [];
let dns: ScriptedServer;
let served: Served;
let node: WorkerNode;
/** What no visitor may reach: they count connections. */
const traps: RawOrigin[] = [];

/** Ports at which both a trap and a good origin listen, at their own addresses. */
const ports = { http: 0, https: 0 };

beforeAll(async () => {
  await builtCli();
  dns = await startDnsServer('127.0.0.1', 0, () => ({ rcode: NXDOMAIN }));
  tell(BAD[0]!);
  clean.push(() => dns.stop());
  ports.http = await startTraps();
  ports.https = await startTraps();
  await startGood(ports.http);
  await startGoodTls(ports.https);
  served = await serve();
  clean.push(() => served.stop());
  await startGood(served.port);
  await served.domain('shop.test');
  const wildcard = { name: '*', type: 'A', destination: ALLOWED, scheme: 'Http', port: ports.http };
  await write('records/', { ...wildcard, proxied: true });
  for (const way of WAYS) for (const ttl of TTLS) await way.write(hostOf(way, ttl), nameOf(way, ttl));
  const options = ['--log', log, '--log-rate', '1', '--any-certificate', '--cache-memory', '0'];
  node = await startNode(options, ALLOWED);
  await until(async () => (await get(ALONE[0]!)) !== '421', 'the plan', PATIENCE_MS);
}, 120_000);
afterAll(async () => {
  for (const one of clean.splice(0).reverse()) await one();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Listens on every other address of this machine that a rebound name may lead to. @returns the port */
async function startTraps(): Promise<number> {
  const trap = await startRawOrigin(({ socket }) => void socket.end(answerOf('inside')));
  const others = HAS_IPV6 ? ['::1'] : [];
  const there = others.map((address) =>
    startRawOrigin(({ socket }) => void socket.end(answerOf('inside')), { port: trap.port, address }),
  );
  for (const one of [trap, ...(await Promise.all(there))]) {
    traps.push(one);
    clean.push(one.close);
  }
  return trap.port;
}

function answerOf(body: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

async function startGood(port: number): Promise<void> {
  const origin = await startRawOrigin(answerWell, { port, address: ALLOWED });
  clean.push(origin.close);
}

/** Leaves connections open, which the node uses again. */
function answerWell({ path, socket }: Asked): void {
  if (path === '/redirect') {
    const location = `http://127.0.0.1:${ports.http}/inside`;
    socket.write(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
  } else if (path === '/ws') socket.end(SWITCHING);
  else socket.write(answerOf('good'));
}

async function startGoodTls(port: number): Promise<void> {
  if (OPENSSL_MISSING !== null) return;
  const { server, close } = await startTlsOrigin('origin.test', {
    answer: (_, response) => response.end('good'),
    listen: { port, host: ALLOWED },
  });
  server.on('upgrade', (_: unknown, socket: Duplex) => void socket.end(SWITCHING));
  clean.push(close);
}

async function write(path: string, body: object): Promise<void> {
  const answer = await served.call('POST', `/domains/shop.test/${path}`, body);
  expect(answer).toMatchObject({ status: 200 });
}

async function startNode(more: readonly string[], allowOrigins: string): Promise<WorkerNode> {
  const data = mkdtempSync(join(folder, 'node-'));
  const env = await served.node(basename(data).toLowerCase());
  const args = ['--control', served.url, '--resolver', `127.0.0.1:${dns.port}`, '--data', data, ...more];
  const started = await startWorkerNode(args, { cwd: folder, env, allowOrigins });
  clean.push(() => {
    started.signal('SIGTERM');
    return started.ended;
  });
  return started;
}

/** A way by which a request comes to an origin that is known by name. */
interface Way {
  readonly label: string;
  /** Writes what sends the host to the name. */
  write(host: string, name: string): Promise<void>;
  /** It has another origin, so that visitors notice nothing. */
  readonly shared?: boolean;
}

const record =
  (type: string, scheme: string, port: () => number): Way['write'] =>
  (host, destination) =>
    write('records/', { name: `${host}.`, type, destination, proxied: true, scheme, port: port() });

const rule =
  (slug: string, fields: (name: string) => object): Way['write'] =>
  (host, name) =>
    write(`rules/${slug}/`, { host_match_type: 'exact', host_includes: [host], ...fields(name) });

/** Each origin is probed every second, at a path that leads elsewhere. */
const pool = (origins: readonly object[]): object => ({
  origins: origins.map((origin) => ({ port: ports.http, scheme: 'http', ...origin })),
  health_check: {
    enabled: true,
    path: '/redirect',
    interval_sec: 1,
    unhealthy_threshold: 1,
    healthy_threshold: 1,
  },
});

const http = (): number => ports.http;
const https = (): number => ports.https;
const TLS_WAYS: readonly Way[] = [
  { label: 'https', write: record('CNAME', 'Https', https) },
  { label: 'auto-https', write: record('CNAME', 'Auto', https) },
];
const WAYS: readonly Way[] = [
  { label: 'cname', write: record('CNAME', 'Http', http) },
  { label: 'alias', write: record('ALIAS', 'Http', http) },
  { label: 'auto', write: record('CNAME', 'Auto', http) },
  ...(OPENSSL_MISSING === null ? TLS_WAYS : []),
  // The port of the management API, whose other address has a good origin.
  { label: 'api', write: record('CNAME', 'Http', () => served.port) },
  {
    label: 'route',
    write: rule('origin_route', (address) => ({ address, port: ports.http, scheme: 'http' })),
  },
  { label: 'pool', write: rule('origin_pool', (address) => pool([{ address }])) },
  {
    label: 'shared-pool',
    write: rule('origin_pool', (address) => pool([{ address }, { address: ALLOWED }])),
    shared: true,
  },
  {
    label: 'bot-route',
    write: rule('bot-route', (alt_dest) => ({
      bot_kinds: ['*'],
      action: 'alt_origin',
      alt_dest,
      alt_port: ports.http,
      alt_scheme: 'http',
    })),
  },
];

const hostOf = ({ label }: Way, ttl: number): string => `${label}-${ttl}.shop.test`;
const nameOf = ({ label }: Way, ttl: number): string => `${label}-${ttl}.origin.test`;
const HOSTS = WAYS.flatMap((way) => TTLS.map((ttl) => ({ host: hostOf(way, ttl), shared: way.shared })));
/** Hosts that the name's addresses alone decide about. */
const ALONE = HOSTS.filter(({ shared }) => shared !== true).map(({ host }) => host);
const SHARED = HOSTS.filter(({ shared }) => shared === true).map(({ host }) => host);

/** Every visitor is a bot to the rule for bots. */
const AGENT = 'GPTBot/1.2';

async function get(host: string, { port } = node): Promise<string> {
  const { status, text } = await ask({ port, path: '/', headers: { host, 'user-agent': AGENT } });
  return status === 200 ? `200 ${text}` : String(status);
}

async function upgrade(host: string, { port } = node): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  const text = textOf(socket);
  const head = `Host: ${host}\r\nUser-Agent: ${AGENT}\r\nConnection: Upgrade\r\nUpgrade: websocket`;
  socket.write(`GET /ws HTTP/1.1\r\n${head}\r\n\r\n`);
  return statusesOf(await text)[0] ?? 0;
}

/** What the DNS says of an origin's name. */
interface Said {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** The name that it is another name of, which has the addresses. */
  readonly cname?: string;
}

/** A script that says the same of all origins' names, each to be believed for as long as its own name says. */
function saying(said: (name: string, type: string) => Said): Script {
  return ({ name, type }) => {
    const ttl = Number(/-(\d)\.origin\.test$/.exec(name)?.[1]);
    if (Number.isNaN(ttl)) return { rcode: NXDOMAIN };
    const { a = [], aaaa = [], cname } = said(name, type);
    const owner = cname ?? name;
    const answers: DnsAnswer[] = cname === undefined ? [] : [{ type: 'CNAME', name, ttl, data: cname }];
    if (type === 'A') answers.push(...a.map((data) => ({ type: 'A', name: owner, ttl, data }) as const));
    if (type === 'AAAA')
      answers.push(...aaaa.map((data) => ({ type: 'AAAA', name: owner, ttl, data }) as const));
    return { answers };
  };
}

function tell(said: Said): void {
  dns.tell(saying(() => said));
}

const GOOD: Said = { a: [ALLOWED] };
/** The last ones have no address, which is believed for longer. */
const BAD: readonly Said[] = [
  { a: ['127.0.0.1'] },
  { a: ['169.254.169.254'] },
  { aaaa: ['::1'], a: ['127.0.0.1'] },
  { aaaa: ['::ffff:127.0.0.1'], a: ['10.0.0.1'] },
  { aaaa: ['64:ff9b::7f00:1', '::'], a: ['127.0.0.3'] },
  { a: ['10.0.0.1'] },
  { a: ['0.0.0.0', '127.0.0.1'] },
  { cname: 'localhost', a: ['127.0.0.1'], aaaa: ['::1'] },
];
const NOWHERE: Said = { cname: 'localhost' };
/** A good address beside bad ones. */
const MIXED: readonly Said[] = [
  { a: ['127.0.0.1', ALLOWED, '169.254.169.254'] },
  { a: [ALLOWED], aaaa: ['::1', '::ffff:127.0.0.1'] },
  { cname: 'inside.origin.test', a: ['0.0.0.0', ALLOWED] },
];

function all<T>(hosts: readonly string[], work: (host: string) => Promise<T>): Promise<T[]> {
  return Promise.all(hosts.map(work));
}

/** Waits until every host is answered so. */
async function settle(hosts: readonly string[], answer: string, said: Said): Promise<void> {
  const what = `${answer} where the DNS says ${JSON.stringify(said)}`;
  await all(hosts, (host) =>
    until(async () => (await get(host)) === answer, `${host}: ${what}`, PATIENCE_MS),
  );
}

const GOOD_ANSWER = '200 good';

async function expectGood(hosts: readonly string[]): Promise<void> {
  expect(await all(hosts, (host) => get(host))).toEqual(hosts.map(() => GOOD_ANSWER));
}

/** Asks all hosts at once, a few times, and for WebSockets too. */
async function expectAll(hosts: readonly string[], answer: string, switched: number): Promise<void> {
  for (let count = 0; count < 2; count++) {
    const answers = await all(hosts, async (host) => [host, await get(host), await upgrade(host)]);
    expect(answers).toEqual(hosts.map((host) => [host, answer, switched]));
  }
}

/** Answers of the API to requests without a key, as visitors' would be. */
const STRAY = 'edgeplan_api_requests_total{method="GET",path="",status="401"}';

async function expectNobodyInside(): Promise<void> {
  expect(traps.map((trap) => trap.made())).toEqual(traps.map(() => 0));
  expect(await served.metric(STRAY)).toBeNaN();
}

/** Status and fault of each answer with a fault, of requests to a host. */
function faults(): ReadonlySet<string> {
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as { status: number; fault: string | null });
  return new Set(
    entries.filter(({ fault }) => fault !== null).map(({ status, fault }) => `${status} ${fault}`),
  );
}

describe('a name that is rebound', () => {
  test('a rebound name leads to allowed addresses only, by every way to an origin', {
    timeout: 120_000,
  }, async () => {
    for (const bad of BAD) {
      tell(bad);
      await settle(ALONE, '502', bad);
      await expectAll(ALONE, '502', 502);
      await expectGood(SHARED);
      await expectNobodyInside();
      tell(GOOD);
      await settle(ALONE, GOOD_ANSWER, GOOD);
      await expectAll(ALONE, GOOD_ANSWER, 101);
      await expectGood(SHARED);
    }
    expect(faults()).toEqual(new Set(['502 forbidden']));
    for (const mixed of MIXED) {
      tell(mixed);
      const asked = dns.queries.length;
      // Until all of them were asked for anew.
      await until(
        async () => {
          await expectAll(ALONE, GOOD_ANSWER, 101);
          await expectGood(SHARED);
          return new Set(dns.queries.slice(asked).map(({ name }) => name)).size >= HOSTS.length;
        },
        'the names to be asked for',
        PATIENCE_MS,
      );
    }
    tell(NOWHERE);
    await settle(ALONE, '502', NOWHERE);
    await expectAll(ALONE, '502', 502);
    await expectNobodyInside();
    await node.said(
      /the origin \S+ is refused: 127\.0\.0\.1 is a loopback address; --allow-origins 127\.0\.0\.1 /,
    );
    // What a visitor is answered says nothing of where the name leads.
    const headers = { host: ALONE[0]!, 'user-agent': AGENT };
    const refused = await ask({ port: node.port, path: '/', headers });
    expect(JSON.parse(refused.text)).toEqual({ error: expect.any(String), id: expect.any(String) });
    expect(refused.text).not.toMatch(/127\.|169\.|origin\.test|localhost/);
  });

  test('a name that is rebound between two queries leads to no other address', {
    timeout: 120_000,
  }, async () => {
    const counts = new Map<string, number>();
    const inTurns = [GOOD, BAD[0]!, MIXED[0]!, BAD[2]!];
    dns.tell(
      saying((name, type) => {
        const key = `${name} ${type}`;
        const count = counts.get(key) ?? 0;
        counts.set(key, count + 1);
        return inTurns[count % inTurns.length]!;
      }),
    );
    const seen = new Set<string>();
    const isEnough = (): boolean =>
      HOSTS.every(({ host }) => (counts.get(`${host.replace('shop', 'origin')} A`) ?? 0) > inTurns.length);
    while (!isEnough()) {
      for (const answer of await all(ALONE, (host) => get(host))) seen.add(answer);
      for (const status of await all(ALONE, (host) => upgrade(host))) seen.add(String(status));
      await expectGood(SHARED);
    }
    expect([...seen].sort()).toEqual(['101', GOOD_ANSWER, '502']);
    await expectNobodyInside();
  });

  test('the redirect of an origin is forwarded to the visitor and not followed', async () => {
    tell(GOOD);
    await settle(ALONE, GOOD_ANSWER, GOOD);
    const answer = await ask({ port: node.port, path: '/redirect', headers: { host: 'cname-0.shop.test' } });
    expect([answer.status, answer.headers.location]).toEqual([302, `http://127.0.0.1:${ports.http}/inside`]);
    await expectNobodyInside();
  });
});

describe.each(['1', '2'])('a node of %s processes', (workers) => {
  test('a node connects to none of its own listeners, whatever the operator allows', {
    timeout: 120_000,
  }, async () => {
    tell({ a: ['127.0.0.1', '127.0.0.3', '0.0.0.0'], aaaa: ['::1'] });
    const certificates = join(folder, `certificates-${workers}`);
    const [cert, key] = [join(certificates, 'shop.test.crt'), join(certificates, 'shop.test.key')];
    if (OPENSSL_MISSING === null) await makeCertificate({ names: ['shop.test'], cert, key });
    const tls = OPENSSL_MISSING === null ? ['--certificates', certificates, '--tls-port', '0'] : [];
    const own = await startNode(
      [...tls, '--workers', workers, '--any-certificate'],
      '127.0.0.0/8,0.0.0.0,::1',
    );
    const route = (label: string, port: number, scheme: string): Promise<void> =>
      rule('origin_route', (address) => ({ address, port, scheme }))(
        `${label}-${workers}.shop.test`,
        `${label}-0.origin.test`,
      );
    const listeners: readonly (readonly [string, number, string])[] = [
      ['own-http', own.port, 'http'],
      ['own-operators', Number(new URL(own.operations).port), 'http'],
      ...(own.tlsPort === null ? [] : [['own-https', own.tlsPort, 'https'] as const]),
    ];
    for (const [label, port, scheme] of listeners) await route(label, port, scheme);
    // Not `api`: a record serves `api-1.shop.test` already, before the rules arrive.
    await route('own-api', served.port, 'http');
    const before = Number(await served.metric(STRAY)) || 0;
    const apiHost = `own-api-${workers}.shop.test`;
    await until(async () => (await get(apiHost, own)) === '401', 'the API, which is allowed', PATIENCE_MS);
    expect(await served.metric(STRAY)).toBeGreaterThan(before);
    for (const [label] of listeners) {
      const host = `${label}-${workers}.shop.test`;
      expect([host, await get(host, own), await upgrade(host, own)]).toEqual([host, '502', 502]);
    }
    await own.said(/ port \d+ is a listener of this node; no option allows it/);
  });
});
