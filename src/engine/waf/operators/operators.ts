/**
 * The operators of SecLang that test one value and need no automaton: `(value, argument) => boolean` over Latin-1 text.
 * `true` means that the operator matches; for those named `validate…`, as in libmodsecurity 3, that the value is invalid.
 * Macros in arguments are expanded already. Arguments that need parsing are parsed once: numbers by `numberOf`, addresses
 * by `prepareIpMatch`, octets by `prepareByteRange`.
 */
import { compareIp, type IpInterval, parseIp, parseIpEntry } from '../../../base/addresses/ip.ts';
import { assert } from '../../../base/diagnostics/assert.ts';
import { escapedOctet } from '../../../base/octets/octets.ts';
import type {
  WAF_NUMBER_OPERATORS,
  WAF_PLAIN_OPERATORS,
  WAF_TEXT_OPERATORS,
  WafDetector,
} from '../../plan/signature-program.ts';
import { codePointOf, hasTail, isDigit, isForbidden, isSpace, isUpper, tailOf } from '../octets/latin1.ts';

// The operator `@beginsWith`: the value begins with the argument, octet for octet.

function beginsWith(value: string, argument: string): boolean {
  return value.startsWith(argument);
}

// The operator `@containsWord`: the argument occurs in the value as a whole word.

/**
 * Whether the argument occurs with no ASCII letter before or after it. As in libmodsecurity a digit ends a word, and an
 * empty argument occurs everywhere.
 */
function containsWord(value: string, argument: string): boolean {
  if (argument === '') return true;
  for (let at = value.indexOf(argument); at >= 0; at = value.indexOf(argument, at + 1)) {
    if (!isLetterAt(value, at - 1) && !isLetterAt(value, at + argument.length)) return true;
  }
  return false;
}

function isLetterAt(value: string, at: number): boolean {
  return isUpper(value.charCodeAt(at) & ~32);
}

// The operators `@contains` and `@strmatch`: the argument occurs in the value; an empty argument always does.

function contains(value: string, argument: string): boolean {
  return value.includes(argument);
}

// The operator `@endsWith`: the value ends with the argument, octet for octet.

function endsWith(value: string, argument: string): boolean {
  return value.endsWith(argument);
}

// The operator `@streq`: the value equals the argument, octet for octet.

function streq(value: string, argument: string): boolean {
  return value === argument;
}

// The operator `@within`: the value occurs in the argument; an empty value always does.

function within(value: string, argument: string): boolean {
  return argument.includes(value);
}

// The operators `@eq`, `@ge`, `@gt`, `@le` and `@lt` over whole numbers; their argument is parsed with `numberOf`.

const MINUS = 45;
const PLUS = 43;

/**
 * Parses the whole number at the start of a text, after white space (C's `atoi`); 0: the text does not start with one.
 * Larger numbers become ±(2⁵³ - 1). ModSecurity's own limits differ between operators (2³¹ in `@eq`, 2⁶³ in others).
 */
export function numberOf(text: string): number {
  let at = 0;
  while (isSpace(text.charCodeAt(at))) at++;
  const sign = text.charCodeAt(at);
  if (sign === MINUS || sign === PLUS) at++;
  let number = 0;
  for (; isDigit(text.charCodeAt(at)); at++) {
    number = Math.min(number * 10 + text.charCodeAt(at) - 48, Number.MAX_SAFE_INTEGER);
  }
  return sign === MINUS && number > 0 ? -number : number;
}

/** `@eq`: the value equals the argument. */
function eq(value: string, argument: number): boolean {
  return numberOf(value) === argument;
}

/** `@ge`: the value is greater than the argument or equal. */
function ge(value: string, argument: number): boolean {
  return numberOf(value) >= argument;
}

/** `@gt`: the value is greater than the argument. */
function gt(value: string, argument: number): boolean {
  return numberOf(value) > argument;
}

/** `@le`: the value is less than the argument or equal. */
function le(value: string, argument: number): boolean {
  return numberOf(value) <= argument;
}

/** `@lt`: the value is less than the argument. */
function lt(value: string, argument: number): boolean {
  return numberOf(value) < argument;
}

