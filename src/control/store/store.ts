/**
 * The store has everything that must survive a restart: accounts, keys, domains, records, rules, what was published and how
 * nodes answered. One interface; the room `database/` has it on embedded SQLite and on PostgreSQL.
 * In: transactions of functions that are grouped into repositories (`customer-repositories.ts`, `issuance-repositories.ts`, `billing-repositories.ts`,
 * `edge-repositories.ts`, `notify-repositories.ts`, `zone-repositories.ts`). Out: rows as read-only data in the API's own field names (`rows.ts`,
 * `billing-repositories.ts`). It does not check a customer's input, and throws `StoreFault` alone.
 *
 * Three guarantees, tested on both databases by one contract suite: what `write` has answered survives kill -9 and power
 * loss; a transaction happens whole or not at all; two writes that name one domain run one after the other.
 */
import type {
  InvoiceReads,
  InvoiceWrites,
  QuotaReads,
  QuotaWrites,
  SuspensionReads,
  SuspensionWrites,
  TicketReads,
  TicketWrites,
  WalletReads,
  WalletWrites,
} from './billing-repositories.ts';
import type {
  AccountReads,
  AccountWrites,
  AuditReads,
  AuditWrites,
  DomainReads,
  DomainWrites,
  InvitationReads,
  InvitationWrites,
  KeyReads,
  KeyWrites,
  MemberReads,
  MemberWrites,
  RecordReads,
  RecordWrites,
  RuleReads,
  RuleWrites,
  ScanReads,
  ScanWrites,
  SecretReads,
  SecretWrites,
  SubscriptionReads,
  SubscriptionWrites,
} from './customer-repositories.ts';
import type { DraftReads, DraftWrites, InvariantReads, InvariantWrites } from './draft-repositories.ts';
import type {
  CacheReads,
  CacheWrites,
  GroupReads,
  GroupWrites,
  NodeReads,
  NodeWrites,
  OutboxReads,
  OutboxWrites,
  PlanReads,
  PlanWrites,
} from './edge-repositories.ts';
import type {
  CertificateReads,
  CertificateWrites,
  IssuanceReads,
  IssuanceWrites,
} from './issuance-repositories.ts';
import type {
  ContactReads,
  ContactWrites,
  NotificationReads,
  NotificationWrites,
} from './notify-repositories.ts';
import type { StorePlace } from './place.ts';
import type { TrafficReads, TrafficWrites, UptimeReads, UptimeWrites } from './traffic-repositories.ts';
import type { ZoneReads, ZoneWrites } from './zone-repositories.ts';

/** An open store. */
export interface Store {
  readonly about: StoreAbout;

  /** Where other threads of this process open snapshots of their own. */
  readonly place: StorePlace;

  /**
   * Reads without a transaction: each call sees the newest commit, two calls may see different ones. The cheapest
   * way to one row (SQLite: some microseconds, on the calling thread).
   */
  readonly latest: ReadTransaction;

  /** Reads from one snapshot: everything `work` sees was true at one moment. */
  read<T>(work: (tx: ReadTransaction) => Promise<T>): Promise<T>;

  /**
   * One transaction. Resolves once everything `work` wrote is durable; when `work` or the commit throws, nothing of
   * it is. `work` may run more than once, so it must touch nothing but `tx`, and it must wait for nothing but `tx`
   * (on SQLite every other writer waits meanwhile). A statement that failed fails the transaction, caught or not,
   * unless it ran inside `tx.attempt`.
   */
  write<T>(work: (tx: WriteTransaction) => Promise<T>, options?: WriteOptions): Promise<T>;

  /**
   * A number that changes with every commit that can be read, of any process: what was read between two equal ones is
   * what would be read now. `null` if detecting commits costs as much as reading again.
   */
  version(): number | null;

  /**
   * As `latest`, but the owner of a key and the role of an account at a domain may be as of the last call of `version`: for
   * reads after one in the same request.
   */
  readonly looked: ReadTransaction;

  /** What processes on this database divide among themselves; `null` if one process has it alone. */
  readonly shares: Shares | null;

  /**
   * Notifies of commits, also those of other processes on the same database, soon after they happened. A hint: it may
   * be late, repeated, or lost, so listeners poll as well. Returns the function that stops it.
   */
  listen(listener: (change: StoreChange) => void): () => void;

  /**
   * Writes a consistent copy of the database to `file`, which must not exist, while reads and writes go on. SQLite
   * only; for PostgreSQL it throws and names `pg_dump`. The copy is a data file: put it into an empty folder as
   * `edgeplan.db` to start from it.
   */
  backup(file: string): Promise<void>;

  /** Resolves when the database answers and can be written to; used by `/readyz`. */
  ping(): Promise<void>;

  /** Waits for running transactions, then closes the database. Later calls throw `closed`. */
  close(): Promise<void>;
}

/**
 * How the requests a key may make in a minute are divided among processes. Nothing of it is an acknowledged write: a
 * database that crashes loses it, and until each process has asked again a share may be given out twice.
 */
