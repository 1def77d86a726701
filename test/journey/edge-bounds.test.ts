/** What bounds a connection before and beside its requests: PROXY headers, slow clients, HTTP/2 limits, stopping. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HELLO_MS, MAX_STREAM_RESETS, MAX_STREAMS } from '../../src/edge/proxy/limits.ts';
import { planOf, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';

/** Time for what is in flight when a node stops: what ends by itself ends long before. */
const GRACE_MS = 60_000;
/** Sooner than anything else ends a connection. */
const SOON_MS = HELLO_MS / 2;
const GET = 'GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n';

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  await once(socket, 'close');
  return text;
}

const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n';

function version2(commandAndFamily: string, content: string, length = content.length / 2): Buffer {
  const size = length.toString(16).padStart(4, '0');
  return Buffer.concat([
    Buffer.from(SIGNATURE, 'latin1'),
    Buffer.from(commandAndFamily + size + content, 'hex'),
  ]);
}

const PORTS = '04d201bb';
const ADDRESSES_6 = `20010db8000000000000000000000007${'0'.repeat(31)}1`;

/** Headers that are taken, with the address rules then see. */
const TAKEN: readonly (readonly [string, Buffer, string])[] = [
  ['version 1, IPv4', Buffer.from('PROXY TCP4 198.51.100.7 203.0.113.1 1234 443\r\n'), '198.51.100.7'],
  ['version 1, IPv6', Buffer.from('PROXY TCP6 2001:DB8:0::7 ::1 1234 443\r\n'), '2001:db8::7'],
  ['version 1, mapped', Buffer.from('PROXY TCP6 ::ffff:198.51.100.7 ::1 1 2\r\n'), '198.51.100.7'],
  ['version 1, unknown', Buffer.from('PROXY UNKNOWN\r\n'), '127.0.0.1'],
  ['version 1, unknown with more', Buffer.from('PROXY UNKNOWN ff ff 1 2\r\n'), '127.0.0.1'],
  ['version 2, IPv4', version2('2111', `c6336407cb007101${PORTS}`), '198.51.100.7'],
  ['version 2, IPv6', version2('2121', `${ADDRESSES_6}${PORTS}`), '2001:db8::7'],
  ['version 2, with more behind', version2('2111', `c6336407cb007101${PORTS}040003aabbcc`), '198.51.100.7'],
  ['version 2, local', version2('2000', ''), '127.0.0.1'],
  ['version 2, unspecified', version2('2100', 'aabb'), '127.0.0.1'],
  ['version 2, UDP', version2('2112', `c6336407cb007101${PORTS}`), '127.0.0.1'],
  ['version 2, UDP over IPv6', version2('2122', `${ADDRESSES_6}${PORTS}`), '127.0.0.1'],
  ['version 2, a UNIX socket', version2('2131', '00'.repeat(216)), '127.0.0.1'],
  ['version 2, a UNIX socket of datagrams', version2('2132', '00'.repeat(216)), '127.0.0.1'],
  [
    'version 2, mapped',
    version2('2121', `${'0'.repeat(20)}ffffc6336407${'0'.repeat(32)}${PORTS}`),
    '198.51.100.7',
  ],
];

/** Starts of connections that are refused. */
const MALFORMED: readonly (readonly [string, Buffer])[] = [
  ['no header', Buffer.from(GET)],
  ['lower case', Buffer.from('proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n')],
  ['an address that is none', Buffer.from('PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n')],
  ['an address with a leading zero', Buffer.from('PROXY TCP4 01.2.3.4 1.2.3.4 1 2\r\n')],
  ['the wrong family', Buffer.from('PROXY TCP4 ::1 ::1 1 2\r\n')],
  ['a port that is none', Buffer.from('PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n')],
  ['a port too few', Buffer.from('PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n')],
  ['a word too many', Buffer.from('PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n')],
  ['two spaces', Buffer.from('PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n')],
  ['UDP', Buffer.from('PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n')],
  ['a line without an end', Buffer.from(`PROXY TCP4 ${'1'.repeat(200)}`)],
  ['version 2, the wrong version', version2('3111', `c6336407cb007101${PORTS}`)],
  ['version 2, the wrong command', version2('2211', `c6336407cb007101${PORTS}`)],
  ['version 2, an unknown family', version2('2141', '00'.repeat(216))],
  ['version 2, an unknown protocol', version2('2113', '00'.repeat(216))],
  ['version 2, too short', version2('2111', 'c6336407')],
  ['version 2, too long', version2('2111', '00'.repeat(10), 0xffff)],
];

