/** `Expect: 100-continue` (RFC 9110 §10.1.1): who answers it, the edge or the origin, and what becomes of the body. */
import { once } from 'node:events';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode, type TlsNodeOptions } from '../support/edge-tls.ts';
import { finding } from '../support/generate-waf.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { statusesOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const BODY = 'x'.repeat(5_000);
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** A connection to the origin, and what came on it. */
interface Arrived {
  readonly socket: Socket;
  readonly text: () => string;
  readonly closed: () => boolean;
}

describe('a client that expects a 100', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  let server: Server;
  let arrived: Arrived[] = [];
  afterEach(async () => {
    for (const { socket } of arrived.splice(0)) socket.destroy();
    server.close();
    expect(edge.faults).toEqual([]);
    await edge.stop();
  });

  async function start(options: Partial<TlsNodeOptions> = {}): Promise<void> {
    arrived = [];
    server = createServer((socket) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.on('error', () => undefined);
      arrived.push({ socket, text: () => text, closed: () => socket.closed });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    edge = await startTlsNode({ names: ['shop.test'], originPort: port, bodyOctets: 1_000, ...options });
  }

  function ask(framing = `Content-Length: ${BODY.length}\r\n`): Arrived {
    const socket = connect(edge.httpPort, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.write(`POST /up HTTP/1.1\r\nHost: shop.test\r\nExpect: 100-Continue\r\n${framing}\r\n`);
    return { socket, text: () => text, closed: () => socket.closed };
  }

  /** The connection to the origin by its number, once a whole head has come on it. */
  function origin(index = 0): Promise<Arrived> {
    const headed = (): Arrived | false => {
      const one = arrived[index];
      return one?.text().includes('\r\n\r\n') === true && one;
    };
    return until(headed, `the head of request ${index}`);
  }

  test('gets the 100 of the origin, and its body goes there', async () => {
    await start();
    const client = ask();
    const at = await origin();
    expect(at.text()).toMatch(/\r\nExpect: 100-continue\r\n/);
    expect(at.text()).toMatch(/\r\nContent-Length: 5000\r\n/i);
    expect(client.text()).toBe('');
    at.socket.write(CONTINUE);
    await until(() => client.text() === CONTINUE, 'the 100');
    client.socket.write(BODY);
    await until(() => at.text().endsWith(`\r\n\r\n${BODY}`), 'the body at the origin');
    at.socket.write(OK);
    await until(() => client.text().endsWith('ok'), 'the response');
    expect(statusesOf(client.text())).toEqual([100, 200]);
    // The connection goes on.
    client.socket.write('GET /next HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    (await origin(1)).socket.write(OK);
    await until(() => statusesOf(client.text()).length === 3, 'the next response');
    expect(edge.entries[0]).toMatchObject({ status: 200, octetsIn: BODY.length, fault: null });
    client.socket.destroy();
  });

  test.each([
    ['401 Unauthorized', 'login'],
    ['413 Content Too Large', ''],
    ['200 OK', 'fine'],
  ])('gets a final response without having sent its body: %s', async (status, text) => {
    await start();
    const client = ask();
    const at = await origin();
    at.socket.write(`HTTP/1.1 ${status}\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
    await until(() => client.text().endsWith(`\r\n\r\n${text}`), 'the response');
    expect(statusesOf(client.text())).toEqual([Number(status.slice(0, 3))]);
    expect(client.text()).toMatch(/\r\nConnection: close\r\n/);
    await until(at.closed, 'the end of the connection to the origin');
    // What follows is no second request.
    client.socket.write('GET /smuggled HTTP/1.1\r\nHost: shop.test\r\n\r\n');
    await until(client.closed, 'the end of the connection');
    expect(arrived).toHaveLength(1);
    expect(edge.entries).toHaveLength(1);
    expect(edge.entries[0]).toMatchObject({ status: Number(status.slice(0, 3)), octetsIn: 0 });
  });

  test('is asked for its body after a while, if the origin sends nothing', async () => {
    await start();
    const client = ask();
    const at = await origin();
    const began = performance.now();
    await until(() => client.text() === CONTINUE, 'the 100');
    expect(performance.now() - began).toBeGreaterThan(500);
    client.socket.write(BODY);
    await until(() => at.text().endsWith(BODY), 'the body at the origin');
    // A 100 that comes late reaches nobody.
    at.socket.write(CONTINUE + OK);
    await until(() => client.text().endsWith('ok'), 'the response');
    expect(statusesOf(client.text())).toEqual([100, 200]);
    client.socket.destroy();
  });

  test('sees nothing of an origin that does not meet expectations (417)', async () => {
    await start();
    const client = ask();
    const first = await origin();
    first.socket.write('HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n');
    await until(() => client.text() === CONTINUE, 'the 100');
    client.socket.write(BODY);
    const second = await origin(1);
    await until(() => second.text().endsWith(BODY), 'the body at the origin');
    expect(second.text()).not.toMatch(/expect/i);
    second.socket.write(OK);
    await until(() => client.text().endsWith('ok'), 'the response');
    expect(statusesOf(client.text())).toEqual([100, 200]);
    client.socket.destroy();
  });

  test('sends a body without a length as the origin takes it', async () => {
    await start();
    const client = ask('Transfer-Encoding: chunked\r\n');
    const at = await origin();
    expect(at.text()).toMatch(/\r\nExpect: 100-continue\r\n/);
    expect(at.text()).toMatch(/\r\nTransfer-Encoding: chunked\r\n/);
    at.socket.write(CONTINUE);
    await until(() => client.text() === CONTINUE, 'the 100');
    client.socket.write('5\r\nhello\r\n0\r\n\r\n');
    await until(() => at.text().endsWith('5\r\nhello\r\n0\r\n\r\n'), 'the body at the origin');
    at.socket.write(OK);
    await until(() => client.text().endsWith('ok'), 'the response');
    client.socket.destroy();
  });

  test.each([
    ['a short body', 'Content-Length: 5\r\n', 'hello', undefined],
    [
      'an inspected one',
      `Content-Length: ${BODY.length}\r\n`,
      BODY,
      [{ id: 1, type: 'waf', paranoia: 1, threshold: 5, body_cap_kb: 64 }],
    ],
  ] as const)('gets the 100 of the edge at once: %s', async (_what, framing, body, rules) => {
    const waf = { inspect: () => finding(), has: () => false };
    await start({ bodyOctets: 1_000, ...(rules === undefined ? {} : { plan: { rules }, waf }) });
    const client = ask(framing);
    await until(() => client.text() === CONTINUE, 'the 100');
    expect(arrived).toEqual([]);
    client.socket.write(body);
    const at = await origin();
    expect(at.text()).not.toMatch(/expect/i);
    at.socket.write(OK);
    await until(() => client.text().endsWith('ok'), 'the response');
    client.socket.destroy();
  });

  test('that leaves frees the connection to the origin', async () => {
    await start();
    const client = ask();
    const at = await origin();
    client.socket.destroy();
    await until(at.closed, 'the end of the connection to the origin');
    await until(() => edge.entries.length === 1, 'the log entry');
    expect(edge.entries[0]).toMatchObject({ status: 499, fault: 'aborted' });
  });

  test.each([
    ['breaks off', (at: Socket): void => void at.destroy(), 502],
    ['speaks no HTTP', (at: Socket): void => void at.write('nothing\r\n\r\n'), 502],
    [
      'switches protocols',
      (at: Socket): void => void at.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
      502,
    ],
  ] as const)('gets a page if the origin %s', async (_what, answer, status) => {
    await start();
    const client = ask();
    answer((await origin()).socket);
    await until(() => statusesOf(client.text()).length > 0, 'the page');
    expect(statusesOf(client.text())).toEqual([status]);
    expect(client.text()).toMatch(/\r\nConnection: close\r\n/);
    client.socket.destroy();
  });

  test('over HTTP/2 gets both kinds of response', async () => {
    await start();
    const session = connectHttp2(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    for (const isWanted of [true, false]) {
      const index = arrived.length;
      const stream = session.request({
        ':method': 'POST',
        ':path': '/',
        ':authority': 'shop.test',
        expect: '100-continue',
      });
      let continued = false;
      stream.on('continue', () => {
        continued = true;
        stream.end(BODY);
      });
      stream.on('error', () => undefined);
      stream.resume();
      const response = once(stream, 'response');
      const at = await origin(index);
      expect(continued).toBe(false);
      if (isWanted) {
        at.socket.write(CONTINUE);
        await until(() => at.text().endsWith('0\r\n\r\n'), 'the body at the origin');
      }
      at.socket.write(isWanted ? OK : 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
      const [headers] = (await response) as [IncomingHttpHeaders];
      expect([headers[':status'], continued]).toEqual(isWanted ? [200, true] : [403, false]);
      await until(() => stream.closed, 'the end of the stream');
    }
    session.destroy();
  });
});
