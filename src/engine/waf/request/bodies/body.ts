/**
 * The body parsers, by ModSecurity's names for processors. A parser returns arguments, files, the strictness flags of
 * multipart bodies, text and attributes of XML, and the first error. It never throws, reads its text once, and returns
 * everything found before an error.
 */
import { isAlphanumeric, isSpace } from '../../octets/latin1.ts';
import { urlDecode } from '../../transformations/percent-encoding.ts';
import { lowercase, trim, trimLeft } from '../../transformations/texts.ts';
import { parseJson } from './json.ts';
import { addHeaderLine, endHeaders, newPart, type Part, type PartNotes } from './multipart-part.ts';
import {
  addTo,
  type BodyInput,
  type BodyMembers,
  EMPTY_BODY,
  type MultipartFlags,
  type NamedValue,
  NO_MULTIPART_FLAGS,
  type ParsedBody,
  report,
  type UploadedFile,
} from './parsed-body.ts';
import { parseXml } from './xml.ts';

/** Maximum size, in octets, of the `Content-Type` of a multipart body: the limit of ModSecurity. */
const MAX_CONTENT_TYPE_OCTETS = 1_024;

// Reads the boundary in the `Content-Type` of a multipart body as ModSecurity does, and reports its irregularities.

const TYPE = 'multipart/form-data';
const PARAMETER = 'boundary';

/** The boundary, and what ModSecurity's flags need. */
export interface Boundary {
  /** `null`: the header has no usable boundary. */
  readonly text: string | null;
  readonly isQuoted: boolean;
  /** Whether white space is around the `=`. */
  readonly hasWhitespace: boolean;
  /** Whether no semicolon is before the parameter. */
  readonly lacksSemicolon: boolean;
  /** The first error; `text` may have a value even so. `null`: none. */
  readonly problem: string | null;
}

/** Reads the boundary of a `Content-Type`, as sent. */
function readBoundary(contentType: string): Boundary {
  const none = { text: null, isQuoted: false, hasWhitespace: false, lacksSemicolon: false };
  if (contentType.length > MAX_CONTENT_TYPE_OCTETS) {
    return { ...none, problem: `its Content-Type is longer than ${MAX_CONTENT_TYPE_OCTETS} octets` };
  }
  const lower = lowercase(contentType);
  if (!lower.startsWith(TYPE)) return { ...none, problem: 'its Content-Type is not multipart/form-data' };
  const start = lower.indexOf(PARAMETER);
  const equals = start < 0 ? -1 : contentType.indexOf('=', start);
  if (equals < 0) return { ...none, problem: 'its Content-Type names no boundary' };
  const between = contentType.slice(TYPE.length, start);
  const raw = contentType.slice(equals + 1);
  const value = readValue(trimLeft(raw));
  return {
    text: value.text === '' ? null : value.text,
    isQuoted: value.isQuoted,
    hasWhitespace: equals > start + PARAMETER.length || isSpace(raw.charCodeAt(0)),
    lacksSemicolon: !between.includes(';'),
    problem:
      (countParameters(lower) > 1 ? 'its Content-Type names more than one boundary' : null) ??
      (isSeparator(between) ? null : 'text precedes the boundary in its Content-Type') ??
      (contentType.startsWith(PARAMETER, start) ? null : 'the word boundary is not in lower case') ??
      (isBlank(contentType.slice(start + PARAMETER.length, equals))
        ? null
        : 'the name of the boundary parameter is not just boundary') ??
      value.problem,
  };
}

/** Whether a text is white space and at most one semicolon. */
function isSeparator(text: string): boolean {
  const semicolon = text.indexOf(';');
  return isBlank(semicolon < 0 ? text : text.slice(0, semicolon) + text.slice(semicolon + 1));
}

function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!isSpace(text.charCodeAt(at))) return false;
  return true;
}

/** How often the word occurs before a `=`, quoted values apart (RFC 9110 §5.6.4): `boundary="a boundary=b"` has one. */
function countParameters(lower: string): number {
  let count = 0;
  let isQuoted = false;
  for (let at = 0; at < lower.length; at++) {
    if (lower.charAt(at) === '"') isQuoted = !isQuoted;
    else if (!isQuoted && lower.startsWith(PARAMETER, at) && lower.indexOf('=', at) >= 0) count++;
  }
  return count;
}