describe('PROXY protocol', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  beforeAll(async () => {
    edge = await startTlsNode({ names: ['shop.test'], proxies: ['127.0.0.0/8'] });
  });
  afterAll(() => edge.stop());

  const PIECES = [1, 7, 10_000];

  test.each(TAKEN.flatMap((row) => PIECES.map((size) => [...row, size] as const)))(
    '%s (%#) is taken on both listeners, whatever it is cut into',
    async (_what, header, address, size) => {
      const plain = connect({ port: edge.httpPort, host: '127.0.0.1', noDelay: true });
      await sendCut(plain, Buffer.concat([header, Buffer.from(GET)]), size);
      expect(await textOf(plain)).toMatch(/^HTTP\/1\.1 200 /);
      expect(edge.entries.at(-1)!.exchange!.visitor.ip).toBe(address);

      const raw = connect({ port: edge.port, host: '127.0.0.1', noDelay: true });
      await sendCut(raw, header, size);
      const secure = connectTls({ socket: raw, servername: 'shop.test', rejectUnauthorized: false });
      secure.write(GET);
      expect(await textOf(secure)).toMatch(/^HTTP\/1\.1 200 /);
      expect(edge.entries.at(-1)!.exchange!.visitor.ip).toBe(address);
    },
  );

  test.each(MALFORMED)(
    'a malformed header (%s) ends the connection on both listeners',
    async (_what, start) => {
      const before = edge.entries.length;
      for (const port of [edge.httpPort, edge.port]) {
        const socket = connect(port, '127.0.0.1');
        socket.write(start);
        expect(await textOf(socket)).toBe('');
      }
      expect(edge.entries.length).toBe(before);
    },
  );

  test('a request in the segment of the header is served, and the next one on the connection too', async () => {
    const socket = connect(edge.httpPort, '127.0.0.1');
    const get = 'GET /a HTTP/1.1\r\nHost: shop.test\r\n\r\n';
    socket.write(`PROXY TCP4 198.51.100.9 203.0.113.1 1 2\r\n${get}`);
    await once(socket, 'data');
    socket.write(GET);
    expect(await textOf(socket)).toContain('HTTP/1.1 200 ');
    expect(edge.entries.slice(-2).map(({ exchange }) => exchange!.visitor.ip)).toEqual([
      '198.51.100.9',
      '198.51.100.9',
    ]);
  });
});

