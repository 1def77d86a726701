/** Names of header fields, which mean the same in any case. */

/** Those that most messages have. INVARIANT: written out in lower case, see `lowerName`. */
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

const LOWER: ReadonlyMap<string, string> = new Map([
  ['ETag', 'etag'],
  ...COMMON.flatMap((name): (readonly [string, string])[] => [
    [name, name],
    [name.replaceAll(/\b[a-z]/g, (first) => first.toUpperCase()), name],
  ]),
]);

/**
 * A name in lower case. PERF: that of a common one stands in this text, so that V8 knows it as a key of objects and its
 * hash; one made anew takes half a microsecond to become a key, as often as a request has headers.
 */
export function lowerName(sent: string): string {
  return LOWER.get(sent) ?? sent.toLowerCase();
}
