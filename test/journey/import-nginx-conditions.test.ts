/**
 * Conditions on methods, headers, query parameters, cookies, schemes and countries beside nginx: no request reaches an origin that
 * nginx keeps from it, and what the report calls exact decides alike.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DifferenceKind } from '../../src/cli/check-nginx/check.ts';
import { importNginx } from '../../src/workbench/importers/nginx/import-nginx.ts';
import type { ImportOutcome } from '../../src/workbench/importers/report.ts';
import { expectNothingOpened } from '../support/importers/nothing-opened.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { missingProgram, requires } from '../support/requires.ts';

/** Configurations that are generated, each with six locations. */
const RUNS = 10;

const PASS = 'proxy_pass http://192.0.2.9;';

/** A server of plain http with the content of its block. */
function site(content: string): string {
  return `server { listen 80; server_name example.com; ${content} location / { ${PASS} } }`;
}

/** Configurations by what they show: outcomes that are neither exact nor not needed, and the kinds of differences. */
const CONFIGURATIONS: [string, string, (readonly ImportOutcome[])?, (readonly DifferenceKind[])?][] = [
  ['a method that is refused', site('if ($request_method = DELETE) { return 403; }')],
  ['methods that are let in', site('if ($request_method !~ ^(GET|HEAD|POST)$) { return 403; }')],
  ['methods without case', site('if ($request_method ~* ^(get|head)$) { return 302 https://example.net/; }')],
  [
    'a regex that is part of a method',
    site(
      'location /a/ { if ($request_method ~ (POST|PUT)) { return 403; } ' +
        PASS +
        ' } location /b/ { if ($request_method !~ GET|HEAD) { return 403; } ' +
        PASS +
        ' }',
    ),
    ['differs', 'differs'],
    ['closed'],
  ],
  ['a header that is compared', site('if ($http_x_api = v1) { return 403; }')],
  ['a header that must be', site(`location /a/ { if ($http_x_token != "s3cret") { return 403; } ${PASS} }`)],
  ['an empty User-Agent', site('if ($http_user_agent = "") { return 403; }')],
  [
    'a User-Agent that is not empty',
    site('if ($http_user_agent != "") { return 302 https://example.net/; }'),
  ],
  ['User-Agents without case', site('if ($http_user_agent ~* "(curl|wget|^$)") { return 403; }')],
  [
    'a regex that matches nothing too',
    site('if ($http_x ~ "^(|ab*)$") { return 403; } if ($http_y !~ "^(|ab*)$") { return 403; }'),
  ],
  [
    'literal texts of a regex',
    site(
      'if ($http_x ~ ^ab) { return 403; } if ($http_y ~* ab$) { return 403; } if ($http_z !~ ^(a|b)$) { return 403; }',
    ),
  ],
  [
    'a header that is set',
    site(
      'if ($http_x_debug) { return 403; } location /a/ { if ($http_x_other) { return 302 https://example.net/; } ' +
        PASS +
        ' }',
    ),
  ],
  ['the whole Cookie header', site('if ($http_cookie ~* "logged_in") { return 403; }')],
  [
    'a referrer',
    site(`location /img/ { if ($http_referer !~ "^https://example\\.com/") { return 403; } ${PASS} }`),
  ],
  [
    'a parameter that is refused',
    site(`location /a/ { if ($arg_debug = 1) { return 403; } ${PASS} }`),
    ['closed'],
    ['closed'],
  ],
  [
    'a parameter that must be',
    site(`location /a/ { if ($arg_token != "s3cret") { return 403; } ${PASS} }`),
    ['differs'],
    ['closed'],
  ],
  [
    'a parameter that must not be empty',
    site(`location /a/ { if ($arg_token = "") { return 403; } ${PASS} }`),
    ['differs'],
    ['closed'],
  ],
  [
    'a parameter of digits',
    site(`location /a/ { if ($arg_id !~ ^[0-9]+$) { return 403; } ${PASS} }`),
    ['differs'],
    ['closed'],
  ],
  [
    'a parameter of another form',
    site(`location /a/ { if ($arg_id !~ ^a.*z) { return 403; } ${PASS} }`),
    ['closed'],
    ['closed'],
  ],
  [
    'a parameter that redirects',
    site(`location /a/ { if ($arg_old = 1) { return 302 https://example.net/; } ${PASS} }`),
    ['differs'],
    ['lost_redirect', 'other'],
  ],
  [
    'a cookie that must be, and one that is refused',
    site(
      'location /a/ { if ($cookie_in != yes) { return 403; } ' +
        PASS +
        ' } location /b/ { if ($cookie_out) { return 403; } ' +
        PASS +
        ' }',
    ),
    ['differs', 'closed'],
    ['closed'],
  ],
  [
    'the scheme',
    'server { listen 80; listen 443 ssl; server_name example.com; if ($scheme = http) { return 403; } location / { ' +
      PASS +
      ' } }',
  ],
  [
    'the other scheme',
    'server { listen 80; listen 443 ssl; server_name example.com; location /a/ { if ($scheme ~ s$) { return 403; } ' +
      PASS +
      ' } location / { ' +
      PASS +
      ' } }',
  ],
  [
    'flags of two conditions',
    site(
      'set $bad ""; if ($request_method = POST) { set $bad "${bad}p"; } if ($http_x_csrf = "") { set $bad "${bad}c"; } if ($bad = pc) { return 403; }',
    ),
  ],
  ['a variable of a header', site('set $key $http_x_key; if ($key = a) { return 403; }')],
  [
    'a host that is the name of the server',
    'server { listen 80; server_name example.com www.example.com; if ($host != $server_name) { return 403; } location / { ' +
      PASS +
      ' } }',
  ],
  [
    'an address by a regex',
    site(
      'if ($remote_addr ~ "^(203\\.0\\.113\\.|10\\.)") { return 403; } location /a/ { allow 203.0.113.0/24; deny 198.51.100.7; ' +
        PASS +
        ' }',
    ),
  ],
  [
    'a map over the User-Agent with exceptions',
    'map $http_user_agent $bad { default 0; "" 1; "good bot" 0; ~*bot 1; ~^Mozilla 0; ~zilla 1; } ' +
      site('if ($bad) { return 403; }'),
  ],
  [
    'a map over a header that lets in',
    'map $http_x_key $ok { default 0; "k1" 1; "k2" 1; ~^t[0-9]+$ 1; } ' +
      site(`location /a/ { if ($ok = 0) { return 403; } ${PASS} }`),
  ],
  [
    'a map over the method',
    'map $request_method $write { default 1; GET 0; HEAD 0; ~^(OPTIONS)$ 0; } ' +
      site(`location /a/ { if ($write) { return 403; } ${PASS} }`),
  ],
  [
    'a map over a map',
    'map $http_x $one { default a; x b; ~^y c; } map $one $two { b 1; c 0; default 2; } ' +
      site('if ($two = 1) { return 403; } if ($two = 0) { return 302 https://example.net/; }'),
  ],
  [
    'a map over a parameter',
    'map $arg_v $no { default 1; good 0; fine 0; } map $arg_w $yes { default 0; bad 1; } ' +
      site(
        'location /a/ { if ($no) { return 403; } ' +
          PASS +
          ' } location /b/ { if ($yes) { return 403; } ' +
          PASS +
          ' }',
      ),
    ['differs', 'closed'],
    ['closed'],
  ],
  [
    'a map over paths with exceptions',
    `map $uri $no { default 1; /open 0; ~^/pub/ 0; ~^/pub 1; } ${site('if ($no) { return 403; }')}`,
  ],
  [
    'a map over hosts with exceptions',
    'map $host $no { hostnames; default 0; *.example.com 1; a.example.com 0; .b.example.com 0; } server { listen 80; server_name example.com *.example.com; if ($no) { return 403; } location / { ' +
      PASS +
      ' } }',
  ],
  [
    'a map whose values redirect',
    'map $http_x $to { default ""; a https://a.example.net/; b https://b.example.net/; } ' +
      site('if ($to) { return 302 $to; }'),
  ],
];

