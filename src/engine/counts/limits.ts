/** Limits of traffic counts, each with its reason: none of them may grow with what visitors send. */

/**
 * Maximum number of rules with one mode and effect in the counts of one span: all 10,000 rules of a domain, most of them
 * with one effect. Further matches are added to the sum `uncounted_hits`.
 */
export const MAX_HITS = 16_384;
/**
 * Maximum number of distinct changes by dry_run rules in the counts of one span: a hundred dry_run rules, each of which
 * changes forty outcomes. Further ones are added to the sum `uncounted_changes`.
 */
export const MAX_CHANGES = 4_096;
/** Maximum number of keys by dimension, `other` included; further keys are counted as `other`. */
export const MAX_KEYS = {
  /** Six actions and `none`. */
  action: 16,
  /** Statuses have three digits, 100 to 599. */
  status: 600,
  /** The code has some twenty words. */
  cache: 32,
  /** ISO 3166-1 assigns 249 codes; databases add some of their own. */
  country: 300,
  /** The kinds of bots, and `none`. */
  bot: 32,
} as const;
/** The key of what a full dimension counts together. */
export const OTHER = 'other';
/**
 * Maximum length, in characters, of a key, and of the texts of a change: `origin_pool/4294967295` has 22,
 * `forward with another origin, path, query, cache directive and tags` some 70.
 */
export const MAX_KEY_LENGTH = 128;
/** Values of a top list: those that a page of the panel shows, and enough for the error bounds of semantics §10. */
export const TOP_CAPACITY = 1_000;
/**
 * Maximum length, in characters, of a value in a top list, as of a header in the decision log: the longest User-Agents
 * of browsers with their add-ons have half of it. Longer values with an equal beginning count as one.
 */
export const MAX_VALUE_LENGTH = 512;
/**
 * Maximum length, in characters, of all values of a compacted top list: a thousand of 128 characters. A visitor who sends
 * long values must not make lists, batches and rows of the store grow; a list with longer values has fewer.
 */
export const MAX_LIST_LENGTH = 128_000;
/** Maximum number of domains and minutes in one batch: what a node with 10,000 busy domains counts in six minutes. */
export const MAX_BATCH_ENTRIES = 65_536;
