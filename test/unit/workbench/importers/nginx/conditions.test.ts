import { describe, expect, test } from 'vitest';
import { importNginx } from '../../../../../src/workbench/importers/nginx/import-nginx.ts';
import { type EvaluatedImport, evaluateImport } from '../../../../support/importers/evaluate-import.ts';

const PASS = 'proxy_pass http://192.0.2.9;';

/** The import of a server with a block, behind directives of `http`. */
function site(content: string, http = ''): EvaluatedImport {
  const text = `${http} server { listen 80; server_name example.com; ${content} location / { ${PASS} } }`;
  return evaluateImport(
    importNginx([{ name: 'n', text }], () => [], { domain: null, origin: 'origin.invalid' }),
  );
}

/** The outcome and the reasons of the first entry that begins so. */
function entry({ edge }: EvaluatedImport, start: string): string {
  const found = edge.entries.find(({ source }) => source.startsWith(start))!;
  return [found.outcome, ...found.reasons].join(': ');
}

describe('if and map of nginx', () => {
  test('a header that is absent compares as the empty text', () => {
    const { decide } = site('if ($http_x = "") { return 403; } if ($http_y !~ "^(|a)$") { return 403; }');
    expect(decide({ headers: {} }).action).toBe('block');
    expect(decide({ headers: { x: '' } }).action).toBe('block');
    expect(decide({ headers: { x: '1' } }).action).toBe('forward');
    expect(decide({ headers: { x: '1', y: 'b' } }).action).toBe('block');
  });

  test('a header that is set is neither empty nor 0', () => {
    const { decide } = site('if ($http_x_debug) { return 403; }');
    const of = (value: string) => decide({ headers: { 'x-debug': value } }).action;
    expect(['', '0', '00', '1'].map(of)).toEqual(['forward', 'forward', 'block', 'block']);
  });

  test('a header that must have a value is refused where one of its lines has another', () => {
    const imported = site('if ($http_x_tenant != acme) { return 403; }');
    const of = (lines: readonly string[]) => imported.decide({ headers: { 'x-tenant': [...lines] } }).action;
    expect([['acme'], ['acme', 'evil'], ['evil', 'acme'], ['evil']].map(of)).toEqual([
      'forward',
      'block',
      'block',
      'block',
    ]);
    expect(imported.edge.notes.join()).toContain('repeat the name with another value');
  });

  test.each([
    ['$arg_debug = 1', 'nginx ignores the case of the name, so that `DEBUG` would pass a rule'],
    ['$cookie_out', 'nginx ignores the case of the name, so that `OUT` would pass a rule'],
    ['$arg_id !~ ^a.*z', 'another value of `id` beside one that is let in would pass'],
    ['$args ~ debug', 'no rule has a filter on `$args`'],
    ['$http_x = $http_y', '`$http_y` depends on the request, and a rule compares with a text'],
    ['$http_x_forwarded_proto ~ s$', 'the edge sets `X-Forwarded-Proto` on its own'],
  ])('an if on %s that refuses closes its paths', (condition, reason) => {
    const imported = site(`location /a/ { if (${condition}) { return 403; } ${PASS} }`);
    expect(entry(imported, `if (${condition.split(' ')[0]}`)).toContain(`closed: ${''}`);
    expect(entry(imported, `if (${condition.split(' ')[0]}`)).toContain(reason);
    expect(imported.decide({ target: '/a/x' }).action).toBe('block');
    expect(imported.decide({ target: '/b' }).action).toBe('forward');
  });

  test('the keys of a map compare without case, and no regex of it matches the empty text', () => {
    const { decide } = site(
      'if ($no) { return 403; }',
      'map $http_x $no { default 0; Bad 1; ~^$ 1; ~^b* 1; }',
    );
    const of = (value: string) => decide({ headers: { x: value } }).action;
    expect(['', 'BAD', 'b', 'a'].map(of)).toEqual(['forward', 'block', 'block', 'block']);
    expect(decide({}).action).toBe('forward');
  });

  test('countries of geoip have conditions, and those with a default of geoip2 have none', () => {
    const { decide, edge } = site('if ($geoip_country_code !~ ^(DE|AT)$) { return 403; }');
    expect(['DE', 'AT', 'FR', ''].map((country) => decide({ country }).action)).toEqual([
      'forward',
      'forward',
      'block',
      'block',
    ]);
    expect(edge.notes.join()).toContain('countries are those of the database of the edge');
    const guessed = site(
      'location /a/ { if ($geoip2_country_code = DE) { return 403; } }',
      'geoip2 db { $geoip2_country_code default=DE country iso_code; }',
    );
    expect(entry(guessed, 'if')).toContain('closed: no rule has a filter on `$geoip2_country_code`');
  });

  test('more exceptions than a condition has values make several rules', () => {
    const keys = Array.from({ length: 120 }, (_, at) => `"agent-${at}" 1;`).join(' ');
    const { decide, edge } = site(
      'if ($no) { return 403; }',
      `map $http_user_agent $no { default 0; ${keys} }`,
    );
    expect(edge.entries.find(({ source }) => source === 'return 403')?.becomes).toEqual([
      'drop',
      'drop',
      'drop',
    ]);
    expect(
      ['agent-0', 'AGENT-119', 'agent-120'].map(
        (agent) => decide({ headers: { 'user-agent': agent } }).action,
      ),
    ).toEqual(['block', 'block', 'forward']);
  });
});