/** Guards of locations: lists, methods, passwords, internal locations. */
const GUARDS: typeof CONFIGURATIONS = [
  ['methods that a location excepts', site(`location /a/ { limit_except GET { deny all; } ${PASS} }`)],
  [
    'methods that some addresses may use',
    site(`location /a/ { limit_except GET POST { allow 203.0.113.0/24; deny all; } ${PASS} }`),
  ],
  [
    'excepted methods do not reach locations inside',
    site(`location /a/ { limit_except GET { deny all; } location /a/in/ { ${PASS} } ${PASS} }`),
  ],
  [
    'excepted methods before a redirect of the location',
    site('location /a/ { limit_except GET { deny all; } return 301 https://example.net/; }'),
    ['differs', 'differs'],
  ],
  [
    'a list around excepted methods',
    site(`location /a/ { deny 203.0.113.9; limit_except GET { allow 203.0.113.0/24; deny all; } ${PASS} }`),
    ['differs', 'differs', 'differs'],
    ['closed'],
  ],
  [
    'excepted methods that are allowed where all else is denied',
    site(`location /a/ { deny all; limit_except GET { allow all; } ${PASS} }`),
    ['differs', 'differs'],
    ['closed'],
  ],
  [
    'a password for excepted methods',
    site(`location /a/ { limit_except GET { auth_basic x; auth_basic_user_file f; } ${PASS} }`),
    ['closed', 'closed'],
    ['other'],
  ],
  [
    'a password or an address for excepted methods',
    site(
      `location /a/ { satisfy any; auth_basic x; auth_basic_user_file f; limit_except GET { allow 203.0.113.0/24; deny all; } ${PASS} }`,
    ),
    ['closed', 'closed', 'closed', 'closed'],
    ['other', 'closed'],
  ],
  ['internal locations', site(`location /in/ { internal; ${PASS} } location = /err { internal; ${PASS} }`)],
  [
    'an internal location with locations inside',
    site(`location /in/ { internal; location /in/a/ { ${PASS} } ${PASS} }`),
  ],
  [
    'an internal location of a regex, with a password',
    site(`location ~ \\.inc$ { internal; auth_basic x; auth_basic_user_file f; ${PASS} }`),
  ],
  [
    'a password or an address, where the list denies nobody',
    site(`location /p/ { satisfy any; allow 203.0.113.0/24; auth_basic x; auth_basic_user_file f; ${PASS} }`),
    ['closed', 'closed'],
    ['other'],
  ],
  [
    'a password or an address, in two locations of one list',
    site(
      `allow 203.0.113.0/24; deny 198.51.100.0/24; location /p/ { satisfy any; auth_basic x; auth_basic_user_file f; ${PASS} } location /q/ { ${PASS} }`,
    ),
    ['closed', 'closed', 'closed'],
    ['other'],
  ],
  ['any of a list alone', site(`location /p/ { satisfy any; allow 203.0.113.0/24; deny all; ${PASS} }`)],
  [
    'a password of the server that a location has not',
    site(`auth_basic x; auth_basic_user_file f; location /open/ { auth_basic off; ${PASS} }`),
    ['closed'],
    ['other'],
  ],
];

