/** What the authority stores, what tests read of it, and the faults that they switch. All of it is in memory. */
import type { KeyObject } from 'node:crypto';
import type { Issuer } from './issuer.ts';
import type { ProblemType } from './problem.ts';

export type ChallengeType = 'http-01' | 'dns-01';

/** Checks one challenge; `null`: valid, else the reason. A rejected promise counts as a reason too. */
export type ChallengeCheck = (challenge: {
  readonly type: ChallengeType;
  /** Without `*.`. */
  readonly name: string;
  readonly token: string;
  readonly keyAuthorization: string;
  /** SHA-256 of the key authorization in base64url: the text of the TXT record of dns-01. */
  readonly digest: string;
}) => Promise<string | null>;

export interface AuthorityOptions {
  /** Milliseconds since the epoch: dates of certificates, expiry of orders, times of records. */
  readonly clock: () => number;
  /** A certificate's lifetime in milliseconds. Read at each certificate, so a getter may change it. */
  readonly lifeMs: number;
  readonly resolve: ChallengeCheck;
  /** Default: `acme.test`. */
  readonly caaIdentities?: readonly string[];
  /** How long an account's valid authorization serves its later orders of the name. Default: 0, each order validates anew. */
  readonly reuseMs?: number;
  /** How many names an order may have. Default: 100. */
  readonly maxNames?: number;
  /** Answers about authorizations wait until validations have ended, so that clients do not poll. Default: false. */
  readonly prompt?: boolean;
}

export type Endpoint =
  | 'directory'
  | 'newNonce'
  | 'newAccount'
  | 'account'
  | 'newOrder'
  | 'order'
  | 'authorization'
  | 'challenge'
  | 'finalize'
  | 'certificate'
  | 'revokeCert'
  | 'renewalInfo'
  | 'unknown';

/** Why a name is refused: by newOrder, or when a challenge of it is validated. */
export interface Refusal {
  readonly at: 'order' | 'validation';
  /** Default: `rejectedIdentifier` of an order, `unauthorized` of a validation. */
  readonly type?: ProblemType;
  readonly detail: string;
}

/** When a certificate is to be renewed, milliseconds since the epoch. */
export interface RenewalWindow {
  readonly start: number;
  readonly end: number;
  readonly explanationUrl?: string;
}

/** Tests assign these at any time. A share is 0 to 1 and counted out evenly: 0.5 is every second request. */
export interface Faults {
  /** Connections are destroyed without an answer; the request has no effect. */
  down: boolean;
  /** Real milliseconds before an answer is sent; the request has its effect at once. */
  slowMs: number;
  /** The share of valid nonces that are rejected. */
  rejectNonces: number;
  /** The share of requests answered 500 without effect. */
  serverError: number;
  /** newOrder answers 429 while `left` is above 0; each such answer takes one. */
  rateLimit: { left: number; readonly retryAfter: string | number } | null;
  /** Called with each name of an order (with `*.`) and at each validation (without). */
  refuse: ((name: string) => Refusal | null) | null;
  /** The request has its effect, then the connection is destroyed. */
  loseAnswers: ((endpoint: Endpoint) => boolean) | null;
  /** How many times an order is read as `processing` after its finalization. */
  processingPolls: number;
  /** The window of a certificate; `null`: the first tenth of the lifetime's last third; the past once it is revoked. */
  renewalWindow: ((certificate: Issued) => RenewalWindow | null) | null;
  /** The header Retry-After of renewal information. */
  renewalRetryAfter: string | number;
}

/** A certificate that was issued, whether or not its answer arrived. */
export interface Issued {
  readonly names: readonly string[];
  /** In hexadecimal, as `X509Certificate.serialNumber` has it. */
  readonly serial: string;
  /** The identifier of RFC 9773 section 4.1. */
  readonly certId: string;
  /** All times: milliseconds since the epoch, by the scripted clock. */
  readonly at: number;
  readonly notBefore: number;
  readonly notAfter: number;
  /** The `certId` that the order names, or `null`. */
  readonly replaces: string | null;
  readonly orderUrl: string;
  readonly accountUrl: string;
  /** Leaf and issuing authority. */
  readonly pem: string;
  revokedAt: number | null;
}

