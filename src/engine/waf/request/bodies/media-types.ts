/**
 * What a body or a part of one is: by its Content-Type (RFC 9110 §8.3.1) or, where that does not say it, by its first
 * octets.
 */
import { isAlphanumeric, isSpace } from '../../octets/latin1.ts';
import { lowercase, trim, trimLeft } from '../../transformations/texts.ts';

/** The languages of bodies that are parsed. */
export type BodyLanguage = 'form' | 'graphql' | 'json' | 'multipart' | 'xml';

/** A Content-Type in parts. */
export interface MediaType {
  /** `application/json`, in lower case; `''`: absent. */
  readonly type: string;
  /** In the order sent, duplicates included; names in lower case, values without quotes. */
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
}

/** Most parameters of a Content-Type that are read. */
const MAX_PARAMETERS = 16;

const NO_TYPE: MediaType = { type: '', parameters: [] };

/** Splits a Content-Type at semicolons and at the commas that join two headers, in quoted values too: none of them is read. */
// PERF: most parts of a multipart body have none, or one without parameters.
export function readMediaType(contentType: string): MediaType {
  if (contentType === '') return NO_TYPE;
  if (!contentType.includes(';') && !contentType.includes(',')) {
    return { type: lowercase(trim(contentType)), parameters: [] };
  }
  const [type = '', ...rest] = contentType.replaceAll(',', ';').split(';', MAX_PARAMETERS + 1);
  const parameters = rest.map((parameter) => {
    const equals = parameter.indexOf('=');
    const name = equals < 0 ? parameter : parameter.slice(0, equals);
    const value = equals < 0 ? '' : trim(parameter.slice(equals + 1));
    return { name: lowercase(trim(name)), value: unquoted(value) };
  });
  return { type: lowercase(trim(type)), parameters };
}

function unquoted(value: string): string {
  const from = value.startsWith('"') || value.startsWith("'") ? 1 : 0;
  const to = value.length - (value.length > from && (value.endsWith('"') || value.endsWith("'")) ? 1 : 0);
  return value.slice(from, to);
}

/**
 * A Content-Type with its boundary as only parameter, the name in lower case. Neither order nor case has a meaning (RFC 2045
 * §5.1), but ModSecurity's parser accepts no other, and clients send `charset` first. Unchanged unless each parameter has a
 * name and one of them is the boundary.
 */
export function withBoundaryOnly(contentType: string): string {
  const [type = '', ...parameters] = contentType.split(';').filter((part) => trim(part) !== '');
  const [boundary, ...more] = parameters.filter((parameter) => lowercase(parameter).includes('boundary'));
  const isPlain = more.length === 0 && parameters.every((parameter) => parameter.includes('='));
  if (boundary === undefined || !isPlain || !lowercase(trimLeft(boundary)).startsWith('boundary')) {
    return contentType;
  }
  return `${type}; boundary${trimLeft(boundary).slice('boundary'.length)}`;
}

const NO_VALUES: readonly string[] = [];

/** The first and the last value of a parameter: applications take one of them. */
export function parameterValues({ parameters }: MediaType, name: string): readonly string[] {
  if (parameters.length === 0) return NO_VALUES;
  const values = parameters.filter((one) => one.name === name && one.value !== '').map(({ value }) => value);
  return [...new Set([...values.slice(0, 1), ...values.slice(-1)])];
}

/** Types of JSON without `json` as subtype or suffix: lines of documents, and reports of browsers. */
const JSON_TYPES: ReadonlySet<string> = new Set([
  ...['application/json5', 'application/jsonc', 'application/x-json', 'application/jsonlines'],
  ...['application/ndjson', 'application/x-ndjson', 'application/jsonl', 'application/x-jsonlines'],
  ...['application/json-seq', 'application/csp-report', 'text/x-json', 'text/jsonc', 'text/json5'],
]);

/** The language of a type; `null`: another, or unknown. */
export function languageOf(type: string): BodyLanguage | null {
  const subtype = type.slice(type.indexOf('/') + 1);
  if (type.startsWith('multipart/')) return 'multipart';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'application/graphql') return 'graphql';
  if (subtype === 'json' || subtype.endsWith('+json') || JSON_TYPES.has(type)) return 'json';
  if (subtype === 'xml' || subtype.endsWith('+xml')) return 'xml';
  return null;
}

