/** The repository of caches: purges of single responses. Conventions as in `customer-repositories.ts`. */
import type { ManifestRow } from './rows.ts';

/** One purged value of a domain; a later purge of the same value replaces it. */
export interface CachePurgeRow {
  readonly kind: 'url' | 'prefix' | 'tag' | 'refresh';
  /** In its normal form (`base/purge-values.ts`). */
  readonly value: string;
  /** The position of the manifest that the purge was given. */
  readonly position: number;
}

/** Reads of purges. */
export interface CacheReads {
  /** Purges of a domain above a position, by position. */
  purges(domainId: number, above: number): Promise<readonly CachePurgeRow[]>;
}

/** Writes of purges. */
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
}
