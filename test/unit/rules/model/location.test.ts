import { describe, expect, it } from 'vitest';
import { parseSubstitution } from '../../../../src/rules/model/substitution.ts';
import { judgeRedirectTarget } from '../../../../src/rules/model/text-checks.ts';
import { mistakes, stored, warnings } from './read.ts';

const RAW = ['/a b', '/a\tb', '/a\r\nb', '/a\\b', '/a\u007f', '/a\u0000'];

describe('a redirect’s target', () => {
  it.each([
    '/',
    '/a?b#c',
    '/$1',
    '/ä',
    'https://a.example',
    'HTTP://A.example:8080/x?y#z',
    'https://[2001:db8::1]/',
    'https://1.2.3.4',
  ])('takes `%s` literally', (target) => expect(stored('redirect', { target })).toMatchObject({ target }));
  it.each([
    ['', 'must not be empty'],
    ['//evil.example', 'exactly one `/`'],
    ['a.example/x', 'write `https://a.example/x`'],
    ['x', 'absolute http or https'],
    ['ftp://a.example', 'absolute http or https'],
    ['javascript:alert(1)', 'absolute http or https'],
    ['https://', 'ASCII host'],
    ['https:///x', 'ASCII host'],
    ['https:/x', 'absolute http or https'],
    ['https://user@a.example', 'user name'],
    ['https://bücher.example', 'punycode'],
    ['https://$1.example', 'literal'],
    ['https://*.example', 'literal'],
    ['https://a.example:70000', 'ASCII host'],
    ['https://a..example', 'ASCII host'],
    ['https://1.2.3', 'ASCII host'],
    ['https://[::1', 'ASCII host'],
  ])('refuses `%s`', (target, part) => expect(mistakes('redirect', { target }).join()).toContain(part));
  it.each(RAW)('refuses the raw %j', (target) => expect(mistakes('redirect', { target })).toHaveLength(1));
});

describe('host_header', () => {
  it.each(['', 'a.example', 'a.example:8443', 'API_1.internal', '[::1]:80', '10.0.0.1'])(
    'takes `%s`',
    (host_header) => {
      expect(mistakes('origin_route', { host_header })).toEqual([]);
      expect(mistakes('origin_pool', { host_header })).toEqual([]);
    },
  );
  it.each(['a b', 'a\r\nX: y', 'a\\b', 'http://a', 'a/b', 'a@b', 'bücher.example', '*.a', 'a:x', '1.2.3'])(
    'refuses %j',
    (host_header) => expect(mistakes('origin_route', { host_header })).toHaveLength(1),
  );
});

describe('an origin’s address', () => {
  it.each([
    '10.0.4.9',
    '2001:db8::1',
    '::ffff:1.2.3.4',
    'a.example',
    'A.example.',
    'xn--bcher-kva.example',
    'host_1',
    'a1',
  ])('takes `%s`', (address) => expect(mistakes('origin_route', { address })).toEqual([]));
  it.each([
    ['', 'must not be empty'],
    ['https://a', 'it goes to `scheme`'],
    ['a:80', 'it goes to `port`'],
    ['10.0.0.1:80', 'it goes to `port`'],
    ['[::1]', 'without brackets'],
    ['bücher.example', 'punycode'],
    ['a b', 'IP address or a host name'],
    ['*.a', 'IP address or a host name'],
    ['a/b', 'IP address or a host name'],
    ['010.0.0.1', 'four numbers'],
    ['1', 'four numbers'],
    ['0x7f.1', 'four numbers'],
    ['300.1.1.1', 'four numbers'],
    ['::1%eth0', 'IP address or a host name'],
  ])('refuses `%s`', (address, part) => expect(mistakes('origin_route', { address }).join()).toContain(part));
});

describe('a rewrite’s targets', () => {
  it.each(['', '/', '/v2/x', '/a%20b', '/$', '/$1', '/ä'])('takes the path `%s`', (path_target) => {
    expect(stored('rewrite', { path_target, query_mode: 'strip' })).toMatchObject({ path_target });
  });
  it.each(['v2', '/a?b', '/a#b', 'https://a/b', ...RAW])('refuses the path %j', (path_target) => {
    expect(mistakes('rewrite', { path_target })).toHaveLength(1);
  });
  it.each(['a b', 'a\\b', 'a#b', 'a\nb'])('refuses the query %j', (query_target) => {
    expect(mistakes('rewrite', { query_mode: 'replace', query_target })).toHaveLength(1);
  });
});

describe('references to groups', () => {
  const told = (
    path_target: string,
    path_includes: readonly string[] = ['^/(a)(?<name>b)', '(c)(d)(e)'],
  ): string[] => mistakes('rewrite', { path_match_type: 'regex', path_includes, path_target });

  it.each(['/$1', '/${1}x', '/$3', '/${name}', '/$$', '/$$1', '/$1$2$$', '/a'])(
    'takes `%s`',
    (path_target) => {
      expect(told(path_target)).toEqual([]);
    },
  );
  it.each([
    ['/$4', 'refers to a group that no entry of `path_includes` has, found `$4`'],
    ['/$10', 'found `$10`'],
    ['/${4}', 'found `$4`'],
    ['/${nome}', 'refers to a group that no entry of `path_includes` has, found `${nome}`'],
    ['/$', 'holds a lone `$`, found `$`; write `$$` for a literal `$`'],
    ['/$a', 'write `$$` for a literal `$`'],
    ['/$$$', 'holds a lone `$`'],
    ['/${', 'write `${1}` or `${name}`'],
    ['/${}', 'write `${1}` or `${name}`'],
    ['/${a-b}', 'write `${1}` or `${name}`'],
    ['/$0', 'numbered from 1'],
    ['/$01', 'numbered from 1'],
    ['/${0}', 'numbered from 1'],
  ])('refuses `%s`', (path_target, part) => expect(told(path_target).join()).toContain(part));
  it('refuses a reference where no pattern is', () => {
    expect(told('/$1', [])).toHaveLength(1);
    expect(told('/$$', [])).toEqual([]);
  });
  it('reports a broken pattern, and not references to groups that it may have had', () => {
    expect(told('/$9', ['(a'])).toHaveLength(1);
  });
  it('are literal under `wildcard`, with a warning', () => {
    expect(mistakes('rewrite', { path_target: '/$1/$' })).toEqual([]);
    expect(warnings('rewrite', { path_target: '/$1' })).toHaveLength(1);
    expect(warnings('rewrite', { path_target: '/$' })).toEqual([]);
  });
  it('split into text and references, the longest run of digits each', () => {
    expect(parseSubstitution('/a$12b${3}4$$${n}')).toEqual({
      ok: true,
      pieces: [
        { kind: 'text', text: '/a' },
        { kind: 'group', index: 12 },
        { kind: 'text', text: 'b' },
        { kind: 'group', index: 3 },
        { kind: 'text', text: '4$' },
        { kind: 'name', name: 'n' },
      ],
    });
  });
});

it.each(['/x/../new', 'https://example.com/%2e%2e/a', '/a/./b', '/a/..;x'])(
  'refuses the dot segment of a redirect to %s',
  (target) => {
    expect(judgeRedirectTarget(target)).toMatchObject({ code: 'dot_segment' });
  },
);
