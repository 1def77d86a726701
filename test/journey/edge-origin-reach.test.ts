/** Origins that cannot be reached or must not be trusted, what is sent to another instead, and connections passed on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createConnectionBounds } from '../../src/edge/listeners/connection-limits.ts';
import { CONNECT_MS, MAX_QUEUED } from '../../src/edge/proxy/limits.ts';
import { NO_CHALLENGES, type PlanParts, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type Asked, type RawOrigin, say, startRawOrigin, statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { startTlsOrigin } from '../support/tls-origin.ts';
import { until } from '../support/until.ts';

const UPGRADE = 'GET /ws HTTP/1.1\r\nHost: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
});

async function startOrigin(answer: (asked: Asked) => void): Promise<RawOrigin> {
  const origin = await startRawOrigin(answer);
  clean.push(origin.close);
  return origin;
}

async function startNode(originPort: number, plan: PlanParts = {}, more: object = {}): Promise<TlsNode> {
  const edge = await startTlsNode({ names: ['shop.test'], originPort, plan, ...more });
  clean.push(() => edge.stop());
  clean.push(() => expect(edge.faults).toEqual([]));
  return edge;
}

function ask({ httpPort }: TlsNode, path: string, method = 'GET', body = ''): Promise<string> {
  const length = method === 'POST' ? `Content-Length: ${body.length}\r\n` : '';
  return say(
    httpPort,
    `${method} ${path} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n${length}\r\n${body}`,
  );
}

function poolOf(ports: readonly number[]): PlanParts {
  const origins = ports.map((port) => ({ address: '127.0.0.1', port, scheme: 'http' }));
  return { rules: [{ id: 1, type: 'origin_pool', origins }] };
}

interface DeafOrigin {
  readonly port: number;
  /** Frees the port. */
  end(): Promise<void>;
}

