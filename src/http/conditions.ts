/** Conditions and ranges of requests (RFC 9110 §13, §14) against an answer that is held. */
import { splitList } from './cache-control.ts';
import { parseHttpDate } from './http-date.ts';
import { type HeaderList, headerOf, withoutHeaders } from './response.ts';

/** Request headers by lower-case name. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** First octet and the one after the last. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export function textOf(headers: RequestHeaders, name: string): string | null {
  const value = headers[name];
  return value === undefined ? null : typeof value === 'string' ? value : value.join(', ');
}

/** Whether the client holds this answer already (§13.2.2, steps 3 and 4). */
export function isNotModified(request: RequestHeaders, held: HeaderList, now: number): boolean {
  const tags = textOf(request, 'if-none-match');
  if (tags !== null) return matchesTag(tags, headerOf(held, 'etag'));
  const since = textOf(request, 'if-modified-since');
  // Without `Last-Modified` the answer cannot have changed after it was made (RFC 9111 §4.3.2).
  const modified = headerOf(held, 'last-modified') ?? headerOf(held, 'date');
  if (since === null || modified === null) return false;
  const [asked, changed] = [parseHttpDate(since, now), parseHttpDate(modified, now)];
  return asked !== null && changed !== null && changed <= asked;
}

/** Weak comparison (§8.8.3.2) with any of a list; `*` is any answer. */
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
 * The part asked for of a body of `length` octets. `whole`: all of it, since nothing is asked for, the answer changed
 * (`If-Range`), it is several parts, or not understood (§14.2 allows that); `none`: it lies beyond the end.
 */
export function rangeOf(request: RequestHeaders, held: HeaderList, length: number): Range | 'whole' | 'none' {
  const asked = textOf(request, 'range');
  if (asked === null || !isUnchanged(textOf(request, 'if-range'), held)) return 'whole';
  return parseRange(asked, length);
}

function isUnchanged(condition: string | null, held: HeaderList): boolean {
  if (condition === null) return true;
  if (condition.startsWith('"')) return headerOf(held, 'etag') === condition;
  // A weak tag never fits (§13.1.5), a date only when it is the very same.
  return !condition.startsWith('W/') && headerOf(held, 'last-modified') === condition;
}

/** One byte range (§14.1.2) within `length` octets. */
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

/** A number of octets; -1 where none is given, `null` where it is no number. */
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

/** Headers by which the origin is asked whether what is held has changed. */
export function validation({ etag, lastModified }: Validators): Readonly<Record<string, string | null>> {
  return { 'if-none-match': etag, 'if-modified-since': lastModified };
}

export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export function headersOf304(headers: HeaderList): string[] {
  return withoutHeaders(headers, NOT_IN_304);
}

/** What a 304 leaves out of the answer it stands for (RFC 9110 §15.4.5). */
export const NOT_IN_304: ReadonlySet<string> = new Set([
  'content-length',
  'content-encoding',
  'content-language',
  'content-range',
  'content-type',
]);
