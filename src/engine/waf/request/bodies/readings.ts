/**
 * Further readings of arguments, as applications and pages make them of a request besides its names and values. In: the
 * arguments, and the text that they were split from. Out: members under the names of their arguments, for
 * `ctl:decodeRequestBody`. Never throws; linear in the text.
 *
 * - A query or form that was no list of pairs: `?<x onclick=f()>` is one value to a page that writes it out whole.
 * - Base64 (RFC 4648 §4 and §5) that is text, as links, tokens and cookies carry values.
 * - Text in escapes of JavaScript, `\u003c` or `\x3c`, that a script or a parser of JSON resolves later.
 */
import { hasTail, isAlphanumeric, tailOf } from '../../octets/latin1.ts';
import { base64Decode } from '../../transformations/encodings.ts';
import { jsDecode } from '../../transformations/escapes.ts';
import type { NamedValue } from './parsed-body.ts';

/** Maximum length, in octets, of the rest of a query or form. */
const MAX_REST = 2_048;
/** Maximum length, in octets, of a value that is decoded; longer ones are inspected as they are. */
const MAX_ENCODED = 8_192;
/** Maximum length, in octets, of all values of a list that are decoded: what a request can add to the cost of its inspection. */
const MAX_ALL_ENCODED = 16_384;
/** The shortest Base64 that is read, in characters: the names of people and words are Base64 too. */
const MIN_BASE64 = 16;

/** Octets that are in no name of a field, but in markup, code and conditions. */
const ODD = new Uint8Array(128);
for (const octet of '<>"\'`();|{}\\') ODD[octet.charCodeAt(0)] = 1;

/** Whether a name has octets that names of fields do not have. */
function isOdd(name: string): boolean {
  for (let at = 0; at < name.length; at++) if (ODD[name.charCodeAt(at)] === 1) return true;
  return false;
}

/**
 * The rest of a query or form, as sent, from the first pair on whose name has octets that names of fields do not have; its
 * name is that of the pair. `null`: no pair has such a name, or the pair has no `=` and ends the text.
 *
 * @param pairs the arguments of `text`, in its order
 */
export function unsplit(text: string, pairs: readonly NamedValue[]): NamedValue | null {
  let start = 0;
  for (const { name, value } of pairs) {
    const isLast = text.indexOf('&', start) < 0;
    if (isOdd(name))
      return value === '' && isLast ? null : { name, value: text.slice(start, start + MAX_REST) };
    if (isLast) return null;
    start = text.indexOf('&', start) + 1;
  }
  return null;
}

/**
 * The rest of a Cookie header from the value before its first odd name on, under the name of that value: `;` separates
 * cookies, but also the statements of an attack. `null`: no name is odd.
 */
export function unsplitCookies(cookies: readonly NamedValue[]): NamedValue | null {
  const first = cookies.findIndex(({ name }) => isOdd(name));
  if (first < 0) return null;
  const [start, ...rest] = cookies.slice(Math.max(0, first - 1));
  const texts = rest.map(({ name, value }) => (value === '' ? name : `${name}=${value}`));
  return { name: start!.name, value: [start!.value, ...texts].join('; ').slice(0, MAX_REST) };
}

/** What values are in Base64 or in escapes, under their names. */
export function decodedValues(members: readonly NamedValue[]): readonly NamedValue[] {
  const found: NamedValue[] = [];
  let left = MAX_ALL_ENCODED;
  for (const { name, value } of members) {
    // Without a value the name is one; a single `=` is the padding of Base64.
    const encoded = value === '' || value === '=' ? name : value;
    if (encoded.length > Math.min(left, MAX_ENCODED)) continue;
    const text = base64Text(encoded) ?? unescaped(encoded);
    if (text === null) continue;
    found.push({ name, value: text });
    left -= encoded.length;
  }
  return found;
}

/** The text that a value encodes in Base64; `null`: the value is not Base64, or encodes words or octets that are no text. */
function base64Text(value: string): string | null {
  const { length } = value;
  if (length < MIN_BASE64) return null;
  let end = length;
  while (end > length - 2 && value.charCodeAt(end - 1) === EQUALS) end--;
  if (end % 4 === 1) return null;
  for (let at = 0; at < end; at++) {
    const code = value.charCodeAt(at);
    // A space is a `+` that was not escaped.
    if (
      !isAlphanumeric(code) &&
      code !== PLUS &&
      code !== SLASH &&
      code !== DASH &&
      code !== UNDERSCORE &&
      code !== SPACE
    )
      return null;
  }
  const text = base64Decode(value.replaceAll('-', '+').replaceAll(' ', '+').replaceAll('_', '/'));
  return isTextWithMarks(text) ? text : null;
}

/** Whether all octets are those of a text in UTF-8, and one of them is neither of a word nor white space. */
function isTextWithMarks(text: string): boolean {
  let hasMarks = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 ? code !== 9 && code !== 10 && code !== 13 : code === 127) return false;
    if (code > 127) {
      const tail = tailOf(code);
      if (tail === 0 || !hasTail(text, at, tail)) return false;
      at += tail;
    } else if (code > 32 && !isAlphanumeric(code)) hasMarks = true;
  }
  return hasMarks;
}

/** A value with its escapes resolved; `null`: it has none of a character by its code. */
function unescaped(value: string): string | null {
  for (let at = value.indexOf('\\'); at >= 0; at = value.indexOf('\\', at + 2)) {
    const next = value.charCodeAt(at + 1);
    if (next === LOWER_U || next === LOWER_X) return jsDecode(value);
  }
  return null;
}

const DASH = 45;
const EQUALS = 61;
const LOWER_U = 117;
const LOWER_X = 120;
const PLUS = 43;
const SLASH = 47;
const SPACE = 32;
const UNDERSCORE = 95;
