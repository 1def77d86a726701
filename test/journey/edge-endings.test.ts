/**
 * Responses reach visitors as their origins send them: the head when it comes, and an early end as one, over HTTP/1.1, TLS and
 * HTTP/2, from the cache and for requests that share a response.
 */
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCache } from '../../src/edge/cache/cache.ts';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type Asked, type RawOrigin, startRawOrigin } from '../support/raw.ts';
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  type Frame,
  frame,
  number32,
  openRawHttp2,
  requestFields,
  setting,
} from '../support/raw-http2.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const HEAD = 'HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const ZIPPED = `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n`;

/** A response as a visitor sees it arrive. */
interface Received {
  status: number;
  body: string;
  /** It has ended in the way that its protocol has for a whole one; `null`: it has not ended. */
  whole: boolean | null;
}

const PROTOCOLS = ['HTTP/1.1', 'HTTP/1.1 over TLS', 'HTTP/2'] as const;
type Protocol = (typeof PROTOCOLS)[number];

function ask(edge: TlsNode, protocol: Protocol, path: string): Received {
  const received: Received = { status: 0, body: '', whole: null };
  if (protocol === 'HTTP/2') {
    const options = { servername: 'shop.test', rejectUnauthorized: false };
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, options);
    session.on('error', () => undefined);
    const stream = session.request({ ':path': path, ':authority': 'shop.test' });
    stream.on('response', (headers) => {
      received.status = headers[':status'] ?? 0;
    });
    stream.on('data', (chunk) => {
      received.body += chunk;
    });
    stream.on('error', () => undefined);
    stream.on('close', () => {
      received.whole = stream.rstCode === 0;
      session.destroy();
    });
    return received;
  }
  const tls = { port: edge.port, host: '127.0.0.1', servername: 'shop.test', rejectUnauthorized: false };
  const socket: Socket = protocol === 'HTTP/1.1' ? connect(edge.httpPort, '127.0.0.1') : connectTls(tls);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    const at = text.indexOf('\r\n\r\n');
    if (at < 0) return;
    received.status = Number(text.slice(9, 12));
    received.body = text.slice(at + 4);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    const length = /content-length: (\d+)/i.exec(text);
    received.whole =
      length === null ? received.body.endsWith('0\r\n\r\n') : received.body.length === Number(length[1]);
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`);
  return received;
}

/** Origins' sockets by path, for tests that continue a response when its start has arrived. */
const sockets = new Map<string, Socket[]>();

function answer({ path, socket, before }: Asked): void {
  sockets.set(path, [...(sockets.get(path) ?? []), socket]);
  const kind = path.split('/')[1];
  if (before > 0 && kind !== 'idle') return void socket.write(`${HEAD}Content-Length: 5\r\n\r\nWHOLE`);
  if (kind === 'head' || kind === 'idle') socket.write(CHUNKED);
  if (kind === 'chunked') socket.write(`${CHUNKED}4\r\npart\r\n`);
  if (kind === 'length') socket.write(`${HEAD}Content-Length: 9\r\n\r\npart`);
  if (kind === 'close') socket.write(`${HEAD}\r\npart`);
  if (kind === 'once') socket.end(`${HEAD}Content-Length: 9000\r\n\r\n${'x'.repeat(8_000)}`);
  if (kind === 'zip') {
    const octets = gzipSync('hello');
    const size = octets.length.toString(16);
    socket.write(Buffer.concat([Buffer.from(`${ZIPPED}${size}\r\n`), octets, Buffer.from('\r\n0\r\n\r\n')]));
  }
  if (kind === 'compress') socket.write(`${HEAD}Transfer-Encoding: compress, chunked\r\n\r\n0\r\n\r\n`);
}

function socketOf(path: string): Promise<Socket> {
  return until(() => sockets.get(path)?.at(-1), `the origin is asked for ${path}`);
}

describe('a response', requires(OPENSSL_MISSING), () => {
  let origin: RawOrigin;
  let edge: TlsNode;
  beforeAll(async () => {
    origin = await startRawOrigin(answer);
    edge = await startTlsNode({
      names: ['shop.test'],
      originPort: origin.port,
      cache: createCache({
        memoryOctets: 10_000_000,
        directory: null,
        diskShare: 1,
        onFault: (error) => edge.faults.push(error),
      }),
      plan: { rules: [{ id: 1, type: 'cache', mode: 'standard' }] },
      requestIdleMs: 1_500,
    });
  });
  afterAll(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
    await origin.close();
  });

  function faultOf(path: string): Promise<string | null> {
    const entry = () => edge.entries.find(({ exchange }) => exchange?.request.target === path);
    return until(entry, `${path} is logged`).then(({ fault }) => fault);
  }

  test.each(PROTOCOLS)('over %s its head arrives before its first octet', async (protocol) => {
    const path = `/head/${protocol.length}`;
    const received = ask(edge, protocol, path);
    const socket = await socketOf(path);
    await until(() => received.status === 200, 'the head arrives');
    socket.write('5\r\nhello\r\n0\r\n\r\n');
    await until(() => received.whole !== null, 'the response ends');
    expect([received.whole, received.body]).toEqual([true, expect.stringContaining('hello')]);
  });

  test.each(
    PROTOCOLS.flatMap((protocol) =>
      ['head', 'chunked', 'length', 'close'].flatMap((kind) =>
        kind === 'close'
          ? [[protocol, kind, 'rst']]
          : [
              [protocol, kind, 'rst'],
              [protocol, kind, 'fin'],
            ],
      ),
    ) as [Protocol, string, string][],
  )(
    'over %s it ends early where its origin ends it early (%s, %s), and is not cached',
    async (protocol, kind, how) => {
      const path = `/${kind}/${protocol.length}/${how}`;
      const received = ask(edge, protocol, path);
      const socket = await socketOf(path);
      await until(() => received.status === 200, 'the head arrives');
      if (kind !== 'head') await until(() => received.body.includes('part'), 'its start arrives');
      if (how === 'rst') socket.resetAndDestroy();
      else socket.end();
      await until(() => received.whole !== null, 'the response ends');
      expect([received.whole, await faultOf(path)]).toEqual([false, 'cut']);
      const next = ask(edge, protocol, path);
      await until(() => next.whole !== null, 'the next response ends');
      expect([next.whole, next.body]).toEqual([true, 'WHOLE']);
    },
  );

  test.each(PROTOCOLS)(
    'over %s it is a 502 where it breaks off before anything was sent',
    async (protocol) => {
      const path = `/once/${protocol.length}`;
      const received = ask(edge, protocol, path);
      await until(() => received.whole !== null, 'a response ends');
      // Where the machine is slow, the end may arrive after the start was sent.
      if (received.status === 200) expect(received.whole).toBe(false);
      else expect([received.status, received.whole]).toEqual([502, true]);
      expect(await faultOf(path)).toBe('cut');
    },
  );

  test('every request that shares a response sees its early end', async () => {
    const path = '/chunked/shared';
    const secure: readonly Protocol[] = ['HTTP/1.1 over TLS', 'HTTP/2', 'HTTP/1.1 over TLS', 'HTTP/2'];
    const all = secure.map((protocol) => ask(edge, protocol, path));
    const socket = await socketOf(path);
    await until(() => all.every(({ body }) => body.includes('part')), 'all have its start');
    expect(sockets.get(path)).toHaveLength(1);
    socket.resetAndDestroy();
    await until(() => all.every(({ whole }) => whole !== null), 'all end');
    expect(all.map(({ whole }) => whole)).toEqual(all.map(() => false));
  });

  test('to HTTP/1.0 an early end is a reset of the connection', async () => {
    const socket = connect(edge.httpPort, '127.0.0.1');
    let code: string | undefined;
    let text = '';
    socket.on('error', (error: NodeJS.ErrnoException) => {
      code = error.code;
    });
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write('GET /chunked/old HTTP/1.0\r\nHost: shop.test\r\n\r\n');
    const from = await socketOf('/chunked/old');
    await until(() => text.endsWith('part'), 'its start arrives');
    from.resetAndDestroy();
    await until(() => socket.destroyed, 'the connection ends');
    expect(code).toBe('ECONNRESET');
  });

  test.each(PROTOCOLS)('over %s its transfer coding is removed, or it is a 502', async (protocol) => {
    const whole = ask(edge, protocol, `/zip/${protocol.length}`);
    const unknown = ask(edge, protocol, `/compress/${protocol.length}`);
    await until(() => whole.whole !== null && unknown.whole !== null, 'both end');
    expect([whole.status, whole.whole, whole.body.includes('hello')]).toEqual([200, true, true]);
    expect(unknown.status).toBe(502);
  });

  test.each(PROTOCOLS)('over %s its origin is named for the early end after a silence', async (protocol) => {
    const path = `/idle/${protocol.length}`;
    const received = ask(edge, protocol, path);
    await until(() => received.whole !== null, 'the response ends', 20_000);
    expect([received.status, received.whole, await faultOf(path)]).toEqual([200, false, 'timeout']);
  });
});

describe('a silence within a response', requires(OPENSSL_MISSING), () => {
  test.each(PROTOCOLS)('over %s may last as long as the `timeout` of the record', async (protocol) => {
    const origin = await startRawOrigin(answer);
    const edge = await startTlsNode({
      names: ['shop.test'],
      originPort: origin.port,
      stallMs: 300,
      requestIdleMs: 300,
      plan: { record: { timeout: 60 } },
    });
    const path = `/idle/long/${protocol.length}`;
    const received = ask(edge, protocol, path);
    const socket = await socketOf(path);
    await until(() => received.status === 200, 'the head arrives');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    socket.write('5\r\nhello\r\n0\r\n\r\n');
    await until(() => received.whole !== null, 'the response ends');
    expect([received.whole, edge.entries.at(-1)!.fault]).toEqual([true, null]);
    await edge.stop();
    await origin.close();
  });
});

describe('a visitor that takes nothing of a response', requires(OPENSSL_MISSING), () => {
  let origin: RawOrigin;
  let edge: TlsNode;
  beforeAll(async () => {
    const octets = Buffer.alloc(48 * 1024 * 1024, 'x');
    origin = await startRawOrigin(({ path, socket }) => {
      const body = path.startsWith('/large') ? octets : Buffer.from('ok');
      socket.write(`${HEAD}Content-Length: ${path === '/open' ? 9 : body.length}\r\n\r\n`);
      socket.write(body);
    });
    edge = await startTlsNode({
      names: ['shop.test'],
      originPort: origin.port,
      bufferOctets: 0,
      rate: { minRate: 1_024, graceMs: 300, windowMs: 700 },
    });
  });
  afterAll(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
    await origin.close();
  });

  async function expectSlow(path: string): Promise<void> {
    const entry = () => edge.entries.find(({ exchange }) => exchange?.request.target === path);
    expect((await until(entry, `${path} is logged`)).fault).toBe('slow');
  }

  test.each(['HTTP/1.1', 'HTTP/1.1 over TLS'])(
    'over %s loses its connection, and its origin too',
    async (protocol) => {
      const path = `/large/${protocol.length}`;
      const tls = { port: edge.port, host: '127.0.0.1', servername: 'shop.test', rejectUnauthorized: false };
      const socket = protocol === 'HTTP/1.1' ? connect(edge.httpPort, '127.0.0.1') : connectTls(tls);
      socket.on('error', () => undefined);
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: shop.test\r\n\r\n`);
      await expectSlow(path);
      await until(() => origin.open.size === 0, 'the origin is left');
      socket.destroy();
    },
  );

  test.each(['/large', '/open', '/small'])(
    'over HTTP/2 with a window of 0 loses the stream of %s, and its origin too',
    async (path) => {
      const client = await openRawHttp2(edge.port, setting(4, 0));
      client.send(frame(FRAME.headers, END_HEADERS | END_STREAM, 1, requestFields(path)));
      const isReset = ({ type, stream }: Frame): boolean => type === FRAME.reset && stream === 1;
      const reset = await until(() => client.frames.find(isReset), 'the stream is reset');
      expect(reset.content.readUInt32BE(0)).not.toBe(0);
      const ends = client.frames.filter(({ type, flags }) => type === FRAME.data && flags === END_STREAM);
      expect(ends).toEqual([]);
      await expectSlow(path);
      if (path !== '/small') await until(() => origin.open.size === 0, 'the origin is left');
      client.socket.destroy();
    },
  );

  test('over HTTP/2 keeps its stream while it takes more than the minimum rate in small windows', async () => {
    const client = await openRawHttp2(edge.port, setting(4, 0));
    client.send(frame(FRAME.headers, END_HEADERS | END_STREAM, 1, requestFields('/large/little')));
    client.send(frame(FRAME.window, 0, 0, number32(100_000_000)));
    const more = setInterval(() => client.send(frame(FRAME.window, 0, 1, number32(4_000))), 50);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    clearInterval(more);
    expect(client.frames.filter(({ type }) => type === FRAME.reset)).toEqual([]);
    client.socket.destroy();
    await until(() => origin.open.size === 0, 'the origin is left');
  });
});
