/**
 * Attacks on verifiers of tokens: those of RFC 8725 §2 as far as they apply to signed tokens, and those that public reports
 * describe. Every token is refused, at once or after a verification, and none takes long.
 */

import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../../../src/base/platform/cryptography.ts';
import { createCredentialVerifier } from '../../../../src/edge/credentials/verify.ts';
import type { RequestIdentity } from '../../../../src/engine/evaluator/request.ts';
import type { OpenedRegistry } from '../../../../src/engine/plan/open-registry.ts';
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
import { type IssuerKey, makeKey, partOf, signHmac, signToken } from '../../../support/tokens.ts';

const EC = makeKey('ES256', 'ec');
const RSA = makeKey('RS256', 'rsa');
const ED = makeKey('EdDSA', 'ed');
const ATTACKER = makeKey('ES256', 'mine');
const LOGIN = issuerOf('login', [EC, RSA, ED]);
const REGISTRY = registryOf({ consumers: ['shop', 'lab'] });
const CLAIMS = claimsFor('login', 'shop');
const refused = (failure: string) => ({ consumer: null, failure });

function judge(
  token: string,
  issuers: readonly AnyIssuer[] = [LOGIN],
  registry: OpenedRegistry = REGISTRY,
): RequestIdentity | Promise<RequestIdentity> {
  const { verify } = createCredentialVerifier(sha256);
  const wanted = wantedOf(registry, issuers);
  return verify(requestOf({ authorization: `Bearer ${token}` }), wanted, { now: NOW });
}

const pem = (key: IssuerKey): string => key.publicKey.export({ type: 'spki', format: 'pem' }) as string;
const der = (key: IssuerKey): Buffer => key.publicKey.export({ type: 'spki', format: 'der' });

