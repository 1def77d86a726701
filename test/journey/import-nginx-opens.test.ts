/**
 * Small configurations beside nginx over generated requests: no request reaches an origin that nginx keeps from it, and no
 * redirect is lost without an entry of the report.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DifferenceKind } from '../../src/cli/check-nginx/check.ts';
import { findNginx, runNginx } from '../../src/cli/check-nginx/run-nginx.ts';
import { importNginx } from '../../src/workbench/importers/nginx/import-nginx.ts';
import { parseNginx } from '../../src/workbench/importers/nginx/parse-nginx.ts';
import { evaluateImport } from '../support/importers/evaluate-import.ts';
import { expectNothingOpened } from '../support/importers/nothing-opened.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { missingProgram, requires } from '../support/requires.ts';

const PASS = 'proxy_pass http://192.0.2.9;';
const PLAIN = `listen 80; server_name example.com;`;
const TLS = `server { listen 443 ssl; server_name example.com www.example.com; location / { ${PASS} } }`;

/** A server of plain http with the content of its block. */
function site(content: string): string {
  return `server { ${PLAIN} ${content} location / { ${PASS} } }`;
}

/** A server of files with the named location `@app`, which forwards. */
function named(content: string): string {
  return `server { ${PLAIN} root /nowhere; ${content} location @app { ${PASS} } }`;
}

/** A server of both schemes with the content of its block, beside another host. */
function both(content: string): string {
  const listens = 'listen 80; listen 443 ssl;';
  return (
    `server { ${listens} server_name example.com; ${content} location / { ${PASS} } }` +
    `server { ${listens} server_name www.example.com; location / { ${PASS} } }`
  );
}

const PASSWORD = 'auth_basic x; auth_basic_user_file f;';

