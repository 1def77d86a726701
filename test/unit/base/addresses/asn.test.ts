import { describe, expect, test } from 'vitest';
import { isAsn, parseAsn } from '../../../../src/base/addresses/asn.ts';

describe('numbers of autonomous systems', () => {
  test.each([1, 64_496, 4_294_967_295])('%d is one', (number) => {
    expect(isAsn(number)).toBe(true);
    expect([parseAsn(String(number)), parseAsn(`AS${number}`), parseAsn(`as${number}`)]).toEqual([
      number,
      number,
      number,
    ]);
  });

  test.each([0, -1, 1.5, Number.NaN, 4_294_967_296, '1', null, undefined, true])('%s is none', (value) => {
    expect(isAsn(value)).toBe(false);
  });

  test.each(['', 'AS', 'AS0', '0', '1.10', '64496 ', '-1', '1e3', '4294967296', '٣'])(
    '`%s` is none',
    (text) => {
      expect(parseAsn(text)).toBeNull();
    },
  );
});