describe('weak signatures and algorithms (RFC 8725 §2.1, §2.2)', () => {
  const SPELLINGS = ['none', 'None', 'NONE', 'nOnE', 'noNe', 'none ', ' none', 'none\u0000', '', 'nοne'];
  test.each(SPELLINGS)('`%s` is no algorithm', async (alg) => {
    const input = `${partOf({ alg })}.${partOf(CLAIMS)}`;
    expect(await judge(`${input}.`)).toEqual(refused('malformed'));
    expect(await judge(`${input}.AA`)).toEqual(refused('wrong_algorithm'));
    expect(await judge(input)).toEqual(refused('malformed'));
  });

  test.each([
    'es256',
    'RS1',
    'ES256K',
    'HS256',
    'dir',
    'ES512',
    'Ed448',
    '__proto__',
    'constructor',
    'toString',
  ])('`%s` is no algorithm of the issuer', async (alg) => {
    const token = signToken({ alg, kid: 'ec' }, CLAIMS, EC.privateKey, 'ES256');
    expect(await judge(token)).toEqual(refused('wrong_algorithm'));
  });

  test.each([null, 256, ['ES256'], { alg: 'ES256' }, true, undefined])('%j is no algorithm', async (alg) => {
    const token = signToken({ alg, kid: 'ec' }, CLAIMS, EC.privateKey, 'ES256');
    expect(await judge(token)).toEqual(refused('malformed'));
  });

  test('an issuer that lists a symmetric algorithm or `none` accepts neither', async () => {
    const issuers = [issuerOf('login', [RSA], { algorithms: ['none', 'HS256', 'RS256'] })];
    expect(await judge(`${partOf({ alg: 'none' })}.${partOf(CLAIMS)}.AA`, issuers)).toEqual(
      refused('wrong_algorithm'),
    );
    expect(await judge(signHmac({ alg: 'HS256' }, CLAIMS, pem(RSA)), issuers)).toEqual(
      refused('wrong_algorithm'),
    );
  });

  test('a symmetric key among the keys verifies nothing', async () => {
    const secret = { kty: 'oct', k: Buffer.from('secret').toString('base64url'), kid: 'oct' };
    const issuers = [{ ...LOGIN, keys: [secret], algorithms: ['HS256', 'RS256'] }];
    expect(await judge(signHmac({ alg: 'HS256', kid: 'oct' }, CLAIMS, 'secret'), issuers)).toEqual(
      refused('wrong_algorithm'),
    );
    expect(await judge(signToken({ alg: 'RS256', kid: 'oct' }, CLAIMS, RSA.privateKey), issuers)).toEqual(
      refused('wrong_algorithm'),
    );
  });

  test.each(['HS256', 'HS384', 'HS512'])('%s under a public key in any form is refused', async (alg) => {
    for (const key of [EC, RSA, ED]) {
      const { kid } = key.jwk;
      for (const secret of [
        pem(key),
        pem(key).trim(),
        der(key),
        JSON.stringify(key.jwk),
        String(key.jwk['n'] ?? key.jwk['x']),
      ]) {
        expect(await judge(signHmac({ alg, kid }, CLAIMS, secret))).toEqual(refused('wrong_algorithm'));
        // The header claims an algorithm that is accepted, the signature is an HMAC.
        const signed = signHmac({ alg, kid }, CLAIMS, secret).split('.');
        const header = partOf({ alg: 'RS256', kid: 'rsa' });
        expect(await judge([header, signed[1], signed[2]].join('.'))).toEqual(refused('wrong_signature'));
      }
    }
  });

  test('a key verifies no algorithm of another type', async () => {
    for (const [alg, key] of [
      ['RS256', EC],
      ['ES256', RSA],
      ['EdDSA', EC],
      ['ES256', ED],
    ] as const) {
      const token = signToken({ alg, kid: key.jwk['kid'] }, CLAIMS, RSA.privateKey, 'RS256');
      expect(await judge(token)).toEqual(refused('wrong_algorithm'));
    }
  });

  test('a key verifies only its own `alg`, `use` and `key_ops`', async () => {
    const token = signToken({ alg: 'RS256', kid: 'rsa' }, CLAIMS, RSA.privateKey);
    for (const more of [{ alg: 'PS256' }, { use: 'enc' }, { key_ops: ['encrypt'] }, { kty: 'EC' }]) {
      const issuers = [{ ...LOGIN, keys: [{ ...RSA.jwk, ...more }] }];
      expect(await judge(token, issuers)).toEqual(refused('wrong_algorithm'));
    }
    for (const more of [{ alg: 'RS256' }, { use: 'sig' }, { key_ops: ['verify'] }]) {
      const issuers = [{ ...LOGIN, keys: [{ ...RSA.jwk, ...more }] }];
      expect(await judge(token, issuers)).toMatchObject({ consumer: 'shop' });
    }
  });

  test('RSASSA-PSS in place of PKCS #1 and the reverse are refused', async () => {
    const both = [issuerOf('login', [RSA], { algorithms: ['RS256', 'PS256'] })];
    for (const [claimed, made] of [
      ['RS256', 'PS256'],
      ['PS256', 'RS256'],
    ] as const) {
      const token = signToken({ alg: claimed, kid: 'rsa' }, CLAIMS, RSA.privateKey, made);
      expect(await judge(token, both)).toEqual(refused('wrong_signature'));
    }
  });

  test('keys that cannot be safe are not used', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const short = { ...publicKey.export({ format: 'jwk' }) };
    const token = signToken({ alg: 'RS256' }, CLAIMS, privateKey);
    expect(await judge(token, [{ ...LOGIN, keys: [short] }])).toEqual(refused('no_keys'));
    // Under exponent 1 a signature is the padded digest itself.
    for (const e of ['AQ', 'AA', 'Ag', '', 'AQABAQABAQAB', '!', undefined]) {
      const own = signToken({ alg: 'RS256' }, CLAIMS, RSA.privateKey);
      expect(await judge(own, [{ ...LOGIN, keys: [{ ...RSA.jwk, kid: undefined, e }] }])).toEqual(
        refused('no_keys'),
      );
    }
    const huge = { kty: 'RSA', e: 'AQAB', n: Buffer.alloc(2_048, 0xff).toString('base64url') };
    expect(await judge(token, [{ ...LOGIN, keys: [huge] }])).toEqual(refused('no_keys'));
  });
});

