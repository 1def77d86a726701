import { describe, expect, test } from 'vitest';
import {
  captureGroups,
  captureWidth,
  type Pattern,
  parsePattern,
  requiredLiterals,
} from '../../../../src/base/regex/regex.ts';
import { MAX_PATTERN_CHARACTERS } from '../../../../src/base/vocabulary/limits.ts';

function accept(source: string, ignoreCase = false): Pattern {
  const result = parsePattern(source, { ignoreCase });
  if (!result.ok) throw new Error(result.reason);
  return result.pattern;
}

function reason(source: string, ignoreCase = false): string {
  const result = parsePattern(source, { ignoreCase });
  return result.ok ? 'accepted' : result.reason;
}

describe('parsePattern', () => {
  test('parsePattern returns the size, the groups and their names', () => {
    const pattern = accept('^/(?P<year>\\d{4})/(x)?(?<__proto__>y)$');
    expect(pattern).toMatchObject({ groups: 3, names: [null, 'year', null, '__proto__'], ignoreCase: false });
    expect(pattern.size).toBe(pattern.program.instructions.length);
  });

  test.each([
    ['a(?=b)', 'look-around is not part of RE2 syntax: `(?=`'],
    ['a(?!b)', 'look-around is not part of RE2 syntax: `(?!`'],
    ['(?<=a)b', 'look-around is not part of RE2 syntax: `(?<=`'],
    ['(?<!a)b', 'look-around is not part of RE2 syntax: `(?<!`'],
    ['(a)\\1', 'back-references are not part of RE2 syntax: `\\1`'],
    ['(?<n>a)\\k<n>', 'back-references are not part of RE2 syntax: `\\k`'],
    ['(?P<n>a)(?P=n)', 'back-references are not part of RE2 syntax: `(?P`'],
    ['(?>a)', 'invalid or unsupported perl syntax: `(?>`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['*', 'missing argument to repetition operator'],
    ['[b-a]', 'invalid character class range: `b-a`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['(a{50}){50}', 'invalid repeat count: `{50}`'],
    ['\\C', 'invalid escape sequence'],
    ['a(', 'missing closing )'],
    ['a)', 'unexpected )'],
    ['[a', 'missing closing ]'],
    ['a\\', 'trailing backslash at end of expression'],
    ['(?P<n>a)(?P<n>b)', 'duplicate capture group name: `n`'],
  ])('refuses %s', (source, expected) => {
    expect(reason(source)).toBe(expected);
    expect(reason(source, true)).toBe(expected);
  });

  test('refuses a pattern longer than the limit before parsing it', () => {
    expect(reason('('.repeat(MAX_PATTERN_CHARACTERS + 1))).toBe(
      'the pattern is 1025 characters long, at most 1024 are allowed',
    );
    expect(reason('a'.repeat(MAX_PATTERN_CHARACTERS))).toBe('accepted');
  });
});

describe('requiredLiterals', () => {
  const none = { exact: null, prefix: null, suffix: null, inner: [], anyOf: null };
  test.each([
    ['', none],
    ['[a-z]+', none],
    ['.*', none],
    ['x{0}', none],
    ['^/exact$', { exact: '/exact', prefix: '/exact', suffix: '/exact', inner: ['/exact'] }],
    ['\\A/exact\\z', { exact: '/exact', prefix: '/exact', suffix: '/exact' }],
    ['^$', { exact: '', prefix: null }],
    ['^/admin/', { exact: null, prefix: '/admin/', suffix: null, inner: ['/admin/'] }],
    ['(?m)^/admin/$', { exact: null, prefix: null, suffix: null, inner: ['/admin/'] }],
    ['^a|^b', { prefix: null, anyOf: ['a', 'b'] }],
    ['^(?:a|)bc', { prefix: null, inner: ['bc'] }],
    ['\\.(php|asp)$', { prefix: null, suffix: null, inner: ['.'], anyOf: ['.php', '.asp'] }],
    ['a.*b$|c', { suffix: null, inner: [] }],
    ['foo.*bar', { inner: ['foo', 'bar'], anyOf: null }],
    ['(?:ab)+c', { inner: ['ab', 'c'] }],
    ['x{3}[0-9]', { inner: ['xxx'] }],
    ['a(?:bc)?d', { inner: ['a', 'd'], anyOf: ['abcd', 'ad'] }],
    ['\\Qa.b\\E', { inner: ['a.b'] }],
    ['(?i)a', { inner: [], anyOf: ['A', 'a'] }],
    ['\\x{1F600}é', { inner: ['😀é'] }],
    ['\\x{D83D}', { inner: [] }],
    ['a\\bz[^\\x{0}-\\x{10FFFF}]', none],
  ])('of %s', (source, expected) => {
    expect(requiredLiterals(accept(source))).toMatchObject(expected);
  });

  test('without case they are lower-case ASCII, and the letters that others fold to are no literals', () => {
    expect(requiredLiterals(accept('^WWW\\.É', true))).toMatchObject({ prefix: 'www.' });
    expect(requiredLiterals(accept('^tasks$', true))).toMatchObject({
      exact: null,
      prefix: 'ta',
      suffix: null,
    });
    expect(requiredLiterals(accept('^tasks$', true), { asciiText: true }).exact).toBe('tasks');
  });

  test('a literal beyond the limit is truncated, not dropped', () => {
    const { exact, prefix, suffix } = requiredLiterals(accept(`^${'ab'.repeat(200)}$`));
    expect(exact).toBeNull();
    expect(prefix).toBe('ab'.repeat(32));
    expect(suffix).toBe('ab'.repeat(32));
  });
});

describe('captureGroups', () => {
  test('gives the leftmost-first groups, null where one took no part', () => {
    expect(captureGroups('^/(?P<a>[^/]+)/(x)?(.*)$', false, '/p/\nq')).toEqual({
      groups: ['/p/\nq', 'p', null, '\nq'],
      starts: [0, 1, -1, 3],
      names: [null, 'a', null, null],
    });
    expect(captureGroups('(a|ab)(c|bcd)?', false, 'abcd')?.groups).toEqual(['abcd', 'a', 'bcd']);
    expect(captureGroups('(A)', true, 'xa')?.groups).toEqual(['a', 'a']);
    expect(captureGroups('(A)', false, 'xa')).toBeNull();
  });

  test('captureGroups stays right with more patterns than it caches', () => {
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 300; i++)
        expect(captureGroups(`(a{${i}})b`, false, `${'a'.repeat(i)}b`)?.groups[1]).toHaveLength(i);
    }
  });
});

describe('captureWidth', () => {
  test('counts what can be active at once, not the size', () => {
    expect(captureWidth(accept('^/products/([a-z0-9-]+)-(\\d+)\\.html$').program)).toBe(8);
    const nested = accept('(?:a?){10}(a{10})$');
    expect(captureWidth(nested.program)).toBe(nested.size - 1);
  });

  test('falls back to the size where the sets multiply', () => {
    const pattern = accept('[ab]*a[ab]{14}$');
    expect(captureWidth(pattern.program)).toBe(pattern.size);
  });
});
