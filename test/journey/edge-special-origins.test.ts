/** Origins at special addresses: nothing reaches this machine through any of them, unless the operator allows it. */
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OriginBounds } from '../../src/edge/proxy/origin/guard.ts';
import { a, fromTable, NXDOMAIN, type ScriptedServer, startDnsServer } from '../support/dns-server.ts';
import { type PlanParts, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type RawOrigin, say, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

const NAME = 'www.origin.test';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

let dns: ScriptedServer;
/** What no visitor may reach. */
let inside: RawOrigin;
let refused: string[];
const clean: (() => unknown)[] = [];
beforeEach(async () => {
  dns = await startDnsServer('127.0.0.1', 0, () => ({ rcode: NXDOMAIN }));
  inside = await startRawOrigin(({ socket }) => void socket.end(OK));
  refused = [];
});
afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
  await inside.close();
  await dns.stop();
});

async function startNode(plan: PlanParts, more: Partial<OriginBounds> = {}): Promise<TlsNode> {
  const edge = await startTlsNode({
    names: ['shop.test'],
    originPort: inside.port,
    plan,
    resolvers: [`127.0.0.1:${dns.port}`],
    originBounds: {
      allowed: { prefixes: [], local: false },
      ownPorts: new Set(),
      onRefused: (sentence) => void refused.push(sentence),
      ...more,
    },
  });
  clean.push(() => edge.stop());
  return edge;
}

const ALLOWED = { allowed: { prefixes: ['127.0.0.0/8'], local: false } };

async function ask({ httpPort }: TlsNode): Promise<number> {
  const text = await say(httpPort, 'GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
  return statusesOf(text)[0] ?? 0;
}

async function upgrade({ httpPort }: TlsNode): Promise<number> {
  const socket = connect(httpPort, '127.0.0.1');
  const text = textOf(socket);
  socket.write('GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  return statusesOf(await text)[0] ?? 0;
}

const byName = (destination: string, more = {}): PlanParts => ({
  record: { type: 'CNAME', destination, ...more },
});
const at = (...addresses: string[]) =>
  fromTable({ [`${NAME} A`]: a(NAME, ...addresses).map((answer) => ({ ...answer, ttl: 0 })) });
const route = (address: string): PlanParts => ({
  record: { destination: '1.1.1.1' },
  rules: [{ id: 1, type: 'origin_route', address, port: inside.port, scheme: 'http' }],
});
const pool = (address: string): PlanParts => ({
  record: { destination: '1.1.1.1' },
  rules: [
    {
      id: 1,
      type: 'origin_pool',
      origins: [
        { address, port: inside.port, scheme: 'http' },
        { address: '127.0.0.2', port: inside.port, scheme: 'http' },
      ],
      health_check: { enabled: true, interval_sec: 1 },
    },
  ],
});

const WAYS: readonly (readonly [string, () => PlanParts])[] = [
  ['a record', () => ({})],
  ['a record whose scheme is found out', () => ({ record: { scheme: 'Auto' } })],
  ['an IPv6 record', () => ({ record: { type: 'AAAA', destination: '::ffff:127.0.0.1' } })],
  ['a name', () => byName(NAME)],
  ['a name whose scheme is found out', () => byName(NAME, { scheme: 'Auto' })],
  ['a name of the table of hosts', () => route('localhost')],
  ['an origin_route', () => route('127.0.0.1')],
  ['a name of an origin_route', () => route(NAME)],
  ['a pool, its probes included', () => pool('127.0.0.1')],
  ['a name in a pool', () => pool(NAME)],
];

describe('a special origin', requires(OPENSSL_MISSING), () => {
  test.each(WAYS)(
    'a special origin gets no connection by way of %s, nor for a WebSocket',
    async (_, plan) => {
      dns.tell(at('127.0.0.1'));
      const edge = await startNode(plan());
      expect([await ask(edge), await upgrade(edge), inside.made()]).toEqual([502, 502, 0]);
      expect(edge.entries[0]?.fault).toBe('forbidden');
      expect(refused.join('\n')).toContain('--allow-origins 127.0.0.1');
    },
  );

  test('a special origin is used where the operator allows it, by address and by name', async () => {
    dns.tell(at('127.0.0.1'));
    for (const plan of [{}, byName(NAME), route(NAME)]) {
      const edge = await startNode(plan, ALLOWED);
      expect(await ask(edge)).toBe(200);
    }
    expect(refused).toEqual([]);
  });

  test("the node's own listener is no origin, whatever the operator allows", async () => {
    const edge = await startNode({}, { ...ALLOWED, ownPorts: new Set([inside.port]) });
    expect([await ask(edge), inside.made()]).toEqual([502, 0]);
    expect(refused.join('\n')).toContain('a listener of this node');
  });
});
