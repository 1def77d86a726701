/** The headers of answers on their way into the cache and out of it. */
import { endToEnd } from '../outgoing.ts';
import { type HeaderList, headerOf, withoutHeaders } from '../response.ts';
import { splitList } from './directives.ts';
import type { Validators } from './entry.ts';

/** Beside what is for one connection: what is said to proxies alone (RFC 9111 §3.1), and what is said anew each time. */
const NEVER_KEPT = ['age', 'proxy-authentication-info', 'proxy-authorization'] as const;
/** What a 304 does not change, for it tells of the body that is held (RFC 9111 §3.2). */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-length',
  'content-encoding',
  'content-range',
  'content-type',
  'content-md5',
  'etag',
]);
/** What a 304 leaves out of the answer it stands for (RFC 9110 §15.4.5). */
const NOT_IN_304: ReadonlySet<string> = new Set([
  'content-length',
  'content-encoding',
  'content-language',
  'content-range',
  'content-type',
]);
const LENGTH: ReadonlySet<string> = new Set(['content-length']);
const LIFETIME: ReadonlySet<string> = new Set(['cache-control', 'expires', 'pragma', 'age', 'date']);

export interface Kept {
  readonly headers: HeaderList;
  /** Lower-case names left out. */
  readonly omit: readonly string[];
  readonly now: number;
}

/** What is kept of an answer's headers; a `Date` where the origin sent none (RFC 9110 §6.6.1). */
export function keptHeaders({ headers, omit, now }: Kept): string[] {
  const kept = withoutHeaders(endToEnd(headers), new Set([...NEVER_KEPT, ...omit]));
  if (headerOf(kept, 'date') === null) kept.push('Date', new Date(now).toUTCString());
  return kept;
}

/** With the length of the body, which is known once it is whole. */
export function withLength(headers: HeaderList, length: number): HeaderList {
  return [...withoutHeaders(headers, LENGTH), 'Content-Length', String(length)];
}

/** Kept headers after a 304 (RFC 9111 §3.2): its headers replace those of the same name, the rest stays. */
export function freshenedHeaders(held: HeaderList, update: Kept): string[] {
  const changes = withoutHeaders(keptHeaders(update), BODY_HEADERS);
  const names = new Set<string>();
  for (let at = 0; at < changes.length; at += 2) names.add(changes[at]!.toLowerCase());
  return [...withoutHeaders(held, names), ...changes];
}

export function validatorsOf(headers: HeaderList): Validators {
  return { etag: headerOf(headers, 'etag'), lastModified: headerOf(headers, 'last-modified') };
}

export function headersOf304(headers: HeaderList): string[] {
  return withoutHeaders(headers, NOT_IN_304);
}

export function headersOf206(headers: HeaderList, part: { from: number; to: number; of: number }): string[] {
  const { from, to, of } = part;
  const range = `bytes ${from}-${to - 1}/${of}`;
  return [...withoutHeaders(headers, LENGTH), 'Content-Range', range, 'Content-Length', String(to - from)];
}

export interface BrowserLife {
  readonly status: number;
  readonly headers: HeaderList;
  /** Seconds; `null`: as the origin says. */
  readonly browserTtl: number | null;
  /** What the origin says about whose the answer is gives way too. */
  readonly forced: boolean;
}

/** Whether a rule's browser lifetime holds for an answer: not for errors, nor for what must not be kept at all. */
export function setsBrowserLife({ status, headers, browserTtl, forced }: BrowserLife): boolean {
  if (browserTtl === null || status >= 400) return false;
  return forced || !splitList(headerOf(headers, 'cache-control') ?? '').some((one) => isOwn(nameOf(one)));
}

/**
 * Headers that give browsers a rule's lifetime. `Date` and `Age` leave with the old lifetime: a browser counts from
 * them, and would have less of it the longer the answer has been here.
 */
export function withBrowserLife({ headers, browserTtl, forced }: BrowserLife): string[] {
  const said = splitList(headerOf(headers, 'cache-control') ?? '');
  const stays = said.filter((one) => nameOf(one) !== 'max-age' && !(forced && isOwn(nameOf(one))));
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
