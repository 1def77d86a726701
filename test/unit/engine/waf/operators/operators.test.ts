/** Each operator on values of its own. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ipMatch,
  NUMBER_OPERATORS,
  numberOf,
  PLAIN_OPERATORS,
  prepareByteRange,
  prepareIpMatch,
  TEXT_OPERATORS,
  validateByteRange,
} from '../../../../../src/engine/waf/operators/operators.ts';
import { countTextWork } from '../../../../support/count-text-work.ts';

test.each([
  ['12', 12],
  [' \t-7px', -7],
  ['+3', 3],
  ['007', 7],
  ['', 0],
  ['x5', 0],
  ['-', 0],
  ['- 5', 0],
  ['1e9', 1],
  ['0x10', 0],
  ['9'.repeat(30), Number.MAX_SAFE_INTEGER],
  [`-${'9'.repeat(30)}`, -Number.MAX_SAFE_INTEGER],
])('numberOf(%j) is %j', (text, number) => {
  expect(numberOf(text)).toBe(number);
});

describe.each([
  { name: 'eq', less: false, equal: true, greater: false },
  { name: 'ge', less: false, equal: true, greater: true },
  { name: 'gt', less: false, equal: false, greater: true },
  { name: 'le', less: true, equal: true, greater: false },
  { name: 'lt', less: true, equal: false, greater: false },
] as const)('$name', ({ name, less, equal, greater }) => {
  const operator = NUMBER_OPERATORS[name];

  test('compares numbers by its relation', () => {
    expect([operator('4', 5), operator('5', 5), operator('6', 5)]).toEqual([less, equal, greater]);
    expect([operator('-6', -5), operator('-5', -5), operator('', -5)]).toEqual([less, equal, greater]);
  });

  test('counts a text without number as 0', () => {
    expect(operator('none', 0)).toBe(equal);
  });
});

test.each([
  ['streq', 'abc', 'abc', true],
  ['streq', 'abc', 'ABC', false],
  ['streq', '', '', true],
  ['contains', 'abcdef', 'cd', true],
  ['contains', 'abcdef', 'CD', false],
  ['contains', 'abc', '', true],
  ['strmatch', 'abcdef', 'ef', true],
  ['strmatch', 'abcdef', 'x', false],
  ['containsWord', 'a select b', 'select', true],
  ['containsWord', 'select', 'select', true],
  ['containsWord', 'selected', 'select', false],
  ['containsWord', 'unselect', 'select', false],
  ['containsWord', 'selected (select', 'select', true],
  ['containsWord', '1select2', 'select', true],
  ['containsWord', '\xe9select\xe9', 'select', true],
  ['containsWord', 'abc', '', true],
  ['containsWord', '', 'abc', false],
  ['containsWord', 'aaa', 'aa', false],
  ['beginsWith', '/admin/x', '/admin', true],
  ['beginsWith', 'x/admin', '/admin', false],
  ['beginsWith', '/a', '/admin', false],
  ['endsWith', 'a.php', '.php', true],
  ['endsWith', 'a.php5', '.php', false],
  ['endsWith', 'p', '.php', false],
  ['within', 'GET', 'GET HEAD POST', true],
  ['within', 'get', 'GET HEAD POST', false],
  ['within', 'GET HEAD POST PUT', 'GET HEAD POST', false],
  ['within', '', 'GET', true],
  ['within', '', '', true],
] as const)('%s of %j and %j is %j', (name, value, argument, holds) => {
  expect(TEXT_OPERATORS[name](value, argument)).toBe(holds);
});

test.each([
  ['10.1.2.3', true],
  ['10.255.255.255', true],
  ['11.0.0.0', false],
  ['192.0.2.7', true],
  ['192.0.2.8', false],
  ['::ffff:10.0.0.1', true],
  ['2001:db8::1', true],
  ['2001:DB8:0:0:ffff::', true],
  ['2001:db9::', false],
  ['', false],
  ['10.1', false],
  ['not an address', false],
])('ipMatch of %j is %j', (value, holds) => {
  expect(ipMatch(value, prepareIpMatch(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']))).toBe(holds);
});

test('ipMatch does not mix address families, and its argument must be an address or prefix', () => {
  expect(ipMatch('1.2.3.4', prepareIpMatch(['102:304::/32']))).toBe(false);
  expect(ipMatch('1.2.3.4', prepareIpMatch([]))).toBe(false);
  expect(() => prepareIpMatch(['10.0.0.0/33'])).toThrow('10.0.0.0/33');
});

test('validateByteRange matches exactly when an octet is not allowed', () => {
  const flags = fc.array(fc.boolean(), { minLength: 256, maxLength: 256 });
  fc.assert(
    fc.property(flags, fc.uint8Array({ maxLength: 3 }), (allowed, octets) => {
      const value = String.fromCharCode(...octets);
      const outside = octets.some((octet) => !allowed[octet]);
      expect(validateByteRange(value, prepareByteRange(allowed))).toBe(outside);
    }),
  );
});

test.each([
  ['', false],
  ['a%20b%fF', false],
  ['%', true],
  ['%4', true],
  ['%4z', true],
  ['%z4', true],
  ['%41%', true],
  ['%%41', true],
])('validateUrlEncoding of %j is %j', (value, invalid) => {
  expect(PLAIN_OPERATORS.validateUrlEncoding(value)).toBe(invalid);
});

test('validateUtf8Encoding matches exactly when a fatal TextDecoder throws', () => {
  const near = fc.constantFrom(0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf);
  const leads = fc.constantFrom(0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xf7, 0xf8, 0xff);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const isInvalid = (octets: Uint8Array): boolean => {
    try {
      decoder.decode(octets);
      return false;
    } catch {
      return true;
    }
  };
  fc.assert(
    fc.property(fc.array(fc.oneof(near, leads), { maxLength: 6 }), (list) => {
      const octets = Uint8Array.from(list);
      expect(PLAIN_OPERATORS.validateUtf8Encoding(String.fromCharCode(...octets))).toBe(isInvalid(octets));
    }),
    { numRuns: 3_000 },
  );
  const valid = new TextEncoder().encode('aé€😀\u0000');
  expect(PLAIN_OPERATORS.validateUtf8Encoding(String.fromCharCode(...valid))).toBe(false);
});

test('noMatch never matches, unconditionalMatch always does', () => {
  expect(PLAIN_OPERATORS.noMatch('x')).toBe(false);
  expect(PLAIN_OPERATORS.unconditionalMatch('')).toBe(true);
});

test.each(['%', '%4', '%41', 'select', 'aselect', '\xf0\x9f\x98', ' ', '9'])(
  'operators read a value made of %j a bounded number of times',
  (piece) => {
    const value = piece.repeat(65_536 / piece.length);
    const every = [
      ...Object.values(NUMBER_OPERATORS).map((operator) => () => operator(value, 1)),
      ...Object.values(TEXT_OPERATORS).map((operator) => () => operator(value, 'select')),
      ...Object.values(PLAIN_OPERATORS).map((operator) => () => operator(value)),
    ];
    for (const run of every) expect(countTextWork(run) / value.length).toBeLessThan(20);
  },
);
