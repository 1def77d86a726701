/**
 * What the certificate of a TLS client proves (RFC 5280 §6). In: the certificates that a connection has sent, and the authorities of a
 * gateway. Out: the consumer, or the reason of the refusal. TLS has proved that the client has the key. A path from its certificate to
 * an authority is searched among all certificates that it has sent, whatever their order (RFC 4158), at each request by the gateway's
 * present authorities: neither a session that was resumed nor another gateway's authorities count. Revocation lists are not read.
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
  MAX_CLIENT_CERTIFICATES,
  MAX_NAME_LENGTH,
  MAX_PATH_SIGNATURES,
  REFUSED_MS,
} from './limits.ts';

/** What a TLS client has sent. One object for each connection: what it proves is cached by it. */
export interface ClientCertificate {
  /**
   * DER, the client's own first, the others in any order; of more than `MAX_CLIENT_CERTIFICATES` one more than that. Empty: it was
   * asked for one, and has sent none.
   */
  readonly chain: readonly Uint8Array[];
}

/** DER in a buffer of Node's, without its type: the types of `edgeplan/fetch` are compiled without those of Node. */
type RawCertificate = Uint8Array & { equals(other: Uint8Array): boolean };

/** A certificate of Node's, whose link leads to the next one. */
interface LinkedCertificate {
  readonly raw?: RawCertificate;
  readonly issuerCertificate?: LinkedCertificate | undefined;
}

/** The methods of Node's TLS sockets that return certificates of the client; without any they return an empty object, `null` or `undefined`. */
export interface CertificateSocket {
  getPeerCertificate(detailed: true): LinkedCertificate | null;
  getPeerX509Certificate(): LinkedCertificate | undefined;
}

/** All certificates that the client of a connection has sent, where the connection asked for them. */
export function certificateOf(socket: CertificateSocket): ClientCertificate {
  const chain: RawCertificate[] = [];
  // The first list is one path of them, to which Node adds certificates of the server's `ca`. The second one is what was sent, in its
  // order. Node empties the list of the first call in the second one.
  for (const first of [socket.getPeerCertificate(true), socket.getPeerX509Certificate()])
    addLinked(chain, first);
  return { chain };
}

/** Adds the certificates from the first one on, each once, to at most one more than is read. */
function addLinked(chain: RawCertificate[], first: LinkedCertificate | null | undefined): void {
  let at = first;
  while (at?.raw !== undefined && chain.length <= MAX_CLIENT_CERTIFICATES) {
    const { raw, issuerCertificate } = at;
    if (!chain.some((known) => known.equals(raw))) chain.push(raw);
    // The issuer of a root is the root itself.
    at = issuerCertificate === at ? null : issuerCertificate;
  }
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

/** The result of a search for one set of authorities, and the time in which it is true, milliseconds since the epoch. */
interface PathVerdict {
  /** Why no path leads to an authority; `null`: one does. */
  readonly failure: IdentityFailure | null;
  readonly from: number;
  readonly until: number;
}

interface PathSearch {
  readonly isSignedBy: IsSignedBy;
  readonly anchors: readonly PathCertificate[];
  readonly others: readonly PathCertificate[];
  readonly now: number;
  /** Number of signatures that may still be verified. */
  left: number;
  /** The reason of the last path that came near an authority: one that has the name of its issuer. */
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

/** The certificates of a client, its own first; others that cannot be read are left out. */
function readChain(ders: readonly Uint8Array[]): readonly PathCertificate[] | IdentityFailure {
  if (ders.length > MAX_CLIENT_CERTIFICATES) return 'too_long';
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

/**
 * The first valid path from a client's certificate to an authority, depth first; `null`: no path is valid at this time. Each step costs
 * a signature, so `left` bounds the steps.
 */
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
  // `pathLength` counts intermediate certificates that another subject has issued (RFC 5280 §6.1.4 l).
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
