/** The repositories of certificates that the server obtains by ACME. Conventions as in `customer-repositories.ts`. */
import type {
  AcmeAccountRow,
  CertificateOnFile,
  CertificateOrderRow,
  CertificateRow,
  ClaimedOrder,
} from './tables/certificates.ts';

/** Which order, and by which claim. */
export type OrderClaim = Pick<ClaimedOrder, 'certificate_id' | 'claim'>;

/** A certificate whose renewal window is to be asked for. */
export interface WindowQuestion {
  readonly certificate_id: number;
  readonly domain_id: number;
  readonly chain: string;
  /** When it is to be renewed as planned now. */
  readonly due_at: number;
}

/** The orders that an account may make. All in milliseconds, but `burst`. */
export interface OrderAllowance {
  /** One order in this time. */
  readonly everyMs: number;
  /** Orders at once, at most. */
  readonly burst: number;
  /** No pause of the account is longer. */
  readonly longestPauseMs: number;
}

/** What a CA answers about a renewal window. */
export interface WindowAnswer
  extends Pick<CertificateOrderRow, 'certificate_id' | 'due_at' | 'window_asked_at'> {
  /** When the certificate was to be renewed at the question. */
  readonly planned: number;
}

/** An order to insert. */
export type NewOrder = Pick<
  CertificateOrderRow,
  'certificate_id' | 'domain_id' | 'names_json' | 'due_at' | 'failures'
>;

/** What follows the work on an order. */
export interface OrderEnd extends Pick<CertificateOrderRow, 'names_json' | 'due_at' | 'failures'> {
  /** The order under way is continued at `due_at`. */
  readonly continues: boolean;
}

/** What a claim of orders is bounded by. */
export interface OrderClaiming {
  readonly now: number;
  /** When the claim lapses. */
  readonly until: number;
  /** The new claim. */
  readonly claim: number;
  readonly limit: number;
  /** Orders of one account under way, those of other processes too. */
  readonly perAccount: number;
}

/** Orders and accounts. */
export interface IssuanceReads {
  /** The orders of a domain by certificate. */
  list(domainId: number): Promise<readonly CertificateOrderRow[]>;
  account(directory: string): Promise<AcmeAccountRow | null>;
  /** All accounts, by directory. */
  accounts(): Promise<readonly AcmeAccountRow[]>;
  /** Orders under way with an encrypted key, of certificates above `after`, by certificate. */
  withKeys(after: number, limit: number): Promise<readonly CertificateOrderRow[]>;
  /** Orders that are due, and the earliest of them: for metrics. */
  due(now: number): Promise<{ readonly orders: number; readonly since: number | null }>;
  /** Active certificates whose window was asked for before `before`, the longest ago first; none whose renewal fails. */
  windows(ask: { readonly before: number; readonly limit: number }): Promise<readonly WindowQuestion[]>;
}

/** Changes of orders and accounts. Claims lock no domain. */
export interface IssuanceWrites {
  insert(order: NewOrder): Promise<void>;
  /**
   * Claims due orders of active domains. Accounts have turns: the first order of each comes before the second of any.
   * No other process claims them before `until`; a claim that ends later than a lease can was made by a clock that was
   * ahead, and is void.
   */
  claim(claiming: OrderClaiming): Promise<readonly ClaimedOrder[]>;
  /** Prolongs claims of this process. */
  renew(claims: readonly OrderClaim[], until: number): Promise<void>;
  /** Stores the order under way; false, and nothing is stored, if the claim has passed to another process. */
  begin(
    claim: OrderClaim,
    order: { readonly url: string; readonly sealed_key: Uint8Array },
  ): Promise<boolean>;
  /** Ends the claim; false, and nothing is stored, if it has passed to another process. */
  end(claim: OrderClaim, next: OrderEnd): Promise<boolean>;
  /** Sets the names of the next order. */
  setNames(certificateId: number, namesJson: string): Promise<void>;
  /** Makes an order due, unless it was earlier. */
  hasten(certificateId: number, dueAt: number): Promise<void>;
  /**
   * Stores when the certificate is renewed, as the CA says, and when it was asked. False, and nothing is stored, if the
   * order is not due at `planned` any more: the certificate was renewed meanwhile, and the window is that of the one before.
   */
  setWindow(window: WindowAnswer): Promise<boolean>;
  /** Removes the order: nothing renews its certificate any more. */
  drop(certificateId: number): Promise<void>;
  /** Replaces the encrypted key of an order, if it still is `before`. */
  reseal(
    certificateId: number,
    keys: { readonly before: Uint8Array; readonly after: Uint8Array },
  ): Promise<boolean>;
  /** Adds or replaces the account of a directory. */
  putAccount(account: Pick<AcmeAccountRow, 'directory' | 'url' | 'sealed_key' | 'created_at'>): Promise<void>;
  /** Replaces the encrypted key of an account, if it still is `before`. */
  resealAccount(
    directory: string,
    keys: { readonly before: Uint8Array; readonly after: Uint8Array },
  ): Promise<boolean>;
  /**
   * Takes one order from the allowance of an account. `null`: taken; else the time from which there is one. Times that a
   * clock which was ahead has stored do not delay orders. `reserved`: orders of the burst that are not taken.
   */
  spend(
    directory: string,
    allowance: OrderAllowance & { readonly now: number; readonly reserved: number },
  ): Promise<number | null>;
  pause(directory: string, until: number): Promise<void>;
}

// The repositories of certificates. Conventions as in `customer-repositories.ts`.

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
