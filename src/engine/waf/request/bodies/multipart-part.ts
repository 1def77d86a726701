/** Reads the header lines of one part of a multipart body (RFC 7578 §4, RFC 2822 §2.2), as ModSecurity does. */
import { isAlphanumeric, isSpace } from '../../octets/latin1.ts';
import { urlDecode } from '../../transformations/percent-encoding.ts';
import { lowercase } from '../../transformations/texts.ts';
import { type BodyMembers, type MultipartFlag, report } from './parsed-body.ts';

/** Maximum size, in octets, of a header of a part, folded lines included: the buffer of ModSecurity. */
const MAX_PART_HEADER_OCTETS = 4_096;

/** A part. */
export interface Part {
  /** By name in lower case, the value of the first header of that name. */
  readonly headers: Map<string, string>;
  /** The header lines as sent, malformed ones included, folded ones joined. */
  readonly lines: string[];
  /** The name, as sent, of the header that a folded line continues; `''`: none. */
  current: string;
  /** The place where its data begins; -1: its headers have not ended. */
  dataStart: number;
  /** The name of the form field; `''`: none, or its headers have not ended. */
  name: string;
  /** `''`: it is not a file, or its headers have not ended. */
  filename: string;
}

/** The parts of the parser's state that header lines change. */
export interface PartNotes extends BodyMembers {
  readonly flags: Record<MultipartFlag, number>;
  readonly partNames: string[];
  readonly partFilenames: string[];
  /** `BodyInput.acceptsExtendedNames`. */
  readonly acceptsExtendedNames: boolean;
}

/** Creates a part without headers. */
export function newPart(): Part {
  return { headers: new Map(), lines: [], current: '', dataStart: -1, name: '', filename: '' };
}

/** Adds a header line; `line` is not empty and has no line end. */
export function addHeaderLine(notes: PartNotes, part: Part, line: string): void {
  if (line.includes('\0')) report(notes, 'a header of a part holds a NUL');
  if (line.length > MAX_PART_HEADER_OCTETS) tooLong(notes);
  if (isSpace(line.charCodeAt(0))) foldLine(notes, part, line);
  else beginHeader(notes, part, line);
}

function tooLong(notes: PartNotes): void {
  report(notes, `a header of a part is longer than ${MAX_PART_HEADER_OCTETS} octets`);
}

/** Joins a folded line to the header before (obsolete line folding, RFC 9112 §5.2). */
function foldLine(notes: PartNotes, part: Part, line: string): void {
  notes.flags.MULTIPART_HEADER_FOLDING = 1;
  let at = 0;
  for (; isSpace(line.charCodeAt(at)); at++) {
    if (line[at] !== ' ' && line[at] !== '\t') notes.flags.MULTIPART_INVALID_HEADER_FOLDING = 1;
  }
  if (part.current === '') {
    report(notes, 'a part has a folded line that continues no header');
    part.lines.push(line);
    return;
  }
  const key = lowercase(part.current);
  const value = `${part.headers.get(key) ?? ''} ${line.slice(at)}`;
  if (value.length > MAX_PART_HEADER_OCTETS) {
    tooLong(notes);
    return;
  }
  part.headers.set(key, value);
  part.lines[part.lines.length - 1] = `${part.current}: ${value}`;
}

/** Adds the first line of a header. */
function beginHeader(notes: PartNotes, part: Part, line: string): void {
  part.current = '';
  part.lines.push(line);
  const colon = line.indexOf(':');
  if (colon <= 0) {
    report(notes, 'a header of a part has no name or no colon');
    return;
  }
  const name = line.slice(0, colon);
  const key = lowercase(name);
  if (!isHeaderName(name)) report(notes, 'the name of a header of a part holds an invalid character');
  else if (part.headers.has(key)) report(notes, 'a part has the same header twice');
  else {
    part.current = name;
    part.headers.set(key, withoutBlanks(line, colon + 1));
  }
}

/** Whether a name is printable ASCII (RFC 2822 §2.2). */
function isHeaderName(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code < 33 || code > 126) return false;
  }
  return true;
}

