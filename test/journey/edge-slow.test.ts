/** Clients that take their time, take too much, or say a great many small things. None of it costs others anything. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_HEAD_OCTETS, MAX_HEADERS } from '../../src/edge/proxy/limits.ts';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type RawOrigin, say, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const HOST = 'Host: shop.test\r\n';
const LAST = `GET /last HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;

describe('a client', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  let origin: RawOrigin;
  beforeAll(async () => {
    origin = await startRawOrigin(({ path, socket }) => {
      if (path !== '/hold') socket.write(OK);
    });
    edge = await startTlsNode({ names: ['shop.test'], originPort: origin.port, headMs: 700, stallMs: 1_500 });
  });
  afterAll(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
    await origin.close();
  });

  test('a client that sends its head octet by octet gets 408', async () => {
    const socket = connect(edge.httpPort, '127.0.0.1');
    const text = textOf(socket);
    socket.write(`GET / HTTP/1.1\r\n${HOST}X: `);
    const timer = setInterval(() => socket.write('x'), 100);
    socket.on('close', () => clearInterval(timer));
    expect(statusesOf(await text)).toEqual([408]);
  });

  test('a client that stops within its second head gets 408 after the first response', async () => {
    const text = await say(edge.httpPort, `GET / HTTP/1.1\r\n${HOST}\r\nGET /b HTTP/1.1\r\n`);
    expect(statusesOf(text)).toEqual([200, 408]);
  });

  test('a client that stops within its body is disconnected, and its origin gets no request', async () => {
    const text = say(edge.httpPort, `POST /hold HTTP/1.1\r\n${HOST}Content-Length: 9\r\n\r\nhalf`);
    expect(statusesOf(await text)).toEqual([]);
    expect(origin.seen).not.toContain('POST /hold');
    await until(
      () => edge.entries.some(({ status, fault }) => status === 499 && fault === 'aborted'),
      'it is told',
    );
  });

  test('a client whose origin reads no upload is disconnected, and the request to the origin aborted', async () => {
    let closed = false;
    const deaf = createServer({ pauseOnConnect: true }, (socket) => {
      socket.on('close', () => {
        closed = true;
      });
      socket.on('error', () => undefined);
      // Only who reads sees the end.
      setTimeout(() => socket.resume(), 4_000);
    });
    deaf.listen(0, '127.0.0.1');
    await once(deaf, 'listening');
    const { port } = deaf.address() as AddressInfo;
    const other = await startTlsNode({ names: ['shop.test'], originPort: port, stallMs: 1_000 });
    const socket = connect(other.httpPort, '127.0.0.1');
    const text = textOf(socket);
    socket.write(`POST / HTTP/1.1\r\n${HOST}Content-Length: 100000000\r\n\r\n`);
    socket.write(Buffer.alloc(50_000_000));
    await until(() => socket.writableLength === 0 || socket.bytesWritten > 1_000, 'it sends');
    expect(await text).toBe('');
    await until(() => closed, 'the origin is left');
    await other.stop();
    deaf.close();
  });

  test.each([
    ['one header that is too long', `X: ${'x'.repeat(MAX_HEAD_OCTETS)}\r\n`],
    ['headers that are too long together', `X: ${'x'.repeat(1_000)}\r\n`.repeat(40)],
  ])('a client that sends %s gets 431 with a page', async (_what, headers) => {
    const text = await say(edge.httpPort, `GET / HTTP/1.1\r\n${HOST}${headers}\r\n`);
    expect(statusesOf(text)).toEqual([431]);
    expect(text).toContain('Clear the cookies');
    await until(() => edge.entries.at(-1)?.status === 431, 'the journal tells of it');
  });

  const MANY = Array.from({ length: MAX_HEADERS }, (_, index) => `X-${index}: y\r\n`).join('');

  test.each([
    ['Host first', HOST + MANY],
    ['Host last', MANY + HOST],
    ['a body of a length that is among the last', `${HOST}${MANY}Content-Length: 5\r\n`],
    ['as many as fit', HOST + 'a:\r\n'.repeat(6_000)],
  ])(
    'a client that sends too many headers, %s, gets 431, and its origin no request',
    async (_what, headers) => {
      const text = await say(edge.httpPort, `POST /many HTTP/1.1\r\n${headers}\r\n`);
      expect(statusesOf(text)).toEqual([431]);
      expect(origin.seen).not.toContain('POST /many');
    },
  );

  test('a client with the maximum number of headers is served, and its origin gets all of them', async () => {
    const [, , ...most] = MANY.split('\r\n').map((line) => `${line}\r\n`);
    const lines = `${HOST}Connection: close\r\n${most.slice(0, -1).join('')}`;
    const text = await say(edge.httpPort, `GET /most HTTP/1.1\r\n${lines}\r\n`);
    expect(statusesOf(text)).toEqual([200]);
    expect(edge.entries.at(-1)!.exchange!.request.headers).toMatchObject({ [`x-${MAX_HEADERS - 1}`]: 'y' });
  });

  test('a client with an endless target gets 431 or 414', async () => {
    expect(statusesOf(await say(edge.httpPort, `GET /${'a'.repeat(100_000)}`))).toEqual([431]);
  });

  test('a client that pipelines requests gets their responses in order', async () => {
    const many = Array.from({ length: 500 }, (_, index) => `GET /p${index} HTTP/1.1\r\n${HOST}\r\n`).join('');
    const before = origin.seen.length;
    const text = await say(edge.httpPort, many + LAST);
    expect(statusesOf(text)).toEqual(Array(501).fill(200));
    expect(origin.seen.length - before).toBe(501);
  });

  test('malformed octets after a request are refused after its whole response', async () => {
    const text = await say(edge.httpPort, `GET /a HTTP/1.1\r\n${HOST}\r\nnonsense\r\n\r\n`);
    expect(statusesOf(text)).toEqual([200, 400]);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*\r\nokHTTP\/1\.1 400 /);
  });

  test('a request after `Connection: close` gets no response', async () => {
    const before = origin.seen.length;
    const text = await say(edge.httpPort, LAST + LAST);
    expect([statusesOf(text), origin.seen.length - before]).toEqual([[200], 1]);
  });

  test('an HTTP/2 request whose authority and Host differ is refused', async () => {
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const status = async (headers: Record<string, string>): Promise<unknown> => {
      const stream = session.request({ ':path': '/h2', ':authority': 'shop.test', ...headers });
      stream.resume();
      const told = once(stream, 'response').then(([answer]) => answer[':status']);
      return Promise.race([told, once(stream, 'close').then(() => `reset ${stream.rstCode}`)]).catch(
        () => `reset ${stream.rstCode}`,
      );
    };
    expect(await status({})).toBe(200);
    expect(await status({ host: 'other.test' })).toBe(400);
    expect(await status({ ':authority': 'other.test' })).toBe(421);
    expect(await status({ ':authority': 'me@shop.test' })).toBe(400);
    expect(await status({ ':authority': '' })).not.toBe(200);
    expect(await status({ ':path': 'http://other.test/' })).not.toBe(200);
    expect(await status({ ':path': '' })).not.toBe(200);
    expect(await status({ ':path': '/a b' })).not.toBe(200);
    expect(await status({ ':path': '/a#b' })).not.toBe(200);
    expect(await status({ 'content-length': '5' })).not.toBe(200);
    session.destroy();
  });

  test('an HTTP/2 request with too many headers gets 431, and the connection stays open', async () => {
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const statusOf = async (count: number): Promise<unknown> => {
      const names = Array.from({ length: count }, (_, index) => [`x-${index}`, 'y'] as const);
      const stream = session.request({
        ':path': '/fields',
        ':authority': 'shop.test',
        ...Object.fromEntries(names),
      });
      stream.resume();
      return (await once(stream, 'response'))[0][':status'];
    };
    expect([await statusOf(MAX_HEADERS + 1), await statusOf(MAX_HEADERS)]).toEqual([431, 200]);
    session.destroy();
  });
});
