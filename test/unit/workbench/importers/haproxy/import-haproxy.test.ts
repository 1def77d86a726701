/** The HAProxy importer: what it closes, names and refuses, as the Configuration Manual of HAProxy describes the source. */
import { expect, test } from 'vitest';
import { importHaproxy } from '../../../../../src/workbench/importers/haproxy/import-haproxy.ts';
import { parseHaproxy } from '../../../../../src/workbench/importers/haproxy/parse-haproxy.ts';
import { partRegex } from '../../../../../src/workbench/importers/haproxy/patterns.ts';
import {
  countOpened,
  type ImportOutcome,
  type SourceFile,
} from '../../../../../src/workbench/importers/report.ts';
import { type EvaluatedImport, evaluateImport } from '../../../../support/importers/evaluate-import.ts';

const OPTIONS = { domain: 'example.com', origin: 'origin.example.net' };
const HEAD = 'defaults\n mode http\n';
const BACKEND = '\nbackend app\n server a 192.0.2.1:80\n';

/** A configuration with one frontend of plain http that has these lines. */
function frontend(lines: string, more = BACKEND): string {
  return `${HEAD}frontend web\n bind :80\n ${lines.replaceAll('\n', '\n ')}\n default_backend app\n${more}`;
}

function load(text: string, files: readonly SourceFile[] = []): EvaluatedImport {
  const sources = [{ name: 'h.cfg', text }, ...files];
  const imported = evaluateImport(importHaproxy(sources, () => ({ reason: 'no such file' }), OPTIONS));
  expect(countOpened(imported.edge.entries)).toBe(0);
  return imported;
}

/** Outcomes of lines with actions, by their text. */
function outcomes({ edge }: EvaluatedImport): readonly (readonly [ImportOutcome, string])[] {
  const shown = edge.entries.filter(
    ({ outcome, source }) => outcome !== 'not_needed' && !/^(?:server|default_backend)/.test(source),
  );
  return shown.map(({ outcome, source }) => [outcome, source]);
}

test.each([
  ['a password', 'http-request auth unless { http_auth(users) }', '/x', 'block', 'closed'],
  [
    'a password on a path',
    'http-request auth if { path_beg /a } !{ http_auth(users) }',
    '/b',
    'forward',
    'closed',
  ],
  [
    'a text',
    'http-request return status 200 content-type text/plain string hi if { path /hi }',
    '/hi',
    'block',
    'closed',
  ],
  ['a status', 'http-request return status 404 if { path /hi }', '/hi', 'block', 'exact'],
  ['a monitor', 'monitor-uri /alive', '/alive', 'block', 'closed'],
  ['statistics', 'stats enable\nstats uri /stats', '/stats?x', 'block', 'closed'],
  ['a client certificate', 'bind :443 ssl crt x verify required ca-file y', '/', 'block', 'closed'],
  [
    'a counter on a path',
    'http-request deny if { path_beg /a } { sc_conn_cur(0) gt 5 }',
    '/a',
    'forward',
    'not_carried',
  ],
  [
    'an unknown fetch on a path',
    'http-request deny if { path_beg /a } { req.body_size gt 5 }',
    '/a',
    'block',
    'closed',
  ],
  [
    'a missing file',
    'http-request deny if { path_beg /a } { src -f /etc/haproxy/none.lst }',
    '/a',
    'block',
    'closed',
  ],
  ['an ACL that is not defined', 'http-request deny if { path_beg /a } nothing', '/a', 'block', 'closed'],
  [
    'a parameter, which HAProxy also finds behind `;`',
    'http-request deny if { path /a } { urlp(debug) 1 }',
    '/a',
    'block',
    'closed',
  ],
  [
    'a variable of a script',
    'http-request deny if { path_beg /a } { var(txn.bad) -m bool }',
    '/a',
    'block',
    'closed',
  ],
  [
    'an environment variable',
    'http-request deny if { path_beg /a } { src "$OFFICE" }',
    '/a',
    'block',
    'closed',
  ],
  ['old block', 'block if { path /a }', '/a', 'block', 'exact'],
])('%s', (_, lines, target, action, outcome) => {
  const imported = load(frontend(lines));
  expect([imported.decide({ scheme: 'http', target }).action, outcomes(imported)[0]?.[0]]).toEqual([
    action,
    outcome,
  ]);
});

