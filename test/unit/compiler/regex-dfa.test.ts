import { describe, expect, test } from 'vitest';
import { type Pattern, parsePattern } from '../../../src/base/regex.ts';
import { buildDfa, buildListDfas, scanCost, worstScans } from '../../../src/compiler/regex-dfa.ts';
import { dfaMatches } from '../../../src/evaluator/regex-dfa.ts';
import { DFA_LENGTH } from '../../../src/plan/regex-dfa.ts';

function accept(source: string, ignoreCase = false): Pattern {
  const result = parsePattern(source, { ignoreCase });
  if (!result.ok) throw new Error(result.reason);
  return result.pattern;
}

function tableOf(source: string, ignoreCase = false): Uint16Array {
  const result = buildDfa(accept(source, ignoreCase));
  if (!result.ok) throw new Error(result.reason);
  return result.table;
}

describe('dfaMatches', () => {
  test.each([
    ['', '', true],
    ['', 'x', true],
    ['a', '', false],
    ['^$', '', true],
    ['^$', '\n', false],
    ['.', '\n', true],
    ['(?-s:.)', '\n', false],
    ['^b', 'a\nb', false],
    ['(?m)^b', 'a\nb', true],
    ['(?m)a$', 'a\nb', true],
    ['a$', 'a\n', false],
    ['\\bfoo\\b', 'a foo.', true],
    ['\\bfoo\\b', 'afoo', false],
    ['\\Boo\\B', 'foot', true],
    ['(?m)$^', '\n', true],
    ['^.$', '😀', true],
    ['^..$', '😀', false],
    ['^[😀-😂]+$', '😀😁😂', true],
    ['^.$', '\ud83d', true],
    ['^..$', '\ude00\ud83d', true],
    ['^[^a]$', '\uffff', true],
    ['[^\\x{0}-\\x{10FFFF}]', 'a', false],
  ])('%s on %j is %s', (source, text, expected) => {
    expect(dfaMatches(tableOf(source), 0, text)).toBe(expected);
  });

  test('without case, Unicode folding counts', () => {
    expect(dfaMatches(tableOf('^task$', true), 0, 'TA\u017f\u212a')).toBe(true);
    expect(dfaMatches(tableOf('^task$', false), 0, 'TASK')).toBe(false);
    expect(dfaMatches(tableOf('^É$', true), 0, 'é')).toBe(true);
  });

  test('a slice may stand anywhere among others, and says its length', () => {
    const first = tableOf('\\.(php|asp)$');
    const second = tableOf('^/admin/');
    const words = new Uint16Array([...first, 7, ...second]);
    expect(first[DFA_LENGTH]).toBe(first.length);
    expect(dfaMatches(words, first.length + 1, '/admin/x')).toBe(true);
    expect(dfaMatches(words, first.length + 1, '/x/admin/')).toBe(false);
    expect(dfaMatches(words, 0, '/x.asp')).toBe(true);
  });

  test('long texts give what their short equals give, pairs across the seam and texts in turns included', () => {
    const table = tableOf('^[/😀é]*x$');
    for (const length of [62, 63, 64, 65, 66, 1_000, 16_383, 16_384, 16_385, 20_000]) {
      const plain = '/'.repeat(length);
      for (const [text, expected] of [
        [`${plain}x`, true],
        [`${plain}y`, false],
        [`${plain}😀éx`, true],
        [`${plain}😁éx`, false],
        [`/${'😀'.repeat(length / 2)}x`, true],
        [`${'😀'.repeat(length / 2)}\ud83dx`, false],
        [plain, false],
      ] as const) {
        expect(dfaMatches(table, 0, text)).toBe(expected);
        expect(dfaMatches(table, 0, `${plain}x`)).toBe(true);
      }
    }
  });
});

