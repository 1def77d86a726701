import { describe, expect, test } from 'vitest';
import type { CacheRule, RedirectRule, RewriteRule } from '../../src/rules/model/types.ts';
import { decide, rule } from '../support/sample-rules.ts';

function sent(fields: Partial<RewriteRule>, target: string): string {
  const { action, status, path, query } = decide({ rules: [rule('rewrite', 1, fields)] }, { target });
  return action === 'forward' ? path + (query === null ? '' : `?${query}`) : `${action} ${status}`;
}

describe('rewrite', () => {
  test('replaces the whole path; empty keeps the forwarded one', () => {
    expect(sent({ path_target: '/new' }, '/a/b?x=1')).toBe('/new?x=1');
    expect(sent({ path_target: '' }, '/%61//b?')).toBe('/%61//b?');
    expect(sent({ path_target: '/é x%2f' }, '/a')).toBe('/%C3%A9%20x%2f');
  });

  test.each([
    ['^/u/(.*)$', '/p/$1', '/u/a/b', '/p/a/b'],
    ['^/u/(?P<who>[^/]+)/(x)?', '/p/${who}/$2', '/u/me/y', '/p/me/'],
    ['(a)(b)', '/$2$1$$1', '/ab', '/ba$1'],
    ['^/(a)', '/$12', '/a', '/'],
    ['^/(a)', '/${1}2', '/a', '/a2'],
    ['/(.*)', '/$1', '/%2561', '/%2561'],
    ['/(.*)', '/$1', '/a%3fb%23c', '/a%3fb%23c'],
    ['/(.*)', '/$1', '/é%22%5b', '/%C3%A9%22%5b'],
    ['/(.*)', '/$1', "/a:@!$&'()*+,;=", "/a:@!$&'()*+,;="],
    ['^(.*)$', '/$1', '/a', '/a'],
    ['^/x/(.*)', '/$1', '/x/.a', '/.a'],
    ['^/x/(.*)$', '/./$1', '/x/a', 'refuse 400'],
    ['^/x/(.*)$', '/%2e%2E/$1', '/x/a', 'refuse 400'],
    ['^/x(.*)$', '/.$1', '/x;a', 'refuse 400'],
    ['^/x(.*)$', '/.$1', '/x.;a', 'refuse 400'],
    ['^/(.*)$', '/a/$1', '/%252e%252e', '/a/%252e%252e'],
    ['^/(a|ab)(.*)', '/$1-$2', '/abc', '/a-bc'],
  ])('%s to %s: %s is sent as %s', (entry, path_target, target, path) => {
    expect(sent({ path_match_type: 'regex', path_includes: [entry], path_target }, target)).toBe(path);
  });

  test('groups come from the first include entry that matches, on the path and then on its twin', () => {
    const fields: Partial<RewriteRule> = {
      path_match_type: 'regex',
      path_includes: ['^/b/(.*)$', '^/(a)$', '^/(.*)$'],
      path_target: '/$1!',
    };
    expect(sent(fields, '/b/x')).toBe('/x!');
    expect(sent(fields, '/a')).toBe('/a!');
    expect(sent(fields, '/a;x')).toBe('/a!');
    expect(sent(fields, '/c;x')).toBe('/c;x!');
  });

  test('under wildcard a $ is a $', () => {
    expect(sent({ path_target: '/$1/${a}' }, '/a')).toBe('/$1/$%7Ba%7D');
  });

  test('a rewrite preserves, strips or replaces the query by its query_mode', () => {
    expect(sent({ query_mode: 'strip' }, '/a?x')).toBe('/a');
    expect(sent({ query_mode: 'replace', query_target: 'y=é' }, '/a?x')).toBe('/a?y=%C3%A9');
    expect(sent({ query_mode: 'preserve' }, '/a')).toBe('/a');
  });

  test('a refusal by a rewrite names the rule and has the tags and matches so far', () => {
    const rules = [
      rule('fingerprint', 1, { match_ja4: ['*'], action: 'tag' }),
      rule('rewrite', 2, { path_match_type: 'regex', path_includes: ['/(.*)'], path_target: '/./$1' }),
    ];
    expect(decide({ rules }, { ja4: 'x' })).toMatchObject({
      action: 'refuse',
      status: 400,
      rule: { type: 'rewrite', id: 2 },
      tags: ['fingerprint/1'],
      matches: [{ effect: 'tag' }, { effect: 'refuse' }],
      path: null,
      origin: null,
    });
  });
});

