/** Origins known by name: what a visitor gets while the DNS fails, and how soon what heals or moves is noticed. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { NAME_RECHECK_MS, ORIGIN_DNS_MS } from '../../src/edge/proxy/limits.ts';
import {
  a,
  fromTable,
  NXDOMAIN,
  type Script,
  type ScriptedServer,
  SERVFAIL,
  startDnsServer,
} from '../support/dns-server.ts';
import { type PlanParts, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type Asked, type RawOrigin, say, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { startTlsOrigin } from '../support/tls-origin.ts';
import { until } from '../support/until.ts';

const NAME = 'www.origin.test';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

let dns: ScriptedServer;
const clean: (() => unknown)[] = [];
beforeEach(async () => {
  dns = await startDnsServer('127.0.0.1', 0, () => ({ rcode: NXDOMAIN }));
});
afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
  await dns.stop();
});

async function startOrigin(
  answer: (asked: Asked) => void = ({ socket }) => void socket.write(OK),
  where: { readonly port?: number; readonly address?: string } = {},
): Promise<RawOrigin> {
  const origin = await startRawOrigin(answer, where);
  clean.push(origin.close);
  return origin;
}

/** A node whose hosts lead to names in the DNS. */
async function startNode(
  originPort: number,
  plan: PlanParts,
  more: { readonly anyCertificate?: boolean } = {},
): Promise<TlsNode> {
  const resolvers = [`127.0.0.1:${dns.port}`];
  const edge = await startTlsNode({ names: ['shop.test'], originPort, plan, resolvers, ...more });
  clean.push(() => edge.stop());
  clean.push(() => expect(edge.faults).toEqual([]));
  return edge;
}

const byName = (destination: string): PlanParts => ({ record: { type: 'CNAME', destination } });

