/** The octets of a request's target and host: one meaning over HTTP/1.1, TLS and HTTP/2, and the same ones in captures. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Echo, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { say, statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

/** Octets as characters. */
const U = Buffer.from('ü').toString('latin1');
const COOKIE = Buffer.from('🍪').toString('latin1');

describe('octets above 0x7F', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  beforeAll(async () => {
    const strip = { path_match_type: 'regex', path_includes: ['^/strip/(.*)$'], path_target: '/$1' };
    const rules = [
      { id: 1, type: 'drop', path_includes: ['/geheim/ü*'] },
      { id: 2, type: 'rewrite', ...strip },
    ];
    edge = await startTlsNode({ names: ['shop.test', 'xn--bcher-kva.test'], plan: { rules } });
  });
  afterAll(() => edge.stop());

  const open = {
    'HTTP/1.1': (): Socket => connect({ port: edge.httpPort, host: '127.0.0.1', noDelay: true }),
    TLS: (): Socket =>
      connectTls({ port: edge.port, host: '127.0.0.1', servername: 'shop.test', rejectUnauthorized: false }),
  };
  type Version = keyof typeof open;
  const VERSIONS = Object.keys(open) as Version[];

  /** What comes back for octets that are written in these pieces. */
  async function exchange(version: Version, pieces: readonly string[]): Promise<string> {
    const socket = open[version]();
    const text = textOf(socket);
    for (const piece of pieces) {
      socket.write(piece, 'latin1');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return text;
  }

  async function over2(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const stream = session.request({ ':authority': 'shop.test', ':path': path });
    const head = once(stream, 'response');
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) text += chunk;
    session.destroy();
    return { status: (await head)[0][':status'], text };
  }

  const urlsOf = (text: string): string[] => [...text.matchAll(/"url":"([^"]*)"/g)].map(([, url]) => url!);

  test.each([
    ['a path', `/${U}`, '/%C3%BC'],
    ['a query', `/s?q=${U}`, '/s?q=%C3%BC'],
    ['four octets, and an escape', `/a%20${COOKIE}/b`, '/a%20%F0%9F%8D%AA/b'],
    ['what is no UTF-8', '/caf\xe9', '/caf%E9'],
    ['the first octet of the target', `${U}`, null],
  ])('%s means the same in every version', async (_what, target, url) => {
    const head = `GET ${target} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`;
    const texts = await Promise.all(VERSIONS.map((version) => exchange(version, [head])));
    for (const text of texts) {
      expect(statusesOf(text)).toEqual([url === null ? 400 : 200]);
      expect(urlsOf(text)).toEqual(url === null ? [] : [url]);
    }
    if (url !== null) expect(JSON.parse((await over2(target)).text)).toMatchObject({ url });
  });

  test.each([
    '/api/queues/%2F/orders',
    '/300x200/https://cdn.example.com/a.jpg',
    '/files/caf%E9.txt',
    '/a%2f%2fb',
    '/p%5Cq',
    '/a%3Bb/c',
    '/a%2Bb',
    '/dir//file',
    `/${U}/%C3%BC`,
  ])('a rewrite that strips a prefix leaves %s as it is without the prefix', async (path) => {
    const get = (target: string): string =>
      `GET ${target} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`;
    for (const version of VERSIONS) {
      const plain = urlsOf(await exchange(version, [get(path)]));
      expect(plain).toHaveLength(1);
      expect(urlsOf(await exchange(version, [get(`/strip${path}`)]))).toEqual(plain);
      expect(urlsOf((await over2(`/strip${path}`)).text)).toEqual(plain);
    }
  });

  test('a rule for characters matches the octets', async () => {
    const head = `GET /geheim/${U}ber HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`;
    for (const version of VERSIONS) expect(statusesOf(await exchange(version, [head]))).toEqual([403]);
    expect((await over2(`/geheim/${U}ber`)).status).toBe(403);
    expect(edge.entries.at(-1)!.exchange!.request.target).toBe('/geheim/%C3%BCber');
  });

  describe.each(VERSIONS)('over %s', (version) => {
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: shop.test\r\n\r\n`;
    const last = 'GET /last HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n';

    test('a connection goes on behind such a request', async () => {
      const text = await exchange(version, [get('/a'), get(`/${U}`), get(`/b/${U}`), get('/c'), last]);
      expect(urlsOf(text)).toEqual(['/a', '/%C3%BC', '/b/%C3%BC', '/c', '/last']);
    });

    test('pipelined ones are answered in their order', async () => {
      const text = await exchange(version, [get('/slow') + get(`/${U}`) + get('/b'), get(`/c${U}`) + last]);
      expect(urlsOf(text)).toEqual(['/slow', '/%C3%BC', '/b', '/c%C3%BC', '/last']);
    });

    test('a body behind it, and segments within it, arrive whole', async () => {
      const post = `POST /${U}/${COOKIE}?${U} HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 4\r\n\r\nb${U}y`;
      const text = await exchange(version, [post + last]);
      expect(urlsOf(text)).toEqual(['/%C3%BC/%F0%9F%8D%AA?%C3%BC', '/last']);
      const cut = [
        post.slice(0, 7),
        post.slice(7, 12),
        post.slice(12, 40),
        post.slice(40, -2),
        post.slice(-2),
      ];
      expect(urlsOf(await exchange(version, [...cut, last]))).toEqual(urlsOf(text));
      const echo = text.slice(text.indexOf('{'), text.indexOf('}', text.indexOf('"body"')) + 1);
      expect((JSON.parse(Buffer.from(echo, 'latin1').toString()) as Echo).body).toHaveLength(4);
    });

    test('none follows a request that ends its connection', async () => {
      const text = await exchange(version, [last + get(`/${U}`)]);
      expect(urlsOf(text)).toEqual(['/last']);
    });

    test.each([
      ['a control', `/${U}\x01`],
      ['a space', `/${U} b`],
    ])('%s in the target is refused as without them', async (_what, target) => {
      const text = await exchange(version, [get(target)]);
      expect(statusesOf(text)).toEqual([400]);
    });
  });

  test('a host in UTF-8 is the one that its ASCII form names', async () => {
    const head = `GET / HTTP/1.1\r\nHost: b${U}cher.test\r\nConnection: close\r\n\r\n`;
    expect(statusesOf(await say(edge.httpPort, Buffer.from(head, 'latin1')))).toEqual([200]);
    const invalid = 'GET / HTTP/1.1\r\nHost: b\xfccher.test\r\nConnection: close\r\n\r\n';
    expect(statusesOf(await say(edge.httpPort, Buffer.from(invalid, 'latin1')))).toEqual([400]);
  });
});
