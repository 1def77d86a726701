/** Reads literals of all dialects: strings and quoted names with their prefixes, numbers, money. */
import { kindOf, lookUp } from './lexicon.ts';
import {
  BAREWORD,
  CLOSED,
  DOT,
  EMPTY,
  FUNCTION,
  isDigit,
  isHexDigit,
  isInWord,
  isLetter,
  isSpace,
  NUMBER,
  OPENED,
  type Scan,
  STRING,
  TICK,
  take,
} from './scan.ts';

const SINGLE = 0x27;
const DOUBLE = 0x22;
const BACKQUOTE = 0x60;

/** PostgreSQL truncates identifiers, and thus the tags of dollar quotes, at 63 octets. */
const LONGEST_TAG = 63;

/** Reads the quoted token at `scan.at`. */
export function readQuoted(scan: Scan, quote: number): true {
  if (quote === BACKQUOTE) return readBackquoted(scan);
  scan.at++;
  readRest(scan, quote);
  scan.flags |= OPENED;
  return true;
}

/** Reads the rest of a string whose opening quote is before `scan.at`, in the value or assumed. */
export function readRest(scan: Scan, quote: number): true {
  const { text, at } = scan;
  const close = closingQuote(text, at, quote);
  scan.kind = STRING;
  scan.flags = (close < 0 ? 0 : CLOSED) | (close === at || at === text.length ? EMPTY : 0);
  scan.at = close < 0 ? text.length : close + 1;
  return true;
}

/** The place of the closing quote: not doubled, and not after an odd number of backslashes; -1: absent. */
function closingQuote(text: string, from: number, quote: number): number {
  const mark = quote === SINGLE ? "'" : quote === DOUBLE ? '"' : '`';
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
    let slashes = at;
    while (slashes > from && text.charCodeAt(slashes - 1) === 0x5c) slashes--;
    if (((at - slashes) & 1) === 1) continue;
    if (text.charCodeAt(at + 1) !== quote) return at;
    at++;
  }
  return -1;
}

/** Reads a name in backquotes; the name of a function is a function, since MySQL allows `` `version`() ``. */
function readBackquoted(scan: Scan): true {
  scan.at++;
  const start = scan.at;
  readRest(scan, BACKQUOTE);
  const end = scan.at - ((scan.flags & CLOSED) === 0 ? 0 : 1);
  const word = lookUp(scan.text, start, end);
  scan.kind = kindOf(word) === FUNCTION ? FUNCTION : BAREWORD;
  scan.word = scan.kind === FUNCTION ? word : 0;
  scan.flags |= TICK | OPENED;
  return true;
}

/**
 * Reads a string with letters before the quote: `b'01'`, `x'ff'` (numbers), `e''`, `n''`, `u&''`, Oracle's `q'(…)'` and
 * `nq'(…)'`. `false`: the letter begins a word, and nothing is read.
 */
export function readPrefixed(scan: Scan, code: number): boolean {
  const { text, at } = scan;
  const next = text.charCodeAt(at + 1);
  switch (code | 0x20) {
    case 0x62: // b
      return next === SINGLE && readDigits(scan, false);
    case 0x78: // x
      return next === SINGLE && readDigits(scan, true);
    case 0x65: // e
      return next === SINGLE && readAfter(scan, 2);
    case 0x6e: // n
      if ((next | 0x20) === 0x71 && text.charCodeAt(at + 2) === SINGLE) return readOracle(scan, 3);
      return next === SINGLE && readAfter(scan, 2);
    case 0x71: // q
      return next === SINGLE && readOracle(scan, 2);
    case 0x75: // u
      return next === 0x26 && text.charCodeAt(at + 2) === SINGLE && readWhole(scan, 3);
    default:
      return false;
  }
}

/** Reads the string that begins `length` characters on; a quote at the end of the value stays for a string of its own. */
function readAfter(scan: Scan, length: number): boolean {
  return scan.at + length < scan.text.length && readWhole(scan, length);
}

/** Reads the string that begins `length` characters on. */
function readWhole(scan: Scan, length: number): boolean {
  scan.at += length;
  readRest(scan, SINGLE);
  scan.flags |= OPENED;
  return true;
}

/** Reads `b'01'` or `x'ff'`; `false`: other characters are in the quotes, and nothing is read. */
function readDigits(scan: Scan, hex: boolean): boolean {
  const { text, at } = scan;
  let end = at + 2;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (!(hex ? isHexDigit(code) : code === 0x30 || code === 0x31)) break;
  }
  if (text.charCodeAt(end) !== SINGLE) return false;
  take(scan, NUMBER, end + 1 - at);
  return true;
}

