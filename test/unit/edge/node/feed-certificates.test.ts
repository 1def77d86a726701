import { X509Certificate } from 'node:crypto';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createContextCache } from '../../../../src/edge/listeners/tls/certificate-pairs.ts';
import { joinCertificates } from '../../../../src/edge/node/certificates.ts';
import {
  createFeedCertificates,
  type FeedCertificates,
  readFeedPairs,
  receiveCertificates,
} from '../../../../src/edge/node/feed-certificates.ts';
import type { SetCertificate } from '../../../../src/engine/plan/manifest.ts';
import { feedCertificate } from '../../../support/feed-certificate.ts';
import { OPENSSL_MISSING } from '../../../support/make-certificate.ts';
import { requires } from '../../../support/requires.ts';

const DAY_MS = 86_400_000;

/** A feed with the certificates of one domain, and the id of the one that a name gets. */
function feedOf(domain: string, certificates: readonly SetCertificate[]): FeedCertificates {
  const feed = createFeedCertificates(createContextCache());
  feed.set(domain, readFeedPairs(certificates));
  return feed;
}

function idFor(feed: FeedCertificates, name: string, all: readonly SetCertificate[], domain = 'shop.test') {
  const found = feed.find(name, domain);
  return found === null ? null : all.find(({ key }) => key === found.key)!.id;
}

const made: Record<string, SetCertificate> = {};
beforeAll(async () => {
  if (OPENSSL_MISSING !== null) return;
  made['uploaded'] = await feedCertificate(['shop.test'], { days: 10 });
  made['obtained'] = await feedCertificate(['shop.test'], { days: 90, source: 'acme' });
  made['longer'] = await feedCertificate(['shop.test'], { days: 60 });
  made['wildcard'] = await feedCertificate(['*.shop.test'], { days: 60 });
  made['www'] = await feedCertificate(['www.shop.test'], { days: 60 });
  made['www-obtained'] = await feedCertificate(['www.shop.test'], { days: 90, source: 'acme' });
});
afterEach(() => void vi.useRealTimers());

test('an uploaded certificate precedes an obtained one until it expires', requires(OPENSSL_MISSING), () => {
  const all = [made['obtained']!, made['uploaded']!];
  const feed = feedOf('shop.test', all);
  expect(idFor(feed, 'shop.test', all)).toBe(made['uploaded']!.id);
  vi.useFakeTimers({ now: Date.now() + 11 * DAY_MS });
  expect(idFor(feed, 'shop.test', all)).toBe(made['obtained']!.id);
  vi.useFakeTimers({ now: Date.now() + 200 * DAY_MS });
  expect(idFor(feed, 'shop.test', all)).toBe(made['uploaded']!.id);
});

test('of equals the one that is valid longest is used', requires(OPENSSL_MISSING), () => {
  for (const all of [
    [made['uploaded']!, made['longer']!],
    [made['longer']!, made['uploaded']!],
  ]) {
    expect(idFor(feedOf('shop.test', all), 'shop.test', all)).toBe(made['longer']!.id);
  }
});

test(
  'a wildcard covers one label, and a certificate for the name itself precedes it',
  requires(OPENSSL_MISSING),
  () => {
    const all = [made['wildcard']!, made['www']!];
    const feed = feedOf('shop.test', all);
    expect(idFor(feed, 'www.shop.test', all)).toBe(made['www']!.id);
    expect(idFor(feed, 'api.shop.test', all)).toBe(made['wildcard']!.id);
    expect(idFor(feed, 'shop.test', all)).toBeNull();
    expect(idFor(feed, 'a.b.shop.test', all)).toBeNull();
  },
);

test(
  'an uploaded wildcard precedes an obtained certificate for the name itself',
  requires(OPENSSL_MISSING),
  () => {
    const all = [made['www-obtained']!, made['wildcard']!];
    expect(idFor(feedOf('shop.test', all), 'www.shop.test', all)).toBe(made['wildcard']!.id);
  },
);

