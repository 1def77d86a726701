/** Tokens of requests: which issuer, key and consumer they name, and which are refused (RFC 7519, RFC 9068). */

import { describe, expect, test } from 'vitest';
import { sha256 } from '../../../../src/base/platform/cryptography.ts';
import { createCredentialVerifier } from '../../../../src/edge/credentials/verify.ts';
import type { RequestIdentity } from '../../../../src/engine/evaluator/request.ts';
import {
  type AnyIssuer,
  claimsFor,
  issuerOf,
  NOW,
  NOW_SEC,
  registryOf,
  requestOf,
  wantedOf,
} from '../../../support/credentials.ts';
import { makeKey, signToken } from '../../../support/tokens.ts';

const EC = makeKey('ES256', 'ec');
const RSA = makeKey('RS256', 'rsa');
const ED = makeKey('EdDSA', 'ed');
const P384 = makeKey('ES384', 'p384');
const OTHER = makeKey('ES256', 'other');
const LOGIN = issuerOf('login', [EC, RSA, ED]);
const REGISTRY = registryOf({ keys: { 'key-of-shop': 'shop', 'key-of-lab': 'lab' }, consumers: ['guest'] });

function judge(
  token: string,
  { issuers = [LOGIN], now = NOW, headers = {} }: Judging = {},
): RequestIdentity | Promise<RequestIdentity> {
  const { verify } = createCredentialVerifier(sha256);
  const wanted = wantedOf(REGISTRY, issuers, [{ in: 'header', name: 'X-Key' }]);
  return verify(requestOf({ authorization: `Bearer ${token}`, ...headers }), wanted, { now });
}

