/**
 * What HTTP/2 and TLS let a client do beside asking for something: floods of small frames, streams without end, windows
 * that never open. Told by the frames themselves, on nodes whose time-outs are far away, so that nothing else ends them.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createConnectionBounds } from '../../src/edge/listeners/connection-limits.ts';
import {
  CONTROL_FRAMES_PER_SECOND,
  MAX_CONTROL_FRAMES,
  MAX_STREAM_RESETS,
  MAX_STREAMS,
} from '../../src/edge/proxy/limits.ts';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type RawOrigin, say, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  type Frame,
  field,
  frame,
  number32,
  openRawHttp2,
  type RawHttp2,
  requestFields,
  setting,
} from '../support/raw-http2.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const LAST = 'GET /last HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n';
const CANCEL = 8;
const INTERNAL_ERROR = 2;
const REFUSED_STREAM = 7;
const ENHANCE_YOUR_CALM = 11;
const LARGE = 8 * 1024 * 1024;
/** Octets that a flood sends at most: far more than kernel buffers hold, so that who does not read is seen. */
const FLOOD = 128 * 1024 * 1024;
/** Octets by which the process may grow under one, node and client together. */
const FLAT = 64 * 1024 * 1024;

function get(stream: number, path: string): Buffer {
  return frame(FRAME.headers, END_HEADERS | END_STREAM, stream, requestFields(path));
}