describe('signatures of ECDSA and EdDSA', () => {
  test.each([
    ['all zero (CVE-2022-21449)', Buffer.alloc(64)],
    ['r zero', Buffer.concat([Buffer.alloc(32), Buffer.alloc(32, 1)])],
    ['s zero', Buffer.concat([Buffer.alloc(32, 1), Buffer.alloc(32)])],
    [
      'r and s the order of the curve',
      Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'.repeat(2), 'hex'),
    ],
    ['all ones', Buffer.alloc(64, 0xff)],
    ['one octet', Buffer.alloc(1)],
    ['in DER', Buffer.from('3006020100020100', 'hex')],
    ['a kilobyte of zero', Buffer.alloc(1_024)],
  ])('%s is refused', async (_, signature) => {
    for (const [alg, kid] of [
      ['ES256', 'ec'],
      ['EdDSA', 'ed'],
      ['RS256', 'rsa'],
    ]) {
      const token = `${partOf({ alg, kid })}.${partOf(CLAIMS)}.${signature.toString('base64url')}`;
      expect(await judge(token)).toEqual(refused('wrong_signature'));
    }
  });

  test('a signature in another form of base64url is refused', async () => {
    const token = signToken({ alg: 'ES256', kid: 'ec' }, CLAIMS, EC.privateKey);
    const [header, payload, signature] = token.split('.') as [string, string, string];
    // The last character has four bits that no octet has.
    const last = signature.at(-1)!;
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const other = digits[digits.indexOf(last) ^ 1]!;
    for (const changed of [
      `${header}.${payload}.${signature}=`,
      `${header}.${payload}.${signature}==`,
      `${header}.${payload}.${signature.slice(0, -1)}${other}`,
      `${header}.${payload}.${signature.slice(0, 8)}%0A${signature.slice(8)}`,
      `${header}.${payload}.${signature.slice(0, 8)} ${signature.slice(8)}`,
      `${header}=.${payload}.${signature}`,
      `${header}.${payload}.${signature}.`,
      `.${header}.${payload}.${signature}`,
      `${header}.${payload}..${signature}`,
      `${header}.${payload}.${signature}.${signature}`,
      `${header}.${payload}.${signature}.${signature}.${signature}`,
      token.replaceAll('_', '/').replaceAll('-', '+').replace(/^/, '+'),
    ]) {
      expect(await judge(changed)).toEqual(refused('malformed'));
    }
  });
});

describe('keys that the token itself brings (RFC 8725 §2.8, §2.9)', () => {
  const forged = (header: object): string =>
    signToken({ alg: 'ES256', ...header }, CLAIMS, ATTACKER.privateKey);
  test.each([
    ['jwk', { jwk: ATTACKER.jwk }],
    ['jku', { jku: 'https://attacker.example/jwks.json' }],
    ['x5u', { x5u: 'https://attacker.example/chain.pem' }],
    ['x5c', { x5c: [der(ATTACKER).toString('base64')] }],
    ['x5t', { x5t: 'AAAA' }],
    ['all of them', { jwk: ATTACKER.jwk, jku: 'https://attacker.example/', x5c: ['AAAA'] }],
  ])('`%s` selects none', async (_, header) => {
    expect(await judge(forged(header))).toEqual(refused('wrong_signature'));
    expect(await judge(forged({ ...header, kid: 'ec' }))).toEqual(refused('wrong_signature'));
    expect(await judge(forged({ ...header, kid: 'mine' }))).toEqual(refused('unknown_key_id'));
    // Beside a valid signature they are without effect.
    const valid = signToken({ alg: 'ES256', kid: 'ec', ...header }, CLAIMS, EC.privateKey);
    expect(await judge(valid)).toMatchObject({ consumer: 'shop' });
  });

  test.each([
    '../../../../dev/null',
    '/proc/sys/kernel/randomize_va_space',
    "x' UNION SELECT 'secret' -- ",
    '|/bin/sleep 10',
    'file:///etc/passwd',
    '__proto__',
    'constructor',
    '\u0000ec',
    'EC',
    'ec ',
    '0',
    'x'.repeat(8_000),
  ])('the key id `%.30s` names none', async (kid) => {
    expect(await judge(forged({ kid }))).toEqual(refused('unknown_key_id'));
    expect(await judge(signHmac({ alg: 'HS256', kid }, CLAIMS, ''))).toEqual(refused('wrong_algorithm'));
  });

  test.each([
    ['crit', { crit: ['exp'], exp: 1 }],
    ['an empty crit', { crit: [] }],
    ['b64 as critical', { crit: ['b64'], b64: false }],
    ['b64 alone', { b64: false }],
    ['b64 that is true', { b64: true, crit: ['b64'] }],
  ])('%s is refused under a valid signature', async (_, header) => {
    const token = signToken({ alg: 'ES256', kid: 'ec', ...header }, CLAIMS, EC.privateKey);
    expect(await judge(token)).toEqual(refused('malformed'));
  });
});

