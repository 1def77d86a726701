/**
 * The state of decoding one body, and the reading of documents inside of its values. Everything found goes into lists
 * with shared bounds, so that documents in documents cost no more than their octets.
 */
import { fromCharset, isUnchanged } from './charsets.ts';
import { type JsonDialect, parseJson } from './json.ts';
import { isHtml, type MediaType, parameterValues, sniffedDocument } from './media-types.ts';
import {
  addTo,
  type BodyMembers,
  isPlainText,
  type NamedValue,
  type ParsedBody,
  report,
  toUtf8,
  type UploadedFile,
} from './parsed-body.ts';
import { parseXml } from './xml.ts';

/** Documents inside of values inside of documents; deeper ones are inspected as the text that they are. */
const MAX_NESTED_DOCUMENTS = 3;
/** Octets of converted copies (charsets, transfer encodings) by octet of the body, besides `FREE_COPIES`. */
const MAX_COPIES = 2;
/** Octets of copies that any body may have, since UTF-8 is up to three times as long as another charset. */
const FREE_COPIES = 65_536;
/**
 * Octets that parsers may read by octet of the body, besides as many as `FREE_COPIES`: a body, its values, the values of
 * documents in them, each in two charsets. More come from boundaries and names that multiply what they surround.
 */
const MAX_READS = 8;

/** The state of decoding one body. */
export interface Decoder extends BodyMembers {
  readonly truncated: boolean;
  readonly files: UploadedFile[];
  readonly xmlParts: string[];
  readonly xmlAttributes: string[];
  /** Octets of all names of JSON. */
  readonly names: JsonDialect['names'];
  /** Octets of copies left. */
  copies: number;
  /** Octets that parsers may still read. */
  reads: number;
  /** Octets of all copies and of all texts that parsers have read, for the meter. */
  read: number;
}

/** Creates the state for a body of `length` octets. */
export function newDecoder(length: number, truncated: boolean): Decoder {
  return {
    parser: 'body',
    args: [],
    error: null,
    truncated,
    files: [],
    xmlParts: [],
    xmlAttributes: [],
    names: { octets: 0 },
    copies: MAX_COPIES * length + FREE_COPIES,
    reads: MAX_READS * length + FREE_COPIES,
    read: 0,
  };
}

/** Counts a copy; `false`: there are too many octets of them, which is an error. */
export function spend(decoder: Decoder, octets: number): boolean {
  decoder.copies -= octets;
  decoder.read += octets;
  if (decoder.copies >= 0) return true;
  report(decoder, 'its converted copies are too long; the rest was not inspected');
  return false;
}

/** Counts a text that a parser is about to read; `false`: there are too many octets of them, which is an error. */
export function spendRead(decoder: Decoder, octets: number): boolean {
  decoder.reads -= octets;
  if (decoder.reads < 0) {
    report(decoder, 'it contains too much in itself; the rest was not inspected');
    return false;
  }
  decoder.read += octets;
  return true;
}

/** The supported charsets of a type that change texts; one that is not supported is an error. */
export function charsetsOf(decoder: Decoder, media: MediaType): readonly string[] {
  const values = parameterValues(media, 'charset');
  if (values.length === 0) return values;
  const labels = values.map((value) => value.toLowerCase());
  return labels.filter((label) => isConvertible(decoder, label));
}

/** Whether a charset is supported and changes texts; one that is not supported is an error. */
export function isConvertible(decoder: Decoder, label: string): boolean {
  if (isUnchanged(label)) return false;
  if (fromCharset('', label) !== null) return true;
  report(decoder, 'its charset is not supported');
  return false;
}

/** A text as it is, and converted by each charset: applications differ in whether they follow what a client declares. */
export function readingsOf(decoder: Decoder, text: string, labels: readonly string[]): readonly string[] {
  const found = [text];
  for (const label of labels) {
    const converted = decoder.copies < 0 ? null : fromCharset(text, label);
    if (converted === null || found.includes(converted)) continue;
    if (spend(decoder, converted.length)) found.push(converted);
  }
  return found;
}

/** Adds an argument, and what a document in its value contains. */
export function addArgument(decoder: Decoder, argument: NamedValue, level: number): void {
  if (addTo(decoder, decoder.args, argument)) nest(decoder, argument, level);
}

/** Reads a value that begins like JSON or XML and is that; `level` counts the documents around it. */
export function nest(decoder: Decoder, { name, value }: NamedValue, level: number): void {
  if (level >= MAX_NESTED_DOCUMENTS) return;
  const text = isWide(value) ? toUtf8(value).text : value;
  const language = sniffedDocument(text);
  if (language === 'json') nestJson(decoder, { name, value: text }, level);
  else if (language === 'xml' && !isHtml(text)) nestXml(decoder, { name, value: text }, level);
}

/** Whether a value may be UTF-16, UTF-32 or begin with a byte order mark. */
function isWide(value: string): boolean {
  const first = value.charCodeAt(0);
  return first === 0 || first >= 0xef || value.charCodeAt(1) === 0;
}

function nestJson(decoder: Decoder, { name, value }: NamedValue, level: number): void {
  const { truncated, names } = decoder;
  if (!spendRead(decoder, value.length)) return;
  const root = name === '' ? 'json' : `${name}.json`;
  const parsed = parseJson(
    { text: value, contentType: '', truncated },
    { relaxed: true, isNested: true, root, names },
  );
  if (!isDocument(decoder, parsed)) return;
  for (const argument of parsed.args) addArgument(decoder, argument, level + 1);
}

function nestXml(decoder: Decoder, { name, value }: NamedValue, level: number): void {
  if (!spendRead(decoder, value.length)) return;
  const input = { text: value, contentType: '', truncated: decoder.truncated };
  const parsed = parseXml(input, { expands: true, anyEncoding: true });
  if (!isDocument(decoder, parsed)) return;
  if (parsed.xmlText !== null) addTo(decoder, decoder.xmlParts, parsed.xmlText);
  addXml(decoder, parsed, { name, level });
}

/** Whether a value is the document that it begins like; a bound that it exceeds is an error of the body. */
function isDocument(decoder: Decoder, { error }: ParsedBody): boolean {
  if (error === null) return true;
  // The errors of all bounds end with these words.
  if (error.endsWith('was not inspected')) report(decoder, 'a document in a value exceeds a bound');
  return false;
}

/** Adds what a parsed document contains besides its whole text: texts of elements, attributes, and documents in both. */
export function addXml(
  decoder: Decoder,
  { xmlText, xmlParts, xmlAttributes }: ParsedBody,
  { name, level }: { readonly name: string; readonly level: number },
): void {
  const root = name === '' ? 'xml' : `${name}.xml`;
  for (const text of xmlParts) if (text !== xmlText) addTo(decoder, decoder.xmlParts, text);
  for (const value of xmlAttributes) {
    addTo(decoder, decoder.xmlAttributes, value);
    // Signatures that inspect `XML:/*` inspect attributes too.
    if (!isPlainText(value)) addTo(decoder, decoder.xmlParts, value);
  }
  for (const value of [...xmlParts, ...xmlAttributes]) nest(decoder, { name: root, value }, level + 1);
}
