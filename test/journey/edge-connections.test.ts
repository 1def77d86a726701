/** Clients that hold many connections: what comes above a bound is closed, counted and told; idle ones make room. */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type ConnectionBounds,
  type ConnectionBoundsOptions,
  createConnectionBounds,
} from '../../src/edge/listeners/connection-limits.ts';
import { startTlsNode, type TlsNode, type TlsNodeOptions } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { say, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import { openRawHttp2 } from '../support/raw-http2.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const GET = 'GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n';
const LAST = 'GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n';
const WISH = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Bounded {
  readonly edge: TlsNode;
  readonly bounds: ConnectionBounds;
  readonly told: string[];
}

async function start(
  most: Partial<ConnectionBoundsOptions>,
  more: Partial<TlsNodeOptions> = {},
): Promise<Bounded> {
  const told: string[] = [];
  const bounds = createConnectionBounds({
    maxConnections: 1_000,
    perAddress: 1_000,
    isProxy: () => false,
    onRefused: (bound) => told.push(bound),
    ...most,
  });
  const edge = await startTlsNode({ names: ['shop.test'], connections: bounds, ...more });
  closing.push(() => edge.stop());
  return { edge, bounds, told };
}

/** A connection within a request, which is not ended to make room. */
async function hold(port: number, bounds: ConnectionBounds, before = ''): Promise<Socket> {
  const { open } = bounds.counts();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  closing.push(() => socket.destroy());
  socket.write(`${before}GET /hang HTTP/1.1\r\nHost: shop.test\r\n\r\n`);
  await until(() => bounds.counts().open === open + 1, 'the connection is taken');
  return socket;
}

describe('connections', requires(OPENSSL_MISSING), () => {
  test('connections above the limit are closed on every listener, and accepted again when others end', async () => {
    const { edge, bounds, told } = await start({ maxConnections: 3 });
    const held = await hold(edge.httpPort, bounds);
    await hold(edge.httpPort, bounds);
    await hold(edge.httpPort, bounds);
    expect(await say(edge.httpPort, LAST)).toBe('');
    expect(await say(edge.port, LAST)).toBe('');
    expect(bounds.counts()).toEqual({ open: 3, refused: { all: 2, address: 0 } });
    // Not at every connection.
    expect(told).toEqual(['all']);
    held.destroy();
    await until(() => bounds.counts().open === 2, 'room');
    expect(statusesOf(await say(edge.httpPort, LAST))).toEqual([200]);
  });

  test('idle connections are closed before a new one is refused', async () => {
    const { edge, bounds } = await start({ maxConnections: 4 });
    const idle = connect(edge.httpPort, '127.0.0.1');
    const text = textOf(idle);
    idle.write(GET);
    await until(() => edge.entries.length === 1, 'an answer');
    const session = await openRawHttp2(edge.port);
    await until(() => bounds.counts().open === 2, 'both are there');
    await hold(edge.httpPort, bounds);
    const next = connect(edge.httpPort, '127.0.0.1');
    closing.push(() => next.destroy());
    next.write(GET);
    expect(statusesOf(await text)).toEqual([200]);
    await session.closed;
    await until(() => edge.entries.length === 2, 'the next is served');
    expect(bounds.counts().refused).toEqual({ all: 0, address: 0 });
  });

  test('the limit of an address counts the address that a proxy sends', async () => {
    const { edge, bounds, told } = await start(
      { perAddress: 2, isProxy: (address) => address === '198.51.100.1' },
      { proxies: ['127.0.0.0/8'] },
    );
    const from = (address: string): string =>
      `PROXY TCP${address.includes(':') ? 6 : 4} ${address} ${address.includes(':') ? '::1' : '127.0.0.1'} 1 2\r\n`;
    await hold(edge.httpPort, bounds, from('198.51.100.7'));
    await hold(edge.httpPort, bounds, from('198.51.100.7'));
    await hold(edge.httpPort, bounds, from('2001:db8::1'));
    await hold(edge.httpPort, bounds, from('2001:db8::2:3'));
    expect(await say(edge.httpPort, from('198.51.100.7') + LAST)).toBe('');
    expect(await say(edge.httpPort, from('2001:db8::4') + LAST)).toBe('');
    expect(statusesOf(await say(edge.httpPort, from('198.51.100.8') + LAST))).toEqual([200]);
    expect(statusesOf(await say(edge.httpPort, from('2001:db8:0:1::') + LAST))).toEqual([200]);
    // One who speaks for many has as many as it likes.
    for (let i = 0; i < 4; i++) await hold(edge.httpPort, bounds, from('198.51.100.1'));
    expect([bounds.counts().refused, told]).toEqual([{ all: 0, address: 2 }, ['address']]);
  });

  test('WebSockets count until they close, and one above the limit gets 503', async () => {
    const { edge } = await start({}, { maxWebsockets: 1 });
    const socket = connect(edge.httpPort, '127.0.0.1');
    closing.push(() => socket.destroy());
    socket.write(`GET /ws HTTP/1.1\r\nHost: shop.test\r\n${WISH}\r\n`);
    await until(() => edge.node.origins.websockets().open === 1, 'it is open');
    const wish = `GET /ws HTTP/1.1\r\nHost: shop.test\r\n${WISH}\r\n`;
    expect(statusesOf(await say(edge.httpPort, wish))).toEqual([503]);
    expect(edge.node.origins.websockets()).toEqual({ open: 1, refused: 1 });
    socket.destroy();
    await until(() => edge.node.origins.websockets().open === 0, 'it is closed');
    const again = connect(edge.httpPort, '127.0.0.1');
    closing.push(() => again.destroy());
    again.write(wish);
    await until(() => edge.node.origins.websockets().open === 1, 'the next is open');
  });

  test.each([
    ['over HTTP', false],
    ['over TLS', true],
  ])(
    'connections whose upgrade is refused %s end, whether or not their clients end',
    async (_what, secure) => {
      const origin = await startRawOrigin(({ socket }) =>
        socket.write('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'),
      );
      closing.push(() => origin.close());
      const { edge, bounds } = await start({}, { originPort: origin.port, maxWebsockets: 1 });
      const say = async (host: string): Promise<Socket> => {
        const socket = secure
          ? connectTls({
              port: edge.port,
              host: '127.0.0.1',
              servername: 'shop.test',
              rejectUnauthorized: false,
              allowHalfOpen: true,
            } as never)
          : connect({ port: edge.httpPort, host: '127.0.0.1', allowHalfOpen: true });
        socket.on('error', () => undefined).resume();
        closing.push(() => socket.destroy());
        socket.write(`GET /ws HTTP/1.1\r\nHost: ${host}\r\n${WISH}\r\n`);
        return socket;
      };
      await say('other.test');
      await say('shop.test');
      await until(() => edge.entries.length === 2, 'both are refused');
      await until(() => bounds.counts().open === 0, 'both are closed');
    },
  );
});
