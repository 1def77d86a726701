/**
 * Certificates with their keys as TLS uses them. In: checked pairs of texts, of files or of the control plane's feed. Out:
 * pairs with a TLS context each, made at the first use and cached.
 */
import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { MAX_TLS_CONTEXTS } from '../../proxy/limits.ts';
import type { ReadPair } from './certificate-files.ts';

/** A certificate with its key, as read at one time. */
export interface CertificatePair {
  /** Host names, canonical; `*.` in front of one covers one label. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** PEM, the certificate first, then its issuers. */
  readonly cert: string;
  readonly key: string;
  context(): SecureContext;
}

/** The TLS contexts of the most recently used certificates. */
export type ContextCache = LRUCache<CertificatePair, SecureContext>;

/** A cache of at most `MAX_TLS_CONTEXTS`. */
export function createContextCache(): ContextCache {
  return new LRUCache({ max: MAX_TLS_CONTEXTS });
}

/** Makes pairs; those of one store share the texts of their issuers. */
export interface PairStore {
  /** A pair with further fields. */
  add<More extends object>(read: ReadPair, more: More): CertificatePair & More;
  /** Drops what is cached for a pair that was replaced or removed; connections that use it go on. */
  remove(pair: CertificatePair): void;
}

/** @param contexts shared by the stores of a process; absent: the store has its own */
export function createPairs(contexts: ContextCache = createContextCache()): PairStore {
  /** PEM texts of issuers, each once: few issuers sign most certificates. */
  const chains = new Map<string, string>();
  let pairs = 0;
  return {
    add({ leaf, key, chain, names, notBefore, notAfter }, more) {
      pairs++;
      // Used or not, when there are far more than pairs: at two for each pair this runs next to never.
      if (chains.size > 2 * pairs + 16) chains.clear();
      const issuers = sharedChain(chains, chain);
      const pair = {
        ...more,
        names,
        notBefore,
        notAfter,
        key,
        get cert() {
          return leaf + issuers;
        },
        context() {
          const context = contexts.get(pair) ?? createSecureContext({ cert: pair.cert, key });
          contexts.set(pair, context);
          return context;
        },
      };
      return pair;
    },
    remove(pair) {
      pairs--;
      contexts.delete(pair);
    },
  };
}

/** Whether a certificate is valid at a time. */
export function isValid(pair: Pick<CertificatePair, 'notBefore' | 'notAfter'>, now: number): boolean {
  return pair.notBefore <= now && now < pair.notAfter;
}

function sharedChain(chains: Map<string, string>, chain: string): string {
  const before = chains.get(chain);
  if (before !== undefined) return before;
  chains.set(chain, chain);
  return chain;
}
