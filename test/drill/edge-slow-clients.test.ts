/**
 * Clients that send or take next to nothing, each holding whatever the node gives it: no connection to an origin is held for
 * them, other visitors are served meanwhile, and nothing is lost of what a client that is merely slow sends or takes.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, request as requestHttp, type Server } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type PlanParts, startTlsNode, type TlsNode, type TlsNodeOptions } from '../support/edge-tls.ts';
import { finding } from '../support/generate-waf.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const HOST = 'shop.test';
const PER_ORIGIN = 8;
const CLIENTS = 24;
/** More than a kernel takes for a connection. */
const LARGE = randomBytes(8 * 1024 * 1024);
const sum = (octets: Uint8Array): string => createHash('sha256').update(octets).digest('hex');

interface Origin {
  readonly port: number;
  readonly server: Server;
  /** Method and digest of each body that came whole. */
  readonly bodies: string[];
  /** Answers of `/large` that were written whole. */
  large: number;
}

/** Answers `/large` with `LARGE`, everything else with the digest of the body. */
async function startOrigin(): Promise<Origin> {
  const bodies: string[] = [];
  const server = createServer((message, response) => {
    if (message.url === '/large') {
      response.end(LARGE, () => {
        origin.large++;
      });
      return;
    }
    const hash = createHash('sha256');
    message.on('data', (chunk: Buffer) => hash.update(chunk));
    message.on('end', () => {
      const digest = hash.digest('hex');
      bodies.push(`${message.method} ${digest}`);
      response.end(digest);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = { port: (server.address() as AddressInfo).port, server, bodies, large: 0 };
  return origin;
}

/** A rate that no test comes near to. */
const ANY_RATE = { minRate: 0, graceMs: 0, windowMs: 0 };

describe('slow clients', requires(OPENSSL_MISSING), () => {
  const clean: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of clean.splice(0).reverse()) await end();
  });

  async function start(
    options: Partial<TlsNodeOptions> & { readonly plan?: PlanParts } = {},
  ): Promise<{ readonly edge: TlsNode; readonly origin: Origin }> {
    const origin = await startOrigin();
    const edge = await startTlsNode({
      names: [HOST],
      originPort: origin.port,
      perOrigin: PER_ORIGIN,
      rate: ANY_RATE,
      ...options,
    });
    clean.push(async () => {
      await edge.stop();
      origin.server.closeAllConnections();
      origin.server.close();
    });
    return { edge, origin };
  }

  /** A connection from an address of this machine. */
  function open(edge: TlsNode, localAddress: string): Socket {
    const socket = connect({ port: edge.httpPort, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    clean.push(() => void socket.destroy());
    return socket;
  }

  /** Asks for a page as a visitor of its own address; throws where that takes longer than a visitor waits. */
  async function visit(edge: TlsNode): Promise<number> {
    const asked = get({
      port: edge.httpPort,
      host: '127.0.0.1',
      localAddress: '127.0.9.9',
      headers: { host: HOST },
      agent: false,
      signal: AbortSignal.timeout(8_000),
    });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode!;
  }

  async function visits(edge: TlsNode): Promise<readonly number[]> {
    const statuses: number[] = [];
    for (let count = 0; count < 20; count++) statuses.push(await visit(edge));
    return [...new Set(statuses)];
  }

  const FROM: readonly (readonly [string, (index: number) => string])[] = [
    ['one address', () => '127.0.0.1'],
    ['as many addresses', (index) => `127.0.1.${index + 1}`],
  ];

  test.each(FROM)(
    'that send an octet at a time, from %s, use no connection to the origin',
    async (_from, addressOf) => {
      const { edge, origin } = await start();
      const timers: NodeJS.Timeout[] = [];
      for (let index = 0; index < CLIENTS; index++) {
        const socket = open(edge, addressOf(index));
        socket.write(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 100000\r\n\r\n`);
        timers.push(setInterval(() => socket.write('x'), 20));
      }
      clean.push(() => timers.forEach(clearInterval));
      await sleep(200);
      expect(await visits(edge)).toEqual([200]);
      expect(origin.bodies.filter((one) => one.startsWith('POST'))).toEqual([]);
    },
  );

  test.each(FROM)(
    'clients that read nothing, from %s, occupy no connection to the origin',
    async (_from, addressOf) => {
      const { edge, origin } = await start();
      const sockets: Socket[] = [];
      for (let index = 0; index < CLIENTS; index++) {
        const socket = open(edge, addressOf(index));
        socket.pause();
        socket.write(`GET /large HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
        sockets.push(socket);
      }
      await until(() => origin.large === CLIENTS, 'the origin has sent every answer');
      expect(await visits(edge)).toEqual([200]);
      expect(edge.node.buffers().disk).toBeGreaterThan(0);
      const texts = await Promise.all(
        sockets.map((socket) => {
          socket.resume();
          return textOf(socket);
        }),
      );
      for (const text of texts) {
        const body = Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1');
        expect(sum(body)).toBe(sum(LARGE));
      }
      await until(
        () => edge.node.buffers().disk === 0 && edge.node.buffers().memory === 0,
        'nothing is left',
      );
    },
  );

  test('clients that send below the minimum rate get 408, and those above it are served', async () => {
    // The faster of the two stays above it with a pause of a second as well.
    const rate = { minRate: 1_000, graceMs: 500, windowMs: 2_000 };
    const { edge, origin } = await start({ rate });
    const slow = open(edge, '127.0.0.1');
    const text = textOf(slow);
    slow.write(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 100000\r\n\r\n`);
    const drip = setInterval(() => slow.write('x'), 20);
    const fast = open(edge, '127.0.0.1');
    const answered = textOf(fast);
    fast.write(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 20000\r\nConnection: close\r\n\r\n`);
    for (let sent = 0; sent < 20; sent++) {
      fast.write('x'.repeat(1_000));
      await sleep(100);
    }
    clearInterval(drip);
    expect(statusesOf(await answered)).toEqual([200]);
    expect(statusesOf(await text)).toEqual([408]);
    expect(origin.bodies).toEqual([`POST ${sum(Buffer.from('x'.repeat(20_000)))}`]);
    expect(edge.entries.map(({ status, fault }) => [status, fault])).toContainEqual([408, 'slow']);
  });

  test('clients that send an inspected body too slowly get 408', async () => {
    const waf = { inspect: () => finding(), has: () => false };
    const rules = [{ id: 1, type: 'waf', path_includes: ['/*'], paranoia: 1, threshold: 5, body_cap_kb: 1 }];
    const rate = { minRate: 2_000, graceMs: 50, windowMs: 200 };
    const { edge, origin } = await start({ rate, waf, plan: { rules } });
    const slow = open(edge, '127.0.0.1');
    slow.write(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 100000\r\n\r\nx`);
    expect(statusesOf(await textOf(slow))).toEqual([408]);
    expect(origin.bodies).toEqual([]);
  });

  test('slow streams of HTTP/2 get 408, and their connection stays open', async () => {
    const { edge } = await start({ rate: { minRate: 2_000, graceMs: 50, windowMs: 200 } });
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: HOST,
      rejectUnauthorized: false,
    });
    clean.push(() => void session.destroy());
    const statusOf = async (headers: Record<string, string>, end: boolean): Promise<unknown> => {
      const stream = session.request({ ':authority': HOST, ':path': '/', ...headers }, { endStream: end });
      stream.on('error', () => undefined);
      stream.resume();
      if (!end) stream.write('x');
      return (await once(stream, 'response'))[0][':status'];
    };
    expect(await statusOf({ ':method': 'POST' }, false)).toBe(408);
    expect(await statusOf({}, true)).toBe(200);
  });

  test('clients that read below the minimum rate are disconnected', async () => {
    const { edge } = await start({ rate: { minRate: 2_000_000, graceMs: 50, windowMs: 200 } });
    const socket = open(edge, '127.0.0.1');
    socket.pause();
    socket.write(`GET /large HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await until(() => edge.entries.some(({ fault }) => fault === 'slow'), 'it is ended');
    await until(() => edge.node.buffers().disk === 0, 'what was stored for it is gone');
  });

  test.each([
    ['streams', 1_000],
    ['is read first', 1_000_000],
  ])(
    'whose upload, which %s, takes ten times the time-out of the origin are served',
    async (_how, bodyOctets) => {
      const { edge } = await start({ bodyOctets, plan: { record: { timeout: 1 } } });
      const body = randomBytes(101_000);
      const asked = requestHttp({
        port: edge.httpPort,
        host: '127.0.0.1',
        method: 'POST',
        headers: { host: HOST },
      });
      const answer = once(asked, 'response') as Promise<[IncomingMessage]>;
      for (let at = 0; at < body.length; at += 1_000) {
        asked.write(body.subarray(at, at + 1_000));
        await sleep(100);
      }
      asked.end();
      const [response] = await answer;
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      expect([response.statusCode, Buffer.concat(chunks).toString()]).toEqual([200, sum(body)]);
    },
  );

  test('clients with a slow long upload are ended while others wait for their connections', async () => {
    const { edge, origin } = await start({ bodyOctets: 10 });
    const texts: Promise<string>[] = [];
    for (let index = 0; index < PER_ORIGIN; index++) {
      const socket = open(edge, `127.0.1.${index + 1}`);
      texts.push(textOf(socket));
      socket.write(`POST / HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(50)}`);
      const timer = setInterval(() => socket.write('x'), 50);
      socket.on('close', () => clearInterval(timer));
    }
    await until(async () => {
      const count = await new Promise<number>((resolve, reject) => {
        origin.server.getConnections((error, connections) => (error ? reject(error) : resolve(connections)));
      });
      return count === PER_ORIGIN;
    }, 'all connections are in use');
    expect(await visit(edge)).toBe(200);
    expect(statusesOf(await Promise.race(texts))).toEqual([408]);
  });

  test('requests whose body was read whole fail over to another origin with the same body', async () => {
    const breaking = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.resetAndDestroy());
    });
    breaking.listen(0, '127.0.0.1');
    await once(breaking, 'listening');
    clean.push(() => void breaking.close());
    const well = await startOrigin();
    clean.push(() => {
      well.server.closeAllConnections();
      well.server.close();
    });
    const origins = [(breaking.address() as AddressInfo).port, well.port].map((port, index) => ({
      address: '127.0.0.1',
      port,
      scheme: 'http',
      weight: index === 0 ? 100 : 1,
    }));
    const rules = [{ id: 1, type: 'origin_pool', lb_type: 'round_robin', origins }];
    const { edge } = await start({ plan: { rules } });
    const body = randomBytes(500_000);
    for (let tries = 0; tries < 5; tries++) {
      const asked = requestHttp({
        port: edge.httpPort,
        host: '127.0.0.1',
        method: 'PUT',
        headers: { host: HOST, 'content-length': body.length },
      });
      asked.write(body.subarray(0, 200_000));
      await sleep(20);
      asked.end(body.subarray(200_000));
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).toBe(200);
    }
    expect(well.bodies).toEqual(Array(5).fill(`PUT ${sum(body)}`));
  });

  test('without a disk slow clients get everything, and their origins are paused', async () => {
    const { edge, origin } = await start({ bufferOctets: 0 });
    const socket = open(edge, '127.0.0.1');
    socket.pause();
    socket.write(`GET /large HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
    const body = randomBytes(300_000);
    const asked = requestHttp({
      port: edge.httpPort,
      host: '127.0.0.1',
      method: 'POST',
      headers: { host: HOST },
    });
    asked.end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    expect([response.statusCode, origin.bodies]).toEqual([200, [`POST ${sum(body)}`]]);
    await sleep(1_000);
    socket.resume();
    const text = await textOf(socket);
    expect(sum(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1'))).toBe(sum(LARGE));
    expect(edge.node.buffers()).toEqual({ memory: 0, disk: 0 });
  });
});
