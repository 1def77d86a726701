/**
 * What no two servers read alike (RFC 9112 §2.2, §3.2, §5, §6, §11.2) gets a refusal and reaches no origin; a request
 * that hides in another's body is never seen as one.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { type RawOrigin, say, startRawOrigin, statusesOf } from '../support/raw.ts';

const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: shop.test\r\n\r\n';
const HOST = 'Host: shop.test\r\n';

function post(headers: string, body: string): string {
  return `POST /open HTTP/1.1\r\n${HOST}${headers}\r\n${body}`;
}

function get(headers: string, target = '/open'): string {
  return `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
}

/** Requests that are refused: by the node's pages or, where nothing of it is HTTP, by the shortest answer there is. */
const REFUSED: readonly (readonly [string, string, number])[] = [
  [
    'a length and a coding',
    post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    400,
  ],
  [
    'a coding and a length',
    post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${HIDDEN}`),
    400,
  ],
  ['two lengths', post('Content-Length: 0\r\nContent-Length: 44\r\n', HIDDEN), 400],
  ['one length twice', post('Content-Length: 0\r\nContent-Length: 0\r\n', HIDDEN), 400],
  ['a list of lengths', post('Content-Length: 0, 44\r\n', HIDDEN), 400],
  ['a length with a sign', post('Content-Length: +0\r\n', HIDDEN), 400],
  ['a length below zero', post('Content-Length: -1\r\n', HIDDEN), 400],
  ['a length in hex', post('Content-Length: 0x2c\r\n', HIDDEN), 400],
  ['a length without end', post(`Content-Length: ${'9'.repeat(30)}\r\n`, HIDDEN), 400],
  ['an empty length', post('Content-Length: \r\n', HIDDEN), 400],
  ['a space before the colon', post('Content-Length : 44\r\n', HIDDEN), 400],
  [
    'a space before the colon of a coding',
    post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    400,
  ],
  ['a tab in a name', post('Transfer\t-Encoding: chunked\r\n', `0\r\n\r\n${HIDDEN}`), 400],
  ['an unknown coding', post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${HIDDEN}`), 501],
  ['identity', post('Transfer-Encoding: identity\r\n', HIDDEN), 501],
  ['a coding after chunked', post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${HIDDEN}`), 400],
  ['gzip before chunked', post('Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${HIDDEN}`), 501],
  ['a parameter of a coding', post('Transfer-Encoding: chunked;q=1\r\n', `0\r\n\r\n${HIDDEN}`), 501],
  ['chunked in quotes', post('Transfer-Encoding: "chunked"\r\n', `0\r\n\r\n${HIDDEN}`), 501],
  ['a vertical tab before chunked', post('Transfer-Encoding: \x0bchunked\r\n', `0\r\n\r\n${HIDDEN}`), 400],
  [
    'chunked twice',
    post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    400,
  ],
  [
    'chunked in HTTP/1.0',
    `POST /open HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
    400,
  ],
  ['a bare line feed after a header', `GET /open HTTP/1.1\r\n${HOST}X: a\nY: b\r\n\r\n`, 400],
  ['bare line feeds alone', 'GET /open HTTP/1.1\nHost: shop.test\n\n', 400],
  ['a bare carriage return in a value', get(`${HOST}X: a\rY: b\r\n`), 400],
  ['a folded header', get(`${HOST}X: a\r\n b\r\n`), 400],
  ['a folded first header', `GET /open HTTP/1.1\r\n ${HOST}\r\n`, 400],
  ['a NUL in a value', get(`${HOST}X: a\0b\r\n`), 400],
  ['a NUL in a name', get(`${HOST}X\0Y: b\r\n`), 400],
  ['a control in a value', get(`${HOST}X: a\x01b\r\n`), 400],
  ['a line without a colon', get(`${HOST}nonsense\r\n`), 400],
  ['an empty name', get(`${HOST}: b\r\n`), 400],
  ['no Host', get('X: y\r\n'), 400],
  ['no Host in HTTP/1.0', 'GET /open HTTP/1.0\r\n\r\n', 400],
  ['two Hosts', get(`${HOST}Host: other.test\r\n`), 400],
  ['one Host twice', get(HOST + HOST), 400],
  ['an empty Host', get('Host: \r\n'), 400],
  ['two names in Host', get('Host: shop.test, other.test\r\n'), 400],
  ['a path in Host', get('Host: shop.test/x\r\n'), 400],
  ['a user in Host', get('Host: me@shop.test\r\n'), 400],
  ['a port that is none', get('Host: shop.test:80x\r\n'), 400],
  ['a target without a slash', get(HOST, 'open'), 400],
  ['a space in the target', get(HOST, '/op en'), 400],
  ['a tab after the method', `GET\t/open HTTP/1.1\r\n${HOST}\r\n`, 400],
  ['a tunnel', `CONNECT shop.test:80 HTTP/1.1\r\n${HOST}\r\n`, 405],
  ['HTTP/0.9', 'GET /open\r\n\r\n', 505],
  ['HTTP/0.9 with a version', `GET /open HTTP/0.9\r\n${HOST}\r\n`, 505],
  ['HTTP/2 in text', `GET /open HTTP/2.0\r\n${HOST}\r\n`, 505],
  ['HTTP/3', `GET /open HTTP/3.0\r\n${HOST}\r\n`, 400],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a method in lower case', `get /open HTTP/1.1\r\n${HOST}\r\n`, 400],
  ['a method that nobody knows', `FETCH /open HTTP/1.1\r\n${HOST}\r\n`, 400],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['noise', '\x80\xff\x00\x7f'.repeat(50), 400],
];

/** Requests that are whole, so that the connection lives. */
const REFUSED_ALONE: readonly (readonly [string, string, number])[] = [
  ["somebody else's Host", get('Host: other.test\r\n'), 421],
  ['a target for another host', get(HOST, 'http://other.test/open'), 400],
  ['a fragment in the target', get(HOST, '/open#x'), 400],
  ['a NUL in the target', get(HOST, '/a%00b'), 400],
  ['a target that is too long', get(HOST, `/${'a'.repeat(16 * 1024)}`), 414],
];

/** Bodies that are malformed after a head that is not: the request may have reached the origin, its body may not be taken for another. */
const BROKEN_BODIES: readonly (readonly [string, string])[] = [
  ['a size that is none', `zz\r\n${HIDDEN}`],
  ['a size too large to be one', `ffffffffffffffffff\r\n${HIDDEN}`],
  ['a size with a sign', `+2\r\nab\r\n0\r\n\r\n${HIDDEN}`],
  ['a size in 0x', `0x2\r\nab\r\n0\r\n\r\n${HIDDEN}`],
  ['a space before a size', ` 2\r\nab\r\n0\r\n\r\n${HIDDEN}`],
  ['a chunk longer than it says', `2\r\nabcdef\r\n0\r\n\r\n${HIDDEN}`],
  ['a bare line feed after a size', `2\nab\r\n0\r\n\r\n${HIDDEN}`],
  ['a bare line feed in an extension', `2;a\nab\r\n0\r\n\r\n${HIDDEN}`],
  ['a bare line feed after a chunk', `2\r\nab\n0\r\n\r\n${HIDDEN}`],
];

describe('over HTTP/1.1', () => {
  let edge: TlsNode;
  let origin: RawOrigin;
  beforeAll(async () => {
    origin = await startRawOrigin(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    edge = await startTlsNode({ names: ['shop.test'], originPort: origin.port });
  });
  afterAll(async () => {
    expect(edge.faults).toEqual([]);
    await edge.stop();
    await origin.close();
  });

  test.each(REFUSED)('%s is refused', async (_what, octets, status) => {
    const before = origin.seen.length;
    const text = await say(edge.httpPort, octets);
    expect(statusesOf(text)).toEqual([status]);
    expect(text).toMatch(/\r\nConnection: close\r\n/i);
    expect(origin.seen.slice(before)).toEqual([]);
  });

  test.each(REFUSED_ALONE)('%s is refused, and the next request is served', async (_what, octets, status) => {
    const before = origin.seen.length;
    expect(
      statusesOf(await say(edge.httpPort, octets + get(`${HOST}Connection: close\r\n`, '/next'))),
    ).toEqual([status, 200]);
    expect(origin.seen.slice(before)).toEqual(['GET /next']);
  });

  test.each(BROKEN_BODIES)('a chunked body with %s is refused', async (_what, body) => {
    const text = await say(edge.httpPort, post('Transfer-Encoding: chunked\r\n', body));
    expect(statusesOf(text)).toEqual([400]);
    expect(origin.seen).not.toContain('GET /hidden');
  });
});