describe('buildDfa', () => {
  test('equal languages get equal tables: states are merged', () => {
    expect(tableOf('(?:a|b)*abb')).toEqual(tableOf('abb'));
    expect(tableOf('.*(?:x|y).*')).toEqual(tableOf('[xy]'));
  });

  test('an anchored pattern is dead once it cannot match', () => {
    const table = tableOf('^/admin/');
    // Ten states at most: the eight letters, dead and matched.
    expect(table.length).toBeLessThan(134 + 8 + 10 * 8);
  });

  test.each([
    ['[ab]*a[ab]{12}c', 'it needs more than 2000 states'],
    ['x[^/]{200}y', 'it needs more than 2000 states'],
  ])('refuses %s', (source, reason) => {
    expect(buildDfa(accept(source))).toEqual({ ok: false, reason });
  });

  test('refuses by steps and by octets', () => {
    const pattern = accept('(?:[a-z]{2}/)?(?:blog|news)/\\d{4}');
    const limits = { states: 2_000, octets: 65_536, steps: 2_000_000 };
    expect(buildDfa(pattern, limits).ok).toBe(true);
    expect(buildDfa(pattern, { ...limits, steps: 50 })).toEqual({
      ok: false,
      reason: 'it takes more than 50 steps to build',
    });
    expect(buildDfa(pattern, { ...limits, octets: 300 })).toEqual({
      ok: false,
      reason: 'its table would be larger than 300 octets',
    });
  });
});

describe('buildListDfas', () => {
  const names = Array.from({ length: 40 }, (_, i) => `/wp-${String.fromCharCode(97 + (i % 26))}${i}(?:/|$)`);

  test('one table answers for a list', () => {
    const { dfas, refused } = buildListDfas(names.map((source) => accept(source)));
    expect(refused).toEqual([]);
    expect(dfas).toHaveLength(1);
    expect(dfas[0]).toMatchObject({ patterns: names.map((_, i) => i), prefix: '' });
    for (const text of ['/wp-a0', '/x/wp-n39/y', '/wp-b1/'])
      expect(dfaMatches(dfas[0]!.table, 0, text)).toBe(true);
    for (const text of ['/wp-a1', '/wp-n39y', '']) expect(dfaMatches(dfas[0]!.table, 0, text)).toBe(false);
  });

  test('what does not fit one table is halved, and what fits none is named', () => {
    const sources = [...names, '[ab]*a[ab]{12}c', '^/api/v1/', '^/api/v2/'];
    const { dfas, refused } = buildListDfas(sources.map((source) => accept(source)));
    expect(refused).toEqual([{ pattern: 40, reason: 'it needs more than 2000 states' }]);
    const covered = dfas.flatMap(({ patterns }) => patterns).sort((a, b) => a - b);
    expect(covered).toEqual([...sources.keys()].filter((index) => index !== 40));
    expect(dfas.some(({ table }) => dfaMatches(table, 0, '/api/v2/'))).toBe(true);
  });

  test('a list of nothing but refusals is given up early', () => {
    const { dfas, refused } = buildListDfas(new Array<Pattern>(50).fill(accept('[ab]*a[ab]{12}c')));
    expect(dfas).toEqual([]);
    expect(refused.map(({ pattern }) => pattern)).toEqual([0, 1, 2, 3, 4]);
  });

  test('an empty list has no table', () => {
    expect(buildListDfas([])).toEqual({ dfas: [], refused: [] });
  });

  test('patterns that share their beginning keep it', () => {
    const { dfas } = buildListDfas(['^/api/v1/', '^/api/v2/x'].map((source) => accept(source)));
    expect(dfas.map(({ prefix }) => prefix)).toEqual(['/api/v']);
  });
});

describe('worstScans', () => {
  test('only prefixes of one another can be scanned together', () => {
    const table = tableOf('a');
    const wide = tableOf('\\pL');
    expect(scanCost(table)).toBe(1);
    expect(scanCost(wide)).toBe(4);
    const of = (...prefixes: string[]): number => worstScans(prefixes.map((prefix) => ({ table, prefix })));
    expect(of()).toBe(0);
    expect(of('', '')).toBe(2);
    expect(of('/a', '/b', '/c')).toBe(1);
    expect(of('', '/a', '/ab', '/abc', '/ac', '/b', '/b')).toBe(4);
    expect(
      worstScans([
        { table: wide, prefix: '/a' },
        { table, prefix: '/' },
      ]),
    ).toBe(5);
  });
});