function withoutBlanks(line: string, from: number): string {
  let at = from;
  while (line[at] === ' ' || line[at] === '\t') at++;
  return line.slice(at);
}

/** Ends the headers of a part: sets its name and filename from its Content-Disposition. */
export function endHeaders(notes: PartNotes, part: Part, dataStart: number): void {
  part.dataStart = dataStart;
  const text = part.headers.get('content-disposition');
  if (text === undefined) {
    report(notes, 'a part has no Content-Disposition');
    return;
  }
  const disposition = readDisposition(text);
  if (disposition.hasInvalidQuoting) notes.flags.MULTIPART_INVALID_QUOTING = 1;
  if (disposition.problem !== null) {
    report(notes, `the Content-Disposition of a part is wrong: ${disposition.problem}`);
  }
  if (disposition.isExtendedOnly && !notes.acceptsExtendedNames) {
    report(notes, 'the Content-Disposition of a part is wrong: it has `filename*` and no `filename`');
  }
  if (disposition.name === '') report(notes, 'the Content-Disposition of a part names no field');
  notes.partNames.push(...disposition.names);
  notes.partFilenames.push(...disposition.filenames);
  part.name = disposition.name;
  part.filename = disposition.filename;
}

// Parses the `Content-Disposition` of a part (RFC 7578 §4.2, RFC 5987 for `filename*`) as ModSecurity does, and continues
// after an error if the meaning is clear.

/** A parsed header. */
export interface Disposition {
  /** The first `name`; `''`: absent. */
  readonly name: string;
  /** The first `filename`, else the decoded `filename*`; `''`: there is neither. */
  readonly filename: string;
  /** Every `name`; more than one is an error. */
  readonly names: readonly string[];
  /** Every `filename` and `filename*`. */
  readonly filenames: readonly string[];
  /** Whether there is a `filename*` and no `filename`: some applications take such a part for a field. */
  readonly isExtendedOnly: boolean;
  /** MULTIPART_INVALID_QUOTING. */
  readonly hasInvalidQuoting: boolean;
  /** The first error; `null`: none. */
  readonly problem: string | null;
}

/** The state of the parser. */
interface Reader {
  readonly text: string;
  at: number;
  readonly names: string[];
  readonly filenames: string[];
  readonly starred: string[];
  hasInvalidQuoting: boolean;
  problem: string | null;
}

const FORM_DATA = 'form-data';

/** Parses the value of the header. */
export function readDisposition(text: string): Disposition {
  const reader: Reader = {
    text,
    at: 0,
    names: [],
    filenames: [],
    starred: [],
    hasInvalidQuoting: false,
    problem: null,
  };
  if (text.startsWith(FORM_DATA)) reader.at = FORM_DATA.length;
  else {
    complain(reader, 'it is not form-data');
    const semicolon = text.indexOf(';');
    reader.at = semicolon < 0 ? text.length : semicolon;
  }
  skipBlanks(reader);
  while (reader.at < text.length && readParameter(reader));
  return summary(reader);
}

function summary(reader: Reader): Disposition {
  const { text, names, filenames, starred } = reader;
  const filename = filenames[0] ?? '';
  const star = starred[0] ?? '';
  const problem =
    reader.problem ??
    (names.length > 1 || filenames.length > 1 || starred.length > 1
      ? 'it has the same parameter twice'
      : null) ??
    (filename !== '' && !text.includes('filename=') ? '`filename` is not directly before its `=`' : null);
  return {
    name: names[0] ?? '',
    filename: filename === '' ? urlDecode(star) : filename,
    names,
    filenames: starred.length === 0 ? filenames : [...filenames, ...starred],
    isExtendedOnly: filename === '' && star !== '',
    hasInvalidQuoting: reader.hasInvalidQuoting,
    problem,
  };
}

/** Records an error, unless there is one already. */
function complain(reader: Reader, sentence: string): void {
  reader.problem ??= sentence;
}

function skipBlanks(reader: Reader): void {
  while (reader.text[reader.at] === ' ' || reader.text[reader.at] === '\t') reader.at++;
}