interface Judging {
  readonly issuers?: readonly AnyIssuer[];
  readonly now?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

const ES256 = { alg: 'ES256', kid: 'ec', typ: 'at+jwt' };

function token(claims: object = {}, header: object = {}): string {
  return signToken({ ...ES256, ...header }, claimsFor('login', 'shop', claims), EC.privateKey, 'ES256');
}

const refused = (failure: string) => ({ consumer: null, failure });

describe('a valid token', () => {
  test.each([
    ['ES256', EC, {}],
    ['RS256', RSA, {}],
    ['RS384', RSA, { algorithms: ['RS384'] }],
    ['RS512', RSA, { algorithms: ['RS512'] }],
    ['PS256', RSA, { algorithms: ['PS256'] }],
    ['PS384', RSA, { algorithms: ['PS384'] }],
    ['PS512', RSA, { algorithms: ['PS512'] }],
    ['EdDSA', ED, {}],
    ['ES384', P384, { algorithms: ['ES384'] }],
  ] as const)('of %s names its consumer', async (alg, key, more) => {
    const issuers = [issuerOf('login', [key], more as Partial<AnyIssuer>)];
    const claims = claimsFor('login', 'shop', { scope: 'read  write' });
    const signed = signToken({ alg, kid: key.jwk['kid'] }, claims, key.privateKey);
    expect(await judge(signed, { issuers })).toEqual({
      consumer: 'shop',
      verified: ['jwt'],
      claims,
      scopes: ['read', 'write'],
    });
  });

  test.each([
    ['without a type', {}, { typ: undefined }],
    ['of type JWT', {}, { typ: 'JWT' }],
    ['of type jwt', {}, { typ: 'jwt' }],
    ['of a full media type', {}, { typ: 'application/AT+JWT' }],
    ['without a key id', {}, { kid: undefined }],
    ['for several audiences', { aud: ['https://x.example', 'https://api.example'] }, {}],
    ['that expired within the skew', { exp: NOW_SEC - 59 }, {}],
    ['that starts within the skew', { nbf: NOW_SEC + 60 }, {}],
    ['without the time of its issue', { iat: undefined }, {}],
    ['with fractions of seconds', { exp: NOW_SEC + 0.5, iat: NOW_SEC - 0.5 }, {}],
  ])('%s names its consumer', async (_, claims, header) => {
    expect(await judge(token(claims, header))).toMatchObject({ consumer: 'shop', verified: ['jwt'] });
  });

  test('in a cookie, a parameter or a header of its own names its consumer', async () => {
    const sources = [
      { in: 'cookie', name: 'session' },
      { in: 'query', name: 'access_token' },
      { in: 'header', name: 'X-Token' },
    ] as const;
    const wanted = wantedOf(REGISTRY, [{ ...LOGIN, sources }]);
    const { verify } = createCredentialVerifier(sha256);
    const signed = token();
    for (const request of [
      requestOf({ cookie: `session=${signed}` }),
      requestOf({}, `/?access_token=${signed}`),
      requestOf({ 'x-token': signed }),
      requestOf({ 'x-token': `Bearer ${signed}` }),
    ]) {
      expect(await verify(request, wanted, { now: NOW })).toMatchObject({ consumer: 'shop' });
    }
    const elsewhere = requestOf({ authorization: `Bearer ${signed}` });
    expect(verify(elsewhere, wanted, { now: NOW })).toEqual(refused('missing'));
  });

  test('has scopes in a list, and claims of its own', async () => {
    const issuers = [{ ...LOGIN, scopesClaim: 'permissions', consumerClaim: 'client_id' }];
    const claims = { permissions: ['read', 7, 'write'], client_id: 'lab' };
    expect(await judge(token(claims), { issuers })).toMatchObject({
      consumer: 'lab',
      scopes: ['read', 'write'],
    });
  });

  test('of an issuer with a prefix names a consumer by the prefix and the claim', async () => {
    const registry = registryOf({ keys: {}, consumers: ['shop', 'partner-shop'] });
    const { verify } = createCredentialVerifier(sha256);
    const judged = (issuer: AnyIssuer) =>
      verify(requestOf({ authorization: `Bearer ${token()}` }), wantedOf(registry, [issuer]), { now: NOW });
    expect(await judged(LOGIN)).toMatchObject({ consumer: 'shop' });
    expect(await judged({ ...LOGIN, consumerPrefix: 'partner-' })).toMatchObject({
      consumer: 'partner-shop',
    });
    expect(await judged({ ...LOGIN, consumerPrefix: 'other:' })).toMatchObject(refused('unknown_consumer'));
  });

  test('of an unregistered subject acts as the default consumer, if there is one', async () => {
    const stranger = token({ sub: 'stranger' });
    const withDefault = (name: string) => ({ issuers: [{ ...LOGIN, defaultConsumer: name }] });
    expect(await judge(stranger, withDefault('guest'))).toMatchObject({ consumer: 'guest' });
    expect(await judge(token({ sub: undefined }), withDefault('guest'))).toMatchObject({ consumer: 'guest' });
    expect(await judge(stranger, withDefault('nobody'))).toEqual(refused('unknown_consumer'));
    expect(await judge(token(), withDefault('guest'))).toMatchObject({ consumer: 'shop' });
  });
});

describe('a token is refused', () => {
  test.each([
    ['wrong_audience', 'of another audience', { aud: 'https://other.example' }, {}],
    ['wrong_audience', 'without an audience', { aud: undefined }, {}],
    ['wrong_audience', 'whose audience only begins alike', { aud: 'https://api.example.evil.example' }, {}],
    ['wrong_audience', 'whose audience is an object', { aud: { 'https://api.example': 1 } }, {}],
    ['expired', 'after its time and the skew', { exp: NOW_SEC - 60 }, {}],
    ['claim_missing', 'without an end', { exp: undefined }, {}],
    ['malformed', 'whose end is a text', { exp: String(NOW_SEC + 600) }, {}],
    ['malformed', 'whose end is null', { exp: null }, {}],
    ['not_yet_valid', 'before its time', { nbf: NOW_SEC + 61 }, {}],
    ['not_yet_valid', 'from the future', { iat: NOW_SEC + 61 }, {}],
    ['wrong_issuer', 'without an issuer', { iss: undefined }, {}],
    ['wrong_issuer', 'of an unknown issuer', { iss: 'https://login.example' }, {}],
    ['wrong_issuer', 'whose issuer is a list', { iss: ['https://login.example/'] }, {}],
    ['unknown_consumer', 'of an unregistered subject', { sub: 'stranger' }, {}],
    ['unknown_consumer', 'whose subject is a list', { sub: ['shop'] }, {}],
    ['unknown_consumer', 'whose subject is empty', { sub: '' }, {}],
    ['unknown_consumer', 'whose subject has another case', { sub: 'Shop' }, {}],
    ['unknown_consumer', 'whose subject goes on after NUL', { sub: 'shop\u0000' }, {}],
    ['claim_missing', 'without a subject', { sub: undefined }, {}],
    ['unknown_key_id', 'of an unknown key id', {}, { kid: 'ecc' }],
    ['unknown_key_id', 'of an empty key id', {}, { kid: '' }],
    ['wrong_type', 'of the type of ID tokens of logouts', {}, { typ: 'logout+jwt' }],
    ['wrong_type', 'of an empty type', {}, { typ: '' }],
    ['malformed', 'whose type is a number', {}, { typ: 1 }],
    ['malformed', 'whose key id is a number', {}, { kid: 1 }],
  ])('as `%s` %s', async (failure, _, claims, header) => {
    expect(await judge(token(claims, header))).toEqual(refused(failure));
  });

  test('as `expired` if its end is infinite', async () => {
    const payload = JSON.stringify(claimsFor('login', 'shop')).replace(/"exp":\d+/, '"exp":1e999');
    expect(await judge(signToken(ES256, payload, EC.privateKey))).toEqual(refused('malformed'));
  });

  test('as `no_keys` if the issuer has none', async () => {
    expect(await judge(token(), { issuers: [{ ...LOGIN, keys: [] }] })).toEqual(refused('no_keys'));
  });

  test('as `wrong_signature` once a character of it changes', async () => {
    const [header, payload, signature] = token().split('.') as [string, string, string];
    const claims = Buffer.from(payload, 'base64url').toString().replace('"shop"', '"lab"');
    const forged = `${header}.${Buffer.from(claims).toString('base64url')}.${signature}`;
    expect(await judge(forged)).toEqual(refused('wrong_signature'));
    const changed = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
    expect(await judge(`${header}.${payload}.${changed}`)).toEqual(refused('wrong_signature'));
  });

  test('as `doubled` or `conflict` beside another one', async () => {
    const one = token();
    const headers = { authorization: [`Bearer ${one}`, `Bearer ${one}`] };
    expect(await judge(one, { headers })).toEqual(refused('doubled'));
    const sources = [...LOGIN.sources, { in: 'cookie', name: 'session' } as const];
    const issuers = [{ ...LOGIN, sources }];
    expect(await judge(one, { issuers, headers: { cookie: `session=${one}` } })).toMatchObject({
      consumer: 'shop',
    });
    const other = token({ jti: 'x' });
    expect(await judge(one, { issuers, headers: { cookie: `session=${other}` } })).toEqual(
      refused('conflict'),
    );
  });
});

describe('claims that an issuer requires', () => {
  const requiring = (requiredClaims: AnyIssuer['requiredClaims']) => ({
    issuers: [{ ...LOGIN, requiredClaims }],
  });
  test.each([
    ['a text', { token_use: 'access' }, { token_use: 'access' }, true],
    ['a list that has the text', { groups: 'staff' }, { groups: ['x', 'staff'] }, true],
    ['a number', { tenant: '42' }, { tenant: 42 }, true],
    ['a boolean', { email_verified: 'true' }, { email_verified: true }, true],
    ['another text', { token_use: 'access' }, { token_use: 'id' }, false],
    ['nothing', { token_use: 'access' }, {}, false],
    ['an object', { groups: 'staff' }, { groups: { staff: 'staff' } }, false],
    ['an inherited name', { constructor: 'function Object() { [native code] }' }, {}, false],
    ['null', { a: 'null' }, { a: null }, false],
  ])('with %s', async (_, requiredClaims, claims, holds) => {
    const judged = await judge(token(claims), requiring(requiredClaims));
    expect(judged).toEqual(holds ? expect.objectContaining({ consumer: 'shop' }) : refused('claim_missing'));
  });
});

describe('several issuers', () => {
  const partner = issuerOf('partner', [OTHER]);
  const issuers = [LOGIN, partner];
  const ofPartner = signToken({ alg: 'ES256' }, claimsFor('partner', 'lab'), OTHER.privateKey);

  test('verify each token by the keys of the issuer that it names alone', async () => {
    expect(await judge(token(), { issuers })).toMatchObject({ consumer: 'shop' });
    expect(await judge(ofPartner, { issuers })).toMatchObject({ consumer: 'lab' });
    const swapped = signToken({ alg: 'ES256' }, claimsFor('login', 'shop'), OTHER.privateKey);
    expect(await judge(swapped, { issuers })).toEqual(refused('wrong_signature'));
    const named = signToken({ alg: 'ES256', kid: 'other' }, claimsFor('login', 'shop'), OTHER.privateKey);
    expect(await judge(named, { issuers })).toEqual(refused('unknown_key_id'));
  });

  test('of one name are divided by audience', async () => {
    const twin = { ...LOGIN, name: 'twin', audiences: ['https://twin.example'], consumerClaim: 'azp' };
    const both = [LOGIN, twin];
    const forTwin = token({ aud: 'https://twin.example', azp: 'lab' });
    expect(await judge(forTwin, { issuers: both })).toMatchObject({ consumer: 'lab' });
    expect(await judge(token(), { issuers: both })).toMatchObject({ consumer: 'shop' });
    expect(await judge(token({ aud: 'x' }), { issuers: both })).toEqual(refused('wrong_audience'));
  });

  test('are not those of another source', async () => {
    const apart = [LOGIN, { ...partner, sources: [{ in: 'header', name: 'X-Partner' } as const] }];
    expect(await judge(ofPartner, { issuers: apart })).toEqual(refused('wrong_issuer'));
  });
});

describe('a key beside a token', () => {
  test('proves both kinds if they name one consumer', async () => {
    expect(await judge(token(), { headers: { 'x-key': 'key-of-shop' } })).toMatchObject({
      consumer: 'shop',
      verified: ['api_key', 'jwt'],
      scopes: [],
    });
  });

  test('is refused if they name different consumers, or one of them is invalid', async () => {
    const beside = (key: string, claims: object = {}) => judge(token(claims), { headers: { 'x-key': key } });
    expect(await beside('key-of-lab')).toEqual(refused('conflict'));
    expect(await beside('unknown')).toEqual(refused('unknown_key'));
    expect(await beside('key-of-shop', { exp: NOW_SEC - 60 })).toEqual(refused('expired'));
  });

  test('in the same source is divided from it by its form', async () => {
    const wanted = wantedOf(REGISTRY, [LOGIN], [{ in: 'header', name: 'authorization' }]);
    const { verify } = createCredentialVerifier(sha256);
    const inHeader = (value: string) => verify(requestOf({ authorization: value }), wanted, { now: NOW });
    expect(await inHeader(`Bearer ${token()}`)).toMatchObject({ consumer: 'shop', verified: ['jwt'] });
    expect(await inHeader('Bearer key-of-lab')).toMatchObject({ consumer: 'lab', verified: ['api_key'] });
    expect(await inHeader('ApiKey key-of-lab')).toMatchObject({ consumer: 'lab' });
    expect(await inHeader('Bearer unknown')).toEqual(refused('unknown_key'));
    expect(await inHeader('Bearer a.b.c')).toEqual(refused('malformed'));
  });
});