test('certificates of a domain are used for no other domain', requires(OPENSSL_MISSING), () => {
  const all = [made['wildcard']!, made['www']!];
  const feed = feedOf('evil.test', all);
  expect(feed.find('www.shop.test', 'shop.test')).toBeNull();
  // A customer with a subdomain of another customer's domain.
  feed.set('shop.test', readFeedPairs(all));
  expect(feed.find('api.shop.test', 'api.shop.test')).toBeNull();
  feed.delete('evil.test');
  expect(feed.find('www.shop.test', 'evil.test')).toBeNull();
});

test('a replaced certificate gets a new context, the same one has one', requires(OPENSSL_MISSING), () => {
  const contexts = createContextCache();
  const feed = createFeedCertificates(contexts);
  feed.set('shop.test', readFeedPairs([made['uploaded']!]));
  const context = feed.find('shop.test', 'shop.test')!.context();
  expect(feed.find('shop.test', 'shop.test')!.context()).toBe(context);
  feed.set('shop.test', readFeedPairs([made['longer']!]));
  expect(contexts.size).toBe(0);
  expect(feed.find('shop.test', 'shop.test')!.context()).not.toBe(context);
});

test(
  'a valid certificate of the folder precedes the feed, an expired one and the default do not',
  requires(OPENSSL_MISSING),
  () => {
    const now = Date.now();
    const feed = feedOf('shop.test', [made['uploaded']!]);
    const sent = feed.find('shop.test', 'shop.test')!;
    const own = { ...sent, files: { cert: 'a', key: 'a' } };
    const fallback = { ...own };
    const folder = (covering: typeof own | null) => ({
      find: () => covering ?? fallback,
      covering: () => covering,
    });
    expect(joinCertificates(folder(own), feed).find('shop.test', 'shop.test')).toBe(own);
    expect(joinCertificates(folder(null), feed).find('shop.test', 'shop.test')).toBe(sent);
    expect(joinCertificates(folder(null), feed).find('other.test', 'other.test')).toBe(fallback);
    expect(joinCertificates(folder(null), feed).find(null, null)).toBe(fallback);
    expect(joinCertificates(null, feed).find(null, null)).toBeNull();
    const expired = { ...own, notAfter: now - 1 };
    expect(joinCertificates(folder(expired), feed).find('shop.test', 'shop.test')).toBe(sent);
    vi.useFakeTimers({ now: now + 11 * DAY_MS });
    // Both have expired.
    expect(joinCertificates(folder(expired), feed).find('shop.test', 'shop.test')).toBe(expired);
  },
);

test(
  'a certificate that cannot be used is named by its id, without its key',
  requires(OPENSSL_MISSING),
  async () => {
    const { uploaded, longer } = made as { uploaded: SetCertificate; longer: SetCertificate };
    const cases: readonly (readonly [SetCertificate, RegExp])[] = [
      [{ ...uploaded, key: longer.key }, /does not belong/],
      [{ ...uploaded, key: 'nothing' }, /no private key/],
      [{ ...uploaded, chain: '' }, /the chain holds no certificate/],
      [{ ...uploaded, chain: uploaded.chain.repeat(500) }, /at most/],
      [await feedCertificate([]), /no host name/],
    ];
    for (const [certificate, reason] of cases) {
      expect(() => readFeedPairs([certificate])).toThrow(
        new RegExp(`^certificate ${certificate.id}.*${reason.source}`),
      );
    }
  },
);

test(
  'a set with one certificate that cannot be used changes nothing, and facts count those in use',
  requires(OPENSSL_MISSING),
  async () => {
    const feed = createFeedCertificates(createContextCache());
    const { sink, facts } = receiveCertificates(feed);
    expect(facts()).toEqual({ count: 0, firstExpiry: null });
    await sink.set('shop.test', [made['uploaded']!, made['longer']!]);
    await sink.set('other.test', [made['obtained']!]);
    await expect(sink.set('shop.test', [made['www']!, { ...made['www']!, key: '' }])).rejects.toThrow(
      /no private key/,
    );
    const { validTo } = new X509Certificate(made['uploaded']!.chain);
    expect(facts()).toEqual({ count: 3, firstExpiry: Date.parse(validTo) });
    await sink.delete('shop.test');
    expect(facts().count).toBe(1);
  },
);
