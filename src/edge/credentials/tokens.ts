/**
 * Verifies a token (RFC 7519, RFC 8725, RFC 9068). In: a compact JWS and the issuers that may have made it. Out: the identity
 * that it proves, or why it proves none. The token's own header and claims only choose among what the registry has: an issuer
 * by its exact name, then a key of that issuer by its id, then an algorithm that both the issuer and the key's type permit.
 */
import { compactVerify, errors } from 'jose';
import type { IdentityFailure } from '../../base/vocabulary/vocabulary.ts';
import type { RequestIdentity } from '../../engine/evaluator/request.ts';
import type { OpenedRegistry } from '../../engine/plan/open-registry.ts';
import type { RegisteredIssuer } from '../../engine/plan/registry.ts';
import { isFailure, refusedFor, TOKEN_VERIFIED } from './identities.ts';
import { MAX_TOKEN_OCTETS } from './limits.ts';
import type { FoundToken } from './sources.ts';
import { createTokenCache, type TokenKey } from './token-cache.ts';
import { claimsFailure, consumerOf, hasAudience, scopesOf } from './token-claims.ts';
import { type ClaimedKey, createKeyImport, fittingKeys, type ImportKey } from './token-keys.ts';
import { type JsonMembers, readTokenText, type TokenText } from './token-text.ts';

/** SHA-256 of a text in UTF-8, 32 octets; a promise where the platform computes it aside (WebCrypto). */
export type Sha256 = (text: string) => Uint8Array | Promise<Uint8Array>;

export interface VerificationTime {
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Verifies tokens; a promise unless the token was verified a moment ago, or is refused for its form. */
export interface TokenVerifier {
  verify(
    token: FoundToken,
    registry: OpenedRegistry,
    options: VerificationTime,
  ): RequestIdentity | Promise<RequestIdentity>;
}

export function createTokenVerifier(sha256: Sha256): TokenVerifier {
  const cache = createTokenCache();
  const importKey = createKeyImport();

  function verifyUncached(
    { text, issuers }: FoundToken,
    key: TokenKey,
    now: number,
  ): RequestIdentity | Promise<RequestIdentity> {
    const read = readTokenText(text);
    if (read === null) return refusedFor('malformed');
    const claimed = claimedKey(read.header);
    if (isFailure(claimed)) return refusedFor(claimed);
    const issuer = issuerOf(read.claims, issuers);
    if (isFailure(issuer)) return refusedFor(issuer);
    const { registry } = key;
    const verified = cache.join(key, issuer, () => signatureFailure(read, claimed, { issuer, importKey }));
    return verified.then((failure) => {
      const identity =
        failure === null ? identityOf(read.claims, { issuer, registry, now }) : refusedFor(failure);
      const expiresAt = Number(read.claims['exp']) * 1_000;
      cache.add(key, { issuer, identity, expiresAt, length: text.length }, now);
      return identity;
    });
  }

  return {
    verify(token, registry, { now }) {
      if (token.text.length > MAX_TOKEN_OCTETS) return refusedFor('too_long');
      const verifyDigest = (digest: Uint8Array): RequestIdentity | Promise<RequestIdentity> => {
        const key = { registry, digest };
        return cache.find(key, token.issuers, now) ?? verifyUncached(token, key, now);
      };
      const digest = sha256(token.text);
      return digest instanceof Promise ? digest.then(verifyDigest) : verifyDigest(digest);
    },
  };
}

/** Media types of access tokens (RFC 9068 §2.1) and of tokens without a type of their own (RFC 7519 §5.1), in lower case. */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']);

/**
 * The algorithm and key id of a header. What it has of keys or addresses of keys (`jwk`, `jku`, `x5c`, `x5u`) is not read;
 * extensions that must be understood are not (RFC 7515 §4.1.11).
 */
function claimedKey({ alg, kid = null, typ = 'JWT', crit, b64 }: JsonMembers): ClaimedKey | IdentityFailure {
  if (crit !== undefined || b64 !== undefined) return 'malformed';
  if (typeof alg !== 'string' || (kid !== null && typeof kid !== 'string') || typeof typ !== 'string') {
    return 'malformed';
  }
  return TYPES.has(typ.toLowerCase()) ? { alg, kid } : 'wrong_type';
}

/**
 * The issuer that the claims name. Registered twice under one name, the one of the token's audience. Nothing is verified yet:
 * another issuer's keys do not verify the token, and its claims are compared after its signature.
 */
function issuerOf(
  claims: JsonMembers,
  issuers: readonly RegisteredIssuer[],
): RegisteredIssuer | IdentityFailure {
  const named = issuers.filter(({ issuer }) => issuer === claims['iss']);
  return named.find((issuer) => hasAudience(claims, issuer)) ?? named[0] ?? 'wrong_issuer';
}

interface Signing {
  readonly issuer: RegisteredIssuer;
  readonly importKey: ImportKey;
}

/** Why no key of the issuer has made the signature; `null`: one has. */
async function signatureFailure(
  { text }: TokenText,
  claimed: ClaimedKey,
  { issuer, importKey }: Signing,
): Promise<IdentityFailure | null> {
  const { alg } = claimed;
  const keys = fittingKeys(claimed, issuer);
  if (isFailure(keys)) return keys;
  let failure: IdentityFailure = 'no_keys';
  for (const key of keys) {
    const imported = await importKey(key, alg);
    if (imported === null) continue;
    try {
      await compactVerify(text, imported, { algorithms: [alg] });
      return null;
    } catch (error) {
      // A key that this algorithm must not use, such as RSA below 2,048 bits (RFC 7518 §3.3), counts as none.
      if (error instanceof errors.JOSEError) failure = 'wrong_signature';
    }
  }
  return failure;
}

interface IdentityContext {
  readonly issuer: RegisteredIssuer;
  readonly registry: OpenedRegistry;
  readonly now: number;
}

/** The identity that claims prove whose signature is verified. */
function identityOf(claims: JsonMembers, { issuer, registry, now }: IdentityContext): RequestIdentity {
  const failure = claimsFailure(claims, issuer, now);
  if (failure !== null) return refusedFor(failure);
  const consumer = consumerOf(claims, issuer, registry);
  if (isFailure(consumer)) return refusedFor(consumer);
  return { consumer: consumer.username, verified: TOKEN_VERIFIED, claims, scopes: scopesOf(claims, issuer) };
}
