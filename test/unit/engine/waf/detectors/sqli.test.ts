import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../../../src/base/octets/octet-kinds.ts';
import { detectSqli, PREFILTER_KINDS, SHORTEST_SQLI } from '../../../../../src/engine/waf/detectors/sqli.ts';
import { detectorStrings } from '../../../../support/detector-strings.ts';

const ATTACKS = detectorStrings('sqli');
const ORDINARY = detectorStrings('ordinary');

describe('every attack is detected', () => {
  test('the table of attacks is complete', () => expect(ATTACKS.length).toBeGreaterThanOrEqual(200));

  test.each(ATTACKS)('$heading: $value', ({ value }) => {
    expect(detectSqli(value)).toMatch(/^[a-zA-Z0-9&(){}.,:;?\\]{1,5}$/);
  });

  test.each(ATTACKS.filter(({ value }) => !value.includes("e'a'") && !value.includes('$$')))(
    'are seen in capitals too: $value',
    ({ value }) =>
      expect(detectSqli(value.replace(/[a-z]/g, (letter) => letter.toUpperCase()))).not.toBeNull(),
  );
});

describe('ordinary text is not detected', () => {
  test('the table of ordinary text is complete', () => expect(ORDINARY.length).toBeGreaterThanOrEqual(550));

  test.each(ORDINARY)('$heading: $value', ({ value }) => expect(detectSqli(value)).toBeNull());
});

describe('the fingerprint', () => {
  test.each([
    ["x' or 1=1--", 's&1c'],
    ['7 union select 1,2', '1UE1'],
    ['7; drop table members', '1;Tn'],
    ["7' and sleep(4)", 's&f(1'],
    ['7 or (select 1)=1', '1&(E1'],
    ["admin'--", 'sc'],
    ['7 /*!or*/ 1=1', 'X'],
    ['7 union\n--\nselect 1', '1UE1'],
    ["'='", 'sos'],
    ['1234 OR 5=5', '1&1'],
    ['', null],
    ['members', null],
  ])('of %j is %j', (value, expected) => expect(detectSqli(value)).toBe(expected));

  test('does not depend on earlier values', () => {
    const once = ATTACKS.map(({ value }) => detectSqli(value));
    const again = [...ATTACKS].reverse().map(({ value }) => detectSqli(value));
    expect(again.reverse()).toEqual(once);
  });
});

test('no detected value is shorter than SHORTEST_SQLI or without PREFILTER_KINDS', () => {
  const octets = Array.from({ length: 256 }, (_, octet) => String.fromCharCode(octet));
  expect(octets.filter((octet) => detectSqli(octet) !== null)).toEqual([]);
  expect(detectSqli('.#')).toHaveLength(SHORTEST_SQLI);
  const harmless = octets.filter((octet) => (KINDS[octet.charCodeAt(0)]! & PREFILTER_KINDS) === 0);
  expect(harmless.length).toBeGreaterThan(15);
  const values = fc.array(fc.constantFrom(...harmless), { maxLength: 12 }).map((all) => all.join(''));
  fc.assert(fc.property(values, (value) => detectSqli(value) === null));
});