/** Configurations by what they show, with the kinds of differences that their report states. */
const CONFIGURATIONS: [string, string, (readonly DifferenceKind[])?][] = [
  ['internal', site(`location /in/ { internal; ${PASS} }`), ['other']],
  ['internal exact', site(`location = /in { internal; ${PASS} }`), ['other']],
  ['auth_basic', site(`location /p/ { auth_basic x; auth_basic_user_file f; ${PASS} }`), ['other']],
  [
    'auth_basic of the server, off in a location',
    site(`auth_basic x; auth_basic_user_file f; location /open/ { auth_basic off; ${PASS} }`),
    ['other'],
  ],
  [
    'auth_request',
    site(`location /p/ { auth_request /auth; ${PASS} } location = /auth { internal; ${PASS} }`),
    ['other', 'closed'],
  ],
  [
    'satisfy any with addresses',
    site(
      `location /p/ { satisfy any; allow 203.0.113.0/24; deny all; auth_basic x; auth_basic_user_file f; ${PASS} }`,
    ),
    ['other'],
  ],
  [
    'satisfy all with addresses',
    site(`location /p/ { allow 203.0.113.0/24; deny all; auth_basic x; auth_basic_user_file f; ${PASS} }`),
    ['other'],
  ],
  [
    'satisfy any with a list that denies nobody',
    site(`location /p/ { satisfy any; allow all; auth_basic x; auth_basic_user_file f; ${PASS} }`),
  ],
  ['limit_except', site(`location /api { limit_except GET { deny all; } ${PASS} }`), ['closed']],
  ['limit_except that allows all', site(`location /api { limit_except GET { allow all; } ${PASS} }`)],
  [
    'client certificates',
    `server { listen 443 ssl; server_name example.com; ssl_client_certificate c; ssl_verify_client on; location / { ${PASS} } }`,
    ['other'],
  ],
  ['an if on the User-Agent that refuses', site('if ($http_user_agent = "") { return 403; }')],
  ['an if on the method that refuses', site('if ($request_method = DELETE) { return 405; }'), ['other']],
  [
    'an if with a flag that refuses',
    site('set $bad 0; if ($request_method = POST) { set $bad 1; } if ($bad = 1) { return 403; }'),
  ],
  ['a location inside a location', site(`location /a/ { ${PASS} location /a/b/ { deny all; } }`)],
  [
    'a regex inside a location',
    site(`location /a/ { ${PASS} location ~ \\.php$ { deny all; } }`),
    ['closed'],
  ],
  ['a regex with look-ahead', site('location ~ ^/(?!public)secret { return 403; }'), []],
  ['dotfiles but well-known', site(`location ~ /\\.(?!well-known) { deny all; }`), ['closed']],
  ['files in a regex location', site('location ~* \\.(css|js|png)$ { access_log off; }'), ['other']],
  ['files of a prefix', site('location /static/ { root /nowhere; }'), ['other']],
  ['a return with a text', site('location = /health { return 200 ok; }'), ['other']],
  ['a status of the server', site('location /m/ { return 503; }'), ['other']],
  [
    'deny in the server, allow in a location',
    site(
      `deny 203.0.113.9; location = /x { return 301 https://example.net/; } location /y { allow all; ${PASS} }`,
    ),
  ],
  [
    'a redirect of plain http to https before a password',
    both(
      `location /p { if ($scheme = http) { return 301 https://$host$request_uri; } ${PASSWORD} ${PASS} }` +
        `location /q { rewrite ^ https://example.com$request_uri? permanent; ${PASSWORD} ${PASS} }`,
    ),
    ['other', 'closed'],
  ],
  [
    'a redirect that may lead to itself before a refusal',
    both(
      `location /r { return 301 /r/new; deny all; } location /s { rewrite ^(.*)$ $1; return 301 /s; deny all; }`,
    ),
    ['other', 'closed'],
  ],
  [
    'a redirect elsewhere before a refusal',
    both(`location /r { return 301 /new; deny all; } location = /s { return 301 /s/; deny all; }`),
  ],
  [
    'a redirect before a refusal',
    site('location /r { rewrite ^/r/a https://example.net/ redirect; return 403; }'),
  ],
  [
    'ifs in their order',
    `server { listen 80; server_name example.com www.example.com; if ($host = www.example.com) { return 301 https://example.net/; } if ($uri = /x) { return 403; } location / { ${PASS} } }`,
  ],
  [
    'set in an if',
    `server { listen 80; server_name example.com www.example.com; set $t a.example.net; if ($host = www.example.com) { set $t b.example.net; } return 301 https://$t$request_uri; }`,
  ],
  [
    'set twice',
    `server { listen 80; server_name example.com; set $a one; set $b /$a; set $a two; return 301 https://example.net$b; }`,
  ],
  [
    'two rewrites in a chain',
    site('rewrite ^/old/(.*)$ /new/$1; rewrite ^/new/(.*)$ https://example.net/n redirect;'),
  ],
  [
    'two rewrites in a location',
    `server { ${PLAIN} location / { rewrite ^/a/(.*)$ /b/$1; rewrite ^/b/(.*)$ /c/$1 break; ${PASS} } }`,
  ],
  ['break in an if', site('if ($uri = /keep) { break; } rewrite ^/k https://example.net/ permanent;')],
  [
    'break between rewrites',
    `server { ${PLAIN} location /b { if ($uri = /b/x) { break; } return 403; ${PASS} } location / { ${PASS} } }`,
  ],
  [
    'what follows a rewrite with last',
    site(`location /l/ { rewrite ^/l/x$ /y last; return 403; }`),
    ['closed', 'other'],
  ],
  [
    'the first server name',
    `server { listen 80; server_name example.com www.example.com; return 301 https://$server_name$request_uri; } ${TLS}`,
    ['other'],
  ],
  ['the first server name in a location', site('location /old { return 301 https://$server_name/new; }')],
  [
    'an upgrade by rewrite',
    `server { listen 80; server_name example.com www.example.com; rewrite ^ https://$host$request_uri? permanent; } ${TLS}`,
  ],
  [
    'an upgrade by rewrite with a capture',
    `server { listen 80; server_name example.com www.example.com; rewrite ^/(.*) https://$host/$1 permanent; } ${TLS}`,
  ],
  [
    'an upgrade by an if',
    `server { listen 80; listen 443 ssl; server_name example.com; if ($scheme = http) { return 301 https://$host$request_uri; } location / { ${PASS} } }`,
  ],
  [
    'an upgrade of a wildcard',
    `server { listen 80; server_name example.com *.example.com; return 301 https://$host$request_uri; } server { listen 443 ssl; server_name example.com *.example.com; location / { ${PASS} } }`,
    ['lost_redirect'],
  ],
  [
    'an upgrade of a regex that matches few names',
    `server { listen 80; server_name www.example.com ~^((?<sub>shop|m)\\.)?example\\.com$; return 301 https://$host$request_uri; }
     server { listen 443 ssl; server_name www.example.com ~^((?<sub>shop|m)\\.)?example\\.com$; location / { ${PASS} } }`,
  ],
  [
    'a regex whose names others have',
    `server { listen 80; server_name ~^(a|b)\\.example\\.com$; return 403; } server { listen 80; server_name b.example.com *.c.example.com; location / { ${PASS} } }
     server { listen 80; server_name ~^(x\\.c|y)\\.example\\.com$; location / { proxy_pass http://192.0.2.8; } }`,
  ],
  [
    'an upgrade with one more location',
    `server { listen 80 default_server; server_name _; location / { return 301 https://$host$request_uri; } location /x { return 403; } } ${TLS}`,
    ['other'],
  ],
  [
    'plain http that is refused',
    `server { listen 80; server_name example.com www.example.com; return 444; } ${TLS}`,
    ['other'],
  ],
  ['try_files with a named location', named('location / { try_files $uri $uri/ @app; }')],
  ['try_files of the server', named('try_files $uri/index.html $uri @app; location = /x { deny all; }')],
  [
    'a list of the location, and one of the named location',
    named(`location / { try_files $uri @app; } location /a/ { allow 203.0.113.0/24; deny all; try_files $uri @in; }
      location @in { deny 203.0.113.9; ${PASS} }`),
  ],
  [
    'a password of the named location',
    named(`location / { try_files $uri @app; } location /a/ { try_files $uri @in; }
      location @in { auth_basic x; auth_basic_user_file f; ${PASS} }`),
    ['other'],
  ],
  [
    'a password before a named location that redirects',
    named(`location / { try_files $uri @app; } location /a/ { auth_basic x; auth_basic_user_file f; try_files $uri @in; }
      location @in { return 301 https://example.net/; }`),
    ['other'],
  ],
  [
    'a named location that refuses, or rewrites',
    named(`location / { try_files $uri @app; } location /a/ { try_files $uri @no; } location @no { return 403; }
      location /b/ { try_files $uri @cut; } location @cut { rewrite ^/b/(.*)$ /$1 break; ${PASS} }`),
  ],
  [
    'an if that takes requests from try_files',
    named(
      `location / { try_files $uri @app; } location /a/ { if ($request_method = POST) { set $x 1; } try_files $uri @app; }`,
    ),
    ['closed', 'other'],
  ],
  [
    'a geo that refuses',
    `geo $bad { default 0; 203.0.113.0/24 1; 203.0.113.64/26 0; 2001:db8::/32 1; } ${site('if ($bad) { return 403; }')}`,
  ],
  [
    'a geo with names, compared',
    `geo $remote_addr $of { default x; 203.0.113.0/24 a; 198.51.100.0/24 b; 198.51.100.0/25 a; }
     ${site(`location /a { if ($of = a) { return 403; } ${PASS} } location /n { if ($of !~ ^[ab]$) { return 403; } ${PASS} }`)}`,
  ],
  [
    'a map over a geo',
    `geo $of { ranges; default out; 203.0.113.7-203.0.113.9 In; 203.0.113.20-203.0.113.20 odd; }
     map $of $ok { in 1; ~^o.d 0; default ""; } map $ok $outside { 1 0; default 1; }
     ${site(`location /a { if ($outside) { return 403; } ${PASS} } location /b { set $no 0; if ($ok) { set $no 1; } if ($no) { return 403; } ${PASS} }`)}`,
  ],
  [
    'a geo over a header, and one with trusted proxies',
    `geo $http_x_real_ip $h { default 1; } geo $p { default 1; proxy 203.0.113.1; } map "$h$p" $m { default 1; }
     ${site(`location /a { if ($h) { return 403; } ${PASS} } location /b { if ($p) { return 403; } ${PASS} } location /c { if ($m) { return 403; } ${PASS} }`)}`,
  ],
  [
    'a map over the address',
    `map $remote_addr $no { default 0; 203.0.113.9 1; 203.0.113.0/24 1; 2001:DB8::0 1; } map $remote_addr $some { ~^203 1; }
     ${site(`location /a { if ($no) { return 403; } ${PASS} } location /b { if ($some) { return 403; } ${PASS} }`)}`,
    ['closed'],
  ],
  [
    'a geo that redirects',
    `geo $of { default 0; 203.0.113.0/24 1; } ${site('if ($of) { return 302 https://example.net/; }')}`,
  ],
  [
    'a site of plain http beside one of TLS',
    `server { listen 443 ssl; server_name a.example.com; location / { ${PASS} } }
     server { listen 80; server_name b.example.com; location /admin { deny all; } location / { proxy_pass http://192.0.2.8; } }`,
    ['closed', 'other'],
  ],
  [
    'plain http that refuses what TLS does not',
    `server { listen 443 ssl; server_name example.com; location / { ${PASS} } }
     server { listen 80; server_name example.com; location /admin { deny all; } location / { ${PASS} } }`,
    ['other'],
  ],
  [
    'a host that the default server of TLS answers',
    `server { listen 80; server_name example.com *.example.com; return 301 https://$host$request_uri; }
     server { listen 443 ssl; server_name www.example.com; location /p { deny all; } location = /in { internal; ${PASS} } location / { ${PASS} } }`,
    ['lost_redirect', 'other', 'closed'],
  ],
  [
    'a regex of TLS beside a wildcard of plain http',
    `server { listen 80 default_server; listen 443 ssl default_server; return 444; }
     server { listen 80; server_name .example.com; return 301 https://$host$request_uri; }
     server { listen 443 ssl; server_name ~^[a-z0-9-]+\\.example\\.com$; location /admin { return 403; } location / { ${PASS} } }
     server { listen 443 ssl; server_name example.com; location / { proxy_pass http://192.0.2.8; } }`,
    ['lost_redirect', 'closed', 'other'],
  ],
  [
    'a name and a regex beside a wildcard',
    `server { listen 80; server_name www.example.com ~^t[0-9]+\\.example\\.com$; location /admin { deny all; } location / { ${PASS} } }
     server { listen 80; server_name *.example.com; location / { proxy_pass http://192.0.2.8; } }`,
  ],
  [
    'hosts that no regex matches',
    `server { listen 80; server_name example.com; location /admin { deny all; } location / { proxy_pass http://192.0.2.8; } }
     server { listen 80; server_name ~^t[0-9]+\\.example\\.com$; location /open { return 403; } location / { ${PASS} } }`,
  ],
  [
    'hosts that no regex matches, for which the default server has files',
    `server { listen 80; server_name example.com; location /admin { deny all; } }
     server { listen 80; server_name ~^t[0-9]+\\.example\\.com$; location / { ${PASS} } }`,
    ['other'],
  ],
  [
    'a status that a return gives in a site of files',
    `server { ${PLAIN} root /nowhere; location /git { return 404; } location /post { return 405; } location / { try_files $uri =404; } }`,
    ['other'],
  ],
  [
    'an error page that is a named location for files that are missing',
    named(`error_page 404 = @in; location / { try_files $uri =404; } location /a/ { deny all; } location /b/ { return 404; }
      location @in { allow 203.0.113.0/24; deny all; proxy_pass http://192.0.2.8; }`),
    ['closed', 'other'],
  ],
  [
    'error pages that hand requests to other origins',
    site(`error_page 403 = @open; location /a/ { deny all; } location /b/ { error_page 403 /open; deny all; }
      location /c/ { error_page 404 = @guarded; return 404; } location /d/ { error_page 403 https://example.net/; deny all; }
      location /e/ { error_page 401 =302 /open; auth_basic x; auth_basic_user_file f; ${PASS} }
      location /f/ { proxy_intercept_errors on; error_page 404 = @guarded; ${PASS} } location /g/ { internal; error_page 404 =200 /open; }
      location /open { ${PASS} } location @open { ${PASS} } location @guarded { allow 203.0.113.0/24; deny all; ${PASS} }`),
    ['closed', 'other'],
  ],
  [
    'a limit on requests, which the requests of a check would reach',
    `limit_req_zone $binary_remote_addr zone=a:1m rate=1r/m; limit_conn_zone $binary_remote_addr zone=c:1m;
     ${site(`limit_conn c 1; location /login { limit_req zone=a burst=1 nodelay; ${PASS} }`)}`,
  ],
  [
    'a map of paths in two cases',
    `map $uri $new { default ""; /Old /new; /older /newer; } server { ${PLAIN} if ($new) { return 301 $new; } location / { ${PASS} } }`,
  ],
];

