/** Conditions on headers, query and cookies, and each op at its edges, decided by hand from semantics §12. */
import { describe, expect, test } from 'vitest';
import type { ValueCondition } from '../../src/rules/model/types.ts';
import { type ConditionRow, condition, holds, wrongRows } from '../support/sample-rules.ts';

describe('headers', () => {
  const seen = (headers: unknown, ...asked: Parameters<typeof condition>): ConditionRow =>
    [{ headers: [condition(...asked)] }, { headers }, true] as const;
  const unseen = (...row: Parameters<typeof seen>): ConditionRow => [seen(...row)[0], seen(...row)[1], false];

  test('all listed conditions must hold', () => {
    const headers = [condition('x-a', 'present'), condition('x-b', 'absent')];
    expect(
      wrongRows([
        [{ headers }, { headers: { 'x-a': '' } }, true],
        [{ headers }, { headers: {} }, false],
        [{ headers }, { headers: { 'x-a': '', 'x-b': '' } }, false],
      ]),
    ).toEqual([]);
  });

  test('the property in lower case wins over others, of which the last counts', () => {
    expect(
      wrongRows([
        seen({ 'X-A': '1', 'x-a': '2' }, 'x-a', 'equals', ['2']),
        unseen({ 'x-a': '2', 'X-A': '1' }, 'x-a', 'equals', ['1']),
        seen({ 'X-A': '1', 'X-a': '2' }, 'x-a', 'equals', ['2']),
        unseen({ 'X-A': '1', 'X-a': '2' }, 'x-a', 'equals', ['1']),
        unseen({ 'X-A': '1', 'x-a': null }, 'x-a', 'present'),
        unseen({ 'x-ab': '1', x_a: '1' }, 'x-a', 'present'),
        seen({ 'x-a': '' }, 'x-a', 'present'),
      ]),
    ).toEqual([]);
  });

  test('only own properties are headers', () => {
    expect(
      wrongRows([
        unseen({}, 'constructor', 'present'),
        unseen({}, '__proto__', 'present'),
        seen({ constructor: 'x' }, 'constructor', 'present'),
        unseen(Object.create({ 'x-a': '1' }), 'x-a', 'present'),
      ]),
    ).toEqual([]);
  });

  test('every text of a list is a line; other values are none', () => {
    expect(
      wrongRows([
        seen({ 'x-a': ['1', '2'] }, 'x-a', 'equals', ['2']),
        seen({ 'x-a': [7, null, '2'] }, 'x-a', 'equals', ['2']),
        unseen({ 'x-a': [7, null] }, 'x-a', 'present'),
        unseen({ 'x-a': [] }, 'x-a', 'present'),
        unseen({ 'x-a': 7 }, 'x-a', 'present'),
        seen({ 'x-a': { 0: 'a' } }, 'x-a', 'absent'),
        ...[undefined, null, 'x-a', 7].map((headers) => seen(headers, 'x-a', 'absent')),
      ]),
    ).toEqual([]);
  });

  test('blanks and tabs around a line are removed, those inside it and other white space are not', () => {
    expect(
      wrongRows([
        seen({ 'x-a': ' \t a b\t ' }, 'x-a', 'equals', ['a b']),
        seen({ 'x-a': ' \t ' }, 'x-a', 'equals', ['']),
        unseen({ 'x-a': '\u00a0a' }, 'x-a', 'equals', ['a']),
        unseen({ 'x-a': 'a, b' }, 'x-a', 'equals', ['a']),
      ]),
    ).toEqual([]);
  });
});

