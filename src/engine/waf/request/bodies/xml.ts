/**
 * Parses the parts of XML 1.0 that signatures inspect: the text of the whole document (ModSecurity's `XML:/*`, the string
 * value of the root: character data and CDATA, no comments, no processing instructions) and the value of every attribute
 * (`XML://@*`, without namespace declarations). Nothing that a DOCTYPE refers to is fetched. As ModSecurity reads, an
 * entity declaration is an error; for decoded bodies, entities with a value are expanded within bounds, and the text of
 * each element is returned too. Malformed markup is reported, and reading continues, so that signatures inspect the rest.
 */
import { isAlphanumeric, isSpace } from '../../octets/latin1.ts';
import {
  addTo,
  type BodyInput,
  type BodyMembers,
  EMPTY_BODY,
  isPlainText,
  type ParsedBody,
  report,
  toUtf8,
} from './parsed-body.ts';
import {
  declareEntity,
  dereference,
  type EntityTable,
  MAX_EXPANSION,
  newEntityTable,
} from './xml-entities.ts';

/** Maximum nesting depth of XML elements: the limit of libxml2. */
const MAX_XML_DEPTH = 256;

const SLASH = 47;
const EQUALS = 61;
const GREATER = 62;
const QUOTES = [34, 39];

/** The state of the parser. */
interface Scanner extends BodyMembers {
  readonly text: string;
  readonly truncated: boolean;
  /** Whether the document was UTF-16 or UTF-32. */
  readonly converted: boolean;
  /** The declared entities; `null`: they are not expanded. */
  readonly entities: EntityTable | null;
  /** Whether the encoding that the document declares is not compared with its octets: it was converted before. */
  readonly anyEncoding: boolean;
  /** Pieces of character data, in order. */
  readonly pieces: string[];
  /** The texts between tags that are not plain, in order; none if entities are not expanded. */
  readonly runs: string[];
  /** The place in `pieces` where the current text between tags begins. */
  runStart: number;
  readonly attributes: string[];
  /** The names of the open elements, the outermost first. */
  readonly open: string[];
  hasRoot: boolean;
  /** The place of the next character. */
  at: number;
}

/** How to read a document. */
export interface XmlDialect {
  /** Whether declared entities are expanded, and the texts between tags returned. */
  readonly expands: boolean;
  /** Whether the encoding that the document declares is not compared with its octets: it was converted before. */
  readonly anyEncoding: boolean;
}

/** Parses a body; without a dialect, as ModSecurity does. */
export function parseXml(
  input: BodyInput,
  { expands, anyEncoding }: XmlDialect = { expands: false, anyEncoding: false },
): ParsedBody {
  const { text, converted } = toUtf8(input.text);
  const scanner: Scanner = {
    parser: 'xml',
    args: [],
    error: null,
    text,
    truncated: input.truncated,
    converted,
    entities: expands ? newEntityTable() : null,
    anyEncoding,
    pieces: [],
    runs: [],
    runStart: 0,
    attributes: [],
    open: [],
    hasRoot: false,
    at: 0,
  };
  while (scanner.at < text.length) {
    readText(scanner);
    if (scanner.at < text.length) readMarkup(scanner);
  }
  endRun(scanner);
  if (scanner.open.length > 0) unfinished(scanner, 'an element');
  if (text !== '' && !scanner.hasRoot && !input.truncated) report(scanner, 'it holds no element');
  return {
    ...EMPTY_BODY,
    xmlText: scanner.hasRoot || scanner.pieces.length > 0 ? scanner.pieces.join('') : null,
    xmlParts: scanner.runs,
    xmlAttributes: scanner.attributes,
    error: scanner.error,
  };
}

/** Ends the text between two tags and adds it, unless it is plain. */
function endRun(scanner: Scanner): void {
  const { pieces, runStart, runs, entities } = scanner;
  scanner.runStart = pieces.length;
  if (entities === null || pieces.length === runStart) return;
  const text = pieces.length === runStart + 1 ? pieces[runStart]! : pieces.slice(runStart).join('');
  if (!isPlainText(text)) addTo(scanner, runs, text);
}

/** Reads character data up to the next `<`. */
function readText(scanner: Scanner): void {
  const { text, at } = scanner;
  const next = text.indexOf('<', at);
  const end = next < 0 ? text.length : next;
  scanner.at = end;
  if (end === at) return;
  if (scanner.open.length === 0) {
    if (isBlank(text, at, end)) return;
    report(scanner, `text is outside of the root element at octet ${at}`);
  }
  scanner.pieces.push(plain(scanner, text.slice(at, end)));
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isSpace(text.charCodeAt(at))) return false;
  return true;
}

