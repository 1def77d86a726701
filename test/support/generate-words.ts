/** The small alphabets that generated rules and requests share, so that they really meet. */

export const DOMAINS = ['example.com', 'example.com', 'shop.example.net'] as const;

/** Names below the domain; empty is the apex. */
export const HOST_LABELS = ['', '', 'www', 'api', 'b', 'a.b', 'x.a.b', 'c', 'münchen'] as const;

export const SEGMENTS = [
  'api',
  'api',
  'admin',
  'v1',
  'v2',
  'a',
  'b',
  'img',
  'x.php',
  'é',
  'A',
  'a b',
] as const;

export const ADDRESSES = [
  '192.0.2.1',
  '192.0.2.2',
  '192.0.2.129',
  '198.51.100.5',
  '198.51.100.6',
  '2001:db8::1',
  '2001:db8::2',
  '2001:db8:1::1',
] as const;

/** Canonical entries of a drop rule: addresses, masked prefixes, ordered ranges. */
export const ADDRESS_ENTRIES = [
  ...ADDRESSES,
  '192.0.2.0/24',
  '192.0.2.128/25',
  '192.0.2.0/31',
  '198.51.100.4/30',
  '0.0.0.0/1',
  '192.0.2.1-192.0.2.2',
  '192.0.2.2-198.51.100.5',
  '2001:db8::/32',
  '2001:db8::/64',
  '2001:db8::1-2001:db8::1:0',
  '2001:db8:1::/48',
  '::/0',
] as const;

export const COUNTRIES = ['DE', 'FR', 'US', 'GB'] as const;

export const JA4 = [
  't13d1516h2_8daaf6152771_b186095e22b6',
  't13d1517h2_8daaf6152771_b0da82dd1658',
  't12i0707',
];

export const JA4H = ['ge11nn05enus_9ed1ff1f7b03', 'ge20nn14enus_9ed1ff1f7b03', 'po11nn05'];

export const BOTS = [
  'gptbot',
  'claudebot',
  'googlebot',
  'bingbot',
  'generic-bot',
  'google-extended',
] as const;

export const USER_AGENTS = [
  'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
  'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0',
  'curl/8.5.0',
  'Mozilla/5.0 (compatible; GPTBot/1.2)',
  'Mozilla/5.0 (compatible; ClaudeBot/1.0)',
  'Mozilla/5.0 (compatible; Googlebot/2.1) bingbot',
  'GOOGLEBOT',
  'Google-Extended',
] as const;

export const QUERIES = [
  '',
  '',
  '?',
  '?a=1',
  '?a=1&b=2',
  '?b&a=3&&q',
  '?%61=2&b=%zz',
  '?é="1"&a',
  '?q=select',
] as const;

export const QUERY_PARAMS = ['a', 'b', 'q', 'é'] as const;

/** Methods as they are sent: case counts. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'get', 'PURGE'] as const;

/** Numbers of autonomous systems. */
export const ASNS = [64_496, 64_497, 65_536, 4_294_967_295] as const;

/** Names of headers, in lower case, that conditions read; two begin alike. */
export const HEADER_NAMES = ['x-a', 'x-a', 'x-a', 'x-ab', 'x-b', 'user-agent', 'cookie'] as const;

/** Names of query parameters that conditions read: they begin alike, or differ in case. */
export const PARAMETERS = ['a', 'a', 'a', 'ab', 'A', 'é', 'a b'] as const;

/** Names of cookies that conditions read. */
export const COOKIE_NAMES = ['a', 'a', 'a', 'ab', 'A', 'b'] as const;

/** Values of headers, parameters and cookies: parts of each other, or different in case. */
export const VALUES = ['', 'a', 'ab', 'ab', 'abc', 'Ab', 'AB', 'b', 'a b', 'é', 'É', '1'] as const;

/** Values about as long as the 8,192 octets that conditions read; `é` is one octet in a header, two in a query. */
export const LONG_VALUES = [
  'a'.repeat(8_192),
  'a'.repeat(8_193),
  `ab${'x'.repeat(8_189)}b`,
  `ab${'x'.repeat(8_190)}b`,
  `${'b'.repeat(8_191)}ab`,
  'é'.repeat(4_096),
  `a${'é'.repeat(4_096)}`,
] as const;

/** When generated time starts: milliseconds, at no round second. */
export const START = 1_700_000_000_123;
