/**
 * What the certificate of a TLS client proves (RFC 5280 §6). In: what a connection has sent, and what a gateway takes. Out: the
 * consumer, or why there is none. TLS has proved that the client has the key; whom the certificate is from is judged here, at each
 * request by the gateway's present authorities: neither a session that was resumed nor another gateway's authorities count.
 * Revocation lists are not read.
 */
import {
  type CertificateParts,
  CLIENT_AUTH,
  hasUnknownLimits,
  isStrong,
  KEY_USAGE,
  octetsOfBase64,
  readCertificate,
} from '../../base/platform/x509.ts';
import type { IdentityFailure } from '../../base/vocabulary/vocabulary.ts';
import type { ClientAuthorities, CredentialsWanted } from '../../engine/evaluator/gateways.ts';
import type { RequestIdentity } from '../../engine/evaluator/request.ts';
import type { OpenedRegistry } from '../../engine/plan/open-registry.ts';
import { CERTIFICATE_VERIFIED, isFailure, refusedFor } from './identities.ts';
import {
  MAX_CERTIFICATE_NAMES,
  MAX_CLIENT_CHAIN,
  MAX_NAME_LENGTH,
  MAX_PATH_SIGNATURES,
  REFUSED_MS,
} from './limits.ts';

/** What a TLS client has sent. One object for each connection: what it proves is cached by it. */
export interface ClientCertificate {
  /** DER, the client's own first; empty: it was asked for one, and has sent none. */
  readonly chain: readonly Uint8Array[];
}

/** A certificate as Node's `getPeerCertificate(true)` returns it; without one it is empty, or `null`. */
export interface PeerCertificate {
  readonly raw?: Uint8Array;
  readonly issuerCertificate?: PeerCertificate;
}

/** What the client of a connection has sent that asked for a certificate. */
export function certificateOf(peer: PeerCertificate | null): ClientCertificate {
  const chain: Uint8Array[] = [];
  let at: PeerCertificate | null | undefined = peer;
  while (at?.raw !== undefined && chain.length <= MAX_CLIENT_CHAIN) {
    chain.push(at.raw);
    const issuer: PeerCertificate | undefined = at.issuerCertificate;
    // A root's issuer is the root itself.
    at = issuer === at ? null : issuer;
  }
  return { chain };
}

/** Whether the key of one certificate has signed another one; both are DER. False for octets that the platform does not read. */
export type IsSignedBy = (certificate: Uint8Array, issuer: Uint8Array) => boolean;

/** What the certificate of a connection proves. */
export type VerifyCertificate = (
  certificate: ClientCertificate,
  wanted: Pick<CredentialsWanted, 'registry'> & { readonly clients: ClientAuthorities },
  now: number,
) => RequestIdentity;

interface PathCertificate {
  readonly der: Uint8Array;
  readonly parts: CertificateParts;
}

/** What is found of a connection's certificate for one set of authorities, and when it is true, milliseconds since the epoch. */
interface PathVerdict {
  /** Why there is no path to an authority; `null`: there is one. */
  readonly failure: IdentityFailure | null;
  readonly from: number;
  readonly until: number;
}

interface PathSearch {
  readonly isSignedBy: IsSignedBy;
  readonly anchors: readonly PathCertificate[];
  readonly others: readonly PathCertificate[];
  readonly now: number;
  /** Signatures that may still be verified. */
  left: number;
  /** The most telling reason so far: that of the path which came nearest to an authority. */
  failure: IdentityFailure;
}

/** Makes the verifier of a process. Its caches end with the connections and the plans that they are of. */
export function createCertificateVerifier(isSignedBy: IsSignedBy): VerifyCertificate {
  const anchorsOf = new WeakMap<ClientAuthorities, readonly PathCertificate[]>();
  const sent = new WeakMap<ClientCertificate, readonly PathCertificate[] | IdentityFailure>();
  const verdicts = new WeakMap<ClientCertificate, WeakMap<ClientAuthorities, PathVerdict>>();

  function readSent(certificate: ClientCertificate): readonly PathCertificate[] | IdentityFailure {
    const known = sent.get(certificate) ?? readChain(certificate.chain);
    sent.set(certificate, known);
    return known;
  }

  function readAnchors(clients: ClientAuthorities): readonly PathCertificate[] {
    const known = anchorsOf.get(clients) ?? clients.certificates.flatMap(readAnchor);
    anchorsOf.set(clients, known);
    return known;
  }

  function verdictOf(
    certificate: ClientCertificate,
    chain: readonly PathCertificate[],
    { clients, now }: { readonly clients: ClientAuthorities; readonly now: number },
  ): PathVerdict {
    const known = verdicts.get(certificate) ?? new WeakMap<ClientAuthorities, PathVerdict>();
    verdicts.set(certificate, known);
    const before = known.get(clients);
    if (before !== undefined && before.from <= now && now < before.until) return before;
    const verdict = judgePath(chain, { isSignedBy, anchors: readAnchors(clients), now });
    known.set(clients, verdict);
    return verdict;
  }

  return (certificate, { clients, registry }, now) => {
    const chain = readSent(certificate);
    if (isFailure(chain)) return refusedFor(chain);
    const { failure } = verdictOf(certificate, chain, { clients, now });
    return failure === null ? identityOf(chain[0]!.parts, registry) : refusedFor(failure);
  };
}

function readAnchor(base64: string): readonly PathCertificate[] {
  const der = octetsOfBase64(base64);
  const parts = der === null ? null : readCertificate(der);
  return der === null || parts === null ? [] : [{ der, parts }];
}

