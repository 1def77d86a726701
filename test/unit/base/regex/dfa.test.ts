import { describe, expect, test } from 'vitest';
import { buildDfa } from '../../../../src/base/regex/dfa.ts';
import { type Pattern, parsePattern } from '../../../../src/base/regex/regex.ts';
import { DFA_LENGTH, dfaMatches } from '../../../../src/base/regex/table.ts';

function accept(source: string, ignoreCase = false): Pattern {
  const result = parsePattern(source, { ignoreCase });
  if (!result.ok) throw new Error(result.reason);
  return result.pattern;
}

function tableOf(source: string, ignoreCase = false): Uint16Array {
  const result = buildDfa(accept(source, ignoreCase).program);
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
    expect(buildDfa(accept(source).program)).toEqual({ ok: false, reason, guard: null });
  });

  test('buildDfa refuses programs beyond its bound of steps and its bound of octets', () => {
    const pattern = accept('(?:[a-z]{2}/)?(?:blog|news)/\\d{4}');
    const limits = { states: 2_000, octets: 65_536, steps: 2_000_000 };
    expect(buildDfa(pattern.program, limits).ok).toBe(true);
    expect(buildDfa(pattern.program, { ...limits, steps: 50 })).toEqual({
      ok: false,
      reason: 'it takes more than 50 steps to build',
      guard: null,
    });
    expect(buildDfa(pattern.program, { ...limits, octets: 300 })).toEqual({
      ok: false,
      reason: 'its table would be larger than 300 octets',
      guard: null,
    });
  });
});
