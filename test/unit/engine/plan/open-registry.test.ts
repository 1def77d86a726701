/** Sealed registries against naive ones, and their faults. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../../../src/base/platform/cryptography.ts';
import { MAX_CONCURRENCY, MAX_QUOTA_REQUESTS } from '../../../../src/base/vocabulary/limits.ts';
import { QUOTA_PERIODS } from '../../../../src/base/vocabulary/vocabulary.ts';
import {
  type Exhausted,
  RegistryTooLarge,
  sealRegistry,
} from '../../../../src/engine/compiler/seal-registry.ts';
import { openRegistry, PlanFault } from '../../../../src/engine/evaluator/index.ts';
import { REGISTRY_HEADER, REGISTRY_VERSION, registryChecksum } from '../../../../src/engine/plan/registry.ts';
import type { Consumer, Registry } from '../../../../src/rules/model/types.ts';
import { registryOf } from '../../../support/registries.ts';

const octetsOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));

const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1'), minLength: 1, maxLength: 5 });
const note = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
/** Digests that share octets with each other more often than those of keys do. */
const digest = fc
  .array(fc.constantFrom('00', '01', 'ff', 'a7'), { minLength: 32, maxLength: 32 })
  .map((octets) => octets.join(''));
const time = fc.option(fc.constantFrom('2020-02-02T00:00:00Z', '2999-12-31T23:59:59.999+01:00'), {
  nil: null,
});

const consumer: fc.Arbitrary<Consumer> = fc.record({
  username: name,
  custom_id: fc.option(
    name.map((text) => `id|${text}`),
    { nil: null },
  ),
  group: fc.option(note, { nil: null }),
  labels: fc.array(note, { maxLength: 3 }),
  enabled: fc.boolean(),
  usage_plan: fc.option(name, { nil: null }),
  acl: fc.array(note, { maxLength: 3 }),
  scopes: fc.array(note, { maxLength: 3 }),
  metadata: fc.dictionary(note, note, { maxKeys: 3 }),
  expires_at: time,
  keys: fc.array(fc.record({ name: fc.constant(null), sha256: digest, expires_at: time }), { maxLength: 2 }),
});

const registry: fc.Arbitrary<Registry> = fc.record({
  consumers: fc
    .uniqueArray(consumer, { selector: ({ username }) => username, maxLength: 40 })
    .map((list) => withoutDoubles(list)),
  usage_plans: fc.uniqueArray(
    fc.record({
      name,
      throttle: fc.option(
        fc.record({ rate: fc.integer({ min: 1, max: 9 }), per_sec: fc.constant(1), burst: fc.constant(3) }),
        { nil: null },
      ),
      quota: fc.option(
        fc.record({
          limit: fc.integer({ min: 1, max: MAX_QUOTA_REQUESTS }),
          period: fc.constantFrom(...QUOTA_PERIODS),
        }),
        { nil: null, freq: 1 },
      ),
      concurrency: fc.option(fc.integer({ min: 1, max: MAX_CONCURRENCY }), { nil: null, freq: 1 }),
    }),
    { selector: (plan) => plan.name, maxLength: 5 },
  ),
  token_issuers: fc.constant([]),
});

/** Leaves out what the model refuses: a `custom_id` or a key that an earlier consumer has. */
function withoutDoubles(consumers: readonly Consumer[]): readonly Consumer[] {
  const seen = new Set<string>();
  const isNew = (text: string): boolean => !seen.has(text) && seen.add(text) !== undefined;
  return consumers.map((one) => ({
    ...one,
    custom_id: one.custom_id !== null && isNew(one.custom_id) ? one.custom_id : null,
    keys: (one.keys ?? []).filter(({ sha256 }) => isNew(sha256)),
  }));
}

