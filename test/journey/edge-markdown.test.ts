/** Pages as Markdown over real sockets: a node in front of an origin, pages rendered in the threads that ship. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MAX_PAGE_OCTETS } from '../../src/edge/markdown/outcome.ts';
import {
  BUFFERED_OCTETS,
  createMarkdownRenderer,
  type MarkdownRenderer,
  type RendererOptions,
} from '../../src/edge/markdown/renderer.ts';
import { builtCli } from '../support/built.ts';
import {
  CACHE_HOST,
  type CacheNode,
  type CacheNodeOptions,
  startCacheNode,
  startCacheOrigin,
} from '../support/edge-cache.ts';
import { get } from '../support/edge-cache-client.ts';

const THREAD = new URL('../../dist/edge/markdown/thread.js', import.meta.url);
/** Far beyond what a page takes on a machine that is busy with other things. */
const PATIENT = { gatherMs: 60_000, waitMs: 60_000, renderMs: 60_000 };
const PAGE = '<title>Shop</title><main><h1>Tea</h1><p>See <a href="/list">all</a>.</main>';
const MARKDOWN = `# Tea\n\nSee [all](http://${CACHE_HOST}/list).\n`;
const AGENT = { accept: 'text/markdown, text/html;q=0.9, */*;q=0.8' };

beforeAll(() => builtCli(), 120_000);

const started: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

interface Place {
  readonly node: CacheNode;
  readonly renderer: MarkdownRenderer;
  readonly requests: IncomingMessage[];
  readonly faults: unknown[];
  get(path: string, options?: Parameters<typeof get>[2]): ReturnType<typeof get>;
  /** The word in the journal for the request before. */
  outcome(): string | null;
}

interface PlaceOptions extends Partial<CacheNodeOptions> {
  readonly rendering?: Partial<RendererOptions>;
}

