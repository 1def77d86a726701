/** The node's challenges of certificate authorities: which entries change them, and which pages with them are trusted. */
import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sha256Hex } from '../../../../src/base/platform/cryptography.ts';
import { MAX_CHALLENGES } from '../../../../src/base/vocabulary/limits.ts';
import {
  type ChallengeInstaller,
  createChallengeInstaller,
} from '../../../../src/edge/following/install-challenges.ts';
import { MAX_FEED_CHALLENGES } from '../../../../src/edge/following/limits.ts';
import { createTrust } from '../../../../src/edge/following/trust.ts';
import { MANIFEST_FORMAT, type ManifestEntry, manifestText } from '../../../../src/engine/plan/manifest.ts';
import { until } from '../../../support/until.ts';

const challenge = (token: string) => ({ token, answer: `${token}.key` });

function entry(position: number, tokens: readonly string[] | null, domain = 'shop.test'): ManifestEntry {
  return {
    ...{ domain, revision: 1, digest: 'a'.repeat(64), tombstone: null, purge_epoch: 0, position },
    ...(tokens === null ? {} : { challenges: tokens.map(challenge) }),
  };
}

describe('the installer', () => {
  let ending: AbortController;
  let installer: ChallengeInstaller;
  /** Every change, in order. */
  let changes: string[];
  let warnings: string[];
  /** How often the sink fails from now on. */
  let faults: number;
  let release: (() => void) | null;

  beforeEach(() => {
    ending = new AbortController();
    [changes, warnings, faults, release] = [[], [], 0, null];
    const warn = (_fields: object, message: string): void => void warnings.push(message);
    installer = createChallengeInstaller({
      sink: {
        set(domain, challenges) {
          if (faults-- > 0) throw new Error('a worker is stuck');
          changes.push(`${domain} ${challenges.map(({ token }) => token).join()}`);
          if (release === null) return;
          return new Promise((resolve) => {
            release = resolve;
          });
        },
      },
      log: { info: () => undefined, warn, error: warn },
      signal: ending.signal,
    });
  });
  afterEach(() => ending.abort());

  const offer = (one: ManifestEntry, keyId = 'k'): void => installer.offer(one, { keyId });

  test('the challenges of an entry are in use at once, and a name without any has no change', () => {
    offer(entry(1, ['a']));
    offer(entry(2, null, 'other.test'));
    expect(changes).toEqual(['shop.test a']);
  });

  test('each entry that differs changes them, and an equal one changes nothing', async () => {
    const steps = [['a'], ['a'], ['a', 'b'], null, null, ['c']] as const;
    for (const [place, tokens] of steps.entries()) {
      offer(entry(place + 1, tokens));
      await new Promise(setImmediate);
    }
    expect(changes).toEqual(['shop.test a', 'shop.test a,b', 'shop.test ', 'shop.test c']);
  });

  test('an older page neither removes a challenge nor brings one back', async () => {
    offer(entry(5, ['a']));
    await new Promise(setImmediate);
    offer(entry(4, null));
    offer(entry(6, null));
    await new Promise(setImmediate);
    offer(entry(5, ['a']));
    await new Promise(setImmediate);
    expect(changes).toEqual(['shop.test a', 'shop.test ']);
    offer(entry(1, ['b']), 'another history');
    expect(changes.at(-1)).toBe('shop.test b');
  });

  test('a change that comes while another is made follows it, and those between are skipped', async () => {
    release = () => undefined;
    offer(entry(1, ['a']));
    for (const [place, token] of ['b', 'c', 'd'].entries()) offer(entry(place + 2, [token]));
    const first = release;
    release = null;
    first();
    await until(() => changes.length === 2, 'the second change', 10_000);
    expect(changes).toEqual(['shop.test a', 'shop.test d']);
  });

  test('a change that fails is made again, and logged once', async () => {
    faults = 2;
    offer(entry(1, ['a']));
    await until(() => changes.length === 1, 'the change', 30_000);
    expect([changes, warnings.length]).toEqual([['shop.test a'], 1]);
  });

  test('names that the manifest does not list any more have no challenges', async () => {
    offer(entry(1, ['a']));
    offer(entry(2, ['b'], 'other.test'), 'older');
    offer(entry(3, ['c'], 'third.test'), 'older');
    await new Promise(setImmediate);
    installer.forgetOthers('k', new Set(['third.test']));
    installer.forgetUnlisted(new Set(['third.test']));
    expect(changes.slice(3)).toEqual(['other.test ', 'shop.test ']);
  });

  test('challenges beyond the bound of a node are not answered, and later ones are', async () => {
    const many = Array.from({ length: MAX_CHALLENGES }, (_, number) => `t${number}`);
    const full = MAX_FEED_CHALLENGES / MAX_CHALLENGES;
    for (let number = 1; number <= full; number++) offer(entry(number, many, `d${number}.test`));
    offer(entry(full + 1, ['a']));
    expect([changes.length, warnings.length]).toEqual([full, 1]);
    await new Promise(setImmediate);
    offer(entry(full + 2, null, 'd1.test'));
    offer(entry(full + 1, ['a']));
    expect(changes.slice(full)).toEqual(['d1.test ', 'shop.test a']);
  });
});

describe('a signed page', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const trust = createTrust(spki.toString('base64'));

  function read(fields: object): readonly ManifestEntry[] {
    const entries = [{ ...entry(1, null), ...fields }];
    const head = { format: MANIFEST_FORMAT, since: 0, through: 1, complete: true, at: 1 } as const;
    const manifest = { ...head, entries };
    const signature = sign(null, Buffer.from(manifestText(manifest)), privateKey).toString('base64');
    const key_id = sha256Hex(spki).slice(0, 16);
    return trust.read(JSON.stringify({ manifest, key_id, signature })).page.entries;
  }

  test('is read with challenges of the longest form, and with fields of later releases', () => {
    const longest = { token: 'aZ09-_'.padEnd(128, 'x'), answer: '~ '.repeat(256) };
    const challenges = Array.from({ length: MAX_CHALLENGES }, () => longest);
    expect(read({ challenges })[0]).toMatchObject({ challenges });
    expect(read({ later: [{}] })).toHaveLength(1);
  });

  test.each([
    ['no list', {}],
    ['too many', Array.from({ length: MAX_CHALLENGES + 1 }, () => challenge('a'))],
    ['null', [null]],
    ['no token', [{ answer: 'a' }]],
    ['an empty token', [challenge('')]],
    ['a token with a slash', [challenge('a/b')]],
    ['a long token', [challenge('a'.repeat(129))]],
    ['no answer', [{ token: 'a' }]],
    ['an answer of two lines', [{ token: 'a', answer: 'a\nb' }]],
    ['a long answer', [{ token: 'a', answer: 'a'.repeat(513) }]],
  ])('is refused for its challenges: %s', (_, challenges) => {
    expect(() => read({ challenges })).toThrow(/cannot be read: the entry/);
  });
});
