/** Each transformation on inputs of its own. */
import { describe, expect, test } from 'vitest';
import {
  WAF_TRANSFORMATIONS,
  type WafTransformation,
} from '../../../../../src/engine/plan/signature-program.ts';
import { TRANSFORMATIONS } from '../../../../../src/engine/waf/transformations/transformations.ts';

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