async function ask({ httpPort }: TlsNode, path = '/', host = 'shop.test'): Promise<number> {
  const text = await say(httpPort, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return statusesOf(text)[0] ?? 0;
}

/** The milliseconds that something took. */
async function timed<T>(run: Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const began = performance.now();
  const value = await run;
  return { value, ms: performance.now() - began };
}

const silence: Script = () => null;
const failure: Script = () => ({ rcode: SERVFAIL });
const at = (...addresses: string[]): Script => fromTable({ [`${NAME} A`]: soon(...addresses) });

/** Records that are believed as briefly as any. */
function soon(...addresses: string[]) {
  return a(NAME, ...addresses).map((answer) => ({ ...answer, ttl: 0 }));
}

describe(`an origin's name`, requires(OPENSSL_MISSING), () => {
  test('an unknown name causes 502 at once and one DNS query, and 200 once it exists', async () => {
    const origin = await startOrigin();
    const edge = await startNode(origin.port, byName(NAME));
    const { value, ms } = await timed(Promise.all(Array.from({ length: 20 }, () => ask(edge))));
    expect(new Set(value)).toEqual(new Set([502]));
    expect(ms).toBeLessThan(ORIGIN_DNS_MS);
    expect(new Set(edge.entries.map(({ fault }) => fault))).toEqual(new Set(['unresolved']));
    expect(dns.queries.filter(({ type }) => type === 'A')).toHaveLength(1);
    dns.tell(at('127.0.0.1'));
    await expect.poll(() => ask(edge), { timeout: NAME_RECHECK_MS + 2_000 }).toBe(200);
  });

  test('silent DNS servers cause 502 in time, do not delay other names, and 200 follows once they answer', async () => {
    const origin = await startOrigin();
    const record = { type: 'CNAME', destination: NAME };
    const edge = await startNode(origin.port, { record });
    const origins = (address: string) => [{ address, port: origin.port, scheme: 'http' }];
    const rules = Array.from({ length: 12 }, (_, index) => ({
      id: index + 1,
      type: 'origin_pool',
      host_match_type: 'exact',
      host_includes: [`h${index}.shop.test`],
      origins: origins(index === 0 ? NAME : `silent-${index}.origin.test`),
    }));
    const many = await startNode(origin.port, { record, rules });
    dns.tell((query) => (query.name === NAME ? at('127.0.0.1')(query) : null));
    const silent = Promise.all(
      rules.slice(1).map((_, index) => timed(ask(many, '/', `h${index + 1}.shop.test`))),
    );
    const { value, ms } = await timed(ask(many, '/', 'h0.shop.test'));
    expect(value).toBe(200);
    expect(ms).toBeLessThan(ORIGIN_DNS_MS);
    for (const answer of await silent) {
      expect(answer.value).toBe(502);
      expect(answer.ms).toBeLessThan(2 * ORIGIN_DNS_MS);
    }
    dns.tell(silence);
    expect(await ask(edge)).toBe(502);
    dns.tell(at('127.0.0.1'));
    await expect.poll(() => ask(edge), { timeout: NAME_RECHECK_MS + 2_000 }).toBe(200);
  });

  test('stale addresses are used while the DNS fails, and not after the name is deleted', async () => {
    const origin = await startOrigin(({ socket }) => void socket.end(OK));
    dns.tell(at('127.0.0.1'));
    const edge = await startNode(origin.port, byName(NAME));
    expect(await ask(edge)).toBe(200);
    for (const script of [failure, silence]) {
      dns.tell(script);
      const asked = dns.queries.length;
      await until(
        async () => {
          expect(await ask(edge)).toBe(200);
          return dns.queries.length > asked + 1;
        },
        'the DNS is asked again and fails',
        NAME_RECHECK_MS + 5_000,
      );
      const { value, ms } = await timed(ask(edge));
      expect([value, ms < 1_000]).toEqual([200, true]);
    }
    dns.tell(() => ({ rcode: NXDOMAIN }));
    await expect.poll(() => ask(edge), { timeout: 2 * NAME_RECHECK_MS }).toBe(502);
  });

  test('requests follow a name to new addresses, and none is lost', async () => {
    const held: Asked[] = [];
    const before = await startOrigin((asked) => {
      if (asked.path === '/held') held.push(asked);
      else asked.socket.write(OK);
    });
    const after = await startOrigin(undefined, { port: before.port, address: '127.0.0.2' });
    dns.tell(at('127.0.0.1'));
    const edge = await startNode(before.port, byName(NAME));
    const pending = ask(edge, '/held');
    await until(() => held.length === 1, 'the origin is asked');
    expect(await ask(edge)).toBe(200);
    dns.tell(at('127.0.0.2'));
    const statuses: number[] = [];
    await until(async () => {
      statuses.push(await ask(edge));
      return after.seen.length >= 3;
    }, 'requests arrive where the name points now');
    expect(new Set(statuses)).toEqual(new Set([200]));
    const left = before.seen.length;
    expect([await ask(edge), before.seen.length]).toEqual([200, left]);
    held[0]!.socket.write(OK);
    expect(await pending).toBe(200);
    await until(() => before.open.size === 0, 'the old place is left');
  });

  test('connections use the addresses of a name by round robin', async () => {
    const first = await startOrigin(({ socket }) => void socket.end(OK));
    const others = [];
    for (const address of ['127.0.0.2', '127.0.0.3']) {
      const answer = ({ socket }: Asked): void => void socket.end(OK);
      others.push(await startOrigin(answer, { port: first.port, address }));
    }
    dns.tell(at('127.0.0.1', '127.0.0.2', '127.0.0.3'));
    const edge = await startNode(first.port, byName(NAME));
    for (let count = 0; count < 9; count++) expect(await ask(edge)).toBe(200);
    expect([first, ...others].map(({ seen }) => seen.length)).toEqual([3, 3, 3]);
  });

  test('an unresolved origin of a pool is skipped and ejected for a while', async () => {
    const good = await startOrigin();
    const origins = [
      { address: NAME, port: good.port, scheme: 'http' },
      { address: '127.0.0.1', port: good.port, scheme: 'http' },
    ];
    const edge = await startNode(good.port, { rules: [{ id: 1, type: 'origin_pool', origins }] });
    for (let count = 0; count < 12; count++) expect(await ask(edge)).toBe(200);
    expect(edge.node.origins.down()).toBe(1);
  });

  test('the scheme of a name is probed again after a failed lookup', async () => {
    /** What each connection began with: 22 is a TLS handshake. */
    const began: (number | undefined)[] = [];
    const origin = createServer((socket) => {
      socket.once('data', (octets) => {
        began.push(octets[0]);
        socket.destroy();
      });
      socket.on('error', () => undefined);
    });
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    clean.push(() => origin.close());
    const { port } = origin.address() as AddressInfo;
    const record = { type: 'CNAME', destination: NAME, scheme: 'Auto' };
    const edge = await startNode(port, { record });
    expect(await ask(edge)).toBe(502);
    dns.tell(at('127.0.0.1'));
    await until(async () => {
      await ask(edge);
      return began.length > 0;
    }, 'the origin is asked');
    expect(began[0]).toBe(22);
  });

  test('an origin of TLS whose name was unknown at first gets no request in clear text', async () => {
    const { server, port, close } = await startTlsOrigin(NAME);
    clean.push(close);
    const codes: (string | undefined)[] = [];
    server.on('tlsClientError', ({ code }: NodeJS.ErrnoException) => void codes.push(code));
    const record = { type: 'CNAME', destination: NAME, scheme: 'Auto' };
    const edge = await startNode(port, { record }, { anyCertificate: true });
    expect([await ask(edge), await ask(edge)]).toEqual([502, 502]);
    dns.tell(at('127.0.0.1'));
    await until(async () => (await ask(edge)) === 200, 'the origin is asked');
    expect(codes).not.toContain('ERR_SSL_HTTP_REQUEST');
    expect(edge.entries.map(({ fault }) => fault)).not.toContain('reset');
  });

  test('an origin of TLS that was down during the probe gets no request in clear text', async () => {
    dns.tell(at('127.0.0.1'));
    const { port, close } = await startTlsOrigin(NAME);
    close();
    const record = { type: 'CNAME', destination: NAME, scheme: 'Auto' };
    const edge = await startNode(port, { record }, { anyCertificate: true });
    expect(await ask(edge)).toBe(502);
    const again = await startTlsOrigin(NAME, { listen: { port, host: '127.0.0.1' } });
    clean.push(again.close);
    const codes: (string | undefined)[] = [];
    again.server.on('tlsClientError', ({ code }: NodeJS.ErrnoException) => void codes.push(code));
    expect(await ask(edge)).toBe(200);
    expect(codes).not.toContain('ERR_SSL_HTTP_REQUEST');
    expect(edge.entries.map(({ fault }) => fault)).toEqual(['refused', null]);
  });

  test('a WebSocket to an unknown name gets 502', async () => {
    const edge = await startNode(1, byName(NAME));
    const socket = connect(edge.httpPort, '127.0.0.1');
    const text = textOf(socket);
    socket.write('GET /ws HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    expect(statusesOf(await text)).toEqual([502]);
  });
});