/** Reads `; name=value` and the blanks after it; `false`: reading ends. */
function readParameter(reader: Reader): boolean {
  const { text } = reader;
  if (text[reader.at] !== ';') {
    const before = text[reader.at - 1];
    if (before === '"' || before === "'") reader.hasInvalidQuoting = true;
    complain(reader, 'a semicolon is missing');
    return false;
  }
  reader.at++;
  skipBlanks(reader);
  const start = reader.at;
  while (reader.at < text.length && !'= \t'.includes(text.charAt(reader.at))) reader.at++;
  const name = text.slice(start, reader.at);
  skipBlanks(reader);
  if (text[reader.at] !== '=') {
    complain(reader, 'a parameter has no value');
    return false;
  }
  reader.at++;
  skipBlanks(reader);
  if (reader.at >= text.length) {
    complain(reader, 'a parameter has no value');
    return false;
  }
  readValue(reader, name);
  skipBlanks(reader);
  return true;
}

/** Reads the value of the parameter `name` and adds it to the list of that parameter. */
function readValue(reader: Reader, name: string): void {
  if (name === 'filename*') {
    reader.starred.push(readExtended(reader));
    return;
  }
  const quote = reader.text.charAt(reader.at);
  const isQuoted = quote === '"' || quote === "'";
  const value = isQuoted ? readQuoted(reader, quote) : readToken(reader);
  if (name === 'name') reader.names.push(value);
  else if (name === 'filename') reader.filenames.push(value);
  else {
    complain(reader, 'it has a parameter that is neither `name` nor `filename`');
    return;
  }
  if (quote === "'" || (!isQuoted && value.includes("'"))) reader.hasInvalidQuoting = true;
}

/** Reads a quoted value. Only the quote and a backslash can be escaped, since old browsers sent paths unescaped. */
function readQuoted(reader: Reader, quote: string): string {
  const { text } = reader;
  let value = '';
  for (reader.at++; reader.at < text.length; reader.at++) {
    const next = text.charAt(reader.at + 1);
    if (text[reader.at] === '\\' && (next === quote || next === '\\')) reader.at++;
    else if (text[reader.at] === quote) {
      reader.at++;
      return value;
    }
    value += text.charAt(reader.at);
  }
  complain(reader, 'a quote is not closed');
  return value;
}

/** The separators of tokens (RFC 2616 §2.2). */
const SEPARATORS = '()<>@,;:\\"/[]?=';

function readToken(reader: Reader): string {
  const { text } = reader;
  const start = reader.at;
  while (reader.at < text.length && isTokenAt(text, reader.at)) reader.at++;
  return text.slice(start, reader.at);
}

function isTokenAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code > 32 && code < 127 && !SEPARATORS.includes(text.charAt(at));
}

/** Characters of a charset's name, besides letters and digits (`mime-charsetc`, RFC 5987 §3.2.1). */
const CHARSET_MARKS = '!#$%&+-^_`{}~';
/** Characters of a value (`attr-char`, RFC 5987 §3.2.1), and the `%` of its escapes. */
const PLAIN_MARKS = '!#$&+-.^_`~%';

/** Reads `charset'language'text`; returns the text, not decoded. */
function readExtended(reader: Reader): string {
  const { text } = reader;
  const start = reader.at;
  while (isOneOf(text, reader.at, CHARSET_MARKS)) reader.at++;
  const language = text.indexOf("'", reader.at + 1);
  if (reader.at === start || text[reader.at] !== "'" || language < 0) {
    complain(reader, '`filename*` lacks its charset or language');
  } else reader.at = language + 1;
  const from = reader.at;
  while (reader.at < text.length && text[reader.at] !== ';') {
    if (!isOneOf(text, reader.at, PLAIN_MARKS)) complain(reader, '`filename*` holds what should be escaped');
    reader.at++;
  }
  return text.slice(from, reader.at);
}

function isOneOf(text: string, at: number, marks: string): boolean {
  return at < text.length && (isAlphanumeric(text.charCodeAt(at)) || marks.includes(text.charAt(at)));
}
