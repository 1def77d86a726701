/**
 * Which keys of an issuer may verify a token, and their imported forms. In: the algorithm and key id of a token's header, and the
 * issuer's keys. Out: keys of WebCrypto. A key fits one family of algorithms by its own type, whatever a token claims.
 */
import { base64url, type CryptoKey, importJWK } from 'jose';
import { MAX_RSA_BITS } from '../../base/vocabulary/limits.ts';
import type { IdentityFailure } from '../../base/vocabulary/vocabulary.ts';
import type { RegisteredIssuer } from '../../engine/plan/registry.ts';
import { MAX_TRIED_KEYS } from './limits.ts';
import type { JsonMembers } from './token-text.ts';

/** The keys that an algorithm takes (RFC 7518 §3.1, RFC 8037 §3.1). None is symmetric: a public key is no secret. */
interface KeyKind {
  readonly kty: string;
  readonly crv?: string;
  /** Members of a public key. */
  readonly members: readonly string[];
}

const RSA: KeyKind = { kty: 'RSA', members: ['n', 'e'] };

const ALGORITHMS: ReadonlyMap<string, KeyKind> = new Map([
  ['ES256', { kty: 'EC', crv: 'P-256', members: ['crv', 'x', 'y'] }],
  ['ES384', { kty: 'EC', crv: 'P-384', members: ['crv', 'x', 'y'] }],
  ['RS256', RSA],
  ['RS384', RSA],
  ['RS512', RSA],
  ['PS256', RSA],
  ['PS384', RSA],
  ['PS512', RSA],
  ['EdDSA', { kty: 'OKP', crv: 'Ed25519', members: ['crv', 'x'] }],
]);

/** What a token's header claims of its key. */
export interface ClaimedKey {
  readonly alg: string;
  /** `null`: the header has none. */
  readonly kid: string | null;
}

/** The keys that may have made a token's signature, a few; a failure: no key fits. */
export function fittingKeys(
  { alg, kid }: ClaimedKey,
  issuer: Pick<RegisteredIssuer, 'keys' | 'algorithms'>,
): readonly JsonMembers[] | IdentityFailure {
  const kind = ALGORITHMS.get(alg);
  const algorithms: readonly string[] = issuer.algorithms;
  // Read as JSON of any kind: registries come from a control plane of any version.
  const keys = issuer.keys as readonly object[] as readonly JsonMembers[];
  if (kind === undefined || !algorithms.includes(alg)) return 'wrong_algorithm';
  if (keys.length === 0) return 'no_keys';
  const named = kid === null ? keys : keys.filter((key) => key['kid'] === kid);
  if (named.length === 0) return 'unknown_key_id';
  const fitting = named.filter((key) => fits(key, alg, kind));
  return fitting.length === 0 ? 'wrong_algorithm' : fitting.slice(0, MAX_TRIED_KEYS);
}

function fits(key: JsonMembers, alg: string, { kty, crv }: KeyKind): boolean {
  if (key['kty'] !== kty || (crv !== undefined && key['crv'] !== crv)) return false;
  const { alg: own = alg, use = 'sig', key_ops: uses } = key;
  if (use !== 'sig' || (Array.isArray(uses) && !uses.includes('verify'))) return false;
  // RFC 9864 renames EdDSA with this curve.
  return own === alg || (own === 'Ed25519' && alg === 'EdDSA');
}

/** Imports a key for an algorithm that it fits; `null`: it must not be used. */
export type ImportKey = (key: JsonMembers, alg: string) => Promise<CryptoKey | null>;

/** Creates the import, which imports each key once for an algorithm. The memory of imported keys ends with their registry. */
export function createKeyImport(): ImportKey {
  const imported = new WeakMap<JsonMembers, Map<string, Promise<CryptoKey | null>>>();
  return (key, alg) => {
    const byAlgorithm = imported.get(key) ?? new Map<string, Promise<CryptoKey | null>>();
    imported.set(key, byAlgorithm);
    const known = byAlgorithm.get(alg) ?? importKey(key, alg);
    byAlgorithm.set(alg, known);
    return known;
  };
}

async function importKey(key: JsonMembers, alg: string): Promise<CryptoKey | null> {
  const { kty, members } = ALGORITHMS.get(alg)!;
  if (kty === 'RSA' && !isSoundRsa(key)) return null;
  // The public members alone, whatever else the issuer's document has.
  const publicKey = { kty, ...Object.fromEntries(members.map((name) => [name, key[name]])) };
  try {
    const made = await importJWK(publicKey, alg);
    return made instanceof Uint8Array ? null : made;
  } catch {
    // A malformed key of an issuer is left out; its other keys remain.
    return null;
  }
}

/** Whether an RSA key has a bounded modulus and an odd exponent from 3 on: under exponent 1 everybody can sign. */
function isSoundRsa({ n, e }: JsonMembers): boolean {
  if (typeof n !== 'string' || typeof e !== 'string' || n.length * 6 > MAX_RSA_BITS + 16 || e.length > 8) {
    return false;
  }
  try {
    const exponent = base64url.decode(e);
    const value = exponent.reduce((sum, octet) => sum * 256 + octet, 0);
    return value >= 3 && value % 2 === 1;
  } catch {
    return false;
  }
}
