/**
 * Suspends the domains of accounts whose wallet is below zero, and resumes those whose wallet is not any more. A domain that
 * something else suspends as well stays suspended. In: a transaction, and the accounts whose wallets it has locked, or all. Out:
 * how many domains it has settled; fewer than the limit mean that none is left.
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

/** Settles domains by id, at most `limit`. Returns how many. */
export async function settleDomains(
  tx: WriteTransaction,
  { accountIds, limit, now }: SettleOptions,
): Promise<number> {
  const ids = await tx.suspensions.unsettled({ accountIds, limit });
  for (const id of ids) {
    const domain = await tx.domains.get(id);
    if (domain !== null) await settleDomain(tx, domain, now);
  }
  return ids.length;
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
