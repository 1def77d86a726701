/**
 * The outcomes of a request for Markdown, and what the head of a response decides: whether it can become Markdown, and
 * its `Vary`.
 */
import { splitList } from '../../base/http/cache-control.ts';
import { type HeaderList, headerOf, type ResponseHead, withoutHeaders } from '../../base/http/response.ts';

/** Maximum size, in octets, of a page, inflated or not: pages of text stay below a tenth of it. */
export const MAX_PAGE_OCTETS = 2 * 1024 * 1024;

/**
 * Why a page was sent as HTML:
 * - `size` larger than `MAX_PAGE_OCTETS`
 * - `coding` an unknown content coding, or broken compressed octets
 * - `no-transform` its origin forbids changes (RFC 9111 §5.2.2.6)
 * - `busy` too many pages are being rendered
 * - `late` the origin or the rendering took too long
 * - `depth` elements are nested deeper than `MAX_DEPTH`
 * - `growth` its Markdown would exceed `GROWTH` times the page
 * - `address` its URL is longer than `MAX_ADDRESS`
 * - `empty` it has no text: a script creates it in the browser
 * - `failed` the rendering thread died
 */
export const HTML_REASONS = [
  'size',
  'coding',
  'no-transform',
  'busy',
  'late',
  'depth',
  'growth',
  'address',
  'empty',
  'failed',
] as const;
/** One of `HTML_REASONS`. */
export type HtmlReason = (typeof HTML_REASONS)[number];

/** The outcome in logs and metrics. */
export type MarkdownOutcome = 'rendered' | HtmlReason;

/** Content codings that can be decoded. */
export const CODINGS = ['identity', 'gzip', 'deflate', 'br'] as const;
/** The content coding of a page (RFC 9110 §8.4.1). */
export type Coding = (typeof CODINGS)[number];

/** Whether a page can be rendered, and how it is encoded. */
export type PageVerdict =
  | { readonly ok: true; readonly coding: Coding; readonly charset: string | null }
  | { readonly ok: false; readonly reason: HtmlReason };

/** Whether a response is an HTML page of the origin, and not one that the edge made. */
export function isPage({ status, headers, madeBy }: ResponseHead): boolean {
  return (
    status === 200 && madeBy === 'origin' && mediaType(headerOf(headers, 'content-type')) === 'text/html'
  );
}

/** Checks `no-transform`, the content coding, and the size. */
export function judgePage({ headers }: ResponseHead): PageVerdict {
  const directives = splitList(headerOf(headers, 'cache-control') ?? '');
  if (directives.some((directive) => directive.toLowerCase() === 'no-transform'))
    return { ok: false, reason: 'no-transform' };
  const coding = codingOf(headerOf(headers, 'content-encoding'));
  if (coding === null) return { ok: false, reason: 'coding' };
  if (Number(headerOf(headers, 'content-length') ?? 0) > MAX_PAGE_OCTETS)
    return { ok: false, reason: 'size' };
  return { ok: true, coding, charset: charsetOf(headerOf(headers, 'content-type')) };
}

/** The type of a Content-Type in lower case, without parameters. */
function mediaType(value: string | null): string | null {
  return value === null ? null : value.split(';', 1)[0]!.trim().toLowerCase();
}

/** `null`: an unknown coding, or several. */
function codingOf(value: string | null): Coding | null {
  const name = (value ?? '').trim().toLowerCase();
  if (name === '') return 'identity';
  return CODINGS.find((coding) => coding === name || `x-${coding}` === name) ?? null;
}

/** The charset parameter of a Content-Type; `null`: none. */
function charsetOf(value: string | null): string | null {
  for (const parameter of (value ?? '').split(';').slice(1)) {
    const [name = '', label = ''] = parameter.split('=');
    if (name.trim().toLowerCase() === 'charset') return label.trim().replaceAll('"', '');
  }
  return null;
}

const VARY: ReadonlySet<string> = new Set(['vary']);

/** The headers with `Accept` in their `Vary`. */
export function varyingByAccept(headers: HeaderList): HeaderList {
  const vary = headerOf(headers, 'vary');
  if (vary === null) return [...headers, 'Vary', 'Accept'];
  const names = splitList(vary.toLowerCase());
  if (names.includes('accept') || names.includes('*')) return headers;
  return [...withoutHeaders(headers, VARY), 'Vary', `${vary}, Accept`];
}
