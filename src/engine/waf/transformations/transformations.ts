/**
 * The transformations of SecLang by name: `(value) => value` over Latin-1 text, as ModSecurity's reference manual (v3.x,
 * "Transformation functions"), its published tests and libmodsecurity 3 define them; the file of a family states each
 * deviation and its reason. A transformation takes linear time and returns the same string when there is nothing to
 * change.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { WAF_TRANSFORMATIONS, type WafTransformation } from '../../plan/signature-program.ts';
import { removeComments, removeCommentsChar, replaceComments } from './comments.ts';
import { md5, sha1 } from './digests.ts';
import {
  base64Decode,
  base64DecodeExt,
  base64Encode,
  base64Octets,
  hexDecode,
  hexEncode,
  sqlHexDecode,
} from './encodings.ts';
import { cssDecode, escapeSeqDecode, htmlEntityDecode, jsDecode } from './escapes.ts';
import { cmdLine, normalizePath, normalizePathWin } from './paths.ts';
import { urlDecode, urlDecodeDeep, urlDecodeUni, urlEncode, utf8toUnicode } from './percent-encoding.ts';
import {
  compressWhitespace,
  length,
  lowercase,
  removeNulls,
  removeWhitespace,
  replaceNulls,
  trim,
  trimLeft,
  trimRight,
  uppercase,
} from './texts.ts';

/** By name, the function of a transformation. */
export const TRANSFORMATIONS: Readonly<Record<WafTransformation, (value: string) => string>> = {
  base64Decode,
  base64DecodeExt,
  base64Encode,
  cmdLine,
  compressWhitespace,
  cssDecode,
  escapeSeqDecode,
  hexDecode,
  hexEncode,
  htmlEntityDecode,
  jsDecode,
  length,
  lowercase,
  md5,
  normalizePath,
  normalizePathWin,
  removeComments,
  removeCommentsChar,
  removeNulls,
  removeWhitespace,
  replaceComments,
  replaceNulls,
  sha1,
  sqlHexDecode,
  trim,
  trimLeft,
  trimRight,
  uppercase,
  urlDecode,
  urlDecodeDeep,
  urlDecodeUni,
  urlEncode,
  utf8toUnicode,
};

// The effects of each transformation on a text, known before it runs: which kinds of octets it changes, which it can
// produce, how long the result can be. Most values have no octet that a transformation changes, so that most
// transformations are skipped.

const ALWAYS = -1;

const SPACES = KIND.space | KIND.blank;
const QUOTES = KIND.quote | KIND.apostrophe | KIND.caret;
const COMMENTS = KIND.slash | KIND.star | KIND.hash | KIND.dash | KIND.angle;
const PATH = KIND.slash | KIND.dot | KIND.backslash;

/** The kinds of octets that a transformation changes: a text without any of them stays as it is. `-1`: all kinds. */
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
  urlDecodeDeep: KIND.percent | KIND.plus | KIND.high,
  urlDecodeUni: KIND.percent | KIND.plus,
  urlEncode: ALWAYS,
  utf8toUnicode: KIND.high | KIND.nul,
};

/**
 * The longest result for a text of so many octets, of transformations that can lengthen a text or always shorten it; the
 * others never lengthen it.
 */
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

/** The kinds of octets that a transformation can add to a text that has none of them; `-1`: all kinds. */
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
  urlDecodeDeep: ALWAYS,
  urlDecodeUni: ALWAYS,
  urlEncode: ALWAYS,
  utf8toUnicode: ALWAYS,
};

const CHANGES_BY_NUMBER = Int32Array.from(WAF_TRANSFORMATIONS, (name) => CHANGES[name]);
const MAKES_BY_NUMBER = Int32Array.from(WAF_TRANSFORMATIONS, (name) => MAKES[name]);
const LENGTHS_BY_NUMBER = WAF_TRANSFORMATIONS.map((name) => LENGTH_BEHIND[name] ?? null);

/** `CHANGES` of a transformation by its place in `WAF_TRANSFORMATIONS`. */
export function changesOf(transformation: number): number {
  return CHANGES_BY_NUMBER[transformation]!;
}

/** `MAKES` of a transformation by its place in `WAF_TRANSFORMATIONS`. */
export function makesOf(transformation: number): number {
  return MAKES_BY_NUMBER[transformation]!;
}

/** The longest result of a transformation (its place in `WAF_TRANSFORMATIONS`) for values of at most `length` octets. */
export function lengthBehind(transformation: number, length: number): number {
  const behind = LENGTHS_BY_NUMBER[transformation]!;
  return behind === null ? length : behind(length);
}

const BASE64_DECODE = WAF_TRANSFORMATIONS.indexOf('base64Decode');

/** The longest result of a transformation (its place in `WAF_TRANSFORMATIONS`) for this text, in octets. */
// PERF: most words decode as Base64 to a few octets only; counting these costs less than decoding them.
export function lengthAhead(transformation: number, text: string): number {
  return transformation === BASE64_DECODE ? base64Octets(text) : lengthBehind(transformation, text.length);
}
