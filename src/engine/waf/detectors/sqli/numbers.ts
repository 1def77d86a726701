/** Reads numbers of all dialects: decimal, hexadecimal, binary, money. */
import { isDigit, isHexDigit, isInWord, isSpace } from './characters.ts';
import { BAREWORD, DOT, NUMBER } from './kinds.ts';
import type { Scan } from './scan.ts';
import { take } from './scan.ts';

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
export function readMoney(scan: Scan): boolean {
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
