/** What a trusted proxy says of its visitors over TLS of its own, and what of its connection is not theirs. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
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
    ['wss', 'https', null],
    ['ws', 'http', 80],
    ['"https"', 'https', null],
    ['https,', 'https', null],
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
    ['what is none, before', 'unknown, 203.0.113.7', '203.0.113.7'],
    ['a port', '203.0.113.7:4711', '203.0.113.7'],
    ['an obfuscated port', '203.0.113.7:_web', '203.0.113.7'],
    ['quotes', '"203.0.113.7"', '203.0.113.7'],
    ['IPv6 in quotes with a port', '"[2001:db8::7]:443"', '2001:db8::7'],
    ['IPv6 in brackets', '[2001:DB8:0::7]', '2001:db8::7'],
    ['an IPv4-mapped one', '::ffff:203.0.113.7', '203.0.113.7'],
    ['an IPv4-mapped one in hexadecimal', '::ffff:cb00:7107', '203.0.113.7'],
    ['an IPv4-mapped proxy behind', '203.0.113.7, ::ffff:7f00:1', '203.0.113.7'],
    ['none but trusted ones', '127.0.0.1, 127.0.0.1', '127.0.0.1'],
    ...[
      ...['unknown', '198.51.100.9, unknown', '_hidden', 'unix:', '010.0.0.1', '203.0.113', 'fe80::1%eth0'],
      ...[
        '203.0.113.7:',
        '203.0.113.7:http',
        '[203.0.113.7]',
        '[2001:db8::7',
        '[2001:db8::7]443',
        '2001:db8::7]',
      ],
      ...['"203.0.113.7', '203.0.113.7;for=127.0.0.1', '198.51.100.9, unknown, 127.0.0.1'],
    ].map((text) => [`no address, ${text}`, text, null] as [string, string, string | null]),
  ] satisfies readonly (readonly [string, string, string | null])[])(
    'the visitor’s address is found in the header of a trusted proxy: %s',
    async (_what, told, ip) => {
      const { headers } = await echoed(believing, `X-Forwarded-For: ${told}\r\n`);
      expect(believing.entries.at(-1)!.exchange!.visitor.ip).toBe(ip);
      expect(headers['x-forwarded-for']).toBe(`${told}, 127.0.0.1`);
      expect(await echoed(doubting, `X-Forwarded-For: ${told}\r\n`)).toMatchObject({
        headers: { 'x-forwarded-for': '127.0.0.1' },
      });
      expect(doubting.entries.at(-1)!.exchange!.visitor.ip).toBe('127.0.0.1');
    },
  );

  test.each(['203.0.113.7,', '203.0.113.7, ,', ',', ''])(
    'a hop without a text is an unknown visitor, not the one before it: `%s`',
    async (text) => {
      const { headers } = await echoed(believing, `X-Forwarded-For: ${text}\r\n`);
      expect(believing.entries.at(-1)!.exchange!.visitor.ip).toBeNull();
      expect(headers['x-forwarded-for']).toMatch(/unknown, 127\.0\.0\.1$/);
      expect(headers.forwarded).toMatch(/for=unknown, for=127\.0\.0\.1;host=shop\.test;proto=http$/);
    },
  );

  test('two header lines are one list', async () => {
    await echoed(believing, 'X-Forwarded-For: 198.51.100.9\r\nX-Forwarded-For: 203.0.113.7\r\n');
    expect(believing.entries.at(-1)!.exchange!.visitor.ip).toBe('203.0.113.7');
  });

  test.each([
    ['both hops report it', '203.0.113.7, 127.0.0.1', 'https, http', 'https'],
    ['the first hop alone reports it', '203.0.113.7, 127.0.0.1', 'https', 'https'],
    ['the visitor wrote a list, too', '192.0.2.1, 203.0.113.7, 127.0.0.1', 'http, https, http', 'https'],
    ['the visitor wrote of one hop more', '203.0.113.7, 127.0.0.1', 'http, http, https', 'http'],
    ['the visitor is unknown', 'unknown, 127.0.0.1', 'https, http', 'https'],
  ])('the scheme is that of the visitor’s own hop: %s', async (_what, nodes, schemes, scheme) => {
    const { headers } = await echoed(
      believing,
      `X-Forwarded-For: ${nodes}\r\nX-Forwarded-Proto: ${schemes}\r\n`,
    );
    expect(believing.entries.at(-1)!.exchange!.visitor.scheme).toBe(scheme);
    expect(headers['x-forwarded-proto']).toBe(scheme);
  });

  test.each([
    ['a proxy of X-Forwarded-For', 'X-Forwarded-For: 203.0.113.7\r\n', '203.0.113.7'],
    [
      'a client’s own Forwarded beside it',
      'X-Forwarded-For: 203.0.113.7\r\nForwarded: for=192.0.2.1\r\n',
      '203.0.113.7',
    ],
    [
      'a client’s own Forwarded beside the scheme',
      'X-Forwarded-Proto: https\r\nForwarded: for=192.0.2.1\r\n',
      '127.0.0.1',
    ],
    ['a proxy of Forwarded', 'Forwarded: for=203.0.113.7;proto=https\r\n', '203.0.113.7'],
    ['IPv6 with a port', 'Forwarded: For="[2001:DB8::7]:_p";by=x\r\n', '2001:db8::7'],
    [
      'several hops',
      'Forwarded: for=192.0.2.1, for="203.0.113.7:1" ; proto=https, for=127.0.0.1\r\n',
      '203.0.113.7',
    ],
    [
      'separators in quotes',
      'Forwarded: for=203.0.113.7;host="a,b;for=192.0.2.1\\",for=192.0.2.2"\r\n',
      '203.0.113.7',
    ],
    ['no node', 'Forwarded: proto=https\r\n', null],
    ['an obfuscated node', 'Forwarded: for=_hidden\r\n', null],
    ['a quote that does not end', 'Forwarded: for="203.0.113.7\r\n', null],
  ])('Forwarded, X-Forwarded-For and the rules name one client: %s', async (_what, lines, ip) => {
    const { headers } = await echoed(believing, lines);
    expect(believing.entries.at(-1)!.exchange!.visitor.ip).toBe(ip);
    const nodes = headers['x-forwarded-for']!.split(', ');
    const elements = headers.forwarded!.split(', ').map((element) => element.replace(/;.*|for=|["[\]]/g, ''));
    expect(elements).toEqual(nodes);
    expect(nodes).toContain(ip ?? 'unknown');
    expect(headers.forwarded).toMatch(/for=127\.0\.0\.1;host=shop\.test;proto=https?$/);
  });

  test('over HTTP/2 the headers of a trusted proxy are read alike', async () => {
    const session = connectHttp2(`https://127.0.0.1:${believing.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const stream = session.request({
      ':authority': 'shop.test',
      'x-forwarded-for': ['203.0.113.7', '::ffff:7f00:1'],
      'x-forwarded-proto': ['wss', 'http'],
    });
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    session.destroy();
    expect(believing.entries.at(-1)!.exchange!.visitor).toMatchObject({ ip: '203.0.113.7', scheme: 'https' });
    expect((JSON.parse(text) as Echo).headers).toMatchObject({
      'x-forwarded-for': '203.0.113.7, ::ffff:7f00:1, 127.0.0.1',
      forwarded: 'for=203.0.113.7, for=127.0.0.1, for=127.0.0.1;host=shop.test;proto=https',
    });
  });

  test.each(['X-Real-IP', 'True-Client-IP', 'X-Client-IP', 'CF-Connecting-IP', 'Fastly-Client-IP'])(
    '%s of a trusted proxy reaches the origin if it names the visitor that the rules saw',
    async (name) => {
      const told = 'X-Forwarded-For: 192.0.2.1, 203.0.113.7\r\n';
      const lower = name.toLowerCase();
      const { headers } = await echoed(believing, `${told}${name}: 203.0.113.7\r\n`);
      expect(headers).toMatchObject({ [lower]: '203.0.113.7' });
      // What the client itself has sent through a proxy that sets another header.
      for (const forged of ['192.0.2.1', '127.0.0.1', '203.0.113.7, 192.0.2.1', 'unknown', '']) {
        const { headers: got } = await echoed(believing, `${told}${name}: ${forged}\r\n`);
        expect(got).not.toHaveProperty(lower);
      }
      const doubled = await echoed(believing, `${told}${name}: 203.0.113.7\r\n${name}: 192.0.2.1\r\n`);
      expect(doubled.headers[lower]).toBe('203.0.113.7');
      expect(
        await echoed(believing, `X-Forwarded-For: unknown\r\n${name}: 192.0.2.1\r\n`),
      ).not.toHaveProperty(`headers.${lower}`);
    },
  );

  test.each([
    'X_Forwarded_For',
    'x-Forwarded_FOR',
    'X.Forwarded.For',
    'X~Forwarded~For',
    'X.Forwarded-Host',
    'X.Real.IP',
    'Content.Length',
    'X.Original.URL',
  ])('an alias of a header that the edge sets reaches no origin: %s', async (name) => {
    for (const edge of [believing, doubting]) {
      const { headers } = await echoed(edge, `${name}: 192.0.2.1\r\nX.Own.Name: 1\r\n`);
      expect(JSON.stringify(headers)).not.toContain('192.0.2.1');
      expect(headers).toMatchObject({ 'x.own.name': '1' });
      expect(edge.entries.at(-1)!.exchange!.visitor.ip).toBe('127.0.0.1');
    }
  });

  test('what a trusted proxy reports of host, port and prefix passes once, as it was sent', async () => {
    const told = {
      'X-FORWARDED-HOST': 'outer.test, inner.test',
      'x-forwarded-port': '8443',
      'X-Forwarded-Prefix': '/shop',
    };
    const lines = Object.entries(told).map(([name, value]) => `${name}: ${value}\r\n`);
    const { headers } = await echoed(believing, lines.join(''));
    for (const [name, value] of Object.entries(told)) expect(headers[name.toLowerCase()]).toBe(value);
    for (const name of Object.keys(told)) {
      expect((await echoed(doubting, lines.join(''))).headers).not.toHaveProperty(name.toLowerCase());
    }
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
