/**
 * XML 1.0 as far as signatures ask: the text of the whole document (ModSecurity's `XML:/*` is the string value of the
 * root: character data and CDATA, no comments, no instructions) and the value of every attribute (`XML://@*`, which
 * leaves namespace declarations out). Nothing declared in a DOCTYPE is expanded or fetched; declaring an entity is an
 * error. What is not well-formed is reported and read on over, so that what follows is seen too.
 */
import { isAlphanumeric, isSpace } from '../../octets/latin1.ts';
import { toUtf8 } from './charset.ts';
import { MAX_XML_DEPTH } from './limits.ts';
import {
  addTo,
  type BodyInput,
  type BodyMembers,
  EMPTY_BODY,
  type ParsedBody,
  report,
} from './parsed-body.ts';
import { dereference } from './xml-references.ts';

const SLASH = 47;
const EQUALS = 61;
const GREATER = 62;
const QUOTES = [34, 39];

interface Scanner extends BodyMembers {
  readonly text: string;
  readonly truncated: boolean;
  /** Whether the document came in UTF-16 or UTF-32. */
  readonly converted: boolean;
  readonly pieces: string[];
  readonly attributes: string[];
  /** Names of the elements that are open. */
  readonly open: string[];
  hasRoot: boolean;
  at: number;
}

export function parseXml(input: BodyInput): ParsedBody {
  const { text, converted } = toUtf8(input.text);
  const scanner: Scanner = {
    parser: 'xml',
    args: [],
    error: null,
    text,
    truncated: input.truncated,
    converted,
    pieces: [],
    attributes: [],
    open: [],
    hasRoot: false,
    at: 0,
  };
  while (scanner.at < text.length) {
    readText(scanner);
    if (scanner.at < text.length) readMarkup(scanner);
  }
  if (scanner.open.length > 0) unfinished(scanner, 'an element');
  if (text !== '' && !scanner.hasRoot && !input.truncated) report(scanner, 'it holds no element');
  return {
    ...EMPTY_BODY,
    xmlText: scanner.hasRoot || scanner.pieces.length > 0 ? scanner.pieces.join('') : null,
    xmlAttributes: scanner.attributes,
    error: scanner.error,
  };
}

function readText(scanner: Scanner): void {
  const { text, at } = scanner;
  const next = text.indexOf('<', at);
  const end = next < 0 ? text.length : next;
  scanner.at = end;
  if (end === at) return;
  if (scanner.open.length === 0) {
    if (isBlank(text, at, end)) return;
    report(scanner, `text stands outside of the root element at octet ${at}`);
  }
  scanner.pieces.push(plain(scanner, text.slice(at, end)));
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isSpace(text.charCodeAt(at))) return false;
  return true;
}

function plain(scanner: Scanner, raw: string): string {
  const { text, hasUnknown } = dereference(raw);
  const isCut = scanner.truncated && scanner.at === scanner.text.length;
  if (hasUnknown && !isCut) report(scanner, 'it refers to an entity that is not expanded');
  return text;
}

/** The longer ones a cut may leave a piece of. */
const OPENINGS = ['<!--', '<![CDATA[', '<!DOCTYPE'];

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

function startsName(code: number): boolean {
  return code >= 0x80 || code === 95 || code === 58 || (isAlphanumeric(code) && code > 57);
}

/** Goes behind the next `end`, or to the end of the text; gives where it stands. */
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

function unfinished(scanner: Scanner, what: string): void {
  if (!scanner.truncated) report(scanner, `it ends inside ${what}`);
}

function readCdata(scanner: Scanner): void {
  const from = scanner.at + 9;
  if (scanner.open.length === 0) report(scanner, 'text stands outside of the root element');
  const end = skipPast(scanner, ']]>', { from, what: 'CDATA' });
  scanner.pieces.push(scanner.text.slice(from, end));
}

/** Encodings whose octets below 128 are ASCII, so that what signatures look for can be read as it is. */
const READABLE = ['utf-8', 'utf8', 'us-ascii', 'ascii', 'iso-8859-', 'windows-125', 'latin1'];
/** Encodings that `toUtf8` tells by their octets. */
const CONVERTED = ['utf-16', 'utf-32', 'iso-10646-ucs-'];

/** An instruction says nothing to signatures, except the declaration at the start, which names the encoding. */
function readInstruction(scanner: Scanner): void {
  const from = scanner.at + 2;
  const end = skipPast(scanner, '?>', { from, what: 'an instruction' });
  const isCut = scanner.truncated && end === scanner.text.length;
  if (from > 2 || isCut || !scanner.text.startsWith('xml', from)) return;
  const declaration = scanner.text.slice(from, end).toLowerCase();
  const label = declaration.indexOf('encoding');
  if (label < 0) return;
  const readable = (scanner.converted ? CONVERTED : READABLE).some((name) =>
    [`"${name}`, `'${name}`].some((quoted) => declaration.includes(quoted, label)),
  );
  if (!readable) report(scanner, 'it declares an encoding that is not the one it has, or none that is read');
}

/** Passes over a DOCTYPE with its internal subset; quoted text and comments in it may hold brackets. */
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
    else if (text.startsWith('<!ENTITY', at)) report(scanner, 'it declares an entity, which is not expanded');
  }
  if (at >= text.length) unfinished(scanner, 'a DOCTYPE');
  scanner.at = at + 1;
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

/** Reads one attribute; false at the end of the tag, where `scanner.at` is its `>` or `/>`, or the end of the text. */
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
    if (!isCut) report(scanner, `an attribute without value stands at octet ${start}`);
    if (scanner.at === start) scanner.at++;
    return true;
  }
  scanner.at++;
  skipBlanks(scanner);
  // White space as written becomes spaces; a reference to it stays what it refers to (XML 1.0 §3.3.3).
  const value = plain(scanner, spaced(attributeValue(scanner)));
  if (name === 'xmlns' || name.startsWith('xmlns:')) return true;
  addTo(scanner, scanner.attributes, value);
  return true;
}

function skipBlanks(scanner: Scanner): void {
  while (isSpace(scanner.text.charCodeAt(scanner.at))) scanner.at++;
}

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
