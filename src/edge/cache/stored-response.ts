/**
 * A stored response: the headers that are stored with it, and the response that one client gets from it, with
 * conditions, range, `Age` and `Cache-Status`.
 */
import { splitList } from '../../base/http/cache-control.ts';
import { headersOf304, isNotModified, rangeOf, type Validators } from '../../base/http/conditions.ts';
import { endToEnd, TAG_HEADERS } from '../../base/http/header-fields.ts';
import { type HeaderList, headerOf, type ResponsePart, withoutHeaders } from '../../base/http/response.ts';
import { ageOf, type CacheEntry } from './entry.ts';
import type { CacheRequest } from './request.ts';

/** A response as stored, or as it is being stored. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: HeaderList;
  /** `null`: not known yet. */
  readonly length: number | null;
}

/** Applies a request's method, conditions and range (RFC 9110 §13.2.2) to a whole response. */
export function shape({ status, headers, length }: StoredResponse, request: CacheRequest): ResponsePart {
  const { headers: requested, method } = request;
  const success = status >= 200 && status < 300;
  if (success && (requested['if-none-match'] !== undefined || requested['if-modified-since'] !== undefined)) {
    if (isNotModified(requested, headers, request.now)) {
      return { status: 304, headers: headersOf304(headers), from: 0, to: 0 };
    }
  }
  if (method === 'HEAD') return { status, headers, from: 0, to: 0 };
  const to = length ?? Number.POSITIVE_INFINITY;
  if (status !== 200 || length === null || requested['range'] === undefined)
    return { status, headers, from: 0, to };
  const range = rangeOf(requested, headers, length);
  if (range === 'whole') return { status, headers, from: 0, to };
  if (range === 'none') {
    const unsatisfied = [
      ...headersOf304(headers),
      'Content-Range',
      `bytes */${length}`,
      'Content-Length',
      '0',
    ];
    return { status: 416, headers: unsatisfied, from: 0, to: 0 };
  }
  return { status: 206, headers: headersOf206(headers, { ...range, of: length }), ...range };
}

/**
 * The client headers of an entry, with the settings' browser lifetime if there is one. Cached in the entry
 * for the next client.
 */
function clientHeaders(entry: CacheEntry, browserTtl: number | null): HeaderList {
  const { prepared, status, headers, terms } = entry;
  if (prepared.browserTtl !== browserTtl) {
    prepared.browserTtl = browserTtl;
    prepared.headers = browserHeaders({ status, headers, length: null }, browserTtl, terms.mode === 'force');
  }
  return prepared.headers;
}

/** The headers of a response with a browser lifetime, if the lifetime applies to it. */
export function browserHeaders(
  { status, headers }: StoredResponse,
  browserTtl: number | null,
  forced: boolean,
): HeaderList {
  const life = { status, headers, browserTtl, forced };
  return setsBrowserLifetime(life) ? withBrowserLifetime(life) : headers;
}

/**
 * The response to one client from an entry, without its body. PERF: most hits are whole responses, whose
 * headers are a list built once and four more items.
 */
export function shapeEntry(entry: CacheEntry, request: CacheRequest, result: string): ResponsePart {
  const { browserTtl } = request.settings;
  const headers = clientHeaders(entry, browserTtl);
  const shaped = shape({ status: entry.status, headers, length: entry.length }, request);
  const status = `edgeplan; ${result}`;
  // Under a browser lifetime the edge acts as the origin: the response has age 0.
  if (headers !== entry.headers) return { ...shaped, headers: [...shaped.headers, 'Cache-Status', status] };
  const age = String(ageOf(entry, request.now));
  return { ...shaped, headers: [...shaped.headers, 'Age', age, 'Cache-Status', status] };
}

/**
 * Headers for proxies only (RFC 9111 §3.1), headers computed for each response, and the cookies of one visitor; never
 * stored. Tags are stored apart.
 */
const NEVER_STORED = [
  ...['age', 'proxy-authentication-info', 'proxy-authorization', 'set-cookie'],
  ...TAG_HEADERS,
] as const;
/** Headers that a 304 does not update, since they describe the stored body (RFC 9111 §3.2). */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-length',
  'content-encoding',
  'content-range',
  'content-type',
  'content-md5',
  'etag',
]);
const LENGTH: ReadonlySet<string> = new Set(['content-length']);
/** Headers of the whole that a part replaces; `Content-Range` has no meaning in a 200 (RFC 9110 §14.4). */
const REPLACED_IN_PART: ReadonlySet<string> = new Set(['content-length', 'content-range']);
const LIFETIME: ReadonlySet<string> = new Set(['cache-control', 'expires', 'pragma', 'age', 'date']);

