/** Header field names, which are case-insensitive (RFC 9110 §5.1), in lower case. */

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
