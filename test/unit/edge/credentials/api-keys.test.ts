/** API keys of requests: where they are, and which are refused (semantics §15). */

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../../../src/base/platform/cryptography.ts';
import { webSha256 } from '../../../../src/base/platform/web-cryptography.ts';
import { createCredentialVerifier } from '../../../../src/edge/credentials/verify.ts';
import type { EdgeRequest } from '../../../../src/engine/evaluator/request.ts';
import { NOW, registryOf, requestOf, wantedOf } from '../../../support/credentials.ts';

const KEY = 'svc_3kTMd0aXx1vHqJ5yYpR2cLwE8uNbS7fZ';
const OTHER = 'svc_9zGmH4eDq7WnB1oCiV6tUkAjX0rYsP2f';
const REGISTRY = registryOf({ keys: { [KEY]: 'shop', [OTHER]: 'partner' }, expiries: { [OTHER]: NOW } });
const SOURCES = [
  { in: 'header', name: 'X-API-Key' },
  { in: 'header', name: 'Authorization' },
  { in: 'query', name: 'api_key' },
  { in: 'cookie', name: 'key' },
] as const;
const { verify } = createCredentialVerifier(sha256);

function judged(request: EdgeRequest): unknown {
  return verify(request, wantedOf(REGISTRY, [], SOURCES), { now: NOW });
}

const SHOP = {
  consumer: 'shop',
  verified: ['api_key'],
  keyId: createHash('sha256').update(KEY).digest('hex').slice(0, 8),
};

describe('a valid key', () => {
  test.each([
    ['in a header', requestOf({ 'x-api-key': KEY })],
    ['in a header with blanks around it', requestOf({ 'x-api-key': ` ${KEY}\t` })],
    ['in a header that has one line in a list', requestOf({ 'x-api-key': [KEY] })],
    ['after ApiKey', requestOf({ authorization: `ApiKey ${KEY}` })],
    ['after Bearer in any case', requestOf({ authorization: `bEARER  ${KEY}` })],
    ['alone in Authorization', requestOf({ authorization: KEY })],
    ['in a parameter', requestOf({}, `/orders?a=1&api_key=${KEY}`)],
    ['in a parameter whose name is escaped', requestOf({}, `/orders?api%5Fkey=${KEY}#x`)],
    ['in a cookie', requestOf({ cookie: `a=b; key=${KEY}; c=d` })],
    ['in two sources alike', requestOf({ 'x-api-key': KEY }, `/?api_key=${KEY}`)],
    ['beside an empty source', requestOf({ 'x-api-key': KEY, authorization: '' })],
    ['beside another scheme', requestOf({ 'x-api-key': KEY, authorization: 'Basic dXNlcjpwYXNz' })],
  ])('%s names its consumer at once', (_, request) => {
    expect(judged(request)).toEqual(SHOP);
  });
});

describe('a refused request', () => {
  test.each([
    ['without a key', 'missing', requestOf({})],
    ['without headers', 'missing', { scheme: 'https', method: 'GET', host: 'a', target: '/' }],
    ['with an empty header', 'missing', requestOf({ 'x-api-key': '' })],
    ['with a scheme alone', 'missing', requestOf({ authorization: 'Bearer' })],
    ['with a scheme that no gateway takes', 'missing', requestOf({ authorization: `Basic ${KEY}` })],
    ['with a parameter of another case', 'missing', requestOf({}, `/?API_KEY=${KEY}`)],
    ['with the key in the fragment', 'missing', requestOf({}, `/?a#&api_key=${KEY}`)],
    ['with the key in a path', 'missing', requestOf({}, `/api_key=${KEY}`)],
    ['with an unknown (or revoked) key', 'unknown_key', requestOf({ 'x-api-key': `${KEY}x` })],
    ['with a key in another case', 'unknown_key', requestOf({ 'x-api-key': KEY.toLowerCase() })],
    [
      'with the digest in place of the key',
      'unknown_key',
      requestOf({ 'x-api-key': Buffer.from(sha256(KEY)).toString('hex') }),
    ],
    ['with an expired key', 'expired', requestOf({ 'x-api-key': OTHER })],
    ['with one header twice', 'doubled', requestOf({ 'x-api-key': [KEY, KEY] })],
    ['with one parameter twice', 'doubled', requestOf({}, `/?api_key=${KEY}&api_key=${KEY}`)],
    ['with one parameter twice, once empty', 'doubled', requestOf({}, `/?api_key=&api_key=${KEY}`)],
    ['with one cookie twice', 'doubled', requestOf({ cookie: `key=${KEY}; key=${KEY}` })],
    ['with one cookie in two lines', 'doubled', requestOf({ cookie: [`key=${KEY}`, `key=${KEY}`] })],
    ['with two keys in two sources', 'conflict', requestOf({ 'x-api-key': KEY }, `/?api_key=${OTHER}`)],
    ['with a valid and an unknown key', 'conflict', requestOf({ 'x-api-key': KEY, cookie: 'key=x' })],
    ['with two lines joined by a comma', 'malformed', requestOf({ 'x-api-key': `${KEY}, ${KEY}` })],
    ['with octets that are not ASCII', 'malformed', requestOf({ 'x-api-key': `${KEY}\u00e9` })],
    ['with a key of 513 octets', 'too_long', requestOf({ 'x-api-key': 'k'.repeat(513) })],
    ['with a key of a megabyte', 'too_long', requestOf({ 'x-api-key': 'k'.repeat(1_000_000) })],
    ['with NUL in the key', 'malformed', requestOf({}, `/?api_key=${KEY}%00`)],
    ['with a token where no issuer is taken', 'unknown_key', requestOf({ authorization: 'Bearer a.b.c' })],
  ] as const)('%s fails as `%s`', (_, failure, request) => {
    expect(judged(request as EdgeRequest)).toEqual({ consumer: null, failure });
  });
});

test('a key is valid until its expiry and not at it', () => {
  const at = (now: number) =>
    verify(requestOf({ 'x-api-key': OTHER }), wantedOf(REGISTRY, [], SOURCES), { now });
  expect(at(NOW - 1)).toMatchObject({ consumer: 'partner' });
  expect(at(NOW)).toEqual({ consumer: null, failure: 'expired' });
});

test('a source that the gateway does not have is not read', () => {
  const request = requestOf({ 'x-api-key': KEY });
  expect(verify(request, wantedOf(REGISTRY, [], SOURCES.slice(2)), { now: NOW })).toEqual({
    consumer: null,
    failure: 'missing',
  });
});

test('where SHA-256 is computed aside the identity is the same', async () => {
  const aside = createCredentialVerifier(webSha256);
  const judge = (key: string) =>
    aside.verify(requestOf({ 'x-api-key': key }), wantedOf(REGISTRY, [], SOURCES), { now: NOW });
  expect(await judge(KEY)).toEqual(SHOP);
  expect(await judge(`${KEY}x`)).toEqual({ consumer: null, failure: 'unknown_key' });
});

test('one object is the identity of all requests with one failure', () => {
  expect(judged(requestOf({}))).toBe(judged(requestOf({ 'x-api-key': '' })));
});
