/**
 * Conditions of rules at a node, over real sockets: how clients may write what a condition asks for. Each case is a public
 * report of another product: repeated headers that were joined, empty ones, absent ones, cookies in several fields of HTTP/2.
 */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { say } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

const HOST = 'shop.test';

/** Rules with a path each. A request that one drops is answered 403, another one reaches the origin. */
const CONDITIONS: Readonly<Record<string, object>> = {
  '/role': { headers: [{ name: 'x-role', op: 'equals', values: ['admin'] }] },
  '/present': { headers: [{ name: 'x-role', op: 'present' }] },
  '/not': { headers: [{ name: 'x-role', op: 'not_equals', values: ['admin'] }] },
  '/absent': { headers: [{ name: 'x-role', op: 'absent' }] },
  '/agent': { user_agents: { includes: ['*like gecko*'] } },
  '/cookie': { cookies: [{ name: 'session', op: 'equals', values: ['stolen'] }] },
  '/post': { methods: ['POST'] },
  '/query': { query: [{ name: 'debug', op: 'equals', values: ['a b'] }] },
  '/http': { schemes: ['http'] },
};

describe('a node', requires(OPENSSL_MISSING), () => {
  let node: TlsNode;
  beforeAll(async () => {
    const rules = Object.entries(CONDITIONS).map(([path, conditions], index) => ({
      id: index + 1,
      type: 'drop',
      path_includes: [path],
      conditions,
    }));
    node = await startTlsNode({ names: [HOST], plan: { rules } });
  }, 60_000);
  afterAll(() => node.stop());

  /** The status over HTTP/1.1 of a request with these lines after its Host header. */
  async function overHttp1(start: string, ...lines: readonly string[]): Promise<number> {
    const head = [`${start} HTTP/1.1`, `Host: ${HOST}`, ...lines, 'Connection: close', '', ''].join('\r\n');
    return Number((await say(node.httpPort, head)).slice(9, 12));
  }

  /** The status over HTTP/2; a header with a list is sent as so many fields. */
  async function overHttp2(headers: Readonly<Record<string, string | string[]>>): Promise<number> {
    const session = connectHttp2(`https://127.0.0.1:${node.port}`, {
      servername: HOST,
      rejectUnauthorized: false,
    });
    try {
      const stream = session.request({ ':authority': HOST, ...headers });
      stream.resume();
      const [answer] = (await once(stream, 'response')) as [Record<string, unknown>];
      return Number(answer[':status']);
    } finally {
      session.destroy();
    }
  }

  test.each<[report: string, status: number, start: string, ...lines: string[]]>([
    ['envoy#44058: one of two lines', 403, 'GET /role', 'X-Role: user', 'X-Role: admin'],
    ['the same in other case', 403, 'GET /role', 'x-ROLE: user', 'X-role:\tadmin '],
    ['no line', 200, 'GET /role', 'X-Role: user', 'X-Role: administrator'],
    ['haproxy#796: a comma divides nothing', 200, 'GET /role', 'X-Role: admin, user'],
    ['grpc#41373: present and empty', 403, 'GET /present', 'X-Role:'],
    ['envoy#10085: absent', 403, 'GET /absent'],
    ['not absent', 200, 'GET /absent', 'X-Role:'],
    ['envoy#21828: absent, negated', 403, 'GET /not'],
    ['one of two lines, negated', 200, 'GET /not', 'X-Role: user', 'X-Role: admin'],
    [
      'haproxy#40: a comma in a User-Agent',
      403,
      'GET /agent',
      'User-Agent: Mozilla/5.0 (KHTML, like Gecko) X',
    ],
    ['curiefense#679: another method', 200, 'GET /post'],
    ['the method', 403, 'POST /post', 'Content-Length: 0'],
    ['encoded names and values', 403, 'GET /query?x=1&%64ebug=a%20b'],
    ['a plus', 403, 'GET /query?debug=a+b'],
    ['decoded once', 200, 'GET /query?debug=a%2520b'],
    ['one of two occurrences', 403, 'GET /query?debug=1&debug=a+b'],
    ['another case of the name', 200, 'GET /query?Debug=a+b'],
    ['the scheme', 403, 'GET /http'],
    ['nginx#681: an underscore, which is dropped', 200, 'GET /role', 'X_Role: admin'],
    ['one of two cookies', 403, 'GET /cookie', 'Cookie: a=1; session=own; session=stolen'],
    ['of two Cookie headers', 403, 'GET /cookie', 'Cookie: session=own', 'Cookie: session=stolen'],
  ])('over HTTP/1.1, %s', async (_, status, start, ...lines) => {
    expect(await overHttp1(start, ...lines)).toBe(status);
  });

  test.each<[report: string, status: number, headers: Record<string, string | string[]>]>([
    ['envoy#44058: one of two fields', 403, { ':path': '/role', 'x-role': ['user', 'admin'] }],
    [
      'tempesta#1396, wai#436: cookies in fields of their own',
      403,
      { ':path': '/cookie', cookie: ['a=1', 'session=stolen'] },
    ],
    ['no such cookie', 200, { ':path': '/cookie', cookie: ['session=own', 'a=session=stolen'] }],
    ['the scheme', 200, { ':path': '/http' }],
  ])('over HTTP/2, %s', async (_, status, headers) => {
    expect(await overHttp2(headers)).toBe(status);
  });

  test('an underscore that is not dropped is a header of its own', async () => {
    const other = await startTlsNode({
      names: [HOST],
      keepUnderscores: true,
      plan: {
        rules: [{ id: 1, type: 'drop', conditions: { headers: [{ name: 'x_role', op: 'present' }] } }],
      },
    });
    try {
      const status = async (line: string): Promise<string> =>
        (
          await say(other.httpPort, `GET / HTTP/1.1\r\nHost: ${HOST}\r\n${line}\r\nConnection: close\r\n\r\n`)
        ).slice(9, 12);
      expect([await status('X_Role: a'), await status('X-Role: a')]).toEqual(['403', '200']);
    } finally {
      await other.stop();
    }
  });
});
