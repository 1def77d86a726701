/** Statuses of drop rules and captures of redirects at a node, over real sockets (semantics §14). */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DROP_STATUSES } from '../../src/base/vocabulary/vocabulary.ts';
import { startTlsNode, type TlsNode } from '../support/edge-tls.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { say } from '../support/raw.ts';
import { requires } from '../support/requires.ts';

const HOST = 'shop.test';

const RULES = [
  ...DROP_STATUSES.map((status, index) => ({
    ...{ id: index + 1, type: 'drop', path_includes: [`/s/${status}`], status },
  })),
  { id: 20, type: 'drop', path_includes: ['/own'], status: 410 },
  { id: 21, type: 'error_page', mode: 'custom', codes: [410], content: { '410': '<p>moved out</p>' } },
  {
    ...{ id: 30, type: 'redirect', path_match_type: 'regex', path_includes: ['^/go/(.*)$'], target: '/$1' },
    ...{ target_mode: 'captures', status_code: 301 },
  },
  {
    ...{ id: 31, type: 'redirect', path_match_type: 'regex', path_includes: ['^/dots/(.*)$'] },
    ...{ target: '/.$1', target_mode: 'captures' },
  },
];

describe('a node', requires(OPENSSL_MISSING), () => {
  let node: TlsNode;
  beforeAll(async () => {
    node = await startTlsNode({ names: [HOST], plan: { rules: RULES } });
  }, 60_000);
  afterAll(() => node.stop());

  const ask = (start: string, ...lines: readonly string[]): Promise<string> =>
    say(
      node.httpPort,
      [`${start} HTTP/1.1`, `Host: ${HOST}`, ...lines, 'Connection: close', '', ''].join('\r\n'),
    );

  test.each(DROP_STATUSES)('answers a dropped request with %d, and a page of that status', async (status) => {
    const answer = await ask(`GET /s/${status}`, 'Accept: text/html');
    const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head.toLowerCase()).toContain('cache-control: no-store');
    expect(head.toLowerCase()).not.toContain('retry-after');
    if (status === 410) expect(body).toContain('<p>moved out</p>');
    else expect(body).toMatch(new RegExp(`<title>${status} [A-Z][^<]+</title>`));
    expect(await ask(`HEAD /s/${status}`)).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\r\\n\\r\\n$`),
    );
  });

  test('names no host that it serves in a 421 of a rule', async () => {
    const answer = await ask('GET /s/421');
    const body = JSON.parse(
      answer
        .split('\r\n\r\n', 2)[1]!
        .replace(/^[0-9a-f]+\r\n/i, '')
        .replace(/\r\n0[\s\S]*$/, ''),
    );
    expect(Object.keys(body)).toEqual(['error', 'id']);
  });

  test('has the same status over HTTP/2', async () => {
    const session = connectHttp2(`https://127.0.0.1:${node.port}`, {
      servername: HOST,
      rejectUnauthorized: false,
    });
    try {
      const stream = session.request({ ':authority': HOST, ':path': '/s/451' });
      stream.resume();
      const [answer] = (await once(stream, 'response')) as [Record<string, unknown>];
      expect(answer[':status']).toBe(451);
    } finally {
      session.destroy();
    }
  });

  test.each([
    ['/go/a/b?x=1', '/a/b?x=1'],
    ['/go//evil.example/', '/evil.example/'],
    ['/go/%2F%2Fevil.example', '/evil.example'],
    ['/go/a%2F%2Fevil.example', '/a%2F%2Fevil.example'],
    ['/go/\\evil.example', '/evil.example'],
    ['/go/a%0d%0aSet-Cookie:%20x=1', '/a%0d%0aSet-Cookie:%20x=1'],
    ['/go/%E9', '/%E9'],
  ])('sends %s to %s, a path of the same site', async (target, location) => {
    const head = (await ask(`GET ${target}`)).split('\r\n\r\n', 1)[0]!;
    expect(head).toMatch(/^HTTP\/1\.1 301 /);
    expect(/^location: (.*)$/im.exec(head)?.[1]?.trim()).toBe(location);
    expect(head).not.toMatch(/^set-cookie/im);
  });

  test('refuses what would be a dot segment', async () => {
    expect(await ask('GET /dots/')).toMatch(/^HTTP\/1\.1 400 /);
  });
});