export interface Records {
  readonly issued: Issued[];
  readonly orders: {
    readonly url: string;
    readonly at: number;
    readonly names: readonly string[];
    readonly replaces: string | null;
  }[];
  readonly accounts: { readonly url: string; readonly at: number; readonly contact: readonly string[] }[];
  /** Validations that failed; the name is without `*.`. */
  readonly failedValidations: {
    readonly name: string;
    readonly type: ChallengeType;
    readonly at: number;
    readonly reason: string;
  }[];
  /** `status` is `null` if the connection was destroyed. */
  readonly requests: { readonly endpoint: Endpoint; readonly at: number; readonly status: number | null }[];
}

export interface Account {
  readonly url: string;
  readonly key: KeyObject;
  /** RFC 7638. */
  readonly thumbprint: string;
  contact: readonly string[];
  status: 'valid' | 'deactivated';
}

export interface Challenge {
  readonly url: string;
  readonly type: ChallengeType;
  readonly token: string;
  readonly authorization: Authorization;
  status: 'pending' | 'processing' | 'valid' | 'invalid';
  validatedAt: number | null;
  error: unknown;
}

export interface Authorization {
  readonly url: string;
  readonly account: Account;
  /** Without `*.`. */
  readonly name: string;
  readonly isWildcard: boolean;
  challenges: readonly Challenge[];
  status: 'pending' | 'valid' | 'invalid' | 'deactivated';
  expires: number;
}

export interface Order {
  readonly id: string;
  readonly url: string;
  readonly account: Account;
  readonly names: readonly string[];
  readonly replaces: string | null;
  readonly authorizations: readonly Authorization[];
  readonly expires: number;
  certificateUrl: string | null;
  /** Polls that are still answered `processing`. */
  processingPolls: number;
}

/** Everything by its URL unless said otherwise. */
export interface State {
  readonly options: AuthorityOptions;
  readonly faults: Faults;
  readonly records: Records;
  readonly issuer: Issuer;
  /** The address in front of every path. */
  base: string;
  readonly nonces: Set<string>;
  readonly accounts: Map<string, Account>;
  readonly accountsByThumbprint: Map<string, Account>;
  readonly orders: Map<string, Order>;
  readonly authorizations: Map<string, Authorization>;
  readonly challenges: Map<string, Challenge>;
  readonly certificates: Map<string, Issued>;
  readonly issuedByCertId: Map<string, Issued>;
  /** Identifiers of certificates that a finalized order replaces. */
  readonly replaced: Set<string>;
  readonly validating: Set<Promise<void>>;
}

/** No faults. */
export function createFaults(): Faults {
  return {
    down: false,
    slowMs: 0,
    rejectNonces: 0,
    serverError: 0,
    rateLimit: null,
    refuse: null,
    loseAnswers: null,
    processingPolls: 0,
    renewalWindow: null,
    renewalRetryAfter: 21_600,
  };
}

/** Nothing stored yet. */
export function createState(options: AuthorityOptions, issuer: Issuer): State {
  return {
    options,
    faults: createFaults(),
    records: { issued: [], orders: [], accounts: [], failedValidations: [], requests: [] },
    issuer,
    base: '',
    nonces: new Set(),
    accounts: new Map(),
    accountsByThumbprint: new Map(),
    orders: new Map(),
    authorizations: new Map(),
    challenges: new Map(),
    certificates: new Map(),
    issuedByCertId: new Map(),
    replaced: new Set(),
    validating: new Set(),
  };
}

/** A date as ACME's documents have it. */
export function dateText(ms: number): string {
  return new Date(ms).toISOString();
}
