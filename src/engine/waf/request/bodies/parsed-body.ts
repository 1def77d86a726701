/**
 * Input and output of the body parsers, with the conversion of their text to UTF-8. All text is Latin-1: one character
 * is one octet.
 */
import type { WafScalar } from '../../../plan/signature-program.ts';
import { isAlphanumeric, isSpace, utf8Text } from '../../octets/latin1.ts';

/**
 * Maximum number of members per body, for each of arguments, files, part headers and attribute values. ModSecurity's
 * recommended limit is 1,000 arguments, but large spreadsheets and imports send some thousands.
 */
export const MAX_BODY_ARGUMENTS = 10_000;

/** The input of a parser. */
export interface BodyInput {
  /** The inspected octets of the body. */
  readonly text: string;
  /** The request's `Content-Type`, as sent; `''` without one. */
  readonly contentType: string;
  /** Whether the body continues after the text, so that an unexpected end is not an error. */
  readonly truncated: boolean;
  /**
   * Whether a part of a form may have a `filename*` without `filename`, as of clients that write names beyond ASCII so; by
   * default that is an error, as in ModSecurity.
   */
  readonly acceptsExtendedNames?: boolean;
}

/** A part of a multipart body with a filename. */
export interface UploadedFile {
  /** The form field. */
  readonly name: string;
  readonly filename: string;
  /** Octets. */
  readonly size: number;
}

/** A flag of ModSecurity about a multipart body, by its variable's name. */
export type MultipartFlag = Extract<WafScalar, `MULTIPART_${string}`>;

/** By variable, 1 if the flag is set, else 0; `MULTIPART_UNMATCHED_BOUNDARY` can be 2. */
export type MultipartFlags = Readonly<Record<MultipartFlag, number>>;

/** The output of a parser. */
export interface ParsedBody {
  /** In the order of the body, duplicates included. */
  readonly args: readonly NamedValue[];
  readonly files: readonly UploadedFile[];
  /** Header lines of parts, `Content-Type: text/plain`, by the name of the form field. */
  readonly partHeaders: readonly NamedValue[];
  /** Every `name` of every part, also the second of a part, which is an error. */
  readonly partNames: readonly string[];
  /** Every `filename` of every part, likewise. */
  readonly partFilenames: readonly string[];
  readonly multipart: MultipartFlags;
  /** All character data of the document as one text; `null`: there is no document. */
  readonly xmlText: string | null;
  /** Of decoded bodies: texts of single elements that are not plain, values of attributes and texts of nested documents. */
  readonly xmlParts: readonly string[];
  readonly xmlAttributes: readonly string[];
  /** The first error, after the parser's name (`json: …`); `null`: none. Members found are returned in any case. */
  readonly error: string | null;
}

/** All flags unset. */
export const NO_MULTIPART_FLAGS: MultipartFlags = {
  MULTIPART_BOUNDARY_QUOTED: 0,
  MULTIPART_BOUNDARY_WHITESPACE: 0,
  MULTIPART_CRLF_LF_LINES: 0,
  MULTIPART_DATA_AFTER: 0,
  MULTIPART_DATA_BEFORE: 0,
  MULTIPART_FILE_LIMIT_EXCEEDED: 0,
  MULTIPART_HEADER_FOLDING: 0,
  MULTIPART_INVALID_HEADER_FOLDING: 0,
  MULTIPART_INVALID_PART: 0,
  MULTIPART_INVALID_QUOTING: 0,
  MULTIPART_LF_LINE: 0,
  MULTIPART_MISSING_SEMICOLON: 0,
  MULTIPART_STRICT_ERROR: 0,
  MULTIPART_UNMATCHED_BOUNDARY: 0,
};

/** The output for a body without members. */
export const EMPTY_BODY: ParsedBody = {
  args: [],
  files: [],
  partHeaders: [],
  partNames: [],
  partFilenames: [],
  multipart: NO_MULTIPART_FLAGS,
  xmlText: null,
  xmlParts: [],
  xmlAttributes: [],
  error: null,
};

/** The part of a parser's state that all parsers share. */
export interface BodyMembers {
  /** The parser's name, the prefix of its error. */
  readonly parser: 'body' | 'graphql' | 'json' | 'multipart' | 'urlencoded' | 'xml';
  readonly args: NamedValue[];
  /** The first error. */
  error: string | null;
}

/** Records an error, unless there is one already: later errors often follow from the first. */
export function report(gathered: BodyMembers, sentence: string): void {
  gathered.error ??= `${gathered.parser}: ${sentence}`;
}