describe('tokens of another kind, issuer or recipient (RFC 8725 §2.7, §2.10 to §2.12)', () => {
  test('a valid token of one issuer that claims another is refused', async () => {
    const partner = issuerOf('partner', [ATTACKER]);
    for (const kid of ['mine', 'ec', undefined]) {
      const token = signToken({ alg: 'ES256', kid }, CLAIMS, ATTACKER.privateKey);
      expect((await judge(token, [LOGIN, partner])).consumer).toBeNull();
      expect((await judge(token, [partner, LOGIN])).consumer).toBeNull();
    }
  });

  test('one key id at two issuers is the key of the issuer that the token names', async () => {
    const same = makeKey('ES256', 'ec');
    const partner = issuerOf('partner', [same]);
    const swapped = signToken({ alg: 'ES256', kid: 'ec' }, CLAIMS, same.privateKey);
    expect(await judge(swapped, [partner, LOGIN])).toEqual(refused('wrong_signature'));
    const own = signToken({ alg: 'ES256', kid: 'ec' }, claimsFor('partner', 'lab'), same.privateKey);
    expect(await judge(own, [LOGIN, partner])).toMatchObject({ consumer: 'lab' });
  });

  test.each(['dpop+jwt', 'logout+jwt', 'secevent+jwt', 'JWE', 'at+jwt;x=y', 'application/jose', 'jwt\u0000'])(
    'the type `%s` is refused',
    async (typ) => {
      const token = signToken({ alg: 'ES256', kid: 'ec', typ }, CLAIMS, EC.privateKey);
      expect(await judge(token)).toEqual(refused('wrong_type'));
    },
  );

  test('encrypted, nested and unsecured tokens are malformed', async () => {
    const inner = signToken({ alg: 'ES256', kid: 'ec' }, CLAIMS, EC.privateKey);
    const nested = signToken({ alg: 'ES256', kid: 'ec', cty: 'JWT' }, inner, EC.privateKey);
    expect(await judge(nested)).toEqual(refused('malformed'));
    const encrypted = [partOf({ alg: 'dir', enc: 'A128GCM' }), '', 'AAAA', 'AAAA', 'AAAA'].join('.');
    expect(await judge(encrypted)).toEqual(refused('malformed'));
    const [header, payload, signature] = inner.split('.');
    const general = { payload, signatures: [{ protected: header, signature }] };
    expect(await judge(JSON.stringify(general))).toEqual(refused('malformed'));
  });
});

