/**
 * Conditions on methods, headers, query parameters, cookies, schemes and countries beside nginx: no request reaches an origin that
 * nginx keeps from it, and what the report calls exact decides alike.
 */
import { describe, expect, test } from 'vitest';
import type { DifferenceKind } from '../../src/cli/check-nginx/check.ts';
import type { ImportOutcome } from '../../src/workbench/importers/report.ts';
import { expectNothingOpened } from '../support/importers/nothing-opened.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { missingProgram, requires } from '../support/requires.ts';

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
  [
    'a header that must be',
    site('location /a/ { if ($http_x_token != "s3cret") { return 403; } ' + PASS + ' }'),
  ],
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
    site('location /img/ { if ($http_referer !~ "^https://example\\.com/") { return 403; } ' + PASS + ' }'),
  ],
  [
    'a parameter that is refused',
    site('location /a/ { if ($arg_debug = 1) { return 403; } ' + PASS + ' }'),
    ['closed'],
    ['closed'],
  ],
  [
    'a parameter that must be',
    site('location /a/ { if ($arg_token != "s3cret") { return 403; } ' + PASS + ' }'),
    ['differs'],
    ['closed'],
  ],
  [
    'a parameter that must not be empty',
    site('location /a/ { if ($arg_token = "") { return 403; } ' + PASS + ' }'),
    ['differs'],
    ['closed'],
  ],
  [
    'a parameter of digits',
    site('location /a/ { if ($arg_id !~ ^[0-9]+$) { return 403; } ' + PASS + ' }'),
    ['differs'],
    ['closed'],
  ],
  [
    'a parameter of another form',
    site('location /a/ { if ($arg_id !~ ^a.*z) { return 403; } ' + PASS + ' }'),
    ['closed'],
    ['closed'],
  ],
  [
    'a parameter that redirects',
    site('location /a/ { if ($arg_old = 1) { return 302 https://example.net/; } ' + PASS + ' }'),
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
      site('location /a/ { if ($ok = 0) { return 403; } ' + PASS + ' }'),
  ],
  [
    'a map over the method',
    'map $request_method $write { default 1; GET 0; HEAD 0; ~^(OPTIONS)$ 0; } ' +
      site('location /a/ { if ($write) { return 403; } ' + PASS + ' }'),
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
    'map $uri $no { default 1; /open 0; ~^/pub/ 0; ~^/pub 1; } ' + site('if ($no) { return 403; }'),
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

describe('conditions beside nginx', requires(missingProgram('nginx'), OPENSSL_MISSING), () => {
  test.each(CONFIGURATIONS)('%s', async (_, text, outcomes = [], stated = []) => {
    const { entries, text: file } = await expectNothingOpened(text, stated);
    const found = entries.filter(({ outcome }) => outcome !== 'exact' && outcome !== 'not_needed');
    const report = found.map(({ outcome, source, reasons }) => `${outcome} ${source}: ${reasons.join('; ')}`);
    expect(
      found.map(({ outcome }) => outcome),
      `${report.join('\n')}\n${file}`,
    ).toEqual(outcomes);
  });
});
