/**
 * What the API asks of a domain's life. Looking things up in the DNS takes seconds, so these never run inside a
 * transaction and write nothing: they answer what was found, and the API's own write, which looks at the key again,
 * makes the change. The room `lifecycle` implements it; its scheduler makes the same changes by itself.
 */
import type { DomainStatus } from '../base/vocabulary.ts';
import type { DomainRow } from '../store/rows.ts';

/** What a lookup says about a domain. */
export interface Finding {
  /** The status that follows from it; the domain's own when nothing changes. */
  readonly status: DomainStatus;
  /** Whether the proof (delegation or TXT record) holds now. */
  readonly proven: boolean;
  /** For people: what was found and what would be right. */
  readonly detail: string;
}

export interface Lifecycle {
  /** Each a complete acceptable delegation, the recommended one first. */
  readonly nameserverSets: readonly (readonly string[])[];
  /** Starts the background scan of a new domain's existing records; returns at once. */
  scan(domain: DomainRow): void;
  /** Asks the parent's servers whether the delegation equals one whole set. Throws nothing: a failed lookup proves nothing. */
  checkNow(domain: DomainRow): Promise<Finding>;
  /** Asks for the TXT record that proves ownership of an external domain. */
  verify(domain: DomainRow): Promise<Finding>;
}
