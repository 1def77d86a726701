/** The transformation `htmlEntityDecode`: decodes character references of HTML (HTML Standard, "Character references"). */
import { hexValue } from '../../../base/octets/octets.ts';
import { isDigit } from '../octets/latin1.ts';
import { decodeEscapes, NONE, read } from './escapes.ts';

const HASH = 35;
const SEMICOLON = 59;
const LOWER_X = 0x78;

/** The names that ModSecurity decodes; browsers decode all of them without the semicolon too. */
const NAMES: readonly { readonly name: string; readonly octet: number }[] = [
  { name: 'quot', octet: 34 },
  { name: 'amp', octet: 38 },
  { name: 'lt', octet: 60 },
  { name: 'gt', octet: 62 },
  { name: 'nbsp', octet: 160 },
];

/**
 * Replaces numeric references by the lower octet of their code, and `quot`, `amp`, `lt`, `gt` and `nbsp` (in any case) by
 * their octet; the semicolon is optional. Two deviations from libmodsecurity 3.0.13: numbers have any number of digits, as
 * in ModSecurity 2 (there at most two or three, so that leading zeros hide an attack), and the text after a name without
 * semicolon (`&ltscript`) stays, as in browsers and Coraza (there it is removed).
 */
export function htmlEntityDecode(value: string): string {
  return decodeEscapes(value, '&', readReference);
}

/** The `EscapeReader` of `&#NNN`, `&#xHHH` and the names. */
function readReference(value: string, at: number): number {
  if (value.charCodeAt(at + 1) !== HASH) return readName(value, at);
  const hexadecimal = (value.charCodeAt(at + 2) | 32) === LOWER_X;
  const start = at + (hexadecimal ? 3 : 2);
  const base = hexadecimal ? 16 : 10;
  let end = start;
  let code = 0;
  for (; end < value.length; end++) {
    const digit = hexadecimal ? hexValue(value.charCodeAt(end)) : decimalValue(value.charCodeAt(end));
    if (digit < 0) break;
    code = (code * base + digit) & 255;
  }
  return end === start ? NONE : read(code, withSemicolon(value, end) - at);
}

function readName(value: string, at: number): number {
  for (const { name, octet } of NAMES) {
    if (hasName(value, at + 1, name)) return read(octet, withSemicolon(value, at + 1 + name.length) - at);
  }
  return NONE;
}

function hasName(value: string, at: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if ((value.charCodeAt(at + index) | 32) !== name.charCodeAt(index)) return false;
  }
  return true;
}

function decimalValue(code: number): number {
  return isDigit(code) ? code - 48 : -1;
}

/** The end of a reference that ends at `end`, including its semicolon. */
function withSemicolon(value: string, end: number): number {
  return value.charCodeAt(end) === SEMICOLON ? end + 1 : end;
}
