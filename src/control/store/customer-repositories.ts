/**
 * The repositories of what customers have: accounts, keys, domains with their records and rules, the audit log. `…Reads` are
 * for every transaction, `…Writes` for writing ones. Times are milliseconds since the epoch; `null` means there is no such row;
 * a method throws `StoreFault` alone, with the codes that its comment names or those of a failing database.
 */

import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import type {
  AccountRow,
  AuditRow,
  KeyRow,
  KeyUseRow,
  KeyWithOwner,
  KeyWithUse,
  SecretName,
} from './tables/accounts.ts';
import type {
  DomainChanges,
  DomainRow,
  InvitationRow,
  MemberRow,
  NewDomain,
  ScanRow,
  SeenDomain,
  SubscriptionRow,
} from './tables/domains.ts';
import type { PatternRow, RecordRow, RuleContentRow, RuleCosts, RuleRow } from './tables/rules.ts';

/** A page of a list from the newest down: those with an id (or revision) below `before`, at most `limit`. */
export interface PageBack {
  readonly before?: number;
  readonly limit: number;
}

/** Accounts by id or name. In a write the account that is found is locked until the commit. */
export interface AccountReads {
  get(id: number): Promise<AccountRow | null>;
  byName(name: string): Promise<AccountRow | null>;
  /** By id. */
  list(): Promise<readonly AccountRow[]>;
  /** The ids of the accounts with these names, by name; names without an account are left out. Locks none. */
  idsOf(names: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** Changes of accounts; an account is never removed. */
export interface AccountWrites {
  /** `conflict` on `accounts.name`. */
  insert(account: Omit<AccountRow, 'id'>): Promise<AccountRow>;
  /** True when the account exists. */
  setActive(id: number, change: { readonly active: boolean; readonly at: number }): Promise<boolean>;
}

/** API keys, by their hash or account. */
export interface KeyReads {
  /** The key with this SHA-256 in any state, and whether its account is active. In a write the key is locked. */
  byHash(hash: string): Promise<KeyWithOwner | null>;
  /** The key in any state, with the time of its last use. */
  get(id: number): Promise<KeyWithUse | null>;
  /** All keys of an account, revoked ones too, by id. */
  list(accountId: number): Promise<readonly KeyWithUse[]>;
  /** Keys of an account that are neither revoked nor expired at `now`. In a write the account is locked. */
  countActive(accountId: number, now: number): Promise<number>;
  /** Days from `sinceDay` on that have requests, by day. */
  uses(keyId: number, sinceDay: number): Promise<readonly KeyUseRow[]>;
}

/** Changes of API keys and of the counts of their use. */
export interface KeyWrites {
  /** `conflict` on `api_keys.hash`, `missing` when there is no such account. */
  insert(key: Omit<KeyRow, 'id' | 'revoked_at'>): Promise<KeyRow>;
  /** True when it was not revoked before. Waits for writes that have the key locked. */
  revoke(id: number, at: number): Promise<boolean>;
  /** Adds to the day's requests and raises the time of last use. Keys that are gone are left out. */
  recordUse(uses: readonly KeyUseRow[]): Promise<void>;
  /** Removes the counts of days before `day`. */
  pruneUses(day: number): Promise<void>;
}

/** Domains by id, name, account, or the time of their next step. */
export interface DomainReads {
  get(id: number): Promise<DomainRow | null>;
  /** Of the domains of that name: the proved one, else one that has been active, else the oldest. */
  byName(name: string): Promise<DomainRow | null>;
  /** The domains of that name by id: a proved one, or any number of unproved ones. */
  named(name: string): Promise<readonly DomainRow[]>;
  /** Number of the account's domains without a proof. */
  countUnproved(accountId: number): Promise<number>;
  /** Domains unproved since `before` or longer, the longest first, at most `limit`. Locks none. */
  unproved(before: number, limit: number): Promise<readonly DomainRow[]>;
  /**
   * The domain of that name that the account sees, and its role there, in one query: its own before one shared with it.
   * If it sees none, another of that name, with the role `null`.
   */
  seenBy(accountId: number, name: string): Promise<SeenDomain | null>;
  /** Domains the account owns or is a member of, by name. */
  listSeenBy(accountId: number): Promise<readonly SeenDomain[]>;
  /** Domains of an account above `afterId` by id, at most `limit`. */
  ownedBy(
    accountId: number,
    page: { readonly afterId: number; readonly limit: number },
  ): Promise<readonly DomainRow[]>;
  /** Domains above `afterId` by id, at most `limit`: to read all of them page by page. */
  page(afterId: number, limit: number): Promise<readonly DomainRow[]>;
  /** Domains whose `next_check_at` has come, the longest due first. Locks none. */
  due(now: number, limit: number): Promise<readonly DomainRow[]>;
}

/** Changes of domains. Each locks the domain and the others of its name until the commit. */
export interface DomainWrites {
  /** Other transactions that lock this name or this account here wait until the commit. For use before a claim is judged. */
  lockClaims(name: string, accountId: number): Promise<void>;
  /** `conflict` on `domains.name`. */
  insert(domain: NewDomain): Promise<DomainRow>;
  /** Changes the given fields and returns the whole row; `null` when it is gone. The caller sets `updated_at`. */
  update(id: number, changes: DomainChanges): Promise<DomainRow | null>;
  /**
   * Removes the domain with its members, subscription, certificates, records, rules and traffic. Its audit entries,
   * outbox rows and revisions stay. True when it was there.
   */
  remove(id: number): Promise<boolean>;
}

/** Members of a domain; its owner is not one of them. */
export interface MemberReads {
  get(domainId: number, accountId: number): Promise<MemberRow | null>;
  /** By account. */
  list(domainId: number): Promise<readonly MemberRow[]>;
  /** The member whose account has this name. */
  byName(domainId: number, name: string): Promise<MemberRow | null>;
  count(domainId: number): Promise<number>;
}

/** Changes of the members of a domain. */
export interface MemberWrites {
  /** Grants the role, in place of an earlier one (whose `created_at` stays). `missing` when there is no such account. */
  put(member: MemberRow): Promise<void>;
  remove(domainId: number, accountId: number): Promise<boolean>;
}

/** Invitations, by the domain that offers them or the name that is invited. */
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
  /** The number of those, and of those among them to domains of the account `ownerId`. */
  countOf(
    name: string,
    question: { readonly ownerId: number; readonly now: number },
  ): Promise<{ readonly all: number; readonly ofOwner: number }>;
}

/** Changes of invitations. */
export interface InvitationWrites {
  /** `conflict` on `invitations.domain_id` when the name is invited to the domain already. */
  insert(invitation: Omit<InvitationRow, 'id'>): Promise<InvitationRow>;
  /** Replaces the role and the times of an existing invitation. */
  renew(
    invitation: Pick<InvitationRow, 'id' | 'domain_id' | 'role' | 'updated_at' | 'expires_at'>,
  ): Promise<void>;
  /** True when it was there. */
  remove(domainId: number, id: number): Promise<boolean>;
  /** Removes invitations that have lapsed at `now`, those of longest ago first, at most `limit`. Locks no domain. */
  prune(now: number, limit: number): Promise<void>;
}

/** What a domain has bought. */
export interface SubscriptionReads {
  /** The domain's own subscription, also one that has ended; `access` decides whether it is in force. */
  get(domainId: number): Promise<SubscriptionRow | null>;
}

/** Changes of a domain's subscription. */
export interface SubscriptionWrites {
  /** Replaces the domain's subscription; a replaced one keeps its id. */
  put(subscription: Omit<SubscriptionRow, 'id'>): Promise<SubscriptionRow>;
  remove(domainId: number): Promise<boolean>;
}

/** A record to insert. */
export type NewRecord = Omit<RecordRow, 'id'>;

/** DNS records of a domain. */
export interface RecordReads {
  get(domainId: number, id: number): Promise<RecordRow | null>;
  /** By id. */
  list(domainId: number): Promise<readonly RecordRow[]>;
  /**
   * Records whose name is one of `names` (lower case) but for the case of its letters, and every record whose name is
   * not plain ASCII, by id: among them are all other spellings of the same name.
   */
  spelled(domainId: number, names: readonly string[]): Promise<readonly RecordRow[]>;
  count(domainId: number): Promise<number>;
}

/** Changes of a domain's DNS records. */
export interface RecordWrites {
  /** Inserts all of one domain's records and returns them in the same order, with ascending ids. */
  insert(records: readonly NewRecord[]): Promise<readonly RecordRow[]>;
  /**
   * Replaces every field but `id`, `domain_id`, `created_at` of the domain's records, one statement for all of them; no
   * id may be listed twice. Returns the ids that existed.
   */
  update(domainId: number, records: readonly RecordRow[]): Promise<readonly number[]>;
  /** Returns the ids that existed. The caller changes the rules that name a record (`rules.naming`). */
  remove(domainId: number, ids: readonly number[]): Promise<readonly number[]>;
}

/** Scans of new domains that are still to be done. */
export interface ScanReads {
  /** Scans that are due, the longest waiting first. Locks none. */
  due(now: number, limit: number): Promise<readonly ScanRow[]>;
}

/** Changes of scans, and the claims on them. */
export interface ScanWrites {
  /** Requests a scan of the domain. */
  put(scan: ScanRow): Promise<void>;
  /** Claims a scan that is due, so that no other process claims it before `until`; `null`: another process has. */
  claim(domainId: number, claim: { readonly now: number; readonly until: number }): Promise<ScanRow | null>;
  /** Ends a claim; the scan is due at `now`. */
  release(domainId: number, now: number): Promise<void>;
  /** True when the scan was still to be done. */
  remove(domainId: number): Promise<boolean>;
}

/** A rule to write. */
export interface RuleWrite {
  readonly priority: number;
  readonly body: string;
  /** The `record_ids` inside `body`, so that `naming` finds the rule. */
  readonly record_ids: readonly number[];
  /** Of an error_page: all its HTML as JSON, `null` for none; omitted leaves it unchanged. */
  readonly content?: string | null;
  /**
   * What the rule adds to its domain's budgets, besides its octets. Omitted: nothing in an insert, unchanged in an update.
   */
  readonly costs?: { readonly addresses: number; readonly patterns: readonly PatternRow[] };
}

/** The cost of a domain's patterns together; a pattern that several rules have counts once. */
export interface PatternCosts extends Pick<PatternRow, 'octets' | 'build' | 'eighths'> {
  /** False if rules were written before patterns were counted; `countPatterns` counts them. */
  readonly counted: boolean;
}

/** A rule to insert. */
export type NewRule = RuleWrite & Pick<RuleRow, 'domain_id' | 'type' | 'created_at' | 'updated_at'>;

/** What identifies a rule in a request: an id alone may be of another domain or type. */
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

/** Rules of a domain, and the totals that its budgets are checked with. */
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
  /** The totals of each type that has rules, by type. Updated with every write, so no rule is read. */
  totals(domainId: number): Promise<readonly RuleCosts[]>;
  /** What the patterns of all rules but `without` (0: of all rules) cost together. */
  patternCosts(domainId: number, question: { readonly without: number }): Promise<PatternCosts>;
  /** Those of `digests` that are patterns of rules other than `without`. */
  filedPatterns(
    domainId: number,
    question: { readonly digests: readonly string[]; readonly without: number },
  ): Promise<ReadonlySet<string>>;
  /**
   * Patterns of rules other than `without` of whose prefix and one of `prefixes` one begins with the other, each once.
   * The result may include others that share 64 code units with one of `prefixes`.
   */
  patternsNear(
    domainId: number,
    question: { readonly prefixes: readonly string[]; readonly without: number },
  ): Promise<readonly Pick<PatternRow, 'digest' | 'eighths' | 'prefix'>[]>;
  /** The HTML of one error_page rule; `null` when it has none. */
  content(ruleId: number): Promise<string | null>;
  /** The HTML of all error_page rules of a domain, by rule. */
  contents(domainId: number): Promise<readonly RuleContentRow[]>;
  /** Rules of any type whose `record_ids` include one of these, by id. */
  naming(domainId: number, recordIds: readonly number[]): Promise<readonly RuleRow[]>;
}

