/** Persistent connections that an origin closes in the moment of the next request: what is sent again, and what never is. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type RawOrigin, say, startRawOrigin, statusesOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n';

describe('an origin that closes persistent connections', requires(OPENSSL_MISSING), () => {
  let origin: RawOrigin;
  let edge: TlsNode;
  beforeEach(async () => {
    origin = await startRawOrigin(({ path, socket, before }) => {
      if (path === '/once' && before === 0) socket.destroy();
      else if (path === '/reset' && before === 0) socket.resetAndDestroy();
      else if (path === '/always') socket.end();
      else if (path === '/hint') socket.end(EARLY);
      else socket.write(OK);
    });
    edge = await startTlsNode({ names: ['shop.test'], originPort: origin.port });
  });
  afterEach(() => Promise.all([edge.stop(), origin.close()]));

  const request = (method: string, path: string, body = ''): string => {
    const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`;
    return `${method} ${path} HTTP/1.1\r\nHost: shop.test\r\n${length}Connection: close\r\n\r\n${body}`;
  };
  async function statusOf(method: string, path: string, body?: string): Promise<readonly number[]> {
    return statusesOf(await say(edge.httpPort, request(method, path, body)));
  }

  test.each([
    ['GET', '/once', ''],
    ['GET', '/reset', ''],
    ['HEAD', '/once', ''],
    ['OPTIONS', '/once', ''],
    ['DELETE', '/once', ''],
    ['PUT', '/once', 'body'],
    ['PUT', '/reset', 'b'.repeat(100_000)],
  ])('gets %s %s once more, on a fresh connection', async (method, path, body) => {
    expect(await statusOf('GET', '/first')).toEqual([200]);
    expect(origin.made()).toBe(1);
    expect(await statusOf(method, path, body)).toEqual([200]);
    expect(origin.seen.slice(1)).toEqual([`${method} ${path}`, `${method} ${path}`]);
    expect(origin.made()).toBe(2);
    expect(edge.entries.at(-1)).toMatchObject({ status: 200, fault: null });
  });

  test('gets a GET over HTTP/2 once more', async () => {
    await statusOf('GET', '/first');
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const stream = session.request({ ':authority': 'shop.test', ':path': '/once' });
    const [head] = await once(stream, 'response');
    session.destroy();
    expect(head[':status']).toBe(200);
    expect(origin.made()).toBe(2);
  });

  test.each([
    ['POST', '/once', ''],
    ['POST', '/once', 'body'],
    ['PATCH', '/once', 'body'],
  ])('never gets a %s again (%s)', async (method, path, body) => {
    await statusOf('GET', '/first');
    expect(await statusOf(method, path, body)).toEqual([502]);
    expect(origin.seen.slice(1)).toEqual([`${method} ${path}`]);
  });

  test('gets no request twice whose connection is the request’s own', async () => {
    expect(await statusOf('GET', '/once')).toEqual([502]);
    expect(origin.seen).toEqual(['GET /once']);
  });

  test('gets no request a third time', async () => {
    await statusOf('GET', '/first');
    expect(await statusOf('GET', '/always')).toEqual([502]);
    expect(origin.seen.slice(1)).toEqual(['GET /always', 'GET /always']);
  });

  test('gets no request again of which a response has begun', async () => {
    await statusOf('GET', '/first');
    expect((await statusOf('GET', '/hint')).at(-1)).toBe(502);
    expect(origin.seen.slice(1)).toEqual(['GET /hint']);
  });
});
