/**
 * Credentials from random octets and from damaged valid tokens: nothing is thrown, nothing is admitted, and claims that are
 * signed are read as `JSON.parse` reads them.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../src/base/platform/cryptography.ts';
import { IDENTITY_FAILURES } from '../../src/base/vocabulary/vocabulary.ts';
import { readTokenText } from '../../src/edge/credentials/token-text.ts';
import { createCredentialVerifier } from '../../src/edge/credentials/verify.ts';
import type { EdgeRequest, RequestIdentity } from '../../src/engine/evaluator/request.ts';
import { claimsFor, issuerOf, NOW, registryOf, requestOf, wantedOf } from '../support/credentials.ts';
import { sizeOf } from '../support/size.ts';
import { makeKey, partOf, signToken } from '../support/tokens.ts';

const SEED = { seed: Number(process.env['EDGEPLAN_SEED'] ?? 1) };
const RUNS = sizeOf('EDGEPLAN_CREDENTIALS', { usual: 2_000, full: 50_000 });

const KEY = makeKey('ES256', 'ec');
const ED = makeKey('EdDSA', 'ed');
const SOURCES = [
  { in: 'header', name: 'Authorization' },
  { in: 'header', name: 'X-Key' },
  { in: 'query', name: 'key' },
  { in: 'cookie', name: 'key' },
] as const;
const LOGIN = issuerOf('login', [KEY, ED], { sources: [...SOURCES] });
const PARTNER = issuerOf('partner', [makeKey('ES256', 'ec')], { sources: [...SOURCES] });
const WANTED = wantedOf(
  registryOf({ keys: { 'a-key-that-nobody-guesses': 'shop' }, consumers: ['lab'] }),
  [LOGIN, PARTNER],
  SOURCES,
);
const VALID = signToken({ alg: 'ES256', kid: 'ec' }, claimsFor('login', 'lab'), KEY.privateKey);
const { verify } = createCredentialVerifier(sha256);

async function judge(request: EdgeRequest): Promise<RequestIdentity> {
  return verify(request, WANTED, { now: NOW });
}

function expectRefused({ consumer, failure, claims }: RequestIdentity): void {
  expect(consumer).toBeNull();
  expect(claims).toBeUndefined();
  expect(IDENTITY_FAILURES).toContain(failure);
}

const octets = fc.uint8Array({ maxLength: 400 }).map((list) => Buffer.from(list).toString('latin1'));
const json = fc.json({ maxDepth: 6 });
const alg = fc.constantFrom('ES256', 'EdDSA', 'RS256', 'HS256', 'none', 'NONE', '', null, 7);
const header = fc
  .record(
    {
      alg,
      kid: fc.constantFrom('ec', 'ed', '', '../ec', null),
      typ: fc.string(),
      jwk: fc.constant(KEY.jwk),
      crit: fc.array(fc.string()),
    },
    { requiredKeys: [] },
  )
  .map((members) => JSON.stringify(members));
const claims = fc.oneof(json, fc.constant(JSON.stringify(claimsFor('login', 'lab'))));
const signature = fc.uint8Array({ maxLength: 80 });
const unsigned = fc
  .tuple(fc.oneof(header, json), claims, signature)
  .map(([head, payload, made]) => `${partOf(head)}.${partOf(payload)}.${partOf(made)}`);
const text = fc.oneof(
  octets,
  unsigned,
  fc.array(octets, { maxLength: 6 }).map((parts) => parts.join('.')),
);
const value = fc
  .tuple(fc.constantFrom('', 'Bearer ', 'ApiKey ', 'bearer', 'Basic '), text)
  .map((parts) => parts.join(''));
const values = fc.oneof(value, fc.array(value, { maxLength: 3 }));
const headers = fc.dictionary(fc.constantFrom('authorization', 'x-key', 'cookie', '__proto__'), values);
const target = fc.oneof(
  text,
  text.map((one) => `/?key=${one}`),
  text.map((one) => `/?key=${encodeURIComponent(one)}`),
);

test('random credentials in any place are refused, and nothing is thrown', async () => {
  await fc.assert(
    fc.asyncProperty(headers, target, async (sent, path) => {
      expectRefused(await judge(requestOf(sent, path)));
    }),
    { ...SEED, numRuns: RUNS },
  );
});

test('a valid token with a character changed, added or removed is refused', async () => {
  expect(await judge(requestOf({ authorization: `Bearer ${VALID}` }))).toMatchObject({ consumer: 'lab' });
  const place = fc.nat(VALID.length - 1);
  await fc.assert(
    fc.asyncProperty(place, fc.constantFrom(0, 1), fc.string({ maxLength: 2 }), async (at, cut, added) => {
      const changed = VALID.slice(0, at) + added + VALID.slice(at + cut);
      fc.pre(changed !== VALID && changed.trim() !== VALID);
      expectRefused(await judge(requestOf({ authorization: `Bearer ${changed}` })));
    }),
    { ...SEED, numRuns: RUNS },
  );
});

test('parts of valid tokens put together anew are refused', async () => {
  const others = ['shop', 'nobody'].map((sub) =>
    signToken({ alg: 'EdDSA', kid: 'ed' }, claimsFor('login', sub), ED.privateKey),
  );
  const part = fc
    .tuple(fc.constantFrom(VALID, ...others), fc.nat(2))
    .map(([token, at]) => token.split('.')[at]!);
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), async (parts) => {
      const mixed = parts.join('.');
      fc.pre(mixed !== VALID && !others.includes(mixed));
      expectRefused(await judge(requestOf({ authorization: `Bearer ${mixed}` })));
    }),
    { ...SEED, numRuns: RUNS },
  );
});

test('claims without doubled members are read as they are', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (members) => {
      const payload = JSON.stringify(members);
      const read = readTokenText(`${partOf({ alg: 'ES256' })}.${partOf(payload)}.AA`);
      expect(JSON.stringify({ ...read?.claims })).toBe(payload);
    }),
    { ...SEED, numRuns: RUNS },
  );
});

test('a member that an object has twice makes claims malformed, at any depth and in any spelling', () => {
  const nested = fc.jsonValue({ maxDepth: 3 }).map((inner) => JSON.stringify(inner));
  const spelled = (name: string): string =>
    `"${Array.from(name, (_, at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
  fc.assert(
    fc.property(
      fc.string(),
      nested,
      nested,
      fc.array(fc.boolean(), { maxLength: 8 }),
      (name, one, two, levels) => {
        let payload = `{${JSON.stringify(name)}:${one}, ${spelled(name)} : ${two}}`;
        for (const isList of levels) payload = isList ? `[1,${payload}]` : `{"a":${payload}}`;
        const token = `${partOf({ alg: 'ES256' })}.${partOf(`{"x":${payload}}`)}.AA`;
        expect(readTokenText(token)).toBeNull();
      },
    ),
    { ...SEED, numRuns: RUNS },
  );
});
