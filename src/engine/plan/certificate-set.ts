/**
 * The certificates of a domain as nodes get them: a set with its keys, sealed for each node (`base/platform/sealed-box.ts`). The
 * manifest has the digest of the set, so a signature covers what a node serves; the box has the octets.
 */

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
