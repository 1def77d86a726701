/** What messages that pass through the edge say of it, and loops of edges. */
import { request as httpRequest } from 'node:http';
import { connect } from 'node:http2';
import { type AddressInfo, createServer, connect as dial } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Echo, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { say, statusesOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

describe('a request through the edge', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  let second: TlsNode;
  beforeAll(async () => {
    edge = await startTlsNode({ names: ['shop.test'] });
    second = await startTlsNode({
      names: ['shop.test'],
      originPort: edge.httpPort,
      keepUnderscores: true,
    });
  });
  afterAll(async () => {
    await second.stop();
    await edge.stop();
  });

  function ask(lines: readonly string[], port = edge.httpPort): Promise<string> {
    const head = ['GET / HTTP/1.1', 'Host: shop.test', ...lines];
    return say(port, `${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`);
  }
  async function echoed(lines: readonly string[], port?: number): Promise<Echo['headers']> {
    const text = await ask(lines, port);
    return (JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Echo).headers;
  }

  test('a request to an origin has Via with the version in which it was received', async () => {
    expect(await echoed([])).toMatchObject({ via: '1.1 edgeplan', 'cdn-loop': 'edgeplan' });
    const session = connect(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const stream = session.request({ ':authority': 'shop.test', ':path': '/' });
    let text = '';
    for await (const chunk of stream) text += chunk;
    session.destroy();
    expect((JSON.parse(text) as Echo).headers).toMatchObject({ via: '2 edgeplan' });
  });

  test('earlier elements of Via and CDN-Loop precede the edge, also where Connection lists them', async () => {
    const { via, 'cdn-loop': loop } = await echoed([
      'Via: 1.0 fred',
      'Via: 1.1 other',
      'CDN-Loop: a; x=1',
      'Connection: cdn-loop, via',
    ]);
    expect({ via, loop }).toEqual({ via: '1.0 fred, 1.1 other, 1.1 edgeplan', loop: 'a; x=1, edgeplan' });
  });

  test('a response has Via with the edge', async () => {
    expect(await ask([])).toMatch(/^Via: 1\.1 edgeplan\r$/m);
  });

  test('two edges in a row forward a request', async () => {
    expect(await echoed([], second.httpPort)).toMatchObject({ 'cdn-loop': 'edgeplan, edgeplan' });
  });

  test.each([
    ['in one header', ['CDN-Loop: edgeplan, x, EDGEPLAN;a=b, edgeplan,edgeplan']],
    ['in several', Array<string>(4).fill('CDN-Loop: edgeplan')],
    ['named by Connection', ['CDN-Loop: edgeplan, edgeplan, edgeplan, edgeplan', 'Connection: cdn-loop']],
  ])('a request that has passed four edges gets 508 and is logged: %s', async (_what, lines) => {
    const text = await ask(lines);
    expect(statusesOf(text)).toEqual([508]);
    expect(text).toContain('leads back to itself');
    expect(edge.entries.at(-1)).toMatchObject({ status: 508, fault: 'loop' });
  });

  test('a request that has passed three edges reaches its origin', async () => {
    expect(statusesOf(await ask(['CDN-Loop: edgeplan, edgeplan, edgeplan, edgeplanner']))).toEqual([200]);
  });

  test('a WebSocket in a loop gets 508', async () => {
    const asked = httpRequest({
      port: edge.httpPort,
      host: '127.0.0.1',
      headers: {
        host: 'shop.test',
        upgrade: 'websocket',
        connection: 'upgrade',
        'cdn-loop': 'edgeplan, edgeplan, edgeplan, edgeplan',
      },
    });
    const status = await new Promise((resolve, reject) => {
      asked.on('response', (response) => resolve(response.statusCode));
      asked.on('error', reject);
      asked.end();
    });
    expect(status).toBe(508);
  });

  test('an origin that is its own edge is refused', async () => {
    let port = 0;
    const relay = createServer((socket) => {
      const onward = dial(port, '127.0.0.1');
      socket.on('error', () => onward.destroy());
      onward.on('error', () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const looped = await startTlsNode({
      names: ['shop.test'],
      originPort: (relay.address() as AddressInfo).port,
    });
    port = looped.httpPort;
    expect(statusesOf(await ask([], port))).toEqual([508]);
    await looped.stop();
    relay.close();
  });

  test('a header with an underscore reaches no origin unless the operator allows it', async () => {
    const lines = ['User_Id: 7', 'X_Forwarded_For: 1.2.3.4', 'User-Id: 8'];
    const plain = await echoed(lines);
    expect(plain).toMatchObject({ 'user-id': '8' });
    expect(plain).not.toHaveProperty('user_id');
  });
});

describe('allowed underscores', requires(OPENSSL_MISSING), () => {
  test('where underscores are allowed, no alias of the edge’s own headers reaches an origin', async () => {
    const edge = await startTlsNode({ names: ['shop.test'], keepUnderscores: true });
    const head = 'GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n';
    const text = await say(edge.httpPort, `${head}User_Id: 7\r\nX_Forwarded_For: 9\r\nCdn_Loop: a\r\n\r\n`);
    await edge.stop();
    expect(text).toContain('"user_id":"7"');
    expect(text).not.toMatch(/x_forwarded_for|cdn_loop/);
  });
});
