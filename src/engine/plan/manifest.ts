/**
 * The manifest: what a node should serve, name by name, signed by the publisher. Nodes read it in pages; each page has the
 * positions that it covers and its own signature, so that the public key alone is enough to verify a page.
 *
 * What is signed is the UTF-8 of `manifestText(page)`: the page as canonical JSON (RFC 8785: keys sorted, no spaces).
 * The signature is Ed25519 (RFC 8032) over exactly these octets, in base64. It covers the format's name, so that it
 * can never be taken for a signature over something else.
 */
import { MAX_CHALLENGE_ANSWER, MAX_CHALLENGE_TOKEN } from '../../base/vocabulary/limits.ts';

export const MANIFEST_FORMAT = 'edgeplan.manifest/v1';

/**
 * Why a name has no plan.
 * - `refused` the name still owns its hosts and every request to them is refused (suspended, disabled, banned, not verified any more)
 * - `gone` the name owns no host (deleted, or never active): requests belong to a parent name, if there is one
 */
export const TOMBSTONES = ['refused', 'gone'] as const;
export type Tombstone = (typeof TOMBSTONES)[number];

/** What clearance cookies of a domain are signed with; secrets are octets in base64. */
export interface Clearance {
  readonly current: string;
  /** Those that were current before and are still accepted. */
  readonly previous: readonly PreviousManifestSecret[];
}

export interface PreviousManifestSecret {
  readonly secret: string;
  /** Accepted before this, milliseconds since the epoch. */
  readonly until: number;
}

/** What a node should hold for one name. */
export interface ManifestEntry {
  readonly domain: string;
  /** Only rises per name; 0: nothing has been published yet. */
  readonly revision: number;
  /** SHA-256 of the sealed plan, 64 lower-case hex digits; `null` if there is a tombstone. */
  readonly digest: string | null;
  readonly tombstone: Tombstone | null;
  /** Rises with every purge, and when the name goes to another domain: what was cached under a lower one is stale. */
  readonly purge_epoch: number;
  /**
   * The position of the domain's newest purge of single responses (`purges.ts`); absent: there was none, or the server's
   * release has none.
   */
  readonly purges?: number;
  /** Rises with every change of any name. */
  readonly position: number;
  /** This domain's own; absent if there is a tombstone, and from servers of releases with one secret for all domains. */
  readonly clearance?: Clearance;
  /**
   * The digest of the domain's certificates, which nodes fetch by domain; absent: it has none, the
   * name is `gone`, or the server is of a release without them. Changes at a new position, with or without a new revision.
   */
  readonly certificates?: string;
  /**
   * What nodes answer to certificate authorities for hosts of the domain; absent: no challenge, or the name is `gone`.
   * Changes as `certificates` does. At most `MAX_CHALLENGES`.
   */
  readonly challenges?: readonly HttpChallenge[];
}

/** An HTTP-01 challenge (RFC 8555 §8.3). */
export interface HttpChallenge {
  /** The last segment of the requested path, in the alphabet of base64url. */
  readonly token: string;
  /** The key authorization (RFC 8555 §8.1), printable ASCII. */
  readonly answer: string;
}

/** Whether a token and its answer have the form and the lengths that nodes accept. */
export function isHttpChallenge({
  token,
  answer,
}: { readonly [name in keyof HttpChallenge]?: unknown }): boolean {
  if (typeof token !== 'string' || token.length > MAX_CHALLENGE_TOKEN) return false;
  if (typeof answer !== 'string' || answer.length > MAX_CHALLENGE_ANSWER) return false;
  return /^[A-Za-z0-9_-]+$/.test(token) && /^[\x20-\x7e]+$/.test(answer);
}

/** The names that changed at positions above `since`, up to and including `through`. */
export interface ManifestPage {
  readonly format: typeof MANIFEST_FORMAT;
  /** The store's epoch: revisions and positions only rise within one epoch, and start again in the next. Absent: 0. */
  readonly epoch?: number;
  readonly since: number;
  /** The next page to request is above this position. */
  readonly through: number;
  /** `false`: there are already changes above `through`; request the next page. */
  readonly complete: boolean;
  /** When the page was made, milliseconds since the epoch. */
  readonly at: number;
  /**
   * The groups whose names the page has, sorted; those of the node it is for. Absent: `default` alone. Names of other groups
   * are left out, or `gone` if the node had them before.
   */
  readonly groups?: readonly string[];
  readonly entries: readonly ManifestEntry[];
}

