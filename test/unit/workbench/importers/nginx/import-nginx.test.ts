import { describe, expect, test } from 'vitest';
import { importNginx } from '../../../../../src/workbench/importers/nginx/import-nginx.ts';
import type { ImportEntry } from '../../../../../src/workbench/importers/report.ts';
import { type EvaluatedImport, evaluateImport } from '../../../../support/importers/evaluate-import.ts';

const PASS = 'proxy_pass http://192.0.2.9;';

/** Imports a server of plain http; `before` is outside of it. */
function imported(content: string, before = ''): EvaluatedImport {
  const text = `${before} server { listen 80; server_name example.com; ${content} location / { ${PASS} } }`;
  return evaluateImport(
    importNginx([{ name: 'a.conf', text }], () => [], { domain: null, origin: 'origin.invalid' }),
  );
}

/** The entry of the directive that starts so. */
function entryOf({ edge }: EvaluatedImport, start: string): ImportEntry {
  const found = edge.entries.find(({ source }) => source.startsWith(start));
  if (found === undefined) throw new Error(`no entry of ${start}`);
  return found;
}

/** Where a GET of a path is redirected; `null`: it is not. */
function locationOf({ decide }: EvaluatedImport, target: string): string | null {
  return decide({ scheme: 'http', target }).location;
}

describe('statuses', () => {
  test.each([403, 404, 410, 421, 429, 451, 503])('a return of %i is refused with it', (status) => {
    const edge = imported(`location /x { return ${status}; }`);
    expect(edge.decide({ target: '/x' })).toMatchObject({ action: 'block', status });
    expect(entryOf(edge, 'return').outcome).toBe('exact');
  });

  test.each([
    [418, 'the edge answers 403; nginx answers 418'],
    [444, 'the edge answers 403; nginx closes the connection'],
  ])('the report states that %i becomes 403', (status, reason) => {
    const edge = imported(`location /x { return ${status}; }`);
    expect(edge.decide({ target: '/x' }).status).toBe(403);
    expect(entryOf(edge, 'return')).toMatchObject({ outcome: 'differs', reasons: [reason] });
  });

  test('a refusal with a text has its status, and the text is a difference', () => {
    const edge = imported('location /x { return 404 "no"; }');
    expect(edge.decide({ target: '/x' }).status).toBe(404);
    expect(entryOf(edge, 'return').reasons).toEqual([
      'the edge answers with a page of its own, not with the text',
    ]);
  });

  test('a location of internal requests is refused with 404', () => {
    const edge = imported(`location /in/ { internal; ${PASS} }`);
    expect(edge.decide({ target: '/in/x' })).toMatchObject({ action: 'block', status: 404 });
    expect(entryOf(edge, 'internal').outcome).toBe('exact');
  });
});

describe('captures', () => {
  test.each([
    ['rewrite ^/p/([0-9]+)$ /item/$1 permanent;', '/p/7', '/item/7'],
    ['rewrite ^/p/([0-9]+)$ /item/$1 permanent;', '/p/7?a=b', '/item/7?a=b'],
    ['rewrite ^/p/([0-9]+)$ /item/$1? permanent;', '/p/7?a=b', '/item/7'],
    ['rewrite ^/p/(?<id>\\w+)$ /item?id=$id redirect;', '/p/a', '/item?id=a'],
    [
      'rewrite ^/o/(.*)$ https://new.example.org/x/$1 redirect;',
      '/o/a%20b',
      'https://new.example.org/x/a%20b',
    ],
    ['rewrite ^(/s/.*)$ https://new.example.org$1 redirect;', '/s/a', 'https://new.example.org/s/a'],
    ['rewrite ^(/t/.*[^/])$ $1/ permanent;', '/t/a', '/t/a/'],
    ['location ~ ^/b/(\\d+)$ { return 301 /n/$1$is_args$args; }', '/b/7?x=1', '/n/7?x=1'],
    ['location ~* ^/u/([a-z]+)$ { return 301 /users/$1; }', '/U/ada', '/users/ada'],
    ['if ($uri ~ ^/f/(\\d+)) { return 302 $scheme://$host/g/$1; }', '/f/7/x', '/g/7'],
    ['location /z/ { rewrite ^/z/(\\w+)$ /n/$1$2 redirect; }', '/z/a', '/n/a'],
  ])('%s leads %s to %s', (directive, target, location) => {
    const edge = imported(directive);
    expect(locationOf(edge, target)).toBe(location);
    expect(edge.edge.entries.filter(({ outcome }) => outcome === 'not_carried')).toEqual([]);
  });

  test.each([
    [
      'location ~ ^/y/(\\d+) { rewrite ^/y/(\\d+)/x$ /n/$1 redirect; }',
      'two tests of the path apply at once',
    ],
    ['location ~ ^/y/(\\d+) { rewrite ^/q$ /n redirect; return 301 /n/$1; }', 'is no group of a path'],
    ['rewrite ^/y/(\\d+)$ https://$1.example.org/ redirect;', 'a capture cannot be in the host'],
    ['rewrite ^/y/(https.*)$ $1 redirect;', 'cannot start the path of a target'],
    ['return 301 /x?$args&y=1;', 'text behind the query of the request has no place in a target'],
  ])('%s is not carried over, with the reason', (directive, reason) => {
    const lost = imported(directive).edge.entries.filter(({ outcome }) => outcome === 'not_carried');
    expect(lost.flatMap(({ reasons }) => reasons).join()).toContain(reason);
  });

  test('captures that nginx leaves decoded are a difference', () => {
    const edge = imported('location ~ ^/b/(.+)$ { return 301 /n/$1; }');
    expect(entryOf(edge, 'return').outcome).toBe('differs');
    expect(locationOf(edge, '/b/a%20b')).toBe('/n/a%20b');
  });
});