// The operator `@validateUrlEncoding`: the value has a malformed percent-encoding (RFC 3986 §2.1).

/** Whether a `%` of the value is not followed by two hexadecimal digits. */
function validateUrlEncoding(value: string): boolean {
  for (let at = value.indexOf('%'); at >= 0; at = value.indexOf('%', at + 3)) {
    if (escapedOctet(value, at) < 0) return true;
  }
  return false;
}

// The operator `@validateUtf8Encoding`: the value is not well-formed UTF-8 (RFC 3629). JSON bodies use it as well.

const LAST_CODE_POINT = 0x10ffff;

/** Whether a sequence of the value is incomplete, longer than necessary, a surrogate or above U+10FFFF (RFC 3629 §3, §4). */
export function validateUtf8Encoding(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const octet = value.charCodeAt(at);
    if (octet < 0x80) continue;
    const tail = tailOf(octet);
    if (tail === 0 || !hasTail(value, at, tail)) return true;
    const code = codePointOf(value, at, tail);
    if (isForbidden(code, tail) || code > LAST_CODE_POINT) return true;
    at += tail;
  }
  return false;
}

type NumberOperator = (typeof WAF_NUMBER_OPERATORS)[number];
type TextOperator = (typeof WAF_TEXT_OPERATORS)[number];
type PlainOperator = Exclude<(typeof WAF_PLAIN_OPERATORS)[number], WafDetector>;

/** Operators that compare the value, as a number, with a number. */
export const NUMBER_OPERATORS: Readonly<
  Record<NumberOperator, (value: string, argument: number) => boolean>
> = { eq, ge, gt, le, lt };

/** Operators that compare the value with a text. */
export const TEXT_OPERATORS: Readonly<Record<TextOperator, (value: string, argument: string) => boolean>> = {
  streq,
  contains,
  containsWord,
  beginsWith,
  endsWith,
  strmatch: contains,
  within,
};

/** Operators without an argument, except the detectors, which are the room `engine/waf/detectors`. */
export const PLAIN_OPERATORS: Readonly<Record<PlainOperator, (value: string) => boolean>> = {
  noMatch: () => false,
  unconditionalMatch: () => true,
  validateUrlEncoding,
  validateUtf8Encoding,
};

// The operator `@ipMatch`: the value is an address in one of a list of addresses and prefixes (RFC 4632, RFC 4291).

/** The argument of an `@ipMatch` as intervals of addresses. */
export type IpIntervals = readonly IpInterval[];

/** Parses addresses, prefixes and ranges; the compiler of the program has refused all other text. */
export function prepareIpMatch(prefixes: readonly string[]): IpIntervals {
  return prefixes.map((text) => {
    const entry = parseIpEntry(text);
    assert(entry.ok, `not an address or prefix: ${text}`);
    return entry;
  });
}

/** The address under test. PERF: one array for all values. */
const words = new Uint32Array(4);

/** Whether the value is an address in one of the intervals; `false` also for text that is not an address. */
export function ipMatch(value: string, intervals: IpIntervals): boolean {
  const family = parseIp(value, words);
  if (family === 0) return false;
  return intervals.some((interval) => interval.family === family && containsAddress(interval));
}

function containsAddress(interval: IpInterval): boolean {
  return compareIp(interval.first, words) <= 0 && compareIp(interval.last, words) >= 0;
}

// The operator `@validateByteRange`: the value has an octet outside the allowed ranges.

/** By octet, 1 if it is allowed, else 0. */
export type AllowedOctets = Uint8Array;

/** Converts the argument: `allowed[octet]` for 256 octets. */
export function prepareByteRange(allowed: readonly boolean[]): AllowedOctets {
  return Uint8Array.from({ length: 256 }, (_, octet) => (allowed[octet] === true ? 1 : 0));
}

/** Whether an octet of the value is not allowed. */
export function validateByteRange(value: string, allowed: AllowedOctets): boolean {
  for (let at = 0; at < value.length; at++) {
    if (allowed[value.charCodeAt(at)] !== 1) return true;
  }
  return false;
}
