import { describe, expect, test } from 'vitest';
import { fold, newFolded, WINDOW } from '../../../../../../src/engine/waf/detectors/sqli/fold.ts';
import { begin, newScan } from '../../../../../../src/engine/waf/detectors/sqli/scan.ts';
import { nextToken } from '../../../../../../src/engine/waf/detectors/sqli/tokens.ts';

interface Rules {
  readonly mysql?: boolean;
}

function tokens(text: string, { mysql = false }: Rules = {}): string {
  const scan = newScan();
  begin(scan, text, mysql);
  let letters = '';
  while (nextToken(scan)) letters += String.fromCharCode(scan.kind);
  expect(scan.at).toBe(text.length);
  return letters;
}

function folded(text: string, { mysql = false }: Rules = {}): string {
  const scan = newScan();
  begin(scan, text, mysql);
  const to = newFolded();
  fold(scan, to);
  expect(to.size).toBeLessThanOrEqual(WINDOW);
  return String.fromCharCode(...to.kind.slice(0, to.size));
}

describe('the tokenizer', () => {
  test.each([
    ['members', 'n'],
    ['select x', 'En'],
    ["'it''s'", 's'],
    ["'it\\'s' x", 'sn'],
    ["'open", 's'],
    ['"a" \'b\'', 'ss'],
    ['`a b` x', 'nn'],
    ['`version`()', 'f()'],
    ['[a b] x', 'nn'],
    ['[open', 'n'],
    ["n'a' e'b' b'01' x'fF' u&'c'", 'ss11s'],
    ["b'2' x'g'", 'nsns'],
    ["q'(a')' nq'!b!'", 'ss'],
    ['$a$ x $$ $a$ y', 'sn'],
    ['$5.00 $x $', '1nnn'],
    ['1 1.5 .5 1e3 1.e 0x1f 0b1 0x 0b', '1111n11nn'],
    ['1union 1from 2f 2d;', '1U1k11;'],
    ['@a @@b @`c d` @', 'vvvv'],
    ['1 <=> 2 != 3 := 4 || 5 && 6', '1o1o1o1&1&1'],
    ['a -- b\nc', 'ncn'],
    ['a --b', 'nc'],
    ['a # b', 'non'],
    ['a /* b */ c /* d', 'ncnc'],
    ['a /*! b */ c', 'nXn'],
    ['a /* b /* c */', 'nX'],
    ['\\N \\ 1', '1\\1'],
    ['a.b.c select.1 from.x table.x', 'nE1k.nn'],
    ['null true current_user', 'v1v'],
    ['{x 1} ? : ]', '{n1}?:?'],
    ['\x00\xa0\x0b1\x7f2', '11'],
    ['\xe9t\xe9', 'n'],
  ])('reads %j as %s', (text, expected) => expect(tokens(text)).toBe(expected));

  test.each([
    ['a --b', 'noon'],
    ['a -- b', 'nc'],
    ['a # b', 'nc'],
  ])('reads %j with the rules of MySQL as %s', (text, expected) =>
    expect(tokens(text, { mysql: true })).toBe(expected),
  );
});

describe('folding', () => {
  test.each([
    ['1 + 2 * 3 - 4', '1'],
    ['a + 1 - b', 'n'],
    ['1 - - + ! 2', '1'],
    ['(((1)))', '1)'],
    ['1 + (2)', '1'],
    ['1), (2', '1'],
    ["'a' 'b' 'c'", 's'],
    ['1, 2, a', '1'],
    ['; ; ;', ';'],
    ['a . b . c', 'n'],
    ['1 union all select 2', '1UE1'],
    ['1 is not 2', '1'],
    ['1 group by 2', '1B1'],
    ['1 in (2)', '1'],
    ['in time', 'nn'],
    ['1::int', '1'],
    ['select binary 1', 'E1'],
    ['a and b or c', 'n&n'],
    ['sleep', 'n'],
    ['sleep(1)', 'f(1)'],
    ['user(1)', 'n(1)'],
    ['user()', 'f()'],
    ['current_user()', 'f()'],
    ['; if 1=1', ';T1'],
    ['1 /* a */ /* b */', '1c'],
    ['1 /* a */ 2', '11'],
    ['/* a */ - (', ''],
    ['{x 1}', '1'],
    ['\\%1', '1'],
    ['\\1', '1'],
    ['1 collate a_b', '1At'],
    ['1 rlike like(2)', '1of(1)'],
  ])('folds %j to %j', (text, expected) => expect(folded(text)).toBe(expected));

  test('stops when the window is full', () => expect(folded('a b '.repeat(100))).toBe('n'.repeat(WINDOW)));
});