/** Reads `q'!…!'`: the character after the quote, or its closing bracket, followed by a quote ends the string. */
function readOracle(scan: Scan, length: number): boolean {
  const { text, at } = scan;
  const open = text.charCodeAt(at + length);
  if (!(open > 0x20)) return false;
  const pair = '([{<'.indexOf(String.fromCharCode(open));
  const end = `${pair < 0 ? String.fromCharCode(open) : ')]}>'.charAt(pair)}'`;
  const close = text.indexOf(end, at + length + 1);
  scan.kind = STRING;
  scan.flags = OPENED | (close < 0 ? 0 : CLOSED);
  scan.at = close < 0 ? text.length : close + 2;
  return true;
}

/** Reads money (`$1,000.00`), PostgreSQL's `$tag$…$tag$`, or a dollar sign as a name. */
export function readDollar(scan: Scan): true {
  if (readMoney(scan)) return true;
  const { text, at } = scan;
  let end = at + 1;
  while (end < text.length && end - at <= LONGEST_TAG && isLetter(text.charCodeAt(end))) end++;
  if (text.charCodeAt(end) !== 0x24) return take(scan, BAREWORD, 1);
  const close = closingTag(text, at, end + 1);
  scan.kind = STRING;
  scan.flags = OPENED | (close < 0 ? 0 : CLOSED);
  scan.at = close < 0 ? text.length : close + (end + 1 - at);
  return true;
}

/** The next place of the tag `text[start, end)`; -1: absent. */
function closingTag(text: string, start: number, end: number): number {
  const length = end - start;
  for (let at = text.indexOf('$', end); at >= 0; at = text.indexOf('$', at + 1)) {
    let same = 1;
    // PERF: a tag has no dollar inside, so a comparison never goes past the next candidate and the search stays linear
    while (same < length && text.charCodeAt(at + same) === text.charCodeAt(start + same)) same++;
    if (same === length) return at;
  }
  return -1;
}

// Reads numbers of all dialects: decimal, hexadecimal, binary, money.

/** Reads the number, or the dot, at `scan.at`; with an exponent without digits it is a name: MySQL's `1.e.column`. */
export function readNumber(scan: Scan): true {
  const { text, at } = scan;
  if (text.charCodeAt(at) === 0x30 && readBased(scan)) return true;
  let end = digits(text, at);
  if (text.charCodeAt(end) === 0x2e) {
    end = digits(text, end + 1);
    if (end === at + 1) return take(scan, DOT, 1);
  }
  if ((text.charCodeAt(end) | 0x20) === 0x65) {
    const sign = text.charCodeAt(end + 1);
    const exponent = end + (sign === 0x2b || sign === 0x2d ? 2 : 1);
    const last = digits(text, exponent);
    if (last === exponent) return take(scan, BAREWORD, exponent - at);
    end = last;
  }
  return take(scan, NUMBER, end + suffix(text, end) - at);
}

/** The place after the digits at `from`. */
function digits(text: string, from: number): number {
  let end = from;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

/** Reads `0x1F` or `0b01`, without a digit as a name; `false`: it is neither, and nothing is read. */
function readBased(scan: Scan): boolean {
  const { text, at } = scan;
  const letter = text.charCodeAt(at + 1) | 0x20;
  if (letter !== 0x78 && letter !== 0x62) return false;
  let end = at + 2;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (!(letter === 0x78 ? isHexDigit(code) : code === 0x30 || code === 0x31)) break;
  }
  take(scan, end === at + 2 ? BAREWORD : NUMBER, end - at);
  return true;
}

/** The length of Oracle's suffix `f` or `d`: 0 if a word begins there, except in `1Funion`, a number and `UNION`. */
function suffix(text: string, at: number): number {
  const letter = text.charCodeAt(at) | 0x20;
  if (letter !== 0x66 && letter !== 0x64) return 0;
  if (at + 1 >= text.length) return 1;
  const next = text.charCodeAt(at + 1);
  if (isSpace(next) || next === 0x3b || (next | 0x20) === 0x75) return 1;
  return isInWord(next) ? 0 : 1;
}

/** Reads T-SQL's `$1.00`; `false`: the dollar sign begins another token, and nothing is read. */
function readMoney(scan: Scan): boolean {
  const { text, at } = scan;
  let end = at + 1;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (!isDigit(code) && code !== 0x2e && code !== 0x2c) break;
  }
  if (end === at + 1) return false;
  const isPath = end === at + 2 && text.charCodeAt(at + 1) === 0x2e;
  if (isPath)
    while (end < text.length && isInWord(text.charCodeAt(end)) && text.charCodeAt(end) !== 0x60) end++;
  take(scan, isPath ? BAREWORD : NUMBER, end - at);
  return true;
}
