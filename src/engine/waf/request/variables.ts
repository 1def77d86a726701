/**
 * The variables of a request as libmodsecurity 3 defines them: the request line, Host, headers, cookies, arguments, and
 * the body with the choice of its parser.
 */
import { utf8Bytes } from '../../../base/octets/octets.ts';
import { latin1Text } from '../octets/latin1.ts';
import { decodeEscapes } from '../transformations/escapes.ts';
import { readOctet } from '../transformations/percent-encoding.ts';
import { trimLeft, trimRight } from '../transformations/texts.ts';
import { BODY_PARSERS, type BodyProcessor, parseUrlEncoded } from './bodies/body.ts';
import { decodeBody } from './bodies/decode-body.ts';
import { EMPTY_BODY, type NamedValue, type ParsedBody } from './bodies/parsed-body.ts';
import type { InspectedRequest } from './inspection.ts';

/** The variables of one request line. */
export interface RequestLine {
  readonly method: string;
  /** `HTTP/1.1`. */
  readonly protocol: string;
  /** The target as sent. */
  readonly raw: string;
  /** The target without scheme and authority. */
  readonly uri: string;
  /** The path, percent-decoded once. */
  readonly filename: string;
  /** The part of `filename` after its last `/` or `\`. */
  readonly basename: string;
  /** The text after the first `?`; `null`: absent or empty. */
  readonly query: string | null;
}

/** Computes the variables of a request. */
export function readRequestLine(request: InspectedRequest): RequestLine {
  const raw = utf8AsLatin1(textOf(request.target));
  const uri = withoutAuthority(raw);
  const mark = uri.indexOf('?');
  const filename = decodeEscapes(mark < 0 ? uri : uri.slice(0, mark), '%', readOctet);
  const slash = Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\'));
  const query = mark < 0 ? '' : uri.slice(mark + 1);
  return {
    method: headerAsLatin1(textOf(request.method)),
    protocol: typeof request.protocol === 'string' ? request.protocol : 'HTTP/1.1',
    raw,
    uri,
    filename,
    basename: filename.slice(slash + 1),
    query: query === '' ? null : query,
  };
}

/** A field of the request as text; anything else that an embedder passes counts as empty. */
export function textOf(field: unknown): string {
  return typeof field === 'string' ? field : '';
}

/** Converts the absolute form `http://host/path` (RFC 9112 §3.2.2) to `/path`; any other target stays. */
function withoutAuthority(target: string): string {
  if (target.startsWith('/')) return target;
  const colon = target.indexOf('://');
  if (colon < 1) return target;
  const path = target.indexOf('/', colon + 3);
  return path < 0 ? target : target.slice(path);
}

// The variables SERVER_NAME and SERVER_PORT: host and port of a Host header (RFC 9110 §7.2).

/** The host without its port; an IPv6 address with its brackets; `null`: there is no Host header. */
export function hostOf(host: string | null): string | null {
  if (host === null) return null;
  const colon = portColon(host);
  return colon < 0 ? host : host.slice(0, colon);
}

/** The port as sent, or the default port of the scheme. */
export function portOf(host: string | null, scheme: string): string {
  const colon = host === null ? -1 : portColon(host);
  const port = colon < 0 ? '' : host!.slice(colon + 1);
  if (port !== '') return port;
  return scheme === 'http' ? '80' : '443';
}

/** The place of the colon before the port; -1: absent. A colon inside brackets belongs to an IPv6 address. */
function portColon(host: string): number {
  const colon = host.lastIndexOf(':');
  return colon > host.lastIndexOf(']') ? colon : -1;
}

// The variables REQUEST_HEADERS and REQUEST_COOKIES: named values, also several with the same name.

/** The headers in the order of the request. The host of the request becomes `host` if there is no such header. */
export function readHeaders(request: InspectedRequest): readonly NamedValue[] {
  const found: NamedValue[] = [];
  const headers = request.headers ?? {};
  if (headers['host'] === undefined && request.host !== '') add(found, 'host', request.host);
  for (const name of Object.keys(headers)) add(found, utf8AsLatin1(name), headers[name]);
  return found;
}

/** Adds a header for each text of a value; ignores anything else that an embedder may pass. */
function add(found: NamedValue[], name: string, value: unknown): void {
  if (typeof value === 'string') found.push({ name, value: headerAsLatin1(value) });
  else if (Array.isArray(value)) for (const one of value) add(found, name, one);
}

