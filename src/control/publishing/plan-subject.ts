/** What a plan is made of: a domain by its id, and its rows as a snapshot has them when the plan is made. */
import type { DomainRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { type DomainRows, type PublishedEntitlements, readPublishedRows } from './rule-set.ts';

/** A domain to make a plan of. */
export interface PlanSubject {
  readonly domain_id: number;
  readonly domain: string;
  readonly entitlements: PublishedEntitlements;
}

/** Whether the edge serves a domain at all; any other gets a tombstone (semantics §2). */
export function mayServe(domain: Pick<DomainRow, 'status' | 'suspended'>): boolean {
  return (domain.status === 'active' || domain.status === 'moved') && !domain.suspended;
}

/** All rows of a domain that nodes run; `null` if it is gone or must not serve. */
export async function readSubject(
  tx: ReadTransaction,
  { domain_id, entitlements }: PlanSubject,
): Promise<DomainRows | null> {
  const domain = await tx.domains.get(domain_id);
  return domain === null || !mayServe(domain) ? null : readPublishedRows(tx, domain, entitlements);
}
