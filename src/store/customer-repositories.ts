/** What can be asked and done about customers' nouns: accounts, keys, domains and what belongs to them, the audit log. */
import type { RuleType } from '../base/vocabulary.ts';
import type {
  AccountRow,
  AuditRow,
  CertificateRow,
  DomainRow,
  InvitationRow,
  KeyRow,
  KeyUseRow,
  KeyWithOwner,
  KeyWithUse,
  MemberRow,
  PatternRow,
  RecordRow,
  RuleContentRow,
  RuleRow,
  ScanRow,
  SecretName,
  SeenDomain,
  SubscriptionRow,
} from './rows.ts';

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
  /** Of the domains of that name: the proved one, else one that has been active, else the oldest. */
  byName(name: string): Promise<DomainRow | null>;
  /** The domains of that name by id: a proved one, or any number that are not. */
  named(name: string): Promise<readonly DomainRow[]>;
  /** Domains of the account that nobody has proved. */
  countUnproved(accountId: number): Promise<number>;
  /** Domains unproved since `before` or longer, the longest first, at most `limit`. Locks none. */
  unproved(before: number, limit: number): Promise<readonly DomainRow[]>;
  /**
   * The domain of that name that the account sees, and its role there, in one question: its own before one shared with
   * it. Where it sees none, another of that name, with the role `null`.
   */
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
  /** The member whose account has this name. */
  byName(domainId: number, name: string): Promise<MemberRow | null>;
  count(domainId: number): Promise<number>;
}

export interface MemberWrites {
  /** Grants the role, in place of an earlier one (whose `created_at` stays). `missing` when there is no such account. */
  put(member: MemberRow): Promise<void>;
  remove(domainId: number, accountId: number): Promise<boolean>;
}

export interface InvitationReads {
  /** The domain's invitation with this id, lapsed or not. */
  get(domainId: number, id: number): Promise<InvitationRow | null>;
  /** The invitation of that name with this id, lapsed or not; in a write its domain is locked. */
  received(name: string, id: number): Promise<InvitationRow | null>;
  /** The invitation of that name to the domain, lapsed or not. */
  byName(domainId: number, name: string): Promise<InvitationRow | null>;
  /** Invitations to the domain that have not lapsed at `now`, by id. */
  list(domainId: number, now: number): Promise<readonly InvitationRow[]>;
  /** Invitations of that name that have not lapsed at `now`, with the name of their domain, by id. */
  listOf(name: string, now: number): Promise<readonly (InvitationRow & { readonly domain: string })[]>;
  /** How many of those there are, and how many are to domains of the account `ownerId`. */
  countOf(
    name: string,
    question: { readonly ownerId: number; readonly now: number },
  ): Promise<{ readonly all: number; readonly ofOwner: number }>;
}

export interface InvitationWrites {
  /** `conflict` on `invitations.domain_id` when the name is invited to the domain already. */
  insert(invitation: Omit<InvitationRow, 'id'>): Promise<InvitationRow>;
  /** Replaces the role and the times of one that is there. */
  renew(
    invitation: Pick<InvitationRow, 'id' | 'domain_id' | 'role' | 'updated_at' | 'expires_at'>,
  ): Promise<void>;
  /** True when it was there. */
  remove(domainId: number, id: number): Promise<boolean>;
  /** Removes invitations that have lapsed at `now`, those of longest ago first, at most `limit`. Locks no domain. */
  prune(now: number, limit: number): Promise<void>;
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
  /**
   * Records whose name is one of `names` (lower case) but for the case of its letters, and every record whose name is
   * not plain ASCII, by id: among them are all that can stand for the same name.
   */
  spelled(domainId: number, names: readonly string[]): Promise<readonly RecordRow[]>;
  count(domainId: number): Promise<number>;
}

export interface RecordWrites {
  /** Inserts all of one domain's records and answers them in the same order, with ids that rise. */
  insert(records: readonly NewRecord[]): Promise<readonly RecordRow[]>;
  /**
   * Replaces every field but `id`, `domain_id`, `created_at` of the domain's records, one statement for all of them; no
   * id may come twice. The ids that were there.
   */
  update(domainId: number, records: readonly RecordRow[]): Promise<readonly number[]>;
  /** The ids that were there. Rules that name a record are the caller's to change (`rules.naming`). */
  remove(domainId: number, ids: readonly number[]): Promise<readonly number[]>;
}

export interface ScanReads {
  /** Scans that may be begun, the longest waiting first. Locks none. */
  due(now: number, limit: number): Promise<readonly ScanRow[]>;
}

export interface ScanWrites {
  /** Asks for a scan of the domain. */
  put(scan: ScanRow): Promise<void>;
  /** Takes a scan that may be begun, so that others leave it alone until `until`; `null`: somebody else has. */
  claim(domainId: number, claim: { readonly now: number; readonly until: number }): Promise<ScanRow | null>;
  /** Gives a claimed one back. */
  release(domainId: number, now: number): Promise<void>;
  /** True when it was still to be done. */
  remove(domainId: number): Promise<boolean>;
}