/** What an opened registry answers for a consumer. */
function registered(one: Consumer, exhausted: ReadonlyMap<string, number> = new Map()): object {
  return {
    username: one.username,
    customId: one.custom_id,
    group: one.group,
    labels: one.labels,
    metadata: one.metadata,
    enabled: one.enabled,
    usagePlan: one.usage_plan,
    acl: one.acl,
    scopes: one.scopes,
    expiresAt: one.expires_at === null ? null : Date.parse(one.expires_at),
    exhausted,
  };
}

describe('a sealed registry', () => {
  test('finds every consumer, key and usage plan, with all that it has, and nothing else', () => {
    fc.assert(
      fc.property(registry, fc.array(name), fc.array(digest), (given, names, digests) => {
        const opened = openRegistry(sealRegistry(given));
        const keys = given.consumers.flatMap((one) => (one.keys ?? []).map((key) => ({ ...key, one })));
        for (const one of given.consumers) {
          expect(opened.consumer(one.username)).toEqual(registered(one));
          expect(opened.consumerOfClaim(one.username)).toEqual(registered(one));
          if (one.custom_id !== null) expect(opened.consumerOfClaim(one.custom_id)).toEqual(registered(one));
        }
        for (const { sha256, expires_at, one } of keys) {
          const key = opened.key(octetsOf(sha256))!;
          const expiresAt = expires_at === null ? null : Date.parse(expires_at);
          expect(key).toEqual({ consumer: registered(one), id: sha256.slice(0, 8), expiresAt });
        }
        for (const plan of given.usage_plans) {
          const throttle = plan.throttle && { rate: plan.throttle.rate, perSec: 1, burst: 3 };
          expect(opened.usagePlan(plan.name)).toEqual({ ...plan, throttle });
        }
        const isKnown = (text: string): boolean => given.consumers.some(({ username }) => username === text);
        for (const one of names) {
          if (!isKnown(one)) expect(opened.consumer(one)).toBeNull();
          if (!isKnown(one)) expect(opened.consumerOfClaim(one)).toBeNull();
        }
        for (const one of digests)
          if (keys.every(({ sha256 }) => sha256 !== one)) expect(opened.key(octetsOf(one))).toBeNull();
        expect([opened.consumer(''), opened.consumerOfClaim(''), opened.issuer('a')]).toEqual([
          null,
          null,
          null,
        ]);
        const counts = { consumers: given.consumers.length, keys: keys.length, issuers: 0 };
        expect(opened.counts).toEqual({ ...counts, plans: given.usage_plans.length });
      }),
      { numRuns: 300 },
    );
  });

  test('has the time until which quotas are exhausted, if one of its plans has a quota or a concurrency', () => {
    fc.assert(
      fc.property(registry, fc.array(fc.integer({ min: 1, max: 2 ** 45 })), (given, times) => {
        const plans = given.usage_plans.map(({ name: plan }) => plan);
        const exhausted = new Map(
          given.consumers.map(({ username }, row) => {
            const some = plans.slice(0, row % 3);
            return [username, some.map((plan) => ({ plan, until: times[row] ?? 7 }))] as const;
          }),
        );
        const opened = openRegistry(sealRegistry(given, exhausted));
        const hasQuota = given.usage_plans.some(
          ({ quota, concurrency }) => quota !== null || concurrency !== null,
        );
        for (const one of given.consumers) {
          const own = hasQuota ? exhausted.get(one.username)! : [];
          const until = new Map(own.map((quota) => [quota.plan, quota.until]));
          expect(opened.consumer(one.username)).toEqual(registered(one, until));
        }
      }),
      { numRuns: 200 },
    );
  });

  describe('has the lowest version whose readers follow all of it:', () => {
    const gold = { name: 'gold', throttle: { rate: 5, burst: 1 } };
    const open = { name: 'open' };
    const quota = { limit: 10, period: 'day' };
    const issuer = {
      name: 'auth',
      issuer: 'https://auth.example/',
      audiences: ['api'],
      jwks_url: 'https://auth.example/keys',
    };
    const consumers = [{ username: 'acme', usage_plan: 'gold' }];
    const exhausted = new Map([['acme', [{ plan: 'gold', until: 5 }]]]);
    const sealed = (given: object, until?: Exhausted): Uint8Array =>
      sealRegistry(registryOf({ consumers, usage_plans: [gold, open], ...given }), until);
    const versionOf = (octets: Uint8Array): number =>
      new DataView(octets.buffer).getUint32(REGISTRY_HEADER.version * 4, true);

    test('1 with throttles and token issuers alone, with the octets of before', () => {
      const octets = sealed({}, exhausted);
      expect(versionOf(octets)).toBe(1);
      expect(sha256Hex(octets)).toBe('b37731dcec04c858b76a6bd652b6ed6cc56ee5ececf33073b302b29e3cd82359');
      expect(versionOf(sealed({ token_issuers: [issuer] }))).toBe(1);
    });

    test('2 with a quota, with the octets of before', () => {
      const octets = sealed({ usage_plans: [gold, open, { name: 'small', quota }] });
      expect(versionOf(octets)).toBe(2);
      expect(sha256Hex(octets)).toBe('58c4c4b4e13cc13a1a3a3d58ee07f438f0fe4da79c690cb2efe1ae79714c3a0f');
    });

    test('3 with a concurrency, whether or not another plan has a quota', () => {
      const narrow = { name: 'narrow', concurrency: 2 };
      for (const plans of [[narrow], [narrow, { name: 'small', quota }]])
        expect(versionOf(sealed({ usage_plans: [gold, ...plans] }))).toBe(3);
    });

    test('3 with a `consumer_prefix`, which readers before it would leave out', () => {
      const octets = sealed({ token_issuers: [{ ...issuer, consumer_prefix: 'partner:' }] }, exhausted);
      expect(versionOf(octets)).toBe(3);
      const opened = openRegistry(octets);
      expect(opened.issuer('auth')?.consumerPrefix).toBe('partner:');
      expect(opened.usagePlan('gold')).toEqual({
        ...{ name: 'gold', throttle: { rate: 5, perSec: 1, burst: 1 } },
        ...{ quota: null, concurrency: null },
      });
      expect(opened.consumer('acme')?.exhausted).toEqual(new Map([['gold', 5]]));
    });
  });

  test('has the same octets in whatever order its objects are', () => {
    fc.assert(
      fc.property(registry, (given) => {
        const turned = {
          ...given,
          consumers: [...given.consumers]
            .reverse()
            .map((one) => ({ ...one, keys: [...one.keys!].reverse() })),
          usage_plans: [...given.usage_plans].reverse(),
        };
        expect(sha256Hex(sealRegistry(turned))).toBe(sha256Hex(sealRegistry(given)));
      }),
      { numRuns: 100 },
    );
  });

  test('finds 20,000 keys of 10,000 consumers, and none of 20,000 others', () => {
    const digests = Array.from({ length: 40_000 }, (_, index) => sha256Hex(`key ${index}`));
    const consumers = Array.from({ length: 10_000 }, (_, index) => ({
      username: `consumer-${index}`,
      custom_id: `auth|${index}`,
      keys: [{ sha256: digests[index * 2] }, { sha256: digests[index * 2 + 1] }],
    }));
    const opened = openRegistry(sealRegistry(registryOf({ consumers })));
    const found = digests.map((hex) => opened.key(octetsOf(hex))?.consumer.username ?? null);
    expect(found.slice(0, 20_000)).toEqual(
      Array.from({ length: 20_000 }, (_, index) => `consumer-${index >> 1}`),
    );
    expect(found.slice(20_000).every((one) => one === null)).toBe(true);
    expect(opened.consumerOfClaim('auth|9999')?.username).toBe('consumer-9999');
  });

  test('has all that verifiers need of a token issuer, and its public keys alone', () => {
    const key = { kty: 'OKP', crv: 'Ed25519', kid: 'a', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
    const issuer = {
      name: 'auth',
      issuer: 'https://auth.example/',
      audiences: ['api'],
      keys: [{ ...key, x5c: ['AA'] }],
    };
    const opened = openRegistry(
      sealRegistry(registryOf({ token_issuers: [{ ...issuer, required_claims: { b: 1, a: true } }] })),
    );
    expect(opened.issuer('auth')).toEqual({
      name: 'auth',
      issuer: 'https://auth.example/',
      audiences: ['api'],
      jwksUrl: null,
      keys: [key],
      algorithms: ['ES256', 'RS256', 'EdDSA'],
      sources: [{ in: 'header', name: 'Authorization' }],
      requiredClaims: { a: true, b: 1 },
      clockSkewSec: 60,
      consumerClaim: 'sub',
      scopesClaim: 'scope',
      defaultConsumer: null,
    });
  });

  test('is refused when many digests share the octets that hashes are made of', () => {
    const alike = (count: number): Registry => ({
      ...registryOf({}),
      consumers: Array.from({ length: count }, (_, index) => ({
        ...registryOf({ consumers: [{ username: `c${index}` }] }).consumers[0]!,
        keys: [{ name: null, sha256: `00000000${index.toString(16).padStart(56, '0')}`, expires_at: null }],
      })),
    });
    expect(openRegistry(sealRegistry(alike(50))).key(octetsOf('0'.repeat(64)))?.consumer.username).toBe('c0');
    expect(() => sealRegistry(alike(100))).toThrow(RegistryTooLarge);
  });
});

describe('octets that are no registry of this build', () => {
  const sealed = sealRegistry(
    registryOf({
      consumers: [{ username: 'a', labels: ['x'], keys: [{ sha256: 'a'.repeat(64) }] }],
      usage_plans: [{ name: 'gold' }],
    }),
  );
  const faultOf = (bytes: Uint8Array): string => {
    try {
      openRegistry(bytes);
      return 'none';
    } catch (error) {
      return error instanceof PlanFault ? error.code : String(error);
    }
  };
  const changed = (word: number, value: number): Uint8Array => {
    const bytes = sealed.slice();
    const view = new DataView(bytes.buffer);
    view.setUint32(word * 4, value, true);
    view.setUint32(REGISTRY_HEADER.checksum * 4, registryChecksum(bytes), true);
    return bytes;
  };

  test('are refused with what is wrong', () => {
    expect(faultOf(sealed)).toBe('none');
    expect(faultOf(sealed.subarray(0, 20))).toBe('truncated');
    expect(faultOf(sealed.subarray(0, sealed.length - 8))).toBe('truncated');
    expect(faultOf(changed(REGISTRY_HEADER.magic, 0x4c4c5045))).toBe('not_a_plan');
    expect(faultOf(changed(REGISTRY_HEADER.version, REGISTRY_VERSION + 1))).toBe('version');
    expect(faultOf(changed(REGISTRY_HEADER.consumers, 1_000_000))).toBe('layout');
  });

  test('are refused for any octet that differs', () => {
    for (let at = 0; at < sealed.length; at++) {
      const bytes = sealed.slice();
      bytes[at]! ^= 1;
      expect(faultOf(bytes)).not.toBe('none');
    }
  });

  test('never make a look-up throw or go on, whatever words they have', () => {
    const count = Math.floor(sealed.length / 4);
    fc.assert(
      fc.property(
        fc.integer({ min: REGISTRY_HEADER.words, max: count - 1 }),
        fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constantFrom(0xffff_ffff, 0x7fff_ffff)),
        (word, value) => {
          const bytes = changed(word, value);
          if (faultOf(bytes) !== 'none') return;
          const opened = openRegistry(bytes);
          opened.consumer('a');
          opened.consumerOfClaim('b');
          opened.key(octetsOf('a'.repeat(64)));
          opened.usagePlan('gold');
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('are read at any offset', () => {
    const shifted = new Uint8Array(sealed.length + 3);
    shifted.set(sealed, 3);
    expect(openRegistry(shifted.subarray(3)).consumer('a')?.labels).toEqual(['x']);
  });
});
