/** Which headers and methods of clients reach an origin, and what a cache must not learn from them. */
import { once } from 'node:events';
import { connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Echo, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { say, startRawOrigin, statusesOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { startWebSocketOrigin } from '../support/websocket-origin.ts';

/** Unkeyed inputs named in "Practical Web Cache Poisoning" (PortSwigger, 2018) and by the frameworks that read them. */
const UNKEYED = [
  'X-Forwarded-Scheme',
  'X-Forwarded-Prefix',
  'X-Forwarded-Host',
  'X-Forwarded-Server',
  'X-Forwarded-Port',
  'X-Forwarded-Path',
  'X-Forwarded',
  'X-Forward-For',
  'X-Host',
  'X-HTTP-Host-Override',
  'X-Original-URL',
  'X-Original-Host',
  'X-Rewrite-URL',
  'X-Real-IP',
  'True-Client-IP',
  'X-Client-IP',
  'CF-Connecting-IP',
  'CF-Visitor',
  'Fastly-Client-IP',
  'Fastly-SSL',
  'Front-End-Https',
  'X-ProxyUser-Ip',
  'Base-Url',
  'X-WAP-Profile',
  'X-Scheme',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'Proxy',
];

describe('headers', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  beforeAll(async () => {
    edge = await startTlsNode({ names: ['shop.test'] });
  });
  afterAll(() => edge.stop());

  async function echoed(line: string, method = 'GET'): Promise<Echo> {
    const head = `${method} / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\nContent-Length: 0\r\n${line}\r\n\r\n`;
    const text = await say(edge.httpPort, head);
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Echo;
  }

  test.each(UNKEYED)('the header %s of a visitor reaches no origin with a GET', async (name) => {
    expect(JSON.stringify((await echoed(`${name}: evil.test`)).headers)).not.toContain('evil.test');
  });

  test('a method override reaches the origin with a POST', async () => {
    const { headers } = await echoed('X-HTTP-Method-Override: PATCH', 'POST');
    expect(headers).toMatchObject({ 'x-http-method-override': 'PATCH' });
  });

  test.each(['X_Forwarded_For', 'X-Forwarded_Host', 'X_Edgeplan_Id', 'Content_Length', 'Transfer_Encoding'])(
    'a name that servers read as one of the edge’s own reaches no origin: %s',
    async (name) => {
      expect((await echoed(`${name}: 7`)).headers).not.toHaveProperty(name.toLowerCase());
    },
  );

  test('an id that a visitor sends is replaced by that of the request', async () => {
    const { headers } = await echoed('X-Edgeplan-Id: forged');
    expect(headers['x-edgeplan-id']).toBe(edge.entries.at(-1)!.id);
  });

  test('TRACE gets 405 with the allowed methods', async () => {
    const text = await say(edge.httpPort, 'TRACE / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    expect(statusesOf(text)).toEqual([405]);
    expect(text).toMatch(/^Allow: GET, HEAD/im);
  });

  test('a method in lower case is refused over both protocols', async () => {
    const text = await say(edge.httpPort, 'get / HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    expect(statusesOf(text)).toEqual([400]);
    const session = connect(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const stream = session.request({ ':method': 'get', ':authority': 'shop.test', ':path': '/' });
    const status = await new Promise((resolve, reject) => {
      stream.on('response', (headers) => resolve(headers[':status']));
      stream.on('error', reject);
      stream.end();
    });
    session.destroy();
    expect(status).toBe(400);
  });
});

describe('a record with `host_header`', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  beforeAll(async () => {
    const plan = { record: { host_header: 'internal.test' } };
    edge = await startTlsNode({ names: ['shop.test'], trusted: ['127.0.0.2'], plan });
  });
  afterAll(() => edge.stop());

  async function echoed(lines: string, from = '127.0.0.1'): Promise<Echo['headers']> {
    const socket = connectTcp({ port: edge.httpPort, host: '127.0.0.1', localAddress: from });
    socket.write(`GET / HTTP/1.1\r\nConnection: close\r\n${lines}\r\n`);
    let text = '';
    for await (const chunk of socket.setEncoding('utf8')) text += chunk;
    return (JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Echo).headers;
  }

  test.each(['shop.test', 'WWW.Shop.Test.'])(
    'sends the visitor’s host in X-Forwarded-Host: %s',
    async (host) => {
      const name = host.toLowerCase().replace(/\.$/, '');
      const headers = await echoed(`Host: ${host}\r\nX-Forwarded-Host: evil.test\r\n`);
      expect(headers).toMatchObject({
        host: 'internal.test',
        'x-forwarded-host': `${name}:${edge.httpPort}`,
      });
    },
  );

  test('sends it over HTTP/2, and with a WebSocket of either version', async () => {
    const origin = await startWebSocketOrigin();
    const plan = { record: { host_header: 'internal.test' } };
    const node = await startTlsNode({ names: ['shop.test'], originPort: origin.port, plan });
    const tcp = connectTcp(node.httpPort, '127.0.0.1');
    tcp.on('error', () => undefined);
    tcp.write(
      'GET /1 HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n',
    );
    const over1 = (await origin.next()).request.headers;
    expect(over1).toMatchObject({ host: 'internal.test', 'x-forwarded-host': `shop.test:${node.httpPort}` });
    const session = connect(`https://127.0.0.1:${node.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    await once(session, 'remoteSettings');
    const stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'https',
      ':path': '/2',
      ':authority': 'shop.test',
      'x-forwarded-host': 'evil.test',
    });
    stream.on('error', () => undefined);
    const over2 = (await origin.next()).request.headers;
    expect(over2).toMatchObject({ host: 'internal.test', 'x-forwarded-host': `shop.test:${node.port}` });
    session.destroy();
    tcp.destroy();
    await origin.close();
    await node.stop();
  });

  test('sends the host that a trusted proxy reports', async () => {
    const headers = await echoed('Host: shop.test\r\nX-Forwarded-Host: outer.test\r\n', '127.0.0.2');
    expect(headers).toMatchObject({ host: 'internal.test', 'x-forwarded-host': 'outer.test' });
  });

  test('sends no X-Forwarded-Host for a visitor of that host', async () => {
    const plain = await startTlsNode({ names: ['shop.test'] });
    const text = await say(plain.httpPort, 'GET / HTTP/1.1\r\nHost: SHOP.test\r\nConnection: close\r\n\r\n');
    await plain.stop();
    expect(text).not.toMatch(/x-forwarded-host/i);
  });
});

describe('the status line', requires(OPENSSL_MISSING), () => {
  test.each([
    ['299 Warm', '299 Warm'],
    ['200 Everything is fine', '200 Everything is fine'],
    ['404 ', '404 '],
    ['200 OK', '200 OK'],
    // Octets above ASCII have no meaning that all clients share.
    ['200 Gr\xfc\xdfe', '200 OK'],
  ])('of an origin that sends `%s` is `%s`', async (sent, arrived) => {
    const origin = await startRawOrigin(
      ({ socket }) =>
        void socket.write(Buffer.from(`HTTP/1.1 ${sent}\r\nContent-Length: 2\r\n\r\nok`, 'latin1')),
    );
    const edge = await startTlsNode({ names: ['shop.test'], originPort: origin.port });
    try {
      const text = await say(edge.httpPort, 'GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
      expect(text.slice(0, text.indexOf('\r\n'))).toBe(`HTTP/1.1 ${arrived}`);
      expect(text.endsWith('ok')).toBe(true);
    } finally {
      await edge.stop();
      await origin.close();
    }
  });
});