/** A rule to write. */
export interface RuleWrite {
  readonly priority: number;
  readonly body: string;
  /** The `record_ids` inside `body`, so that `naming` finds the rule. */
  readonly record_ids: readonly number[];
  /** Of an error_page: all its HTML as JSON, `null` for none; omitted leaves what is there. */
  readonly content?: string | null;
  /**
   * What the rule adds to its domain's budgets, its octets apart. Omitted: nothing in an insert; in an update what is
   * there stays.
   */
  readonly costs?: { readonly addresses: number; readonly patterns: readonly PatternRow[] };
}

/** What the rules of one type in one domain come to. */
export interface RuleCosts {
  readonly type: RuleType;
  readonly rules: number;
  /** Octets of the rules as they are stored, the HTML of their pages included. */
  readonly octets: number;
  readonly addresses: number;
}

/** What patterns of a domain cost together, each counted once however many rules have it. */
export interface PatternCosts extends Pick<PatternRow, 'octets' | 'build' | 'eighths'> {
  /** False where rules were written before patterns were counted; `countPatterns` counts them. */
  readonly counted: boolean;
}

export type NewRule = RuleWrite & Pick<RuleRow, 'domain_id' | 'type' | 'created_at' | 'updated_at'>;

export interface RuleKey {
  readonly domain_id: number;
  readonly type: RuleType;
  readonly id: number;
}

/** A part of the rules of a domain, by type (as text), priority, id. */
export interface RulePage {
  /** `null`: of all types. */
  readonly type: RuleType | null;
  /** The last rule of the page before; `null`: from the beginning. */
  readonly after: Pick<RuleRow, 'type' | 'priority' | 'id'> | null;
  readonly limit: number;
  /** `null`: both. */
  readonly enabled: boolean | null;
  /** Part of one of the rule's texts, ASCII letters without case; `null`: any. */
  readonly text: string | null;
}

export interface RuleReads {
  /** The rule of that domain and type, else `null`. */
  get(key: RuleKey): Promise<RuleRow | null>;
  /** Rules of one type by priority, then id. */
  list(domainId: number, type: RuleType): Promise<readonly RuleRow[]>;
  page(domainId: number, page: RulePage): Promise<readonly RuleRow[]>;
  /** Rules of all types by type (as text), priority, id: what a compile reads. */
  listAll(domainId: number): Promise<readonly RuleRow[]>;
  /** Ids and priorities of the rules of one type by priority, then id. */
  order(domainId: number, type: RuleType): Promise<readonly Pick<RuleRow, 'id' | 'priority'>[]>;
  count(domainId: number, type: RuleType): Promise<number>;
  /** What the rules of each type that has any come to, by type. Stored with every write, so no rule is read. */
  totals(domainId: number): Promise<readonly RuleCosts[]>;
  /** What the patterns of all rules but `without` (0: of all rules) cost together. */
  patternCosts(domainId: number, question: { readonly without: number }): Promise<PatternCosts>;
  /** Those of `digests` that rules other than `without` have. */
  filedPatterns(
    domainId: number,
    question: { readonly digests: readonly string[]; readonly without: number },
  ): Promise<ReadonlySet<string>>;
  /**
   * Patterns of rules other than `without` of whose prefix and one of `prefixes` one begins with the other, each once.
   * It may answer others that share 64 code units with one of `prefixes`.
   */
  patternsNear(
    domainId: number,
    question: { readonly prefixes: readonly string[]; readonly without: number },
  ): Promise<readonly Pick<PatternRow, 'digest' | 'eighths' | 'prefix'>[]>;
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
  /** Writes bodies with the `record_ids` inside them, of many rules of a domain at once. */
  rescope(
    domainId: number,
    changes: readonly (Pick<RuleRow, 'id' | 'body'> & Pick<RuleWrite, 'record_ids'>)[],
    updatedAt: number,
  ): Promise<void>;
  /** Files the patterns of rules written before patterns were filed, by rule, and counts those of the domain. */
  countPatterns(domainId: number, rules: ReadonlyMap<number, readonly PatternRow[]>): Promise<void>;
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
  /** Appends entries in this order, one statement for all of them. */
  append(...entries: readonly Omit<AuditRow, 'id'>[]): Promise<void>;
}

export interface SecretReads {
  get(name: SecretName): Promise<string | null>;
}

export interface SecretWrites {
  /** Keeps `value` unless the name has one already, and answers the one that is kept: made once, by whoever is first. */
  putOnce(name: SecretName, value: string, at: number): Promise<string>;
  /** Replaces what the name has. */
  put(name: SecretName, value: string, at: number): Promise<void>;
}
