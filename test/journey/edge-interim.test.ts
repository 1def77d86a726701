/** Interim answers of origins, and answers without a body, as they reach clients over both protocols. */
import { once } from 'node:events';
import { connect } from 'node:http2';
import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type RawOrigin, say, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINT = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n';

/** What the origin answers by path, in pieces that it writes one by one. */
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  '/continue': [`${CONTINUE}${OK}`],
  // The origin reads no bodies, so that its connection is of no more use.
  '/upload': [`${CONTINUE}HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok`],
  '/bare': [`HTTP/1.1 100\r\n\r\n${OK}`],
  '/with-headers': [`HTTP/1.1 100 Continue\r\nServer: x\r\nX: y\r\n\r\n${OK}`],
  '/pieces': [...`${CONTINUE}${CONTINUE}${OK}`],
  '/processing': [`HTTP/1.1 102 Processing\r\n\r\n${CONTINUE}${OK}`],
  '/hint': [`${CONTINUE}${HINT}${CONTINUE}${OK}`],
  '/odd-hint': [`HTTP/1.1 103 Early Hints\r\nLink: nonsense\r\n\r\n${OK}`],
  '/hop-hint': [
    `HTTP/1.1 103 Early Hints\r\nConnection: keep-alive\r\nLink: </a.css>; rel=preload\r\n\r\n${OK}`,
  ],
  '/closing-hint': [
    ...'HTTP/1.1 103 Early Hints\r\nX: connection: close\r\nConnection: close\r\nLink: </a.css>; rel=preload\r\n\r\n',
    OK,
  ],
  '/long-hint': [
    `HTTP/1.1 103 Early Hints\r\nCONNECTION: close\r\nContent-Length: 0\r\nLink: </a.css>; rel=preload\r\n\r\n${OK}`,
  ],
  '/coded-hint': [
    `HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\nLink: </a.css>; rel=preload\r\n\r\n${OK}`,
  ],
  '/body': ['HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n', CONTINUE],
  '/empty': ['HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\n'],
  '/same': ['HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\nETag: "a"\r\n\r\n'],
  '/long': ['HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n'],
};

interface Received {
  readonly status: number;
  readonly length: string | undefined;
  readonly body: string;
  readonly interim: readonly number[];
}

describe('interim responses', requires(OPENSSL_MISSING), () => {
  let origin: RawOrigin;
  let edge: TlsNode;
  beforeAll(async () => {
    origin = await startRawOrigin(({ path, socket }) => void writeAll(socket, ANSWERS[path]!));
    edge = await startTlsNode({ names: ['shop.test'], originPort: origin.port });
  });
  afterAll(async () => {
    await edge.stop();
    await origin.close();
  });

  async function writeAll(socket: import('node:net').Socket, pieces: readonly string[]): Promise<void> {
    socket.setNoDelay(true);
    for (const piece of pieces) {
      await new Promise((resolve) => socket.write(piece, 'latin1', resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function ask(path: string, { method = 'GET', version = '1.1', more = '' } = {}): Promise<string> {
    const head = `${method} ${path} HTTP/${version}\r\nHost: shop.test\r\nConnection: close\r\n${more}\r\n`;
    return say(edge.httpPort, head);
  }

  async function askHttp2(path: string, method = 'GET'): Promise<Received> {
    const session = connect(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const stream = session.request({ ':method': method, ':authority': 'shop.test', ':path': path });
    const interim: number[] = [];
    stream.on('headers', (headers) => interim.push(Number(headers[':status'])));
    let body = '';
    stream.on('data', (chunk: Buffer) => {
      body += chunk.toString('latin1');
    });
    const ended = once(stream, 'end');
    const [headers] = await once(stream, 'response');
    await ended;
    session.destroy();
    return { status: headers[':status'], length: headers['content-length'], body, interim };
  }

  test.each(['/continue', '/bare', '/with-headers', '/pieces', '/processing', '/odd-hint'])(
    'interim answers before the answer leave it as it is: %s',
    async (path) => {
      const text = await ask(path);
      expect(statusesOf(text)).toEqual([200]);
      expect(text).toMatch(/\r\n\r\nok$/);
      expect(await askHttp2(path)).toMatchObject({ status: 200, body: 'ok', interim: expect.any(Array) });
    },
  );

  test('a 100 of an origin reaches no client that expects one', async () => {
    const text = await ask('/upload', {
      method: 'POST',
      more: 'Expect: 100-continue\r\nContent-Length: 2\r\n\r\nab',
    });
    expect(statusesOf(text)).toEqual([100, 200]);
  });

  test.each(['/hint', '/hop-hint', '/closing-hint', '/long-hint', '/coded-hint'])(
    'an early hint reaches clients of both protocols: %s',
    async (path) => {
      const text = await ask(path);
      expect(statusesOf(text)).toEqual([103, 200]);
      const [hint] = text.split('\r\n\r\n') as [string];
      expect(hint).toMatch(/^link: <\/a\.css>/im);
      expect(hint).not.toMatch(/^(?:connectio|content-length|transfer-encoding)/im);
      expect(await askHttp2(path)).toMatchObject({ status: 200, body: 'ok', interim: [103] });
    },
  );

  test('a client of HTTP/1.0 gets no early hint', async () => {
    expect(statusesOf(await ask('/hint', { version: '1.0' }))).toEqual([200]);
  });

  test('a body that looks like an interim response arrives unchanged', async () => {
    expect(await ask('/body')).toMatch(/\r\n\r\nHTTP\/1\.1 100 Continue\r\n\r\n$/);
  });

  test('a connection to an origin is reused after a 100', async () => {
    await ask('/continue');
    const made = origin.made();
    await ask('/continue');
    await ask('/body');
    expect(origin.made()).toBe(made);
  });

  test.each(['GET', 'HEAD'])(
    'a 204 to %s is sent without the Content-Length of its origin',
    async (method) => {
      const text = await ask('/empty', { method });
      expect(statusesOf(text)).toEqual([204]);
      expect(text).not.toMatch(/^(content-length|transfer-encoding):/im);
      expect(await askHttp2('/empty', method)).toMatchObject({ status: 204, length: undefined, body: '' });
    },
  );

  test.each([
    ['304 to GET', '/same', 'GET', 304],
    ['200 to HEAD', '/long', 'HEAD', 200],
  ])('%s has its Content-Length and no body', async (_what, path, method, status) => {
    const text = await ask(path, { method });
    expect(statusesOf(text)).toEqual([status]);
    expect(text).toMatch(/^content-length: 6\r$/im);
    expect(text).toMatch(/\r\n\r\n$/);
    expect(await askHttp2(path, method)).toMatchObject({ status, length: '6', body: '' });
  });

  test('the response after one without a body is read separately', async () => {
    const socket = createConnection(edge.httpPort, '127.0.0.1');
    const text = textOf(socket);
    const head = 'Host: shop.test\r\n';
    for (const path of ['/empty', '/same']) socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`);
    socket.write(`HEAD /long HTTP/1.1\r\n${head}\r\n`);
    socket.write(`GET /continue HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
    const all = await text;
    expect(statusesOf(all)).toEqual([204, 304, 200, 200]);
    expect(all).toMatch(/\r\n\r\nok$/);
    expect(all.split('ok')).toHaveLength(2);
  });
});