/** Replaces references; reports those to entities that are not predefined. */
function plain(scanner: Scanner, raw: string): string {
  const { entities } = scanner;
  const { text, hasUnknown } = dereference(raw, entities);
  const isCut = scanner.truncated && scanner.at === scanner.text.length;
  if (hasUnknown && !isCut) report(scanner, 'it refers to an entity that is not expanded');
  if (entities?.isExhausted === true) {
    report(scanner, `its entities expand to more than ${MAX_EXPANSION} octets; the rest was not inspected`);
  }
  return text;
}

/** The openings of markup of which a truncated body may contain only a part. */
const OPENINGS = ['<!--', '<![CDATA[', '<!DOCTYPE'];

/** Reads the markup whose `<` is at the current place. */
function readMarkup(scanner: Scanner): void {
  const { text, at } = scanner;
  if (text.startsWith('<!--', at)) skipPast(scanner, '-->', { from: at + 4, what: 'a comment' });
  else if (text.startsWith('<![CDATA[', at)) readCdata(scanner);
  else if (text.startsWith('<!DOCTYPE', at)) skipDoctype(scanner);
  else if (text.startsWith('<?', at)) readInstruction(scanner);
  else if (text.startsWith('</', at)) readEndTag(scanner);
  else if (startsName(text.charCodeAt(at + 1))) readStartTag(scanner);
  else if (scanner.truncated && OPENINGS.some((opening) => opening.startsWith(text.slice(at, at + 9)))) {
    scanner.at = text.length;
  } else {
    report(scanner, `no markup follows \`<\` at octet ${at}`);
    scanner.pieces.push('<');
    scanner.at++;
  }
}

/** Whether an octet can start a name (XML 1.0 §2.3); all octets above 127 count. */
function startsName(code: number): boolean {
  return code >= 0x80 || code === 95 || code === 58 || (isAlphanumeric(code) && code > 57);
}

/** Skips to the place after the next `end`, or to the end of the text; returns the place of `end`. */
function skipPast(
  scanner: Scanner,
  end: string,
  { from, what }: { readonly from: number; readonly what: string },
): number {
  const found = scanner.text.indexOf(end, from);
  if (found < 0) {
    unfinished(scanner, what);
    scanner.at = scanner.text.length;
    return scanner.at;
  }
  scanner.at = found + end.length;
  return found;
}

/** Reports that the text ends inside `what`, unless the body is truncated. */
function unfinished(scanner: Scanner, what: string): void {
  if (!scanner.truncated) report(scanner, `it ends inside ${what}`);
}

function readCdata(scanner: Scanner): void {
  const from = scanner.at + 9;
  if (scanner.open.length === 0) report(scanner, 'text is outside of the root element');
  const end = skipPast(scanner, ']]>', { from, what: 'CDATA' });
  scanner.pieces.push(scanner.text.slice(from, end));
}

/** Encodings whose octets below 128 are ASCII, so that signatures can inspect them without conversion. */
const READABLE = ['utf-8', 'utf8', 'us-ascii', 'ascii', 'iso-8859-', 'windows-125', 'latin1'];
/** Encodings that `toUtf8` recognises by their octets. */
const CONVERTED = ['utf-16', 'utf-32', 'iso-10646-ucs-'];

/** Skips a processing instruction; checks the encoding in an XML declaration at the start. */
function readInstruction(scanner: Scanner): void {
  const from = scanner.at + 2;
  const end = skipPast(scanner, '?>', { from, what: 'an instruction' });
  const isCut = scanner.truncated && end === scanner.text.length;
  if (scanner.anyEncoding || from > 2 || isCut || !scanner.text.startsWith('xml', from)) return;
  const declaration = scanner.text.slice(from, end).toLowerCase();
  const label = declaration.indexOf('encoding');
  if (label < 0) return;
  const readable = (scanner.converted ? CONVERTED : READABLE).some((name) =>
    [`"${name}`, `'${name}`].some((quoted) => declaration.includes(quoted, label)),
  );
  if (!readable) report(scanner, 'it declares an encoding that is not its own, or that is not supported');
}

/** Skips a DOCTYPE with its internal subset; quoted text and comments in it may contain brackets. */
function skipDoctype(scanner: Scanner): void {
  const { text } = scanner;
  let inSubset = false;
  let at = scanner.at + 9;
  for (; at < text.length; at++) {
    const character = text[at];
    if (character === '>' && !inSubset) break;
    if (character === '[') inSubset = true;
    else if (character === ']') inSubset = false;
    else if (character === '"' || character === "'") at = endOf(text, character, at + 1);
    else if (text.startsWith('<!--', at)) at = endOf(text, '-->', at + 4) + 2;
    else if (text.startsWith('<!ENTITY', at)) at = readEntity(scanner, at);
  }
  if (at >= text.length) unfinished(scanner, 'a DOCTYPE');
  scanner.at = at + 1;
}

