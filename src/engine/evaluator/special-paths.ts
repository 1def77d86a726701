/** Paths that rules treat apart (semantics §4). */
import type { Facts } from './facts.ts';

/** Where an ACME server asks for tokens (RFC 8555 §8.3). */
export const ACME_PREFIX = '/.well-known/acme-challenge/';
/** Paths that the edge answers itself. */
export const EDGE_PREFIX = '/.well-known/edgeplan/';

/** A request of an ACME server for a token (RFC 8555 §8.3), which no rule may stand in the way of. */
export function isAcmeChallenge(facts: Facts): boolean {
  const { path, query, request } = facts;
  if ((query !== null && query !== '') || !path.startsWith(ACME_PREFIX) || path.length === ACME_PREFIX.length)
    return false;
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  for (let at = ACME_PREFIX.length; at < path.length; at++)
    if (!isTokenCode(path.charCodeAt(at))) return false;
  return true;
}

/** base64url (RFC 4648 §5). */
function isTokenCode(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || (code >= 48 && code <= 57) || code === 45 || code === 95;
}

/** Paths the edge answers itself, challenges among them: no challenge may stand in the way of being solved. */
export function isEdgeOwn(facts: Facts): boolean {
  return (
    facts.path.startsWith(EDGE_PREFIX) || (facts.pathWithoutParameters?.startsWith(EDGE_PREFIX) ?? false)
  );
}
