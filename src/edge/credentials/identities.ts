/** Identities as credentials prove them: one object for each failure, and what several credentials prove together. */
import {
  type CredentialKind,
  IDENTITY_FAILURES,
  type IdentityFailure,
} from '../../base/vocabulary/vocabulary.ts';
import type { RequestIdentity } from '../../engine/evaluator/request.ts';

/** PERF: one object for each failure; a flood of invalid credentials makes none. */
const REFUSED: ReadonlyMap<IdentityFailure, RequestIdentity> = new Map(
  IDENTITY_FAILURES.map((failure) => [failure, Object.freeze({ consumer: null, failure })]),
);

/** The identity of a request whose credentials are refused, or that has none. */
export function refusedFor(failure: IdentityFailure): RequestIdentity {
  return REFUSED.get(failure)!;
}

/** Whether a result is the failure instead. */
export function isFailure(result: unknown): result is IdentityFailure {
  return typeof result === 'string';
}

export const KEY_VERIFIED: readonly CredentialKind[] = Object.freeze(['api_key'] as const);
export const TOKEN_VERIFIED: readonly CredentialKind[] = Object.freeze(['jwt'] as const);
export const CERTIFICATE_VERIFIED: readonly CredentialKind[] = Object.freeze(['mtls'] as const);

/** What credentials of two kinds prove together: nothing, if one is invalid or they name different consumers. */
export function joinIdentities(one: RequestIdentity, other: RequestIdentity): RequestIdentity {
  if (one.consumer === null) return one;
  if (other.consumer === null) return other;
  if (one.consumer !== other.consumer) return refusedFor('conflict');
  return { ...one, ...other, verified: [...(one.verified ?? []), ...(other.verified ?? [])] };
}
