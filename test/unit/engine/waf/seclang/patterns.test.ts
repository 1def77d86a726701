import { describe, expect, test } from 'vitest';
import { matchesText, signaturePattern } from '../../../../../src/engine/waf/seclang/patterns.ts';
import { translatePattern } from '../../../../../src/engine/waf/seclang/pcre-translate.ts';

describe('PCRE syntax becomes RE2 syntax with the same meaning', () => {
  test.each([
    ['a\\.b', 'a\\.b'],
    ['[a\\]b]', '[a\\]b]'],
    ['[]a]', '[\\]a]'],
    ['[^]a]', '[^\\]a]'],
    ['[[]', '[\\[]'],
    ['[[:alpha:]_]', '[[:alpha:]_]'],
    ['\\x5c\\x{e2}', '\\x5c\\x{e2}'],
    ['\\i\\_\\"', 'i\\_\\"'],
    ['\\e', '\\x1b'],
    ['(?i)a', 'a'],
    ['(?s)(?i)a', 'a'],
    ['a(?i)b', 'a(?i)b'],
    ['\\++[+]+', '\\++[+]+'],
    ['[\\b]', '[\\x08]'],
    ['a\\', 'a\\'],
  ])('%s', (written, source) => {
    expect(translatePattern(written).source).toBe(source);
  });

  test('leading flags are removed from the pattern and returned', () => {
    expect(translatePattern('(?i)a').ignoreCase).toBe(true);
    expect(translatePattern('(?s)a').ignoreCase).toBe(false);
  });
});

/** pcre2pattern(3): what PCRE's classes hold and RE2's do not, and the flags ModSecurity compiles with. */
describe('a pattern matches what it matches in ModSecurity', () => {
  test.each([
    ['\\s', '\u000b', true],
    ['[\\s]', '\u000b', true],
    ['\\S', '\u000b', false],
    ['[^\\S]', '\u000b', true],
    ['\\h', '\u00a0', true],
    ['\\H', '\t', false],
    ['\\v', '\u0085', true],
    ['[\\V]', '\n', false],
    ['a.b', 'a\nb', true],
    ['^b', 'a\nb', false],
    ['a$', 'a\n', false],
    ['(?i)É', '\u00c9', true],
    ['\\xff', '\u00ff', true],
    // Only ASCII letters have a case in PCRE's own tables; RE2's are those of Unicode.
    ['(?i)(?=É)', '\u00e9', false],
    ['(?<!a)b', 'ab', false],
    ['(a)\\1', 'aa', true],
    ['a++a', 'aaa', false],
    ['(?>a|ab)c', 'abc', false],
    ['a\\Z', 'a\n', true],
    ['^a\\Rb', 'a\r\nb', true],
    ['(?m)^(?!b)', 'b\n', false],
  ])('%s on %j: %s', (written, text, expected) => {
    const read = signaturePattern(written, false);
    if (!read.ok) throw new Error(read.reason);
    expect(matchesText(read.pattern, text)).toBe(expected);
  });

  test('only what no automaton matches is searched by backtracking', () => {
    const backtracks = (written: string): boolean => {
      const read = signaturePattern(written, false);
      if (!read.ok) throw new Error(read.reason);
      return read.pattern.backtrack !== null;
    };
    expect(['a++b', '(?>a)', 'a(?=b)', '(a)\\1', '(?<n>a)\\k<n>', 'a\\Z'].filter(backtracks)).toHaveLength(6);
    expect(['\\(?>a+', '[(?=a)]', '\\\\1', '(?:a)(?i:b)(?P<n>c)', '\\Q(?=\\E'].filter(backtracks)).toEqual(
      [],
    );
  });

  test('a constant text that takes too many steps is left open', () => {
    const read = signaturePattern('(a*)*(a*)*\\1\\2b', false);
    if (!read.ok) throw new Error(read.reason);
    expect(matchesText(read.pattern, 'a'.repeat(2_000))).toBeNull();
  });
});

describe('a pattern that PCRE or edgeplan refuses has a reason', () => {
  test.each([
    ['a(?R)?(?=b)', 'recursion is not supported: `(?R)`'],
    ['(a)(?1)(?=b)', 'recursion is not supported: `(?1)`'],
    ['(?<n>a)(?&n)', 'recursion is not supported: `(?&n)`'],
    ['(a)?(?(1)b|c)', 'conditional groups are not supported: `(?(`'],
    ['(?|(a)|(b))\\1', 'groups that reset their numbers are not supported: `(?|`'],
    ['a(?C1)(?=b)', 'callouts are not supported: `(?C1)`'],
    ['a(*SKIP)b', 'verbs are not supported: `(*SKIP)`'],
    ['a\\Kb', 'this escape is not supported: `\\K`'],
    ['\\X', 'this escape is not supported: `\\X`'],
    ['(a)\\g<1>', 'this escape is not supported: `\\g<1>`'],
    ['(a)\\2', 'the backreference names no group: `\\2`'],
    ['(a)\\k<n>', 'the backreference names no group: `\\k<n>`'],
    ['(?<n>a)(?<n>b)', 'two groups have the name `n`'],
    ['(?<=a+)b', 'each alternative of a look-behind needs a fixed length, as in PCRE'],
    ['(?=a', 'missing `)`'],
    ['(?=a))', 'unexpected `)`'],
    ['(?=a)[b', 'missing `]`: `[b`'],
    ['(?=a)**', 'nothing to repeat: `*`'],
    ['(?=a)b{3,2}', 'the numbers of the quantifier are out of order: `{3,2}`'],
    ['(?=a)b{70000}', 'a quantifier has at most 65535: `{70000}`'],
    ['(?=(?:a{1000}){1000})', 'it has more than 20000 instructions'],
    [
      `(?=a)${'(?:'.repeat(10)}a${'*)'.repeat(10)}*`,
      'more than 8 repeats around each other can match nothing',
    ],
    [`(?=a)${'('.repeat(300)}${')'.repeat(300)}`, 'groups are nested more than 250 deep'],
  ])('%s', (written, reason) => {
    expect(signaturePattern(written, false)).toEqual({ ok: false, reason });
  });
});
