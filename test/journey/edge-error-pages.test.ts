/** Which headers error pages and the edge's other own answers have, over real sockets. */
import type { RequestListener } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import {
  CACHE_HOST,
  type CacheNode,
  type CacheNodeOptions,
  startCacheNode,
  startCacheOrigin,
} from '../support/edge-cache.ts';
import { get } from '../support/edge-cache-client.ts';
import { say } from '../support/raw.ts';

const clean: (() => unknown)[] = [];

afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
});

async function place(answer: RequestListener, options: Partial<CacheNodeOptions>): Promise<CacheNode> {
  const origin = await startCacheOrigin(answer);
  clean.push(() => {
    origin.server.closeAllConnections();
    origin.server.close();
  });
  const node = await startCacheNode({ originPort: origin.port, ...options });
  clean.push(() => node.stop());
  return node;
}

/** Headers of an error that say something of the resource or to the visitor. */
const STAY = {
  'www-authenticate': 'Basic realm="x"',
  allow: 'GET, POST',
  'retry-after': '9',
  'set-cookie': ['a=1', 'b=2'],
  'access-control-allow-origin': '*',
  'cache-control': 'max-age=7',
  link: '</a>; rel=preload',
};
/** Headers of an error that describe its body. */
const GO = {
  'content-language': 'de',
  'content-encoding': 'x-own',
  'content-disposition': 'attachment',
  etag: '"one"',
  'last-modified': 'Thu, 01 Jan 1970 00:00:00 GMT',
  'accept-ranges': 'bytes',
  'content-range': 'bytes */10',
  'repr-digest': 'sha-256=:AA==:',
};

test.each(['svc', 'custom'] as const)(
  'an error page of mode %s has the headers of the error but those that describe its body',
  async (mode) => {
    const content = mode === 'custom' ? { content: { '0': '<h1>sorry</h1>' } } : {};
    const rules = [{ id: 2, type: 'error_page', mode, codes: [401, 404, 405, 416, 503], ...content }];
    const { port, faults } = await place(
      (request, response) => {
        response.writeHead(Number(request.url!.slice(1)), { ...STAY, ...GO, 'Content-Type': 'text/x' });
        response.end('the body of the origin');
      },
      { rules, domain: { sec_no_sniff: true, sec_referrer_policy: true } },
    );
    for (const status of [401, 404, 405, 416, 503]) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const answer = await get(port, `/${status}`, { method, headers: { accept: 'text/html' } });
        expect(answer.status).toBe(status);
        expect(answer.headers).toMatchObject({ ...STAY, 'content-type': 'text/html; charset=utf-8' });
        for (const name of Object.keys(GO)) expect(answer.headers, name).not.toHaveProperty(name);
        expect(answer.headers['x-content-type-options']).toBe('nosniff');
        expect(String(answer.headers['x-edgeplan-id']).length).toBe(36);
        if (method === 'HEAD') continue;
        expect(answer.headers['content-length']).toBe(String(answer.octets.length));
        expect(answer.body).not.toContain('the body of the origin');
      }
    }
    expect(faults).toEqual([]);
  },
);

test('an error page without a lifetime from the origin is stored by no cache', async () => {
  const rules = [{ id: 2, type: 'error_page', mode: 'svc', codes: [503] }];
  const { port } = await place((_request, response) => response.writeHead(503).end(), { rules });
  expect((await get(port, '/')).headers['cache-control']).toBe('no-store');
});

test('the security headers of the settings are on every answer that the edge makes itself', async () => {
  const paths = (path: string) => ({ path_includes: [path] });
  const { port } = await place((_request, response) => response.destroy(), {
    domain: { sec_no_sniff: true, sec_referrer_policy: true, websockets_off: true },
    rules: [
      { id: 2, type: 'drop', ...paths('/drop') },
      { id: 3, type: 'redirect', target: '/b', ...paths('/redirect') },
      { id: 4, type: 'captcha', ...paths('/captcha') },
      {
        id: 5,
        type: 'rewrite',
        path_match_type: 'regex',
        path_includes: ['^/r/(.*)$'],
        path_target: '/$1/..',
      },
    ],
  });
  const found: [string, number, unknown, unknown][] = [];
  for (const path of ['/drop', '/redirect', '/captcha', '/r/x', '/unreached', '/%zz']) {
    const { status, headers } = await get(port, path);
    found.push([path, status, headers['x-content-type-options'], headers['referrer-policy']]);
  }
  const policy = 'strict-origin-when-cross-origin';
  const statuses = { drop: 403, redirect: 302, captcha: 403, 'r/x': 400, unreached: 502, '%zz': 400 };
  expect(found).toEqual(Object.entries(statuses).map(([path, of]) => [`/${path}`, of, 'nosniff', policy]));
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';
  const refused = await say(port, `GET /drop HTTP/1.1\r\nHost: ${CACHE_HOST}\r\n${upgrade}\r\n\r\n`);
  expect(refused).toContain('HTTP/1.1 403');
  expect(refused).toContain('X-Content-Type-Options: nosniff');
});
