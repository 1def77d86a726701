import { describe, expect, it } from 'vitest';
import { mistakes, stored, times, warnings } from './read.ts';

const hosts = (host_includes: readonly string[], host_match_type?: string): string[] =>
  mistakes('waf', { host_includes, ...(host_match_type === undefined ? {} : { host_match_type }) });
const paths = (path_includes: readonly string[], path_match_type = 'wildcard'): string[] =>
  mistakes('waf', { path_includes, path_match_type });

describe('host_match_type', () => {
  it('is `wildcard` for a list without a type, and empty without a list', () => {
    expect(stored('waf', { host_includes: ['a'] })).toMatchObject({ host_match_type: 'wildcard' });
    expect(stored('waf', { host_excludes: ['a'] })).toMatchObject({ host_match_type: 'wildcard' });
    expect(stored('waf', { host_pattern: 'a' })).toMatchObject({
      host_match_type: 'wildcard',
      host_includes: [],
    });
    expect(stored('waf', { host_match_type: '' })).toMatchObject({ host_match_type: '' });
  });
  it('must be empty exactly when nothing is listed', () => {
    expect(mistakes('waf', { host_match_type: 'exact' })).toEqual([
      'host_match_type: must be empty while no host is listed, found `exact`; list hosts in `host_includes`, or leave it out',
    ]);
    for (const listed of [{ host_includes: ['a'] }, { host_excludes: ['a'] }, { host_pattern: 'a' }]) {
      expect(mistakes('waf', { host_match_type: '', ...listed })).toHaveLength(1);
    }
    expect(mistakes('waf', { host_match_type: '', host_includes: ['a..b'] })).toHaveLength(2);
  });
});

describe('host entries', () => {
  it.each([
    'example.com',
    'EXAMPLE.com.',
    '*.example.com',
    '*',
    '*example*',
    'bücher.example',
    '_dmarc.a',
    '*.',
    'a.*.b',
  ])('takes the wildcard `%s` as it was sent', (entry) => {
    expect(hosts([entry])).toEqual([]);
    expect(stored('waf', { host_includes: [entry] })).toMatchObject({ host_includes: [entry] });
  });
  it.each([
    ['https://example.com', 'leave out the scheme'],
    ['example.com/a', 'leave out the path'],
    ['example.com:443', 'leave out the port'],
    ['.example.com', 'write `*.example.com` for its subdomains'],
    ['a..b', 'empty label'],
    ['.', 'must not'],
    ['a b', 'a space'],
    ['a,b', 'must not hold `,`'],
    ['user@a', 'must not hold `@`'],
    ['%61', 'must not hold `%`'],
    ['\ud800', 'Unicode'],
    ['a\0', 'NUL'],
  ])('refuses `%s`', (entry, part) => {
    expect(hosts([entry]).join()).toContain(part);
    expect(hosts([entry], 'exact')).toHaveLength(1);
  });
  it('refuses a star inside a label outside ASCII, which IDNA would swallow', () => {
    expect(hosts(['bü*.example']).join()).toContain('punycode');
    expect(hosts(['*.bücher.example'])).toEqual([]);
  });
  it('holds exact entries to the lengths of DNS', () => {
    const label = 'a'.repeat(63);
    const longest = [label, label, label, 'a'.repeat(61)].join('.');
    expect(longest).toHaveLength(253);
    expect(hosts([longest], 'exact')).toEqual([]);
    expect(hosts([`${longest}a`], 'exact')).toHaveLength(1);
    expect(hosts([`${label}a`], 'exact')).toHaveLength(1);
  });
  it('warns that a star is literal in an exact entry', () => {
    expect(warnings('waf', { host_match_type: 'exact', host_includes: ['*.a'] })).toHaveLength(1);
    expect(warnings('waf', { host_match_type: 'wildcard', host_includes: ['*.a'] })).toEqual([]);
  });
  it('judges the legacy pattern and the excludes alike', () => {
    expect(mistakes('waf', { host_pattern: 'a b', host_excludes: ['ok', 'c d'] })).toEqual([
      'host_pattern: must not hold a space or a control character, found `a b`',
      'host_excludes[1]: must not hold a space or a control character, found `c d`',
    ]);
  });
});

