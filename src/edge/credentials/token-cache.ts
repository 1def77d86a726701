/**
 * Verdicts about tokens that were verified a moment ago, and verifications that run. In: the digest of a token, the registry, the
 * issuers that its gateway takes. Out: the verdict. A verdict is of one registry and one issuer: a changed registry, or a
 * gateway that does not take this issuer, has none.
 */
import type { IdentityFailure } from '../../base/vocabulary/vocabulary.ts';
import type { RequestIdentity } from '../../engine/evaluator/request.ts';
import type { OpenedRegistry } from '../../engine/plan/open-registry.ts';
import type { RegisteredIssuer } from '../../engine/plan/registry.ts';
import { MAX_REFUSED, REFUSED_MS, TOKEN_OVERHEAD, VERIFIED_MS, VERIFIED_OCTETS } from './limits.ts';

/** A verdict, and from when until when it is true, milliseconds since the epoch. */
interface CachedToken {
  readonly issuer: RegisteredIssuer;
  readonly identity: RequestIdentity;
  readonly from: number;
  readonly until: number;
  /** Its part of the bound of its cache. */
  readonly size: number;
}

/** Why a signature is refused; `null`: a key of the issuer made it. */
export type SignatureResult = Promise<IdentityFailure | null>;

/** What a token is found by. */
export interface TokenKey {
  readonly registry: OpenedRegistry;
  /** SHA-256 of the token, 32 octets. */
  readonly digest: Uint8Array;
}

/** A verified or refused token. */
export interface TokenVerdict {
  readonly issuer: RegisteredIssuer;
  readonly identity: RequestIdentity;
  /** Milliseconds since the epoch: `exp` of a verified token. */
  readonly expiresAt: number;
  /** Characters of the token. */
  readonly length: number;
}

export interface TokenCache {
  /** The verdict about a token of one of the issuers; `null`: none is cached. */
  find(key: TokenKey, issuers: readonly RegisteredIssuer[], now: number): RequestIdentity | null;
  add(key: TokenKey, verdict: TokenVerdict, now: number): void;
  /** The result of the verification of the same signature that runs, else of the one that `start` starts. */
  join(key: TokenKey, issuer: RegisteredIssuer, start: () => SignatureResult): SignatureResult;
}

/** The verdicts that were used most recently. `lru-cache` reads variables of Node's process, which Workers do not have. */
interface RecentTokens {
  get(key: string): CachedToken | undefined;
  set(key: string, token: CachedToken): void;
}

/** @param most the sizes of all verdicts together */
function createRecent(most: number): RecentTokens {
  /** The least recently used first. */
  const tokens = new Map<string, CachedToken>();
  let total = 0;
  const remove = (key: string): CachedToken | undefined => {
    const token = tokens.get(key);
    if (token !== undefined) total -= token.size;
    tokens.delete(key);
    return token;
  };
  const set = (key: string, token: CachedToken): void => {
    remove(key);
    tokens.set(key, token);
    total += token.size;
    for (const [oldest] of tokens) {
      if (total <= most) break;
      remove(oldest);
    }
  };
  return {
    set,
    get(key) {
      const token = remove(key);
      if (token !== undefined) set(key, token);
      return token;
    },
  };
}

export function createTokenCache(): TokenCache {
  const verified = createRecent(VERIFIED_OCTETS);
  const refused = createRecent(MAX_REFUSED);
  const running = new Map<string, { readonly issuer: RegisteredIssuer; readonly result: SignatureResult }>();
  const numbers = new WeakMap<OpenedRegistry, number>();
  let next = 0;

  /** A number for the registry, so that one cache of bounded size is for all, and the digest. */
  function textOf({ registry, digest }: TokenKey): string {
    let number = numbers.get(registry);
    if (number === undefined) {
      number = next++;
      numbers.set(registry, number);
    }
    return `${number}:${String.fromCharCode(...digest)}`;
  }

  return {
    find(key, issuers, now) {
      const text = textOf(key);
      const identityIn = (tokens: RecentTokens): RequestIdentity | null => {
        const found = tokens.get(text);
        if (found === undefined || now < found.from || now >= found.until) return null;
        return issuers.includes(found.issuer) ? found.identity : null;
      };
      // A verified token is refused after its end, and by a gateway that does not take its issuer.
      return identityIn(verified) ?? identityIn(refused);
    },
    add(key, { issuer, identity, expiresAt, length }, now) {
      const text = textOf(key);
      if (identity.consumer === null) {
        refused.set(text, { issuer, identity, from: now, until: now + REFUSED_MS, size: 1 });
        return;
      }
      const until = Math.min(expiresAt, now + VERIFIED_MS);
      if (until <= now) return;
      verified.set(text, { issuer, identity, from: now, until, size: length + TOKEN_OVERHEAD });
    },
    join(key, issuer, start) {
      const text = textOf(key);
      const before = running.get(text);
      if (before?.issuer === issuer) return before.result;
      const result = start().finally(() => {
        if (running.get(text)?.result === result) running.delete(text);
      });
      running.set(text, { issuer, result });
      return result;
    },
  };
}
