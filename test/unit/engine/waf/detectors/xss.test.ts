import { describe, expect, test } from 'vitest';
import { detectXss, SHORTEST_XSS } from '../../../../../src/engine/waf/detectors/xss.ts';
import { detectorStrings } from '../../../../support/detector-strings.ts';

const ATTACKS = detectorStrings('xss');
const ORDINARY = detectorStrings('ordinary');

describe('every attack is detected', () => {
  test('the table of attacks is complete', () => expect(ATTACKS.length).toBeGreaterThanOrEqual(120));

  test.each(ATTACKS)('$heading: $value', ({ value }) => expect(detectXss(value)).toBe(true));
});

/** A menu written out: `<select>` is no danger to a page, but to SQL's ear it is. */
describe('ordinary text is not detected', () => {
  test.each(ORDINARY)('$heading: $value', ({ value }) => expect(detectXss(value)).toBe(false));
});

describe('a value is tested in every context of a page', () => {
  test.each([
    ['in text', '<img src=x onerror=f()>', true],
    ['in a double-quoted attribute', 'x" onerror=f() y="', true],
    ['in a single-quoted attribute', "x' onerror=f() y='", true],
    ['in a back-quoted attribute', 'x` onerror=f() y=`', true],
    ['in an unquoted attribute', 'x onerror=f()', true],
    ['in a tag', 'onerror=f()', true],
    ['in text, an unknown event in a tag', '<x onanything=f()>', true],
    ['an unknown event without a tag', 'x onanything=f()', false],
    ['a style without a tag, with a colon', 'x style=a:b', true],
    ['a style without a tag, without one', 'x style=a', false],
    ['an attribute that is not closed', '<a href="javascript:f()', true],
    ['a picture', '<img src="data:image/png;base64,AAAA">', false],
    ['a drawing', '<img src="data:image/svg+xml,x">', true],
  ])('%s: %s', (_, value, expected) => expect(detectXss(value)).toBe(expected));
});

test('no detected value is shorter than SHORTEST_XSS', () => {
  expect(detectXss('</`<')).toBe(true);
  expect('</`<').toHaveLength(SHORTEST_XSS);
  const octets = [...'aox0 \t\n\0\'"`!?%/<>=:-&;[]\xff'];
  const shorter = octets.flatMap((a) =>
    ['', ...octets].flatMap((b) => ['', ...octets].map((c) => `${a}${b}${c}`)),
  );
  expect(shorter.filter(detectXss)).toEqual([]);
});