describe('lists of redirects', () => {
  /** A map of so many pages. */
  const mapOf = (count: number, source = '$uri'): string =>
    `map ${source} $new { ${Array.from({ length: count }, (_, at) => `/old-${at} /new-${at};`).join(' ')} ~^/blog/ /log; }`;

  test('a map of more than 32 keys is one list and one rule, in front of its regexes', () => {
    const edge = imported('if ($new) { return 301 $new; }', mapOf(40));
    expect(edge.edge.text).toContain('targets: "@new"');
    expect(edge.edge.text).toContain('- { from: /old-39, to: /new-39 }');
    expect(locationOf(edge, '/old-39?x=1')).toBe('/new-39');
    expect(locationOf(edge, '/blog/x')).toBe('/log');
    expect(locationOf(edge, '/OLD-1')).toBeNull();
    expect(entryOf(edge, 'return')).toMatchObject({
      outcome: 'differs',
      reasons: ['paths of `$new` are compared with case; nginx ignores it'],
    });
  });

  test('a map of 32 keys has a rule for each key, without regard to case', () => {
    const edge = imported('if ($new) { return 301 $new; }', mapOf(32));
    expect(edge.edge.text).not.toContain('targets');
    expect(locationOf(edge, '/OLD-1')).toBe('/new-1');
  });

  test('servers of one map name one list', () => {
    const server = 'server { listen 80; server_name b.example.com; if ($new) { return 302 $new; } }';
    const edge = imported('if ($new) { return 301 $new; }', `${mapOf(40)} ${server}`);
    expect(edge.edge.text.match(/- name: new/g)).toHaveLength(1);
    expect(edge.edge.text.match(/targets: "@new"/g)).toHaveLength(2);
  });

  test('a location has the keys below it alone', () => {
    const edge = imported(`location /old-1 { if ($new) { return 301 $new; } ${PASS} }`, mapOf(40));
    expect(locationOf(edge, '/old-12')).toBe('/new-12');
    expect(locationOf(edge, '/old-2')).toBeNull();
  });

  test('keys that a list refuses are named', () => {
    const edge = imported('if ($new) { return 301 $new; }', mapOf(40).replace('/new-7', '/old-7'));
    expect(entryOf(edge, 'return').reasons).toContain(
      '`/old-7` is not in the list: it must not be the path that it is for',
    );
  });

  test('a map over the request URI states how its keys are compared', () => {
    const edge = imported('if ($new) { return 301 $new; }', 'map $request_uri $new { /a /b; }');
    expect(locationOf(edge, '/a?x=1')).toBe('/b');
    expect(entryOf(edge, 'return').reasons.join()).toContain('without the query');
  });
});

