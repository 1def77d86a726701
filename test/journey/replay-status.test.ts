/**
 * `edgeplan replay --compare-status`: what a log says was answered beside what the rules decide. A real nginx writes logs,
 * its configuration is imported, and both are compared.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNginx } from '../../bench/harness/nginx.ts';
import { createDecisionLog } from '../../src/edge/proxy/log/decision-log.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { DOMAIN, journalSubject } from '../support/edge-journal.ts';
import { freePort } from '../support/free-ports.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-status-'));
const RECORDS = [{ name: '@', type: 'A', destination: '192.0.2.1', proxied: true }];
const ADMIN = { key: 'admin', type: 'drop', path_includes: ['/admin*'] };
const OLD = {
  key: 'old',
  type: 'redirect',
  path_includes: ['/old'],
  status_code: 301,
  target: 'https://example.com/new',
};

function save(name: string, text: string | Uint8Array): string {
  writeFileSync(join(folder, name), text);
  return name;
}

/** JSON is YAML. */
function edge(name: string, rules: readonly object[]): string {
  return save(name, JSON.stringify({ domain: 'example.com', records: RECORDS, rules }));
}

/** A line of the combined format; `second`: of 13:55. */
function line(second: number, status: number | string, target: string): string {
  const time = `10/Oct/2025:13:55:${String(second).padStart(2, '0')} +0000`;
  return `203.0.113.7 - - [${time}] "GET ${target} HTTP/1.1" ${status} 23 "-" "Mozilla/5.0 (X11; Linux x86_64) Gecko/1 Firefox/1"\n`;
}

/** A line of nginx's JSON log. */
function fields(status: number, target: string, more: object = {}): string {
  const time = '2025-10-10T13:55:04Z';
  return `${JSON.stringify({ time_iso8601: time, remote_addr: '203.0.113.7', host: 'example.com', request: `GET ${target} HTTP/2.0`, status, ...more })}\n`;
}

function run(...args: string[]): Promise<Run> {
  return edgeplan(['replay', '--compare-status', ...args], { cwd: folder });
}

/** The report as JSON, as far as a test compares it. */
interface Report {
  readonly compared: number;
  readonly changed: number;
  readonly verdicts: Readonly<Record<string, number>>;
  readonly groups: readonly {
    readonly verdict: string;
    readonly reason: string;
    readonly was: string;
    readonly now: string;
    readonly lines: number;
    readonly examples: readonly { readonly id: string; readonly time: string; readonly request: string }[];
  }[];
}

async function report(...args: string[]): Promise<Report & { readonly code: number | null }> {
  const { code, out, err } = await run('--json', ...args);
  if (out === '') throw new Error(err);
  return { code, ...(JSON.parse(out) as Report) };
}

/** Groups as `<lines> <verdict> <reason>: <was> → <now>`, with rules that have no key as `~`. */
function groupTexts({ groups }: Report): readonly string[] {
  return groups.map(
    ({ verdict, reason, was, now, lines }) =>
      `${lines} ${verdict} ${reason}: ${was} → ${now.replace(/~\w+/, '~')}`,
  );
}