/** The value of the parameter. */
interface Value {
  readonly text: string;
  readonly isQuoted: boolean;
  readonly problem: string | null;
}

function readValue(raw: string): Value {
  if (raw.length >= 2 && raw.startsWith('"') && raw.endsWith('"')) {
    return checked(raw.slice(1, -1), true, null);
  }
  if (raw.startsWith('"') || raw.endsWith('"')) {
    const inner = raw.startsWith('"') ? raw.slice(1) : raw;
    const end = inner.indexOf('"');
    return checked(end < 0 ? inner : inner.slice(0, end), true, 'its boundary is quoted on one side only');
  }
  return checked(raw, false, null);
}

/** Checks a boundary; ignores a parameter after it, since some frameworks append a charset. */
function checked(raw: string, isQuoted: boolean, problem: string | null): Value {
  const semicolon = raw.indexOf(';');
  const text = semicolon < 0 ? raw : raw.slice(0, semicolon);
  const invalid = isValid(text) ? null : 'its boundary is empty or holds what a boundary may not';
  return { text: trim(text), isQuoted, problem: problem ?? invalid };
}

/** `bcharsnospace` of RFC 2046 §5.1.1, besides letters and digits. */
const MARKS = "'()+_,-./:=?";

/** Whether a boundary conforms to RFC 2046 §5.1.1; a space is allowed except as last character. */
function isValid(boundary: string): boolean {
  for (let at = 0; at < boundary.length; at++) {
    const code = boundary.charCodeAt(at);
    const isInnerSpace = code === 32 && at + 1 < boundary.length;
    if (!isAlphanumeric(code) && !isInnerSpace && !MARKS.includes(boundary.charAt(at))) return false;
  }
  return boundary !== '';
}

// Parses `application/x-www-form-urlencoded` bodies and query strings (URL Standard §5.1).

/**
 * Splits the text at `&` and each pair at its first `=`, and decodes both sides once; invalid escapes stay. As in
 * libmodsecurity 3 an empty pair is an argument without name, except after the last `&`.
 */
export function parseUrlEncoded({ text }: Pick<BodyInput, 'text'>): ParsedBody {
  const gathered: BodyMembers = { parser: 'urlencoded', args: [], error: null };
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('&', start);
    if (end < 0) end = text.length;
    if (!addTo(gathered, gathered.args, pairOf(text.slice(start, end)))) break;
    start = end + 1;
  }
  return { ...EMPTY_BODY, args: gathered.args, error: gathered.error };
}

/** Decodes one pair; without `=`, the value is empty. */
function pairOf(text: string): { name: string; value: string } {
  const equals = text.indexOf('=');
  if (equals < 0) return { name: urlDecode(text), value: '' };
  return { name: urlDecode(text.slice(0, equals)), value: urlDecode(text.slice(equals + 1)) };
}

// Parses `multipart/form-data` (RFC 7578, RFC 2046 §5.1) line by line as ModSecurity does, with its strictness flags. One
// deviation: after an error, a boundary line with trailing text, or a part without end, libmodsecurity drops the rest.
// This parser reports the error and continues as a more tolerant application would, so that signatures inspect the rest.

/** The state of the parser. */
interface Reader extends PartNotes {
  readonly text: string;
  readonly truncated: boolean;
  readonly boundary: string;
  readonly files: UploadedFile[];
  readonly partHeaders: NamedValue[];
  /** The open part; `null`: before the first boundary or after the last. */
  part: Part | null;
  /** Whether a boundary line was read. */
  hasBegun: boolean;
  /** Whether the final boundary was read. */
  isComplete: boolean;
  /** Whether a header or boundary line ended with CRLF. */
  hasCrlf: boolean;
  /** The place of the next `--` with the boundary; the length of the text: absent. */
  nextDelimiter: number;
}

/** A line: `contentEnd` is before its line end, `end` after it; the last line may have no line end. */
interface Line {
  readonly start: number;
  readonly contentEnd: number;
  readonly end: number;
}