/** Octets at the beginning that decide whether a body is text. */
const SNIFFED = 512;

/** Whether the first octets have no control characters but white space, so that they may be text. */
export function isText(text: string): boolean {
  const end = Math.min(text.length, SNIFFED);
  for (let at = 0; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < 32 && !isSpace(code) && code !== 27) return false;
  }
  return true;
}

/** The language that the first octets of a text suggest; the parser decides whether it is that. `null`: none. */
export function sniffed(text: string): BodyLanguage | null {
  const at = beginOf(text);
  const first = text.charAt(at);
  if (first === '{' || first === '[' || first === '<') return sniffedDocument(text);
  if (first === '-' && isMultipart(text, at)) return 'multipart';
  return isForm(text, at) ? 'form' : null;
}

/** As `sniffed`, of JSON and XML only. PERF: every value is asked, and most begin with a letter or a digit. */
export function sniffedDocument(text: string): 'json' | 'xml' | null {
  const at = beginOf(text);
  const first = text.charAt(at);
  if (first === '{' || first === '[') return 'json';
  return first === '<' && isMarkup(text, at) ? 'xml' : null;
}

/** The place after white space and record separators. */
function beginOf(text: string): number {
  let at = 0;
  while (isSpace(text.charCodeAt(at)) || text.charCodeAt(at) === 30) at++;
  return at;
}

/** Whether `<` at `at` begins an element, a declaration or a comment. */
function isMarkup(text: string, at: number): boolean {
  const code = text.charCodeAt(at + 1);
  return code === 33 || code === 63 || code === 95 || isLetter(code);
}

/** Whether `--boundary` and a line with `Content-` are at `at`. */
function isMultipart(text: string, at: number): boolean {
  if (!text.startsWith('--', at)) return false;
  const head = text.slice(at, at + SNIFFED);
  const feed = head.indexOf('\n');
  return feed > 2 && lowercase(head.slice(feed + 1)).startsWith('content-');
}

/** The boundary of a multipart body by its first line; `''`: it does not begin with one. */
export function sniffedBoundary(text: string): string {
  const start = text.indexOf('--');
  const feed = text.indexOf('\n', start);
  return start < 0 || feed < 0 ? '' : trim(text.slice(start + 2, feed));
}

/** Longest name of a form field that tells a form from other text. */
const MAX_FIELD_NAME = 64;

/** Whether `name=` is at `at`, the name of characters that browsers and programs use. */
function isForm(text: string, start: number): boolean {
  let at = start;
  while (at < text.length && at - start <= MAX_FIELD_NAME && isFieldOctet(text.charAt(at))) at++;
  return at > start && text[at] === '=';
}

function isFieldOctet(character: string): boolean {
  return isAlphanumeric(character.charCodeAt(0)) || '._-[]%+$'.includes(character);
}

/**
 * HTML elements that stand at the beginning of rich text. A value that begins with one is HTML, whose escaped code
 * (`&lt;script&gt;`) must stay escaped; an application that reads XML from a value expects a root element of its own.
 */
const HTML: ReadonlySet<string> = new Set(
  (
    'a abbr address article aside audio b blockquote body br button center code dd details div dl dt em embed figure font ' +
    'footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input kbd label li link main mark meta nav object ol ' +
    'p picture pre q s samp script section select small span strike strong style sub summary sup table tbody td textarea ' +
    'th title tr tt u ul var video'
  ).split(' '),
);

/** Whether the first element of a text is one of HTML; comments and declarations may precede it. */
export function isHtml(text: string): boolean {
  let start = text.indexOf('<');
  while (start >= 0 && !isLetter(text.charCodeAt(start + 1))) {
    const isComment = text.startsWith('<!--', start);
    const end = isComment ? text.indexOf('-->', start + 4) : start;
    start = end < 0 ? -1 : text.indexOf('<', end + 1);
  }
  let end = start + 1;
  while (end - start < 16 && isAlphanumeric(text.charCodeAt(end))) end++;
  return start >= 0 && HTML.has(lowercase(text.slice(start + 1, end)));
}

function isLetter(code: number): boolean {
  return isAlphanumeric(code) && code > 57;
}