describe('small configurations', requires(missingProgram('nginx'), OPENSSL_MISSING), () => {
  test.each(CONFIGURATIONS)('%s: nothing is opened', async (_, text, stated = []) => {
    await expectNothingOpened(text, stated);
  });

  test('the report names the files that the origin of a named location answers for', () => {
    const files = [{ name: 'nginx.conf', text: named('location / { try_files $uri @app; }') }];
    const edge = importNginx(files, () => [], { domain: null, origin: 'origin.invalid' });
    if (!edge.ok) throw new Error(JSON.stringify(edge));
    expect(edge.text).toContain('destination: 192.0.2.9');
    expect(edge.entries.find(({ source }) => source.startsWith('try_files'))).toMatchObject({
      outcome: 'differs',
      reasons: ['the edge serves no files: `@app` answers for those on the disk of nginx too'],
    });
  });

  test('prefixes of a geo, one inside another, refuse the same addresses in nginx and in the file', async () => {
    const prefix = fc
      .tuple(fc.nat(15), fc.constantFrom(28, 29, 30, 31, 32))
      .map(([last, length]) => `10.0.0.${last & ~((1 << (32 - length)) - 1)}/${length}`);
    const table = fc.uniqueArray(fc.tuple(prefix, fc.constantFrom('0', '1')), {
      selector: ([one]) => one,
      maxLength: 8,
    });
    for (const entries of fc.sample(table, { numRuns: 6, seed: 20_261_127 })) {
      const lines = entries.map(([where, value]) => `${where} ${value};`).join(' ');
      const files = [
        { name: 'geo.conf', text: `geo $no { default 0; ${lines} } ${site('if ($no) { return 403; }')}` },
      ];
      const parsed = parseNginx(files, () => []);
      const edge = evaluateImport(importNginx(files, () => [], { domain: null, origin: 'origin.invalid' }));
      if (!parsed.ok) throw new Error(JSON.stringify(parsed));
      const nginx = await runNginx(findNginx()!, parsed.directives);
      try {
        for (let last = 0; last < 18; last++) {
          const request = {
            scheme: 'http',
            method: 'GET',
            host: 'example.com',
            target: '/',
            ip: `10.0.0.${last}`,
          } as const;
          const theirs = await nginx.ask(request);
          const ours = edge.decide(request).action === 'forward' ? 'forward' : 'answer';
          expect(ours, `${lines} ${request.ip}`).toBe(theirs?.kind);
        }
      } finally {
        await nginx.stop();
      }
    }
  });

  test('the names that a regex matches have records and redirects of their own', () => {
    const names = 'server_name ~^((?<sub>shop|m)\\.)?example\\.com$;';
    const text = `server { listen 80; ${names} return 301 https://$host$request_uri; }
      server { listen 443 ssl; ${names} location / { ${PASS} } }`;
    const imported = importNginx([{ name: 'a.conf', text }], () => [], {
      domain: null,
      origin: 'origin.invalid',
    });
    const { edge, decide } = evaluateImport(imported);
    expect(edge.entries.filter(({ outcome }) => outcome === 'not_carried')).toEqual([]);
    for (const host of ['example.com', 'shop.example.com', 'm.example.com']) {
      expect(decide({ scheme: 'http', host }).location).toBe(`https://${host}/`);
      expect(decide({ host }).action).toBe('forward');
    }
    expect(decide({ host: 'x.example.com' }).status).toBe(421);
  });

  test('an error page with a text becomes a rule; others are named at their place, with what leads nowhere', () => {
    const text = `server { ${PLAIN} error_page 502 504 @down; error_page 503 /late; error_page 403 = @open;
      location / { ${PASS} } location /own/ { error_page 502 =200 @down; error_page 500 https://example.net/; ${PASS} }
      location /late { default_type text/html; return 503 "<p>late</p>"; }
      location @down { return 503 "back soon"; } location @open { proxy_pass http://192.0.2.8; } }`;
    const edge = importNginx([{ name: 'a.conf', text }], () => [], {
      domain: null,
      origin: 'origin.invalid',
    });
    if (!edge.ok) throw new Error(JSON.stringify(edge));
    const of = (start: string) => edge.entries.find(({ source }) => source.startsWith(start));
    const origin = 'the rule replaces pages of the origin with these statuses too';
    expect(of('error_page 502 504')?.reasons).toEqual(['the edge sends the page as HTML', origin]);
    expect(of('error_page 503')?.reasons).toEqual([origin]);
    expect(edge.text).toContain('content: { "0": back soon }');
    expect(edge.text).not.toContain('192.0.2.8');
    for (const start of ['error_page 403', 'error_page 502 =200', 'error_page 500', 'location @open']) {
      expect(of(start)?.outcome, start).toBe('not_carried');
      expect(edge.text, start).toContain(
        `# not carried over: a.conf:${of(start)!.place.split(':')[1]}: ${start}`,
      );
    }
  });

  test('a site of plain http has its own origin and guards, whatever the default server of TLS is', () => {
    const text = `server { listen 443 ssl; server_name a.example.com; location / { ${PASS} } }
      server { listen 80; server_name b.example.com; location /admin { deny all; } location / { proxy_pass http://192.0.2.8; } }`;
    const { decide, edge } = evaluateImport(
      importNginx([{ name: 'a.conf', text }], () => [], { domain: null, origin: 'origin.invalid' }),
    );
    expect(decide({ scheme: 'http', host: 'b.example.com' }).origin?.address).toBe('192.0.2.8');
    expect(decide({ scheme: 'http', host: 'b.example.com', target: '/admin' }).action).toBe('block');
    expect(edge.entries.find(({ source }) => source === 'server_name b.example.com')).toMatchObject({
      outcome: 'differs',
      reasons: [expect.stringContaining('nginx answers https with its default server')],
    });
  });

  test.each([
    ['*.example.com', 'listen 80;', 'return 301 https://$host$request_uri;'],
    ['~^[a-z]+\\.example\\.com$', 'listen 80;', 'rewrite ^ https://$host$request_uri? permanent;'],
    [
      '*.example.com',
      'listen 80; listen 443 ssl;',
      'if ($scheme = http) { return 301 https://$host$request_uri; }',
    ],
  ])(
    'the file says where plain http of %s is not redirected to https, and what to write',
    (name, listens, upgrade) => {
      const text = `server { ${listens} server_name ${name}; ${upgrade} location / { ${PASS} } }
      server { listen 443 ssl; server_name ${name}; location / { ${PASS} } }`;
      const edge = importNginx([{ name: 'a.conf', text }], () => [], {
        domain: null,
        origin: 'origin.invalid',
      });
      if (!edge.ok) throw new Error(JSON.stringify(edge));
      const lost = edge.entries.filter(({ outcome }) => outcome === 'not_carried');
      expect(lost.flatMap(({ reasons }) => reasons)).toEqual([
        expect.stringMatching(
          /^plain http of hosts of wildcards and regexes is forwarded.*; add a redirect for each host/,
        ),
      ]);
      expect(edge.text).toContain(`# not carried over: a.conf:1: ${lost[0]!.source}`);
      expect(edge.text).toContain(lost[0]!.reasons[0]);
    },
  );

  test('a geo of more addresses than a rule takes becomes several rules', () => {
    const lines = Array.from({ length: 600 }, (_, index) => `10.${index >> 8}.${index & 255}.1 1;`);
    const text = `geo $no { default 0; ${lines.join(' ')} } ${site('if ($no) { return 403; }')}`;
    const edge = evaluateImport(
      importNginx([{ name: 'geo.conf', text }], () => [], { domain: null, origin: 'origin.invalid' }),
    );
    expect(edge.edge.entries.find(({ source }) => source === 'return 403')).toMatchObject({
      outcome: 'exact',
      becomes: ['drop', 'drop', 'drop'],
    });
    expect(edge.decide({ ip: '10.2.87.1' }).action).toBe('block');
    expect(edge.decide({ ip: '10.2.88.1' }).action).toBe('forward');
  });
});
