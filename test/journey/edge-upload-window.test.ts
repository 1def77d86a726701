/** Flow-control windows of uploads over HTTP/2, frame by frame and through a node's client. */
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startOrigin, startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import {
  END_HEADERS,
  FRAME,
  type Frame,
  frame,
  openRawHttp2,
  type RawHttp2,
  requestFields,
} from '../support/raw-http2.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const ACK = 1;
/** The setting of the window that streams begin with (RFC 9113 §6.5.2). */
const INITIAL_WINDOW_SIZE = 4;

/** The initial windows that the server has set, in order. */
function windowsOf(frames: readonly Frame[]): readonly number[] {
  return frames
    .filter(({ type, flags }) => type === FRAME.settings && (flags & ACK) === 0)
    .flatMap(({ content }) => {
      const found: number[] = [];
      for (let at = 0; at < content.length; at += 6) {
        if (content.readUInt16BE(at) === INITIAL_WINDOW_SIZE) found.push(content.readUInt32BE(at + 2));
      }
      return found;
    });
}

describe('windows of uploads', requires(OPENSSL_MISSING), () => {
  let origin: Awaited<ReturnType<typeof startOrigin>>;
  let edge: TlsNode;
  beforeEach(async () => {
    origin = await startOrigin();
    edge = await startTlsNode({ names: ['shop.test'], originPort: origin.port });
  });
  afterEach(async () => {
    await edge.stop();
    origin.server.closeAllConnections();
    origin.server.close();
  });

  const acknowledge = (client: RawHttp2): void => client.send(frame(FRAME.settings, ACK, 0));
  const upload = (stream: number): Buffer =>
    frame(FRAME.headers, END_HEADERS, stream, requestFields('/', 'POST'));

  test('are large for the first upload, small for many, and large again for few', async () => {
    const client = await openRawHttp2(edge.port);
    await until(() => client.frames.some(({ type }) => type === FRAME.settings), 'the first settings');
    acknowledge(client);
    expect(windowsOf(client.frames)).toEqual([]);
    client.send(upload(1));
    await until(() => windowsOf(client.frames).length === 1, 'large windows');
    expect(windowsOf(client.frames)).toEqual([1_048_576]);
    acknowledge(client);
    const update = client.frames.find(({ type, stream }) => type === FRAME.window && stream === 0);
    expect(update!.content.readUInt32BE(0)).toBe(8 * 1_048_576 - 65_535);
    const streams = Array.from({ length: 8 }, (_, number) => 3 + 2 * number);
    client.send(...streams.map(upload));
    await until(() => windowsOf(client.frames).length === 2, 'small windows');
    acknowledge(client);
    for (const stream of streams) client.send(frame(FRAME.reset, 0, stream, Buffer.from([0, 0, 0, 8])));
    await until(() => windowsOf(client.frames).length === 3, 'large windows again');
    expect(windowsOf(client.frames)).toEqual([1_048_576, 65_535, 1_048_576]);
    client.socket.destroy();
  });

  test('of a client that does not acknowledge smaller ones end with its connection', async () => {
    const client = await openRawHttp2(edge.port);
    await until(() => client.frames.some(({ type }) => type === FRAME.settings), 'the first settings');
    acknowledge(client);
    client.send(upload(1));
    await until(() => windowsOf(client.frames).length === 1, 'large windows');
    acknowledge(client);
    client.send(...Array.from({ length: 8 }, (_, number) => upload(3 + 2 * number)));
    await client.closed;
    expect(client.goaway()).toBe(constants.NGHTTP2_SETTINGS_TIMEOUT);
  });

  test('lose no octet of uploads while they change', async () => {
    const session = connect(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
    });
    const lengths = Array.from({ length: 40 }, (_, number) => 1_000 + 37_000 * (number % 9));
    const echoed = lengths.map(async (length, number) => {
      if (number > 20) await new Promise((resolve) => setTimeout(resolve, 10 * number));
      const stream = session.request({ ':method': 'POST', ':authority': 'shop.test', ':path': '/' });
      stream.end(Buffer.alloc(length, 'u'));
      let text = '';
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      await once(stream, 'end');
      return JSON.parse(text).body.length;
    });
    expect(await Promise.all(echoed)).toEqual(lengths);
    session.destroy();
  });
});