describe('JSON that parsers read differently (RFC 8725 §2.6)', () => {
  const sign = (header: string | Buffer, payload: string | Buffer): string =>
    signToken(header, payload, EC.privateKey, 'ES256');
  const HEADER = '{"alg":"ES256","kid":"ec"}';
  const text = JSON.stringify(CLAIMS);
  const withMember = (member: string): string => `${text.slice(0, -1)},${member}}`;

  test.each([
    ['twice the subject', withMember('"sub":"lab"')],
    ['twice the subject, once escaped', withMember('"s\\u0075b":"lab"')],
    ['twice a member of an object', withMember('"a":{"b":1,"b":2}')],
    ['twice a member of an object in a list', withMember('"a":[[{"b":1},{"b":1,"c":2,"b":3}]]')],
    ['twice an empty name', withMember('"":1,"":2')],
    ['twice `__proto__`', withMember('"__proto__":1,"__proto__":2')],
    ['a byte order mark', `\ufeff${text}`],
    ['text after it', `${text}{}`],
    ['NUL after it', `${text}\u0000`],
    ['a comment', text.replace('{', '{/**/')],
    ['a comma at its end', withMember('').replace(',}', ',}')],
    ['single quotes', text.replaceAll('"', "'")],
    ['NaN', withMember('"a":NaN')],
    ['a list', '[]'],
    ['a text', '"claims"'],
    ['null', 'null'],
    ['nothing but a blank', ' '],
    [
      'octets that are no UTF-8',
      Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from(',"a":"\xff"}', 'latin1')]),
    ],
    ['UTF-16', Buffer.from(text, 'utf16le')],
    ['33 levels', withMember(`"a":${'['.repeat(32)}${']'.repeat(32)}`)],
  ])('claims with %s are malformed', async (_, payload) => {
    expect(await judge(sign(HEADER, payload))).toEqual(refused('malformed'));
  });

  test.each([
    '{"alg":"none","alg":"ES256","kid":"ec"}',
    '{"alg":"ES256","alg":"none","kid":"ec"}',
    '{"alg":"ES256","\\u0061lg":"ES256","kid":"ec"}',
    '{"alg":"ES256","kid":"x","kid":"ec"}',
    '{"alg":"ES256","kid":"ec","a":{"b":1,"b":1}}',
    '["ES256"]',
  ])('the header %s is malformed', async (header) => {
    expect(await judge(sign(header, text))).toEqual(refused('malformed'));
  });

  test('names and values that only look doubled are accepted', async () => {
    const payload = withMember(
      '"a":{"sub":["sub","sub"],"x":"\\"sub\\":"},"b" : [{"c":1},{"c":2}],"A":"sub","\\\\":1',
    );
    expect(await judge(sign(HEADER, payload))).toMatchObject({ consumer: 'shop' });
  });

  test('a claim `__proto__` is a claim and nothing else', async () => {
    const issuers = [{ ...LOGIN, consumerClaim: 'client' }];
    const token = sign(HEADER, withMember('"__proto__":{"client":"shop"}'));
    expect(await judge(token, issuers)).toEqual(refused('claim_missing'));
    expect(await judge(token)).toMatchObject({ consumer: 'shop' });
    expect(Object.hasOwn({}, 'client')).toBe(false);
  });
});