/** Reads the declaration whose `<` is at `at`; returns its last place that was read. */
function readEntity(scanner: Scanner, at: number): number {
  const { entities, text } = scanner;
  const end = entities === null ? null : declareEntity(entities, text, at);
  if (end === null) report(scanner, 'it declares an entity, which is not expanded');
  return end ?? at;
}

function endOf(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from);
  return found < 0 ? text.length : found;
}

function readEndTag(scanner: Scanner): void {
  const from = scanner.at + 2;
  const end = skipPast(scanner, '>', { from, what: 'a tag' });
  const name = scanner.text.slice(from, nameEnd(scanner.text, from, end));
  const opened = scanner.open.pop();
  endRun(scanner);
  const isCut = scanner.truncated && end === scanner.text.length;
  if (opened !== name && !isCut) report(scanner, `the tag at octet ${from - 2} closes no open element`);
}

function nameEnd(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && !endsName(text.charCodeAt(at))) at++;
  return at;
}

function endsName(code: number): boolean {
  return isSpace(code) || code === SLASH || code === GREATER || code === EQUALS;
}

function readStartTag(scanner: Scanner): void {
  const { text } = scanner;
  const start = scanner.at + 1;
  scanner.at = nameEnd(text, start, text.length);
  const name = text.slice(start, scanner.at);
  if (scanner.open.length === 0 && scanner.hasRoot) report(scanner, 'it holds more than one root element');
  scanner.hasRoot = true;
  endRun(scanner);
  while (readAttribute(scanner));
  if (scanner.at >= text.length) {
    unfinished(scanner, 'a tag');
    return;
  }
  if (text.charCodeAt(scanner.at) === SLASH) {
    scanner.at += 2;
    return;
  }
  scanner.at++;
  if (scanner.open.length >= MAX_XML_DEPTH) {
    report(scanner, `it is nested more than ${MAX_XML_DEPTH} deep; the rest was not inspected`);
    scanner.at = text.length;
    return;
  }
  scanner.open.push(name);
}

/** Reads one attribute; `false`: the current place is the `>` or `/>` of the tag, or the end of the text. */
function readAttribute(scanner: Scanner): boolean {
  const { text } = scanner;
  skipBlanks(scanner);
  const code = text.charCodeAt(scanner.at);
  if (scanner.at >= text.length || code === GREATER) return false;
  if (code === SLASH && text.charCodeAt(scanner.at + 1) === GREATER) return false;
  const start = scanner.at;
  scanner.at = nameEnd(text, start, text.length);
  const name = text.slice(start, scanner.at);
  skipBlanks(scanner);
  if (name === '' || text.charCodeAt(scanner.at) !== EQUALS) {
    const isCut = scanner.truncated && scanner.at + 1 >= text.length;
    if (!isCut) report(scanner, `the attribute at octet ${start} has no value`);
    if (scanner.at === start) scanner.at++;
    return true;
  }
  scanner.at++;
  skipBlanks(scanner);
  // Literal white space becomes spaces; referenced white space does not (XML 1.0 §3.3.3, attribute-value normalization).
  const value = plain(scanner, spaced(attributeValue(scanner)));
  if (name === 'xmlns' || name.startsWith('xmlns:')) return true;
  addTo(scanner, scanner.attributes, value);
  return true;
}

function skipBlanks(scanner: Scanner): void {
  while (isSpace(scanner.text.charCodeAt(scanner.at))) scanner.at++;
}

/** Reads a quoted value, or reports an unquoted one and reads it up to white space or `>`. */
function attributeValue(scanner: Scanner): string {
  const { text } = scanner;
  const quote = text.charCodeAt(scanner.at);
  if (QUOTES.includes(quote)) {
    const from = scanner.at + 1;
    const end = skipPast(scanner, text.charAt(scanner.at), { from, what: 'an attribute' });
    return text.slice(from, end);
  }
  const from = scanner.at;
  if (from < text.length) report(scanner, `the value at octet ${from} is not quoted`);
  while (scanner.at < text.length && !endsValue(text.charCodeAt(scanner.at))) scanner.at++;
  return text.slice(from, scanner.at);
}

function endsValue(code: number): boolean {
  return isSpace(code) || code === GREATER;
}

function spaced(value: string): string {
  return value.replaceAll('\t', ' ').replaceAll('\n', ' ').replaceAll('\r', ' ');
}