describe('path entries', () => {
  it.each([
    '/',
    '/*',
    '*',
    '*.php',
    '/a?b',
    '/a%20b',
    '/%2A',
    '/caf%C3%A9',
    '/.*',
    '/a.',
    '/..a',
    '/a;b',
    '/a/',
    '/%25',
  ])('takes the wildcard `%s`', (entry) => expect(paths([entry])).toEqual([]));
  it.each([
    ['/%', 'percent escape'],
    ['/%4', 'percent escape'],
    ['/%zz', 'percent escape'],
    ['/%00', 'percent escape'],
    ['//a', 'empty segments'],
    ['/a//*', 'empty segments'],
    ['/%2Fa', 'empty segments'],
    ['/./a', 'dot segments'],
    ['/a/..', 'dot segments'],
    ['/a/../*', 'dot segments'],
    ['/%2e%2e/a', 'dot segments'],
    ['/..;x/a', 'dot segments'],
    ['/;x', 'dot segments'],
    ['/a\\b', '`\\` becomes `/`'],
    ['/a%5Cb', '`\\` becomes `/`'],
  ])('refuses `%s`, which could never match', (entry, part) => expect(paths([entry]).join()).toContain(part));

  it('reports every wrong entry with its position', () => {
    expect(mistakes('waf', { path_includes: ['/ok', '', '/./a'], path_excludes: ['/%'] })).toEqual([
      'path_includes[1]: must not be empty',
      'path_includes[2]: could never match: dot segments are resolved in every path, found `/./a`; write the resolved path',
      'path_excludes[0]: must not hold a bad percent escape, found `/%`; write a literal `%` as `%25`',
    ]);
  });
  it('warns about queries in paths', () => {
    expect(warnings('waf', { path_includes: ['/a?b=1'] })).toHaveLength(1);
    expect(warnings('waf', { path_includes: ['/*'] })).toEqual([]);
  });
});

describe('patterns', () => {
  it.each(['^/api/', '', '(?i)a', '/*', '\\pL{3}', '(?P<n>a)', '(?<n>a)', '//', '/../'])(
    'takes `%s`',
    (pattern) => {
      expect(paths([pattern], 'regex')).toEqual(
        pattern === '' ? ['path_includes[0]: must not be empty'] : [],
      );
    },
  );
  it.each([
    ['(a', 'missing closing )'],
    ['[a', 'missing closing ]'],
    ['(?=a)', 'look-around is not part of RE2 syntax'],
    ['(?<!a)b', 'look-around is not part of RE2 syntax'],
    ['(a)\\1', 'back-references are not part of RE2 syntax'],
    ['a**', 'invalid'],
    ['a{1001}', 'invalid repeat count'],
  ])('refuses `%s`', (pattern, part) => {
    const told = paths(['ok', pattern], 'regex');
    expect(told.join()).toContain(part);
    expect(told.join()).toContain('path_includes[1]');
    expect(told.join()).not.toContain('(?s)');
    expect(hosts([pattern], 'regex')).toHaveLength(1);
  });
  it('holds a pattern to its length and its program', () => {
    const letters = (count: number): string => `[${'a'.repeat(count - 2)}]`;
    expect(paths([letters(1024)], 'regex')).toEqual([]);
    expect(paths([letters(1025)], 'regex').join()).toContain('at most 1024 are allowed');
    expect(paths(['a{998}'], 'regex')).toEqual([]);
    expect(paths(['a{999}'], 'regex').join()).toContain(
      'compiles to 1001 instructions, at most 1000 are allowed',
    );
    expect(paths(['(a|b){12}a[ab]{12}'], 'regex').join()).toContain('too complex');
  });
  it('bounds the scans of a path per domain, and reports an excess once', () => {
    const scanning = (count: number): string[] => times(count, (index) => `x${index}y`);
    expect(paths(scanning(64), 'regex')).toEqual([]);
    expect(paths(scanning(165), 'regex')).toEqual([
      expect.stringMatching(
        /^path_includes\[64\]: with this pattern .* would read a path more than 64 times/,
      ),
    ]);
  });
  it('lets as many patterns share a domain as start apart, and adds up those that do not', () => {
    expect(
      paths(
        times(200, (index) => `^/p${index}/`),
        'regex',
      ),
    ).toEqual([]);
    expect(
      paths(
        times(200, (index) => `^/p.*${index}$`),
        'regex',
      ),
    ).toHaveLength(1);
    const nested = times(200, (index) => `^/${'p'.repeat(index)}.*x$`);
    expect(paths(nested, 'regex')).toHaveLength(1);
  });
  it('holds a domain to the time its patterns take to build', () => {
    const told = paths(
      times(12, (index) => `^${index}a{990}`),
      'regex',
    );
    expect(told).toEqual([expect.stringContaining('the regexes of the domain are too large together')]);
  });
});
