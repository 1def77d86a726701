/**
 * The certificates that come with the control plane's feed, by domain. In: checked pairs of a domain. Out: the pair for a
 * name of that domain. A domain's certificates are used for its own names only, whatever names they have: certificates of
 * one customer never serve another one's hosts.
 */
import type { SetCertificate } from '../../engine/plan/manifest.ts';
import type { CertificateSink } from '../following/certificates/install-sets.ts';
import type { ChallengeSink } from '../following/install-challenges.ts';
import {
  type CertificatePair,
  type ContextCache,
  createPairs,
  type FeedPair,
  isValid,
  pairOf,
} from '../listeners/tls/certificate-pairs.ts';
import type { DomainTokens } from '../proxy/services.ts';

/** Maximum size, in characters, of one certificate of the feed with its issuers and key: more than a control plane takes. */
const MAX_PAIR_CHARACTERS = 128 * 1024;

/** Receives the checked certificates of a domain; a returned promise resolves once they are in use. */
export interface FeedPairSink {
  set(domain: string, pairs: readonly FeedPair[]): void | Promise<void>;
  delete(domain: string): void | Promise<void>;
}

/** The certificates of the feed in one process. */
export interface FeedCertificates extends FeedPairSink {
  set(domain: string, pairs: readonly FeedPair[]): void;
  delete(domain: string): void;
  /** The pair for a name of a domain: see `isBetter`. `null`: the domain has none for it. */
  find(name: string, domain: string): CertificatePair | null;
}

/** A pair with where it is from. */
interface SourcedPair extends CertificatePair {
  readonly source: FeedPair['source'];
}

/** A domain's pairs by name, wildcards as `*.example.com`; few have the same name. */
type NameIndex = ReadonlyMap<string, readonly SourcedPair[]>;

interface DomainCertificates {
  readonly pairs: readonly SourcedPair[];
  readonly index: NameIndex;
}

/** @param contexts the TLS contexts of the process */
export function createFeedCertificates(contexts: ContextCache): FeedCertificates {
  const domains = new Map<string, DomainCertificates>();
  const store = createPairs(contexts);

  function remove(domain: string): void {
    for (const pair of domains.get(domain)?.pairs ?? []) store.remove(pair);
    domains.delete(domain);
  }

  return {
    set(domain, read) {
      remove(domain);
      const pairs = read.map((one) => store.add(one, { source: one.source }));
      domains.set(domain, { pairs, index: indexOf(pairs) });
    },
    delete: remove,
    find(name, domain) {
      const index = domains.get(domain)?.index;
      return index === undefined ? null : bestFor(index, name, Date.now());
    },
  };
}

function indexOf(pairs: readonly SourcedPair[]): NameIndex {
  const index = new Map<string, SourcedPair[]>();
  for (const pair of pairs) {
    for (const name of pair.names) {
      const others = index.get(name);
      if (others === undefined) index.set(name, [pair]);
      else others.push(pair);
    }
  }
  return index;
}

function bestFor(index: NameIndex, name: string, now: number): SourcedPair | null {
  const dot = name.indexOf('.');
  let best: SourcedPair | null = null;
  for (const covered of dot < 0 ? [name] : [name, `*${name.slice(dot)}`]) {
    for (const pair of index.get(covered) ?? []) if (best === null || isBetter(pair, best, now)) best = pair;
  }
  return best;
}

/**
 * Whether a pair precedes one that covers the same name: the valid one, then the uploaded one (semantics §8), then the one
 * that is valid longest. Of equals the first remains, so one for the name itself precedes a wildcard.
 */
function isBetter(pair: SourcedPair, other: SourcedPair, now: number): boolean {
  const valid = isValid(pair, now);
  if (valid !== isValid(other, now)) return valid;
  if (pair.source !== other.source) return pair.source === 'custom';
  return pair.notAfter > other.notAfter;
}

/** The certificates of a set, checked. @throws Error that names a certificate by its id, and what is wrong with it */
export function readFeedPairs(certificates: readonly SetCertificate[]): readonly FeedPair[] {
  return certificates.map(({ id, source, chain, key }) => {
    if (chain.length + key.length > MAX_PAIR_CHARACTERS) {
      throw new Error(
        `certificate ${id} has ${chain.length + key.length} characters; at most ${MAX_PAIR_CHARACTERS} are read`,
      );
    }
    try {
      const called = { cert: 'the chain', key: 'the set', noKey: 'there is no private key in PEM form' };
      return { ...pairOf({ cert: chain, key }, called), source };
    } catch (error) {
      throw new Error(`certificate ${id}: ${(error as Error).message}`, { cause: error });
    }
  });
}

/** What metrics report of the certificates of the feed. */
export interface CertificateFacts {
  readonly count: number;
  /** When the first of them expires, milliseconds since the epoch; `null`: the node has no certificate of the feed. */
  readonly firstExpiry: number | null;
}

/** A sink for sync, and what has passed it. */
export interface CertificateReceiver {
  readonly sink: CertificateSink;
  readonly facts: () => CertificateFacts;
}

/** Checks certificates on their way to what serves them. */
export function receiveCertificates(serves: FeedPairSink): CertificateReceiver {
  const ends = new Map<string, readonly number[]>();
  return {
    sink: {
      async set(domain, certificates) {
        const pairs = readFeedPairs(certificates);
        await serves.set(domain, pairs);
        ends.set(
          domain,
          pairs.map(({ notAfter }) => notAfter),
        );
      },
      async delete(domain) {
        await serves.delete(domain);
        ends.delete(domain);
      },
    },
    facts() {
      let count = 0;
      let firstExpiry: number | null = null;
      for (const domain of ends.values()) {
        count += domain.length;
        for (const end of domain) if (firstExpiry === null || end < firstExpiry) firstExpiry = end;
      }
      return { count, firstExpiry };
    },
  };
}

// The HTTP-01 challenges that come with the control plane's feed, by domain. In: the challenges of a domain. Out: the answer to a token.

/** The challenges of the feed in one process. */
export interface FeedTokens extends DomainTokens, ChallengeSink {
  set(...change: Parameters<ChallengeSink['set']>): void;
}

export function createFeedTokens(): FeedTokens {
  const domains = new Map<string, ReadonlyMap<string, string>>();
  return {
    set(domain, challenges) {
      if (challenges.length === 0) domains.delete(domain);
      else domains.set(domain, new Map(challenges.map(({ token, answer }) => [token, answer])));
    },
    get: (domain, token) => domains.get(domain)?.get(token),
  };
}
