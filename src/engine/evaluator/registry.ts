/** The registry of a domain as credentials are verified with it: consumers, keys, token issuers. */
import type { CredentialPlace } from '../../base/vocabulary/vocabulary.ts';

export interface RegisteredConsumer {
  readonly username: string;
}

export interface RegisteredKey {
  readonly consumer: RegisteredConsumer;
  readonly id: string;
  readonly expiresAt: number | null;
}

export interface RegisteredIssuer {
  readonly name: string;
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly keys: readonly Readonly<Record<string, unknown>>[];
  readonly sources: readonly { readonly in: CredentialPlace; readonly name: string }[];
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly clockSkewSec: number;
  readonly consumerClaim: string;
  readonly scopesClaim: string;
  readonly defaultConsumer: string | null;
}

export interface OpenedRegistry {
  readonly octets: number;
  consumer(username: string): RegisteredConsumer | null;
  consumerOfClaim(name: string): RegisteredConsumer | null;
  key(digest: Uint8Array): RegisteredKey | null;
  issuer(name: string): RegisteredIssuer | null;
}

export interface CredentialsWanted {
  readonly apiKeySources: readonly { readonly in: CredentialPlace; readonly name: string }[];
  readonly issuers: readonly RegisteredIssuer[];
  readonly registry: OpenedRegistry;
}
