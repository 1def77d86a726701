import { describe, expect, test } from 'vitest';
import { coveringLiterals, parsePattern } from '../../../../src/base/regex/regex.ts';

function literalsOf(source: string, ignoreCase = true): readonly string[] | null {
  const parsed = parsePattern(source, { ignoreCase, characters: 100_000 });
  if (!parsed.ok) throw new Error(parsed.reason);
  const literals = coveringLiterals(parsed.pattern.program, { last: 0xff, most: 2_000, share: 0.05 });
  return literals === null ? null : [...literals].sort();
}

describe('the literals of which every match holds one', () => {
  test.each<[string, readonly string[] | null]>([
    ['union', ['union']],
    ['UNION', ['union']],
    ['(?:select|union|insert)', ['insert', 'select', 'union']],
    ['(?:select.*from|union.*all)', ['select', 'union']],
    ['a.*sleep|b.*benchmark', ['nchmark', 'sleep']],
    ['x*select', ['select']],
    ['(?:ab)+c', ['abababa', 'abc']],
    ['[0-9]+\\s*<script', ['<scrip']],
    ['[^/]*passwd', ['passwd']],
    ['\\bor\\b', ['or']],
    ['<', ['<']],
    ['[ks]leep', ['kleep', 'sleep']],
    ['java|javascript', ['java']],
    ['^$', null],
    ['a?', null],
    ['.', null],
    ['[a-z]+', null],
    ['(?:select|.)', null],
    ['e', null],
  ])('%s', (source, expected) => {
    expect(literalsOf(source)).toEqual(expected);
  });

  /** Words of six letters without a common start. */
  function words(count: number): readonly string[] {
    let state = 1;
    const letter = (): string => {
      state = (state * 48_271) % 0x7fff_ffff;
      return String.fromCharCode(0x61 + (state % 26));
    };
    return Array.from({ length: count }, () => Array.from({ length: 6 }, letter).join(''));
  }

  test('the required literals of a long list of words are the words', () => {
    const list = words(900);
    const literals = literalsOf(`\\b(?:${list.join('|')})\\(`)!;
    expect(literals.length).toBeGreaterThan(800);
    expect(list.filter((word) => !literals.some((literal) => `${word}(`.includes(literal)))).toEqual([]);
  });

  test('required literals are left out where there would be too many', () => {
    expect(literalsOf(`\\b(?:${words(3_000).join('|')})`)).toBeNull();
  });

  test('characters outside the texts’ alphabet give no required literals', () => {
    expect(literalsOf('\u0100abc|def')).toEqual(['def']);
  });
});