/** A signature by another key in force. */
export interface KeySignature {
  /** As `SignedPage.key_id`. */
  readonly key_id: string;
  readonly signature: string;
}

export const TRANSITION_FORMAT = 'edgeplan.key-transition/v1';

/** A key replaces the one that signed until then: a node that trusts the old key trusts the new one. */
export interface KeyTransition {
  readonly format: typeof TRANSITION_FORMAT;
  /** The id of the key before, which signs this. */
  readonly from: string;
  /** The key from now on: SubjectPublicKeyInfo (RFC 8410) in base64. */
  readonly public_key: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The key before signs manifests before this. */
  readonly until: number;
}

export interface SignedTransition extends KeyTransition {
  /** Base64 of the 64 octets of an Ed25519 signature over `transitionText`. */
  readonly signature: string;
}

/** The text whose UTF-8 is signed. */
export function transitionText({ format, from, public_key, at, until }: KeyTransition): string {
  return canonicalJson({ format, from, public_key, at, until });
}

export interface SignedPage {
  readonly manifest: ManifestPage;
  /** Which key signed: the first 16 hex digits of the SHA-256 of its SubjectPublicKeyInfo. */
  readonly key_id: string;
  /** Base64 of the 64 octets of an Ed25519 signature over `manifestText(manifest)`. */
  readonly signature: string;
  /** Of the other keys in force, the newest last. */
  readonly also?: readonly KeySignature[];
  /** By the keys in force, one signature each. */
  readonly transitions?: readonly SignedTransition[];
}

export const SELF_FORMAT = 'edgeplan.self/v1';

/** Who a node is to its control plane, and what it is given. */
export interface NodeSelf {
  readonly format: typeof SELF_FORMAT;
  readonly id: number;
  readonly name: string;
  /** SubjectPublicKeyInfo (RFC 8410) in base64: what pages are signed with. */
  readonly public_key: string;
  /**
   * What nodes of releases with one secret for all domains sign clearance cookies with, octets in base64; other nodes use
   * `ManifestEntry.clearance`.
   */
  readonly clearance: string;
  /** The groups that the node is in, sorted: those of its pages. Absent: `default` alone. */
  readonly groups?: readonly string[];
  /** As the node sent it, so that an earlier answer cannot stand in for this one. */
  readonly nonce: string;
}

/** Signed as a page is. */
export interface SignedSelf extends NodeSelf {
  readonly key_id: string;
  /** Base64 of the 64 octets of an Ed25519 signature over `selfText`. */
  readonly signature: string;
  /** By the other keys in force, the newest last, each over the text with its own public key. */
  readonly also?: readonly (KeySignature & { readonly public_key: string })[];
  /** All transitions, the oldest first, each with its own signature. */
  readonly transitions?: readonly SignedTransition[];
}

/** The text whose UTF-8 is signed. */
export function selfText({ format, id, name, public_key, clearance, groups, nonce }: NodeSelf): string {
  return canonicalJson({ format, id, name, public_key, clearance, groups, nonce });
}

/** The text whose UTF-8 is signed. */
export function manifestText(page: ManifestPage): string {
  return canonicalJson(page);
}

/**
 * Canonical JSON (RFC 8785) of plain data: null, booleans, finite numbers, well-formed strings, lists, objects.
 * ECMAScript's own number and string forms are the ones the RFC prescribes.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}

// The certificates of a domain as nodes get them: a set with its keys, sealed for each node (`base/platform/cryptography.ts`). The
// manifest has the digest of the set, so a signature covers what a node serves; the box has the octets.

export const CERTIFICATE_SET_FORMAT = 'edgeplan.certificates/v1';

/** A certificate with its key. */
export interface SetCertificate {
  /** The id of the certificate in the API. */
  readonly id: number;
  /** An uploaded one precedes an obtained one for the same name (semantics §8). */
  readonly source: 'acme' | 'custom';
  /** PEM, the leaf first, then its issuers. */
  readonly chain: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

/** The certificates of one domain. The digest of a set is the SHA-256 of the UTF-8 of its JSON text, in hex. */
export interface CertificateSet {
  readonly format: typeof CERTIFICATE_SET_FORMAT;
  readonly domain: string;
  /** By id. */
  readonly certificates: readonly SetCertificate[];
}

/** What a box with a set is bound to. */
export function certificateSetContext(domain: string, digest: string): string {
  return `${CERTIFICATE_SET_FORMAT} ${domain} ${digest}`;
}
