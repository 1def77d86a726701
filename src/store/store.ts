/**
 * The store room keeps everything that must survive: accounts, keys, domains, records, rules, what was published and
 * what nodes said to it. One interface, two databases: embedded SQLite (`sqlite/`) and PostgreSQL (`postgres/`);
 * `open.ts` chooses. In go transactions of plain functions grouped by noun (`customer-nouns.ts`, `edge-nouns.ts`), out
 * come rows as read-only data in the API's own field names (`rows.ts`). A customer's mistake is none of its business: it
 * throws `StoreFault` alone.
 *
 * Three promises, held on both databases by one contract suite: what `write` has answered survives kill -9 and power
 * loss; a transaction happens whole or not at all; two writes that name one domain run one after the other.
 */
import type {
  AccountReads,
  AccountWrites,
  AuditReads,
  AuditWrites,
  CertificateReads,
  CertificateWrites,
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
import type {
  GroupReads,
  GroupWrites,
  HitReads,
  HitWrites,
  NodeReads,
  NodeWrites,
  OutboxReads,
  OutboxWrites,
  PlanReads,
  PlanWrites,
  UsageReads,
  UsageWrites,
} from './edge-repositories.ts';
import type { StorePlace } from './place.ts';
import type { Author } from './rows.ts';

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
   * A number that changes with every commit that can be read, whoever made it: what was read between two equal ones is
   * what would be read now. `null` where that cannot be told for less than reading again costs.
   */
  version(): number | null;

  /**
   * As `latest`, but who a key belongs to and what an account may do at a domain may be answered as of the last call of
   * `version`, by whomever: for what comes after one in the same request.
   */
  readonly looked: ReadTransaction;

  /** What processes on this database divide among themselves; `null` where one process has it alone. */
  readonly shares: Shares | null;

  /**
   * Tells of commits, also those of other processes on the same database, soon after they happened. A hint: it may
   * come late, twice, or never, so whoever listens polls as well. Returns the function that stops it.
   */
  listen(listener: (change: StoreChange) => void): () => void;

  /**
   * Writes a consistent copy of the database to `file`, which must not exist, while reads and writes go on. SQLite
   * only; for PostgreSQL it throws and names `pg_dump`. The copy is a data file: put it into an empty folder as
   * `edgeplan.db` to start from it.
   */
  backup(file: string): Promise<void>;

  /** Resolves when the database answers and can be written to; what `/readyz` asks. */
  ping(): Promise<void>;

  /** Waits for running transactions, then lets go of the database. Later calls throw `closed`. */
  close(): Promise<void>;
}

/**
 * How the requests a key may make in a minute are divided among processes. Nothing of it is an acknowledged write: a
 * database that crashes forgets it, and until each process has asked again it may be given out twice.
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

export interface BudgetRequest {
  readonly key_id: number;
  /** Requests of this process that count at the moment. */
  readonly used: number;
  /** What it may still let through of its share, used ones included, and keeps whatever is answered. */
  readonly held: number;
  /** What it would like to hold; of what is free beyond `used` it gets half. */
  readonly wanted: number;
}

export interface StoreAbout {
  readonly database: 'sqlite' | 'postgres';
  /** For people: the data folder, or the connection without its password. */
  readonly where: string;
  /** What the operator should know, such as a PostgreSQL server that does not fsync; usually empty. */
  readonly warnings: readonly string[];
}

export interface WriteOptions {
  /** Runs all of `work` and answers what it answered, but commits nothing (`?validate_only=true`). */
  readonly discard?: boolean;
}

/**
 * - `outbox` a publisher has work
 * - `manifest` nodes should hold something else
 * - `keys` a key, node token or account was made, changed or revoked
 * - `unknown` commits may have been missed: look at everything
 */
export type StoreChange = 'outbox' | 'manifest' | 'keys' | 'unknown';

/** What can be asked. Lists come in the order each function names; `null` means there is no such row. */
export interface ReadTransaction {
  readonly accounts: AccountReads;
  readonly keys: KeyReads;
  readonly domains: DomainReads;
  readonly members: MemberReads;
  readonly invitations: InvitationReads;
  readonly subscriptions: SubscriptionReads;
  readonly certificates: CertificateReads;
  readonly records: RecordReads;
  readonly scans: ScanReads;
  readonly rules: RuleReads;
  readonly audit: AuditReads;
  readonly outbox: OutboxReads;
  readonly plans: PlanReads;
  readonly nodes: NodeReads;
  readonly groups: GroupReads;
  readonly usage: UsageReads;
  readonly hits: HitReads;
  readonly secrets: SecretReads;
}

/**
 * What can be asked and done in one transaction. Whatever names one domain locks it and the others of its name until the
 * commit, reads included: what was read about it still holds when the transaction commits. (Not so: lists over several
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
  readonly certificates: CertificateReads & CertificateWrites;
  readonly records: RecordReads & RecordWrites;
  readonly scans: ScanReads & ScanWrites;
  readonly rules: RuleReads & RuleWrites;
  readonly audit: AuditReads & AuditWrites;
  readonly outbox: OutboxReads & OutboxWrites;
  readonly plans: PlanReads & PlanWrites;
  readonly nodes: NodeReads & NodeWrites;
  readonly groups: GroupReads & GroupWrites;
  readonly usage: UsageReads & UsageWrites;
  readonly hits: HitReads & HitWrites;
  readonly secrets: SecretReads & SecretWrites;

  /**
   * Runs `work` so that its failure undoes `work` alone and leaves the transaction usable (a savepoint): what a
   * best-effort batch wraps around each item. The error is thrown on to the caller. Attempts nest, one at a time.
   */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

/** An author for what the service does by itself. */
export const SERVICE: Author = { account_id: null, key_id: null };
