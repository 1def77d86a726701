/** The cache over real sockets: a node in front of an origin that counts what reaches it. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  CACHE_HOST,
  type CacheNode,
  type CacheNodeOptions,
  startCacheNode,
  startCacheOrigin,
} from '../support/edge-cache.ts';
import { get } from '../support/edge-cache-client.ts';

const started: { stop(): Promise<void> }[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Place {
  readonly node: CacheNode;
  /** What reached the origin: method and path. */
  readonly seen: string[];
  readonly requests: IncomingMessage[];
  get(path: string, options?: Parameters<typeof get>[2]): ReturnType<typeof get>;
}

async function place(answer: RequestListener, options: Partial<CacheNodeOptions> = {}): Promise<Place> {
  const seen: string[] = [];
  const requests: IncomingMessage[] = [];
  const origin = await startCacheOrigin((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    requests.push(request);
    answer(request, response);
  });
  started.push({
    stop: async () => {
      origin.server.closeAllConnections();
      origin.server.close();
    },
  });
  const node = await startCacheNode({ originPort: origin.port, ...options });
  started.unshift(node);
  return {
    node,
    seen,
    requests,
    get: (path, more) => get(node.port, path, more),
  };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'edgeplan-cache-'));
  folders.push(path);
  return path;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Answers with a body and headers, the same for all. */
function always(
  body: string | Buffer,
  headers: Readonly<Record<string, string | string[]>>,
  status = 200,
): RequestListener {
  return (_request, response) =>
    void response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers }).end(body);
}