describe('conditions beside nginx', requires(missingProgram('nginx'), OPENSSL_MISSING), () => {
  test.each([...CONFIGURATIONS, ...GUARDS])('%s', async (_, text, outcomes = [], stated = []) => {
    const { entries, text: file } = await expectNothingOpened(text, stated);
    const found = entries.filter(({ outcome }) => outcome !== 'exact' && outcome !== 'not_needed');
    const report = found.map(({ outcome, source, reasons }) => `${outcome} ${source}: ${reasons.join('; ')}`);
    expect(
      found.map(({ outcome }) => outcome),
      `${report.join('\n')}\n${file}`,
    ).toEqual(outcomes);
  });

  test('conditions that are generated open nothing, and decide alike where the report says so', {
    timeout: 3_600_000,
  }, async () => {
    const text = fc.constantFrom('a', 'b', 'ab', 'GET', '0', '');
    const regex = fc.constantFrom(
      '^a',
      'b$',
      '^(a|b)$',
      'a|b',
      '^$',
      '^a*$',
      '^[ab]+$',
      'A',
      '(a|)b',
      '^GET$',
    );
    const variable = fc.constantFrom(
      ...[
        '$http_x',
        '$http_y',
        '$request_method',
        '$arg_x',
        '$cookie_x',
        '$scheme',
        '$m',
        '$n',
        '$o',
        '$uri',
      ],
    );
    const quotedText = text.map((one) => `"${one}"`);
    const condition = fc.oneof(
      { weight: 1, arbitrary: variable },
      {
        weight: 3,
        arbitrary: fc.tuple(variable, fc.constantFrom('=', '!='), quotedText).map((of) => of.join(' ')),
      },
      {
        weight: 3,
        arbitrary: fc
          .tuple(variable, fc.constantFrom('~', '~*', '!~', '!~*'), regex)
          .map(([one, operator, of]) => `${one} ${operator} "${of}"`),
      },
    );
    const action = fc.constantFrom(
      ...[
        'return 403;',
        'return 403;',
        'return 302 https://example.net/;',
        'set $f 1;',
        'set $f "${f}2";',
        'break;',
      ],
    );
    const location = fc
      .array(fc.tuple(condition, action), { minLength: 1, maxLength: 3 })
      .map((ifs) => ifs.map(([of, what]) => `if (${of}) { ${what} }`).join(' '));
    const value = fc.constantFrom('0', '1', '2', '""', 'a');
    const map = fc
      .tuple(
        fc.constantFrom('$http_x', '$request_method', '$arg_x', '$cookie_x', '$n', '$http_y'),
        fc.uniqueArray(
          fc.tuple(
            fc.oneof(
              fc.constantFrom('a', 'b', 'ab', 'get', '""', '1'),
              regex.map((of) => `"~${of}"`),
            ),
            value,
          ),
          {
            selector: ([key]) => key,
            maxLength: 4,
          },
        ),
        value,
      )
      .map(([of, entries, fallback]) => ({
        of,
        body: `default ${fallback}; ${entries.map((one) => `${one.join(' ')};`).join(' ')}`,
      }));
    const configuration = fc.tuple(map, map, map, fc.array(location, { minLength: 6, maxLength: 6 }));
    let exact = 0;
    for (const [m, n, o, locations] of fc.sample(configuration, { numRuns: RUNS, seed: 20_261_130 })) {
      const source = n.of === '$n' ? '$http_y' : n.of;
      const maps = `map ${m.of} $m { ${m.body} } map ${source} $n { ${n.body} } map ${o.of} $o { ${o.body} }`;
      const flags = 'if ($f) { return 403; }';
      const blocks = locations.map(
        (ifs, at) => `location /${at}/ { set $f ""; ${ifs} ${at % 2 === 0 ? flags : ''} ${PASS} }`,
      );
      const written = `${maps} server { listen 80; listen 443 ssl; server_name example.com; ${blocks.join('\n')} location / { ${PASS} } }`;
      const edge = importNginx([{ name: 'x', text: written }], () => [], {
        domain: null,
        origin: 'origin.invalid',
      });
      const isExact =
        edge.ok && edge.entries.every(({ outcome }) => ['exact', 'not_needed'].includes(outcome));
      if (isExact) exact++;
      await expectNothingOpened(written, isExact ? [] : ['closed', 'other', 'lost_redirect']);
    }
    expect(exact).toBeGreaterThan(0);
  });
});
