/**
 * Suspends the domains of accounts whose wallet is below zero, and resumes those whose wallet is not any more. A domain that
 * has another cause as well stays suspended. In: a transaction that has locked the accounts, so that no wallet changes before
 * its commit. Out: how many domains it has settled; fewer than the limit mean that no other waits.
 */
import { resumeDomain, suspendDomain } from '../domains/suspensions.ts';
import type { UnsettledCounts } from '../store/billing-repositories.ts';
import type { DomainRow } from '../store/rows.ts';
import { SERVICE, type Store, type WriteTransaction } from '../store/store.ts';

/** The accounts whose domains to settle. */
export interface SettleOptions {
  /** The accounts are locked (`tx.wallets.lock`). */
  readonly accountIds: readonly number[];
  /** Domains, at most. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What settling has changed: domains that the edge stops serving, and domains that it serves again. */
export interface SettledDomains extends UnsettledCounts {
  /** Domains that were settled. */
  readonly domains: number;
}

/** Settles domains of accounts, at most `limit`, in a transaction of their own. */
export function settleAccounts(store: Store, options: SettleOptions): Promise<SettledDomains> {
  return store.write(async (tx) => {
    await tx.wallets.lock(options.accountIds);
    return settleDomains(tx, options);
  });
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
  const owing = wallet !== null && wallet.balance < 0;
  if (!owing && !domain.suspended) return domain;
  const applied = await (owing ? suspendDomain : resumeDomain)(tx, domain, change);
  return applied?.domain ?? domain;
}
