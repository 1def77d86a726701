/** Character strings of master files: octets to text and back (RFC 1035 §5.1: `\X`, `\DDD`). */
import { utf8Bytes } from '../../../base/octets/octets.ts';
import { MAX_STRING_OCTETS } from '../limits.ts';
import { lex } from './tokens.ts';

/** `"` */
const QUOTE = 0x22;
/** `\` */
const BACKSLASH = 0x5c;

/** The octets that a token denotes; `null`: a `\DDD` above 255, or with fewer than three digits. */
export function readOctets(raw: string): Uint8Array | null {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < raw.length; ) {
    const mark = raw.indexOf('\\', at);
    const end = mark < 0 ? raw.length : mark;
    if (end > at) chunks.push(utf8Bytes(raw.slice(at, end)));
    if (mark < 0) break;
    const next = raw[mark + 1];
    if (next === undefined) return null;
    if (next >= '0' && next <= '9') {
      const digits = raw.slice(mark + 1, mark + 4);
      if (!/^[0-9]{3}$/.test(digits) || Number(digits) > 255) return null;
      chunks.push(Uint8Array.of(Number(digits)));
      at = mark + 4;
    } else {
      const character = String.fromCodePoint(raw.codePointAt(mark + 1)!);
      chunks.push(utf8Bytes(character));
      at = mark + 1 + character.length;
    }
  }
  return join(chunks);
}

/** Octets as a quoted string: printable ASCII unchanged, everything else as `\DDD`. */
export function quoteOctets(octets: Uint8Array): string {
  let out = '"';
  for (const octet of octets) {
    if (octet === QUOTE || octet === BACKSLASH) out += `\\${String.fromCharCode(octet)}`;
    else if (octet >= 0x20 && octet < 0x7f) out += String.fromCharCode(octet);
    else out += `\\${String(octet).padStart(3, '0')}`;
  }
  return `${out}"`;
}

/** The chunks as one array. */
function join(chunks: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    out.set(chunk, at);
    at += chunk.length;
  }
  return out;
}

/**
 * The destination of a TXT record for its character strings. It is the joined text if that loses nothing: valid
 * UTF-8 without control characters, split only where it must be (every 255 octets), that does not start with a quote.
 * Otherwise it is the strings in quotes: `"one" "two"`.
 */
export function txtDestination(strings: readonly Uint8Array[]): string {
  const octets = join(strings);
  const plain = decodePlain(octets);
  if (plain !== null && strings.length === cut(octets).length) {
    if (strings.every((part, index) => index === strings.length - 1 || part.length === MAX_STRING_OCTETS)) {
      return plain;
    }
  }
  return strings.map(quoteOctets).join(' ');
}

/** The character strings of a TXT record's destination, plain or in quotes. `null`: malformed quotes. */
export function txtStrings(destination: string): readonly Uint8Array[] | null {
  if (!destination.startsWith('"')) return cut(utf8Bytes(destination));
  const { entries, problems } = lex(destination);
  const tokens = entries[0]?.tokens ?? [];
  const { comment = '' } = entries[0] ?? {};
  if (problems.length > 0 || entries.length !== 1 || comment !== '') return null;
  const strings: Uint8Array[] = [];
  for (const token of tokens) {
    const octets = token.quoted ? readOctets(token.raw) : null;
    if (octets === null || octets.length > MAX_STRING_OCTETS) return null;
    strings.push(octets);
  }
  return strings;
}

/** The octets as plain text; `null` if they need quotes. */
function decodePlain(octets: Uint8Array): string | null {
  if (octets.length === 0 || octets[0] === QUOTE) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
    return /[\u0000-\u001f\u007f-\u009f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Splits octets into strings of 255; empty input is one empty string. */
function cut(octets: Uint8Array): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < octets.length; at += MAX_STRING_OCTETS) {
    parts.push(octets.subarray(at, at + MAX_STRING_OCTETS));
  }
  return parts.length === 0 ? [octets] : parts;
}
