/** What can be asked and done about publications, the nodes that hold them, and the traffic they tell of. */
import type { PageBack } from './customer-repositories.ts';
import type {
  FiledRevision,
  GroupedDomains,
  HitRow,
  HitSum,
  ManifestRow,
  NodeRow,
  OutboxRow,
  PendingDomain,
  PlanHead,
  ReplacedTokenRow,
  ReportRow,
  RevisionRow,
  StoredPlan,
  UsageRow,
  UsageSum,
} from './rows.ts';

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
   * publishers of one domain apart is `plans.publish`. Locks no domain. A claim that ends later than two leases
   * (`until - now`) and 10 seconds from `now` is void: its clock was ahead.
   */
  claim(claim: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly PendingDomain[]>;
  /** Moves the end of the claims on these domains, where they are claimed. */
  renew(domainIds: readonly number[], until: number): Promise<void>;
  /** Gives every claimed domain back: for a process that has the store to itself, whose earlier claims died with it. */
  releaseAll(): Promise<void>;
  /** Gives a claimed domain back, for example after a publication (rows may have come since) or a failure. */
  release(domainId: number): Promise<void>;
}

/** One publication to make. */
export type Publication = RevisionRow;

export interface PlanReads {
  /** The sealed bytes, in a buffer of their own. */
  blob(digest: string): Promise<Uint8Array | null>;
  /** Revisions of one domain object, newest first. */
  list(domainId: number, page: PageBack): Promise<readonly FiledRevision[]>;
  get(domainId: number, revision: number): Promise<FiledRevision | null>;
  /** The lowest revision that covers an outbox row; `null` while it waits. */
  covering(domainId: number, outboxId: number): Promise<RevisionRow | null>;
  /** Revisions of a name whose plans are there, newest first, at most `limit`. */
  stored(domain: string, limit: number): Promise<readonly StoredPlan[]>;
  /** Names above `after` with plans that are there, by name, and how many; at most `limit`. */
  storedNames(
    after: string,
    limit: number,
  ): Promise<readonly { readonly domain: string; readonly plans: number }[]>;
  /** The current plans of names above `after`, by name, tombstones left out; at most `limit`. */
  heads(after: string, limit: number): Promise<readonly PlanHead[]>;
  /** What nodes should hold for a name. */
  current(domain: string): Promise<ManifestRow | null>;
  /** Names changed after `position`, by position, at most `limit`; from 0 the whole manifest. */
  changedSince(position: number, limit: number): Promise<readonly ManifestRow[]>;
  /** The highest position given; 0 at first. */
  position(): Promise<number>;
  /** The groups that the names are in whose domain has had the plan, by the manifest. */
  groupsWith(digest: string): Promise<readonly string[]>;
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
   * Raises the purge epoch of every name, to `floor` at least: above every one that was given before the store was
   * restored, where `floor` is the time in seconds.
   */
  purgeAll(floor: number): Promise<void>;
  /**
   * Gives every name a new position, so that nodes read its entry again. Publications of all domains wait for it from
   * here to the commit.
   */
  renewAll(): Promise<void>;
  /** Writes the manifest's position as it is: the smallest write that needs the disk. */
  rewritePosition(): Promise<void>;
  /**
   * Marks revisions of a name as pruned and removes the blobs that no other revision and no name's current one needs.
   * The history keeps its rows. Answers how many blobs went.
   */
  prune(domain: string, revisions: readonly number[]): Promise<number>;
}

export interface NodeReads {
  /** By its newest token, whatever its state; check `revoked_at`. */
  byTokenHash(hash: string): Promise<NodeRow | null>;
  /** Tokens that newer ones have replaced: that of the hash, or all of one node, or all; those that ended too. */
  replacedTokens(which: ReplacedTokens): Promise<readonly ReplacedTokenRow[]>;
  get(id: number): Promise<NodeRow | null>;
  /** By id. */
  list(): Promise<readonly NodeRow[]>;
  /** Answers of all nodes to one revision of a name, by time. */
  reportsOn(domain: string, revision: number): Promise<readonly ReportRow[]>;
  /** The newest revision of a name that each node has acknowledged, each once; revoked nodes are left out. */
  acknowledged(domain: string): Promise<readonly number[]>;
  /** The newest revision each node has answered for a name, by node. */
  latestReports(domain: string): Promise<readonly ReportRow[]>;
  /** Of one node: the newest answer on every name, by name. */
  reportsOf(nodeId: number): Promise<readonly ReportRow[]>;
  /** Up to when a node has spent its time, see `NodeWrites.spend`; `null`: it never did. */
  spentUntil(nodeId: number): Promise<number | null>;
}

