/**
 * Which kinds of octets a text holds, and which of them a transformation must meet to change anything: most texts that come
 * hold none, and most transformations need not run.
 */
import { KIND } from '../../base/octet-kinds.ts';
import { WAF_TRANSFORMATIONS, type WafTransformation } from '../../plan/signature-program.ts';
import { base64Octets } from './base64-decode.ts';

const ALWAYS = -1;

const SPACES = KIND.space | KIND.blank;
const QUOTES = KIND.quote | KIND.apostrophe | KIND.caret;
const COMMENTS = KIND.slash | KIND.star | KIND.hash | KIND.dash | KIND.angle;
const PATH = KIND.slash | KIND.dot | KIND.backslash;

/** The kinds of which a text must hold one for the transformation to change it; `-1`: it may change any text. */
export const CHANGES: Readonly<Record<WafTransformation, number>> = {
  base64Decode: ALWAYS,
  base64DecodeExt: ALWAYS,
  base64Encode: ALWAYS,
  cmdLine: KIND.upper | KIND.backslash | SPACES | KIND.comma | KIND.semicolon | QUOTES,
  compressWhitespace: SPACES | KIND.high,
  cssDecode: KIND.backslash,
  escapeSeqDecode: KIND.backslash,
  hexDecode: ALWAYS,
  hexEncode: ALWAYS,
  htmlEntityDecode: KIND.ampersand,
  jsDecode: KIND.backslash,
  length: ALWAYS,
  lowercase: KIND.upper,
  md5: ALWAYS,
  normalizePath: PATH,
  normalizePathWin: PATH,
  removeComments: COMMENTS,
  removeCommentsChar: COMMENTS,
  removeNulls: KIND.nul,
  removeWhitespace: SPACES | KIND.high,
  replaceComments: KIND.slash,
  replaceNulls: KIND.nul,
  sha1: ALWAYS,
  sqlHexDecode: KIND.digit,
  trim: SPACES | KIND.high,
  trimLeft: SPACES | KIND.high,
  trimRight: SPACES | KIND.high,
  uppercase: KIND.lower,
  urlDecode: KIND.percent | KIND.plus,
  urlDecodeUni: KIND.percent | KIND.plus,
  urlEncode: ALWAYS,
  utf8toUnicode: KIND.high | KIND.nul,
};

/** What a transformation makes of a text's length at most, where it may make the text longer or always makes it shorter. */
export const LENGTH_BEHIND: Readonly<Partial<Record<WafTransformation, (length: number) => number>>> = {
  base64Decode: threeQuarters,
  base64DecodeExt: threeQuarters,
  base64Encode: unbounded,
  hexEncode: unbounded,
  length: unbounded,
  md5: unbounded,
  sha1: unbounded,
  urlEncode: unbounded,
  utf8toUnicode: unbounded,
};

function threeQuarters(length: number): number {
  return Math.floor((length * 3) / 4);
}

function unbounded(): number {
  return Number.POSITIVE_INFINITY;
}

/** The kinds that a transformation may put into a text that has none of them; `-1`: any. */
export const MAKES: Readonly<Record<WafTransformation, number>> = {
  base64Decode: ALWAYS,
  base64DecodeExt: ALWAYS,
  base64Encode: ALWAYS,
  cmdLine: KIND.lower | KIND.space,
  compressWhitespace: KIND.space,
  cssDecode: ALWAYS,
  escapeSeqDecode: ALWAYS,
  hexDecode: ALWAYS,
  hexEncode: ALWAYS,
  htmlEntityDecode: ALWAYS,
  jsDecode: ALWAYS,
  length: KIND.digit,
  lowercase: KIND.lower,
  md5: ALWAYS,
  normalizePath: 0,
  normalizePathWin: KIND.slash,
  removeComments: KIND.space | KIND.nul,
  removeCommentsChar: 0,
  removeNulls: 0,
  removeWhitespace: 0,
  replaceComments: KIND.space,
  replaceNulls: KIND.space,
  sha1: ALWAYS,
  sqlHexDecode: ALWAYS,
  trim: 0,
  trimLeft: 0,
  trimRight: 0,
  uppercase: KIND.upper,
  urlDecode: ALWAYS,
  urlDecodeUni: ALWAYS,
  urlEncode: ALWAYS,
  utf8toUnicode: ALWAYS,
};

const CHANGES_BY_NUMBER = Int32Array.from(WAF_TRANSFORMATIONS, (name) => CHANGES[name]);
const MAKES_BY_NUMBER = Int32Array.from(WAF_TRANSFORMATIONS, (name) => MAKES[name]);
const LENGTHS_BY_NUMBER = WAF_TRANSFORMATIONS.map((name) => LENGTH_BEHIND[name] ?? null);

/** The kinds of octets (`shape.ts`) of which a value needs one for a transformation to change it. */
export function changesOf(transformation: number): number {
  return CHANGES_BY_NUMBER[transformation]!;
}

/** The kinds of octets (`shape.ts`) that a transformation may put into a value that has none of them. */
export function makesOf(transformation: number): number {
  return MAKES_BY_NUMBER[transformation]!;
}

/** Octets that a transformation makes of a value of at most so many, at most. */
export function lengthBehind(transformation: number, length: number): number {
  const behind = LENGTHS_BY_NUMBER[transformation]!;
  return behind === null ? length : behind(length);
}

const BASE64_DECODE = WAF_TRANSFORMATIONS.indexOf('base64Decode');

/** Octets that a transformation makes of a text, at most. */
// PERF: of most words and names Base64 is but a few octets, and seeing that costs less than making them.
export function lengthAhead(transformation: number, text: string): number {
  return transformation === BASE64_DECODE ? base64Octets(text) : lengthBehind(transformation, text.length);
}