/** The headers of a response, and those of them that its directives exclude from storage. */
export interface StorableHeaders {
  readonly headers: HeaderList;
  /** Lower-case names of headers to leave out. */
  readonly omit: readonly string[];
  readonly now: number;
}

/** The headers to store; adds `Date` if the origin sent none (RFC 9110 §6.6.1). */
export function storedHeaders({ headers, omit, now }: StorableHeaders): string[] {
  const storable = withoutHeaders(endToEnd(headers), new Set([...NEVER_STORED, ...omit]));
  if (headerOf(storable, 'date') === null) storable.push('Date', new Date(now).toUTCString());
  return storable;
}

/**
 * The headers that only the visitor gets whose request fetched the response: its cookies, and those that its
 * directives exclude from storage (RFC 9111 §5.2.2.4, §5.2.2.7).
 */
export function visitorHeaders({ headers, omit }: Omit<StorableHeaders, 'now'>): HeaderList {
  if (omit.length === 0 && headerOf(headers, 'set-cookie') === null) return NO_HEADERS;
  const own: string[] = [];
  const all = endToEnd(headers);
  for (let at = 0; at < all.length; at += 2) {
    const name = all[at]!.toLowerCase();
    if (name === 'set-cookie' || omit.includes(name)) own.push(all[at]!, all[at + 1]!);
  }
  return own;
}

const NO_HEADERS: HeaderList = [];

/** Adds the length of the complete body. */
export function withLength(headers: HeaderList, length: number): HeaderList {
  return [...withoutHeaders(headers, LENGTH), 'Content-Length', String(length)];
}

/**
 * Stored headers after a 304 (RFC 9111 §3.2): a header of the 304 replaces the stored one of the same name.
 */
export function freshenedHeaders(stored: HeaderList, update: StorableHeaders): string[] {
  const changes = withoutHeaders(storedHeaders(update), BODY_HEADERS);
  const names = new Set<string>();
  for (let at = 0; at < changes.length; at += 2) names.add(changes[at]!.toLowerCase());
  return [...withoutHeaders(stored, names), ...changes];
}

/** The validators of a response (RFC 9110 §8.8). */
export function validatorsOf(headers: HeaderList): Validators {
  return { etag: headerOf(headers, 'etag'), lastModified: headerOf(headers, 'last-modified') };
}

/** The headers of a 206 with one part; `to` is excluded (RFC 9110 §15.3.7). */
function headersOf206(headers: HeaderList, part: { from: number; to: number; of: number }): string[] {
  const { from, to, of } = part;
  const range = `bytes ${from}-${to - 1}/${of}`;
  const common = withoutHeaders(headers, REPLACED_IN_PART);
  return [...common, 'Content-Range', range, 'Content-Length', String(to - from)];
}

/** A lifetime for browsers that differs from the origin's. */
export interface BrowserLifetime {
  readonly status: number;
  readonly headers: HeaderList;
  /** Seconds; `null`: as set by the origin. */
  readonly browserTtl: number | null;
  /** Replaces the origin's `private`, `no-store` and `no-cache` too. */
  readonly forced: boolean;
}

/**
 * Whether a browser lifetime applies to a response: not to errors, and not to one that must not be
 * stored.
 */
export function setsBrowserLifetime({ status, headers, browserTtl, forced }: BrowserLifetime): boolean {
  if (browserTtl === null || status >= 400) return false;
  return forced || !splitList(headerOf(headers, 'cache-control') ?? '').some((one) => isOwn(nameOf(one)));
}

/**
 * Headers that give browsers another lifetime. Removes `Date` and `Age`: a browser computes the age from
 * them, and the time in the edge's cache would shorten the lifetime.
 */
export function withBrowserLifetime({ headers, browserTtl, forced }: BrowserLifetime): string[] {
  const directives = splitList(headerOf(headers, 'cache-control') ?? '');
  const stays = directives.filter((one) => nameOf(one) !== 'max-age' && !(forced && isOwn(nameOf(one))));
  return [
    ...withoutHeaders(headers, LIFETIME),
    'Cache-Control',
    [...stays, `max-age=${browserTtl}`].join(', '),
  ];
}

function nameOf(directive: string): string {
  const equals = directive.indexOf('=');
  return (equals < 0 ? directive : directive.slice(0, equals)).toLowerCase();
}

function isOwn(name: string): boolean {
  return name === 'no-store' || name === 'no-cache' || name === 'private';
}
