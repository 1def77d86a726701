/** Certificates of domains, and those that the server obtains by ACME: accounts at the CAs, and orders. */
import { bytes, id, integer, json, type RowOf, table, text, time } from './describe.ts';
import { domains } from './domains.ts';

/** Whether a certificate was obtained by ACME or uploaded by the customer. */
export const CERTIFICATE_SOURCES = ['acme', 'custom'] as const;
/** One of CERTIFICATE_SOURCES. */
export type CertificateSource = (typeof CERTIFICATE_SOURCES)[number];

/** The stored state of a certificate; that it has expired follows from the time. */
export const CERTIFICATE_STATES = ['pending', 'active', 'failed', 'revoked'] as const;
/** One of CERTIFICATE_STATES. */
export type CertificateState = (typeof CERTIFICATE_STATES)[number];

/** Certificates. Rows from before step 18 have no chain: they say which names are covered, and nodes get nothing of them. */
export const certificates = table(
  'certificates',
  1,
  {
    id: id(),
    domain_id: integer().references(domains, 'cascade'),
    /** The names it covers, a JSON array of strings. */
    names_json: json().was('hostnames_json', 18),
    status: text<CertificateState>(),
    not_before: time().was('issued_at', 18),
    not_after: time().was('expires_at', 18),
    source: text<CertificateSource>().since(18, 'custom'),
    /** The name of its issuer; empty: a version before stored none, here and in the next two fields. */
    issuer: text().since(18, ''),
    /** Such as `RSA 2048` or `P-256`. */
    key_type: text().since(18, ''),
    /** SHA-256 of its DER octets, lower-case hex. Unique in its domain. */
    sha256: text().since(18, ''),
    /** PEM, the leaf first; `null`: a version before stored none. */
    chain: text().nullable().since(18),
    /** Its private key as `control/certificates/key-ring.ts` encrypts it. */
    sealed_key: bytes().nullable().since(18),
    /** Why it failed; empty: it has not. */
    error: text().since(18, ''),
    /** When it is renewed; `null`: nothing renews it. */
    renew_at: time().nullable().since(18),
    /** What the members of the domain were notified of. */
    noticed: text<'' | 'expiring' | 'expired'>().since(18, ''),
    created_at: time().since(18, 0),
  },
  {
    indexes: {
      certificates_by_domain: ['domain_id'],
      certificates_by_leaf: { on: ['domain_id', 'sha256'], unique: true, where: "sha256 <> ''", since: 18 },
      certificates_by_end: { on: ['not_after'], since: 18 },
    },
  },
);

/** A certificate with what nodes need of it. */
export interface CertificateOnFile extends RowOf<typeof certificates> {}

/** A certificate on file, without its chain and key. */
export interface CertificateRow extends Omit<CertificateOnFile, 'chain' | 'sealed_key'> {}

/** The digest of the set of a domain; the manifest has it once the domain is published. No row: the domain has no set. */
export const certificateSets = table('certificate_sets', 18, {
  domain_id: integer().key().references(domains, 'cascade'),
  digest: text(),
});

/** Accounts at CAs. Orders are taken from an allowance that refills with time. */
export const acmeAccounts = table('acme_accounts', 19, {
  /** The address of the CA's directory. */
  directory: text().key(),
  /** The account's address (RFC 8555 §7.3). */
  url: text(),
  /** Its private key, encrypted. */
  sealed_key: bytes(),
  created_at: time(),
  /** Up to when the allowance of orders is spent: each order adds its share of time to it or to now. */
  spent_until: time().preset(0),
  /** The CA takes no orders before this. */
  paused_until: time().preset(0),
});

/** An account at a CA. */
export interface AcmeAccountRow extends RowOf<typeof acmeAccounts> {}

/** What is to be done for each obtained certificate. */
export const certificateOrders = table(
  'certificate_orders',
  19,
  {
    certificate_id: integer().key().references(certificates, 'cascade'),
    domain_id: integer().references(domains, 'cascade'),
    /** The names of the next order, a JSON array. Those of the certificate change when it is issued. */
    names_json: json(),
    /** When the next order is made, or the one under way is continued. */
    due_at: time(),
    /** Orders that failed since the last certificate. */
    failures: integer().preset(0),
    /** The address of the order under way (RFC 8555 §7.1.3); `null`: none is. */
    url: text().nullable(),
    /** Its private key, encrypted; `null`: no order is under way. */
    sealed_key: bytes().nullable(),
    /** When the CA was asked for the renewal window last (RFC 9773); 0: never for this certificate. */
    window_asked_at: time().preset(0),
    /** Identifies the claim: another process that claims the order later has another one. */
    claim: integer().preset(0),
    claimed_until: time().preset(0),
  },
  {
    indexes: {
      certificate_orders_by_due: ['due_at'],
      certificate_orders_by_domain: ['domain_id'],
    },
  },
);

/** An order that this process works on. */
export interface ClaimedOrder extends Omit<RowOf<typeof certificateOrders>, 'claimed_until'> {}

/** The work on one obtained certificate. */
export interface CertificateOrderRow extends Omit<ClaimedOrder, 'claim'> {}
