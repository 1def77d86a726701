/** Tests of http-tests/cache-tests that the node does not pass, each with the reason. Tests of kind `check` only inform. */
export const MISSES: Readonly<Record<string, string>> = {
  'headers-store-Set-Cookie':
    'a response that sets a cookie is not stored in `standard` mode, whatever its other fields say: one session must not go to every visitor',
  'other-set-cookie': 'as `headers-store-Set-Cookie`',
  'headers-store-Transfer-Encoding':
    'the response names a transfer coding that does not exist; nobody can tell where its body ends, so it is a 502, as with nginx',
  'method-POST':
    'answers to POST are not kept: no rule asks for it, and a body would have to be part of the key',
  'vary-normalise-lang-order':
    'sites take the first language of a list, though no specification promises it; a reordered list may get another page',
  'vary-normalise-lang-select': 'the cache does not know which languages a page exists in',
  'conditional-lm-fresh-no-lm':
    'the suite expects 304 for an answer made after the time the client gives; RFC 9111 §4.3.2 compares with `Date` then, so 200',
  'partial-store-partial-reuse-partial': 'a 206 is passed on and not kept, as with nginx without slices',
  'partial-store-partial-reuse-partial-byterange': 'as `partial-store-partial-reuse-partial`',
  'partial-store-partial-reuse-partial-absent': 'as `partial-store-partial-reuse-partial`',
  'partial-store-partial-reuse-partial-suffix': 'as `partial-store-partial-reuse-partial`',
  'partial-store-partial-complete': 'as `partial-store-partial-reuse-partial`',
  'interim-102':
    'of interim answers only 103 goes on to clients; 102 was taken out of HTTP (RFC 4918 dropped it)',
};