test('a refusal unless a parameter or a cookie is present is carried over', () => {
  const { decide } = load(
    frontend('http-request deny unless { urlp(key) s3 } || { req.cook(session) -m found }'),
  );
  expect(decide({ target: '/?key=s3' }).action).toBe('forward');
  expect(decide({ target: '/', headers: { cookie: 'a=1; session=x' } }).action).toBe('forward');
  expect(decide({ target: '/?key=s4' }).action).toBe('block');
});

test('requests that reach no backend are refused with 503', () => {
  const text = `${HEAD}frontend web\n bind :80\n use_backend app if { hdr(host) a.example.com } { path_beg /a }${BACKEND}`;
  const { decide } = load(text);
  expect(decide({ host: 'a.example.com', target: '/a' }).action).toBe('forward');
  expect(decide({ host: 'a.example.com', target: '/b' })).toMatchObject({ action: 'block', status: 503 });
});

test('guards of a backend concern the requests that reach it alone', () => {
  const backends = '\nbackend api\n http-request deny if { path_end .bak }\n server a 192.0.2.2:80\n';
  const { decide } = load(frontend('use_backend api if { path_beg /api/ }', BACKEND + backends));
  expect(decide({ target: '/api/x.bak' }).action).toBe('block');
  expect(decide({ target: '/x.bak' }).action).toBe('forward');
  expect(decide({ target: '/api/x' }).origin?.address).toBe('192.0.2.2');
});

test('plain http of hosts that the file does not name is guarded like https where HAProxy redirects it', () => {
  const text = `${HEAD}frontend plain\n bind :80\n http-request redirect scheme https\nfrontend tls\n bind :443 ssl crt x
 http-request deny if { path_beg /admin }\n default_backend app${BACKEND}`;
  const { decide, edge } = load(text);
  expect(decide({ scheme: 'http', host: 'example.com', target: '/x' }).location).toBe(
    'https://example.com/x',
  );
  expect(decide({ scheme: 'http', host: 'other.example.com', target: '/admin' }).action).toBe('block');
  expect(decide({ scheme: 'https', host: 'example.com', target: '/admin' }).action).toBe('block');
  expect(edge.entries.find(({ source }) => source.includes('redirect scheme'))?.outcome).toBe('differs');
});

test('a redirect to the URL of the request itself takes it past no guard', () => {
  const { decide } = load(
    frontend(
      'acl named hdr(host) -i example.com\nhttp-request redirect scheme https if { req.hdr(X-Forwarded-Proto) http }\nhttp-request redirect location /in if { path_beg /in }\nhttp-request deny if { path_beg /admin } or { path /in }',
    ),
  );
  const headers = { 'x-forwarded-proto': 'http' };
  expect(decide({ scheme: 'http', target: '/admin', headers }).location).toBe('https://example.com/admin');
  expect(decide({ scheme: 'https', target: '/admin', headers }).action).toBe('block');
  expect(decide({ scheme: 'https', target: '/in' }).action).toBe('block');
  expect(decide({ scheme: 'https', target: '/inx' }).location).toBe('/in');
});

test('what depends on the environment of HAProxy lets nothing through', () => {
  const { decide } = load(
    frontend(
      '.if defined(OPEN)\nhttp-request allow if { path_beg /a }\n.endif\nhttp-request deny if { path_beg /a }',
    ),
  );
  expect(decide({ target: '/a' }).action).toBe('block');
});

test('the rate of a stick table becomes a limit by its key', () => {
  const table = 'stick-table type string len 64 size 1m expire 1m store http_req_rate(1m)\n';
  const { decide, edge } = load(
    frontend(
      `${table}http-request track-sc0 req.hdr(X-Api-Key)\nhttp-request deny deny_status 429 if { sc_http_req_rate(0) ge 3 }`,
    ),
  );
  const ask = (key: string): number | null => decide({ headers: { 'x-api-key': key } }).status;
  expect([ask('a'), ask('a'), ask('a'), ask('b')]).toEqual([null, null, 429, null]);
  expect(edge.text).toContain('key_parts: [header:x-api-key]');
});

