/** Bodies far larger than memory should hold, both ways; what leaves early or does not read; nothing of it stays behind. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { finding } from '../support/generate-waf.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { statusesOf, textOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { sizeOf } from '../support/size.ts';
import { until } from '../support/until.ts';

/** Octets of a large body. */
const LARGE = sizeOf('EDGEPLAN_LARGE_MIB', { usual: 192, full: 1_024 }) * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');
/** Octets by which the process may grow, client, node and origin together: their buffers, and no body. */
const FLAT = 64 * 1024 * 1024;
/** Octets on the way to one who does not read: the kernel's buffers on loopback hold some 6 MB each way. */
const ON_THE_WAY = 48 * 1024 * 1024;

let edge: TlsNode;
let origin: Server;
let openRequests = 0;
let sent = 0;
let received = 0;

/** Origins of the paths: `/take` reads and counts, `/give` sends a large body, `/ignore` answers without reading. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  openRequests++;
  response.once('close', () => openRequests--);
  const path = request.url ?? '';
  if (path.startsWith('/take')) {
    received = 0;
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    request.on('end', () => response.end(String(received)));
  } else if (path.startsWith('/give')) {
    sent = 0;
    response.setHeader('content-length', LARGE);
    const more = (): void => {
      while (sent < LARGE && !response.destroyed) {
        sent += PIECE.length;
        if (!response.write(PIECE)) return;
      }
      response.end();
    };
    response.on('drain', more);
    more();
  } else if (path.startsWith('/ignore')) {
    response.writeHead(413, { 'content-length': 8 });
    response.end('too much');
  }
  // `/hold` never answers.
}

async function writeAll(sink: Socket | ClientHttp2Stream, octets: number): Promise<void> {
  for (let left = octets; left > 0; left -= PIECE.length) {
    if (sink.destroyed) return;
    if (sink.write(PIECE)) continue;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        sink.off('drain', go).off('close', go);
        resolve();
      };
      sink.on('drain', go).on('close', go);
    });
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Octets by which the reachable memory of the process grows, at most, while something runs. Garbage is collected before
 * each sample: V8 starts to collect buffers at 64 MiB, and a busy machine collects later than that.
 */
async function peakOf(run: () => Promise<void>): Promise<number> {
  const now = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = now();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, now());
  }, 100);
  await run();
  clearInterval(timer);
  return peak - before;
}

/** Waits until a count stands still, and returns it. */
async function stillOf(count: () => number): Promise<number> {
  let before = -1;
  await until(
    async () => {
      if (count() > 0 && count() === before) return true;
      before = count();
      await new Promise((resolve) => setTimeout(resolve, 250));
      return false;
    },
    'nothing moves any more',
    20_000,
  );
  return count();
}