describe('a stored response', () => {
  test('a stored response answers GET, ranges, HEAD and conditions', async () => {
    const headers = { 'Cache-Control': 'max-age=60', ETag: '"one"', 'Content-Type': 'text/x' };
    const { get, seen, node } = await place(always('0123456789', headers));
    const began = Date.now();
    const first = await get('/a');
    expect([first.body, first.headers['cache-status'], first.headers['age']]).toEqual([
      '0123456789',
      'edgeplan; fwd=miss; stored',
      undefined,
    ]);
    const second = await get('/a');
    const ageSec = Number(second.headers['age']);
    expect(ageSec).toBeLessThanOrEqual((Date.now() - began) / 1_000);
    expect([second.body, second.headers['etag']]).toEqual(['0123456789', '"one"']);
    expect([`edgeplan; hit; ttl=${60 - ageSec}`, `edgeplan; hit; ttl=${59 - ageSec}`]).toContain(
      second.headers['cache-status'],
    );
    expect(second.headers['content-length']).toBe('10');
    const part = await get('/a', { headers: { range: 'bytes=2-4' } });
    expect([part.status, part.body, part.headers['content-range']]).toEqual([206, '234', 'bytes 2-4/10']);
    const beyond = await get('/a', { headers: { range: 'bytes=20-' } });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */10']);
    const head = await get('/a', { method: 'HEAD' });
    expect([head.status, head.body, head.headers['content-length']]).toEqual([200, '', '10']);
    const known = await get('/a', { headers: { 'if-none-match': '"one"' } });
    expect([known.status, known.body, known.headers['content-type']]).toEqual([304, '', undefined]);
    const refused = await get('/b', { headers: { 'cache-control': 'only-if-cached' } });
    expect(refused.status).toBe(504);
    expect(seen).toEqual(['GET /a']);
    expect(node.entries.map(({ cache }) => cache)).toEqual([
      'miss',
      'hit',
      'hit',
      'hit',
      'hit',
      'hit',
      'unavailable',
    ]);
    expect(node.faults).toEqual([]);
  });

  test('the first response has no Age if the origin sent none, however late or old it is', async () => {
    const old = () => new Date(Date.now() - 20_000).toUTCString();
    const { get } = await place((request, response) => {
      const sent = request.url === '/cached' ? { Age: '7' } : {};
      response.writeHead(200, { 'Cache-Control': 'max-age=60', Date: old(), ...sent }).end('a');
    });
    expect((await get('/a')).headers['age']).toBeUndefined();
    expect(Number((await get('/a')).headers['age'])).toBeGreaterThanOrEqual(19);
    expect(Number((await get('/cached')).headers['age'])).toBeGreaterThanOrEqual(19);
  });

  test('a range of a response that has Content-Range itself has that of the range alone', async () => {
    const { get } = await place(
      always('0123456789', { 'Cache-Control': 'max-age=60', 'Content-Range': 'bytes 0-3/10' }),
    );
    const ask = async (path: string, range?: string): Promise<unknown[]> => {
      const { status, body, headers } = await get(path, { headers: range === undefined ? {} : { range } });
      return [status, body, headers['content-range']];
    };
    expect(await ask('/a', 'bytes=0-')).toEqual([206, '0123456789', 'bytes 0-9/10']);
    expect(await ask('/a', 'bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10']);
    expect(await ask('/a', 'bytes=20-')).toEqual([416, '', 'bytes */10']);
    expect(await ask('/a')).toEqual([200, '0123456789', 'bytes 0-3/10']);
  });

  test('on a miss the origin gets a request for the whole, and the client its range or 304', async () => {
    const { get, requests } = await place(
      always('0123456789', { 'Cache-Control': 'max-age=60', ETag: '"one"' }),
    );
    const part = await get('/a', { headers: { range: 'bytes=0-' } });
    expect([part.status, part.headers['content-range']]).toEqual([206, 'bytes 0-9/10']);
    const known = await get('/b', { headers: { 'if-none-match': '"one"' } });
    expect(known.status).toBe(304);
    expect(requests.map(({ headers }) => [headers['range'], headers['if-none-match']])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect((await get('/b')).headers['cache-status']).toContain('hit');
  });

  test('a response is stored apart for each variant, purge epoch and rule', async () => {
    const { get, seen, node } = await place((request, response) => {
      response.writeHead(200, { 'Cache-Control': 'max-age=60', Vary: 'Accept-Encoding' });
      response.end(request.headers['accept-encoding'] ?? 'none');
    });
    const encodings = ['gzip', 'br, gzip', 'gzip,br', 'gzip', undefined];
    const bodies: string[] = [];
    for (const one of encodings) {
      bodies.push((await get('/a', { headers: one === undefined ? {} : { 'accept-encoding': one } })).body);
    }
    expect(bodies).toEqual(['gzip', 'br, gzip', 'br, gzip', 'gzip', 'none']);
    expect(seen.length).toBe(3);
    node.install({ purgeEpoch: 1 });
    await get('/a');
    expect(seen.length).toBe(4);
    await get('/a');
    expect(seen.length).toBe(4);
    node.install({ purgeEpoch: 1, rule: { mode: 'force' } });
    await get('/a');
    expect(seen.length).toBe(5);
    node.install({ purgeEpoch: 1, rule: { mode: 'bypass' } });
    expect((await get('/a')).headers['cache-status']).toBe('edgeplan; fwd=bypass');
    expect(seen.length).toBe(6);
  });

  test('a successful unsafe request invalidates the response, and a failed one does not', async () => {
    const { get, seen } = await place((request, response) => {
      const status = request.url === '/a?fail' || request.headers['x-fail'] !== undefined ? 500 : 200;
      const location = request.method === 'POST' ? { Location: '/b' } : {};
      response.writeHead(status, { 'Cache-Control': 'max-age=60', ...location }).end('x');
    });
    for (const path of ['/a', '/b']) await get(path);
    await get('/a', { method: 'POST', body: 'x', headers: { 'x-fail': '1' } });
    await get('/a');
    expect(seen).toEqual(['GET /a', 'GET /b', 'POST /a']);
    await get('/a', { method: 'POST', body: 'x' });
    for (const path of ['/a', '/b', '/a', '/b']) await get(path);
    expect(seen.slice(3)).toEqual(['POST /a', 'GET /a', 'GET /b']);
  });
});

describe('the settings of a cache rule', () => {
  test('force stores what the origin forbids, except responses to authorized requests', async () => {
    const rule = { mode: 'force', edge_ttl_sec: 60, browser_ttl_sec: 7 };
    const { get, seen } = await place(always('x', { 'Cache-Control': 'private, no-store', Expires: '0' }), {
      rule,
    });
    for (let time = 0; time < 2; time++) {
      const answer = await get('/a');
      expect([answer.headers['cache-control'], answer.headers['expires'], answer.headers['age']]).toEqual([
        'max-age=7',
        undefined,
        undefined,
      ]);
    }
    expect(seen.length).toBe(1);
    for (let time = 0; time < 2; time++) await get('/b', { headers: { authorization: 'x' } });
    expect(seen.slice(1)).toEqual(['GET /b', 'GET /b']);
  });

  test('a browser lifetime does not apply to private responses and errors', async () => {
    const { get } = await place(
      (request, response) => {
        const status = request.url === '/error' ? 404 : 200;
        const said = request.url === '/private' ? 'private' : 'public, max-age=900';
        response.writeHead(status, { 'Cache-Control': said }).end('x');
      },
      { rule: { browser_ttl_sec: 7 } },
    );
    const said = async (path: string) => (await get(path)).headers['cache-control'];
    expect(await said('/a')).toBe('public, max-age=7');
    expect(await said('/a')).toBe('public, max-age=7');
    expect(await said('/private')).toBe('private');
    expect(await said('/error')).toBe('public, max-age=900');
  });
});

describe('concurrent requests', () => {
  test('concurrent requests share one fetch, and get head and body as they arrive', async () => {
    const open: ServerResponse[] = [];
    const { get, seen } = await place((_request, response) => void open.push(response));
    const many = Array.from({ length: 30 }, () => get('/a'));
    await expect.poll(() => open.length).toBe(1);
    await wait(50);
    open[0]!.writeHead(200, { 'Cache-Control': 'max-age=60' }).write('first');
    await wait(20);
    const late = Array.from({ length: 5 }, () => get('/a'));
    await wait(20);
    open[0]!.end(' last');
    for (const answer of await Promise.all([...many, ...late])) expect(answer.body).toBe('first last');
    expect(seen).toEqual(['GET /a']);
  });

  test('requests for an unshareable response are sent separately, the next time without waiting', async () => {
    const open: (() => void)[] = [];
    const { get, seen } = await place((request, response) => {
      open.push(() => response.writeHead(200, { 'Cache-Control': 'private' }).end(request.headers['x-me']));
    });
    const names = Array.from({ length: 20 }, (_, index) => String(index));
    const ask = (): Promise<string>[] =>
      names.map(async (name) => (await get('/a', { headers: { 'x-me': name } })).body);
    const answer = (): void => {
      for (const one of open.splice(0)) one();
    };
    // One finds out, then all the others are asked for side by side.
    const first = ask();
    await expect.poll(() => open.length).toBe(1);
    answer();
    await expect.poll(() => open.length).toBe(19);
    answer();
    expect(await Promise.all(first)).toEqual(names);
    const second = ask();
    await expect.poll(() => open.length).toBe(20);
    answer();
    expect(await Promise.all(second)).toEqual(names);
    expect(seen.length).toBe(40);
  });

  test('concurrent requests get the variant of their own headers', async () => {
    const { get, seen } = await place((request, response) => {
      const answer = (): void =>
        void response
          .writeHead(200, { 'Cache-Control': 'max-age=60', Vary: 'X-Me' })
          .end(`for ${request.headers['x-me']}`);
      setTimeout(answer, 50);
    });
    const names = ['a', 'b', 'a', 'c', 'b', 'a'];
    const answers = await Promise.all(names.map((name) => get('/a', { headers: { 'x-me': name } })));
    expect(answers.map(({ body }) => body)).toEqual(names.map((name) => `for ${name}`));
    expect(seen.length).toBeLessThan(names.length);
  });

  test('a client that reads nothing or leaves does not affect the others', async () => {
    const body = Buffer.alloc(4 * 1024 * 1024, 'x');
    const { get, node, seen } = await place((_request, response) => {
      response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Length': body.length });
      response.write(body.subarray(0, 1_000_000));
      setTimeout(() => response.end(body.subarray(1_000_000)), 200);
    });
    const stuck = connect(node.port, '127.0.0.1');
    stuck.write(`GET /a HTTP/1.1\r\nHost: ${CACHE_HOST}\r\n\r\n`);
    await once(stuck, 'readable');
    const leaves = connect(node.port, '127.0.0.1');
    leaves.write(`GET /b HTTP/1.1\r\nHost: ${CACHE_HOST}\r\n\r\n`);
    await once(leaves, 'data');
    const along = [get('/a'), get('/b')];
    leaves.destroy();
    for (const answer of await Promise.all(along)) expect(answer.body.length).toBe(body.length);
    expect(seen.sort()).toEqual(['GET /a', 'GET /b']);
    stuck.destroy();
    const gone = connect(node.port, '127.0.0.1');
    gone.write(`GET /c HTTP/1.1\r\nHost: ${CACHE_HOST}\r\n\r\n`);
    await once(gone, 'data');
    gone.destroy();
    await expect.poll(async () => (await get('/c')).headers['cache-status']).toContain('hit');
  });

  test('a response that is invalidated during its fetch is not reused', async () => {
    const open: ServerResponse[] = [];
    const { get, seen } = await place((request, response) => {
      if (request.method === 'POST') return void response.end('changed');
      open.push(response);
    });
    const before = get('/a');
    await expect.poll(() => open.length).toBe(1);
    await get('/a', { method: 'POST', body: 'x' });
    const after = get('/a');
    await expect.poll(() => open.length).toBe(2);
    for (const [index, response] of open.entries()) {
      response.writeHead(200, { 'Cache-Control': 'max-age=60' }).end(`version ${index}`);
    }
    expect([(await before).body, (await after).body]).toEqual(['version 0', 'version 1']);
    expect(seen.length).toBe(3);
  });
});

describe('a stale response', () => {
  /** An answer of a second, and what the origin does after its first. */
  async function stale(said: string, then: RequestListener, headers: Record<string, string> = {}) {
    let times = 0;
    const one = await place((request, response) => {
      if (times++ > 0) return then(request, response);
      response.writeHead(200, { 'Cache-Control': `max-age=1, ${said}`, ...headers }).end('old');
    });
    await one.get('/a');
    await wait(1_100);
    return one;
  }

  test('a stale response is used during one background revalidation', async () => {
    // The origin answers once all requests are served: a busy machine takes longer for ten than any fixed delay.
    const waiting: ServerResponse[] = [];
    const { get, seen } = await stale(
      'stale-while-revalidate=60',
      (_, response) => void waiting.push(response),
    );
    const answers = await Promise.all(Array.from({ length: 10 }, () => get('/a')));
    expect(new Set(answers.map(({ body }) => body))).toEqual(new Set(['old']));
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]!.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('new');
    await expect.poll(async () => (await get('/a')).body).toBe('new');
    expect(seen.length).toBe(2);
  });

  test('after a 304 the stored response is fresh for all waiting requests', async () => {
    const { get, seen, requests } = await stale(
      'x',
      (_request, response) => {
        const headers = { 'Cache-Control': 'max-age=60', ETag: '"v"', 'X-New': '1' };
        setTimeout(() => response.writeHead(304, headers).end(), 50);
      },
      { ETag: '"v"', 'X-Old': '1' },
    );
    const answers = await Promise.all(Array.from({ length: 10 }, () => get('/a')));
    for (const { status, body, headers } of answers) {
      expect([status, body, headers['x-new'], headers['x-old'], headers['cache-control']]).toEqual([
        200,
        'old',
        '1',
        '1',
        'max-age=60',
      ]);
    }
    expect(requests[1]!.headers['if-none-match']).toBe('"v"');
    expect((await get('/a', { headers: { 'if-none-match': '"v"' } })).status).toBe(304);
    expect(seen.length).toBe(2);
  });

  test('a stale response answers at once while the origin fails, which is tried again later', async () => {
    const { get, seen } = await stale('x', (request) => void setTimeout(() => request.socket.destroy(), 300));
    expect((await get('/a')).body).toBe('old');
    for (let time = 0; time < 5; time++) expect((await get('/a')).body).toBe('old');
    // The second fetch was on a connection that had served the first, and went once more over a fresh one.
    expect(seen.length).toBe(3);
    await expect.poll(async () => [(await get('/a')).body, seen.length]).toEqual(['old', 4]);
  });

  test.each<[string, string, RequestListener, number, string]>([
    ['an error, where it may', 'stale-if-error=60', always('down', {}, 503), 200, 'old'],
    ['an error, where it does not say so', 'x', always('down', {}, 503), 503, 'down'],
    ['no answer', 'x', (request) => void request.socket.destroy(), 200, 'old'],
    ['no answer, where it must not', 'must-revalidate', (request) => void request.socket.destroy(), 502, ''],
    ['no answer, where it must not share', 's-maxage=1', (request) => void request.socket.destroy(), 502, ''],
    [
      'no answer, where it is too late',
      'stale-if-error=0',
      (request) => void request.socket.destroy(),
      502,
      '',
    ],
  ])('a stale response replaces: %s', async (_name, said, then, status, body) => {
    const { get } = await stale(said, then);
    const answer = await get('/a');
    expect(answer.status).toBe(status);
    if (body !== '') expect(answer.body).toBe(body);
  });
});