/** An origin in a process that takes no connection: the kernel's own queue for it is full, so that no more are made. */
async function startDeafOrigin(): Promise<DeafOrigin> {
  const script = `const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      process.stdout.write(String(server.address().port) + '\\n');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  clean.push(() => child.kill('SIGKILL'));
  const port = Number((await once(child.stdout, 'data'))[0]);
  const waiting: Socket[] = [];
  for (let count = 0; count < 8; count++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    waiting.push(socket);
  }
  clean.push(() => {
    for (const socket of waiting) socket.destroy();
  });
  await until(() => waiting.some((socket) => !socket.connecting), 'the queue takes connections');
  return {
    port,
    async end() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('an origin', requires(OPENSSL_MISSING), () => {
  test('an origin that refuses connections causes 502', async () => {
    const gone = await startRawOrigin(() => undefined);
    const edge = await startNode(gone.port);
    // Only now: the port would be free for the node's own listener.
    await gone.close();
    expect(statusesOf(await ask(edge, '/'))).toEqual([502]);
    expect(edge.entries.at(-1)!.fault).toBe('refused');
  });

  test('an origin that accepts no connection causes 504 within the limit of its record', async () => {
    const edge = await startNode((await startDeafOrigin()).port, { record: { timeout: 1 } });
    const began = performance.now();
    expect(statusesOf(await ask(edge, '/'))).toEqual([504]);
    expect(performance.now() - began).toBeLessThan(CONNECT_MS);
    expect(edge.entries.at(-1)!.fault).toBe('timeout');
  });

  test('an origin that was unreachable during the TLS probe causes 504, and gets no request in clear text', async () => {
    const deaf = await startDeafOrigin();
    const edge = await startNode(deaf.port, { record: { scheme: 'Auto' } }, { anyCertificate: true });
    expect(statusesOf(await ask(edge, '/'))).toEqual([504]);
    expect(edge.entries.at(-1)!.fault).toBe('unreached');
    expect(statusesOf(await say(edge.httpPort, UPGRADE))).toEqual([504]);
    await deaf.end();
    const { close } = await startTlsOrigin('shop.test', { listen: { port: deaf.port, host: '127.0.0.1' } });
    clean.push(close);
    expect(statusesOf(await ask(edge, '/'))).toEqual([200]);
  });

  test('an origin that accepts no connection is skipped in its pool', async () => {
    const good = await startOrigin(({ socket }) => socket.write(OK));
    const edge = await startNode(1, poolOf([(await startDeafOrigin()).port, good.port]));
    const answers = await Promise.all([ask(edge, '/a'), ask(edge, '/b')]);
    expect(answers.map(statusesOf)).toEqual([[200], [200]]);
    expect([...good.seen].sort()).toEqual(['GET /a', 'GET /b']);
  });

  test('an origin with an untrusted certificate causes 502, and gets no request', async () => {
    let asked = 0;
    const { port, close } = await startTlsOrigin('shop.test', {
      answer: (_request, response) => {
        asked++;
        response.end('ok');
      },
    });
    clean.push(close);
    const strict = await startNode(port, { record: { scheme: 'Https' } });
    expect(statusesOf(await ask(strict, '/'))).toEqual([502]);
    expect([strict.entries.at(-1)!.fault, asked]).toEqual(['unreachable', 0]);
    const lax = await startNode(port, { record: { scheme: 'Https' } }, { anyCertificate: true });
    expect(statusesOf(await ask(lax, '/'))).toEqual([200]);
  });

  test('the number of requests that wait for a connection is limited', async () => {
    const origin = await startOrigin(() => undefined);
    const edge = await startNode(origin.port, { record: { timeout: 30 } });
    const piped = 'GET /wait HTTP/1.1\r\nHost: shop.test\r\n\r\n'.repeat(500);
    const clients = Array.from({ length: 20 }, () => {
      const socket = connect(edge.httpPort, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(piped);
      return socket;
    });
    clean.push(() => {
      for (const socket of clients) socket.destroy();
    });
    let answer = '';
    await until(
      async () => {
        const socket = connect(edge.httpPort, '127.0.0.1');
        socket.write('GET /more HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
        const late = setTimeout(() => socket.destroy(), 500);
        answer = await textOf(socket);
        clearTimeout(late);
        return answer !== '';
      },
      `one is refused, ${MAX_QUEUED} waiting`,
      30_000,
    );
    expect(statusesOf(answer)).toEqual([503]);
  });
});

describe('a pool', requires(OPENSSL_MISSING), () => {
  test.each<readonly [string, (socket: Socket) => void, readonly number[], readonly number[]]>([
    ['resets', (socket: Socket) => void socket.resetAndDestroy(), [200, 200], [502, 200]],
    ['answers nonsense', (socket: Socket) => void socket.write('220 mail\r\n\r\n'), [502, 200], [502, 200]],
    [
      'has two lengths',
      (socket: Socket) =>
        void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok'),
      [502, 200],
      [502, 200],
    ],
  ])(
    'with an origin that %s: only what may be done twice is done twice',
    async (_what, does, gets, posts) => {
      const bad = await startOrigin(({ socket }) => does(socket));
      const good = await startOrigin(({ socket }) => socket.write(OK));
      const edge = await startNode(1, poolOf([bad.port, good.port]));
      const seen = (): number => bad.seen.length + good.seen.length;
      const statuses = async (method: string): Promise<(number | undefined)[]> => {
        const first = statusesOf(await ask(edge, '/', method, 'x=1'))[0];
        return [first, statusesOf(await ask(edge, '/', method, 'x=1'))[0]].sort().reverse();
      };
      expect(await statuses('GET')).toEqual([...gets].sort().reverse());
      const before = seen();
      expect(await statuses('POST')).toEqual([...posts].sort().reverse());
      expect(seen() - before).toBe(2);
    },
  );
});

describe('a pool with probes', requires(OPENSSL_MISSING), () => {
  const probed = (ports: readonly number[]): PlanParts => ({
    rules: [
      {
        id: 1,
        type: 'origin_pool',
        origins: ports.map((port) => ({ address: '127.0.0.1', port, scheme: 'http' })),
        health_check: {
          enabled: true,
          path: '/up',
          interval_sec: 1,
          unhealthy_threshold: 1,
          healthy_threshold: 1,
        },
      },
    ],
  });
  const probesOf = ({ seen }: RawOrigin): number => seen.filter((one) => one === 'GET /up').length;

  test.each([
    ['with its body in one piece', OK],
    ['without a body', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['with a redirect', 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n'],
    ['with a body that goes on', 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nok'],
    ['with chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
  ])('a pool tries another origin after a response %s', async (_what, answer) => {
    const origin = await startOrigin(({ path, socket }) => socket.write(path === '/up' ? answer : OK));
    const edge = await startNode(1, probed([origin.port]));
    expect(statusesOf(await ask(edge, '/'))).toEqual([200]);
    await until(() => probesOf(origin) >= 3, 'three probes');
    expect(statusesOf(await ask(edge, '/'))).toEqual([200]);
    expect(edge.node.origins.down()).toBe(0);
  });

  test('an origin that fails its probes gets no request until it passes them', async () => {
    let status = '503 Service Unavailable';
    const sick = await startOrigin(({ path, socket }) =>
      socket.write(path === '/up' ? `HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n` : OK),
    );
    const well = await startOrigin(({ socket }) => socket.write(OK));
    const edge = await startNode(1, probed([sick.port, well.port]));
    expect(statusesOf(await ask(edge, '/'))).toEqual([200]);
    await until(() => edge.node.origins.down() === 1, 'the origin to be out');
    const before = sick.seen.filter((one) => one === 'GET /').length;
    for (let count = 0; count < 6; count++) expect(statusesOf(await ask(edge, '/'))).toEqual([200]);
    expect(sick.seen.filter((one) => one === 'GET /')).toHaveLength(before);
    status = '200 OK';
    await until(() => edge.node.origins.down() === 0, 'the origin to be back');
    for (let count = 0; count < 2; count++) await ask(edge, '/');
    expect(sick.seen.filter((one) => one === 'GET /').length).toBeGreaterThan(before);
  });
});

describe('a WebSocket', requires(OPENSSL_MISSING), () => {
  test.each([
    ['plain', null],
    ['behind a proxy', ['127.0.0.1']],
  ] as const)(
    'whose client resets while its origin is waited for ends there too, %s',
    async (_what, proxies) => {
      const origin = await startOrigin(() => undefined);
      const edge = await startNode(origin.port, {}, proxies === null ? {} : { proxies });
      const socket = connect(edge.httpPort, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(`${proxies === null ? '' : 'PROXY UNKNOWN\r\n'}${UPGRADE}`);
      await until(() => origin.open.size === 1 && origin.seen.length === 1, 'the origin is asked');
      socket.resetAndDestroy();
      await until(() => origin.open.size === 0, 'the origin is left');
      await until(() => edge.entries.length === 1, 'the journal tells of it');
      expect([edge.entries[0]!.status, edge.entries[0]!.fault]).toEqual([499, 'aborted']);
    },
  );

  test('a WebSocket whose client leaves before the decision reaches no origin and is not counted', async () => {
    const origin = await startOrigin(() => undefined);
    let decide: () => void = () => undefined;
    const decided = new Promise<readonly string[]>((resolve) => {
      decide = () => resolve([]);
    });
    const bounds = createConnectionBounds({
      maxConnections: 9,
      perAddress: 9,
      isProxy: () => false,
      onRefused: () => undefined,
    });
    const challenges = { ...NO_CHALLENGES, cleared: () => decided };
    const edge = await startNode(origin.port, {}, { challenges, connections: bounds });
    const socket = connect(edge.httpPort, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(UPGRADE.replace('\r\n\r\n', '\r\nCookie: a=b\r\n\r\n'));
    await until(() => bounds.counts().open === 1, 'the connection is made');
    // For the request to be read.
    expect(statusesOf(await ask(edge, '/nothing', 'CONNECT'))).toEqual([405]);
    socket.resetAndDestroy();
    await until(() => bounds.counts().open === 0, 'the client is gone');
    decide();
    await until(() => edge.entries.some(({ status }) => status === 499), 'the journal tells of it');
    expect([edge.node.origins.websockets().open, origin.made()]).toEqual([0, 0]);
  });

  test.each<readonly [string, (socket: Socket) => void, number]>([
    ['says nothing', () => undefined, 504],
    ['talks nonsense', (socket: Socket) => void socket.write('220 mail\r\n\r\n'), 502],
    ['ends', (socket: Socket) => void socket.end(), 502],
    ['resets', (socket: Socket) => void socket.resetAndDestroy(), 502],
    ['refuses', (socket: Socket) => void socket.write('HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno'), 403],
    [
      'refuses and stalls in its body',
      (socket: Socket) => void socket.write('HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\nno'),
      403,
    ],
    [
      'refuses and breaks in its body',
      (socket: Socket) => {
        socket.write('HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\nno');
        setTimeout(() => socket.resetAndDestroy(), 50);
      },
      403,
    ],
    [
      'refuses without end',
      (socket: Socket) => void socket.write(`HTTP/1.1 403 No\r\n\r\n${'x'.repeat(1_000_000)}`),
      403,
    ],
  ])('whose origin %s', async (_what, does, status) => {
    const origin = await startOrigin(({ socket }) => does(socket));
    const edge = await startNode(origin.port, { record: { timeout: 1 } });
    const text = await say(edge.httpPort, UPGRADE);
    expect(statusesOf(text)).toEqual([status]);
    await until(() => origin.open.size === 0, 'the origin is left');
    expect(edge.entries.map((entry) => entry.status)).toEqual([status]);
  });

  test('a WebSocket waits for a slow origin within its limit', async () => {
    const switched =
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello';
    const origin = await startOrigin(({ socket }) => {
      setTimeout(() => socket.end(switched), CONNECT_MS + 300);
    });
    const edge = await startNode(origin.port);
    const text = await say(edge.httpPort, UPGRADE);
    expect([text.slice(0, 12), text.slice(-5)]).toEqual(['HTTP/1.1 101', 'hello']);
  });

  test('an upgrade behind a pending response is refused', async () => {
    const origin = await startOrigin(({ path, socket }) => {
      if (path === '/first') setTimeout(() => socket.write(OK), 300);
      else
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    const edge = await startNode(origin.port);
    const text = await say(edge.httpPort, `GET /first HTTP/1.1\r\nHost: shop.test\r\n\r\n${UPGRADE}`);
    expect(text).not.toContain(' 101 ');
    expect(origin.seen).not.toContain('GET /ws');
  });
});
