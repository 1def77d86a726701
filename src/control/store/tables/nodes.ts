/** Nodes, their tokens, and what they report of revisions and of their caches. */
import { integer, json, NOW, type RowOf, shortId, table, text, time } from './describe.ts';
import { domains } from './domains.ts';

/** Edge nodes; their tokens are never stored. */
export const nodes = table('nodes', 2, {
  id: shortId(),
  name: text().unique(),
  /** SHA-256 of the token, lower-case hex. */
  token_hash: text().unique(),
  created_at: time(),
  last_seen_at: time().nullable(),
  revoked_at: time().nullable(),
  /** As `base/vocabulary/node-groups.ts` writes them. */
  node_groups: text().since(11, 'default'),
  /** The X25519 key that certificates are sealed to, Base64 of 32 octets; `null`: the node has sent none. */
  box_key: text().nullable().since(18),
});

/** An edge node. */
export interface NodeRow extends RowOf<typeof nodes> {}

/** How many domains are in a set of groups. */
export interface GroupedDomains {
  readonly node_groups: string;
  readonly domains: number;
}

/** Tokens that newer ones of their nodes have replaced, valid until their overlap ends. */
export const nodeTokens = table(
  'node_tokens',
  10,
  {
    /** As that of `nodes`. */
    token_hash: text().key('named'),
    node_id: integer().references(nodes),
    /** Valid before this. */
    until: time(),
  },
  { withoutRowid: true },
);

/** A token of a node that another one has replaced. */
export interface ReplacedTokenRow extends RowOf<typeof nodeTokens> {}

/** A node serves the revision (`ack`), or has rejected it (`nack`). */
export const REPORT_OUTCOMES = ['ack', 'nack'] as const;
/** One of REPORT_OUTCOMES. */
export type ReportOutcome = (typeof REPORT_OUTCOMES)[number];

/** Answers of nodes to revisions. */
export const nodeReports = table(
  'node_reports',
  2,
  {
    node_id: integer().references(nodes),
    domain: text(),
    revision: integer(),
    outcome: text<ReportOutcome>(),
    /** Empty for an ack. */
    reason: text(),
    at: time(),
  },
  {
    key: ['domain', 'node_id', 'revision'],
    withoutRowid: true,
    indexes: { node_reports_by_node: ['node_id', 'domain', 'revision'] },
  },
);

/** A node's answer to one revision; a later answer to the same revision replaces it. */
export interface ReportRow extends RowOf<typeof nodeReports> {}

/** Batches of traffic that were accepted, as long as their minutes are, so that a retry counts once. */
export const nodeBatches = table(
  'node_batches',
  3,
  {
    node_id: integer().references(nodes),
    batch: integer(),
    taken_at: time().since(12, NOW),
  },
  {
    key: ['node_id', 'batch'],
    keyBefore: { column: 'node_id', until: 12 },
    withoutRowid: true,
    indexes: { node_batches_by_time: { on: ['taken_at'], since: 12 } },
  },
);

/** Up to when the traffic that nodes have reported takes the time that they had. */
export const nodeAllowances = table('node_allowances', 11, {
  node_id: integer().key().references(nodes),
  spent_until: time(),
});

/** The last report of each process of a node about the cache of each of its domains. */
export const cacheContents = table(
  'cache_contents',
  21,
  {
    domain_id: integer().references(domains, 'cascade'),
    node_id: integer().references(nodes),
    /** The number of the process in its node. */
    process: integer(),
    /** Random, one for each run of the process. */
    run: integer(),
    /** When the report arrived. */
    at: time(),
    entries: integer(),
    octets: integer(),
    disk_files: integer(),
    disk_octets: integer(),
    /** A JSON array of the URLs, which may be some of all. */
    urls_json: json(),
  },
  {
    key: ['domain_id', 'node_id', 'process'],
    withoutRowid: true,
    indexes: { cache_contents_by_process: ['node_id', 'process', 'run'], cache_contents_by_age: ['at'] },
  },
);

/** What the cache of one process of a node has stored of a domain (`engine/plan/cache-report.ts`). */
export interface CacheContentsRow extends RowOf<typeof cacheContents> {}