describe('large tokens', () => {
  const timed = async (token: string): Promise<RequestIdentity> => {
    const began = performance.now();
    const identity = await judge(token);
    // Against quadratic time alone: the slowest takes milliseconds.
    expect(performance.now() - began).toBeLessThan(2_000);
    return identity;
  };

  test('of 100 KB and of a megabyte are refused unread', async () => {
    for (const size of [100_000, 1_000_000]) {
      const token = signToken({ alg: 'ES256', kid: 'ec' }, { ...CLAIMS, a: 'x'.repeat(size) }, EC.privateKey);
      expect(await timed(token)).toEqual(refused('too_long'));
    }
  });

  test('of 16 KiB are verified', async () => {
    const token = signToken({ alg: 'ES256', kid: 'ec' }, { ...CLAIMS, a: 'x'.repeat(11_000) }, EC.privateKey);
    expect(await timed(token)).toMatchObject({ consumer: 'shop' });
  });

  test.each([
    ['10,000 open lists', '['.repeat(10_000)],
    ['5,000 lists in each other', `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['1,500 objects in each other', `${'{"a":'.repeat(1_500)}1${'}'.repeat(1_500)}`],
    ['2,000 members of one name', `{${'"a":1,'.repeat(1_900)}"b":1}`],
    ['a long number', `{"exp":${'9'.repeat(10_000)}}`],
    ['blanks', `{${' '.repeat(10_000)}`],
    ['strings and blanks', `{"a":[${`"" ${' '.repeat(20)},`.repeat(400)}""]}`],
    ['escapes', `{"${'\\u0061'.repeat(1_600)}":1}`],
  ])('with %s are refused in little time', async (_, payload) => {
    for (const token of [
      signToken({ alg: 'ES256', kid: 'ec' }, payload, EC.privateKey),
      signToken(payload, CLAIMS, EC.privateKey, 'ES256'),
    ]) {
      expect((await timed(token)).consumer).toBeNull();
    }
  });

  test('of 10,000 dots are refused in little time', async () => {
    expect(await timed('.'.repeat(10_000))).toEqual(refused('malformed'));
  });

  test('without a key id are verified with four keys at most', async () => {
    const keys = Array.from({ length: 6 }, () => makeKey('ES256'));
    const issuers = [issuerOf('login', keys)];
    const by = (index: number) =>
      judge(signToken({ alg: 'ES256' }, CLAIMS, keys[index]!.privateKey), issuers);
    expect(await by(3)).toMatchObject({ consumer: 'shop' });
    expect(await by(4)).toEqual(refused('wrong_signature'));
  });
});

describe('reports about other verifiers', () => {
  const wanted = (issuers: readonly AnyIssuer[], registry = REGISTRY) => wantedOf(registry, issuers);
  const valid = (claims: object = {}, header: object = {}): string =>
    signToken({ alg: 'ES256', kid: 'ec', ...header }, { ...CLAIMS, ...claims }, EC.privateKey, 'ES256');

  test('several tokens in several places are no choice of the client (Kong #11796)', async () => {
    const sources = [
      { in: 'header', name: 'X-One' },
      { in: 'header', name: 'X-Two' },
      { in: 'cookie', name: 'three' },
    ] as const;
    const { verify } = createCredentialVerifier(sha256);
    const request = requestOf({
      'x-one': valid({ jti: '1' }),
      'x-two': valid({ jti: '2' }),
      cookie: 'three=x',
    });
    expect(verify(request, wanted([{ ...LOGIN, sources }]), { now: NOW })).toEqual(refused('conflict'));
  });

  test('the first of several Authorization headers is not taken (Kong #5713)', async () => {
    const { verify } = createCredentialVerifier(sha256);
    const two = requestOf({ authorization: [`Bearer ${valid()}`, 'Bearer x'] });
    expect(verify(two, wanted([LOGIN]), { now: NOW })).toEqual(refused('doubled'));
    const joined = requestOf({ authorization: `Bearer ${valid()}, Bearer ${valid()}` });
    expect(verify(joined, wanted([LOGIN]), { now: NOW })).toEqual(refused('malformed'));
  });

  test('a header without `typ` is valid (Kong #1191)', async () => {
    expect(await judge(valid())).toMatchObject({ consumer: 'shop' });
  });

  test('a token of a wrong or empty issuer is not missing (Envoy #15194, #20279)', async () => {
    expect(await judge(valid({ iss: 'https://evil.example/' }))).toEqual(refused('wrong_issuer'));
    expect(await judge(valid({ iss: '' }))).toEqual(refused('wrong_issuer'));
    expect(await judge(valid({ iss: '' }), [{ ...LOGIN, issuer: '' }])).toMatchObject({ consumer: 'shop' });
  });

  test('an audience may be a list, and a list of other things throws nothing (istio/proxy #985)', async () => {
    expect(await judge(valid({ aud: ['x', 'https://api.example'] }))).toMatchObject({ consumer: 'shop' });
    expect(await judge(valid({ aud: [1, null, {}, []] }))).toEqual(refused('wrong_audience'));
  });

  test('a replaced key is replaced for cached tokens at once (Tyk #6378, Oathkeeper #763)', async () => {
    const { verify } = createCredentialVerifier(sha256);
    const next = makeKey('ES256', 'next');
    const judgeWith = (token: string, registry: OpenedRegistry, key: IssuerKey) =>
      verify(requestOf({ authorization: `Bearer ${token}` }), wanted([issuerOf('login', [key])], registry), {
        now: NOW,
      });
    const [old, fresh] = [valid(), signToken({ alg: 'ES256', kid: 'next' }, CLAIMS, next.privateKey)];
    expect(await judgeWith(old, REGISTRY, EC)).toMatchObject({ consumer: 'shop' });
    expect(await judgeWith(fresh, REGISTRY, EC)).toEqual(refused('unknown_key_id'));
    const changed = registryOf({ consumers: ['shop'] });
    expect(await judgeWith(old, changed, next)).toEqual(refused('unknown_key_id'));
    expect(await judgeWith(fresh, changed, next)).toMatchObject({ consumer: 'shop' });
  });

  test('an identity has nothing of a refused credential (APISIX #6855)', async () => {
    const secret = signToken({ alg: 'ES256', kid: 'nobody' }, CLAIMS, EC.privateKey);
    expect(JSON.stringify(await judge(secret))).toBe('{"consumer":null,"failure":"unknown_key_id"}');
  });

  test('all keys of the kind are tried where the header names none (OPA #1923, slim #1883)', async () => {
    const issuers = [issuerOf('login', [makeKey('ES256'), RSA, EC])];
    expect(await judge(valid({}, { kid: undefined }), issuers)).toMatchObject({ consumer: 'shop' });
  });

  test('the reason of a refusal is that of the fitting key (slim #1883)', async () => {
    const issuers = [issuerOf('login', [makeKey('ES256'), EC])];
    const expired = valid({ exp: NOW_SEC - 600 }, { kid: undefined });
    expect(await judge(expired, issuers)).toEqual(refused('expired'));
  });

  test('one key that is none does not disable the others (mod_auth_openidc #229)', async () => {
    const broken = { kty: 'EC', crv: 'P-256', x: 'x,,', y: 'y,,' };
    expect(await judge(valid({}, { kid: undefined }), [{ ...LOGIN, keys: [broken, EC.jwk] }])).toMatchObject({
      consumer: 'shop',
    });
    expect(await judge(valid({}, { kid: undefined }), [{ ...LOGIN, keys: [broken] }])).toEqual(
      refused('no_keys'),
    );
  });

  test('of two keys with one id the one of the kind verifies, else either (jose #392, Keycloak #15114)', async () => {
    const same = { ...makeKey('ES256').jwk, kid: 'ec' };
    const rsa = { ...RSA.jwk, kid: 'ec' };
    for (const keys of [
      [same, EC.jwk],
      [EC.jwk, EC.jwk],
      [rsa, EC.jwk],
      [EC.jwk, rsa],
    ]) {
      expect(await judge(valid(), [{ ...LOGIN, keys }])).toMatchObject({ consumer: 'shop' });
    }
  });

  test('an empty token and claims that are no object throw nothing (jsonwebtoken #24, #430, Hono #5316)', async () => {
    expect(await judge('')).toEqual(refused('missing'));
    for (const payload of ['null', '[1,2,3]', '7', '""', 'true']) {
      const token = signToken({ alg: 'ES256', kid: 'ec' }, payload, EC.privateKey);
      expect(await judge(token)).toEqual(refused('malformed'));
    }
  });

  test('padding is refused in each part (hs-jose #97)', async () => {
    const parts = valid().split('.');
    for (const at of [0, 1, 2]) {
      const padded = parts.map((part, index) => (index === at ? `${part}==` : part)).join('.');
      expect(await judge(padded)).toEqual(refused('malformed'));
    }
  });
});