describe('limit_req of nginx', () => {
  const limit = (key: string, http = '') =>
    site(
      `location /a/ { limit_req zone=z; ${PASS} }`,
      `${http} limit_req_zone ${key} zone=z:1m rate=2r/m; limit_req_status 429;`,
    );
  const statuses = ({ decide }: EvaluatedImport, requests: readonly object[]) =>
    requests.map((request) => decide({ target: '/a/x', ...request }).status);

  test('a key of a header counts each value, and no request without it', () => {
    const imported = limit('$http_x_key');
    const keyed = { headers: { 'x-key': 'k' } };
    expect(statuses(imported, [keyed, keyed, keyed, { headers: { 'x-key': 'l' } }])).toEqual([
      null,
      null,
      429,
      null,
    ]);
    expect(statuses(imported, [{}, {}, {}])).toEqual([null, null, null]);
  });

  test('a map with an empty key exempts, whatever the key of others is', () => {
    const imported = limit(
      '$key',
      'geo $in { default 0; 203.0.113.0/24 1; } map $in $key { 0 $binary_remote_addr; 1 ""; }',
    );
    const office = { ip: '203.0.113.1' };
    expect(statuses(imported, [office, office, office, {}, {}, {}])).toEqual([
      null,
      null,
      null,
      null,
      null,
      429,
    ]);
  });

  test.each([
    ['$server_name', '`$server_name` is one count for all requests, which no rule has'],
    [
      '$ssl_client_s_dn',
      'requests are not counted by `$ssl_client_s_dn`: no rule has a filter on `$ssl_client_s_dn`',
    ],
    ['"$remote_addr$uri$http_a$http_b"', 'has more than 3 parts'],
  ])('a key %s is not carried over', (key, reason) => {
    expect(entry(limit(key), 'limit_req zone')).toContain(reason);
  });

  test('a key of the session and the path names its parts', () => {
    const imported = limit('"$cookie_session:$uri"');
    expect(imported.edge.text).toContain('key_parts: [cookie:session, path]');
    expect(entry(imported, 'limit_req zone')).toContain('nginx ignores the case of the name');
  });
});

describe('guards of nginx', () => {
  test('a list that denies nobody asks others for a password under satisfy any', () => {
    const imported = site(`location /p/ { satisfy any; allow 203.0.113.0/24; auth_basic x; ${PASS} }`);
    expect(imported.decide({ target: '/p/x', ip: '203.0.113.1' }).action).toBe('forward');
    expect(imported.decide({ target: '/p/x' }).action).toBe('block');
    expect(entry(imported, 'auth_basic')).toMatch(/^closed: everybody but its allowed addresses/);
  });

  test('an internal location answers 404, and limit_except lets HEAD in with GET', () => {
    const { decide } = site(
      `location /in/ { internal; ${PASS} } location /r/ { limit_except GET { deny all; } ${PASS} }`,
    );
    expect(decide({ target: '/in/x' })).toMatchObject({ action: 'block', status: 404 });
    expect(['GET', 'HEAD', 'POST'].map((method) => decide({ target: '/r/x', method }).action)).toEqual([
      'forward',
      'forward',
      'block',
    ]);
  });
});
