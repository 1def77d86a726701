/** Tokens that are not verified again: how often signatures are verified, and that no verdict outlives what it depends on. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../../../src/base/platform/cryptography.ts';
import { MAX_REFUSED, REFUSED_MS, VERIFIED_MS } from '../../../../src/edge/credentials/limits.ts';
import { createCredentialVerifier } from '../../../../src/edge/credentials/verify.ts';
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
const OTHER = makeKey('ES256', 'ec');
const LOGIN = issuerOf('login', [EC]);
const REGISTRY = registryOf({ consumers: ['shop'] });

const token = (claims: object = {}, key = EC): string =>
  signToken({ alg: 'ES256', kid: 'ec' }, claimsFor('login', 'shop', claims), key.privateKey);

/** Verifications of signatures, counted where the platform does them. */
let verifications = 0;
const { verify: original } = crypto.subtle;

beforeEach(() => {
  verifications = 0;
  crypto.subtle.verify = (...parameters: Parameters<typeof original>) => {
    verifications++;
    return original.apply(crypto.subtle, parameters);
  };
});
afterEach(() => {
  crypto.subtle.verify = original;
});

function createJudge() {
  const { verify } = createCredentialVerifier(sha256);
  return (text: string, now = NOW, issuers: readonly AnyIssuer[] = [LOGIN], registry = REGISTRY) =>
    verify(requestOf({ authorization: `Bearer ${text}` }), wantedOf(registry, issuers), { now });
}

describe('a verified token', () => {
  test('is not verified again, and its identity is there at once', async () => {
    const judge = createJudge();
    const first = await judge(token());
    expect(first).toMatchObject({ consumer: 'shop' });
    const same = token();
    await judge(same);
    expect(judge(same)).toMatchObject({ consumer: 'shop' });
    expect(verifications).toBe(2);
  });

  test('is verified once for requests at the same time', async () => {
    const [judge, same] = [createJudge(), token()];
    const all = await Promise.all(Array.from({ length: 50 }, () => judge(same)));
    for (const identity of all) expect(identity).toMatchObject({ consumer: 'shop' });
    expect(verifications).toBe(1);
  });

  test('is verified again after a time, at its end, and after its end within the skew', async () => {
    const judge = createJudge();
    const long = token({ exp: NOW_SEC + 3_600 });
    await judge(long);
    expect(judge(long, NOW + VERIFIED_MS - 1)).not.toBeInstanceOf(Promise);
    expect(judge(long, NOW + VERIFIED_MS)).toBeInstanceOf(Promise);
    const short = token({ exp: NOW_SEC + 10 });
    await judge(short);
    expect(judge(short, NOW + 9_999)).not.toBeInstanceOf(Promise);
    expect(await judge(short, NOW + 10_000)).toMatchObject({ consumer: 'shop' });
    expect(judge(short, NOW + 10_001)).toBeInstanceOf(Promise);
    expect(await judge(short, NOW + 70_000)).toEqual({ consumer: null, failure: 'expired' });
  });

  test('is verified again if the clock goes back', async () => {
    const [judge, same] = [createJudge(), token()];
    await judge(same);
    expect(judge(same, NOW - 1)).toBeInstanceOf(Promise);
    expect(await judge(same, NOW - 120_000)).toEqual({ consumer: null, failure: 'not_yet_valid' });
  });

  test('is verified again with another registry, by its keys and consumers', async () => {
    const [judge, same] = [createJudge(), token()];
    await judge(same);
    const withoutShop = registryOf({});
    expect(await judge(same, NOW, [LOGIN], withoutShop)).toEqual({
      consumer: null,
      failure: 'unknown_consumer',
    });
    const replaced = [issuerOf('login', [OTHER])];
    const other = registryOf({ consumers: ['shop'] });
    expect(await judge(same, NOW, replaced, other)).toEqual({ consumer: null, failure: 'wrong_signature' });
    expect(judge(same)).toMatchObject({ consumer: 'shop' });
  });

  test('is refused by a gateway that does not take its issuer', async () => {
    const [judge, same] = [createJudge(), token()];
    await judge(same);
    const partner = issuerOf('partner', [EC]);
    expect(await judge(same, NOW, [partner])).toEqual({ consumer: null, failure: 'wrong_issuer' });
    const twin = { ...LOGIN, name: 'twin', audiences: ['https://twin.example'] };
    expect(await judge(same, NOW, [twin])).toEqual({ consumer: null, failure: 'wrong_audience' });
    expect(await judge(same)).toMatchObject({ consumer: 'shop' });
  });
});

describe('a refused token', () => {
  test('is refused again for a while, and verified after it', async () => {
    const [judge, forged] = [createJudge(), token({}, OTHER)];
    const refused = { consumer: null, failure: 'wrong_signature' };
    expect(await judge(forged)).toEqual(refused);
    expect(judge(forged, NOW + REFUSED_MS - 1)).toEqual(refused);
    expect(verifications).toBe(1);
    expect(judge(forged, NOW + REFUSED_MS)).toBeInstanceOf(Promise);
  });

  test('is valid once its time has come', async () => {
    const [judge, early] = [createJudge(), token({ nbf: NOW_SEC + 61 })];
    expect(await judge(early)).toEqual({ consumer: null, failure: 'not_yet_valid' });
    expect(await judge(early, NOW + REFUSED_MS)).toMatchObject({ consumer: 'shop' });
  });

  test('that was verified before its end is refused again unverified', async () => {
    const [judge, short] = [createJudge(), token({ exp: NOW_SEC + 10 })];
    const refused = { consumer: null, failure: 'expired' };
    await judge(short);
    expect(await judge(short, NOW + 70_000)).toEqual(refused);
    expect(judge(short, NOW + 70_001)).toEqual(refused);
    expect(verifications).toBe(2);
  });

  test('that another gateway accepts is refused again unverified', async () => {
    const [judge, same] = [createJudge(), token()];
    const twin = { ...LOGIN, name: 'twin', audiences: ['https://twin.example'] };
    const refused = { consumer: null, failure: 'wrong_audience' };
    await judge(same);
    expect(await judge(same, NOW, [twin])).toEqual(refused);
    expect(judge(same, NOW, [twin])).toEqual(refused);
    expect(judge(same)).toMatchObject({ consumer: 'shop' });
    expect(verifications).toBe(2);
  });

  test('evicts no verified one', async () => {
    const [judge, same] = [createJudge(), token()];
    await judge(same);
    const [header, payload] = same.split('.');
    const forged = Array.from({ length: MAX_REFUSED + 100 }, (_, at) => {
      const signature = Buffer.alloc(64);
      signature.writeUInt32BE(at + 1);
      return `${header}.${payload}.${signature.toString('base64url')}`;
    });
    for (const one of forged) await judge(one);
    expect(judge(same)).not.toBeInstanceOf(Promise);
    expect(judge(forged.at(-1)!)).not.toBeInstanceOf(Promise);
    expect(judge(forged[0]!)).toBeInstanceOf(Promise);
  });
});