/** The first value of a header (its name in lower case); `null`: the request does not have it. */
export function headerOf(headers: readonly NamedValue[], name: string): string | null {
  for (const header of headers) if (header.name === name) return header.value;
  return null;
}

/**
 * The cookies of all Cookie headers, parsed as libmodsecurity 3 parses them: split at `;` and at the first `=`, not
 * decoded; a cookie without name is ignored.
 */
export function readCookies(headers: readonly NamedValue[]): readonly NamedValue[] {
  const found: NamedValue[] = [];
  for (const { name, value } of headers) {
    if (name !== 'cookie') continue;
    for (const piece of trimRight(value).split(';')) {
      const equals = piece.indexOf('=');
      const key = trimLeft(equals < 0 ? piece : piece.slice(0, equals));
      if (key !== '') found.push({ name: key, value: equals < 0 ? '' : piece.slice(equals + 1) });
    }
  }
  return found;
}

// The variable ARGS_GET: the arguments of a query string.

/** Parses a query, without its `?`, as a form (URL Standard, `application/x-www-form-urlencoded`). */
export function queryArguments(query: string): readonly NamedValue[] {
  return parseUrlEncoded({ text: query }).args;
}

// The variables of the request body: chooses the parser (the "processor" of ModSecurity) and runs it.

/** A parsed body. */
export interface ReadBody {
  /** The body as Latin-1: one character an octet. */
  readonly text: string;
  readonly parsed: ParsedBody;
  /** The parser that ran; `null`: none. */
  readonly processor: BodyProcessor | null;
  /** Octets that parsers have read, at least those of the body. */
  readonly octets: number;
}

/** How to parse a body. */
export interface BodyReading {
  /** `null`: do not parse it. */
  readonly processor: BodyProcessor | null;
  /** The request's `Content-Type`; `''` without one. */
  readonly contentType: string;
  /** Whether the body continues after the inspected octets. */
  readonly truncated: boolean;
  /** Whether it is read as applications do, whatever its type says. */
  readonly decodes: boolean;
}

/** Parses a body. */
export function readBody(octets: Uint8Array, { processor, decodes, ...how }: BodyReading): ReadBody {
  const text = latin1Text(octets, 0, octets.length);
  if (decodes) {
    const decoded = decodeBody({ text, ...how }, processor);
    return {
      text,
      parsed: decoded.parsed,
      processor: decoded.processor,
      octets: Math.max(decoded.read, text.length),
    };
  }
  const parsed = processor === null ? EMPTY_BODY : BODY_PARSERS[processor]({ text, ...how });
  return { text, parsed, processor, octets: text.length };
}

/**
 * The parser for a content type, as ModSecurity and the rules 200000, 200001 and 200006 of its recommended configuration
 * choose it; `null`: none.
 */
export function processorOf(contentType: string | null): BodyProcessor | null {
  const type = (contentType ?? '').toLowerCase();
  if (type.startsWith('multipart/form-data')) return 'MULTIPART';
  if (type.startsWith('application/x-www-form-urlencoded')) return 'URLENCODED';
  if (type.startsWith('application/json')) return 'JSON';
  if (['application/xml', 'application/soap+xml', 'text/xml'].some((one) => type.startsWith(one)))
    return 'XML';
  return type.startsWith('application/') && vendorJson(type) ? 'JSON' : null;
}

/** Whether a type is like `application/problem+json`: letters, digits, `.` or `-`, then `+json` (RFC 6839 §3.1). */
function vendorJson(type: string): boolean {
  const plus = type.indexOf('+');
  const from = 'application/'.length;
  if (plus <= from || !type.startsWith('+json', plus)) return false;
  for (let at = from; at < plus; at++) {
    const code = type.charCodeAt(at);
    if (!((code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 45 || code === 46))
      return false;
  }
  return true;
}

// Converts text of the request to Latin-1: one character an octet.

/** Converts Unicode text to the octets of its UTF-8; text in ASCII is returned as it is. */
export function utf8AsLatin1(text: string): string {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) >= 0x80) {
      const octets = utf8Bytes(text);
      return latin1Text(octets, 0, octets.length);
    }
  }
  return text;
}

/** Converts a header. Node's HTTP parser returns Latin-1; a header with characters above U+00FF is Unicode text. */
export function headerAsLatin1(text: string): string {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return utf8AsLatin1(text);
  return text;
}