describe('redirect', () => {
  const location = (fields: Partial<RedirectRule>, request: Parameters<typeof decide>[1]) =>
    decide({ rules: [rule('redirect', 1, fields)] }, request).location;

  test.each([
    ['/new', false, false, '/a?x=1', '/new'],
    ['/new', true, false, '/a?x=1', '/new?x=1'],
    ['/new?y#z', true, false, '/a?x=1', '/new?y&x=1#z'],
    ['/new?', true, false, '/a?x=1', '/new?x=1'],
    ['/new', true, false, '/a?', '/new'],
    ['/new', false, true, '/a/b', '/new/a/b'],
    ['/new/', false, true, '//a/b/', '/new/a/b/'],
    ['/', false, true, '//evil.com/x?own', '/evil.com/x'],
    ['https://to.com', false, true, '/a', 'https://to.com/a'],
    ['https://to.com/x//?y#z', true, true, '/a?b', 'https://to.com/x/a?y&b#z'],
    ['https://to.com', true, false, '/a?b', 'https://to.com?b'],
    ['/é', true, true, '/"?{', '/%C3%A9/%22?%7B'],
    ['/new', false, true, '/x/../b%2fc', '/new/b/c'],
  ])('%s (query %s, path %s) on %s is %s', (target, preserve_query, preserve_path, from, to) => {
    expect(location({ target, preserve_query, preserve_path }, { target: from })).toBe(to);
  });

  test.each([
    ['/', { target: '/' }],
    ['/a#b', { target: '/a' }],
    ['/a', { target: '/a?' }],
    ['https://example.com', { target: '/' }],
    ['HTTPS://EXAMPLE.com.:443/a', { target: '/a' }],
    ['https://example.com/a', { target: '/a', host: 'example.com:443' }],
    ['http://example.com:8080/a?b', { target: '/a?b', port: 8080, scheme: 'http' }],
    ['/a', { target: '//a' }],
  ])('%s is the own URL and goes on to the next rule', (target, request) => {
    const rules = [
      rule('redirect', 1, { target, preserve_query: false }),
      rule('redirect', 2, { target: '/next' }),
    ];
    expect(decide({ rules }, request).matches).toEqual([
      { type: 'redirect', id: 1, mode: 'enforce', effect: 'self_redirect' },
      { type: 'redirect', id: 2, mode: 'enforce', effect: 'redirect' },
    ]);
  });

  test.each([
    ['http://example.com/a', { target: '/a' }],
    ['https://example.com:8443/a', { target: '/a' }],
    ['https://www.example.com/a', { target: '/a' }],
    ['https://example.com/A', { target: '/a' }],
    ['https://example.com/a/', { target: '/a' }],
    ['https://example.com/a', { target: '/a?b' }],
    ['https://example.com/a', { target: '/a', port: 8443 }],
  ])('%s is another URL than the request', (target, request) => {
    expect(location({ target, preserve_query: false }, request)).toBe(target);
  });

  test('a redirect has the rule’s status and reference', () => {
    const rules = [rule('redirect', 4, { target: '/x', status_code: 308 })];
    expect(decide({ rules })).toMatchObject({
      action: 'redirect',
      status: 308,
      rule: { type: 'redirect', id: 4 },
      origin: null,
      cache: null,
      path: null,
    });
  });
});