describe('an incomplete response', () => {
  test('a response that breaks off is not stored', async () => {
    const { get, seen } = await place((_request, response) => {
      response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Length': '100' }).write('part');
      setTimeout(() => response.destroy(), 20);
    });
    for (let time = 0; time < 2; time++) await expect(get('/a')).rejects.toThrow();
    expect(seen.length).toBe(2);
  });

  test('a 206 is forwarded and not stored', async () => {
    const { get, seen } = await place(
      always('34', { 'Cache-Control': 'max-age=60', 'Content-Range': 'bytes 3-4/9' }, 206),
    );
    for (let time = 0; time < 2; time++) {
      expect((await get('/a', { headers: { range: 'bytes=3-4' } })).body).toBe('34');
    }
    expect(seen.length).toBe(2);
  });
});

describe('a large body', () => {
  const LARGE = Buffer.alloc(12 * 1024 * 1024);
  for (let at = 0; at < LARGE.length; at += 4) LARGE.writeUInt32BE(at, at);

  test.each([true, false])(
    'a large body is stored on disk and survives a restart (length known: %s)',
    async (known) => {
      const directory = folder();
      const answer: RequestListener = (_request, response) => {
        const length = known ? { 'Content-Length': LARGE.length } : {};
        response.writeHead(200, { 'Cache-Control': 'max-age=60', ETag: '"l"', ...length });
        response.end(LARGE);
      };
      const first = await place(answer, { directory });
      const whole = async (at: Place) => (await at.get('/l', { binary: true })).octets.equals(LARGE);
      expect(await whole(first)).toBe(true);
      await expect
        .poll(async () => (await first.get('/l', { method: 'HEAD' })).headers['cache-status'])
        .toContain('hit');
      expect(await whole(first)).toBe(true);
      const part = await first.get('/l', { binary: true, headers: { range: 'bytes=8000000-8000007' } });
      expect(part.octets.equals(LARGE.subarray(8_000_000, 8_000_008))).toBe(true);
      expect(first.seen.filter((one) => one.startsWith('GET')).length).toBe(1);
      await first.get('/small');
      await first.node.stop();
      started.splice(started.indexOf(first.node), 1);
      const second = await place(answer, { directory });
      expect(await whole(second)).toBe(true);
      expect(second.seen).toEqual([]);
      expect([...first.node.faults, ...second.node.faults]).toEqual([]);
    },
  );

  test('without a disk a large body streams at the pace of its client', async () => {
    const { get, seen } = await place(always(LARGE, { 'Cache-Control': 'max-age=60' }));
    for (let time = 0; time < 2; time++) {
      expect((await get('/l', { binary: true })).octets.equals(LARGE)).toBe(true);
    }
    expect(seen.length).toBe(2);
  });
});

