/**
 * Splits a multipart text of any subtype (RFC 2046 §5.1) into its parts as tolerant applications do, with the transfer
 * encoding of each undone (RFC 2045 §6). `body.ts` judges whether a form conforms; here nothing is an error.
 */
import { hexOctet } from '../../octets/latin1.ts';
import { base64DecodeExt } from '../../transformations/encodings.ts';
import { lowercase, trim } from '../../transformations/texts.ts';
import { readDisposition } from './multipart-part.ts';
import { MAX_BODY_ARGUMENTS } from './parsed-body.ts';

/** Octets of the headers of a part that are read. */
const MAX_HEADER_OCTETS = 16_384;

/** A part. */
export interface MultipartPart {
  /** Every `name` of every Content-Disposition. */
  readonly names: readonly string[];
  /** Every `filename` of every Content-Disposition; empty: it is no file. */
  readonly filenames: readonly string[];
  /** Whether an application may take it for a field: no `filename` is written as `filename=`. */
  readonly isField: boolean;
  /** `''`: it has none. */
  readonly contentType: string;
  /** Whether a transfer encoding was undone. */
  readonly isDecoded: boolean;
  readonly data: string;
}

/** Splits a text at the lines that begin with `--` and the boundary; at most `MAX_BODY_ARGUMENTS` parts. */
export function splitMultipart(text: string, boundary: string): readonly MultipartPart[] {
  const parts: MultipartPart[] = [];
  const delimiter = `--${boundary}`;
  let start = delimiterFrom(text, delimiter, 0);
  while (start < text.length && parts.length < MAX_BODY_ARGUMENTS) {
    const after = start + delimiter.length;
    if (text.startsWith('--', after)) break;
    const feed = text.indexOf('\n', after);
    const from = feed < 0 ? text.length : feed + 1;
    start = delimiterFrom(text, delimiter, from);
    parts.push(readPart(text.slice(from, start === text.length ? start : withoutLineEnd(text, from, start))));
  }
  return parts;
}

/** The place of the next line that begins with the delimiter, or the end of the text. */
function delimiterFrom(text: string, delimiter: string, from: number): number {
  let at = text.indexOf(delimiter, from);
  while (at > 0 && text[at - 1] !== '\n') at = text.indexOf(delimiter, at + 1);
  return at < 0 ? text.length : at;
}

/** The end of data before a delimiter: the line end belongs to the delimiter. */
function withoutLineEnd(text: string, from: number, delimiter: number): number {
  if (delimiter <= from) return from;
  return delimiter - 1 > from && text[delimiter - 2] === '\r' ? delimiter - 2 : delimiter - 1;
}

function readPart(part: string): MultipartPart {
  const { headers, data } = splitHead(part);
  const names: string[] = [];
  const filenames: string[] = [];
  let isField = true;
  let contentType = '';
  let encoding = '';
  for (const { name, value } of headers) {
    if (name === 'content-type') contentType = contentType === '' ? value : `${contentType}, ${value}`;
    else if (name === 'content-transfer-encoding') encoding = encoding === '' ? lowercase(value) : encoding;
    else if (name === 'content-disposition') {
      const disposition = readDisposition(value);
      names.push(...disposition.names);
      filenames.push(...disposition.filenames.filter((filename) => filename !== ''));
      isField &&= disposition.isExtendedOnly || disposition.filenames.every((filename) => filename === '');
    }
  }
  const decoded = undone(data, encoding);
  return {
    names: names.length < 2 ? names : [...new Set(names)],
    filenames,
    isField,
    contentType,
    isDecoded: decoded !== null,
    data: decoded ?? data,
  };
}

interface Head {
  /** Names in lower case. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly data: string;
}

/** Splits a part at its first empty line; folded lines are joined. */
function splitHead(part: string): Head {
  const headers: { name: string; value: string }[] = [];
  for (let start = 0; start < part.length && start < MAX_HEADER_OCTETS; ) {
    const feed = part.indexOf('\n', start);
    const end = feed < 0 ? part.length : feed;
    const line = part.slice(start, part[end - 1] === '\r' ? end - 1 : end);
    start = end + 1;
    if (line === '') return { headers, data: part.slice(start) };
    const last = headers.at(-1);
    const colon = line.indexOf(':');
    if ((line[0] === ' ' || line[0] === '\t') && last !== undefined) last.value += ` ${trim(line)}`;
    else if (colon > 0) {
      headers.push({ name: lowercase(trim(line.slice(0, colon))), value: trim(line.slice(colon + 1)) });
    }
  }
  return { headers, data: '' };
}

/** Undoes a Content-Transfer-Encoding; `null`: it encodes nothing, or is unknown. */
function undone(data: string, encoding: string): string | null {
  if (encoding === 'base64') return base64DecodeExt(data);
  return encoding === 'quoted-printable' ? fromQuotedPrintable(data) : null;
}

/** Decodes quoted-printable (RFC 2045 §6.7); what is no escape stays as it is. */
function fromQuotedPrintable(text: string): string {
  let out = '';
  let from = 0;
  for (let at = text.indexOf('='); at >= 0; at = text.indexOf('=', at + 1)) {
    const octet = hexOctet(text, at + 1);
    const lineEnd = octet >= 0 ? 0 : softBreak(text, at + 1);
    if (octet < 0 && lineEnd === 0) continue;
    out += text.slice(from, at) + (octet >= 0 ? String.fromCharCode(octet) : '');
    from = octet >= 0 ? at + 3 : lineEnd;
  }
  return out + text.slice(from);
}

/** The place after the line end at `at`; 0: absent. */
function softBreak(text: string, at: number): number {
  if (text.startsWith('\r\n', at)) return at + 2;
  return text[at] === '\n' ? at + 1 : 0;
}
