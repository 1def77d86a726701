/** How long a WebSocket is kept that carries nothing, and what keeps it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';

const HANDSHAKE = [
  'GET /ws HTTP/1.1',
  'Host: shop.test',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Key: x',
  'Sec-WebSocket-Version: 13',
  '\r\n',
].join('\r\n');
/** A ping without a body, masked (RFC 6455 §5.5.2). */
const PING = Buffer.from([0x89, 0x80, 1, 2, 3, 4]);

describe('a WebSocket', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode | null = null;
  afterEach(() => edge?.stop());

  async function start(websocketIdleMs: number, stallMs: number): Promise<TlsNode> {
    edge = await startTlsNode({ names: ['shop.test'], websocketIdleMs, stallMs });
    return edge;
  }

  /** A connection that was switched; the origin sends back what it gets. */
  async function switched({ port, httpPort }: TlsNode, scheme: string): Promise<Socket> {
    const socket =
      scheme === 'http'
        ? connect(httpPort, '127.0.0.1')
        : connectTls({ port, host: '127.0.0.1', servername: 'shop.test', rejectUnauthorized: false });
    await once(socket, scheme === 'http' ? 'connect' : 'secureConnect');
    socket.write(HANDSHAKE);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
    return socket;
  }

  test.each(['http', 'https'])('an idle WebSocket ends (%s)', async (scheme) => {
    const node = await start(500, 60_000);
    const socket = await switched(node, scheme);
    await once(socket, 'close');
    await expect.poll(() => node.entries.at(-1)?.status).toBe(101);
  });

  test.each(['http', 'https'])('octets of both directions are counted alike (%s)', async (scheme) => {
    const node = await start(60_000, 60_000);
    const socket = await switched(node, scheme);
    const sent = 3 * PING.length;
    let got = 0;
    socket.on('data', (chunk: Buffer) => {
      got += chunk.length;
      if (got === sent) socket.destroy();
    });
    socket.write(Buffer.concat([PING, PING]));
    socket.write(PING);
    await once(socket, 'close');
    await expect.poll(() => node.entries.at(-1)).toMatchObject({ status: 101, octets: sent, octetsIn: sent });
  });

  test('octets in the segment of the handshake are counted', async () => {
    const node = await start(60_000, 60_000);
    const socket = connect(node.httpPort, '127.0.0.1');
    socket.write(Buffer.concat([Buffer.from(HANDSHAKE), PING]));
    let text = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      text = Buffer.concat([text, chunk]);
      if (text.includes(PING)) socket.destroy();
    });
    await once(socket, 'close');
    await expect
      .poll(() => node.entries.at(-1))
      .toMatchObject({ status: 101, octets: PING.length, octetsIn: PING.length });
  });

  test('a WebSocket is refused and logged where the domain has them off', async () => {
    edge = await startTlsNode({ names: ['shop.test'], plan: { domain: { websockets_off: true } } });
    const socket = connect(edge.httpPort, '127.0.0.1');
    socket.write(HANDSHAKE);
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 403 /);
    await expect.poll(() => edge!.entries.at(-1)).toMatchObject({ status: 403, fault: 'websockets_off' });
  });

  test('pings keep a WebSocket open beyond the time limit of other connections', async () => {
    const idleMs = 4_000;
    const node = await start(idleMs, 400);
    const kept = await Promise.all([switched(node, 'http'), switched(node, 'https')]);
    const silent = await switched(node, 'http');
    const closed = once(silent, 'close');
    const began = performance.now();
    while (performance.now() - began < 2 * idleMs) {
      // Longer than a stall, far shorter than it may be idle.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await Promise.all(kept.map(pinged));
    }
    await closed;
    await Promise.all(kept.map(pinged));
    for (const socket of kept) socket.destroy();
  });
});

async function pinged(socket: Socket): Promise<void> {
  socket.write(PING);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.equals(PING)).toBe(true);
}