describe('query', () => {
  const asks = (target: string, ...asked: Parameters<typeof condition>): boolean =>
    holds({ query: [condition(...asked)] }, { target });

  test.each([
    ['/?a=1', 'a', '1'],
    ['/?b&a=1', 'a', '1'],
    ['/?a', 'a', ''],
    ['/?a=', 'a', ''],
    ['/?a=1=2', 'a', '1=2'],
    ['/?x&a=1?2', 'a', '1?2'],
    ['/?%61=%31', 'a', '1'],
    ['/?a+b=1+2%2B3', 'a b', '1 2+3'],
    ['/?a=%2561', 'a', '%61'],
    ['/?a=%C3%a9é', 'a', 'éé'],
    ['/?a=%ff%c3', 'a', '%FF%C3'],
    ['/?a=%zz%4', 'a', '%zz%4'],
    ['/?a=1%26b=2', 'a', '1&b=2'],
    ['/?a%3D=1', 'a=', '1'],
    ['/?a=1;b=2', 'a', '1;b=2'],
  ])('%s: `%s` is `%s`', (target, name, value) => {
    expect(asks(target, name, 'equals', [value])).toBe(true);
  });

  test('names compare exactly, and one without a name is none', () => {
    expect(asks('/?A=1', 'a', 'present')).toBe(false);
    expect(asks('/?ab=1', 'a', 'present')).toBe(false);
    expect(asks('/?=1&&', '', 'present')).toBe(false);
    expect(asks('/', 'a', 'absent')).toBe(true);
    expect(asks('/?', 'a', 'absent')).toBe(true);
    expect(asks('/a=1', 'a', 'absent')).toBe(true);
  });

  test('every occurrence counts', () => {
    expect(asks('/?a=1&a=2', 'a', 'equals', ['2'])).toBe(true);
    expect(asks('/?a=1&a=2', 'a', 'not_equals', ['2'])).toBe(false);
    expect(asks('/?a=1&a=2', 'a', 'not_equals', ['3'])).toBe(true);
  });
});

describe('cookies', () => {
  const asks = (cookie: unknown, ...asked: Parameters<typeof condition>): boolean =>
    holds({ cookies: [condition(...asked)] }, { headers: { Cookie: cookie } });

  test.each([
    ['a=1', '1'],
    ['b=2; a=1', '1'],
    ['b=2;a=1;', '1'],
    [' \ta\t = 1 \t; b=2', '1'],
    ['a=', ''],
    ['a=1=2', '1=2'],
    ['a="1"', '"1"'],
    ['a=%31', '%31'],
    ['a=1, b=2', '1, b=2'],
    [['b=2', 'a=1'], '1'],
    ['a=1; a=2', '2'],
  ])('%j: `a` is `%s`', (cookie, value) => {
    expect(asks(cookie, 'a', 'equals', [value])).toBe(true);
  });

  test('a pair without `=` or without a name is none, and names compare exactly', () => {
    for (const cookie of ['a', 'ab', 'a; b=1', 'A=1', 'ab=1', '=a', 'b=a=1', 7]) {
      expect(asks(cookie, 'a', 'absent'), String(cookie)).toBe(true);
    }
  });
});

