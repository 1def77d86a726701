/**
 * Header fields (RFC 9110): their names in lower case, lists of them, which of them are end-to-end, and the whole
 * response with such a list that the edge makes itself.
 */

/** The names in most messages. INVARIANT: literals in lower case, see `lowerName`. */
const COMMON = [
  'accept',
  'accept-encoding',
  'accept-language',
  'accept-ranges',
  'access-control-allow-origin',
  'age',
  'authorization',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'content-type',
  'cookie',
  'date',
  'etag',
  'expires',
  'host',
  'if-modified-since',
  'if-none-match',
  'keep-alive',
  'last-modified',
  'link',
  'location',
  'origin',
  'pragma',
  'priority',
  'range',
  'referer',
  'referrer-policy',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'server',
  'set-cookie',
  'strict-transport-security',
  'transfer-encoding',
  'upgrade-insecure-requests',
  'user-agent',
  'vary',
  'via',
  'x-content-type-options',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-powered-by',
  'x-requested-with',
] as const;

/** Lower-case names by their common spellings: `content-type`, `Content-Type`. */
const LOWER: ReadonlyMap<string, string> = new Map([
  ['ETag', 'etag'],
  ...COMMON.flatMap((name): (readonly [string, string])[] => [
    [name, name],
    [name.replaceAll(/\b[a-z]/g, (first) => first.toUpperCase()), name],
  ]),
]);

/**
 * A name in lower case. PERF: a common one is a literal of this file, which V8 has internalised and hashed as an object key; a
 * new string takes half a microsecond for that, for each header of each request.
 */
export function lowerName(sent: string): string {
  return LOWER.get(sent) ?? sent.toLowerCase();
}

// End-to-end and hop-by-hop header fields (RFC 9110 §7.6.1).

/** Lower-case names listed in `Connection`, which are hop-by-hop as well; `null`: none. */
export function namedInConnection(raw: HeaderList): ReadonlySet<string> | null {
  let named: Set<string> | null = null;
  for (let at = 0; at < raw.length; at += 2) {
    const sent = raw[at]!;
    if (sent.length !== 10 || sent.toLowerCase() !== 'connection') continue;
    const value = raw[at + 1]!;
    if (value === 'keep-alive' || value === 'close') continue;
    named ??= new Set();
    for (const name of value.split(',')) named.add(name.trim().toLowerCase());
  }
  return named;
}

/**
 * The headers of a response without the hop-by-hop ones of the connection to its origin.
 * @param isDropped whether to leave out another header, by its lower-case name
 */
export function endToEnd(headers: HeaderList, isDropped: (name: string) => boolean = isNone): string[] {
  const named = namedInConnection(headers);
  const forwarded: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = lowerName(headers[at]!);
    if (ORIGIN_HOP.has(name) || named?.has(name) === true || isDropped(name)) continue;
    forwarded.push(headers[at]!, headers[at + 1]!);
  }
  return forwarded;
}

/**
 * Whether a response of this status has no Content-Length (RFC 9110 §8.6). A response to HEAD and a 304 may have one: the length
 * of the body that a GET would get.
 */
export function hasNoLength(status: number): boolean {
  return status < 200 || status === 204;
}

/** Drops no header. */
export function isNone(): boolean {
  return false;
}

/** The hop-by-hop headers of responses, lower case (RFC 9110 §7.6.1). */
export const ORIGIN_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

// A whole response that the edge makes itself, in a form for any platform: Node, a Worker, a browser.

/** Headers as a flat list: name, value, name, value, …; names in the case that was received. */
export type HeaderList = readonly string[];

/** A response of the edge's own. */
export interface EdgeAnswer {
  readonly status: number;
  /** Without `Content-Length`, which the platform adds. */
  readonly headers: HeaderList;
  /** Text is sent as UTF-8; `null`: no body. */
  readonly body: Uint8Array | string | null;
}

// Headers that an origin sends to caches alone, with the tags by which a response is purged.

/** In lower case: commas separate the tags of the first one (Cloudflare), spaces those of the second (Fastly). */
export const TAG_HEADERS = ['cache-tag', 'surrogate-key'] as const;