test('maps choose backends by host and redirects by path, from files that are named', () => {
  const lines = `use_backend %[req.hdr(host),lower,map_dom(/etc/haproxy/hosts.map,app)]
http-request redirect code 301 location %[path,map_beg(/etc/haproxy/paths.map)] if { path,map_beg(/etc/haproxy/paths.map) -m found }`;
  const files = [
    { name: 'dir/hosts.map', text: '# hosts\nshop.example.com  shop\n' },
    { name: 'paths.map', text: '/old /new\n/old/deep  /deeper\n' },
  ];
  const { decide } = load(frontend(lines, `${BACKEND}backend shop\n server a 192.0.2.7:80\n`), files);
  expect(decide({ host: 'shop.example.com' }).origin?.address).toBe('192.0.2.7');
  expect(decide({ host: 'a.shop.example.com' }).origin?.address).toBe('192.0.2.7');
  expect(decide({ host: 'example.com' }).origin?.address).toBe('192.0.2.1');
  expect(decide({ target: '/older' }).location).toBe('/new');
  expect(decide({ target: '/old/deep/x' }).location).toBe('/deeper');
});

test('a file of many patterns becomes several rules', () => {
  const text = Array.from({ length: 400 }, (_, index) => `/p${index}/x`).join('\n');
  const agents = Array.from({ length: 120 }, (_, index) => `bot-${index}-`).join('\n');
  const { decide } = load(
    frontend(
      'http-request deny if { path -f paths.lst }\nhttp-request deny if { req.hdr(user-agent) -m sub -i -f agents.lst }',
    ),
    [
      { name: 'paths.lst', text },
      { name: 'agents.lst', text: agents },
    ],
  );
  expect(decide({ target: '/p399/x' }).action).toBe('block');
  expect(decide({ target: '/p400/x' }).action).toBe('forward');
  expect(decide({ headers: { 'user-agent': 'a BOT-119-b' } }).action).toBe('block');
  expect(decide({ headers: { 'user-agent': 'a bot-120-b' } }).action).toBe('forward');
});

test('what has no equivalent is named once a keyword', () => {
  const { edge } = load(
    frontend(
      'compression algo gzip\nhttp-request lua.check\nfilter spoe engine x\nhttp-request set-src hdr(x-forwarded-for)',
    ),
  );
  const lost = edge.entries.filter(({ outcome }) => outcome === 'not_carried');
  expect(lost.map(({ source }) => source.split(' ').slice(0, 2).join(' '))).toEqual([
    'compression algo',
    'http-request lua.check',
    'filter spoe',
    'http-request set-src',
  ]);
});

test.each([
  ['', 'no frontend in mode http'],
  ['mode http\n', 'no frontend in mode http'],
  ['x\ndefaults\n mode http\n', '`x` is before the first section'],
  ['frontend a\n bind :80\n', 'no frontend in mode http'],
  ['defaults\n mode http\nfrontend a\n bind ":80\n', 'the quoted text has no closing `"`'],
  ['defaults\n mode http\nfrontend a\n acl x path \\xq1\n', 'the escape `\\x` needs two hexadecimal digits'],
])('%j is refused with a message', (text, message) => {
  const imported = importHaproxy([{ name: 'h.cfg', text }], () => [], OPTIONS);
  expect(imported.ok ? '' : imported.mistakes[0]?.message).toContain(message);
});

test('words have quotes, escapes and comments, and a backslash at the end of a line joins the next', () => {
  const text = `frontend f # the first
  acl a path "/x y"'#z' \\# /a\\ b '\\1' "\\1 \\" \\$x" \\x41\\.b\\
 /next # end
`;
  const sections = parseHaproxy([{ name: 'h', text }]);
  if (!Array.isArray(sections)) throw new Error('refused');
  expect(sections[0].lines[0].words).toEqual([
    'acl',
    'a',
    'path',
    '/x y#z',
    '#',
    '/a b',
    '\\1',
    '\\1 " $x',
    'A\\.b',
    '/next',
  ]);
});

test.each([
  ['^bot$', '(?:^|,)[ \\t]*bot[ \\t]*(?:,|$)'],
  ['a.*b', 'a[^,]*b'],
  ['[^a]x', '[^,a]x'],
  ['a{1,2}', 'a{1,2}'],
  ['[!-~]', null],
  ['a,b', null],
  ['\\S+', null],
  ['x(^a|b$)', null],
])('the regex %j over one part of a header is %j over all of it', (source, expected) => {
  expect(partRegex(source)).toBe(expected);
});
