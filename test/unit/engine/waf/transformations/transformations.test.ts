/** Each transformation on inputs of its own. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KIND_BITS, KINDS } from '../../../../../src/base/octets/octet-kinds.ts';
import {
  WAF_TRANSFORMATIONS,
  type WafTransformation,
} from '../../../../../src/engine/plan/signature-program.ts';
import { factsOf } from '../../../../../src/engine/waf/octets/octet-buffer.ts';
import {
  CHANGES,
  LENGTH_BEHIND,
  lengthAhead,
  MAKES,
  TRANSFORMATIONS,
} from '../../../../../src/engine/waf/transformations/transformations.ts';
import { countTextWork } from '../../../../support/count-text-work.ts';

type Case = readonly [input: string, output: string];

const CASES: Readonly<Record<Exclude<WafTransformation, 'sha1' | 'md5'>, readonly Case[]>> = {
  base64Decode: [
    ['PHNjcmlwdD4=', '<script>'],
    ['PHNjcmlwdD4', '<script>'],
    ['PHNj\r\ncmlwdD4=', '<script>'],
    ['PHNjcml', '<scri'],
    ['PHNj!cmlwdD4=', '<sc'],
    ['PHNj=cmlwdD4=', '<sc'],
    ['P', ''],
    ['!', ''],
    ['', ''],
  ],
  base64DecodeExt: [
    ['PHNj.cml wdD4=', '<script>'],
    ['P-H\xffNj==cmlwdD4=', '<script>'],
    ['.', ''],
  ],
  base64Encode: [
    ['', ''],
    ['\xff\xfe', '//4='],
  ],
  cmdLine: [
    ['plain', 'plain'],
    ['C^md.ex"e" /c d\\ir', 'cmd.exe/c dir'],
    ['wget,;  x\t\r\ny', 'wget x y'],
    ['type  (a', 'type(a'],
    ["l's' \"/etc", 'ls/etc'],
    ['a \v b', 'a \v b'],
    ['\xc4\xd6', '\xc4\xd6'],
    [' a', ' a'],
  ],
  compressWhitespace: [
    ['a b', 'a b'],
    [' a \t\n b\v', ' a b '],
    ['a\tb', 'a b'],
    ['a\xa0 b', 'a\xa0 b'],
  ],
  cssDecode: [
    ['no escape', 'no escape'],
    ['\\6a\\61 vascript', 'javascript'],
    ['j\\00006avascript', 'jjvascript'],
    ['\\0000410', 'A0'],
    ['\\00ff1c', '<'],
    ['\\1ff1c', '\x1c'],
    ['\\ff1c b', '<b'],
    ['\\x\\y', 'xy'],
    ['a\\\nb', 'ab'],
    ['a\\', 'a'],
    ['\\\\', '\\'],
  ],
  escapeSeqDecode: [
    ['\\a\\b\\f\\n\\r\\t\\v', '\x07\b\f\n\r\t\v'],
    ['\\\\\\?\\\'\\"', '\\?\'"'],
    ['\\x41\\X42\\xg', 'ABxg'],
    ['\\101\\60\\777\\8', 'A0\xff8'],
    ['c\\at', 'c\x07t'],
    ['end\\', 'end\\'],
  ],
  hexDecode: [
    ['48656C6c6f', 'Hello'],
    ['486', 'H'],
    ['4', ''],
  ],
  hexEncode: [['\x00\xffA', '00ff41']],
  htmlEntityDecode: [
    ['&lt;script&gt;', '<script>'],
    ['&LT;&Amp;&QUOT;&nbsp;', '<&"\xa0'],
    ['&ltscript', '<script'],
    ['&#60;&#x3C;&#X3c', '<<<'],
    ['&#0000000060;&#x000000003c;', '<<'],
    ['&#316;', '<'],
    ['&#;&#x;&#xg&amp', '&#;&#x;&#xg&'],
    ['&copy;&', '&copy;&'],
    ['&&lt;', '&<'],
    ['&amp;lt;', '&lt;'],
  ],
  jsDecode: [
    ['\\u003cscript\\u003E', '<script>'],
    ['\\uff1c\\uFF00\\uff5f', '<\0\x5f'],
    ['\\x3c\\X3c', '<X3c'],
    ['\\74\\074\\0741\\477', "<<<1'7"],
    ['\\a\\b\\f\\n\\r\\t\\v\\q\\\\', '\x07\b\f\n\r\t\vq\\'],
    ['\\u00', 'u00'],
    ['end\\', 'end\\'],
  ],
  length: [
    ['', '0'],
    ['a\0\xff', '3'],
  ],
  lowercase: [
    ['ÀBC[', 'Àbc['],
    ['abc', 'abc'],
  ],
  normalizePath: [
    ['/a/b', '/a/b'],
    ['/a//b/./c/../d', '/a/b/d'],
    ['/../../etc/passwd', '/etc/passwd'],
    ['../../etc', '../../etc'],
    ['a/../../b', '../b'],
    ['./a/.', 'a'],
    ['/a/b/..', '/a'],
    ['/a/b/../', '/a/'],
    ['/a/..', ''],
    ['/a/../', '/'],
    ['//', '/'],
    ['.', ''],
    ['', ''],
    ['/.hidden/..name/name../...', '/.hidden/..name/name../...'],
  ],
  normalizePathWin: [
    ['\\a\\..\\b', '/b'],
    ['/a\\./b\\\\c', '/a/b/c'],
    ['c:\\windows\\', 'c:/windows/'],
  ],
  removeComments: [
    ['a/* b */c', 'ac'],
    ['a<!-- b -->c', 'ac'],
    ['a/* b', 'a '],
    ['a -- b', 'a '],
    ['a # b', 'a '],
    ['a/**/', 'a\0'],
    ['a/*1*//*2*/', 'a/*2*/'],
    ['a - b', 'a - b'],
  ],
  removeCommentsChar: [
    ['a/*b*/c<!--d-->e--f#g', 'abcdefg'],
    ['a-b*c/d<!-e', 'a-b*c/d<!-e'],
    ['/*/', '/'],
  ],
  removeNulls: [
    ['a\0b\0', 'ab'],
    ['ab', 'ab'],
  ],
  removeWhitespace: [
    [' a\t\n\v\f\rb\xa0c\xc2\xa0d', 'abcd'],
    ['ab\x85', 'ab\x85'],
  ],
  replaceComments: [
    ['sel/*x*/ect/**/1', 'sel ect 1'],
    ['a/*b', 'a '],
    ['a*/b/', 'a*/b/'],
    ['/*/x', ' '],
  ],
  replaceNulls: [
    ['a\0b', 'a b'],
    ['ab', 'ab'],
  ],
  sqlHexDecode: [
    ['0x414243 or 0X44', 'ABC or D'],
    ['0x414', 'A4'],
    ['0x4', '0x4'],
    ['00x41g', '0Ag'],
    ['10', '10'],
  ],
  trim: [
    [' \t a b\n', 'a b'],
    ['\xa0', '\xa0'],
    [' ', ''],
  ],
  trimLeft: [[' a ', 'a ']],
  trimRight: [[' a ', ' a']],
  uppercase: [
    ['abcß{', 'ABCß{'],
    ['ABC', 'ABC'],
  ],
  urlDecode: [
    ['%3Cscript%3e+x', '<script> x'],
    ['%', '%'],
    ['%4', '%4'],
    ['%zz%2541', '%zz%41'],
    ['%u0041', '%u0041'],
    ['%00%ff', '\0\xff'],
    ['plain', 'plain'],
  ],
  urlDecodeDeep: [
    ['a+b%2541%252541', 'a bAA'],
    ['%25252541', '%41'],
    ['%%34%31+%2b', 'A +'],
    ['%c0%ae%e0%80%ae%f0%80%80%ae%f8%80%80%80%ae%fc%80%80%80%80%ae', '.....'],
    ['\xef\xbc\x9cscript\xef\xbc\x9e', '<script>'],
    ['..%u2215..%u2216%uff0e', '../..\\.'],
    ['\xe2\x88\x95\xe2\x81\x84', '//'],
    [
      'caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xe6\x97\xa5 100%',
      'caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xe6\x97\xa5 100%',
    ],
    ['\xc0', '\xc0'],
  ],
  urlDecodeUni: [
    ['%3Cscript%3e+x', '<script> x'],
    ['%u003c%U003E', '<>'],
    ['%uff1cscript%uFF1E', '<script>'],
    ['%u2018%u02b9%u2039%u2026', "''<."],
    ['%u00c0%u0141%u00df%u4e3c', 'AL\xdf<'],
    ['%u00', '%u00'],
    ['%uzzzz%', '%uzzzz%'],
    ['%u%3c', '%u<'],
    ['50% off', '50% off'],
  ],
  urlEncode: [
    ['a b*c', 'a+b*c'],
    ['/~\xff', '%2f%7e%ff'],
    ['abc', 'abc'],
  ],
  utf8toUnicode: [
    ['plain', 'plain'],
    ['\xef\xbc\x9cb', '%uff1cb'],
    ['\xc3\xa9', '%u00e9'],
    ['\xf0\x9f\x98\x80', '%u1f600'],
    ['\xc0\xbc', '%u003c\xc0'],
    ['\xed\xa0\x80', '%ud800\xed'],
    ['a\xc3b\xe2\x82c', 'ab\x82c'],
    ['\x80\xff', '\x80\xff'],
    ['a\0b\0', 'ab\0'],
  ],
};

