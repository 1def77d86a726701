/** The forms of registries: what is read, the mistakes of its objects and those between them. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { describeDiagnostic } from '../../../../../src/base/diagnostics/diagnostic.ts';
import { sha256Hex } from '../../../../../src/base/platform/cryptography.ts';
import { redactKeys } from '../../../../../src/base/text/credentials.ts';
import { MAX_CONSUMERS } from '../../../../../src/base/vocabulary/limits.ts';
import {
  parseConsumer,
  parseTokenIssuer,
  parseUsagePlan,
} from '../../../../../src/rules/model/parse-registry.ts';
import { mintKey } from '../../../../../src/rules/model/registry/mint-key.ts';
import { withoutControlPlane } from '../../../../../src/rules/model/registry/registry.ts';
import { registryMistakes, registryOf } from '../../../../support/registries.ts';

const hash = (text: string): string => sha256Hex(text);
const jwk = (kind: 'public' | 'private', type: 'ec' | 'ed25519' | 'rsa', options: object = {}): object => {
  const pair = generateKeyPairSync(type as 'rsa', options as { modulusLength: number });
  return pair[`${kind}Key`].export({ format: 'jwk' });
};
const ED = jwk('public', 'ed25519');
const issuer = (fields: object): object => ({
  name: 'auth',
  issuer: 'i',
  audiences: ['a'],
  keys: [ED],
  ...fields,
});
const ofIssuer = (fields: object): readonly string[] => registryMistakes({ token_issuers: [issuer(fields)] });

describe('a consumer', () => {
  test('has all defaults once it is read', () => {
    expect(registryOf({ consumers: [{ username: 'a' }] }).consumers[0]).toEqual({
      ...{ username: 'a', custom_id: null, group: null, labels: [], enabled: true, usage_plan: null },
      ...{ acl: [], scopes: [], metadata: {}, expires_at: null },
    });
  });

  test.each(['', '-a', 'a b', 'ä', 'a'.repeat(65)])('has no username %j', (username) => {
    expect(registryMistakes({ consumers: [{ username }] })[0]).toContain('consumers[0].username');
  });

  test('has two keys that have not expired, and not three', () => {
    const keys = ['1', '2', '3'].map((text) => ({ sha256: hash(text) }));
    const old = { sha256: hash('4'), expires_at: '2020-01-01T00:00:00Z' };
    expect(registryMistakes({ consumers: [{ username: 'a', keys: [...keys.slice(1), old] }] })).toEqual([]);
    expect(registryMistakes({ consumers: [{ username: 'a', keys }] })).toEqual([
      'live_keys consumers[0].keys: must have at most 2 keys that have not expired, found 3; remove the oldest, or set its `expires_at`',
    ]);
  });

  test('of the API has no keys: they are objects of their own', () => {
    const parsed = parseConsumer({ username: 'a', id: 3, keys: [{ sha256: 'x' }] });
    expect(parsed.ok && Object.hasOwn(parsed.consumer, 'keys')).toBe(false);
    expect(parsed.ok).toBe(true);
  });
});

describe('objects of a registry', () => {
  test('name each other, with a suggestion for a misspelt name', () => {
    const consumers = [{ username: 'alice', usage_plan: 'glod' }];
    const token_issuers = [issuer({ default_consumer: 'alcie' })];
    expect(registryMistakes({ consumers, usage_plans: [{ name: 'gold' }], token_issuers })).toEqual([
      'unknown_usage_plan consumers[0].usage_plan: names no usage plan of the domain, found `glod`; did you mean `gold`?',
      'unknown_consumer token_issuers[0].default_consumer: names no consumer of the domain, found `alcie`; did you mean `alice`?',
    ]);
  });

  test('may name one that has a mistake of its own', () => {
    const consumers = [{ username: 'a', usage_plan: 'gold' }];
    const mistakes = registryMistakes({ consumers, usage_plans: [{ name: 'gold', throttle: { rate: 0 } }] });
    expect(mistakes.map((text) => text.split(' ')[0])).toEqual(['out_of_range']);
  });

  test('have names, ids and keys of their own', () => {
    const keys = [{ sha256: hash('k') }];
    const consumers = [
      { username: 'a', keys },
      { username: 'a' },
      { username: 'b', custom_id: 'a', keys },
      { username: 'c', custom_id: 'c' },
    ];
    const usage_plans = [{ name: 'gold' }, { name: 'gold' }];
    const token_issuers = [issuer({}), issuer({})];
    expect(
      registryMistakes({ consumers, usage_plans, token_issuers }).map((text) => text.split(':')[0]),
    ).toEqual([
      'duplicate_name usage_plans[1].name',
      'duplicate_name token_issuers[1].name',
      'duplicate_consumer consumers[1].username',
      'duplicate_consumer consumers[2].custom_id',
      'duplicate_hash consumers[2].keys[0].sha256',
    ]);
  });

  test('are not more than a domain may have', () => {
    const consumers = Array.from({ length: MAX_CONSUMERS + 1 }, (_, index) => ({ username: `c${index}` }));
    expect(registryMistakes({ consumers })).toEqual([
      'too_many consumers: must have at most 10000 entries, found 10001',
    ]);
  });
});

describe('a token issuer', () => {
  test('takes public keys of every kind that an algorithm uses', () => {
    const keys = [
      ED,
      jwk('public', 'ec', { namedCurve: 'P-256' }),
      jwk('public', 'rsa', { modulusLength: 2048 }),
    ];
    expect(ofIssuer({ keys })).toEqual([]);
    expect(ofIssuer({ keys: [jwk('public', 'ec', { namedCurve: 'P-384' })], algorithms: ['ES384'] })).toEqual(
      [],
    );
  });

  test.each([
    ['a private key', { keys: [jwk('private', 'ed25519')] }, 'private_key token_issuers[0].keys[0].d'],
    ['a shared secret', { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }, 'private_key token_issuers[0].keys[0].k'],
    [
      'a short RSA key',
      { keys: [jwk('public', 'rsa', { modulusLength: 1024 })] },
      'invalid_jwk token_issuers[0].keys[0].n',
    ],
    [
      'another curve',
      { keys: [jwk('public', 'ec', { namedCurve: 'P-521' })] },
      'invalid_jwk token_issuers[0].keys[0].crv',
    ],
    ['a key of no algorithm', { algorithms: ['RS256'] }, 'invalid_jwk token_issuers[0].keys[0]'],
    ['a key of other use', { keys: [{ ...ED, use: 'enc' }] }, 'invalid_jwk token_issuers[0].keys[0].use'],
    ['an algorithm with a secret', { algorithms: ['HS256'] }, 'invalid_value token_issuers[0].algorithms[0]'],
    ['no algorithm', { algorithms: ['none'] }, 'invalid_value token_issuers[0].algorithms[0]'],
    ['keys from two places', { jwks_url: 'https://a.example/' }, 'key_sources token_issuers[0].jwks_url'],
    ['keys from nowhere', { keys: undefined }, 'key_sources token_issuers[0].keys'],
    [
      'keys without TLS',
      { keys: undefined, jwks_url: 'http://a.example/' },
      'jwks_url token_issuers[0].jwks_url',
    ],
    [
      'a password in an address',
      { keys: undefined, jwks_url: 'https://u:secret@a.example/' },
      'jwks_url token_issuers[0].jwks_url',
    ],
    [
      'a header of no name',
      { sources: [{ in: 'header', name: 'a b' }] },
      'invalid_token token_issuers[0].sources[0]',
    ],
    [
      'a header that is logged',
      { sources: [{ in: 'header', name: 'Referer' }] },
      'reserved_header token_issuers[0].sources[0]',
    ],
    [
      'a header that has several credentials',
      { sources: [{ in: 'header', name: 'Cookie' }] },
      'reserved_header token_issuers[0].sources[0]',
    ],
  ] as const)('refuses %s', (_, fields, mistake) => {
    const [first = ''] = ofIssuer(fields);
    expect(first.split(':')[0]).toBe(mistake);
  });

  test('is refused without a word of its secrets', () => {
    const secret = jwk('private', 'rsa', { modulusLength: 2048 }) as Record<string, string>;
    const found = [
      { keys: [secret] },
      { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] },
      { keys: ['c2VjcmV0'] },
      { keys: undefined, jwks_url: 'https://u:c2VjcmV0@a/' },
    ];
    const text = found.flatMap(ofIssuer).join('\n');
    expect(text).not.toContain('c2VjcmV0');
    for (const value of Object.values(secret)) if (value.length > 4) expect(text).not.toContain(value);
  });

  test('keeps of a key what checks of signatures need', () => {
    const parsed = parseTokenIssuer(issuer({ keys: [{ ...ED, kid: 'k', x5c: ['AAAA'], use: 'sig' }] }));
    expect(parsed.ok && parsed.issuer.keys).toEqual([{ ...ED, kid: 'k' }]);
  });

  test('of a file gets a warning if only a control plane has its keys', () => {
    const registry = registryOf({
      token_issuers: [issuer({ keys: undefined, jwks_url: 'https://a.example/' })],
    });
    expect(withoutControlPlane(registry).map(describeDiagnostic)).toEqual([
      'token_issuers[0].jwks_url: is fetched by a control plane alone: without one every token of the issuer is refused; list the public keys of the issuer in `keys`',
    ]);
    expect(withoutControlPlane(registryOf({ token_issuers: [issuer({})] }))).toEqual([]);
  });
});

describe('a usage plan', () => {
  test('has a quota with a limit and a period, or none', () => {
    const parsed = parseUsagePlan({
      name: 'gold',
      quota: { limit: 1_000_000_000_000, period: 'rolling_30d' },
    });
    expect(parsed.ok && parsed.plan.quota).toEqual({ limit: 1_000_000_000_000, period: 'rolling_30d' });
    const quota = { limit: 0, period: 'year', used: 1 };
    const codes = parseUsagePlan({ name: 'gold', quota }).diagnostics.map(({ code, path }) => [
      code,
      ...path,
    ]);
    expect(codes).toEqual([
      ['out_of_range', 'quota', 'limit'],
      ['invalid_value', 'quota', 'period'],
      ['unknown_field', 'quota', 'used'],
    ]);
  });

  test('of a file gets a warning if it has a quota, which only a control plane counts', () => {
    const plans = [{ name: 'gold' }, { name: 'small', quota: { limit: 5, period: 'day' } }];
    expect(withoutControlPlane(registryOf({ usage_plans: plans })).map(describeDiagnostic)).toEqual([
      'usage_plans[1].quota: is counted by a control plane alone: without one no consumer is refused for it; apply the file to a control plane, or limit consumers by `throttle`',
    ]);
  });

  test('has a throttle with defaults, or none', () => {
    const parsed = parseUsagePlan({ name: 'gold', throttle: { rate: 5 } });
    expect(parsed.ok && parsed.plan).toEqual({
      name: 'gold',
      throttle: { rate: 5, per_sec: 1, burst: 0 },
      quota: null,
      concurrency: null,
    });
    const free = parseUsagePlan({ name: 'free' });
    expect(free.ok && free.plan.throttle).toBeNull();
  });
});

describe('a minted key', () => {
  test('has 256 bits, differs from others, and is cut in logs', () => {
    const [first, second] = [mintKey(), mintKey()];
    expect(first.text).toMatch(/^epk_[A-Za-z0-9_-]{43}$/);
    expect(first.sha256).toBe(hash(first.text));
    expect(first.text).not.toBe(second.text);
    expect(redactKeys(`key ${first.text} refused`)).toBe(`key ${first.text.slice(0, 8)}… refused`);
  });
});