/** Times in milliseconds since the epoch. */
export interface Spending {
  readonly ms: number;
  readonly since: number;
  readonly earliest: number;
  readonly floor: number;
  readonly now: number;
  readonly until: number;
}

export type ReplacedTokens = { readonly token_hash: string } | { readonly node_id: number } | 'all';

export interface NodeWrites {
  /** Into the group `default`. `conflict` on `nodes.name` or `nodes.token_hash`. */
  insert(node: Pick<NodeRow, 'name' | 'token_hash' | 'created_at'>): Promise<NodeRow>;
  /** Puts a node into these groups and no other. */
  setGroups(id: number, groups: string): Promise<void>;
  /** Notes that it was there; never backwards. */
  touch(id: number, at: number): Promise<void>;
  revoke(id: number, at: number): Promise<boolean>;
  /**
   * Gives a node another token. The one before is valid until then as well; those that have ended before `now` are
   * forgotten. `conflict` on `nodes.token_hash`.
   */
  replaceToken(
    node: Pick<NodeRow, 'id' | 'token_hash'>,
    times: { readonly until: number; readonly now: number },
  ): Promise<void>;
  /** Forgets the replaced tokens of a node. */
  dropTokens(id: number): Promise<void>;
  /** Files answers; locks no domain. `missing` when there is no such node. */
  report(reports: readonly ReportRow[]): Promise<void>;
  /**
   * Takes a node's batch of traffic by its number, which rises with every batch: true when it is a new one, false when
   * it, or a later one, was taken before. In the same transaction as `usage.add`, a retry counts once.
   */
  takeBatch(nodeId: number, batch: number): Promise<boolean>;
  /**
   * Takes `ms` from the time that a node has: from where it has spent it (at first `since`), or `earliest` where that is
   * later, until `until`. What is left from before `floor` lapses. False, and nothing is taken, when there is less than `ms`.
   */
  spend(nodeId: number, spending: Spending): Promise<boolean>;
  /** Forgets answers older than `before` to revisions that are no longer current. */
  pruneReports(before: number): Promise<void>;
}

export interface GroupReads {
  /** The groups of a domain; `null`: there is no such domain. */
  ofDomain(domainId: number): Promise<string | null>;
  /** How many domains are in each set of groups. */
  countDomains(): Promise<readonly GroupedDomains[]>;
}

export interface GroupWrites {
  /** Nodes see it once the domain is published again. */
  setDomain(domainId: number, groups: string): Promise<void>;
}

export interface UsageReads {
  /** Sum of minutes `from` ≤ minute < `to`. */
  sum(domainId: number, from: number, to: number): Promise<UsageSum>;
  /** Minutes `from` ≤ minute < `to` that have traffic, by minute. */
  list(domainId: number, from: number, to: number): Promise<readonly UsageRow[]>;
}

export interface HitReads {
  /** Sums by rule over minutes `from` ≤ minute < `to`, the most hits first; at most `limit` rules. */
  sums(
    domainId: number,
    span: { readonly from: number; readonly to: number; readonly limit: number },
  ): Promise<readonly HitSum[]>;
}

export interface HitWrites {
  /** Adds to the minutes. Locks no domain; domains that are gone are left out. */
  add(hits: readonly HitRow[]): Promise<void>;
  /** A rule that matched in a minute more often than its domain had requests; `null`: none. */
  excess(domainId: number, minute: number): Promise<HitRow | null>;
  prune(beforeMinute: number): Promise<void>;
}

export interface UsageWrites {
  /** Adds to the minutes. Locks no domain; domains that are gone are left out. */
  add(usage: readonly UsageRow[]): Promise<void>;
  prune(beforeMinute: number): Promise<void>;
}
