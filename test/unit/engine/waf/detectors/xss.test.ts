import { describe, expect, test } from 'vitest';
import { detectXss, SHORTEST_XSS } from '../../../../../src/engine/waf/detectors/xss.ts';
import { detectorStrings } from '../../../../support/detector-strings.ts';

const ATTACKS = detectorStrings('xss');
const ORDINARY = detectorStrings('ordinary');

describe('every attack is detected', () => {
  test('the table of attacks is complete', () => expect(ATTACKS.length).toBeGreaterThanOrEqual(120));

  test.each(ATTACKS)('$heading: $value', ({ value }) => expect(detectXss(value)).not.toBeNull());
});

/** A menu written out: `<select>` is no danger to a page, but to SQL's ear it is. */
describe('ordinary text is not detected', () => {
  test.each(ORDINARY)('$heading: $value', ({ value }) => expect(detectXss(value)).toBeNull());
});

describe('a value is tested in every context of a page', () => {
  test.each([
    ['in text', '<img src=x onerror=f()>', 'event attribute'],
    ['in a double-quoted attribute', 'x" onerror=f() y="', 'event attribute'],
    ['in a single-quoted attribute', "x' onerror=f() y='", 'event attribute'],
    ['in a back-quoted attribute', 'x` onerror=f() y=`', 'event attribute'],
    ['in an unquoted attribute', 'x onerror=f()', 'event attribute'],
    ['in a tag', 'onerror=f()', 'event attribute'],
    ['in text, an unknown event in a tag', '<x onanything=f()>', 'event attribute'],
    ['an unknown event without a tag', 'x onanything=f()', null],
    ['a style without a tag, with a colon', 'x style=a:b', 'style attribute'],
    ['a style without a tag, without one', 'x style=a', null],
    ['an attribute that is not closed', '<a href="javascript:f()', 'URL with script'],
    ['a picture', '<img src="data:image/png;base64,AAAA">', null],
    ['a drawing', '<img src="data:image/svg+xml,x">', 'URL with script'],
    ['a tag', '<iframe>', 'tag that runs or loads script'],
    ['an animation', '<set attributename=href>', 'attribute that sets another'],
    ['a data island', '<b datasrc=#x>', 'attribute that loads or hides script'],
    ['a declaration', '<!doctype x>', 'comment or declaration that hides markup'],
  ])('%s: %s', (_, value, expected) => expect(detectXss(value)).toBe(expected));
});

test('no detected value is shorter than SHORTEST_XSS', () => {
  expect(detectXss('</`<')).not.toBeNull();
  expect('</`<').toHaveLength(SHORTEST_XSS);
  const octets = [...'aox0 \t\n\0\'"`!?%/<>=:-&;[]\xff'];
  const shorter = octets.flatMap((a) =>
    ['', ...octets].flatMap((b) => ['', ...octets].map((c) => `${a}${b}${c}`)),
  );
  expect(shorter.filter((value) => detectXss(value) !== null)).toEqual([]);
});