async function sendCut(socket: Socket, octets: Buffer, size: number): Promise<void> {
  for (let at = 0; at < octets.length; at += size) {
    socket.write(octets.subarray(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('limits of connections', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  beforeEach(async () => {
    edge = await startTlsNode({ names: ['shop.test'] });
  });
  afterEach(() => edge.stop());

  function open(more: object = {}): TLSSocket {
    return connectTls({
      port: edge.port,
      host: '127.0.0.1',
      servername: 'shop.test',
      rejectUnauthorized: false,
      ...more,
    });
  }

  function http2(): ClientHttp2Session {
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    session.on('error', () => undefined);
    return session;
  }

  test('a connection without a ClientHello ends within the time limit', async () => {
    const socket = connect(edge.port, '127.0.0.1');
    socket.write(Buffer.from([22, 3, 1, 0, 200, 1]));
    const began = performance.now();
    expect(await textOf(socket)).toBe('');
    expect(performance.now() - began).toBeGreaterThan(HELLO_MS - 100);
    expect(performance.now() - began).toBeLessThan(HELLO_MS + SOON_MS);
  });

  test('a handshake that stops after its first message ends within the time limit', async () => {
    const up = connect(edge.port, '127.0.0.1');
    const closed = textOf(up);
    const relay = createServer((client) => {
      client.once('data', (hello) => up.write(hello));
      client.on('error', () => undefined);
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const { port } = relay.address() as AddressInfo;
    const client = connectTls({
      port,
      host: '127.0.0.1',
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    client.on('error', () => undefined);
    const began = performance.now();
    expect((await closed).length).toBeGreaterThan(0);
    expect(performance.now() - began).toBeLessThan(HELLO_MS + SOON_MS);
    client.destroy();
    relay.close();
  });

  test('a head that arrives too slowly over TLS is answered with 408', async () => {
    const socket = open({ ALPNProtocols: ['http/1.1'] });
    socket.write('GET / HTTP/1.1\r\nHost: shop');
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('a client that resets its streams loses its connection', async () => {
    const session = http2();
    const goaway = once(session, 'goaway');
    for (let i = 0; i < MAX_STREAM_RESETS + 20 && !session.destroyed; i++) {
      const stream = session.request({ ':path': '/hang', ':authority': 'shop.test' });
      stream.on('error', () => undefined);
      if (stream.pending) await once(stream, 'ready');
      stream.close(constants.NGHTTP2_CANCEL);
      if (i % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await goaway)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    const after = http2();
    const stream = after.request({ ':path': '/', ':authority': 'shop.test' });
    expect((await once(stream, 'response'))[0][':status']).toBe(200);
    after.destroy();
  });

  test('a client that resets less than half of its streams keeps its connection', async () => {
    const session = http2();
    for (let i = 0; i < MAX_STREAM_RESETS + 10; i++) {
      const given = session.request({ ':path': '/hang', ':authority': 'shop.test' });
      given.on('error', () => undefined);
      const kept = session.request({ ':path': '/', ':authority': 'shop.test' });
      const other = session.request({ ':path': '/', ':authority': 'shop.test' });
      other.resume();
      kept.resume();
      await Promise.all([once(kept, 'end'), once(other, 'end')]);
      given.close(constants.NGHTTP2_CANCEL);
    }
    expect(session.destroyed).toBe(false);
    session.destroy();
  });

  test('responses that the origin cuts do not count as resets of the client', async () => {
    const origin = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => {
        socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
      });
    });
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const bytes = planOf('shop.test', (origin.address() as AddressInfo).port);
    const plan = { revision: 2, digest: 'e'.repeat(64), purgeEpoch: 0, read: () => bytes };
    edge.node.plans.set('shop.test', plan);
    const session = http2();
    let code: number | null = null;
    session.on('goaway', (sent) => {
      code = sent;
    });
    for (let i = 0; i < MAX_STREAM_RESETS + 10 && !session.destroyed; i++) {
      const stream = session.request({ ':path': '/cut', ':authority': 'shop.test' });
      stream.on('error', () => undefined);
      stream.resume();
      // `once` would take the error for it with which a cut response ends.
      await new Promise((resolve) => stream.on('close', resolve));
    }
    expect([code, session.destroyed]).toEqual([null, false]);
    session.destroy();
    origin.close();
  });

  test('the SETTINGS frame has the limits of streams and heads', async () => {
    const session = http2();
    const [settings] = await once(session, 'remoteSettings');
    expect(settings.maxConcurrentStreams).toBe(MAX_STREAMS);
    expect(settings.maxHeaderListSize).toBeGreaterThan(0);
    session.destroy();
  });

  test('a head that is too large is refused, and the connection stays open', async () => {
    const session = http2();
    const large = session.request({ ':path': '/', ':authority': 'shop.test', 'x-large': 'x'.repeat(60_000) });
    const outcome = await Promise.race([
      once(large, 'response').then(([headers]) => headers[':status']),
      once(large, 'error').then(() => 'reset'),
    ]).catch(() => 'reset');
    expect(outcome).not.toBe(200);
    session.destroy();
  });

  test('a graceful stop finishes requests in flight and announces itself, on both versions', async () => {
    const session = http2();
    const stream = session.request({ ':path': '/slow', ':authority': 'shop.test' });
    const goaway = once(session, 'goaway');
    const idle = http2();
    await once(idle, 'remoteSettings');
    const idleGone = once(idle, 'close');
    const socket = open({ ALPNProtocols: ['http/1.1'] });
    socket.write('GET /slow HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    const text = textOf(socket);
    const answered = once(stream, 'response');
    stream.resume();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const began = performance.now();
    await edge.tls.stop(GRACE_MS);
    expect(performance.now() - began).toBeLessThan(SOON_MS);
    expect((await goaway)[0]).toBe(constants.NGHTTP2_NO_ERROR);
    expect((await answered)[0][':status']).toBe(200);
    expect(await text).toMatch(/^HTTP\/1\.1 200 /);
    await idleGone;
    const late = connect(edge.port, '127.0.0.1');
    expect(((await once(late, 'error')) as [NodeJS.ErrnoException])[0].code).toBe('ECONNREFUSED');
  });

  test('a graceful stop waits for connections within a request, and for no silent ones', async () => {
    const silent: Promise<unknown>[] = [];
    for (const port of [edge.httpPort, edge.port]) {
      const socket = connect(port, '127.0.0.1');
      silent.push(textOf(socket));
      await once(socket, 'connect');
    }
    for (const version of ['http/1.1', 'h2']) {
      const shaken = open({ ALPNProtocols: [version] });
      silent.push(textOf(shaken));
      await once(shaken, 'secureConnect');
    }
    const begun = connect(edge.httpPort, '127.0.0.1');
    const text = textOf(begun);
    begun.write('GET / HTTP/1.1\r\nHost: shop.test\r\n');
    await new Promise((resolve) => setTimeout(resolve, 600));
    const began = performance.now();
    const stopped = edge.http.stop(GRACE_MS);
    await edge.tls.stop(GRACE_MS);
    await Promise.all(silent);
    expect(performance.now() - began).toBeLessThan(SOON_MS);
    begun.write('\r\n');
    expect(await text).toMatch(/^HTTP\/1\.1 200 /);
    await stopped;
    expect(performance.now() - began).toBeLessThan(SOON_MS);
  });

  test('a stop ends remaining connections after the grace period', async () => {
    const session = http2();
    session.request({ ':path': '/hang', ':authority': 'shop.test' }).on('error', () => undefined);
    const early = connect(edge.port, '127.0.0.1');
    const earlyGone = textOf(early);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const began = performance.now();
    await edge.tls.stop(300);
    expect(performance.now() - began).toBeLessThan(SOON_MS);
    expect(await earlyGone).toBe('');
  });
});

describe('silence', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  beforeAll(async () => {
    edge = await startTlsNode({ names: ['shop.test'], stallMs: 200 });
  });
  afterAll(() => edge.stop());

  test('over HTTP/1.1 a silent connection stays open while its origin is awaited', async () => {
    const socket = connect(edge.httpPort, '127.0.0.1');
    socket.write('GET /slow HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
    expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('over HTTP/1.1 a stalled upload ends its connection', async () => {
    const socket = connect(edge.httpPort, '127.0.0.1');
    socket.write('POST /slow HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 10\r\n\r\nhalf');
    const began = performance.now();
    await textOf(socket);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test('over HTTP/2 a silent connection stays open while its origin is awaited, and ends when it is idle or stalled', async () => {
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const closed = once(session, 'close');
    const stream = session.request({ ':path': '/slow', ':authority': 'shop.test' });
    stream.resume();
    expect((await once(stream, 'response'))[0][':status']).toBe(200);
    await closed;
    const other = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    other.on('error', () => undefined);
    const upload = other.request({ ':path': '/slow', ':method': 'POST', ':authority': 'shop.test' });
    upload.on('error', () => undefined);
    upload.write('half');
    await new Promise((resolve) => other.on('close', resolve));
    expect(upload.destroyed).toBe(true);
  });
});
