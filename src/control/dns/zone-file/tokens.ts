/**
 * Splits master file text into logical lines of tokens (RFC 1035 §5.1): without comments, lines in parentheses joined,
 * a quoted string as one token. Tokens contain their escapes, since their meaning depends on the field.
 */
import type { SourcePlace } from '../../../base/diagnostics/diagnostic.ts';
import { utf8Bytes } from '../../../base/octets/octets.ts';

/** Maximum size, in octets, of one character string (RFC 1035 §3.3). */
export const MAX_STRING_OCTETS = 255;

/** A word or a quoted string. */
export interface Token {
  /** As written, without the quotes around it; escapes included. */
  readonly raw: string;
  readonly quoted: boolean;
  readonly at: Spot;
}

/** A place without its file; both count from 1, columns in UTF-16 units. */
export type Spot = Pick<SourcePlace, 'line' | 'column'>;

/** One logical line with at least one token. */
export interface ZoneEntry {
  /** The line starts with white space: its owner is that of the record before (RFC 1035 §5.1). */
  readonly ownerless: boolean;
  readonly tokens: readonly Token[];
  /** The text of its last comment, trimmed; empty without one. */
  readonly comment: string;
}

/** A syntax error, which drops its logical line; the lines around it are still read. */
export interface LexProblem {
  readonly at: Spot;
  readonly code: 'unclosed_quote' | 'unclosed_parenthesis' | 'stray_parenthesis' | 'unfinished_escape';
  readonly message: string;
}

export interface Lexed {
  readonly entries: readonly ZoneEntry[];
  readonly problems: readonly LexProblem[];
}

/** The state of the lexer. */
interface Reader {
  readonly text: string;
  at: number;
  line: number;
  lineStart: number;
  /** The place of the open parenthesis; `null`: none is open. */
  open: Spot | null;
  problem: LexProblem | null;
}

/** Splits a text into logical lines. Never throws. */
export function lex(text: string): Lexed {
  const reader: Reader = { text, at: 0, line: 1, lineStart: 0, open: null, problem: null };
  const entries: ZoneEntry[] = [];
  const problems: LexProblem[] = [];
  if (text.charCodeAt(0) === 0xfeff) reader.at = 1;
  while (reader.at < text.length) {
    const entry = readEntry(reader);
    if (reader.problem !== null) problems.push(reader.problem);
    else if (entry.tokens.length > 0) entries.push(entry);
    reader.problem = null;
  }
  return { entries, problems };
}

/**
 * Reads one logical line up to the end of its last physical line. Inside parentheses a line end is white space. After an
 * error the rest of the physical line is still consumed.
 */
function readEntry(reader: Reader): ZoneEntry {
  const ownerless = isBlank(reader.text[reader.at]);
  const tokens: Token[] = [];
  let comment = '';
  reader.open = null;
  for (;;) {
    const character = reader.text[reader.at];
    if (character === undefined) {
      if (reader.open !== null) fail(reader, reader.open, 'unclosed_parenthesis', 'this `(` is never closed');
      return { ownerless, tokens, comment };
    }
    if (character === '\n' || character === '\r') {
      newline(reader);
      if (reader.open === null || reader.problem !== null) return { ownerless, tokens, comment };
    } else if (isBlank(character)) reader.at++;
    else if (character === ';') comment = readComment(reader);
    else if (character === '(' || character === ')') parenthesis(reader, character);
    else tokens.push(character === '"' ? readQuoted(reader) : readWord(reader));
  }
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** The place of the next character. */
function here(reader: Reader): Spot {
  return { line: reader.line, column: reader.at - reader.lineStart + 1 };
}

/** Records the first error of a logical line. */
function fail(reader: Reader, at: Spot, code: LexProblem['code'], message: string): void {
  reader.problem ??= { at, code, message };
}

/** Consumes LF, CR or CR LF. */
function newline(reader: Reader): void {
  if (reader.text[reader.at] === '\r' && reader.text[reader.at + 1] === '\n') reader.at++;
  reader.at++;
  reader.line++;
  reader.lineStart = reader.at;
}

/** Consumes a comment up to the line end. Returns its text, trimmed. */
function readComment(reader: Reader): string {
  const start = reader.at + 1;
  while (reader.at < reader.text.length && !isLineEnd(reader.text[reader.at])) reader.at++;
  return reader.text.slice(start, reader.at).trim();
}

function isLineEnd(character: string | undefined): boolean {
  return character === '\n' || character === '\r' || character === undefined;
}

/** Opens or closes a group; groups cannot be nested (RFC 1035 §5.1). */
function parenthesis(reader: Reader, character: string): void {
  const at = here(reader);
  if (character === ')' && reader.open === null) {
    fail(reader, at, 'stray_parenthesis', 'this `)` closes nothing');
  } else if (character === '(' && reader.open !== null) {
    fail(reader, at, 'stray_parenthesis', 'parentheses cannot be nested');
  } else reader.open = character === '(' ? at : null;
  reader.at++;
}

/** A quoted string; it must end on its line, so that one missing quote does not consume the rest of the file. */
function readQuoted(reader: Reader): Token {
  const at = here(reader);
  return { raw: quotedText(reader), quoted: true, at };
}

/** The text between two quotes, escapes included; empty after an error. */
function quotedText(reader: Reader): string {
  const at = here(reader);
  const start = ++reader.at;
  for (;;) {
    const character = reader.text[reader.at];
    if (isLineEnd(character)) {
      fail(reader, at, 'unclosed_quote', 'this `"` is not closed on its line');
      return '';
    }
    if (character === '"') break;
    skipCharacter(reader);
  }
  return reader.text.slice(start, reader.at++);
}

/** A word ends at white space or a special character; `key="value"` is one word (RFC 9460 §2.1). */
function readWord(reader: Reader): Token {
  const at = here(reader);
  let start = reader.at;
  let raw = '';
  for (;;) {
    const character = reader.text[reader.at];
    if (isLineEnd(character) || isBlank(character) || character === ';') break;
    if (character === '(' || character === ')') break;
    if (character !== '"') skipCharacter(reader);
    else {
      if (reader.text[reader.at - 1] !== '=' || reader.at === start) break;
      raw += reader.text.slice(start, reader.at) + quotedText(reader);
      start = reader.at;
      break;
    }
  }
  return { raw: raw + reader.text.slice(start, reader.at), quoted: false, at };
}

/** Advances over one character or one escape. */
function skipCharacter(reader: Reader): void {
  if (reader.text[reader.at] === '\\') {
    if (isLineEnd(reader.text[reader.at + 1])) {
      fail(reader, here(reader), 'unfinished_escape', 'this `\\` escapes nothing');
    } else reader.at++;
  }
  reader.at++;
}

// Character strings of master files: octets to text and back (RFC 1035 §5.1: `\X`, `\DDD`).

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