async function place(answer: RequestListener, options: PlaceOptions = {}): Promise<Place> {
  const { rendering, ...more } = options;
  const requests: IncomingMessage[] = [];
  const faults: unknown[] = [];
  const origin = await startCacheOrigin((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  started.push({
    stop: async () => {
      origin.server.closeAllConnections();
      origin.server.close();
    },
  });
  const onFault = (error: unknown): void => void faults.push(error);
  const renderer = createMarkdownRenderer({ onFault, file: THREAD, threads: 1, ...PATIENT, ...rendering });
  const node = await startCacheNode({
    originPort: origin.port,
    rule: { path_includes: ['/cached/*'] },
    domain: { markdown_for_agents: true },
    markdown: renderer,
    ...more,
  });
  started.unshift(node);
  return {
    node,
    renderer,
    requests,
    faults,
    get: (path, what) => get(node.port, path, what),
    outcome: () => node.entries.at(-1)?.markdown ?? null,
  };
}

function html(
  body: string | Buffer,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  status = 200,
): RequestListener {
  return (_request, response) =>
    void response
      .writeHead(status, { 'Content-Type': 'text/html; charset=utf-8', ...headers } as never)
      .end(body);
}

describe('a page', () => {
  test('a page is Markdown for clients that prefer it, and HTML for all others', async () => {
    const { get, outcome, requests } = await place(
      html(PAGE, {
        ETag: '"page"',
        'Last-Modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
        'Accept-Ranges': 'bytes',
        'Content-Range': 'bytes 0-3/10',
      }),
    );
    const { status, body, headers } = await get('/tea', { headers: AGENT });
    expect([status, body]).toEqual([200, MARKDOWN]);
    expect(headers).toMatchObject({
      'content-type': 'text/markdown; charset=utf-8',
      'content-length': String(MARKDOWN.length),
      'x-markdown-tokens': String(Math.ceil(MARKDOWN.length / 4)),
      vary: 'Accept',
    });
    expect(headers['etag']).toMatch(/^"md-[\w-]{22}"$/);
    for (const name of ['last-modified', 'accept-ranges', 'content-range'])
      expect(headers[name], name).toBe(undefined);
    expect(headers['x-edgeplan-id']).toBeDefined();
    expect(outcome()).toBe('rendered');
    expect(requests[0]!.headers).toMatchObject({ 'accept-encoding': 'identity', accept: AGENT.accept });

    for (const accept of ['text/html', '*/*', 'text/markdown;q=0.5, text/html', 'text/markdown;q=0']) {
      const page = await get('/tea', { headers: { accept, 'accept-encoding': 'gzip' } });
      expect([page.body, page.headers['etag'], page.headers['vary']]).toEqual([PAGE, '"page"', 'Accept']);
      expect(outcome()).toBeNull();
      expect(requests.at(-1)!.headers).toMatchObject({ 'accept-encoding': 'gzip', accept });
    }
  });

  test('a page stays HTML where the domain or the node does not support Markdown', async () => {
    const without = await place(html(PAGE), { domain: {} });
    const { body, headers } = await without.get('/', { headers: AGENT });
    expect([body, headers['vary'], without.outcome()]).toEqual([PAGE, undefined, null]);
  });

  test('the origin gets a request for the whole page, without the client’s range and conditions', async () => {
    const { get, requests } = await place(html(PAGE));
    const { status, body } = await get('/', {
      headers: {
        accept: 'text/markdown',
        range: 'bytes=0-3',
        'if-range': '"a"',
        'if-none-match': '"a"',
        'if-modified-since': 'Mon, 01 Jan 2035 00:00:00 GMT',
      },
    });
    expect([status, body]).toEqual([200, MARKDOWN]);
    const [seen] = requests;
    expect(seen!.headers).toMatchObject({ accept: 'text/markdown, text/html;q=0.001' });
    for (const name of ['range', 'if-range', 'if-none-match', 'if-modified-since']) {
      expect(seen!.headers[name]).toBeUndefined();
    }
    await get('/', { headers: { ...AGENT, 'if-match': '"a"' } });
    expect(requests[1]!.headers['if-match']).toBe('"a"');
  });

  test('HEAD gets the headers of the Markdown', async () => {
    const { get, requests, outcome } = await place(html(PAGE));
    const whole = await get('/', { headers: AGENT });
    const head = await get('/', { method: 'HEAD', headers: AGENT });
    const told = (name: string): unknown[] => [whole.headers[name], head.headers[name]];
    for (const name of ['content-type', 'content-length', 'etag', 'vary']) {
      expect(told(name)[1]).toBe(told(name)[0]);
    }
    expect([head.status, head.body, outcome()]).toEqual([200, '', 'rendered']);
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  test('a client with the current Markdown gets 304', async () => {
    const { get } = await place(html(PAGE, { ETag: '"page"' }));
    const { headers } = await get('/', { headers: AGENT });
    const tag = String(headers['etag']);
    const again = await get('/', { headers: { ...AGENT, 'if-none-match': `"other", W/${tag}` } });
    expect([again.status, again.body, again.headers['etag'], again.headers['vary']]).toEqual([
      304,
      '',
      tag,
      'Accept',
    ]);
    const page = await get('/', { headers: { ...AGENT, 'if-none-match': '"page"' } });
    expect([page.status, page.body]).toEqual([200, MARKDOWN]);
    const head = await get('/', { method: 'HEAD', headers: { ...AGENT, 'if-none-match': tag } });
    expect(head.status).toBe(304);
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('a page that its origin sends as %s is inflated first', async (coding, compress) => {
    const { get } = await place(html(compress(PAGE), { 'Content-Encoding': coding }));
    const { body, headers } = await get('/', { headers: AGENT });
    expect([body, headers['content-encoding']]).toEqual([MARKDOWN, undefined]);
  });

  test('the cache stores the HTML for both forms', async () => {
    const { get, requests, node } = await place(
      html(PAGE, { 'Cache-Control': 'max-age=60', Vary: 'Cookie' }),
    );
    expect((await get('/cached/a')).body).toBe(PAGE);
    const first = await get('/cached/a', { headers: { ...AGENT, range: 'bytes=0-3' } });
    expect([first.status, first.body, first.headers['vary']]).toEqual([200, MARKDOWN, 'Cookie, Accept']);
    expect(first.headers['cache-status']).toMatch(/^edgeplan; hit/);
    expect((await get('/cached/a', { method: 'HEAD', headers: AGENT })).headers['content-type']).toBe(
      'text/markdown; charset=utf-8',
    );
    expect((await get('/cached/a', { headers: { accept: 'text/html' } })).body).toBe(PAGE);
    expect(requests).toHaveLength(1);
    expect(node.entries.map(({ cache }) => cache)).toEqual(['miss', 'hit', 'hit', 'hit']);
    expect((await get('/cached/b', { headers: AGENT })).body).toBe(MARKDOWN);
    expect((await get('/cached/b')).body).toBe(PAGE);
    expect(requests).toHaveLength(2);
  });
});

describe('responses that are not rendered', () => {
  test('responses other than HTML pages stay as they are', async () => {
    const { get, outcome, requests } = await place((request, response) => {
      const [status, type] = String(request.url).slice(1).split(':');
      response
        .writeHead(Number(status), { 'Content-Type': type!.replace('-', '/'), ETag: '"a"' })
        .end('<p>a');
    });
    for (const [path, status] of [
      ['/200:application-json', 200],
      ['/200:text-markdown', 200],
      ['/404:text-html', 404],
      ['/206:text-html', 206],
    ] as const) {
      const answer = await get(path, { headers: AGENT });
      expect([answer.status, answer.body, outcome()]).toEqual([status, '<p>a', null]);
    }
    const head = await get('/200:text-plain', { method: 'HEAD', headers: AGENT });
    expect([head.status, head.body, requests.at(-1)!.method]).toEqual([200, '', 'GET']);
    const known = await get('/200:text-plain', { headers: { ...AGENT, 'if-none-match': '"a"' } });
    expect([known.status, known.body]).toEqual([304, '']);
  });

  test('pages with no-transform, broken or empty ones stay HTML', async () => {
    const pages: Readonly<Record<string, RequestListener>> = {
      '/no-transform': html(PAGE, { 'Cache-Control': 'public, no-transform' }),
      '/coding': html('zstd', { 'Content-Encoding': 'zstd' }),
      '/broken': html('no gzip', { 'Content-Encoding': 'gzip' }),
      '/empty': html('<title>App</title><script src=/app.js></script>'),
      '/depth': html(`${'<div>'.repeat(600)}a`),
    };
    const { get, outcome } = await place((request, response) => pages[request.url!]!(request, response));
    const outcomes: (string | null)[] = [];
    for (const path of Object.keys(pages)) {
      const { status, headers } = await get(path, { headers: AGENT });
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8']);
      outcomes.push(outcome());
    }
    expect(outcomes).toEqual(['no-transform', 'coding', 'coding', 'empty', 'depth']);
    expect((await get('/broken', { headers: AGENT })).body).toBe('no gzip');
  });

  test.each([
    ['announced', { 'Content-Length': String(MAX_PAGE_OCTETS + 1) }],
    ['not announced', { 'Transfer-Encoding': 'chunked' }],
  ])('a page above the size limit stays HTML, %s', async (_name, headers) => {
    const large = 'a'.repeat(MAX_PAGE_OCTETS + 1);
    const { get, outcome, renderer } = await place(html(large, { ...headers, ETag: '"large"' }));
    const answer = await get('/', { headers: AGENT });
    expect([answer.body === large, answer.headers['etag'], outcome()]).toEqual([true, '"large"', 'size']);
    expect((await get('/', { headers: { ...AGENT, 'if-none-match': '"large"' } })).status).toBe(304);
    expect(renderer.budget.take(BUFFERED_OCTETS)).toBe(true);
  });

  test('a page that arrives too slowly stays HTML', async () => {
    let seen: () => void = () => undefined;
    const half = new Promise<void>((resolve) => {
      seen = resolve;
    });
    const { node, outcome } = await place(
      (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html' });
        response.write('<p>first');
        void half.then(() => response.end('<p>then'));
      },
      { rendering: { gatherMs: 200 } },
    );
    const socket = connect(node.port, '127.0.0.1').setEncoding('latin1');
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${CACHE_HOST}\r\nAccept: text/markdown\r\nConnection: close\r\n\r\n`,
    );
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.includes('<p>first')) seen();
    });
    await once(socket, 'close');
    expect(text.indexOf('<p>then')).toBeGreaterThan(text.indexOf('<p>first'));
    await expect.poll(outcome).toBe('late');
  });

  test('pages above the memory limit stay HTML', async () => {
    const { get, outcome, renderer } = await place(html(PAGE));
    renderer.budget.take(BUFFERED_OCTETS - PAGE.length + 1);
    expect([(await get('/', { headers: AGENT })).body, outcome()]).toEqual([PAGE, 'busy']);
    renderer.budget.give(1);
    expect([(await get('/', { headers: AGENT })).body, outcome()]).toEqual([MARKDOWN, 'rendered']);
  });

  test("the edge's own pages stay HTML", async () => {
    const { get, node } = await place((request) => request.socket.destroy());
    const { status, headers } = await get('/', { headers: AGENT });
    expect([status, headers['content-type']]).toEqual([502, 'text/html; charset=utf-8']);
    expect(node.entries.at(-1)!.fault).toBe('reset');
  });

  test('a page that breaks off ends the response', async () => {
    const { get } = await place((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': '100' });
      response.write('<p>a', () => response.destroy());
    });
    expect((await get('/', { headers: AGENT })).status).toBe(502);
  });
});

describe('rendering threads', () => {
  /** The thread that ships, which dies or hangs over pages that say so. */
  function troubled(): URL {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-markdown-'));
    started.push({ stop: async () => rmSync(folder, { recursive: true, force: true }) });
    const file = join(folder, 'thread.mjs');
    const code = [
      "import { parentPort } from 'node:worker_threads';",
      "parentPort.on('message', ({ octets }) => {",
      '  const page = Buffer.from(octets).toString();',
      "  if (page.includes('die')) process.exit(1);",
      "  for (const held = []; page.includes('swell'); ) held.push(Array(1e5).fill(0.5));",
      "  while (page.includes('hang'));",
      '});',
      `await import(${JSON.stringify(THREAD.href)});`,
    ];
    writeFileSync(file, code.join('\n'));
    return pathToFileURL(file);
  }

  test('a thread that dies affects its page only', async () => {
    const { get, outcome, faults } = await place(
      (request, response) => html(`<p>${request.url}`)(request, response),
      { rendering: { file: troubled() } },
    );
    for (const path of ['/die', '/swell']) {
      const answer = await get(path, { headers: AGENT });
      expect([answer.body, outcome()]).toEqual([`<p>${path}`, 'failed']);
      expect((await get('/well', { headers: AGENT })).body).toBe('/well\n');
    }
    expect(faults).toHaveLength(2);
  });

  test('a thread that takes too long is ended', async () => {
    const { get, outcome } = await place(
      (request, response) => html(`<p>${request.url}`)(request, response),
      { rendering: { file: troubled(), renderMs: 5_000 } },
    );
    const answer = await get('/hang', { headers: AGENT });
    expect([answer.body, outcome()]).toEqual(['<p>/hang', 'late']);
    expect((await get('/well', { headers: AGENT })).body).toBe('/well\n');
  });

  test('a page does not wait while all threads are busy', async () => {
    const { get, node } = await place((request, response) => html(`<p>${request.url}`)(request, response), {
      rendering: { file: troubled(), waitMs: 500, renderMs: 20_000 },
    });
    // Ready, so that waiting is all that the pages do.
    while ((await get('/well', { headers: AGENT })).body !== '/well\n');
    const both = [1, 2].map(() => get('/hang', { headers: AGENT }));
    const waiting = await Promise.race(both);
    expect([waiting.body, node.entries.at(-1)!.markdown]).toEqual(['<p>/hang', 'busy']);
    await node.stop();
    started.splice(started.indexOf(node), 1);
    expect((await Promise.allSettled(both)).map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
    ]);
  });

  test('threads that cannot start disable Markdown only', async () => {
    const { get, outcome } = await place(html(PAGE), {
      rendering: { file: new URL('./none.js', import.meta.url) },
    });
    for (let time = 0; time < 3; time++) {
      const answer = await get('/', { headers: AGENT });
      expect([answer.body, outcome()]).toEqual([PAGE, 'failed']);
    }
  });

  test('threads render many pages, and their memory is freed', async () => {
    const { get, renderer, node } = await place((request, response) =>
      html(`<p>${request.url}`)(request, response),
    );
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) => get(`/${at}`, { headers: AGENT })),
    );
    expect(answers.map(({ body }) => body)).toEqual(answers.map((_, at) => `/${at}\n`));
    expect(node.entries).toHaveLength(40);
    expect(renderer.budget.take(BUFFERED_OCTETS)).toBe(true);
  });

  test('a client that leaves frees its thread', async () => {
    let arrived: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { node, renderer } = await place((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' });
      response.write('<p>a', () => arrived());
    });
    const socket = connect(node.port, '127.0.0.1');
    socket.write(`GET / HTTP/1.1\r\nHost: ${CACHE_HOST}\r\nAccept: text/markdown\r\n\r\n`);
    await asked;
    socket.destroy();
    await expect.poll(() => node.entries.length).toBe(1);
    expect(node.entries[0]!.fault).toBe('aborted');
    expect(renderer.budget.take(BUFFERED_OCTETS)).toBe(true);
  });
});