describe('cache', () => {
  const cached = (
    fields: Partial<CacheRule>,
    request: Parameters<typeof decide>[1],
    rules: RewriteRule[] = [],
  ) => {
    const { cache, query } = decide({ rules: [rule('cache', 1, fields), ...rules] }, request);
    return [cache?.key, query];
  };

  test('the key is scheme, host, forwarded path and the query as query_mode says', () => {
    expect(cached({}, { host: 'WWW.example.com:8443', target: '//a;x?b=1&&c' })).toEqual([
      'https://www.example.com/a;x?b=1&&c',
      'b=1&&c',
    ]);
    expect(cached({}, { target: '/a', scheme: 'http' })).toEqual(['http://example.com/a', null]);
    expect(cached({}, { target: '/a?' })).toEqual(['https://example.com/a?', '']);
    expect(cached({ query_mode: 'none' }, { target: '/a?b' })).toEqual(['https://example.com/a', null]);
  });

  test('query_mode include has the named parameters in the request’s order, duplicates too', () => {
    const fields: Partial<CacheRule> = { query_mode: 'include', query_params: ['b', 'é', 'a+'] };
    expect(cached(fields, { target: '/?b=2&c&%62=1&&b&%C3%A9=x&a+=3&é' })).toEqual([
      'https://example.com/?b=2&%62=1&b&%C3%A9=x&a+=3&%C3%A9',
      'b=2&%62=1&b&%C3%A9=x&a+=3&%C3%A9',
    ]);
    expect(cached(fields, { target: '/?c' })).toEqual(['https://example.com/', null]);
  });

  test('the key is made before a rewrite, and preserve forwards the keyed query', () => {
    const rewrite = (fields: Partial<RewriteRule>) => [
      rule('rewrite', 2, { path_target: '/new', ...fields }),
    ];
    const include: Partial<CacheRule> = { query_mode: 'include', query_params: ['b'] };
    expect(cached(include, { target: '/a?b&c' }, rewrite({}))).toEqual(['https://example.com/a?b', 'b']);
    expect(
      cached(include, { target: '/a?b' }, rewrite({ query_mode: 'replace', query_target: 'z' })),
    ).toEqual(['https://example.com/a?b', 'z']);
    expect(cached({}, { target: '/a?b' }, rewrite({ query_mode: 'strip' }))).toEqual([
      'https://example.com/a?b',
      null,
    ]);
  });

  test('bypass has no key and does not change the query; without a rule the directive is null', () => {
    const bypass = { mode: 'bypass', edgeTtl: null, browserTtl: null, key: null };
    const rules = [rule('cache', 1, { mode: 'bypass', edge_ttl_sec: 5, query_mode: 'none' })];
    expect(decide({ rules }, { target: '/?a' })).toMatchObject({ cache: bypass, query: 'a' });
    expect(decide({}, {}).cache).toBeNull();
    const force = [rule('cache', 1, { mode: 'force', edge_ttl_sec: 5, browser_ttl_sec: 6 })];
    expect(decide({ rules: force }).cache).toMatchObject({ mode: 'force', edgeTtl: 5, browserTtl: 6 });
  });

  test('developer mode bypasses the cache whole, until it ends', () => {
    const domain = { developer_mode_until: '1970-01-01T00:00:10Z' };
    const rules = [rule('cache', 1, { query_mode: 'none' })];
    expect(decide({ domain, rules }, { now: 9_999, target: '/?a' })).toMatchObject({
      cache: { mode: 'bypass', key: null },
      query: 'a',
      matches: [],
    });
    expect(decide({ domain, rules }, { now: 10_000, target: '/?a' }).cache?.mode).toBe('standard');
  });

  test('a cache rule ignores dry_run', () => {
    expect(decide({ rules: [rule('cache', 1, { action_mode: 'dry_run' })] })).toMatchObject({
      cache: { mode: 'standard' },
      matches: [{ mode: 'enforce', effect: 'cache' }],
      shadow: null,
    });
  });
});