export interface Shares {
  /**
   * Settles this process's share of each key, one statement for all of them, and answers it by key. A share is counted
   * for `countedMs` from now on; it is never more than what the others leave of `limit`.
   */
  divide(
    asks: readonly BudgetRequest[],
    terms: { readonly limit: number; readonly countedMs: number },
  ): Promise<ReadonlyMap<number, number>>;
}

/** What one process requests of one key's budget. */
export interface BudgetRequest {
  readonly key_id: number;
  /** Requests of this process that count at the moment. */
  readonly used: number;
  /** The share that it has, used requests included; it does not shrink by the answer. */
  readonly held: number;
  /** The share that it requests; of what is free beyond `used` it gets half. */
  readonly wanted: number;
}

/** Which database it is, for logs and operators. */
export interface StoreAbout {
  readonly database: 'sqlite' | 'postgres';
  /** For people: the data folder, or the connection without its password. */
  readonly where: string;
  /** Warnings for the operator, such as of a PostgreSQL server that does not fsync; usually empty. */
  readonly warnings: readonly string[];
}

/** How a write ends. */
export interface WriteOptions {
  /** Runs all of `work` and returns its result, but commits nothing (`?validate_only=true`). */
  readonly discard?: boolean;
}

/**
 * - `outbox` a publisher has work
 * - `manifest` the manifest has a new position
 * - `zones` a zone must be made again
 * - `certificates` a certificate is to be obtained
 * - `keys` a key, node token or account was made, changed or revoked
 * - `unknown` commits may have been missed: read everything again
 */
export type StoreChange = 'outbox' | 'manifest' | 'zones' | 'certificates' | 'keys' | 'unknown';

/** The repositories of a reading transaction. Lists are in the order that each method names. */
export interface ReadTransaction {
  readonly accounts: AccountReads;
  readonly keys: KeyReads;
  readonly domains: DomainReads;
  readonly members: MemberReads;
  readonly invitations: InvitationReads;
  readonly subscriptions: SubscriptionReads;
  readonly suspensions: SuspensionReads;
  readonly wallets: WalletReads;
  readonly invoices: InvoiceReads;
  readonly quotas: QuotaReads;
  readonly tickets: TicketReads;
  readonly certificates: CertificateReads;
  readonly issuance: IssuanceReads;
  readonly records: RecordReads;
  readonly scans: ScanReads;
  readonly rules: RuleReads;
  readonly drafts: DraftReads;
  readonly invariants: InvariantReads;
  readonly audit: AuditReads;
  readonly outbox: OutboxReads;
  readonly plans: PlanReads;
  readonly nodes: NodeReads;
  readonly groups: GroupReads;
  readonly traffic: TrafficReads;
  readonly uptime: UptimeReads;
  readonly caches: CacheReads;
  readonly notifications: NotificationReads;
  readonly contacts: ContactReads;
  readonly secrets: SecretReads;
  readonly zones: ZoneReads;
}

/**
 * The repositories of a writing transaction. Every method that names one domain locks it and the others of its name until
 * the commit, reads included: what was read about it is still true when the transaction commits. (Exceptions: lists over several
 * domains, the manifest, traffic, nodes' reports, claims.) In the same way `keys.byHash` and `accounts.get` lock the key
 * and the account, so a key found unrevoked stays so until the commit, and a revocation is answered only after it.
 * PostgreSQL locks rows; SQLite has one writer at a time.
 */
export interface WriteTransaction {
  readonly accounts: AccountReads & AccountWrites;
  readonly keys: KeyReads & KeyWrites;
  readonly domains: DomainReads & DomainWrites;
  readonly members: MemberReads & MemberWrites;
  readonly invitations: InvitationReads & InvitationWrites;
  readonly subscriptions: SubscriptionReads & SubscriptionWrites;
  readonly suspensions: SuspensionReads & SuspensionWrites;
  readonly wallets: WalletReads & WalletWrites;
  readonly invoices: InvoiceReads & InvoiceWrites;
  readonly quotas: QuotaReads & QuotaWrites;
  readonly tickets: TicketReads & TicketWrites;
  readonly certificates: CertificateReads & CertificateWrites;
  readonly issuance: IssuanceReads & IssuanceWrites;
  readonly records: RecordReads & RecordWrites;
  readonly scans: ScanReads & ScanWrites;
  readonly rules: RuleReads & RuleWrites;
  readonly drafts: DraftReads & DraftWrites;
  readonly invariants: InvariantReads & InvariantWrites;
  readonly audit: AuditReads & AuditWrites;
  readonly outbox: OutboxReads & OutboxWrites;
  readonly plans: PlanReads & PlanWrites;
  readonly nodes: NodeReads & NodeWrites;
  readonly groups: GroupReads & GroupWrites;
  readonly traffic: TrafficReads & TrafficWrites;
  readonly uptime: UptimeReads & UptimeWrites;
  readonly caches: CacheReads & CacheWrites;
  readonly notifications: NotificationReads & NotificationWrites;
  readonly contacts: ContactReads & ContactWrites;
  readonly secrets: SecretReads & SecretWrites;
  readonly zones: ZoneReads & ZoneWrites;

  /**
   * Runs `work` so that its failure undoes `work` alone and leaves the transaction usable (a savepoint): what a
   * best-effort batch wraps around each item. The error is thrown on to the caller. Attempts nest, one at a time.
   */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}