/** Changes of rules. Each updates the totals of the domain by what its own rules cost. */
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
  /** Stores the patterns of rules that an earlier version wrote without them, by rule, and counts the domain's. */
  countPatterns(domainId: number, rules: ReadonlyMap<number, readonly PatternRow[]>): Promise<void>;
  /** Writes priorities alone, of many rules at once. */
  prioritise(
    domainId: number,
    order: readonly Pick<RuleRow, 'id' | 'priority'>[],
    updatedAt: number,
  ): Promise<void>;
  remove(key: RuleKey): Promise<boolean>;
}

/** The audit log of a domain; it outlives the domain. */
export interface AuditReads {
  /** Newest first. */
  list(domainId: number, page: PageBack): Promise<readonly AuditRow[]>;
  /** Who changed what since a time, by the newest entries, at most `limit`: newest first, without what the objects were. */
  authors(
    domainId: number,
    page: { readonly since: number; readonly limit: number },
  ): Promise<readonly Pick<AuditRow, 'at' | 'action' | 'subject' | 'account_id'>[]>;
}

/** Appends to the audit log; no entry is ever changed. */
export interface AuditWrites {
  /** Appends entries in this order, one statement for all of them. */
  append(...entries: readonly Omit<AuditRow, 'id'>[]): Promise<void>;
}

/** Values of which a store has one each, by name (`SECRET_NAMES`). */
export interface SecretReads {
  get(name: SecretName): Promise<string | null>;
}

/** Changes of the values of which a store has one each. */
export interface SecretWrites {
  /** Stores `value` unless the name has one, and returns the stored one: of several processes the first one's. */
  putOnce(name: SecretName, value: string, at: number): Promise<string>;
  /** Replaces the value of a name. */
  put(name: SecretName, value: string, at: number): Promise<void>;
}
