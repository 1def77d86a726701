import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  fromCharset,
  isUnchanged,
  xmlEncoding,
} from '../../../../../../src/engine/waf/request/bodies/charsets.ts';
import { ibm037, utf7, utf16 } from '../../../../../support/traffic/placements.ts';
import { utf8 } from './body-cases.ts';

const latin1 = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1');

describe('a text in another charset becomes UTF-8', () => {
  const ascii = fc.string({ unit: 'binary-ascii' }).map((text) => text.replace(/[^ -~]/g, ''));

  test('UTF-16 and UTF-7 have the text that was written in them', () => {
    const unicode = fc.string({
      unit: fc.integer({ min: 1, max: 0xd7ff }).map((code) => String.fromCharCode(code)),
    });
    fc.assert(
      fc.property(unicode, (text) => {
        expect(fromCharset(latin1(utf16(text)), 'utf-16le')).toBe(utf8(text));
        expect(fromCharset(latin1(utf16(text, true)), 'utf-16be')).toBe(utf8(text));
        expect(fromCharset(utf7(text), 'utf-7')).toBe(utf8(text));
      }),
    );
  });

  test('UTF-16 without a stated order has the text, if it is mostly ASCII', () => {
    fc.assert(
      fc.property(
        ascii.filter((text) => text !== ''),
        fc.boolean(),
        (text, bigEndian) => {
          expect(fromCharset(latin1(utf16(`\u0101${text}a`, bigEndian)), 'utf-16')).toBe(
            utf8(`\u0101${text}a`),
          );
          expect(fromCharset(latin1(utf16(`\ufeff${text}`, bigEndian)), 'unicode')).toBe(text);
        },
      ),
    );
  });

  test('IBM037 has the text that was written in it', () => {
    fc.assert(
      fc.property(ascii, (text) => {
        expect(fromCharset(latin1(ibm037(text)), 'ibm037')).toBe(text);
      }),
    );
  });

  test.each([
    ['ibm500', '\x4a\x5a\x4f\x5f', '[]!^'],
    ['cp1047', '\xad\xbd\x5f\xc0', '[]^{'],
    ['ibm1140', '\xba\xbb\xb0', '[]^'],
    ['utf-7', '+ADw-a+AD4', '<a>'],
    ['utf-7', '+-+', '+'],
    ['utf-7', 'a+2aaa', `a${utf8('\ud9a6')}`],
    ['utf-7', '+AGEAYg', 'ab'],
    ['iso-8859-15', '<\xe9', utf8('<é')],
    ['windows-1251', '<\xe9', utf8('<é')],
    ['utf-32be', '\0\0\0<', '<'],
    ['gbk', '<\xe9', '<\xe9'],
  ])('%s: %j is %j', (label, text, expected) => {
    expect(fromCharset(text, label)).toBe(expected);
  });

  test('one that is not supported has none', () => {
    for (const label of ['iso-2022-jp', 'hz-gb-2312', 'x', '']) expect(fromCharset('a', label)).toBeNull();
    expect(isUnchanged('utf-8')).toBe(true);
    expect(isUnchanged('utf-7')).toBe(false);
  });
});

describe('the encoding of an XML declaration', () => {
  test.each([
    ['<?xml version="1.0" encoding="UTF-7"?><a/>', 'utf-7'],
    ["<?xml encoding = 'x' ?>", 'x'],
    [latin1(utf16('<?xml encoding="utf-16"?>')), 'utf-16'],
    [latin1(ibm037('<?xml version="1.0" encoding="ibm500"?>')), 'ibm500'],
    [latin1(ibm037('<?xml version="1.0"?>')), 'ibm037'],
    ['<?xml version="1.0"?><a encoding="x"/>', null],
    ['<?xml encoding="x', null],
    ['<a/>', null],
    ['', null],
  ])('of %j is %j', (text, expected) => {
    expect(xmlEncoding(text)).toBe(expected);
  });
});
