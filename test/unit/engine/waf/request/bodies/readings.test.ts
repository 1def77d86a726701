/** What arguments, cookies and headers are besides their text. */
import { describe, expect, test } from 'vitest';
import {
  decodedValues,
  unsplit,
  unsplitCookies,
} from '../../../../../../src/engine/waf/request/bodies/readings.ts';
import { queryArguments, readCookies } from '../../../../../../src/engine/waf/request/variables.ts';
import { pairs } from './body-cases.ts';

describe('the rest of a query from its first odd name on', () => {
  test.each([
    ['<x onclick=f()>', '<x onclick=<x onclick=f()>'],
    ['a=1&<x onclick=f()>&b=2', '<x onclick=<x onclick=f()>&b=2'],
    ["a=1&x' OR '1'='1", "x' OR '1'=x' OR '1'='1"],
    ['%3Cb=1', '<b=%3Cb=1'],
    ['a;id&b', 'a;id=a;id&b'],
  ])('of %j is %j', (query, expected) => {
    expect(pairs([unsplit(query, queryArguments(query))!])).toEqual([expected]);
  });

  test.each(['a=1&b=2', 'filter[price][$gte]=1&a.b:c=2', '', '&&', '<b>', 'a=1&(b)', 'ctl00$Main=x&&'])(
    'of %j is none',
    (query) => expect(unsplit(query, queryArguments(query))).toBeNull(),
  );

  test('has at most 2,048 octets', () => {
    const query = `(a=${'x'.repeat(5_000)}`;
    expect(unsplit(query, queryArguments(query))!.value).toHaveLength(2_048);
  });
});

test.each([
  ["a=1; b=x'; -- -; c=2", null],
  ['a=1; b=";alert(1)//', 'b="; alert(1)//'],
  ["a=1; b=';f(1);x=2", "b='; f(1); x=2"],
  ['(a)=1; b=2', '(a)=1; b=2'],
  ['a=1; b=2', null],
])('the rest of the cookies %j is %j', (header, expected) => {
  const rest = unsplitCookies(readCookies([{ name: 'cookie', value: header }]));
  expect(rest === null ? null : `${rest.name}=${rest.value}`).toBe(expected);
});

describe('values that are encoded', () => {
  const decoded = (value: string): string | undefined => decodedValues([{ name: 'a', value }])[0]?.value;

  test.each([
    ['PHN2Zy9vbmxvYWQ9YWxlcnQoMSk+', '<svg/onload=alert(1)>'],
    ['PHN2Zy9vbmxvYWQ9YWxlcnQoMSk-', '<svg/onload=alert(1)>'],
    ['PHN2Zy9vbmxvYWQ9YWxlcnQoMSk ', '<svg/onload=alert(1)>'],
    ['OyBjYXQgL2V0Yy9wYXNzd2Q=', '; cat /etc/passwd'],
    ['OyBjYXQgL2V0Yy9wYXNzd2Q', '; cat /etc/passwd'],
    ['\\u003cb\\u003e', '<b>'],
    ['x\\x3cb', 'x<b'],
  ])('%j is %j', (value, expected) => expect(decoded(value)).toBe(expected));

  test.each([
    ['words', 'internationalization'],
    ['an identifier', '507f1f77bcf86cd799439011507f1f77'],
    ['octets that are no text', 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'],
    ['words in Base64', 'aGVsbG8gd29ybGQgYWdhaW4='],
    ['less than 16 characters', 'PGI+eDwvYj4='],
    ['a length that Base64 never has', 'PHN2Zy9vbmxvYWQ9YWxlcnQoMSkxx'],
    ['a dot', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'],
    ['escapes of other characters', 'C:\\temp\\new'],
    ['more than 8,192 octets', 'PHN2'.repeat(2_049)],
  ])('%s: none', (_, value) => expect(decoded(value)).toBeUndefined());

  test('a name without a value is one', () => {
    expect(pairs(decodedValues(queryArguments('OyBjYXQgL2V0Yy9wYXNzd2Q=')))).toEqual([
      'OyBjYXQgL2V0Yy9wYXNzd2Q=; cat /etc/passwd',
    ]);
  });

  test('no more than 16,384 octets of a list are decoded', () => {
    const members = Array.from({ length: 5 }, () => ({ name: 'a', value: 'PGI+'.repeat(1_024) }));
    expect(decodedValues(members)).toHaveLength(4);
  });
});