describe('ops', () => {
  /** Whether the condition holds for a header with these lines; its negation must do the opposite. */
  function compared(
    lines: readonly string[],
    op: ValueCondition['op'],
    [values, ignore_case = false]: readonly [values: readonly string[], ignore_case?: boolean],
  ): boolean {
    const ask = (asked: ValueCondition['op']): boolean =>
      holds({ headers: [condition('x', asked, values, { ignore_case })] }, { headers: { x: lines } });
    expect(ask(`not_${op}` as ValueCondition['op'])).toBe(!ask(op));
    return ask(op);
  }

  test.each([
    ['equals', 'abc', 'abc', true],
    ['equals', 'abc', 'ab', false],
    ['equals', '', '', true],
    ['equals', 'a', 'A', false],
    ['prefix', 'abc', 'ab', true],
    ['prefix', 'abc', 'bc', false],
    ['suffix', 'abc', 'bc', true],
    ['suffix', 'abc', 'ab', false],
    ['contains', 'abc', 'b', true],
    ['contains', 'abc', 'ac', false],
    ['wildcard', 'abc', 'a*c', true],
    ['wildcard', 'ac', 'a*c', true],
    ['wildcard', 'a\nc', 'a*c', true],
    ['wildcard', 'abcd', 'a*c', false],
    ['wildcard', 'abc', 'b', false],
    ['wildcard', 'a?c', 'a?c', true],
    ['wildcard', 'abc', 'a?c', false],
    ['wildcard', 'a', 'a*a', false],
    ['wildcard', '', '*', true],
    ['regex', 'xabcx', 'a.c', true],
    ['regex', 'a\nc', 'a.c', true],
    ['regex', 'abc', '^b', false],
    ['regex', 'abc', 'B', false],
    ['regex', 'abc', '(?i)B', true],
    ['regex', 'a\nb', '^b', false],
    ['regex', 'é', '^\\xe9$', true],
    ['regex', '', '^$', true],
  ] as const)('%s: %j with %j: %s', (op, text, value, expected) => {
    expect(compared([text], op, [[value]])).toBe(expected);
  });

  test('one value of one occurrence suffices, and none for the negation', () => {
    expect(compared(['a', 'b'], 'equals', [['x', 'b']])).toBe(true);
    expect(compared(['a', 'b'], 'equals', [['x', 'y']])).toBe(false);
    expect(compared([], 'contains', [['a']])).toBe(false);
  });

  test.each([
    ['equals', 'ABC', 'aBc', true],
    ['prefix', 'ABC', 'aB', true],
    ['suffix', 'ABC', 'bc', true],
    ['contains', 'ABC', 'b', true],
    ['wildcard', 'ABC', 'a*C', true],
    ['equals', 'É', 'é', false],
    ['wildcard', 'É', 'é', false],
    ['regex', 'ABC', '^a.c$', true],
    ['regex', 'É', 'é', true],
  ] as const)('%s without case: %j with %j: %s', (op, text, value, expected) => {
    expect(compared([text], op, [[value], true])).toBe(expected);
  });

  test('of a value over 8,192 octets only what is read decides', () => {
    const read = `ab${'x'.repeat(8_188)}yz`;
    const long = (op: ValueCondition['op'], value: string): boolean => compared([`${read}w`], op, [[value]]);
    expect(compared([read], 'suffix', [['yz']])).toBe(true);
    expect(long('equals', `${read}w`)).toBe(false);
    expect(long('suffix', 'w')).toBe(false);
    expect(long('suffix', 'z')).toBe(false);
    expect(long('prefix', 'ab')).toBe(true);
    expect(long('contains', 'yz')).toBe(true);
    expect(long('contains', 'w')).toBe(false);
    expect(long('wildcard', 'ab*yz*')).toBe(true);
    expect(long('wildcard', 'ab*w*')).toBe(false);
    expect(long('wildcard', '*w')).toBe(false);
    expect(long('regex', '^ab')).toBe(true);
    expect(long('regex', 'yz')).toBe(true);
    expect(long('regex', 'yz$')).toBe(false);
    expect(long('regex', 'z\\b')).toBe(false);
    expect(long('regex', '^ab.*$')).toBe(true);
    expect(long('regex', '[^q]*$')).toBe(true);
    expect(long('regex', '^[^q]*$')).toBe(false);
    expect(long('regex', 'w')).toBe(false);
  });

  test('a parameter has the octets of its UTF-8 form, of which whole characters are read', () => {
    const asks = (value: string, op: ValueCondition['op'], wanted: string): boolean =>
      holds({ query: [condition('q', op, [wanted])] }, { target: `/?q=${value}` });
    const full = 'é'.repeat(4_096);
    expect(asks(full, 'suffix', 'é')).toBe(true);
    expect(asks(`${full}a`, 'suffix', 'a')).toBe(false);
    expect(asks(`a${full}`, 'suffix', 'é')).toBe(false);
    expect(asks(`a${'b'.repeat(8_190)}é`, 'contains', 'é')).toBe(false);
    expect(asks(`a${'b'.repeat(8_189)}é`, 'contains', 'é')).toBe(true);
    expect(asks('%C3%A9'.repeat(2_000), 'suffix', 'é')).toBe(true);
    expect(asks(`${'%ff'.repeat(2_730)}bc`, 'suffix', 'c')).toBe(true);
    expect(asks(`${'%ff'.repeat(2_730)}bcd`, 'suffix', 'd')).toBe(false);
  });

  test('a cookie has the characters of its value, and its line any number', () => {
    const asks = (cookie: string, op: ValueCondition['op'], wanted: string): boolean =>
      holds({ cookies: [condition('a', op, [wanted])] }, { headers: { cookie } });
    expect(asks(`b=${'x'.repeat(9_000)}; a=1`, 'equals', '1')).toBe(true);
    expect(asks(`a=${'é'.repeat(8_192)}`, 'suffix', 'é')).toBe(true);
    expect(asks(`a=${'é'.repeat(8_193)}`, 'suffix', 'é')).toBe(false);
    expect(asks(`a= ${'x'.repeat(8_192)} ; b=1`, 'suffix', 'x')).toBe(true);
  });
});
