/**
 * Claims of a token whose signature is verified (RFC 7519 §4.1, RFC 9068 §4). In: the claims, the issuer, the time. Out: the
 * consumer's name in them and the scopes, or why they are refused.
 */
import type { IdentityFailure } from '../../base/vocabulary/vocabulary.ts';
import type { OpenedRegistry, RegisteredConsumer } from '../../engine/plan/open-registry.ts';
import type { RegisteredIssuer } from '../../engine/plan/registry.ts';
import type { JsonMembers } from './token-text.ts';

/** Why the claims are refused at a time in milliseconds since the epoch; `null`: they are valid. */
export function claimsFailure(
  claims: JsonMembers,
  issuer: RegisteredIssuer,
  now: number,
): IdentityFailure | null {
  if (claims['iss'] !== issuer.issuer) return 'wrong_issuer';
  return (
    timesFailure(claims, issuer.clockSkewSec, now / 1_000) ??
    (hasAudience(claims, issuer) ? null : 'wrong_audience') ??
    (hasRequired(claims, issuer) ? null : 'claim_missing')
  );
}

function timesFailure(
  { exp, nbf, iat }: JsonMembers,
  skewSec: number,
  nowSec: number,
): IdentityFailure | null {
  if (exp === undefined) return 'claim_missing';
  if (!isTime(exp) || (nbf !== undefined && !isTime(nbf)) || (iat !== undefined && !isTime(iat))) {
    return 'malformed';
  }
  if (nowSec >= exp + skewSec) return 'expired';
  const from = Math.max(nbf ?? Number.NEGATIVE_INFINITY, iat ?? Number.NEGATIVE_INFINITY);
  return nowSec < from - skewSec ? 'not_yet_valid' : null;
}

/** Whether a claim is a NumericDate; not `1e999`, which is read as infinity. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Whether a token is for one of the issuer's audiences. */
export function hasAudience({ aud }: JsonMembers, { audiences }: RegisteredIssuer): boolean {
  const named: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  return named.some((one) => typeof one === 'string' && audiences.includes(one));
}

function hasRequired(claims: JsonMembers, { requiredClaims }: RegisteredIssuer): boolean {
  return Object.entries(requiredClaims).every(([name, wanted]) => {
    const claim = claims[name];
    const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
    return values.some((value) => textOf(value) === String(wanted));
  });
}

/** A claim as text: a text, a number that is exact, a boolean; `null`: another value. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? String(value) : null;
}

/** The consumer that the claims name, else the issuer's default one; a failure: neither is registered. */
export function consumerOf(
  claims: JsonMembers,
  { consumerClaim, consumerPrefix = '', defaultConsumer }: RegisteredIssuer,
  registry: OpenedRegistry,
): RegisteredConsumer | IdentityFailure {
  const name = textOf(claims[consumerClaim]);
  const named = name === null || name === '' ? null : registry.consumerOfClaim(`${consumerPrefix}${name}`);
  if (named !== null) return named;
  if (defaultConsumer !== null) return registry.consumer(defaultConsumer) ?? 'unknown_consumer';
  return claims[consumerClaim] === undefined ? 'claim_missing' : 'unknown_consumer';
}

/** The scopes of a token: a text divided by spaces (RFC 8693 §4.2), or a list of texts. */
export function scopesOf(claims: JsonMembers, { scopesClaim }: RegisteredIssuer): readonly string[] {
  const claim = claims[scopesClaim];
  if (typeof claim === 'string') return claim.split(' ').filter((scope) => scope !== '');
  return Array.isArray(claim) ? claim.filter((scope) => typeof scope === 'string') : [];
}
