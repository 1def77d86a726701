import { describe, expect, test } from 'vitest';
import { captureGroups } from '../../../../../src/base/regex/regex.ts';
import { signaturePattern, translatePattern } from '../../../../../src/engine/waf/seclang/patterns.ts';

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
    ['(?>a|b)c', '(?:a|b)c'],
    ['a++b*+c?+d{2,3}+', 'a+b*c?d{2,3}'],
    ['\\++[+]+', '\\++[+]+'],
    ['a\\', 'a\\'],
  ])('%s', (written, source) => {
    expect(translatePattern(written).source).toBe(source);
  });

  test('leading flags are removed from the pattern and returned', () => {
    expect(translatePattern('(?i)a').ignoreCase).toBe(true);
    expect(translatePattern('(?s)a').ignoreCase).toBe(false);
  });

  test('loosened is the first possessive quantifier or atomic group', () => {
    expect(translatePattern('a+b++c*+').loosened).toBe('++');
    expect(translatePattern('(?>a)').loosened).toBe('(?>');
    expect(translatePattern('\\(?>a+').loosened).toBeNull();
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
  ])('%s on %j: %s', (written, text, expected) => {
    const read = signaturePattern(written, false);
    if (!read.ok) throw new Error(read.reason);
    expect(captureGroups(read.pattern.source, read.pattern.ignoreCase, text) !== null).toBe(expected);
  });
});