test('after a restart variants are found on disk, also with little memory', async () => {
  const directory = folder();
  const answer: RequestListener = (request, response) => {
    const headers = { 'Cache-Control': 'max-age=60', Vary: 'X-Me', ETag: `"${request.url}"` };
    response.writeHead(200, headers).end(`${request.url} for ${request.headers['x-me']}`);
  };
  const options = { directory, memoryOctets: 32 * 1024 };
  const first = await place(answer, options);
  const all = async (at: Place): Promise<void> => {
    for (let index = 0; index < 60; index++) {
      const me = String(index % 2);
      const found = await at.get(`/${index}`, { headers: { 'x-me': me } });
      expect(found.body).toBe(`/${index} for ${me}`);
    }
  };
  await all(first);
  // In place, not those that are being written.
  const entries = join(directory, 'entries');
  const files = (): number =>
    readdirSync(entries, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  // Of each a body and what it varies by.
  await expect.poll(files).toBe(120);
  await all(first);
  expect(first.seen.length).toBe(60);
  await first.node.stop();
  started.splice(started.indexOf(first.node), 1);
  const second = await place(answer, options);
  await all(second);
  expect(second.seen.length).toBe(0);
});

test('no client gets a response from before a change it has seen, nor that of another client', async () => {
  const versions = new Map<string, number>();
  const { get, seen, node } = await place(
    (request, response) => {
      const path = request.url!;
      const version = (versions.get(path) ?? 0) + (request.method === 'POST' ? 1 : 0);
      versions.set(path, version);
      const body = `${path} ${request.headers['x-me']} ${version} ${'x'.repeat(version % 3 === 0 ? 9_000 : 10)}`;
      const headers = { 'Cache-Control': version % 4 === 1 ? 'private' : 'max-age=60', Vary: 'X-Me' };
      // Now at once, now late, so that answers cross each other.
      setTimeout(() => response.writeHead(200, headers).end(body), version % 5);
    },
    { directory: folder(), memoryOctets: 128 * 1024 },
  );
  const known = new Map<string, number>();
  let state = 7;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor(state / 65_536) % below;
  };
  const client = async (): Promise<void> => {
    for (let turn = 0; turn < 60; turn++) {
      const path = `/${random(6)}`;
      const me = String(random(2));
      const least = known.get(path) ?? 0;
      const changes = random(10) === 0;
      const options = changes ? { method: 'POST', body: 'x' } : {};
      const { body } = await get(path, { ...options, headers: { 'x-me': me } });
      const [gotPath, gotMe, version] = body.split(' ');
      expect([gotPath, gotMe]).toEqual([path, me]);
      expect(Number(version)).toBeGreaterThanOrEqual(least);
      if (changes) known.set(path, Math.max(known.get(path) ?? 0, Number(version)));
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
  // It was a cache that was put to the test.
  expect(seen.length).toBeLessThan(800);
  expect(node.faults).toEqual([]);
});