describe.each(Object.entries(CASES))('%s', (name, cases) => {
  test.each(cases)('%j becomes %j', (input, output) => {
    expect(TRANSFORMATIONS[name as WafTransformation](input)).toBe(output);
  });
});

test('every transformation of the contract has a function', () => {
  expect(Object.keys(TRANSFORMATIONS).sort()).toEqual([...WAF_TRANSFORMATIONS].sort());
});

test('the chains of CRS decode UTF-8 full width, percent-encoding, entities and escapes', () => {
  const { utf8toUnicode, urlDecodeUni, htmlEntityDecode, jsDecode } = TRANSFORMATIONS;
  const chain = (value: string) => jsDecode(htmlEntityDecode(urlDecodeUni(utf8toUnicode(value))));
  expect(chain('\xef\xbc\x9csvg%20onload%3D&quot;\\u0061lert%u0028)')).toBe('<svg onload="alert()');
});

test('every octet has one kind, and every kind has an octet', () => {
  expect(new Set(KINDS)).toEqual(new Set(KIND_BITS));
  expect(KIND_BITS).toHaveLength(32);
});

describe('a transformation does not change a text without the kinds in CHANGES', () => {
  test.each(WAF_TRANSFORMATIONS.filter((name) => CHANGES[name] !== -1))('%s', (name) => {
    const harmless = Array.from({ length: 256 }, (_, octet) => octet).filter(
      (octet) => (KINDS[octet]! & CHANGES[name]) === 0,
    );
    expect(harmless.length).toBeGreaterThan(64);
    const texts = fc
      .array(fc.constantFrom(...harmless), { maxLength: 60 })
      .map((octets) => String.fromCharCode(...octets));
    fc.assert(
      fc.property(texts, (text) => {
        expect(factsOf(text).shape & CHANGES[name]).toBe(0);
        expect(TRANSFORMATIONS[name](text)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the result of a transformation has no kinds but those of its input and of MAKES', () => {
  test.each(WAF_TRANSFORMATIONS.filter((name) => MAKES[name] !== -1))('%s', (name) => {
    const octets = fc.oneof(
      fc.constantFrom(...Array.from('aZ9 \t\0/*\\.-#<>!\'",;(^', (one) => one.charCodeAt(0))),
      fc.integer({ min: 0, max: 255 }),
    );
    const texts = fc.array(octets, { maxLength: 24 }).map((all) => String.fromCharCode(...all));
    fc.assert(
      fc.property(texts, (text) => {
        const before = factsOf(text).shape;
        const made = TRANSFORMATIONS[name](text);
        expect(factsOf(made).shape & ~(before | MAKES[name])).toBe(0);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the result of a transformation is no longer than lengthAhead', () => {
  test.each(WAF_TRANSFORMATIONS)('%s', (name) => {
    const pieces = fc.oneof(
      fc.constantFrom(
        ...'/ . .. ./ // /a/../ \\ %41 %u0041 \\x41 \\41 &#65; &lt 0x41 /* */ -- <!-- ^" \t YWJj'.split(' '),
      ),
      fc.constantFrom('\0', '\xe2\x80\x98', '\xff', ' ', '\r\n', '=', '1', 'A'),
    );
    const texts = fc.array(pieces, { maxLength: 12 }).map((all) => all.join(''));
    const bound = LENGTH_BEHIND[name] ?? ((length: number): number => length);
    fc.assert(
      fc.property(texts, (text) => {
        const { length } = TRANSFORMATIONS[name](text);
        expect(length).toBeLessThanOrEqual(bound(text.length));
        expect(length).toBeLessThanOrEqual(lengthAhead(WAF_TRANSFORMATIONS.indexOf(name), text));
      }),
      { numRuns: 2_000 },
    );
  });
});

// What holds for every transformation: bounded work, octets in and out, once is enough where the manual means it so.

/** Octets that some transformation treats specially, and some that none does. */
const MARKS = '%u+0fF1\\xn\'"&#;ltgtampquotnbsp/*<!--->. \t\r\n\0aZ,^(=\xa0\xc2\xc3\xe2\x82\xac\xf0\x9f\xff';
const text = fc.string({ unit: fc.constantFrom(...MARKS), maxLength: 40 });

/** Applying these a second time changes nothing. */
const IDEMPOTENT: readonly WafTransformation[] = [
  'cmdLine',
  'compressWhitespace',
  'lowercase',
  'normalizePath',
  'normalizePathWin',
  'removeNulls',
  'removeWhitespace',
  'replaceNulls',
  'trim',
  'trimLeft',
  'trimRight',
  'uppercase',
];

/** Inputs that make naive versions read the same text again and again. */
const HOSTILE = [
  '%',
  '%u',
  '%u12',
  '+%+',
  '\\',
  '\\x',
  '\\12',
  '\\00000',
  '&',
  '&#',
  '&#0',
  '&#x',
  '&lt',
  '/',
  '../',
  'a/../',
  'a/',
  '/*',
  '*/',
  '<!-',
  '<!--',
  '-',
  '#',
  '0x',
  '0x4',
  ' ',
  '" ',
  '\0',
  '\xc3',
  '\xe2\x82',
  '\xf0\x9f\x98\x80',
  'A',
  'a',
  '=',
];

/** Characters read for each character of input, at most: transformations read some twice to see whether to begin. */
const MOST_READS = 40;

describe.each(WAF_TRANSFORMATIONS)('%s', (name) => {
  const transform = TRANSFORMATIONS[name];

  test('returns Latin-1 text', () => {
    fc.assert(
      fc.property(text, (value) => {
        for (const character of transform(value)) expect(character.codePointAt(0)).toBeLessThan(256);
      }),
    );
  });

  test('does linear work on repetitive inputs', () => {
    for (const piece of HOSTILE) {
      for (const tail of ['', 'x']) {
        const value = piece.repeat(Math.ceil(65_536 / piece.length)) + tail;
        const work = countTextWork(() => transform(value));
        expect(work / value.length, JSON.stringify(piece)).toBeLessThan(MOST_READS);
      }
    }
  });

  test('does not depend on earlier transformations', () => {
    fc.assert(
      fc.property(text, text, (value, other) => {
        const alone = transform(value);
        transform(other.repeat(300));
        expect(transform(value)).toBe(alone);
      }),
    );
  });
});

test.each(IDEMPOTENT)('%s is idempotent: twice is %s once', (name) => {
  const transform = TRANSFORMATIONS[name];
  fc.assert(
    fc.property(text, (value) => {
      const once = transform(value);
      expect(transform(once)).toBe(once);
    }),
  );
});

test('the work counter detects a quadratic function', () => {
  const value = 'ab'.repeat(500);
  const quadratic = (): void => {
    for (let at = 0; at < value.length; at++) value.indexOf('c', at);
  };
  expect(countTextWork(quadratic) / value.length).toBeGreaterThan(MOST_READS);
});
