/** What an evaluator asks of a registry (semantics §15). */
import type { CredentialPlace } from '../../base/vocabulary/vocabulary.ts';

/** A usage plan. */
export interface RegisteredPlan {
  readonly name: string;
  readonly throttle: { readonly rate: number; readonly per_sec: number; readonly burst: number } | null;
}

/** A consumer of gateways. */
export interface RegisteredConsumer {
  readonly username: string;
  readonly customId: string | null;
  readonly group: string | null;
  readonly labels: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly enabled: boolean;
  readonly usagePlan: string | null;
  readonly acl: readonly string[];
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
}

/** An API key. */
export interface RegisteredKey {
  readonly consumer: RegisteredConsumer;
  readonly id: string;
  readonly expiresAt: number | null;
}

/** A token issuer. */
export interface RegisteredIssuer {
  readonly name: string;
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly keys: readonly object[];
  readonly sources: readonly { readonly in: CredentialPlace; readonly name: string }[];
  readonly requiredClaims: Readonly<Record<string, string | number | boolean>>;
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
  usagePlan(name: string): RegisteredPlan | null;
}
