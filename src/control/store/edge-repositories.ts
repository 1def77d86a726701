/**
 * The repositories of the edge: what waits for publication, what was published, and the nodes that serve it. Conventions as in `customer-repositories.ts`.
 */

import { CHALLENGE_MS, MAX_CHALLENGES } from '../../base/vocabulary/limits.ts';
import type { PageBack } from './customer-repositories.ts';
import type { DomainRow } from './tables/domains.ts';
import type {
  CacheContentsRow,
  GroupedDomains,
  NodeRow,
  ReplacedTokenRow,
  ReportRow,
} from './tables/nodes.ts';
import type {
  CachePurgeRow,
  FiledRevision,
  ManifestRow,
  OutboxRow,
  PendingDomain,
  PlanHead,
  RevisionRow,
  StoredPlan,
} from './tables/plans.ts';

/** Changes that wait for a publication. */
export interface OutboxReads {
  /** The waiting rows of one domain, by id. */
  list(domainId: number): Promise<readonly OutboxRow[]>;
  /** Rows waiting over all domains, and when the oldest was written: for metrics. */
  backlog(): Promise<{ readonly rows: number; readonly since: number | null }>;
}

/** Appends to the outbox, and the claims that divide its domains among publishers. */
export interface OutboxWrites {
  /** Returns the row's id, as `plans.covering` takes it. */
  append(row: Omit<OutboxRow, 'id'>): Promise<number>;
  /**
   * Claims domains with waiting rows, the longest waiting first, so that no other publisher claims them before `until`.
   * Rows that are added meanwhile belong to the same claim. A claim only saves work: between two publishers of one
   * domain `plans.publish` decides. Locks no domain. A claim that ends later than two leases
   * (`until - now`) and 10 seconds from `now` is void: its clock was ahead.
   */
  claim(claim: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly PendingDomain[]>;
  /** Moves the end of the claims on these domains, if they are claimed. */
  renew(domainIds: readonly number[], until: number): Promise<void>;
  /** Ends every claim: for the only publisher of a store, whose earlier claims are of a process that ended. */
  releaseAll(): Promise<void>;
  /** Ends the claim on a domain, for example after a publication (rows may have been added since) or a failure. */
  release(domainId: number): Promise<void>;
}

/** One publication to make. */
export type Publication = RevisionRow;

/** What was published: plans by digest, revisions by number, the manifest by name. */
export interface PlanReads {
  /** The sealed bytes, in a buffer of their own. */
  blob(digest: string): Promise<Uint8Array | null>;
  /** Revisions of one domain object, newest first. */
  list(domainId: number, page: PageBack): Promise<readonly FiledRevision[]>;
  get(domainId: number, revision: number): Promise<FiledRevision | null>;
  /** The lowest revision that covers an outbox row; `null` while it waits. */
  covering(domainId: number, outboxId: number): Promise<RevisionRow | null>;
  /** Revisions of a name whose plans are stored, newest first, at most `limit`. */
  stored(domain: string, limit: number): Promise<readonly StoredPlan[]>;
  /** Names above `after` with stored plans, by name, and the number of plans; at most `limit`. */
  storedNames(
    after: string,
    limit: number,
  ): Promise<readonly { readonly domain: string; readonly plans: number }[]>;
  /** The current plans of names above `after`, by name, tombstones left out; at most `limit`. */
  heads(after: string, limit: number): Promise<readonly PlanHead[]>;
  /** What nodes should serve for a name. */
  current(domain: string): Promise<ManifestRow | null>;
  /** Names changed after `position`, by position, at most `limit`; from 0 the whole manifest. */
  changedSince(position: number, limit: number): Promise<readonly ManifestRow[]>;
  /** The highest position given; 0 at first. */
  position(): Promise<number>;
  /** The groups that the names are in whose domain has had the plan, by the manifest. */
  groupsWith(digest: string): Promise<readonly string[]>;
}

/** A domain by its id, and its name in the manifest. */
export type NamedDomain = Pick<DomainRow, 'id' | 'name'>;

/** Publications, purges, and the removal of old plans. */
export interface PlanWrites {
  /** Stores sealed bytes; the same digest twice is stored once. */
  putBlob(digest: string, bytes: Uint8Array, at: number): Promise<void>;
  /**
   * Makes `revision` the current one of its name, adds it to the history, and removes the outbox rows of
   * `domain_id` up to `through`. `revision` must be exactly one above the current one, else `conflict` on
   * `manifest.revision`: another publisher was first, so read and compile again. `missing` when the digest has no
   * blob. Do it last in a transaction: publications of all domains wait for one another from here to the commit.
   */
  publish(publication: Publication): Promise<ManifestRow>;
  /**
   * Gives a domain another set of certificates; `null`: none. If the name is published for this domain, its entry has the
   * digest at a new position; else the next publication has it.
   */
  setCertificates(
    domain: NamedDomain,
    set: { readonly digest: string | null; readonly at: number },
  ): Promise<void>;
  /**
   * Adds an HTTP-01 challenge (RFC 8555 §8.3), or replaces the one of its token: the name's entry has it at a new position.
   * Challenges older than `CHALLENGE_MS` are removed, and the oldest beyond `MAX_CHALLENGES`. Returns whether the name is
   * published for this domain; else nothing changes.
   */
  setChallenge(domain: NamedDomain, challenge: StoredChallenge): Promise<boolean>;
  /** Removes the challenge of a token: the name's entry lacks it at a new position. */
  removeChallenge(domain: NamedDomain, challenge: Pick<StoredChallenge, 'token' | 'at'>): Promise<void>;
  /**
   * Raises the purge epoch of a name, also of one never published. `null`: the manifest has the name for another domain, of
   * which nothing is purged.
   */
  purge(
    domain: string,
    purge: { readonly domain_id: number; readonly at: number },
  ): Promise<ManifestRow | null>;
  /**
   * Raises the purge epoch of every name, to `floor` at least: above every one that was given before the store was
   * restored, provided that `floor` is the time in seconds.
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
   * The rows of the history remain. Returns how many blobs were removed.
   */
  prune(domain: string, revisions: readonly number[]): Promise<number>;
}

/** Nodes, their tokens, and their answers to revisions. */
export interface NodeReads {
  /** By its newest token, also a revoked node: check `revoked_at`. */
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
  /** Up to when a node has spent its time, see `NodeWrites.spend`; `null`: it has not spent any. */
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

/** Which replaced tokens to read: by hash, of one node, or all. */
export type ReplacedTokens = { readonly token_hash: string } | { readonly node_id: number } | 'all';

/** Changes of nodes, and what they report. */
export interface NodeWrites {
  /** Into the group `default`. `conflict` on `nodes.name` or `nodes.token_hash`. */
  insert(node: Pick<NodeRow, 'name' | 'token_hash' | 'created_at'>): Promise<NodeRow>;
  /** Puts a node into these groups and no other. */
  setGroups(id: number, groups: string): Promise<void>;
  /** Raises the time at which it was seen last. */
  touch(id: number, at: number): Promise<void>;
  revoke(id: number, at: number): Promise<boolean>;
  /** Sets the key that certificates are sealed to. */
  setBoxKey(id: number, key: string): Promise<void>;
  /**
   * Gives a node another token. The one before stays valid until `until`; those that have ended before `now` are
   * removed. `conflict` on `nodes.token_hash`.
   */
  replaceToken(
    node: Pick<NodeRow, 'id' | 'token_hash'>,
    times: { readonly until: number; readonly now: number },
  ): Promise<void>;
  /** Removes the replaced tokens of a node, which are then invalid. */
  dropTokens(id: number): Promise<void>;
  /** Stores answers; locks no domain. `missing` when there is no such node. */
  report(reports: readonly ReportRow[]): Promise<void>;
  /**
   * Accepts a node's batch of traffic by its number: false when it was accepted before. In the same transaction as
   * `traffic.add`, a batch counts once, in whatever order batches come.
   */
  takeBatch(nodeId: number, batch: { readonly batch: number; readonly at: number }): Promise<boolean>;
  /**
   * Removes the numbers of batches that were accepted before a time, at most `limit`; returns how many. Must be so late that
   * the minutes of such a batch are refused.
   */
  pruneBatches(before: number, limit: number): Promise<number>;
  /**
   * Takes `ms` from the time that a node has: from where it has spent it (at first `since`), or `earliest` if that is
   * later, until `until`. What is left from before `floor` lapses. False, and nothing is taken, when there is less than `ms`.
   */
  spend(nodeId: number, spending: Spending): Promise<boolean>;
  /** Removes answers older than `before` to revisions that are no longer current. */
  pruneReports(before: number): Promise<void>;
}

/** Groups of domains, as `base/vocabulary/node-groups.ts` writes them. */
export interface GroupReads {
  /** The groups of a domain; `null`: there is no such domain. */
  ofDomain(domainId: number): Promise<string | null>;
  /** How many domains are in each set of groups. */
  countDomains(): Promise<readonly GroupedDomains[]>;
}

/** Changes of the groups of domains. */
export interface GroupWrites {
  /** Nodes see it once the domain is published again. */
  setDomain(domainId: number, groups: string): Promise<void>;
}

// The HTTP-01 challenges of a name as the manifest stores them: a JSON list, the oldest first. In: the list of a row.
// Out: the list after a change. Challenges that a crash left behind end by their age.

/** A challenge that nodes answer. */
interface StoredChallenge {
  readonly token: string;
  /** The key authorization (RFC 8555 §8.1). */
  readonly answer: string;
  /** When it was set, milliseconds since the epoch. */
  readonly at: number;
}

/** The challenges of a list that are not older than `CHALLENGE_MS` at `now`. */
export function freshChallenges(list: string | null, now: number): readonly StoredChallenge[] {
  if (list === null) return [];
  const stored = JSON.parse(list) as readonly StoredChallenge[];
  return stored.filter(({ at }) => now - at <= CHALLENGE_MS);
}

/** The list with one more challenge, which replaces that of its token; of too many the oldest are left out. */
export function withChallenge(list: string | null, { token, answer, at }: StoredChallenge): string {
  const others = freshChallenges(list, at).filter((other) => other.token !== token);
  return JSON.stringify([...others, { token, answer, at }].slice(-MAX_CHALLENGES));
}

/** The list without the challenge of a token; `null`: none is left. */
export function withoutChallenge(
  list: string | null,
  { token, at }: Pick<StoredChallenge, 'token' | 'at'>,
): string | null {
  const others = freshChallenges(list, at).filter((other) => other.token !== token);
  return others.length === 0 ? null : JSON.stringify(others);
}

/** The same without the URLs, with the name of the node. */
export type CacheTotals = Omit<CacheContentsRow, 'urls_json' | 'run'> & { readonly node: string };

/** The URLs of one process. */
export type CacheUrls = Pick<CacheContentsRow, 'node_id' | 'process' | 'at' | 'entries' | 'urls_json'>;

/** One report of the cache of a process. */
export interface StoredCacheReport {
  readonly node_id: number;
  readonly process: number;
  readonly run: number;
  readonly at: number;
  /** Reports of before, of any node, are removed. */
  readonly oldest: number;
  /** Rows without files and entries are removed. */
  readonly rows: readonly Pick<
    CacheContentsRow,
    'domain_id' | 'entries' | 'octets' | 'disk_files' | 'disk_octets' | 'urls_json'
  >[];
}

/** Reads of purges and reports. */
export interface CacheReads {
  /** Purges of a domain above a position, by position. */
  purges(domainId: number, above: number): Promise<readonly CachePurgeRow[]>;
  /** What the caches of nodes that are not revoked have stored of a domain, reported at `oldest` or later; by name and process. */
  totals(domainId: number, oldest: number): Promise<readonly CacheTotals[]>;
  /** Their URLs, the newest reports first, as many as have `characters` together, and at least one. */
  urls(
    domainId: number,
    bounds: { readonly oldest: number; readonly characters: number },
  ): Promise<readonly CacheUrls[]>;
}

/** Writes of purges and reports. */
export interface CacheWrites {
  /**
   * Stores purges of a domain under a new position of the manifest, and removes its oldest ones beyond `MAX_PURGES` and
   * `MAX_PURGES_OCTETS`, which raises the floor. The entry of a name that another domain has in the manifest is not
   * changed: nodes have nothing of this domain. Publications of all domains wait from here to the commit.
   */
  purge(
    domain: { readonly id: number; readonly name: string },
    purge: { readonly kind: CachePurgeRow['kind']; readonly values: readonly string[]; readonly at: number },
  ): Promise<ManifestRow | null>;
  /**
   * Replaces what a process has reported of the domains of `rows`, and removes what its earlier runs have reported. Rows of
   * domains that do not exist any more are left out.
   */
  report(report: StoredCacheReport): Promise<void>;
}
