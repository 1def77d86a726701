/**
 * Origins that misbehave on purpose: whatever they do, the client gets something defined within the record's time, the
 * connection is not used again, and nothing of one answer ends up in another.
 */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { type Asked, type RawOrigin, say, startRawOrigin, statusesOf } from '../support/raw.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const HEAD = 'HTTP/1.1 200 OK\r\n';
const TIMEOUT_SEC = 1;

/**
 * What an origin does, and the status its client gets; `cut`: the head's 200 and a connection that breaks, or a 502 where all
 * of it came in one piece, before anything was sent to the client.
 */
interface Misdeed {
  readonly what: string;
  readonly does: (socket: Socket, asked: Asked) => void;
  readonly status: number | 'cut';
  readonly method?: string;
  /** What the journal says went wrong. */
  readonly fault: string | null;
}

function writes(octets: string): (socket: Socket) => void {
  return (socket) => void socket.write(octets, 'latin1');
}

/** Writes the same over and over, as fast as it is taken. */
function floods(start: string, piece: string): (socket: Socket) => void {
  return (socket) => {
    socket.write(start, 'latin1');
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece, 'latin1')) if (socket.bytesWritten > 1e9) return;
    };
    socket.on('drain', more);
    more();
  };
}

const MISDEEDS: readonly Misdeed[] = [
  { what: 'ends without a word', does: (socket) => socket.end(), status: 502, fault: 'reset' },
  { what: 'resets', does: (socket) => void socket.resetAndDestroy(), status: 502, fault: 'reset' },
  { what: 'says nothing', does: () => undefined, status: 504, fault: 'timeout' },
  { what: 'stalls in its head', does: writes(`${HEAD}Content-Le`), status: 504, fault: 'timeout' },
  {
    what: 'sends its head an octet at a time',
    does: (socket) => {
      const timer = setInterval(() => socket.write('x'), 50);
      socket.write(`${HEAD}X: `);
      socket.on('close', () => clearInterval(timer));
    },
    status: 504,
    fault: 'timeout',
  },
  { what: 'talks nonsense', does: writes('220 mail.test ESMTP\r\n\r\n'), status: 502, fault: 'malformed' },
  { what: 'sends noise', does: writes('\x00\x80\xff'.repeat(99)), status: 502, fault: 'malformed' },
  { what: 'is of HTTP/0.9', does: writes('<html>hello</html>'), status: 502, fault: 'malformed' },
  {
    what: 'has a line without a colon',
    does: writes(`${HEAD}nonsense\r\n\r\n`),
    status: 502,
    fault: 'malformed',
  },
  { what: 'has a NUL in its head', does: writes(`${HEAD}X: a\0b\r\n\r\n`), status: 502, fault: 'malformed' },
  {
    what: 'has a status that is none',
    does: writes('HTTP/1.1 2000 OK\r\n\r\n'),
    status: 502,
    fault: 'malformed',
  },
  {
    what: 'has a length and a coding',
    does: writes(`${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    status: 502,
    fault: 'malformed',
  },
  {
    what: 'has two lengths',
    does: writes(`${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`),
    status: 502,
    fault: 'malformed',
  },
  {
    what: 'has a length that is none',
    does: writes(`${HEAD}Content-Length: 2x\r\n\r\nok`),
    status: 502,
    fault: 'malformed',
  },
  {
    what: 'never ends a header',
    does: floods(`${HEAD}X: `, 'x'.repeat(16_384)),
    status: 502,
    fault: 'malformed',
  },
  {
    what: 'never ends its headers',
    does: floods(HEAD, 'X: y\r\n'.repeat(1_000)),
    status: 502,
    fault: 'malformed',
  },
  {
    what: 'gives early hints without end',
    does: floods('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'.repeat(100)),
    status: 502,
    fault: 'malformed',
  },
  {
    what: 'is processing without end',
    does: floods('', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)),
    status: 502,
    fault: 'malformed',
  },
  {
    what: 'goes on without being asked',
    does: writes(`HTTP/1.1 100 Continue\r\n\r\n${OK}`),
    status: 200,
    fault: null,
  },
  {
    what: 'switches without being asked',
    does: writes('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nGET /'),
    status: 502,
    fault: 'reset',
  },
  {
    what: 'ends before its length',
    does: (socket) => socket.end(`${HEAD}Content-Length: 9\r\n\r\nok`),
    status: 'cut',
    fault: 'cut',
  },
  {
    what: 'resets in its body',
    does: (socket) => {
      socket.write(`${HEAD}Content-Length: 9\r\n\r\nok`);
      setTimeout(() => socket.resetAndDestroy(), 50);
    },
    status: 'cut',
    fault: 'cut',
  },
  {
    what: 'ends within its chunks',
    does: (socket) => socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n`),
    status: 'cut',
    fault: 'cut',
  },
  {
    what: 'has a chunk whose size is none',
    does: writes(`${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n`),
    status: 'cut',
    fault: 'cut',
  },
  {
    what: 'has a chunk that is longer than it says',
    does: writes(`${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nokok\r\n0\r\n\r\n`),
    status: 'cut',
    fault: 'cut',
  },
  {
    what: 'never ends its trailers',
    does: floods(`${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n`, 'X: y\r\n'.repeat(1_000)),
    status: 'cut',
    fault: 'cut',
  },
  {
    what: 'says more than its length',
    does: writes(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`),
    status: 200,
    fault: null,
  },
  {
    what: 'says something after 204',
    does: writes('HTTP/1.1 204 No Content\r\n\r\npoison'),
    status: 204,
    fault: null,
  },
  {
    what: 'says something after 204 with a length',
    does: writes('HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\npoison'),
    status: 204,
    fault: null,
  },
  {
    what: 'says something after 304',
    does: writes('HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\n\r\npoison'),
    status: 304,
    fault: null,
  },
  {
    what: 'says something after HEAD',
    does: writes(`${HEAD}Content-Length: 6\r\n\r\npoison`),
    status: 200,
    method: 'HEAD',
    fault: null,
  },
];

describe('an origin that', requires(OPENSSL_MISSING), () => {
  let edge: TlsNode;
  let origin: RawOrigin;
  beforeAll(async () => {
    origin = await startRawOrigin((asked) => {
      const deed = MISDEEDS[Number(asked.path.slice(1))];
      if (deed === undefined) asked.socket.write(OK);
      else deed.does(asked.socket, asked);
    });
    edge = await startTlsNode({
      names: ['shop.test'],
      originPort: origin.port,
      plan: { record: { timeout: TIMEOUT_SEC } },
    });
  });
  afterAll(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
    await origin.close();
  });

  function get(path: string, method = 'GET'): Promise<string> {
    return say(edge.httpPort, `${method} ${path} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`);
  }

  test.each(MISDEEDS.map((deed, index) => [deed.what, deed, index] as const))(
    '%s',
    async (_what, deed, index) => {
      const method = deed.method ?? 'GET';
      const ended = edge.entries.length;
      const text = await get(`/${index}`, method);
      const statuses = statusesOf(text).filter((status) => status !== 103);
      if (deed.status !== 'cut') expect(statuses).toEqual([deed.status]);
      else if (statuses[0] !== 502) expect([statuses, isWhole(text)]).toEqual([[200], false]);
      expect(text).not.toContain('poison');
      await until(() => edge.entries.length > ended, 'the journal tells of it');
      expect(edge.entries.at(-1)!.fault).toBe(deed.fault);
      // It was asked once: what may have been done is not done again, but for a GET on a connection that others had used.
      const asked =
        deed.fault === 'reset' && deed.what.match(/^(?:ends without a word|resets)$/) ? [1, 2] : [1];
      expect(asked).toContain(origin.seen.filter((one) => one === `${method} /${index}`).length);
      // Nobody is answered from a connection that is in doubt.
      for (const next of await Promise.all([get('/ok'), get('/ok'), get('/ok')])) {
        expect([statusesOf(next), next.slice(-2)]).toEqual([[200], 'ok']);
      }
      await until(() => origin.open.size <= 3, 'the connection in doubt is closed');
    },
  );

  test.each([
    ['many', 15_000, 'a', ''],
    ['long', 1, 'a', 'y'.repeat(60_000)],
  ])(
    'a response with %s headers is forwarded whole over every protocol',
    async (_what, count, name, value) => {
      const head = `${name}:${value}\r\n`.repeat(count);
      const generous = await startRawOrigin(({ path, socket }) => {
        socket.write(
          `HTTP/1.1 ${path === '/switch' ? 403 : 200} Told\r\n${head}Last: yes\r\nContent-Length: 0\r\n\r\n`,
        );
      });
      const node = await startTlsNode({ names: ['shop.test'], originPort: generous.port });
      const ask = `Host: shop.test\r\nConnection: close\r\n\r\n`;
      const plain = await say(node.httpPort, `GET / HTTP/1.1\r\n${ask}`);
      expect([statusesOf(plain), count - plain.split(`${name}: ${value}\r\n`).length]).toEqual([[200], -1]);
      expect(plain).toContain('Last: yes');
      const wish = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
      const refused = await say(node.httpPort, `GET /switch HTTP/1.1\r\n${wish}Host: shop.test\r\n\r\n`);
      expect([statusesOf(refused), count - refused.split(`${name}: ${value}\r\n`).length]).toEqual([
        [403],
        -1,
      ]);
      expect(refused).toContain('Last: yes');
      const session = connectHttp2(`https://127.0.0.1:${node.port}`, {
        servername: 'shop.test',
        rejectUnauthorized: false,
        maxHeaderListPairs: 2 * count + 100,
        settings: { maxHeaderListSize: 2_000_000 },
      });
      const stream = session.request({ ':path': '/', ':authority': 'shop.test' });
      const [headers] = await once(stream, 'response');
      expect([headers[':status'], headers['last'], headers[name].split(', ').length]).toEqual([
        200,
        'yes',
        count,
      ]);
      session.destroy();
      expect(node.faults).toEqual([]);
      await node.stop();
      await generous.close();
    },
  );
});

/** Whether an answer ends where its head says. */
function isWhole(text: string): boolean {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const length = /\r\ncontent-length: (\d+)/i.exec(head);
  return length === null ? text.endsWith('0\r\n\r\n') : body.length === Number(length[1]);
}
