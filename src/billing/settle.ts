/**
 * Suspends the domains of accounts whose wallet is below zero, and resumes those whose wallet is not any more. A domain that
 * something else suspends as well stays suspended. In: a transaction, and the accounts whose wallets it has locked, or all.
 * Out: how many domains it has settled; fewer than the limit mean that none is left.
 */
import { resumeDomain, suspendDomain } from '../lifecycle/suspensions.ts';
import type { DomainRow } from '../store/rows.ts';
import { SERVICE, type WriteTransaction } from '../store/store.ts';

/** The accounts whose domains to settle. */
export interface SettleOptions {
  /** `null`: all accounts. */
  readonly accountIds: readonly number[] | null;
  /** Domains, at most. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What settling has changed. */
export interface SettledDomains {
  /** Domains that were settled. */
  readonly domains: number;
  /** Those among them that the edge stops serving, and those that it serves again. */
  readonly suspended: number;
  readonly resumed: number;
}

/** Settles domains by id, at most `limit`. */
export async function settleDomains(
  tx: WriteTransaction,
  { accountIds, limit, now }: SettleOptions,
): Promise<SettledDomains> {
  const ids = await tx.suspensions.unsettled({ accountIds, limit });
  let [suspended, resumed] = [0, 0];
  for (const id of ids) {
    const before = await tx.domains.get(id);
    if (before === null) continue;
    const after = await settleDomain(tx, before, now);
    if (after.suspended && !before.suspended) suspended++;
    if (before.suspended && !after.suspended) resumed++;
  }
  return { domains: ids.length, suspended, resumed };
}

/**
 * Suspends or resumes one domain by its account's wallet, as it is in this transaction. `now` in milliseconds since the epoch.
 * Returns the domain after it.
 */
export async function settleDomain(tx: WriteTransaction, domain: DomainRow, now: number): Promise<DomainRow> {
  const wallet = await tx.wallets.get(domain.user_id);
  const change = { cause: 'wallet', author: SERVICE, now } as const;
  const applied =
    wallet !== null && wallet.balance < 0
      ? await suspendDomain(tx, domain, change)
      : await resumeDomain(tx, domain, change);
  return applied?.domain ?? domain;
}
