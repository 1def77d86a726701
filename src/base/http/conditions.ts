/** Evaluates conditions and ranges of requests (RFC 9110 §13, §14) for a stored response. Sections here are of RFC 9110. */
import { parseHttpDate, splitList } from './cache-control.ts';
import { type HeaderList, headerOf, withoutHeaders } from './response.ts';

/** Request headers by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Octets from `from` up to `to`, which is excluded. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The value of a request header, several joined by `, `; `null`: absent. */
export function textOf(headers: RequestHeaders, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : typeof value === 'string' ? value : value.join(', ');
}

/** Whether the client has this response already (§13.2.2, steps 3 and 4). */
export function isNotModified(request: RequestHeaders, stored: HeaderList, now: number): boolean {
  const tags = textOf(request, 'if-none-match');
  if (tags !== null) return matchesTag(tags, headerOf(stored, 'etag'));
  const since = textOf(request, 'if-modified-since');
  // Without `Last-Modified`, `Date` is the latest possible modification (RFC 9111 §4.3.2).
  const modified = headerOf(stored, 'last-modified') ?? headerOf(stored, 'date');
  if (since === null || modified === null) return false;
  const [limit, changed] = [parseHttpDate(since, now), parseHttpDate(modified, now)];
  return limit !== null && changed !== null && changed <= limit;
}

/** Weak comparison (§8.8.3.2) with any tag of a list; `*` matches any response. */
function matchesTag(list: string, tag: string | null): boolean {
  if (list.trim() === '*') return true;
  if (tag === null) return false;
  const opaque = opaqueOf(tag);
  for (const one of splitList(list)) if (opaqueOf(one) === opaque) return true;
  return false;
}

function opaqueOf(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}

/**
 * The requested part of a body of `length` octets. `whole`: no Range header, the response has changed (`If-Range`), or
 * the range is multipart or in another form, which §14.2 allows a server to ignore; `none`: the range starts beyond the
 * end.
 */
export function rangeOf(
  request: RequestHeaders,
  stored: HeaderList,
  length: number,
): Range | 'whole' | 'none' {
  const range = textOf(request, 'range');
  if (range === null || !isUnchanged(textOf(request, 'if-range'), stored)) return 'whole';
  return parseRange(range, length);
}

function isUnchanged(condition: string | null, stored: HeaderList): boolean {
  if (condition === null) return true;
  if (condition.startsWith('"')) return headerOf(stored, 'etag') === condition;
  // A weak tag never matches (§13.1.5), and a date only as an exact copy.
  return !condition.startsWith('W/') && headerOf(stored, 'last-modified') === condition;
}

/** Parses one byte range (§14.1.2) for a body of `length` octets. */
export function parseRange(value: string, length: number): Range | 'whole' | 'none' {
  const spec = value.trim().toLowerCase();
  if (!spec.startsWith('bytes=')) return 'whole';
  const range = spec.slice(6).trim();
  const dash = range.indexOf('-');
  const first = position(range.slice(0, dash));
  const last = position(range.slice(dash + 1));
  if (dash < 0 || first === null || last === null) return 'whole';
  if (first < 0) {
    if (last < 0) return 'whole';
    return last === 0 || length === 0 ? 'none' : { from: Math.max(0, length - last), to: length };
  }
  if (last >= 0 && last < first) return 'whole';
  if (first >= length) return 'none';
  return { from: first, to: last < 0 ? length : Math.min(length, last + 1) };
}

/** A number of octets; -1: the text is empty, `null`: it is no number. */
function position(text: string): number | null {
  const digits = text.trim();
  if (digits === '') return -1;
  if (digits.length > 15) return null;
  let number = 0;
  for (let at = 0; at < digits.length; at++) {
    const code = digits.charCodeAt(at) - 48;
    if (!(code >= 0 && code <= 9)) return null;
    number = number * 10 + code;
  }
  return number;
}

/** The headers of a conditional request that revalidates a stored response (§13.1). */
export function validation({ etag, lastModified }: Validators): Readonly<Record<string, string | null>> {
  return { 'if-none-match': etag, 'if-modified-since': lastModified };
}

/** The validators of a response (§8.8); `null`: absent. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** The headers of a 304 from those of the 200. */
export function headersOf304(headers: HeaderList): string[] {
  return withoutHeaders(headers, NOT_IN_304);
}

/** Headers of a 200 that a 304 in its place does not have (§15.4.5). */
export const NOT_IN_304: ReadonlySet<string> = new Set([
  'content-length',
  'content-encoding',
  'content-language',
  'content-range',
  'content-type',
]);
