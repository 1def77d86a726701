/** Uploads over HTTP/2 that are answered before they are complete: the answer arrives, and the stream ends without an error. */
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type RawOrigin, startRawOrigin } from '../support/raw.ts';
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  field,
  frame,
  number32,
  openRawHttp2,
  requestFields,
} from '../support/raw-http2.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

/** More than the edge buffers of a body and HTTP/2 lets a client send unread. */
const UPLOAD = Buffer.alloc(1024 * 1024, 'u');

describe('an upload over HTTP/2', requires(OPENSSL_MISSING), () => {
  let origin: RawOrigin;
  let edge: TlsNode;
  let session: ClientHttp2Session;
  beforeEach(async () => {
    origin = await startRawOrigin(({ path, socket }) => {
      if (path === '/closing') {
        socket.write('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig');
        setTimeout(() => socket.end(), 20);
      } else if (path === '/open') {
        socket.write('HTTP/1.1 401 Who\r\nContent-Length: 3\r\n\r\nbig');
      } else if (path === '/chunked') {
        socket.write('HTTP/1.1 413 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbig\r\n0\r\n\r\n');
      } else if (path === '/empty') {
        socket.write('HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n');
      } else if (path === '/reset') {
        socket.write('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig');
        socket.resetAndDestroy();
      } else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbig');
    });
    const rules = [{ id: 1, type: 'drop', path_includes: ['/blocked'] }];
    edge = await startTlsNode({
      names: ['shop.test'],
      originPort: origin.port,
      bodyOctets: 32 * 1024,
      plan: { rules },
    });
    session = connect(`https://127.0.0.1:${edge.port}`, {
      servername: 'shop.test',
      rejectUnauthorized: false,
      // Node's client counts what it has not sent of streams that are closed, 10 MB by default.
      maxSessionMemory: 1_000,
    });
  });
  afterEach(async () => {
    session.destroy();
    await Promise.all([edge.stop(), origin.close()]);
  });

  const open = (method: string, path: string): ClientHttp2Stream =>
    session.request({ ':method': method, ':authority': 'shop.test', ':path': path });

  async function answerOf(
    stream: ClientHttp2Stream,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [head] = await once(stream, 'response');
    // Node's client emits `close` only when it has written its whole upload.
    await until(() => stream.closed, 'the end of the stream');
    return { status: head[':status'], text: Buffer.concat(chunks).toString() };
  }

  test.each([
    ['/closing', 413, 'big'],
    ['/open', 401, 'big'],
    ['/chunked', 413, 'big'],
    ['/blocked', 403, null],
  ])('that is refused early ends with the response: %s', async (path, status, body) => {
    const stream = open('POST', path);
    stream.end(UPLOAD);
    const answer = await answerOf(stream);
    expect(answer.status).toBe(status);
    if (body !== null) expect(answer.text).toBe(body);
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    const other = open('GET', '/ok');
    other.end();
    expect(await answerOf(other)).toEqual({ status: 200, text: 'big' });
  });

  test('that is refused with a reset gets the response before it, every time', async () => {
    const statuses = new Set<number>();
    for (let upload = 0; upload < 100; upload++) {
      const stream = open('POST', '/reset');
      stream.end(UPLOAD);
      statuses.add((await answerOf(stream)).status);
    }
    expect([...statuses]).toEqual([413]);
  });

  test.each(['/closing', '/open', '/chunked', '/empty', '/reset', '/blocked'])(
    'that is refused early is reset behind the end of its response: %s',
    async (path) => {
      const client = await openRawHttp2(edge.port);
      const fields = Buffer.concat([requestFields(path, 'POST'), field('content-length', '1000000')]);
      client.send(
        frame(FRAME.headers, END_HEADERS, 1, fields),
        ...Array.from({ length: 3 }, () => frame(FRAME.data, 0, 1, Buffer.alloc(16_384, 'u'))),
      );
      await until(() => client.frames.some(({ type }) => type === FRAME.reset), 'the reset of the stream');
      const frames = client.frames.filter(({ stream, type }) => stream === 1 && type !== FRAME.window);
      client.socket.destroy();
      const [end, reset] = frames.slice(-2);
      expect(end!.flags & END_STREAM).toBe(END_STREAM);
      expect(reset).toMatchObject({ type: FRAME.reset, content: number32(constants.NGHTTP2_NO_ERROR) });
    },
  );

  test('that is complete gets its whole response', async () => {
    const stream = open('POST', '/ok');
    stream.end('short');
    expect(await answerOf(stream)).toEqual({ status: 200, text: 'big' });
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });
});
