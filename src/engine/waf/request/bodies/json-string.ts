/** Reads one JSON string (RFC 8259 §7), also a malformed one, so that signatures inspect its content. */
import { hexUnit } from '../../octets/latin1.ts';
import { utf8Text } from '../../octets/utf8.ts';

const QUOTE = 34;
const BACKSLASH = 92;
const LOWER_U = 117;

/** By letter after a backslash, the character (RFC 8259 §7). */
const ESCAPES = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, text]) => [letter.charCodeAt(0), text],
  ),
);

/** A string that was read. */
export interface JsonString {
  /** Decoded; characters of escapes are in UTF-8. */
  readonly value: string;
  /** The place after the closing quote, or the end of the text. */
  readonly end: number;
  /** Whether there is a closing quote. */
  readonly closed: boolean;
  /** The first error, a predicate of `the string at octet …`; `null`: none. */
  readonly problem: string | null;
}

/** Reads the string whose opening quote is at `start`; copies an invalid escape as it is. */
export function readJsonString(text: string, start: number): JsonString {
  let value = '';
  let problem: string | null = null;
  let from = start + 1;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return { value: value + text.slice(from, at), end: at + 1, closed: true, problem };
    if (code < 32) problem ??= 'holds a control character';
    if (code !== BACKSLASH) {
      at++;
      continue;
    }
    const found = readEscape(text, at);
    if (found === null) {
      problem ??= 'holds an invalid escape';
      at += 2;
      continue;
    }
    value += text.slice(from, at) + found.text;
    at = found.end;
    from = at;
  }
  return { value: value + text.slice(from), end: text.length, closed: false, problem };
}

/** Reads the escape at `at`, a surrogate pair as one; `null`: it is invalid. */
function readEscape(text: string, at: number): { readonly text: string; readonly end: number } | null {
  const letter = text.charCodeAt(at + 1);
  const simple = ESCAPES.get(letter);
  if (simple !== undefined) return { text: simple, end: at + 2 };
  const unit = letter === LOWER_U ? hexUnit(text, at + 2) : -1;
  if (unit < 0) return null;
  const low = (unit & 0xfc00) === 0xd800 && text.startsWith('\\u', at + 6) ? hexUnit(text, at + 8) : -1;
  if ((low & 0xfc00) !== 0xdc00 || low < 0) return { text: utf8Text(String.fromCharCode(unit)), end: at + 6 };
  return { text: utf8Text(String.fromCharCode(unit, low)), end: at + 12 };
}
