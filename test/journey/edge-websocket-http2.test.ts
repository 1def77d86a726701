/** WebSockets over HTTP/2 (RFC 8441): the same rules, limits and logs as over HTTP/1.1. */
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { afterEach, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode, type TlsNodeOptions } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';
import { type Refusal, startWebSocketOrigin, type WebSocketOrigin } from '../support/websocket-origin.ts';

/** A text frame `hello`, as a client and as a server sends it. */
const FROM_CLIENT = Buffer.from([0x81, 0x85, 1, 2, 3, 4, 0x69, 0x67, 0x6f, 0x68, 0x6e]);
const FROM_SERVER = Buffer.from([0x81, 0x05, ...Buffer.from('hello')]);

interface Opened {
  readonly stream: ClientHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly received: () => Buffer;
  readonly octets: () => number;
  readonly ended: () => boolean;
}

describe('a WebSocket over HTTP/2', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  let origin: WebSocketOrigin;
  let session: ClientHttp2Session;
  afterEach(async () => {
    session.destroy();
    await origin.close();
    expect(edge.faults).toEqual([]);
    await edge.stop();
  });

  async function start(options: Partial<TlsNodeOptions> = {}, refuse?: Refusal): Promise<void> {
    origin = await startWebSocketOrigin(refuse);
    edge = await startTlsNode({ names: ['shop.test'], originPort: origin.port, ...options });
    session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
  }

  function connect(headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
    const stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'https',
      ':path': '/chat?room=1',
      ':authority': 'shop.test',
      'sec-websocket-version': '13',
      ...headers,
    });
    // A reset is seen by `close`.
    stream.on('error', () => undefined);
    return stream;
  }

  async function open(headers: OutgoingHttpHeaders = {}): Promise<Opened> {
    const stream = connect(headers);
    const chunks: Buffer[] = [];
    let ended = false;
    let octets = 0;
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      octets += chunk.length;
    });
    stream.on('end', () => {
      ended = true;
    });
    const [received] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    return {
      stream,
      headers: received,
      received: () => Buffer.concat(chunks),
      octets: () => octets,
      ended: () => ended,
    };
  }

  /** The body of a response that ends. */
  async function refused(headers: OutgoingHttpHeaders = {}): Promise<{ status: number; text: string }> {
    const { stream, headers: got, received, ended } = await open(headers);
    await until(() => ended() || stream.closed, 'the end of a refusal');
    return { status: Number(got[':status']), text: received().toString() };
  }

  test('frames pass both ways, and the origin gets an upgrade of HTTP/1.1', async () => {
    await start();
    expect(session.remoteSettings.enableConnectProtocol).toBe(true);
    const { stream, headers, received } = await open({
      'sec-websocket-protocol': 'chat.v2',
      'sec-websocket-extensions': 'permessage-deflate',
      origin: 'https://shop.test',
      cookie: ['a=1', 'b=2'],
      'content-length': String(FROM_CLIENT.length),
      'sec-websocket-key': 'of-the-client',
    });
    expect(headers).toMatchObject({
      ':status': 200,
      'sec-websocket-protocol': 'chat.v2',
      'set-cookie': ['a=1', 'b=2'],
    });
    expect(headers['x-edgeplan-id']).toMatch(/^[0-9a-f-]{36}$/);
    for (const name of ['sec-websocket-accept', 'connection', 'upgrade'])
      expect(headers).not.toHaveProperty(name);
    const { request, socket, received: atOrigin } = await origin.next();
    expect([request.method, request.url, request.httpVersion]).toEqual(['GET', '/chat?room=1', '1.1']);
    expect(request.headers).toMatchObject({
      host: `shop.test:${edge.port}`,
      upgrade: 'websocket',
      connection: 'Upgrade',
      origin: 'https://shop.test',
      cookie: 'a=1; b=2',
      via: '2 edgeplan',
      'sec-websocket-version': '13',
      'sec-websocket-protocol': 'chat.v2',
      'sec-websocket-extensions': 'permessage-deflate',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'https',
    });
    expect(Buffer.from(String(request.headers['sec-websocket-key']), 'base64')).toHaveLength(16);
    expect(request.headers).not.toHaveProperty('content-length');
    expect(JSON.stringify(request.rawHeaders)).not.toMatch(/:protocol|of-the-client/);
    stream.write(FROM_CLIENT);
    await until(() => atOrigin().equals(FROM_CLIENT), 'the frame of the client');
    socket.write(FROM_SERVER);
    await until(() => received().equals(FROM_SERVER), 'the frame of the origin');
    expect(edge.node.origins.websockets()).toEqual({ open: 1, refused: 0 });
    socket.end();
    await until(() => stream.readableEnded, 'the end of the stream');
    stream.end();
    await until(() => edge.entries.length === 1, 'the log entry');
    expect(edge.entries[0]).toMatchObject({
      status: 101,
      octets: FROM_SERVER.length,
      octetsIn: FROM_CLIENT.length,
      fault: null,
      exchange: { request: { method: 'GET', target: '/chat?room=1', protocol: 'HTTP/2' } },
    });
    expect(edge.node.origins.websockets()).toEqual({ open: 0, refused: 0 });
  });

  test('an answer of the origin that does not fit the key is a 502', async () => {
    await start({}, (_request, socket) => {
      const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
      return socket.write(`${head}Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n`);
    });
    expect((await refused()).status).toBe(502);
  });

  test('a refusal of the origin is a response of the stream, and the connection goes on', async () => {
    await start({}, (_request, socket) => {
      socket.end('HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nContent-Length: 5\r\n\r\nlogin');
      return true;
    });
    expect(await refused()).toEqual({ status: 401, text: 'login' });
    expect(await refused()).toEqual({ status: 401, text: 'login' });
    expect(edge.entries.map(({ status, octets }) => [status, octets])).toEqual([
      [401, 5],
      [401, 5],
    ]);
    expect(edge.node.origins.websockets().open).toBe(0);
  });

  test('a response of the origin that HTTP/2 cannot have resets the stream alone', async () => {
    await start({}, ({ url }, socket) => {
      if (url !== '/dates') return false;
      socket.end('HTTP/1.1 403 No\r\nContent-Type: a/b\r\nContent-Type: c/d\r\nContent-Length: 0\r\n\r\n');
      return true;
    });
    const stream = connect({ ':path': '/dates' });
    await until(() => stream.closed, 'the end of the stream');
    expect((await open()).headers[':status']).toBe(200);
  });

  test.each([
    ['no protocol', { ':protocol': undefined, ':path': undefined, ':scheme': undefined }, 405],
    ['another protocol', { ':protocol': 'connect-udp' }, 501],
    ['another spelling', { ':protocol': 'WebSocket' }, 501],
    ['a host that is not served', { ':authority': 'other.test' }, 421],
    ['a path that a rule closes', { ':path': '/closed/x' }, 403],
  ])('%s is refused as a request', async (_what, headers, status) => {
    const rules = [{ id: 1, type: 'drop', path_includes: ['/closed/*'] }];
    await start({ plan: { rules } });
    expect((await refused(headers)).status).toBe(status);
    await until(() => edge.entries.length === 1, 'the log entry');
    expect(edge.entries[0]!.status).toBe(status);
    expect(origin.sockets).toEqual([]);
  });

  test('it is refused where the domain has WebSockets off', async () => {
    await start({ plan: { domain: { websockets_off: true } } });
    expect((await refused()).status).toBe(403);
    expect(edge.entries.at(-1)).toMatchObject({ status: 403, fault: 'websockets_off' });
  });

  test('it counts for the limit of WebSockets', async () => {
    await start({ maxWebsockets: 1 });
    const { stream } = await open();
    expect((await refused()).status).toBe(503);
    expect(edge.node.origins.websockets()).toEqual({ open: 1, refused: 1 });
    stream.close(constants.NGHTTP2_CANCEL);
    await until(() => edge.node.origins.websockets().open === 0, 'the end of the first');
    expect((await open()).headers[':status']).toBe(200);
  });

  test('it ends after its idle time, and lives beyond the time of other streams and connections', async () => {
    await start({ websocketIdleMs: 3_000, stallMs: 300, headMs: 300, requestMs: 300 });
    const { stream, received } = await open();
    const { socket } = await origin.next();
    const began = performance.now();
    await until(() => performance.now() - began > 1_500, 'five times the limit of others');
    socket.write(FROM_SERVER);
    await until(() => received().equals(FROM_SERVER), 'the frame of the origin');
    expect(stream.closed).toBe(false);
    await until(() => stream.closed, 'the end of an idle WebSocket');
    expect(performance.now() - began).toBeGreaterThan(4_000);
  });

  test('the end of one direction is passed on, and the other one goes on', async () => {
    await start();
    const { stream, received, ended } = await open();
    const { socket, received: atOrigin, ended: endedAtOrigin } = await origin.next();
    stream.end(FROM_CLIENT);
    await until(endedAtOrigin, 'the end at the origin');
    expect(atOrigin().equals(FROM_CLIENT)).toBe(true);
    socket.write(FROM_SERVER);
    await until(() => received().length === FROM_SERVER.length, 'a frame after the end');
    expect(ended()).toBe(false);
    socket.end(FROM_SERVER);
    await until(() => ended() && stream.closed, 'the end of the stream');
    expect(received()).toHaveLength(2 * FROM_SERVER.length);
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });

  test('a reset stream resets the connection to the origin', async () => {
    await start();
    const { stream } = await open();
    const { closed, error } = await origin.next();
    stream.destroy(new Error('gone'));
    await until(closed, 'the end at the origin');
    expect(error()).toBe('ECONNRESET');
    expect((await open()).headers[':status']).toBe(200);
  });

  test('a reset of the origin is a RST_STREAM with CANCEL, however many there are', async () => {
    await start();
    for (let round = 0; round < 110; round++) {
      const { stream } = await open();
      (await origin.next()).socket.resetAndDestroy();
      await until(() => stream.closed, 'the end of the stream');
      expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    }
    expect(session.destroyed).toBe(false);
  });

  test('an origin that cannot be reached is a 502', async () => {
    await start();
    await origin.close();
    expect((await refused()).status).toBe(502);
    origin = await startWebSocketOrigin();
  });

  test('a client that does not read pauses its origin, and no other stream', async () => {
    await start();
    const { stream, octets } = await open();
    stream.pause();
    const { socket } = await origin.next();
    const piece = Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0x10, 0, 0]), Buffer.alloc(1 << 20)]);
    const pieces = 16;
    for (let sent = 0; sent < pieces; sent++) socket.write(piece);
    const other = await open();
    other.stream.write(FROM_CLIENT);
    const second = await origin.next();
    await until(() => second.received().equals(FROM_CLIENT), 'a frame of the other WebSocket');
    expect(socket.writableLength).toBeGreaterThan(0);
    stream.resume();
    await until(() => octets() === pieces * piece.length, 'all frames');
  });

  test('an origin that does not read pauses its client', async () => {
    await start();
    const { stream } = await open();
    const { socket, octets } = await origin.next();
    socket.pause();
    const sent = Buffer.alloc(8 << 20);
    stream.write(sent);
    const other = await open();
    other.stream.write(FROM_CLIENT);
    const second = await origin.next();
    await until(() => second.received().equals(FROM_CLIENT), 'a frame of the other WebSocket');
    expect(stream.writableLength).toBeGreaterThan(0);
    socket.resume();
    await until(() => octets() === sent.length, 'all octets');
  });
});
