/**
 * Which kinds of octets a text holds, and which of them a transformation must meet to change anything: most texts that come
 * hold none, and most transformations need not run.
 */
import { KIND, KINDS } from '../../base/octet-kinds.ts';
import type { WafTransformation } from '../../plan/signature-program.ts';

const ALWAYS = -1;

/** The kinds of the first `length` octets, a bit each. */
export function shapeOf(octets: Uint8Array, length: number): number {
  let shape = 0;
  for (let at = 0; at < length; at++) shape |= KINDS[octets[at]!]!;
  return shape;
}

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
