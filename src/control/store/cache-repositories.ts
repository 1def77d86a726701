/** The repository of caches: purges of single responses, and what nodes report of their caches. Conventions as in `customer-repositories.ts`. */
import type { ManifestRow } from './rows.ts';

/** One purged value of a domain; a later purge of the same value replaces it. */
export interface CachePurgeRow {
  readonly kind: 'url' | 'prefix' | 'tag' | 'refresh';
  /** In its normal form (`base/paths/purge-values.ts`). */
  readonly value: string;
  /** The position of the manifest that the purge was given. */
  readonly position: number;
}

/** What the cache of one process of a node has stored of a domain (`engine/plan/cache-report.ts`). */
export interface CacheContentsRow {
  readonly domain_id: number;
  readonly node_id: number;
  /** The number of the process in its node. */
  readonly process: number;
  /** Random, one for each run of the process. */
  readonly run: number;
  /** When the report arrived, milliseconds since the epoch. */
  readonly at: number;
  readonly entries: number;
  readonly octets: number;
  readonly disk_files: number;
  readonly disk_octets: number;
  /** A JSON array of the URLs, which may be some of all. */
  readonly urls_json: string;
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
