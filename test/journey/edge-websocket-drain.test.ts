/** What WebSockets get when the node drains: a Close with status 1001 between two frames, both ways. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { Agent, WebSocket } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';
import {
  type OriginWebSocket,
  startWebSocketOrigin,
  type WebSocketOrigin,
} from '../support/websocket-origin.ts';

const HANDSHAKE = [
  'GET /ws HTTP/1.1',
  'Host: shop.test',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
  '\r\n',
].join('\r\n');
const GOING_AWAY = Buffer.from([0x88, 2, 0x03, 0xe9]);
/** Octets of a masked Close with a status. */
const MASKED_CLOSE = 8;
const GRACE_MS = 60_000;
const SCHEMES = ['http', 'https', 'h2'] as const;

/** A frame of a server. */
function frame(octet: number, payload: Buffer): Buffer {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([octet, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = octet;
  head[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** A frame of a client, with a mask that is not zero. */
function masked(octet: number, payload: Buffer): Buffer {
  const plain = frame(octet, payload);
  const head = plain.subarray(0, plain.length - payload.length);
  head[1]! |= 0x80;
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([head, mask, payload.map((value, at) => value ^ mask[at % 4]!)]);
}

/** The status of a masked Close. */
function statusOf(close: Buffer): number {
  expect([close.length, close[0], close[1]]).toEqual([MASKED_CLOSE, 0x88, 0x82]);
  return ((close[6]! ^ close[2]!) << 8) | (close[7]! ^ close[3]!);
}

interface Client {
  readonly socket: Duplex;
  readonly received: () => Buffer;
  readonly ended: () => boolean;
}

describe('a WebSocket of a node that drains', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  let origin: WebSocketOrigin;
  const sessions: ClientHttp2Session[] = [];
  beforeEach(async () => {
    origin = await startWebSocketOrigin();
    edge = await startTlsNode({ names: ['shop.test'], originPort: origin.port });
  });
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.destroy();
    await origin.close();
    expect(edge.faults).toEqual([]);
    await edge.stop();
  });

  async function open(scheme: string): Promise<Client & { readonly origin: OriginWebSocket }> {
    const socket = await dial(scheme);
    let chunks = Buffer.alloc(0);
    let ended = false;
    socket.on('data', (chunk: Buffer) => {
      chunks = Buffer.concat([chunks, chunk]);
    });
    socket.on('end', () => {
      ended = true;
    });
    socket.on('error', () => undefined);
    let head = 0;
    if (scheme !== 'h2') {
      socket.write(HANDSHAKE);
      await until(() => chunks.includes('\r\n\r\n'), 'the head of the response');
      head = chunks.indexOf('\r\n\r\n') + 4;
    }
    const received = (): Buffer => chunks.subarray(head);
    return { socket, received, ended: () => ended, origin: await origin.next() };
  }

  async function dial(scheme: string): Promise<Duplex> {
    if (scheme === 'http') return connect(edge.httpPort, '127.0.0.1');
    const tls = { servername: 'shop.test', rejectUnauthorized: false };
    if (scheme === 'https') return connectTls({ port: edge.port, host: '127.0.0.1', ...tls });
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, tls);
    sessions.push(session);
    await once(session, 'remoteSettings');
    const stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':scheme': 'https',
      ':path': '/ws',
      ':authority': 'shop.test',
    });
    await once(stream, 'response');
    return stream;
  }

  function drain(): Promise<unknown> {
    return Promise.all([edge.tls.stop(GRACE_MS), edge.http.stop(GRACE_MS)]);
  }

  test.each(SCHEMES)('both sides get a Close, answer it, and the node is free (%s)', async (scheme) => {
    const { socket, received, ended, origin: server } = await open(scheme);
    socket.write(masked(0x81, Buffer.from('hello')));
    server.socket.write(frame(0x81, Buffer.from('hello')));
    await until(() => received().length === 7 && server.octets() === 11, 'the frames before');
    const began = performance.now();
    const drained = drain();
    await until(() => received().length === 11 && server.octets() === 11 + MASKED_CLOSE, 'both Closes');
    expect(received().subarray(7).equals(GOING_AWAY)).toBe(true);
    expect(statusOf(server.received().subarray(11))).toBe(1001);
    // Frames that cross the Close reach nobody.
    socket.write(masked(0x81, Buffer.from('late')));
    server.socket.write(frame(0x81, Buffer.from('late')));
    socket.write(masked(0x88, Buffer.from([0x03, 0xe9])));
    server.socket.end(frame(0x88, Buffer.from([0x03, 0xe9])));
    await until(() => ended() && server.ended(), 'the end of both connections');
    socket.end();
    await drained;
    expect([received().length, server.octets()]).toEqual([11, 11 + MASKED_CLOSE]);
    expect(performance.now() - began).toBeLessThan(4_900);
    expect(edge.entries.at(-1)).toMatchObject({ status: 101, fault: null });
    expect(server.error()).toBeNull();
  });

  test.each(SCHEMES.flatMap((scheme) => [100, 40_000, 300_000].map((length) => [scheme, length] as const)))(
    'the Close follows the frame under way, within a message (%s, frames of %d octets)',
    async (scheme, length) => {
      const { socket, received, origin: server } = await open(scheme);
      const payload = Buffer.alloc(length, 0x88);
      // The first fragment of a message that does not end, and a ping within it.
      const fromServer = Buffer.concat([
        frame(0x02, payload),
        frame(0x89, Buffer.from('p')),
        frame(0x00, payload),
      ]);
      const fromClient = Buffer.concat([
        masked(0x42, payload),
        masked(0x89, Buffer.from('p')),
        masked(0x00, payload),
      ]);
      const cut = 9;
      server.socket.write(fromServer.subarray(0, -cut));
      socket.write(fromClient.subarray(0, -cut));
      await until(() => server.octets() === fromClient.length - cut, 'the octets of the client');
      await until(() => received().length === fromServer.length - cut, 'the octets of the origin');
      edge.node.handler.leave();
      // The rest comes in pieces: nothing is inserted into a frame.
      for (const at of [cut, cut - 1]) {
        server.socket.write(fromServer.subarray(-at, at === cut ? -cut + 1 : undefined));
        socket.write(fromClient.subarray(-at, at === cut ? -cut + 1 : undefined));
      }
      await until(() => received().length === fromServer.length + GOING_AWAY.length, 'the Close');
      await until(() => server.octets() === fromClient.length + MASKED_CLOSE, 'the Close at the origin');
      expect(received().subarray(0, fromServer.length).equals(fromServer)).toBe(true);
      expect(received().subarray(fromServer.length).equals(GOING_AWAY)).toBe(true);
      expect(server.received().subarray(0, fromClient.length).equals(fromClient)).toBe(true);
      expect(statusOf(server.received().subarray(fromClient.length))).toBe(1001);
      socket.destroy();
    },
  );

  test('a head that is cut at every octet is followed', async () => {
    const { received, socket, origin: server } = await open('http');
    server.socket.setNoDelay();
    const whole = frame(0x82, Buffer.alloc(70_000, 0x88));
    for (let at = 0; at < 10; at++) {
      server.socket.write(whole.subarray(at, at + 1));
      await until(() => received().length === at + 1, 'an octet of the head');
    }
    edge.node.handler.leave();
    server.socket.write(whole.subarray(10));
    await until(() => received().length === whole.length + GOING_AWAY.length, 'the Close');
    expect(received().subarray(-GOING_AWAY.length).equals(GOING_AWAY)).toBe(true);
    socket.destroy();
  });

  test('a closing handshake that is under way is not disturbed', async () => {
    const { received, socket, origin: server, ended } = await open('http');
    const close = masked(0x88, Buffer.from([0x03, 0xe8]));
    socket.write(close);
    await until(() => server.octets() === close.length, 'the Close of the client');
    const drained = drain();
    const answer = frame(0x88, Buffer.from([0x03, 0xe8]));
    server.socket.end(answer);
    await until(ended, 'the end of the connection');
    socket.end();
    await drained;
    expect(received().equals(answer)).toBe(true);
    expect(server.received().equals(close)).toBe(true);
  });

  test.each(SCHEMES)('a peer that does not answer is left after a while (%s)', async (scheme) => {
    const { received, socket } = await open(scheme);
    const began = performance.now();
    await drain();
    expect(performance.now() - began).toBeLessThan(GRACE_MS / 2);
    await until(() => socket.closed, 'the end of the connection');
    expect(received().equals(GOING_AWAY)).toBe(true);
  });

  test('a frame that does not end gets no Close, and its connection ends all the same', async () => {
    const { received, origin: server, socket } = await open('http');
    const part = frame(0x82, Buffer.alloc(1_000)).subarray(0, 500);
    server.socket.write(part);
    await until(() => received().length === part.length, 'the part of a frame');
    await drain();
    await until(() => socket.closed, 'the end of the connection');
    expect(received().equals(part)).toBe(true);
  });

  test('a WebSocket that is opened while the node drains is closed alike', async () => {
    edge.node.handler.leave();
    const { received } = await open('http');
    await until(() => received().equals(GOING_AWAY), 'the Close');
  });

  test('a client of the WebSocket API sees 1001', async () => {
    const { port } = edge.http.address;
    const dispatcher = new Agent({
      connect: { lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) },
    });
    const socket = new WebSocket(`ws://shop.test:${port}/ws`, { dispatcher });
    socket.addEventListener('error', () => undefined);
    await once(socket as never, 'open');
    const [event] = await Promise.all([once(socket as never, 'close'), drain()]);
    expect(event[0]).toMatchObject({ code: 1001, wasClean: true });
  });
});