beforeAll(async () => {
  await builtCli();
  edge('edge.yaml', [ADMIN, OLD]);
  const lines = [
    line(1, 200, '/'),
    line(2, 403, '/admin?token=S3CRET'),
    line(3, 301, '/old'),
    line(4, 499, '/slow'),
    line(5, 502, '/down'),
  ];
  save('same.log', lines.join(''));
  save(
    'access.log',
    [...lines, line(6, 200, '/admin/x'), line(7, 200, '/admin/y'), line(8, 302, '/cart')].join(''),
  );
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('a log of another server', () => {
  it('is equal as far as it can be compared, and ends with 0', async () => {
    const { code, out } = await run('--log', 'same.log');
    expect(code).toBe(0);
    expect(out).toContain('5 requests compared with edge.yaml: none differs\n');
    expect(out).toMatch(/\n {7}2 {2}not comparable\n {7}3 {2}the same\n/);
    expect(out).toMatch(/\n {7}1 {2}499 {2}forward {2}refused there as broken, or ended by the client\n/);
    expect(out).toMatch(
      /\n {7}1 {2}502 {2}forward {2}forwarded here; there the origin or the proxy has failed\n/,
    );
    expect(out).toMatch(/\n {7}1 {2}403 {2}block 403 by drop\/admin {7}the same status\n/);
    expect(out).toMatch(/\n {7}1 {2}301 {2}redirect 301 by redirect\/old {2}the same status\n/);
  });

  it('shows what differs and what is open with time, method, URL and line, and ends with 1', async () => {
    const { code, out, err } = await run('--log', 'access.log');
    expect(code).toBe(1);
    expect(out).toContain('8 requests compared with edge.yaml: 2 differ\n');
    expect(out).toContain(
      '\ndifferent: refused here, not there\n\n2 lines\n  was  200\n  now  block 403 by drop/admin\n' +
        '    access.log:6  2025-10-10T13:55:06.000Z  GET https://example.com/admin/x\n' +
        '    access.log:7  2025-10-10T13:55:07.000Z  GET https://example.com/admin/y\n',
    );
    expect(out).toContain('\nopen: forwarded here; there the proxy or its origin has redirected it\n');
    expect(out).toContain('with `$upstream_status` says who answered\n');
    expect(out).toMatch(/\nnot in the log:\nfact /);
    expect(out).not.toContain('S3CRET');
    expect(err).toMatch(/^edgeplan: 8 lines in .* s, .* a second$/m);
  });

  it('is reported as JSON', async () => {
    const { code, ...found } = await report('--log', 'access.log');
    expect(code).toBe(1);
    expect(found).toMatchObject({
      format: 'edgeplan.replay/v1',
      plan: { domain: 'example.com', source: 'edge.yaml' },
      before: null,
      compared: 8,
      changed: 2,
      verdicts: { different: 2, open: 1, incomparable: 2, same: 3 },
      ungrouped: 0,
      other_hosts: 0,
      lines: 8,
      unreadable: { count: 0 },
    });
    expect(groupTexts(found)).toEqual([
      '2 different refused_here: 200 → block 403 by drop/admin',
      '1 open redirected_by_either: 302 → forward',
      '1 incomparable failed_there: 502 → forward',
      '1 incomparable broken: 499 → forward',
      '1 same equal: 403 → block 403 by drop/admin',
      '1 same equal: 301 → redirect 301 by redirect/old',
      '1 same forwarded: 200 → forward',
    ]);
    expect(found.groups[0]!.examples[0]).toEqual({
      id: 'access.log:6',
      time: '2025-10-10T13:55:06.000Z',
      request: 'GET https://example.com/admin/x',
      status: 200,
      change: null,
    });
  });

  it('may be several, compressed, of several formats, and stdin', async () => {
    save('packed', gzipSync(readFileSync(join(folder, 'same.log'))));
    save('one.json', fields(200, '/admin/z', { upstream_status: '200' }));
    const both = await report('--log', 'packed', '--log', 'one.json');
    expect(both).toMatchObject({ code: 1, compared: 6, changed: 1 });
    expect(groupTexts(both)[0]).toBe('1 different refused_here: 200 by the origin → block 403 by drop/admin');
    const piped = await edgeplan(['replay', '--compare-status', '--log', '-'], {
      cwd: folder,
      input: line(1, 200, '/admin'),
    });
    expect(piped.code).toBe(1);
    expect(piped.out).toContain('stdin:1  2025-10-10T13:55:01.000Z  GET https://example.com/admin\n');
  });

  it('that says who answered has nothing open, and its locations are compared', async () => {
    const away = { upstream_status: '', sent_http_location: 'https://example.com/newer?code=S3CRET' };
    save(
      'who.json',
      [
        fields(302, '/cart', { upstream_status: '302' }),
        fields(403, '/private', { upstream_status: '' }),
        fields(301, '/moved', { upstream_status: '' }),
        fields(301, '/old', { upstream_status: '', sent_http_location: 'https://example.com/new' }),
        fields(301, '/old', away),
      ].join(''),
    );
    const found = await report('--log', 'who.json');
    expect(groupTexts(found)).toEqual([
      '1 different refused_there: 403 by the proxy → forward',
      '1 different redirected_there: 301 by the proxy → forward',
      '1 different other_location: 301 by the proxy → redirect 301 by redirect/old',
      '1 same equal: 301 by the proxy → redirect 301 by redirect/old',
      '1 same forwarded: 302 by the origin → forward',
    ]);
    const { out } = await run('--log', 'who.json');
    expect(out).toContain(
      'GET https://example.com/old: location https://example.com/newer?code=REDACTED → https://example.com/new\n',
    );
    expect(out).not.toContain('says who answered');
  });

  it('compares refusals without their statuses only with --any-refusal', async () => {
    save('hidden.log', line(1, 404, '/admin'));
    expect(await report('--log', 'hidden.log')).toMatchObject({
      code: 1,
      groups: [{ reason: 'other_refusal' }],
    });
    expect(await report('--log', 'hidden.log', '--any-refusal')).toMatchObject({
      code: 0,
      groups: [{ verdict: 'same', reason: 'any_refusal' }],
    });
  });
});

describe('a decision log', () => {
  it('is compared by its statuses too', async () => {
    const subject = journalSubject({
      domain: DOMAIN,
      records: RECORDS.map((one) => ({ ...one, id: 1 })),
      rules: [{ id: 1, type: 'drop', path_includes: ['/admin*'] }],
    });
    const log = createDecisionLog({
      file: join(folder, 'decisions.jsonl'),
      rate: 1,
      onFault: () => undefined,
    });
    for (const target of ['/admin', '/']) log.done(subject.entry({ target }));
    await log.close();
    expect((await run('--log', 'decisions.jsonl')).code).toBe(0);
    edge('open.yaml', []);
    const found = await report('--log', 'decisions.jsonl', '-f', 'open.yaml');
    expect(found.code).toBe(1);
    expect(groupTexts(found)).toEqual([
      '1 different refused_there: 403 by the proxy → forward',
      '1 same forwarded: 200 by the origin → forward',
    ]);
  });
});

describe('wrong inputs', () => {
  it.each([
    [['--log', 'none.json'], 3, 'add `"status":"$status"` to the `log_format`'],
    [['--log', 'none.log'], 3, 'no line of the log has the status of its answer'],
    [['--log', 'same.log', '--before', 'edge.yaml'], 2, '--compare-status compares with the log'],
    [['--log', 'same.log', '--host', 'other.test'], 3, 'no request is to a host of `example.com`'],
  ])('%j ends with %d', async (args, code, sentence) => {
    save('none.json', fields(200, '/').replace('"status":200', '"x":1'));
    save('none.log', line(1, '-', '/'));
    const result = await run(...args);
    expect({ code: result.code, out: result.out }).toEqual({ code, out: '' });
    expect(result.err).toContain(sentence);
  });

  it('are refusals of another replay', async () => {
    const { code, err } = await edgeplan(['replay', '--log', 'same.log', '--any-refusal'], { cwd: folder });
    expect(code).toBe(2);
    expect(err).toContain('--any-refusal is about --compare-status');
  });

  it('are lines of which most cannot be read: ends with 3', async () => {
    save('garbage.log', `${line(1, 200, '/')}garbage\ngarbage\n`);
    expect((await run('--log', 'garbage.log')).code).toBe(3);
  });
});

/** An origin: `/app/<status>` gets that status, `/slow` no answer. */
async function startOrigin() {
  const waiting: ServerResponse[] = [];
  const server = createServer((incoming, response) => {
    if (incoming.url === '/slow') {
      waiting.push(response);
      return;
    }
    const status = Number(/^\/app\/(\d+)$/.exec(incoming.url ?? '')?.[1] ?? 200);
    response.writeHead(status, status === 302 ? { Location: '/app/200' } : {}).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    waiting,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('nginx', requires(missingProgram('nginx')), () => {
  const host = 'shop.example.com';
  const PATHS = [
    ...['/', '/app/200', '/app/302', '/app/403', '/app/404', '/app/503', '/admin/x', '/.git/config', '/gone'],
    ...['/closed', '/old', '/old?x=1', '/blog/a?b=c', '/office/x', '/down', '/login', '/login', '/login'],
  ];

  /** Sends a request and waits for the end of the answer, or of the connection. */
  function ask(port: number, path: string): Promise<void> {
    return new Promise((resolve) => {
      const sent = request({ host: '127.0.0.1', port, path, headers: { Host: host } }, (response) => {
        response.resume().on('end', resolve);
      });
      // nginx closes the connection of `/closed`.
      sent.on('error', () => resolve()).end();
    });
  }

  it('writes logs that its imported configuration is equal to, and a wrong rule is found', async () => {
    const origin = await startOrigin();
    const app = `proxy_pass http://127.0.0.1:${origin.port};`;
    const http = 'limit_req_zone $binary_remote_addr zone=login:1m rate=1r/m;';
    const server = `server_name ${host};
      location / { ${app} }
      location /admin/ { return 403; }
      location = /closed { return 444; }
      location = /gone { return 410; }
      location = /old { return 301 https://${host}/new; }
      location /blog/ { return 302 https://blog.example.com$request_uri; }
      location /office/ { allow 192.0.2.0/24; deny all; ${app} }
      location = /login { limit_req zone=login; limit_req_status 429; ${app} }
      location = /down { proxy_pass http://127.0.0.1:${await freePort()}; }
      location ~ /\\.git { return 401; }`;
    save('site.conf', `http { ${http}\nserver { listen 80;\n${server}\n} }`);
    const readme = readFileSync(new URL('../../src/cli/README.md', import.meta.url), 'utf8');
    const format = /```nginx\n(log_format edge [^`]+)```/.exec(readme)![1]!;
    const nginx = await startNginx({
      http: `${http} ${format}`,
      server: `access_log ${folder}/nginx.json edge; access_log ${folder}/nginx.log combined;\n${server}`,
    });
    try {
      for (const path of PATHS) await ask(nginx.port, path);
      const gone = connect(nginx.port, '127.0.0.1');
      gone.write(`GET /slow HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await until(() => origin.waiting.length > 0, 'the request at the origin');
      gone.destroy();
      const lines = (): number => readFileSync(join(folder, 'nginx.log'), 'utf8').split('\n').length - 1;
      await until(() => lines() > PATHS.length, 'the lines of the log');
    } finally {
      await nginx.stop();
      origin.close();
    }
    const imported = await edgeplan(['import', 'nginx', 'site.conf', '-o', 'site.yaml'], { cwd: folder });
    expect(imported.code).toBe(0);
    await compareImported();
  });

  /** Compares both logs with the imported file, then with files that differ from it. */
  async function compareImported(): Promise<void> {
    const text = readFileSync(join(folder, 'site.yaml'), 'utf8');
    const json = ['--log', 'nginx.json'];
    const combined = ['--log', 'nginx.log', '--scheme', 'http'];
    const whole = await report(...json, '-f', 'site.yaml', '--any-refusal');
    expect(groupTexts(whole)).toEqual([
      '1 incomparable failed_there: 502 by the proxy → forward by origin_route/~',
      '1 incomparable broken: 499 by the proxy → forward',
      '2 same equal: 301 by the proxy → redirect 301 by redirect/~',
      '2 same equal: 429 by the proxy → block 429 by rate_limit/~',
      '1 same equal: 403 by the proxy → block 403 by drop/~',
      '1 same equal: 410 by the proxy → block 410 by drop/~',
      '1 same equal: 302 by the proxy → redirect 302 by redirect/~',
      '1 same equal: 403 by the proxy → block 403 by drop/~',
      '3 same forwarded: 200 by the origin → forward',
      '1 same forwarded: 302 by the origin → forward',
      '1 same forwarded: 403 by the origin → forward',
      '1 same forwarded: 404 by the origin → forward',
      '1 same forwarded: 503 by the origin → forward',
      '1 same any_refusal: 401 by the proxy → block 403 by drop/~',
      '1 same closed_there: 444 by the proxy → block 403 by drop/~',
    ]);
    expect(whole.code).toBe(0);
    // No rule answers 401.
    const strict = await report(...combined, '-f', 'site.yaml');
    expect(groupTexts(strict).filter((one) => one.includes('different'))).toEqual([
      '1 different other_refusal: 401 → block 403 by drop/~',
    ]);
    expect(strict.code).toBe(1);
    const changed = async (from: string, to: string, ...args: string[]): Promise<readonly string[]> => {
      expect(text).toContain(from);
      save('changed.yaml', text.replace(from, to));
      const found = await report(...args, '-f', 'changed.yaml', '--any-refusal');
      return [String(found.code), ...groupTexts(found).filter((one) => !/ (?:same|incomparable) /.test(one))];
    };
    expect(await changed('^/admin/', '^/other/', ...json)).toEqual([
      '1',
      '1 different refused_there: 403 by the proxy → forward',
    ]);
    expect(await changed('^/admin/', '^/other/', ...combined)).toEqual([
      '0',
      '2 open refused_by_either: 403 → forward',
      '1 open refused_by_either: 404 → forward',
      '1 open refused_by_either: 503 → forward',
      '1 open redirected_by_either: 302 → forward',
    ]);
    expect(await changed(`target: https://${host}/new`, `target: https://${host}/news`, ...json)).toEqual([
      '1',
      '2 different other_location: 301 by the proxy → redirect 301 by redirect/~',
    ]);
    expect(await changed('status_code: 301', 'status_code: 308', ...combined)).toContain(
      '2 different other_redirect: 301 → redirect 308 by redirect/~',
    );
    expect(await changed('[/gone]', '[/gone, "/app/2*"]', ...combined)).toContain(
      '1 different refused_here: 200 → block 410 by drop/~',
    );
  }
});
