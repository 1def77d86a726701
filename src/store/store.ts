/**
 * The store room keeps everything that must survive: accounts, keys, domains, records, rules, what was published and
 * what nodes said to it. One interface, two databases: embedded SQLite (`sqlite/`) and PostgreSQL (`postgres/`);
 * `open.ts` chooses. In go transactions of plain functions grouped by noun, out come rows as read-only data in the
 * API's own field names (`rows.ts`). A customer's mistake is none of its business: it throws `StoreFault` alone.
 *
 * Three promises, held on both databases by one contract suite: what `write` has answered survives kill -9 and power
 * loss; a transaction happens whole or not at all; two writes that name one domain run one after the other.
 */
import type { RuleType } from '../base/vocabulary.ts';
import type {
  AccountRow,
  AuditRow,
  Author,
  CertificateRow,
  DomainRow,
  KeyRow,
  KeyUseRow,
  KeyWithOwner,
  KeyWithUse,
  ManifestRow,
  MemberRow,
  NodeRow,
  OutboxRow,
  PendingDomain,
  RecordRow,
  ReportRow,
  RevisionRow,
  RuleContentRow,
  RuleRow,
  SecretName,
  SeenDomain,
  SubscriptionRow,
  UsageRow,
  UsageSum,
} from './rows.ts';

export interface Store {
  readonly about: StoreAbout;

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
   * Tells of commits, also those of other processes on the same database, soon after they happened. A hint: it may
   * come late, twice, or never, so whoever listens polls as well. Returns the function that stops it.
   */
  listen(listener: (change: Change) => void): () => void;

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
export type Change = 'outbox' | 'manifest' | 'keys' | 'unknown';

/** What can be asked. Lists come in the order each function names; `null` means there is no such row. */
export interface ReadTransaction {
  readonly accounts: AccountReads;
  readonly keys: KeyReads;
  readonly domains: DomainReads;
  readonly members: MemberReads;
  readonly subscriptions: SubscriptionReads;
  readonly certificates: CertificateReads;
  readonly records: RecordReads;
  readonly rules: RuleReads;
  readonly audit: AuditReads;
  readonly outbox: OutboxReads;
  readonly plans: PlanReads;
  readonly nodes: NodeReads;
  readonly usage: UsageReads;
  readonly secrets: SecretReads;
}

/**
 * What can be asked and done in one transaction. Whatever names one domain locks it until the commit, reads included:
 * what was read about it still holds when the transaction commits. (Not so: lists over several domains, the manifest,
 * traffic, nodes' reports, claims.) In the same way `keys.byHash` and `accounts.get` hold the key and the account as
 * they are, so a key found unrevoked stays so until the commit, and a revocation is answered only after it. PostgreSQL
 * locks rows; SQLite has one writer at a time.
 */
export interface WriteTransaction {
  readonly accounts: AccountReads & AccountWrites;
  readonly keys: KeyReads & KeyWrites;
  readonly domains: DomainReads & DomainWrites;
  readonly members: MemberReads & MemberWrites;
  readonly subscriptions: SubscriptionReads & SubscriptionWrites;
  readonly certificates: CertificateReads & CertificateWrites;
  readonly records: RecordReads & RecordWrites;
  readonly rules: RuleReads & RuleWrites;
  readonly audit: AuditReads & AuditWrites;
  readonly outbox: OutboxReads & OutboxWrites;
  readonly plans: PlanReads & PlanWrites;
  readonly nodes: NodeReads & NodeWrites;
  readonly usage: UsageReads & UsageWrites;
  readonly secrets: SecretReads & SecretWrites;