/** Parses a body. */
function parseMultipart({ text, contentType, truncated, acceptsExtendedNames }: BodyInput): ParsedBody {
  const boundary = readBoundary(contentType);
  const reader: Reader = {
    parser: 'multipart',
    args: [],
    error: null,
    text,
    truncated,
    boundary: boundary.text ?? '',
    flags: { ...NO_MULTIPART_FLAGS },
    files: [],
    partHeaders: [],
    partNames: [],
    partFilenames: [],
    acceptsExtendedNames: acceptsExtendedNames === true,
    part: null,
    hasBegun: false,
    isComplete: false,
    hasCrlf: false,
    nextDelimiter: -1,
  };
  const { flags } = reader;
  if (boundary.problem !== null) report(reader, boundary.problem);
  if (boundary.isQuoted) flags.MULTIPART_BOUNDARY_QUOTED = 1;
  if (boundary.hasWhitespace) flags.MULTIPART_BOUNDARY_WHITESPACE = 1;
  if (boundary.lacksSemicolon) flags.MULTIPART_MISSING_SEMICOLON = 1;
  if (boundary.text !== null) readLines(reader);
  const { args, files, partHeaders, partNames, partFilenames, error } = reader;
  const multipart = strictness(reader);
  return { ...EMPTY_BODY, args, files, partHeaders, partNames, partFilenames, multipart, error };
}

/** The flags of which none may be set in a body without an error. */
const STRICT_FLAGS = (Object.keys(NO_MULTIPART_FLAGS) as (keyof MultipartFlags)[]).filter(
  (name) => name !== 'MULTIPART_UNMATCHED_BOUNDARY',
);

/** Computes the flags that depend on others. */
function strictness({ flags, hasCrlf, error }: Reader): MultipartFlags {
  let isStrictError = error !== null;
  for (const name of STRICT_FLAGS) if (flags[name] !== 0) isStrictError = true;
  return {
    ...flags,
    MULTIPART_CRLF_LF_LINES: hasCrlf ? flags.MULTIPART_LF_LINE : 0,
    MULTIPART_STRICT_ERROR: isStrictError ? 1 : 0,
  };
}

/** Reads all lines up to the final boundary or the end. */
function readLines(reader: Reader): void {
  const { text } = reader;
  let before: Line | null = null;
  for (let start = 0; start < text.length && !reader.isComplete; ) {
    const line = lineAt(text, start);
    if (isBoundary(reader, line)) readBoundaryLine(reader, line, before);
    else readPartLine(reader, line);
    before = line;
    start = line.end;
  }
  if (reader.isComplete) {
    if (before !== null && before.end < text.length) reader.flags.MULTIPART_DATA_AFTER = 1;
    return;
  }
  endPart(reader, text.length);
  if (reader.truncated || text === '') return;
  report(reader, reader.hasBegun ? 'the final boundary is missing' : 'no boundary was found');
}

function lineAt(text: string, start: number): Line {
  const feed = text.indexOf('\n', start);
  if (feed < 0) return { start, contentEnd: text.length, end: text.length };
  const hasReturn = feed > start && text[feed - 1] === '\r';
  return { start, contentEnd: hasReturn ? feed - 1 : feed, end: feed + 1 };
}

/** Whether a line begins with `--` and the boundary; flags a line that only resembles one. */
function isBoundary(reader: Reader, line: Line): boolean {
  const { text, flags } = reader;
  if (reader.nextDelimiter < line.start) {
    const found = text.indexOf(`--${reader.boundary}`, line.start);
    reader.nextDelimiter = found < 0 ? text.length : found;
  }
  if (reader.nextDelimiter === line.start && line.start < line.contentEnd) return true;
  const isNear = text.startsWith('--', line.start) && line.contentEnd - line.start > 2;
  const isCut = reader.truncated && line.end === text.length;
  if ((isNear && !isCut) || reader.nextDelimiter < line.end) flags.MULTIPART_UNMATCHED_BOUNDARY = 1;
  if (isNear) reportDisguise(reader, line);
  return false;
}

/** Reports a boundary after a quote or white space, which some applications accept. */
function reportDisguise(reader: Reader, line: Line): void {
  const { text, boundary } = reader;
  let at = line.start + 2;
  while (at < line.contentEnd && (text[at] === ' ' || text[at] === '\t')) at++;
  if (at === line.start + 2 && text[at] === '"') at++;
  if (at === line.start + 2 || !text.startsWith(boundary, at)) return;
  report(reader, `a quote or white space precedes the boundary at octet ${line.start}`);
}