/** The certificates of a client, its own first; those behind it that cannot be read are no part of a path. */
function readChain(ders: readonly Uint8Array[]): readonly PathCertificate[] | IdentityFailure {
  if (ders.length > MAX_CLIENT_CHAIN) return 'too_long';
  const read = ders.map((der) => {
    const parts = readCertificate(der);
    return parts === null ? null : { der, parts };
  });
  if (read[0] === undefined || read[0] === null) return 'malformed';
  return read.filter((one) => one !== null);
}

function judgePath(
  [leaf, ...others]: readonly PathCertificate[],
  place: Pick<PathSearch, 'isSignedBy' | 'anchors' | 'now'>,
): PathVerdict {
  const { now } = place;
  const refused = (failure: IdentityFailure): PathVerdict => ({
    failure,
    from: now,
    until: now + REFUSED_MS,
  });
  const failure = leafFailure(leaf!.parts);
  if (failure !== null) return refused(failure);
  const search: PathSearch = { ...place, others, left: MAX_PATH_SIGNATURES, failure: 'wrong_issuer' };
  const path = pathFrom([leaf!], search);
  if (path === null) return refused(search.failure);
  const from = Math.max(...path.map(({ parts }) => parts.notBefore));
  return { failure: null, from, until: Math.min(...path.map(({ parts }) => endOf(parts))) };
}

/** What is wrong with a client's own certificate, whatever issued it. */
function leafFailure(parts: CertificateParts): IdentityFailure | null {
  const { keyUsage, purposes } = parts;
  if (keyUsage !== null && (keyUsage & KEY_USAGE.digitalSignature) === 0) return 'wrong_type';
  if (purposes !== null && !purposes.includes(CLIENT_AUTH)) return 'wrong_type';
  if (parts.unread.length > 0) return 'wrong_type';
  return isStrong(parts.key) ? null : 'wrong_algorithm';
}

/** The path from a client's certificate to an authority, depth first; `null`: there is none that is valid now. */
function pathFrom(path: readonly PathCertificate[], search: PathSearch): readonly PathCertificate[] | null {
  const last = path.at(-1)!;
  const late = timeFailure(last.parts, search.now);
  for (const anchor of search.anchors) {
    const failure = issuerFailure(anchor, path, search);
    if (failure === 'wrong_issuer') continue;
    const found = failure ?? late ?? timeFailure(anchor.parts, search.now);
    if (found === null) return [...path, anchor];
    search.failure = found;
  }
  for (const issuer of search.others) {
    if (path.includes(issuer) || issuerFailure(issuer, path, search) !== null) continue;
    const found = pathFrom([...path, issuer], search);
    if (found !== null && late === null) return found;
    if (found !== null && late !== null) search.failure = late;
  }
  return null;
}

function timeFailure({ notBefore, notAfter }: CertificateParts, now: number): IdentityFailure | null {
  if (now < notBefore) return 'not_yet_valid';
  return now >= endOf({ notAfter }) ? 'expired' : null;
}

/** The second of `notAfter` is within the time (RFC 5280 §4.1.2.5). */
function endOf({ notAfter }: Pick<CertificateParts, 'notAfter'>): number {
  return notAfter + 1_000;
}

/** Why a certificate has not issued the last one of a path, or must not have; `null`: it has. The cheapest checks come first. */
function issuerFailure(
  issuer: PathCertificate,
  path: readonly PathCertificate[],
  search: PathSearch,
): IdentityFailure | null {
  const last = path.at(-1)!;
  if (issuer.parts.subject !== last.parts.issuer) return 'wrong_issuer';
  const { isAuthority, keyUsage, pathLength, purposes, key } = issuer.parts;
  if (!isAuthority || (keyUsage !== null && (keyUsage & KEY_USAGE.keyCertSign) === 0)) return 'wrong_issuer';
  if (purposes !== null && !purposes.includes(CLIENT_AUTH)) return 'wrong_issuer';
  // The client's own certificate is none of those that `pathLength` counts, and one that names itself is not (§6.1.4 l).
  const between = path.slice(1).filter(({ parts }) => parts.subject !== parts.issuer).length;
  if (between > pathLength || hasUnknownLimits(issuer.parts) || !isStrong(key)) return 'wrong_issuer';
  if (!SIGNATURES.has(last.parts.signedWith)) return 'wrong_algorithm';
  if (search.left-- <= 0) return 'too_long';
  return search.isSignedBy(last.der, issuer.der) ? null : 'wrong_signature';
}

/**
 * Algorithms of signatures that are relied on: SHA-2 with RSA (PKCS #1), ECDSA, and Ed25519. SHA-1 and MD5 have collisions; the
 * digest of RSA-PSS is in parameters that are not read.
 */
const SIGNATURES: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
]);

/**
 * The consumer that a certificate names: by `subjectAltName`, else by the common name (semantics §15). Several consumers would leave
 * open whose request it is.
 */
function identityOf({ names, commonNames }: CertificateParts, registry: OpenedRegistry): RequestIdentity {
  if (names.length + commonNames.length > MAX_CERTIFICATE_NAMES) return refusedFor('too_long');
  for (const some of [names, commonNames]) {
    const consumers = some.flatMap((name) => consumerNamed(name, registry));
    if (consumers.length === 0) continue;
    if (consumers.some((one) => one !== consumers[0])) return refusedFor('conflict');
    return { consumer: consumers[0]!, verified: CERTIFICATE_VERIFIED };
  }
  return refusedFor(names.length + commonNames.length === 0 ? 'claim_missing' : 'unknown_consumer');
}

function consumerNamed(name: string, registry: OpenedRegistry): readonly string[] {
  if (name === '' || name.length > MAX_NAME_LENGTH) return [];
  const consumer = registry.consumerOfClaim(name);
  return consumer === null ? [] : [consumer.username];
}
