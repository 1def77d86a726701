/** The repositories of certificates. Conventions as in `customer-repositories.ts`. */
import type { CertificateOnFile, CertificateRow } from './rows.ts';

/** A certificate to insert. */
export type NewCertificate = Omit<CertificateOnFile, 'id'>;

/** A certificate that ends soon, with its domain as far as a notification names it. */
export interface EndingCertificate extends CertificateRow {
  readonly domain: string;
}

/** Certificates of domains. */
export interface CertificateReads {
  /** By id. */
  list(domainId: number): Promise<readonly CertificateRow[]>;
  /** By id, with chains and sealed keys. */
  onFile(domainId: number): Promise<readonly CertificateOnFile[]>;
  /** Those with a sealed key, of all domains, with ids above `after`, by id. */
  withKeys(after: number, limit: number): Promise<readonly CertificateOnFile[]>;
  /** The digest of the set of a domain, as nodes get it once the domain is published; `null`: it has none. */
  digest(domainId: number): Promise<string | null>;
  /**
   * Active certificates that end before `before` and whose `noticed` is not `noticed` or later, by their end: uploaded ones,
   * and obtained ones whose renewal fails, or was to be made before `late`.
   */
  ending(ask: {
    readonly before: number;
    readonly late: number;
    readonly noticed: 'expiring' | 'expired';
    readonly limit: number;
  }): Promise<readonly EndingCertificate[]>;
}

/** Changes of certificates. */
export interface CertificateWrites {
  insert(certificate: NewCertificate): Promise<CertificateRow>;
  /** Replaces chain, sealed key and state of a certificate. */
  replace(certificate: Pick<CertificateOnFile, 'id' | 'domain_id' | 'chain' | 'sealed_key'>): Promise<void>;
  remove(domainId: number, id: number): Promise<boolean>;
  /** Sets the state of a certificate, and the reason where it failed. */
  setState(certificate: Pick<CertificateRow, 'id' | 'domain_id' | 'status' | 'error'>): Promise<void>;
  /** Replaces the sealed key of a certificate, if it still is `before`: false when it is not. */
  reseal(
    certificate: Pick<CertificateRow, 'id' | 'domain_id'>,
    keys: { readonly before: Uint8Array; readonly after: Uint8Array },
  ): Promise<boolean>;
  /** Gives an obtained certificate its content: it is active from now on, without an error. */
  issue(
    certificate: Omit<CertificateOnFile, 'source' | 'status' | 'error' | 'noticed' | 'created_at'>,
  ): Promise<void>;
  /** Sets the names that an obtained certificate is to have. */
  setNames(certificate: Pick<CertificateRow, 'id' | 'domain_id' | 'names_json'>): Promise<void>;
  /** Sets when a certificate is renewed. */
  setRenewal(certificate: Pick<CertificateRow, 'id' | 'domain_id' | 'renew_at'>): Promise<void>;
  setNoticed(certificate: Pick<CertificateRow, 'id' | 'domain_id' | 'noticed'>): Promise<void>;
}