/** Reads a boundary line: ends the open part and, unless it is the final boundary, begins the next one. */
function readBoundaryLine(reader: Reader, line: Line, before: Line | null): void {
  const { text, flags } = reader;
  const nameEnd = line.start + 2 + reader.boundary.length;
  const isFinal = text.startsWith('--', nameEnd);
  const isCut = reader.truncated && line.end === text.length;
  if (line.contentEnd > nameEnd + (isFinal ? 2 : 0) && !isCut) {
    report(reader, `something follows the boundary at octet ${line.start}`);
  }
  if (before !== null) recordLineEnd(reader, before);
  recordLineEnd(reader, line);
  if (reader.hasBegun && flags.MULTIPART_UNMATCHED_BOUNDARY === 1) flags.MULTIPART_UNMATCHED_BOUNDARY = 2;
  if (reader.part !== null && (reader.part.dataStart < 0 || reader.part.dataStart === line.start)) {
    flags.MULTIPART_INVALID_PART = 1;
  }
  endPart(reader, line.start);
  reader.part = isFinal ? null : newPart();
  reader.isComplete = isFinal;
  reader.hasBegun = true;
}

/** Records whether a line ended with LF or CRLF. */
function recordLineEnd(reader: Reader, line: Line): void {
  const length = line.end - line.contentEnd;
  if (length === 1) reader.flags.MULTIPART_LF_LINE = 1;
  if (length === 2) reader.hasCrlf = true;
}

/** Reads a line that is not a boundary: a header of the open part, or data, which is skipped here. */
function readPartLine(reader: Reader, line: Line): void {
  const { part, text } = reader;
  const isCut = reader.truncated && line.end === line.contentEnd;
  if (part === null) {
    if (!isCut) reader.flags.MULTIPART_DATA_BEFORE = 1;
    return;
  }
  if (part.dataStart >= 0) return;
  recordLineEnd(reader, line);
  if (line.contentEnd === line.start) endHeaders(reader, part, line.end);
  else if (isCut) part.lines.push(text.slice(line.start));
  else addHeaderLine(reader, part, text.slice(line.start, line.contentEnd));
}

/** Ends the open part and adds it as argument or file; its data ends before the line end of the boundary at `boundary`. */
function endPart(reader: Reader, boundary: number): void {
  const { part, text } = reader;
  if (part === null) return;
  const isAtEnd = boundary === text.length;
  if (part.dataStart < 0 && !(isAtEnd && reader.truncated)) {
    report(reader, 'the headers of a part do not end');
    endHeaders(reader, part, boundary);
  }
  const { name, filename } = part;
  for (const value of part.lines) addTo(reader, reader.partHeaders, { name, value });
  const from = part.dataStart < 0 ? boundary : part.dataStart;
  const data = text.slice(from, isAtEnd ? boundary : dataEnd(text, from, boundary));
  if (name === '') {
    if (!isAtEnd || !reader.truncated) reader.flags.MULTIPART_INVALID_PART = 1;
  } else if (filename === '') addTo(reader, reader.args, { name, value: data });
  else if (!addTo(reader, reader.files, { name, filename, size: data.length })) {
    reader.flags.MULTIPART_FILE_LIMIT_EXCEEDED = 1;
  }
}

/** The end of the data: the line end before a boundary belongs to the boundary (RFC 2046 §5.1.1). */
function dataEnd(text: string, from: number, boundary: number): number {
  if (boundary <= from || text[boundary - 1] !== '\n') return boundary;
  return boundary - 1 > from && text[boundary - 2] === '\r' ? boundary - 2 : boundary - 1;
}

/** The values of REQBODY_PROCESSOR. */
export type BodyProcessor = 'URLENCODED' | 'MULTIPART' | 'JSON' | 'XML';

/** By processor, its parser. */
export const BODY_PARSERS: Readonly<Record<BodyProcessor, (input: BodyInput) => ParsedBody>> = {
  URLENCODED: parseUrlEncoded,
  MULTIPART: parseMultipart,
  JSON: parseJson,
  XML: parseXml,
};
