/**
 * The contract of nodes and control plane about what caches have stored. A node has one cache in each of its processes; each
 * reports some of its domains at a time, at most `MAX_REPORTED_DOMAINS`: those that changed, and the others at intervals. A
 * report of a domain replaces the one before. URLs are bounded, totals are not: `entries` above the copies of all listed URLs
 * says that URLs are missing. The control plane notes when a report arrives, so no clock of a node is trusted with that.
 */

export const CACHE_REPORT_FORMAT = 'edgeplan.cache-report/v1';

/** The stored responses to one URL. Times are milliseconds since the epoch, by the node's clock. */
export interface ReportedUrl {
  /** Of the cache key: with its scheme, without the parameters that the cache rule leaves out. */
  readonly url: string;
  /** Of the newest response. */
  readonly status: number;
  /** Octets of all bodies. */
  readonly octets: number;
  readonly stored_at: number;
  readonly fresh_until: number;
  /** Some of its tags, in lower case. */
  readonly tags: readonly string[];
  /** Number of responses: one for each variant. */
  readonly copies: number;
}

/** What one cache has stored of one domain; all numbers 0: nothing any more. */
export interface ReportedContents {
  readonly domain: string;
  /** Responses that a process can find without reading its disk, and the octets of their bodies. */
  readonly entries: number;
  readonly octets: number;
  /** All files of the disk cache, and their octets. */
  readonly disk_files: number;
  readonly disk_octets: number;
  /** Those of `entries`, the most recently used first. */
  readonly urls: readonly ReportedUrl[];
}

/** A report of one cache. */
export interface CacheReport {
  readonly format: typeof CACHE_REPORT_FORMAT;
  /** The number of the process in its node, from 0. */
  readonly process: number;
  /** Random, one for each run of the process: what an earlier run has reported ends with the first report of a later one. */
  readonly run: number;
  readonly domains: readonly ReportedContents[];
}