/** Adds an item to a list; `false`: the list is full, which is reported as an error. */
export function addTo<Item>(gathered: BodyMembers, list: Item[], item: Item): boolean {
  if (list.length >= MAX_BODY_ARGUMENTS) {
    report(gathered, `it holds more than ${MAX_BODY_ARGUMENTS} values; the rest was not inspected`);
    return false;
  }
  list.push(item);
  return true;
}

/** Whether a text is blank, or one word, number or date: no attack, where it is inspected besides the text around it. */
export function isPlainText(text: string): boolean {
  let hasWord = false;
  let hasEnded = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) hasEnded = hasWord;
    else if (hasEnded || !isWordOctet(code)) return false;
    else hasWord = true;
  }
  return true;
}

function isWordOctet(code: number): boolean {
  return (code >= 44 && code <= 46) || code === 58 || code === 95 || code > 127 || isAlphanumeric(code);
}

// Converts bodies in UTF-16 and UTF-32, recognised by their first octets (RFC 4627 §3, XML 1.0 appendix F.1), to UTF-8.

/** An encoding form: how code units are stored in octets. */
export interface UnitLayout {
  /** Octets of a code unit. */
  readonly width: 2 | 4;
  readonly bigEndian: boolean;
  /** Octets of the byte order mark. */
  readonly mark: number;
}

/** By its first octets (`null`: any but zero): a byte order mark, or a first character of ASCII. Longer ones first. */
const LAYOUTS: readonly (UnitLayout & { readonly octets: readonly (number | null)[] })[] = [
  { octets: [0xff, 0xfe, 0, 0], width: 4, bigEndian: false, mark: 4 },
  { octets: [0, 0, 0xfe, 0xff], width: 4, bigEndian: true, mark: 4 },
  { octets: [null, 0, 0, 0], width: 4, bigEndian: false, mark: 0 },
  { octets: [0, 0, 0, null], width: 4, bigEndian: true, mark: 0 },
  { octets: [0xff, 0xfe], width: 2, bigEndian: false, mark: 2 },
  { octets: [0xfe, 0xff], width: 2, bigEndian: true, mark: 2 },
  { octets: [null, 0], width: 2, bigEndian: false, mark: 0 },
  { octets: [0, null], width: 2, bigEndian: true, mark: 0 },
];

/** A body in UTF-8. */
export interface Utf8Document {
  /** Without byte order mark. */
  readonly text: string;
  /** Whether it was UTF-16 or UTF-32. */
  readonly converted: boolean;
}

/** Converts a body to UTF-8; returns the octets of one that is neither UTF-16 nor UTF-32 unchanged. */
export function toUtf8(text: string): Utf8Document {
  const layout = LAYOUTS.find(({ octets }) => fits(text, octets));
  if (layout !== undefined) return { text: utf8Text(unicodeText(text, layout)), converted: true };
  const marked = text.startsWith('\xef\xbb\xbf');
  return { text: marked ? text.slice(3) : text, converted: false };
}

function fits(text: string, octets: readonly (number | null)[]): boolean {
  return octets.every((octet, at) => {
    const code = text.charCodeAt(at);
    return octet === null ? code > 0 : code === octet;
  });
}

/** Code units in one `fromCharCode`: its arguments go over the stack. */
const CHUNK = 4_096;

/** Decodes the code units; drops an incomplete one at the end; replaces invalid code points by U+FFFD. */
export function unicodeText(text: string, layout: UnitLayout): string {
  let out = '';
  let units: number[] = [];
  for (let at = layout.mark; at + layout.width <= text.length; at += layout.width) {
    const unit = unitAt(text, at, layout);
    if (layout.width === 4 && unit > 0xffff) {
      const point = unit <= 0x10ffff ? unit - 0x10000 : -1;
      if (point < 0) units.push(0xfffd);
      else units.push(0xd800 | (point >> 10), 0xdc00 | (point & 0x3ff));
    } else units.push(unit);
    if (units.length < CHUNK) continue;
    out += String.fromCharCode(...units);
    units = [];
  }
  return out + String.fromCharCode(...units);
}

/** The code unit at `at`. */
function unitAt(text: string, at: number, { width, bigEndian }: UnitLayout): number {
  let unit = 0;
  for (let index = 0; index < width; index++) {
    unit = unit * 256 + text.charCodeAt(bigEndian ? at + index : at + width - 1 - index);
  }
  return unit;
}

// A member of a collection: an argument, a header, a cookie, a TX variable.

/** A name and its value, both Latin-1. Several members of a collection may have the same name. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
}
