/**
 * Verifies the credentials of a request (semantics §15). In: the request, and what its gateway takes: sources of API keys, issuers
 * of tokens, authorities of client certificates, the domain's registry. Out: whose request it is, or why its credentials are refused.
 * Never throws for what a client sends, and logs nothing. The evaluator decides whether the consumer is enabled and may do this.
 */
import type { CredentialsWanted } from '../../engine/evaluator/gateways.ts';
import type { EdgeRequest, RequestIdentity } from '../../engine/evaluator/request.ts';
import type { OpenedRegistry } from '../../engine/plan/open-registry.ts';
import type { ClientCertificate, VerifyCertificate } from './client-certificates.ts';
import { joinIdentities, KEY_VERIFIED, refusedFor } from './identities.ts';
import { MAX_KEY_OCTETS } from './limits.ts';
import { findCredentials } from './sources.ts';
import { createTokenVerifier, type Sha256, type VerificationTime } from './tokens.ts';

/** What a request is verified by besides its message. */
export interface VerificationFacts extends VerificationTime {
  /** Absent, `null`: its connection was not asked for one, or is that of a proxy. */
  readonly certificate?: ClientCertificate | null;
}

/** Verifies the credentials of requests to all domains of a process. */
export interface CredentialVerifier {
  /** PERF: a promise only for a token that was not verified a moment ago, or where the platform's SHA-256 is one. */
  verify(
    request: EdgeRequest,
    wanted: CredentialsWanted,
    facts: VerificationFacts,
  ): RequestIdentity | Promise<RequestIdentity>;
}

/** @param verifyCertificate `null`: TLS is not the edge's own, and no request has a client certificate */
export function createCredentialVerifier(
  sha256: Sha256,
  verifyCertificate: VerifyCertificate | null = null,
): CredentialVerifier {
  const tokens = createTokenVerifier(sha256);

  function verifyKey(
    key: string,
    registry: OpenedRegistry,
    now: number,
  ): RequestIdentity | Promise<RequestIdentity> {
    if (key.length > MAX_KEY_OCTETS) return refusedFor('too_long');
    if (!isVisibleAscii(key)) return refusedFor('malformed');
    return andThen(sha256(key), (digest) => identityOfKey(digest, registry, now));
  }

  /** What the message proves; `null`: it has neither a key nor a token. */
  function verifyMessage(
    request: EdgeRequest,
    wanted: CredentialsWanted,
    time: VerificationTime,
  ): RequestIdentity | Promise<RequestIdentity> | null {
    const { key, token, failure } = findCredentials(request, wanted);
    if (failure !== null) return refusedFor(failure);
    const { registry } = wanted;
    const byKey = key === null ? null : verifyKey(key, registry, time.now);
    if (token === null) return byKey;
    if (byKey === null) return tokens.verify(token, registry, time);
    // An invalid key spares the verification of the token.
    return andThen(byKey, (identity) =>
      identity.consumer === null
        ? identity
        : andThen(tokens.verify(token, registry, time), (byToken) => joinIdentities(identity, byToken)),
    );
  }

  function verifyClient(wanted: CredentialsWanted, facts: VerificationFacts): RequestIdentity | null {
    const { clients, registry } = wanted;
    const { certificate = null, now } = facts;
    if (verifyCertificate === null || clients === null || certificate === null) return null;
    return certificate.chain.length === 0 ? null : verifyCertificate(certificate, { clients, registry }, now);
  }

  return {
    verify(request, wanted, facts) {
      const byCertificate = verifyClient(wanted, facts);
      if (byCertificate !== null && byCertificate.consumer === null) return byCertificate;
      const byMessage = verifyMessage(request, wanted, facts);
      if (byMessage === null) return byCertificate ?? refusedFor('missing');
      if (byCertificate === null) return byMessage;
      return andThen(byMessage, (identity) => joinIdentities(identity, byCertificate));
    },
  };
}

function andThen<From, To>(
  value: From | Promise<From>,
  next: (value: From) => To | Promise<To>,
): To | Promise<To> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Whether a text is visible ASCII. A key of other characters has several forms in octets, by where it is sent.
 */
function isVisibleAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x21 || code > 0x7e) return false;
  }
  return true;
}

/** The key is found by its digest: the time of the search does not depend on how many characters of a key are right. */
function identityOfKey(digest: Uint8Array, registry: OpenedRegistry, now: number): RequestIdentity {
  const key = registry.key(digest);
  if (key === null) return refusedFor('unknown_key');
  if (key.expiresAt !== null && now >= key.expiresAt) return refusedFor('expired');
  return { consumer: key.consumer.username, verified: KEY_VERIFIED, keyId: key.id };
}