/** Sends a piece again and again until the connection ends or takes no more. @returns the octets that were taken */
async function flood(client: RawHttp2, piece: Buffer): Promise<number> {
  const { socket } = client;
  let taken = 0;
  let movedAt = performance.now();
  while (!socket.destroyed && taken < FLOOD) {
    if (socket.writableLength === 0) {
      socket.write(piece);
      taken += piece.length;
      movedAt = performance.now();
    } else if (performance.now() - movedAt > 2_000) return taken;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return taken;
}

/** Connections to the origin that the requests of one test may leave open. */
const WAITING_CONNECTIONS = 5;

const many = (piece: Buffer): Buffer => Buffer.concat(Array<Buffer>(1_000).fill(piece));

describe('a client of HTTP/2', requires(OPENSSL_MISSING), () => {
  let origin: RawOrigin;
  let edge: TlsNode;
  /** Answers the request for `/late`; `null`: it has not arrived. */
  let answer: (() => void) | null = null;
  beforeAll(async () => {
    origin = await startRawOrigin(({ path, socket }) => {
      if (path === '/large')
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${LARGE}\r\n\r\n${'x'.repeat(LARGE)}`);
      else if (path === '/late')
        answer = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      else if (path !== '/hold') socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    edge = await startTlsNode({ names: ['shop.test'], originPort: origin.port });
  });
  afterAll(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
    await origin.close();
  });

  test.each([
    [
      'frames without octets',
      [frame(FRAME.headers, END_HEADERS, 1, requestFields('/hold', 'POST'))],
      many(frame(FRAME.data, 0, 1)),
    ],
    [
      'fields without end',
      [frame(FRAME.headers, 0, 1, requestFields('/hold'))],
      frame(FRAME.continuation, 0, 1, field('x', 'y'.repeat(100))),
    ],
    [
      'fields without octets',
      [frame(FRAME.headers, 0, 1, requestFields('/hold'))],
      frame(FRAME.continuation, 0, 1),
    ],
  ])('a client that floods with %s loses its connection', async (_what, start, piece) => {
    const before = process.memoryUsage().rss;
    const client = await openRawHttp2(edge.port);
    client.send(...start);
    // Answers are not read: they are what such a flood is to pile up.
    client.socket.pause();
    expect(await flood(client, piece)).toBeLessThan(FLOOD / 4);
    client.socket.resume();
    await client.closed;
    expect(process.memoryUsage().rss - before).toBeLessThan(FLAT);
    expect(statusesOf(await say(edge.httpPort, LAST))).toEqual([200]);
  });

  test.each([
    ['pings', many(frame(FRAME.ping, 0, 0, Buffer.alloc(8)))],
    ['settings', many(frame(FRAME.settings, 0, 0, setting(3, 100)))],
  ])(
    'that floods with %s and reads no answer is not read either, and is left in the end',
    async (_what, piece) => {
      const held = createConnectionBounds({
        maxConnections: 9,
        perAddress: 9,
        isProxy: () => false,
        onRefused: () => undefined,
      });
      const quick = await startTlsNode({
        names: ['shop.test'],
        originPort: origin.port,
        stallMs: 3_000,
        connections: held,
      });
      const before = process.memoryUsage().rss;
      const client = await openRawHttp2(quick.port);
      client.socket.pause();
      expect(await flood(client, piece)).toBeLessThan(FLOOD / 2);
      expect(process.memoryUsage().rss - before).toBeLessThan(FLAT);
      await until(() => held.counts().open === 0, 'the connection is ended');
      client.socket.destroy();
      await quick.stop();
    },
  );

  test.each([
    ['pings', many(frame(FRAME.ping, 0, 0, Buffer.alloc(8)))],
    ['settings', many(frame(FRAME.settings, 0, 0, setting(3, 100)))],
  ])('a client that floods with %s and reads every reply gets ENHANCE_YOUR_CALM', async (_what, piece) => {
    const client = await openRawHttp2(edge.port);
    expect(await flood(client, piece)).toBeLessThan(FLOOD / 4);
    await client.closed;
    expect(client.goaway()).toBe(ENHANCE_YOUR_CALM);
  });

  // Node tells of neither kind. An octet of them costs the node half of what an octet of a body does, and no answer.
  test.each([
    ['windows', many(frame(FRAME.window, 0, 0, number32(1)))],
    [
      'priorities of streams that are none yet',
      Buffer.concat(
        Array.from({ length: 4_000 }, (_, index) =>
          frame(FRAME.priority, 0, 2 * index + 3, Buffer.from([0, 0, 0, 0, 7])),
        ),
      ),
    ],
  ])('a flood of %s uses bounded memory, and other clients are answered meanwhile', async (_what, piece) => {
    const client = await openRawHttp2(edge.port);
    client.send(frame(FRAME.headers, END_HEADERS, 1, requestFields('/hold', 'POST')));
    const before = process.memoryUsage().rss;
    let ended = false;
    const flooding = flood(client, piece).finally(() => {
      ended = true;
    });
    let answered = 0;
    for (; !ended; answered++) {
      const began = performance.now();
      expect(statusesOf(await say(edge.httpPort, LAST))).toEqual([200]);
      expect(performance.now() - began).toBeLessThan(2_000);
    }
    expect(await flooding).toBeGreaterThan(0);
    expect(answered).toBeGreaterThan(0);
    expect(process.memoryUsage().rss - before).toBeLessThan(FLAT);
    expect(client.frames.filter(({ type }) => type === FRAME.ping)).toEqual([]);
    client.socket.destroy();
  });

  test('a client with the allowed number and rate of pings is served', async () => {
    const client = await openRawHttp2(edge.port);
    const ping = frame(FRAME.ping, 0, 0, Buffer.alloc(8));
    const answers = (): number => client.frames.filter(({ type }) => type === FRAME.ping).length;
    let sent = MAX_CONTROL_FRAMES - 1;
    client.send(...Array<Buffer>(sent).fill(ping));
    await until(() => answers() === sent, 'the answers to all');
    // Below what comes back each second, for longer than none would last.
    for (; sent < MAX_CONTROL_FRAMES + 50; sent++) {
      client.send(ping);
      await new Promise((resolve) => setTimeout(resolve, 4_000 / CONTROL_FRAMES_PER_SECOND));
    }
    client.send(get(1, '/after'));
    await until(() => client.frames.some(({ type }) => type === FRAME.headers), 'an answer');
    expect([answers(), client.goaway()]).toEqual([sent, null]);
    client.socket.destroy();
  });

  test('a client that opens and resets streams at once loses its connection, and few requests reach its origin', async () => {
    const client = await openRawHttp2(edge.port);
    const ids = Array.from({ length: MAX_STREAM_RESETS + 1 }, (_, index) => 2 * index + 1);
    client.send(...ids.flatMap((id) => [get(id, '/breath'), frame(FRAME.reset, 0, id, number32(CANCEL))]));
    await client.closed;
    expect(client.goaway()).toBe(ENHANCE_YOUR_CALM);
    // What goes out at once has a connection that waited for it; everything else is given up before its turn.
    const asked = origin.seen.filter((one) => one === 'GET /breath').length;
    expect(asked).toBeLessThanOrEqual(WAITING_CONNECTIONS);
  });

  test.each([
    ['a window that grows by nothing', '/hold', (id: number) => frame(FRAME.window, 0, id, number32(0))],
    ['a window that is too large', '/hold', (id: number) => frame(FRAME.window, 0, id, number32(0x7fffffff))],
  ])(
    'a client that makes the node reset its streams by %s loses its connection',
    async (_what, path, mistake) => {
      const client = await openRawHttp2(edge.port);
      let id = 1;
      for (; !client.socket.destroyed && id < 4_000; id += 2) {
        client.send(get(id, path), mistake(id));
        if (id % 20 === 1) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect(id).toBeLessThan(4_000);
    },
  );

  describe('of a node that retires', () => {
    const ended = ({ frames }: RawHttp2): readonly number[] =>
      frames.filter(({ flags, type }) => type <= 1 && (flags & END_STREAM) !== 0).map(({ stream }) => stream);
    const lastStreams = ({ frames }: RawHttp2): readonly number[] =>
      frames.filter(({ type }) => type === FRAME.goaway).map(({ content }) => content.readUInt32BE(0));
    let leaving: TlsNode;
    let client: RawHttp2;

    beforeEach(async () => {
      answer = null;
      leaving = await startTlsNode({ names: ['shop.test'], originPort: origin.port });
      client = await openRawHttp2(leaving.port);
      client.send(get(1, '/first'));
      await until(() => ended(client).includes(1), 'the first response');
    });
    afterEach(async () => {
      client.socket.destroy();
      await leaving.stop();
    });

    test('a connection without requests ends, and names the last one that was served', async () => {
      leaving.tls.retire();
      await client.closed;
      expect(lastStreams(client)[0]).toBe(1);
    });

    test('open requests are served, and those that come after the GOAWAY are above the last one', async () => {
      client.send(get(3, '/late'));
      await until(() => answer !== null, 'the open request');
      leaving.tls.retire();
      await until(() => client.goaway() === 0, 'the GOAWAY');
      client.send(get(5, '/next'));
      answer!();
      await client.closed;
      expect(ended(client)).toEqual([1, 3]);
      expect(lastStreams(client)[0]).toBe(3);
      expect(origin.seen).not.toContain('GET /next');
    });

    test('a connection that comes later has its first request served', async () => {
      leaving.tls.retire();
      await client.closed;
      const later = await openRawHttp2(leaving.port);
      later.send(get(1, '/later'));
      await later.closed;
      expect([ended(later), lastStreams(later)[0]]).toEqual([[1], 1]);
    });
  });

  test('streams above the limit are refused, whether or not the client has read the settings', async () => {
    const asked = origin.seen.length;
    const client = await openRawHttp2(edge.port);
    const ids = Array.from({ length: MAX_STREAMS + 20 }, (_, index) => 2 * index + 1);
    client.send(...ids.map((id) => get(id, '/hold')));
    await until(() => client.frames.filter(({ type }) => type === FRAME.reset).length >= 20, 'refusals');
    const refused = client.frames.filter(({ type }) => type === FRAME.reset);
    expect(refused.map(({ stream }) => stream)).toEqual(ids.slice(MAX_STREAMS));
    expect(new Set(refused.map(({ content }) => content.readUInt32BE(0)))).toEqual(new Set([REFUSED_STREAM]));
    expect(origin.seen.length - asked).toBeLessThanOrEqual(MAX_STREAMS);
    client.socket.destroy();
    await until(() => origin.open.size <= 1, 'the origin is left');
  });

  test.each([[20], [150], [1_000]])(
    'whose %d fields grow when they are unpacked gets 431, and the connection goes on',
    async (count) => {
      const client = await openRawHttp2(edge.port);
      // Put into the table once (RFC 7541 §6.2.1), and said again by an octet each.
      const stored = Buffer.concat([Buffer.from([0x40]), field('x', 'y'.repeat(3_900)).subarray(1)]);
      const packed = Buffer.concat([requestFields('/bomb'), stored, Buffer.alloc(count, 0xbe)]);
      client.send(frame(FRAME.headers, END_HEADERS | END_STREAM, 1, packed), get(3, '/after'));
      const head = (id: number): Frame | undefined =>
        client.frames.find(({ type, stream }) => type === FRAME.headers && stream === id);
      await until(() => head(3), 'an answer');
      // `:status` by its name's index, then 431 as it is.
      expect(head(1)?.content.toString('latin1', 0, 5)).toBe('H\x03431');
      expect(origin.seen).not.toContain('GET /bomb');
      client.socket.destroy();
    },
  );
});

describe('a client that sends pings', requires(OPENSSL_MISSING), () => {
  let origin: RawOrigin;
  let edge: TlsNode;
  beforeAll(async () => {
    origin = await startRawOrigin(({ path, socket }) => {
      if (path === '/large')
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${LARGE}\r\n\r\n${'x'.repeat(LARGE)}`);
      if (path === '/late')
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'), 3_500);
    });
    edge = await startTlsNode({
      names: ['shop.test'],
      originPort: origin.port,
      stallMs: 1_500,
      idleMs: 30_000,
      requestMs: 4_000,
      headMs: 4_000,
    });
  });
  afterAll(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
    await origin.close();
  });

  async function pinging(settings?: Buffer): Promise<RawHttp2> {
    const client = await openRawHttp2(edge.port, settings);
    const timer = setInterval(() => client.send(frame(FRAME.ping, 0, 0, Buffer.alloc(8))), 200);
    client.socket.once('close', () => clearInterval(timer));
    return client;
  }

  function resetOf(client: RawHttp2, id: number): Promise<number> {
    return until(
      () => client.frames.find(({ type, stream }) => type === FRAME.reset && stream === id),
      `stream ${id} is reset`,
      20_000,
    ).then(({ content }) => content.readUInt32BE(0));
  }

  test('a client that opens no window loses the stream, and the request to its origin is aborted', async () => {
    const client = await pinging(setting(4, 0));
    client.send(get(1, '/large'));
    // No END_STREAM comes before, and no NO_ERROR: the client does not take what it has for the whole.
    expect(await resetOf(client, 1)).toBe(INTERNAL_ERROR);
    await until(() => origin.open.size === 0, 'the origin is left');
    await until(() => edge.entries.at(-1)?.exchange?.request.target === '/large', 'the journal tells of it');
    client.send(get(3, '/late'));
    await until(
      () => client.frames.some(({ type, stream }) => type === FRAME.headers && stream === 3),
      'an answer',
    );
    client.socket.destroy();
  });

  test('a client that stops within its body loses the stream, and the request to its origin is aborted', async () => {
    const client = await pinging();
    client.send(
      frame(FRAME.headers, END_HEADERS, 1, requestFields('/hold', 'POST')),
      frame(FRAME.data, 0, 1, Buffer.from('half')),
    );
    await until(() => origin.open.size > 0, 'the origin is asked');
    expect(await resetOf(client, 1)).toBe(CANCEL);
    await until(() => origin.open.size === 0, 'the origin is left');
    client.socket.destroy();
  });

  test.each([['HTTP/2'], ['HTTP/1.1']])(
    'and sends its body over %s bit by bit has a time to be done in',
    async (version) => {
      if (version === 'HTTP/1.1') {
        const socket = connect(edge.httpPort, '127.0.0.1');
        const text = textOf(socket);
        socket.write('POST /hold HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 1000\r\n\r\n');
        const timer = setInterval(() => socket.write('x'), 300);
        socket.once('close', () => clearInterval(timer));
        expect(statusesOf(await text)).toEqual([408]);
      } else {
        const client = await pinging();
        client.send(frame(FRAME.headers, END_HEADERS, 1, requestFields('/hold', 'POST')));
        const timer = setInterval(() => client.send(frame(FRAME.data, 0, 1, Buffer.alloc(1))), 300);
        client.socket.once('close', () => clearInterval(timer));
        expect(await resetOf(client, 1)).toBe(CANCEL);
        client.socket.destroy();
      }
      await until(() => origin.open.size === 0, 'the origin is left');
    },
  );

  test('a stream stays open for as long as its origin takes', async () => {
    const client = await pinging();
    client.send(get(1, '/late'));
    await until(() => client.frames.some(({ type }) => type === FRAME.headers), 'an answer');
    expect(client.frames.filter(({ type }) => type === FRAME.reset)).toEqual([]);
    client.socket.destroy();
  });
});

describe('a client of TLS 1.2', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  beforeAll(async () => {
    edge = await startTlsNode({ names: ['shop.test'], fallback: 'shop.test' });
  });
  afterAll(() => edge.stop());

  test.each([['that names a host'], ['that names none']])('a client %s cannot renegotiate', async (what) => {
    const socket = connectTls({
      port: edge.port,
      host: '127.0.0.1',
      ...(what === 'that names a host' ? { servername: 'shop.test' } : {}),
      rejectUnauthorized: false,
      maxVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
    });
    await once(socket, 'secureConnect');
    const refusal = once(socket, 'error') as Promise<[NodeJS.ErrnoException]>;
    const made = new Promise<string>((resolve) =>
      socket.renegotiate({}, (error) => error === null && resolve('made')),
    );
    const outcome = await Promise.race([made, refusal.then(([error]) => error.code)]);
    expect(outcome).toBe('ERR_SSL_NO_RENEGOTIATION');
    expect(statusesOf(await say(edge.httpPort, LAST))).toEqual([200]);
  });
});
