/** What a trusted proxy says of its visitors over TLS of its own, and what of its connection is not theirs. */
import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestLogEntry } from '../../src/proxy/log/request-log.ts';
import { type Echo, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { say } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

const JA4 = /^t1[23]d/;

describe('behind a proxy', requires(OPENSSL_MISSING), () => {
  let believing: TlsNode;
  let doubting: TlsNode;
  beforeAll(async () => {
    believing = await startTlsNode({ names: ['shop.test'], trusted: ['127.0.0.1'] });
    doubting = await startTlsNode({ names: ['shop.test'] });
  });
  afterAll(() => Promise.all([believing.stop(), doubting.stop()]));

  async function ask(edge: TlsNode, proto: string | null): Promise<RequestLogEntry> {
    const options = {
      port: edge.port,
      host: '127.0.0.1',
      servername: 'shop.test',
      rejectUnauthorized: false,
    };
    const socket = connectTls(options);
    const told = proto === null ? '' : `X-Forwarded-Proto: ${proto}\r\n`;
    socket.write(
      `GET / HTTP/1.1\r\nHost: shop.test\r\n${told}X-Forwarded-For: 203.0.113.7\r\nConnection: close\r\n\r\n`,
    );
    socket.resume();
    await once(socket, 'close');
    return edge.entries.at(-1)!;
  }

  test.each([
    ['http', 'http', 80],
    ['HTTPS, http', 'http', 80],
    ['https', 'https', null],
    ['gopher', 'https', null],
    [null, 'https', null],
  ] as const)('whose visitors came by %s', async (proto, scheme, port) => {
    const { exchange, status } = await ask(believing, proto);
    expect(status).toBe(200);
    expect(exchange!.visitor).toMatchObject({ ip: '203.0.113.7', scheme, port: port ?? believing.port });
    expect(exchange!.request.scheme).toBe(scheme);
  });

  /** What the origin got of a request with these headers, over plain HTTP. */
  async function echoed(edge: TlsNode, headers: string): Promise<Echo> {
    const text = await say(
      edge.httpPort,
      `GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n${headers}\r\n`,
    );
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Echo;
  }

  test.each([
    ['one', '203.0.113.7', '203.0.113.7'],
    ['what others wrote before', '198.51.100.9, 203.0.113.7', '203.0.113.7'],
    ['a trusted one behind', '198.51.100.9, 203.0.113.7, 127.0.0.1', '203.0.113.7'],
    ['what is none', '198.51.100.9, unknown', '127.0.0.1'],
    ['what is none, before', 'unknown, 203.0.113.7', '203.0.113.7'],
    ['a port', '203.0.113.7:4711', '203.0.113.7'],
    ['none but trusted ones', '127.0.0.1, 127.0.0.1', '127.0.0.1'],
  ])('the visitor’s address is found in the header of a trusted proxy: %s', async (_what, told, ip) => {
    const { headers } = await echoed(believing, `X-Forwarded-For: ${told}\r\n`);
    expect(believing.entries.at(-1)!.exchange!.visitor.ip).toBe(ip);
    expect(headers['x-forwarded-for']).toBe(`${told}, 127.0.0.1`);
    expect(await echoed(doubting, `X-Forwarded-For: ${told}\r\n`)).toMatchObject({
      headers: { 'x-forwarded-for': '127.0.0.1' },
    });
    expect(doubting.entries.at(-1)!.exchange!.visitor.ip).toBe('127.0.0.1');
  });

  test('forwarding headers of untrusted clients reach no origin', async () => {
    const told = 'X-Real-IP: 192.0.2.1\r\nForwarded: for=192.0.2.1\r\nX-Forwarded-Host: other.test\r\n';
    const { headers } = await echoed(doubting, told);
    expect(Object.values(headers).join(' ')).not.toMatch(/192\.0\.2\.1|other\.test/);
    expect(headers.forwarded).toBe('for=127.0.0.1;host=shop.test;proto=http');
  });

  test('hop-by-hop headers reach no origin', async () => {
    const { headers } = await echoed(
      doubting,
      'Connection: X-Hop, close\r\nX-Hop: 1\r\nX-End: 2\r\nTE: trailers\r\n',
    );
    expect(headers).toMatchObject({ 'x-end': '2' });
    expect(headers).not.toHaveProperty('x-hop');
    expect(headers).not.toHaveProperty('te');
  });

  test('the fingerprint of a proxy is not that of its visitors', async () => {
    expect((await ask(believing, 'https')).exchange!.request.ja4 ?? null).toBeNull();
  });

  test('an untrusted client sets no scheme, and has its own fingerprint', async () => {
    const { exchange } = await ask(doubting, 'http');
    expect(exchange!.visitor).toMatchObject({ ip: '127.0.0.1', scheme: 'https', port: doubting.port });
    expect(exchange!.request.ja4).toMatch(JA4);
  });
});