describe('headers', () => {
  const changesOf = (edge: EvaluatedImport, target: string): readonly string[] =>
    (edge.decide({ target }).responseHeaders ?? []).map(({ op, name, value }) => `${op} ${name} ${value}`);
  const sentOf = (edge: EvaluatedImport, target: string): readonly string[] =>
    (edge.decide({ target }).requestHeaders ?? []).map(({ op, name, value }) => `${op} ${name} ${value}`);

  test('a location with a header of its own inherits none', () => {
    const edge = imported(
      `add_header X-A a always; location /own { add_header X-B b always; ${PASS} } location /no { ${PASS} }`,
    );
    expect(changesOf(edge, '/own')).toEqual(['add X-B b']);
    expect(changesOf(edge, '/no')).toEqual(['add X-A a']);
    expect(changesOf(edge, '/')).toEqual(['add X-A a']);
    expect(entryOf(edge, 'add_header X-A').outcome).toBe('exact');
  });

  test('without always the report states the statuses', () => {
    const edge = imported('add_header X-A $remote_addr;');
    expect(changesOf(edge, '/')).toEqual(['add X-A 198.51.100.250']);
    expect(entryOf(edge, 'add_header')).toMatchObject({
      outcome: 'differs',
      reasons: [expect.stringContaining('to responses of every status; nginx to 200, 201')],
    });
  });

  test('what nginx hides and adds is replaced', () => {
    const edge = imported('proxy_hide_header X-A; proxy_hide_header X-P; add_header x-a b always;');
    expect(changesOf(edge, '/')).toEqual(['set x-a b', 'remove X-P null']);
  });

  test('lines of one name are added by rules one after another', () => {
    const edge = imported('add_header Link a always; add_header Link b always; add_header X-C c always;');
    expect(changesOf(edge, '/').toSorted()).toEqual(['add Link a', 'add Link b', 'add X-C c']);
  });

  test('expires sets the age and removes the date of the origin', () => {
    const edge = imported(`location /a { expires 1d; ${PASS} } location /b { expires epoch; ${PASS} }`);
    expect(changesOf(edge, '/a')).toEqual(['set Cache-Control max-age=86400', 'remove Expires null']);
    expect(changesOf(edge, '/b')).toContain('set Cache-Control no-cache');
    expect(changesOf(edge, '/')).toEqual([]);
  });

  test('headers of requests are set, removed, or named as what the edge sends', () => {
    const edge = imported(
      'proxy_set_header X-Real-IP $remote_addr; proxy_set_header X-Secret ""; proxy_set_header Upgrade $http_upgrade; ' +
        'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Port 443; ' +
        'proxy_set_header User-Agent $http_user_agent; proxy_set_header X-Id $connection;',
    );
    expect(sentOf(edge, '/')).toEqual(['set X-Real-IP 198.51.100.250', 'remove X-Secret null']);
    expect(entryOf(edge, 'proxy_set_header Upgrade').outcome).toBe('not_needed');
    expect(entryOf(edge, 'proxy_set_header X-Forwarded-For').outcome).toBe('not_needed');
    expect(entryOf(edge, 'proxy_set_header User-Agent').outcome).toBe('not_needed');
    expect(entryOf(edge, 'proxy_set_header X-Forwarded-Port').reasons).toEqual([
      '`X-Forwarded-Port` is set by the edge, and origins trust it',
    ]);
    expect(entryOf(edge, 'proxy_set_header X-Id').reasons).toEqual([
      'no value of a header has `$connection`',
    ]);
  });

  test('a header in an if has its condition, and replaces those of the location', () => {
    const edge = imported(
      `location /c/ { add_header X-A a always; if ($uri ~ ^/c/open) { add_header X-B b always; } ${PASS} }`,
    );
    expect(changesOf(edge, '/c/open')).toEqual(['add X-B b']);
    expect(changesOf(edge, '/c/x')).toEqual(['add X-A a']);
  });

  test('a value of a map is added where the map has one', () => {
    const edge = imported(
      'add_header X-R $r always;',
      'map $uri $r { default ""; ~^/drafts/open/ all; ~^/drafts/ noindex; }',
    );
    expect(changesOf(edge, '/drafts/open/x')).toEqual(['add X-R all']);
    expect(changesOf(edge, '/drafts/x')).toEqual(['add X-R noindex']);
    expect(changesOf(edge, '/')).toEqual([]);
  });

  test('words of headers-more are headers of their own', () => {
    const edge = imported(
      'more_set_headers "X-A: a b" "X-B:"; more_clear_headers X-C; more_set_headers -s 404 "X-D: d"; more_set_input_headers "X-E: e";',
    );
    expect(changesOf(edge, '/')).toEqual(['set X-A a b', 'remove X-B null', 'remove X-C null']);
    expect(sentOf(edge, '/')).toEqual(['set X-E e']);
    expect(entryOf(edge, 'more_set_headers -s').outcome).toBe('not_carried');
  });

  test('headers of TLS are not those of the redirect of plain http', () => {
    const text = `server { listen 80; server_name example.com; return 301 https://$host$request_uri; }
      server { listen 443 ssl; server_name example.com; add_header X-A a always; location / { ${PASS} } }`;
    const edge = evaluateImport(
      importNginx([{ name: 'a.conf', text }], () => [], { domain: null, origin: 'origin.invalid' }),
    );
    expect(changesOf(edge, '/')).toEqual(['add X-A a']);
    expect(edge.decide({ scheme: 'http' }).responseHeaders).toBeUndefined();
  });

  test('the comment of a rule names each of its directives', () => {
    const { edge } = imported('add_header X-A a always; add_header X-B b always;');
    expect(edge.text).toMatch(
      /# a\.conf:1: add_header X-A a always\n {2}# a\.conf:1: add_header X-B b always\n/,
    );
  });
});