  /**
   * Runs `work` so that its failure undoes `work` alone and leaves the transaction usable (a savepoint): what a
   * best-effort batch wraps around each item. The error is thrown on to the caller. Attempts nest, one at a time.
   */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}

/** A page of a list from the newest down: those with an id (or revision) below `before`, at most `limit`. */
export interface PageBack {
  readonly before?: number;
  readonly limit: number;
}

export interface AccountReads {
  get(id: number): Promise<AccountRow | null>;
  byName(name: string): Promise<AccountRow | null>;
  /** By id. */
  list(): Promise<readonly AccountRow[]>;
}

export interface AccountWrites {
  /** `conflict` on `accounts.name`. */
  insert(account: Omit<AccountRow, 'id'>): Promise<AccountRow>;
  /** True when the account exists. */
  setActive(id: number, change: { readonly active: boolean; readonly at: number }): Promise<boolean>;
}

export interface KeyReads {
  /** The key with this SHA-256, whatever its state, and whether its account is active. */
  byHash(hash: string): Promise<KeyWithOwner | null>;
  get(id: number): Promise<KeyWithUse | null>;
  /** All keys of an account, revoked ones too, by id. */
  list(accountId: number): Promise<readonly KeyWithUse[]>;
  /** Keys of an account that are neither revoked nor expired at `now`. In a write the account is locked. */
  countActive(accountId: number, now: number): Promise<number>;
  /** Days from `sinceDay` on that have requests, by day. */
  uses(keyId: number, sinceDay: number): Promise<readonly KeyUseRow[]>;
}

export interface KeyWrites {
  /** `conflict` on `api_keys.hash`, `missing` when there is no such account. */
  insert(key: Omit<KeyRow, 'id' | 'revoked_at'>): Promise<KeyRow>;
  /** True when it was not revoked before. Waits for writes that hold the key. */
  revoke(id: number, at: number): Promise<boolean>;
  /** Adds to the day's requests and raises the time of last use. Keys that are gone are left out. */
  recordUse(uses: readonly KeyUseRow[]): Promise<void>;
  /** Forgets days before `day`. */
  pruneUses(day: number): Promise<void>;
}

export type NewDomain = Omit<DomainRow, 'id'>;
export type DomainChanges = Partial<Omit<DomainRow, 'id' | 'name' | 'created_at'>>;

export interface DomainReads {
  get(id: number): Promise<DomainRow | null>;
  byName(name: string): Promise<DomainRow | null>;
  /** The domain of that name and the account's role there, in one question. */
  seenBy(accountId: number, name: string): Promise<SeenDomain | null>;
  /** Domains the account owns or is a member of, by name. */
  listSeenBy(accountId: number): Promise<readonly SeenDomain[]>;
  /** Domains above `afterId` by id, at most `limit`: for walking over all of them. */
  page(afterId: number, limit: number): Promise<readonly DomainRow[]>;
  /** Domains whose `next_check_at` has come, the longest due first. Locks none. */
  due(now: number, limit: number): Promise<readonly DomainRow[]>;
}

export interface DomainWrites {
  /** `conflict` on `domains.name`. */
  insert(domain: NewDomain): Promise<DomainRow>;
  /** Changes the given fields and answers the whole row; `null` when it is gone. Set `updated_at` yourself. */
  update(id: number, changes: DomainChanges): Promise<DomainRow | null>;
  /**
   * Removes the domain with its members, subscription, certificates, records, rules and traffic. Its audit entries,
   * outbox rows and revisions stay. True when it was there.
   */
  remove(id: number): Promise<boolean>;
}

export interface MemberReads {
  get(domainId: number, accountId: number): Promise<MemberRow | null>;
  /** By account. */
  list(domainId: number): Promise<readonly MemberRow[]>;
}

export interface MemberWrites {
  /** Grants the role, in place of an earlier one (whose `created_at` stays). `missing` when there is no such account. */
  put(member: MemberRow): Promise<void>;
  remove(domainId: number, accountId: number): Promise<boolean>;
}

export interface SubscriptionReads {
  /** The domain's own; whether it is in force is for `access` to judge. */
  get(domainId: number): Promise<SubscriptionRow | null>;
}

export interface SubscriptionWrites {
  /** Replaces the domain's subscription; a replaced one keeps its id. */
  put(subscription: Omit<SubscriptionRow, 'id'>): Promise<SubscriptionRow>;
  remove(domainId: number): Promise<boolean>;
}

export interface CertificateReads {
  /** By id. */
  list(domainId: number): Promise<readonly CertificateRow[]>;
}

export interface CertificateWrites {
  insert(certificate: Omit<CertificateRow, 'id'>): Promise<CertificateRow>;
  remove(domainId: number, id: number): Promise<boolean>;
}

export type NewRecord = Omit<RecordRow, 'id'>;

export interface RecordReads {
  get(domainId: number, id: number): Promise<RecordRow | null>;
  /** By id. */
  list(domainId: number): Promise<readonly RecordRow[]>;
  count(domainId: number): Promise<number>;
}

export interface RecordWrites {
  /** Inserts all of one domain's records and answers them in the same order, with ids that rise. */
  insert(records: readonly NewRecord[]): Promise<readonly RecordRow[]>;
  /** Replaces every field but `id`, `domain_id`, `created_at`. True when it was there. */
  update(record: RecordRow): Promise<boolean>;
  /** The ids that were there. Rules that name a record are the caller's to change (`rules.naming`). */
  remove(domainId: number, ids: readonly number[]): Promise<readonly number[]>;
}

/** A rule to write. */
export interface RuleWrite {
  readonly priority: number;
  readonly body: string;
  /** The `record_ids` inside `body`, so that `naming` finds the rule. */
  readonly record_ids: readonly number[];
  /** Of an error_page: all its HTML as JSON, `null` for none; omitted leaves what is there. */
  readonly content?: string | null;
}

export type NewRule = RuleWrite & Pick<RuleRow, 'domain_id' | 'type' | 'created_at' | 'updated_at'>;

export interface RuleKey {
  readonly domain_id: number;
  readonly type: RuleType;
  readonly id: number;
}

export interface RuleReads {
  /** The rule of that domain and type, else `null`. */
  get(key: RuleKey): Promise<RuleRow | null>;
  /** Rules of one type by priority, then id. */
  list(domainId: number, type: RuleType): Promise<readonly RuleRow[]>;
  /** Rules of all types by type (as text), priority, id: what a compile reads. */
  listAll(domainId: number): Promise<readonly RuleRow[]>;
  count(domainId: number, type: RuleType): Promise<number>;
  /** How many rules of each type that has any. */
  countByType(domainId: number): Promise<ReadonlyMap<RuleType, number>>;
  /** The HTML of one error_page rule; `null` when it has none. */
  content(ruleId: number): Promise<string | null>;
  /** The HTML of all error_page rules of a domain, by rule. */
  contents(domainId: number): Promise<readonly RuleContentRow[]>;
  /** Rules of any type whose `record_ids` hold one of these, by id. */
  naming(domainId: number, recordIds: readonly number[]): Promise<readonly RuleRow[]>;
}

export interface RuleWrites {
  insert(rule: NewRule): Promise<RuleRow>;
  /** Replaces priority, body, record ids, and the content if given. `null` when it is gone. */
  update(key: RuleKey, change: RuleWrite & { readonly updated_at: number }): Promise<RuleRow | null>;
  /** Writes priorities alone, of many rules at once. */
  prioritise(
    domainId: number,
    order: readonly Pick<RuleRow, 'id' | 'priority'>[],
    updatedAt: number,
  ): Promise<void>;
  remove(key: RuleKey): Promise<boolean>;
}

export interface AuditReads {
  /** Newest first. */
  list(domainId: number, page: PageBack): Promise<readonly AuditRow[]>;
}

export interface AuditWrites {
  append(entry: Omit<AuditRow, 'id'>): Promise<number>;
}

export interface OutboxReads {
  /** What waits for one domain, by id. */
  list(domainId: number): Promise<readonly OutboxRow[]>;
  /** Rows waiting over all domains, and when the oldest was written: for metrics. */
  backlog(): Promise<{ readonly rows: number; readonly since: number | null }>;
}

export interface OutboxWrites {
  /** Answers the row's id: what `plans.covering` asks for. */
  append(row: Omit<OutboxRow, 'id'>): Promise<number>;
  /**
   * Takes domains with waiting rows, the longest waiting first, so that other publishers leave them alone until
   * `until`. Rows added meanwhile belong to the same claim. A claim saves work, nothing more: what keeps two
   * publishers of one domain apart is `plans.publish`. Locks no domain.
   */
  claim(claim: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly PendingDomain[]>;
  /** Gives a claimed domain back, for example after a publication (rows may have come since) or a failure. */
  release(domainId: number): Promise<void>;
}

/** One publication to make. */
export type Publication = RevisionRow;

export interface PlanReads {
  /** The sealed bytes, in a buffer of their own. */
  blob(digest: string): Promise<Uint8Array | null>;
  /** Revisions of one domain object, newest first. */
  list(domainId: number, page: PageBack): Promise<readonly RevisionRow[]>;
  get(domainId: number, revision: number): Promise<RevisionRow | null>;
  /** The lowest revision that covers an outbox row; `null` while it waits. */
  covering(domainId: number, outboxId: number): Promise<RevisionRow | null>;
  /** What nodes should hold for a name. */
  current(domain: string): Promise<ManifestRow | null>;
  /** Names changed after `position`, by position, at most `limit`; from 0 the whole manifest. */
  changedSince(position: number, limit: number): Promise<readonly ManifestRow[]>;
  /** The highest position given; 0 at first. */
  position(): Promise<number>;
}

export interface PlanWrites {
  /** Stores sealed bytes; the same digest twice is stored once. */
  putBlob(digest: string, bytes: Uint8Array, at: number): Promise<void>;
  /**
   * Makes `revision` the current one of its name, files it in the history, and removes the outbox rows of
   * `domain_id` up to `through`. `revision` must be exactly one above the current one, else `conflict` on
   * `manifest.revision`: somebody else has published, so read and compile again. `missing` when the digest has no
   * blob. Do it last in a transaction: publications of all domains wait for one another from here to the commit.
   */
  publish(publication: Publication): Promise<ManifestRow>;
  /** Raises the purge epoch of a name, also of one never published. */
  purge(domain: string, purge: { readonly domain_id: number; readonly at: number }): Promise<ManifestRow>;
  /**
   * Removes the blobs that no revision younger than the newest `keep` of its name uses (the history keeps its
   * rows). Answers how many went.
   */
  pruneBlobs(keep: number): Promise<number>;
}

export interface NodeReads {
  /** Whatever its state; check `revoked_at`. */
  byTokenHash(hash: string): Promise<NodeRow | null>;
  get(id: number): Promise<NodeRow | null>;
  /** By id. */
  list(): Promise<readonly NodeRow[]>;
  /** Answers of all nodes to one revision of a name, by time. */
  reportsOn(domain: string, revision: number): Promise<readonly ReportRow[]>;
  /** The newest revision each node has answered for a name, by node. */
  latestReports(domain: string): Promise<readonly ReportRow[]>;
  /** Of one node: the newest answer on every name, by name. */
  reportsOf(nodeId: number): Promise<readonly ReportRow[]>;
}

export interface NodeWrites {
  /** `conflict` on `nodes.name` or `nodes.token_hash`. */
  insert(node: Pick<NodeRow, 'name' | 'token_hash' | 'created_at'>): Promise<NodeRow>;
  /** Notes that it was there; never backwards. */
  touch(id: number, at: number): Promise<void>;
  revoke(id: number, at: number): Promise<boolean>;
  /** Files answers; locks no domain. `missing` when there is no such node. */
  report(reports: readonly ReportRow[]): Promise<void>;
  /** Forgets answers older than `before` to revisions that are no longer current. */
  pruneReports(before: number): Promise<void>;
}

export interface UsageReads {
  /** Sum of minutes `from` ≤ minute < `to`. */
  sum(domainId: number, from: number, to: number): Promise<UsageSum>;
  /** Minutes `from` ≤ minute < `to` that have traffic, by minute. */
  list(domainId: number, from: number, to: number): Promise<readonly UsageRow[]>;
}

export interface UsageWrites {
  /** Adds to the minutes. Locks no domain; domains that are gone are left out. */
  add(usage: readonly UsageRow[]): Promise<void>;
  prune(beforeMinute: number): Promise<void>;
}

export interface SecretReads {
  get(name: SecretName): Promise<string | null>;
}

export interface SecretWrites {
  /** Keeps `value` unless the name has one already, and answers the one that is kept: made once, by whoever is first. */
  putOnce(name: SecretName, value: string, at: number): Promise<string>;
}

/** An author for what the service does by itself. */
export const SERVICE: Author = { account_id: null, key_id: null };