function post(path: string, length: number): string {
  return `POST ${path} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
}

describe('large bodies', requires(OPENSSL_MISSING), () => {
  beforeAll(async () => {
    origin = createServer(answer);
    origin.listen(0, '127.0.0.1');
    await once(origin, 'listening');
    const waf = {
      id: 1,
      type: 'waf',
      path_includes: ['*/inspected'],
      paranoia: 1,
      threshold: 5,
      body_cap_kb: 1,
    };
    const block = { id: 2, type: 'drop', path_includes: ['/blocked'] };
    edge = await startTlsNode({
      names: ['shop.test'],
      originPort: (origin.address() as AddressInfo).port,
      plan: { rules: [waf, block] },
      // Uploads are longer than that.
      bodyOctets: PIECE.length,
      // A quarter of it is for one address.
      bufferOctets: 32 * 1024 * 1024,
      // Finds nothing, and wants to see bodies.
      waf: { inspect: () => finding(), has: () => false },
    });
  });
  afterAll(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
    origin.closeAllConnections();
    origin.close();
  });

  function http2(): ClientHttp2Session {
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    session.on('error', () => undefined);
    return session;
  }

  test.each([['/take'], ['/take/inspected']])(
    'an upload to %s streams through',
    { timeout: 120_000 },
    async (path) => {
      const socket = connect(edge.httpPort, '127.0.0.1');
      const text = textOf(socket);
      const grown = await peakOf(async () => {
        socket.write(post(path, LARGE));
        await writeAll(socket, LARGE);
        expect(await text).toMatch(new RegExp(`${LARGE}$`));
      });
      expect(grown).toBeLessThan(FLAT);
    },
  );

  test.each([['/take'], ['/take/inspected']])(
    'an upload over HTTP/2 to %s does too',
    { timeout: 120_000 },
    async (path) => {
      const session = http2();
      const stream = session.request({ ':method': 'POST', ':path': path, ':authority': 'shop.test' });
      let text = '';
      stream.on('data', (chunk) => {
        text += chunk;
      });
      const grown = await peakOf(async () => {
        await writeAll(stream, LARGE / 2);
        stream.end();
        await once(stream, 'close');
      });
      expect(text).toBe(String(LARGE / 2));
      expect(grown).toBeLessThan(FLAT);
      session.destroy();
    },
  );

  test('a response above the storage of one network pauses its origin for the client', {
    timeout: 120_000,
  }, async () => {
    const socket = connect(edge.httpPort, '127.0.0.1');
    socket.pause();
    socket.write('GET /give HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
    let got = 0;
    const grown = await peakOf(async () => {
      expect(await stillOf(() => sent)).toBeLessThan(ON_THE_WAY);
      socket.on('data', (chunk) => {
        got += chunk.length;
      });
      socket.resume();
      await once(socket, 'close');
    });
    expect(got).toBeGreaterThan(LARGE);
    expect(grown).toBeLessThan(FLAT);
  });

  test('over HTTP/2 a paused response does not delay other streams', { timeout: 120_000 }, async () => {
    const session = http2();
    const stream = session.request({ ':path': '/give', ':authority': 'shop.test' });
    await once(stream, 'response');
    expect(await stillOf(() => sent)).toBeLessThan(ON_THE_WAY);
    const other = session.request({ ':path': '/blocked', ':authority': 'shop.test' });
    expect((await once(other, 'response'))[0][':status']).toBe(403);
    session.destroy();
    await until(() => openRequests === 0, 'the origin is left');
  });

  test.each([['/take'], ['/take/inspected']])(
    'an upload to %s that breaks off ends at the origin too',
    async (path) => {
      const socket = connect(edge.httpPort, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(post(path, LARGE));
      await writeAll(socket, 4 * PIECE.length);
      await until(() => openRequests === 1 && received > 0, 'the origin reads');
      socket.resetAndDestroy();
      await until(() => openRequests === 0, 'the origin is left');
      const session = http2();
      const stream = session.request({ ':method': 'POST', ':path': path, ':authority': 'shop.test' });
      stream.on('error', () => undefined);
      received = 0;
      await writeAll(stream, 4 * PIECE.length);
      await until(() => openRequests === 1 && received > 0, 'the origin reads');
      stream.close(8);
      await until(() => openRequests === 0, 'the origin is left');
      session.destroy();
    },
  );

  test('a response whose client has left is aborted at the origin', async () => {
    const socket = connect(edge.httpPort, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /give HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    await once(socket, 'data');
    socket.resetAndDestroy();
    await until(() => openRequests === 0, 'the origin is left');
    const waiting = connect(edge.httpPort, '127.0.0.1');
    waiting.write('GET /hold HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    await until(() => openRequests === 1, 'the origin is asked');
    waiting.destroy();
    await until(() => openRequests === 0, 'the origin is left');
  });

  test.each([
    ['/ignore', 413],
    ['/ignore/inspected', 413],
    ['/blocked', 403],
  ])('a client that uploads to %s gets the response that precedes its end', async (path, status) => {
    for (const last of [false, true]) {
      const socket = connect(edge.httpPort, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', () => undefined);
      socket.write(last ? post(path, LARGE / 8) : post(path, LARGE / 8).replace('Connection: close\r\n', ''));
      await writeAll(socket, LARGE / 8);
      await until(() => text.includes('\r\n\r\n'), 'the answer comes');
      expect(statusesOf(text)).toEqual([status]);
      socket.destroy();
    }
    await until(() => openRequests === 0, 'the origin is left');
  });
});
