/** Requests to switch protocols: WebSockets, and wishes that are none of the node's (RFC 9110 §7.8). */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Echo, planOf, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type RawOrigin, say, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const HOST = 'Host: shop.test\r\n';
const WISH = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
const LAST = 'Connection: close\r\n';
const WEBSOCKET = `GET /ws HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n`;
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';

describe('a request with an Upgrade header', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  const closing: (() => unknown)[] = [];
  beforeEach(async () => {
    edge = await startTlsNode({ names: ['shop.test'] });
  });
  afterEach(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
    for (const close of closing.splice(0)) await close();
  });

  /** Puts another origin behind the node. */
  function lead(port: number): void {
    const bytes = planOf('shop.test', port);
    edge.node.plans.set('shop.test', {
      revision: 2,
      digest: 'e'.repeat(64),
      purgeEpoch: 0,
      read: () => bytes,
    });
  }

  async function rawOrigin(answer: Parameters<typeof startRawOrigin>[0]): Promise<RawOrigin> {
    const origin = await startRawOrigin(answer);
    closing.push(() => origin.close());
    lead(origin.port);
    return origin;
  }

  function echoesOf(text: string): readonly Echo[] {
    return text
      .split(/HTTP\/1\.1 200 OK\r\n(?:[^\r]+\r\n)*\r\n/)
      .slice(1)
      .map((body) => JSON.parse(body) as Echo);
  }

  describe('another protocol than WebSocket is ignored', () => {
    test.each([
      ['its length told', 'Content-Length: 5\r\n', 'hello'],
      ['in chunks', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
    ])('the body is forwarded, %s, and the next request is read', async (_, framing, body) => {
      const next = `GET /next HTTP/1.1\r\n${HOST}${LAST}\r\n`;
      const text = await say(edge.httpPort, `POST /a HTTP/1.1\r\n${HOST}${WISH}${framing}\r\n${body}${next}`);
      expect(statusesOf(text)).toEqual([200, 200]);
      const [first, second] = echoesOf(text.replaceAll(/\r\n(?=HTTP)/g, ''));
      expect([first!.method, first!.url, first!.body]).toEqual(['POST', '/a', 'hello']);
      expect(first!.headers).not.toHaveProperty('upgrade');
      expect(first!.headers).not.toHaveProperty('http2-settings');
      expect(second!.url).toBe('/next');
    });

    test('a body that arrives later is forwarded', async () => {
      const socket = connect(edge.httpPort, '127.0.0.1');
      const text = textOf(socket);
      socket.write(
        `POST /a HTTP/1.1\r\n${HOST}${WISH}Expect: 100-continue\r\nContent-Length: 400000\r\n\r\n`,
      );
      await once(socket, 'data');
      socket.write('x'.repeat(400_000));
      socket.write(`GET /next HTTP/1.1\r\n${HOST}${LAST}\r\n`);
      expect(statusesOf(await text)).toEqual([100, 200, 200]);
      expect(edge.entries.map(({ exchange }) => exchange!.request.target)).toEqual(['/a', '/next']);
    });

    test('a POST with a WebSocket upgrade is a plain POST', async () => {
      const wish = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
      const text = await say(
        edge.httpPort,
        `POST /a HTTP/1.0\r\n${HOST}${wish}Content-Length: 5\r\n\r\nhello`,
      );
      expect(text).toContain('"method":"POST","url":"/a"');
      expect(text).toContain('"body":"hello"');
    });

    test('the response arrives whole, with its headers', async () => {
      const fields = 'Location: /elsewhere\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n';
      const body = 'x'.repeat(200_000);
      await rawOrigin(({ socket }) =>
        socket.write(`HTTP/1.1 302 Found\r\n${fields}Content-Length: 200000\r\n\r\n${body}`),
      );
      const text = await say(
        edge.httpPort,
        `GET /a HTTP/1.1\r\n${HOST}${WISH}\r\nGET /b HTTP/1.1\r\n${HOST}${LAST}\r\n`,
      );
      expect(statusesOf(text)).toEqual([302, 302]);
      for (const line of fields.trimEnd().split('\r\n')) expect(text.split(line)).toHaveLength(3);
      expect(text.split(body)).toHaveLength(3);
    });

    test('pipelined responses arrive in order', async () => {
      const slow = `GET /slow HTTP/1.1\r\n${HOST}\r\n`;
      const wish = `GET /a HTTP/1.1\r\n${HOST}${WISH}\r\n`;
      const next = `GET /next HTTP/1.1\r\n${HOST}${LAST}\r\n`;
      const text = await say(edge.httpPort, slow + slow + wish + wish + next);
      expect([...text.matchAll(/"url":"([^"]+)"/g)].map(([, url]) => url)).toEqual([
        '/slow',
        '/slow',
        '/a',
        '/a',
        '/next',
      ]);
    });

    test('the facts of the connection apply to the request', async () => {
      const options = {
        port: edge.port,
        host: '127.0.0.1',
        servername: 'shop.test',
        rejectUnauthorized: false,
      };
      const socket = connectTls(options);
      const text = textOf(socket);
      socket.write(`GET /a HTTP/1.1\r\n${HOST}${WISH}\r\nGET /b HTTP/1.1\r\n${HOST}${LAST}\r\n`);
      expect(statusesOf(await text)).toEqual([200, 200]);
      for (const { exchange } of edge.entries) {
        expect(exchange!.visitor).toMatchObject({ scheme: 'https', serverName: 'shop.test' });
        expect(exchange!.request.ja4).toMatch(/^t13d/);
      }
    });

    test('the address from the PROXY protocol applies to the request', async () => {
      const behind = await startTlsNode({ names: ['shop.test'], proxies: ['127.0.0.1'] });
      closing.push(() => behind.stop());
      const proxied = connect(behind.httpPort, '127.0.0.1');
      const answer = textOf(proxied);
      proxied.write(
        `PROXY TCP4 198.51.100.9 203.0.113.1 1 2\r\nGET /c HTTP/1.1\r\n${HOST}${WISH}\r\nGET /d HTTP/1.1\r\n${HOST}${LAST}\r\n`,
      );
      expect(statusesOf(await answer)).toEqual([200, 200]);
      expect(behind.entries.map(({ exchange }) => exchange!.visitor.ip)).toEqual([
        '198.51.100.9',
        '198.51.100.9',
      ]);
    });

    test('too many headers are refused, since the framing of the body may be among them', async () => {
      const many = Array.from({ length: 300 }, (_, at) => `X-${at}: 1\r\n`).join('');
      const text = await say(
        edge.httpPort,
        `POST /a HTTP/1.1\r\n${HOST}${WISH}${many}Content-Length: 60\r\n\r\nGET /hidden HTTP/1.1\r\n${HOST}\r\n`,
      );
      expect(statusesOf(text)).toEqual([431]);
      expect(edge.entries.filter(({ exchange }) => exchange !== null)).toEqual([]);
    });
  });

  test('a reset while the origin is awaited affects no other client', async () => {
    const origin = await rawOrigin(() => undefined);
    for (const port of [edge.httpPort, edge.port]) {
      const before = origin.seen.length;
      const socket = connect(port, '127.0.0.1');
      const asking =
        port === edge.port
          ? connectTls({ socket, servername: 'shop.test', rejectUnauthorized: false })
          : socket;
      asking.on('error', () => undefined);
      asking.write(WEBSOCKET);
      await until(() => origin.seen.length > before, 'the origin to be asked');
      socket.resetAndDestroy();
      await until(() => origin.open.size === 0, 'the origin to be let go');
    }
    await until(() => edge.entries.length === 2, 'both to be told');
  });

  test('the refusal of an origin is forwarded whole, with its headers', async () => {
    const fields =
      'WWW-Authenticate: Basic realm="ws"\r\nLocation: /login\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n';
    const body = 'x'.repeat(200_000);
    await rawOrigin(({ socket }) =>
      socket.write(
        `HTTP/1.1 401 Unauthorized\r\n${fields}Keep-Alive: timeout=9\r\nContent-Length: 200000\r\n\r\n${body}`,
      ),
    );
    const text = await say(edge.httpPort, WEBSOCKET);
    expect(statusesOf(text)).toEqual([401]);
    for (const line of fields.trimEnd().split('\r\n')) expect(text).toContain(line);
    expect(text).not.toContain('Keep-Alive');
    expect(text.endsWith(`\r\n\r\n${body}`)).toBe(true);
    expect(edge.entries.at(-1)).toMatchObject({ status: 401, octets: 200_000, fault: null });
  });

  test('a 101 without `Connection: Upgrade` is a 502: nothing was switched', async () => {
    const bare = SWITCHED.replace('Connection: Upgrade\r\n', '');
    await rawOrigin(({ socket }) => socket.write(`${bare}hello`));
    const text = await say(edge.httpPort, WEBSOCKET);
    expect(statusesOf(text)).toEqual([502]);
    expect(text).not.toContain('hello');
    await until(() => edge.entries.at(-1)?.status === 502, 'the request is logged');
  });

  test('a chunked refusal is forwarded whole, and a truncated one is logged', async () => {
    await rawOrigin(({ socket, before }) => {
      if (before > 0) socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 10\r\n\r\nhello');
      else
        socket.write('HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n');
    });
    expect(await say(edge.httpPort, WEBSOCKET)).toMatch(/^HTTP\/1\.1 403 [\s\S]*\r\n\r\nhello$/);
    expect(await say(edge.httpPort, WEBSOCKET)).toMatch(/^HTTP\/1\.1 403 [\s\S]*\r\nContent-Length: 10\r\n/);
    expect(edge.entries.map(({ status, fault }) => [status, fault])).toEqual([
      [403, null],
      [403, 'cut'],
    ]);
  });

  test('an open WebSocket ends with the grace period of a stop', async () => {
    const socket = connect(edge.httpPort, '127.0.0.1');
    const text = textOf(socket);
    socket.write(WEBSOCKET);
    await once(socket, 'data');
    await edge.http.stop(50);
    expect(await text).toContain('101 Switching');
  });

  test('when one side ends, the other is closed', async () => {
    await edge.stop();
    edge = await startTlsNode({ names: ['shop.test'], websocketIdleMs: 500 });
    // One that never ends its side, nor notices anything.
    const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined).resume();
      socket.once('data', () => socket.write(SWITCHED));
      closing.push(() => socket.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => void server.close());
    lead((server.address() as AddressInfo).port);
    const socket = connect({ port: edge.httpPort, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.write(WEBSOCKET);
    await once(socket, 'data');
    socket.end();
    await once(socket, 'end');
    await until(() => edge.entries.length === 1, 'its end to be told');
    expect(edge.entries[0]).toMatchObject({ status: 101 });
    socket.destroy();
  });
});
