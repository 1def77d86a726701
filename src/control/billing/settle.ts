/**
 * Suspends the domains of accounts whose wallet is below zero, and resumes those whose wallet is not any more; checks
 * again regularly what billing decides without a request, traffic quotas too. A domain that has another cause as well
 * stays suspended. In: a transaction that has locked the accounts, so that no wallet changes before its commit. Out: how
 * many domains it has settled; fewer than the limit mean that no other waits.
 */
import type { Entitlements } from '../accounts/entitlements.ts';
import { resumeDomain, suspendDomain } from '../domains/suspensions.ts';
import type { UnsettledCounts } from '../store/repositories/billing.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store/store.ts';
import { SERVICE } from '../store/tables/accounts.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import { checkGatewayQuota } from './gateway-quota.ts';
import { ACCOUNTS_AT_ONCE, BILLING_POLL_MS, QUOTAS_AT_ONCE, SETTLED_AT_ONCE } from './limits.ts';
import { checkQuota, type OverQuota } from './quota.ts';

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

// Watches what billing decides without a request: domains whose suspension does not fit their account's wallet (an import
// that was interrupted between two transactions), and domains whose traffic has reached a level of its quota, or whose quota
// allows it again. In: a store and what each domain is entitled to. Out: suspensions, resumptions, notices. Several processes may
// run it on one database: they read the same, and every write of it happens once.

/** The surroundings of the watch. */
export interface BillingWatchOptions {
  readonly store: Store;
  readonly entitlementsOf: (tx: ReadTransaction, domain: DomainRow) => Promise<Entitlements>;
  readonly overQuota: OverQuota;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called with each event, for logs. */
  readonly note: (note: BillingNote) => void;
}

/** An event for logs. */
export type BillingNote =
  | { readonly kind: 'suspended' | 'resumed'; readonly domain: string }
  /** Domains were settled with the wallets of their accounts. */
  | { readonly kind: 'settled'; readonly suspended: number; readonly resumed: number }
  /** A check failed and runs again; `null`: a failure of the store, about no one domain. */
  | { readonly kind: 'failed'; readonly domain: string | null; readonly error: unknown };

/** The watch of one process. */
export interface BillingWatch {
  /** Starts polling. */
  start(): void;
  /** Stops polling; resolves when the poll in progress has ended. */
  stop(): Promise<void>;
  /** Settles wallets and checks the next domains, once. */
  poll(): Promise<void>;
}

/** Creates the watch. Nothing runs before `start` or a call. */
export function createBillingWatch(options: BillingWatchOptions): BillingWatch {
  const state: WatchState = { stopped: false, place: 0 };
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  const next = async (): Promise<void> => {
    await pollOnce(options, state);
    // Jitter, so that processes started together do not poll the database at the same moments.
    if (!state.stopped) timer = setTimeout(begin, BILLING_POLL_MS * (0.75 + Math.random() / 2));
  };
  const begin = (): void => {
    running = next();
  };
  return {
    start: () => {
      timer ??= setTimeout(begin, 0);
    },
    async stop() {
      state.stopped = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
    poll: () => pollOnce(options, state),
  };
}

/** The progress of the watch. */
interface WatchState {
  stopped: boolean;
  /** The id of the last domain that was checked; 0: the next round begins. */
  place: number;
}

/** One poll. Never throws: a failure is noted, and the next poll tries again. Wallets and quotas do not wait for each other. */
async function pollOnce(options: BillingWatchOptions, state: WatchState): Promise<void> {
  for (const part of [settleWaiting, checkQuotas]) {
    try {
      await part(options, state);
    } catch (error) {
      options.note({ kind: 'failed', domain: null, error });
    }
  }
}

/** Checks the quotas of the next domains. */
async function checkQuotas(options: BillingWatchOptions, state: WatchState): Promise<void> {
  const { store } = options;
  // The first `QUOTAS_AT_ONCE` of those that are stopped are checked in every poll: they resume soon after their period ends.
  const stopped = await store.latest.suspensions.byCause('quota', { afterId: 0, limit: QUOTAS_AT_ONCE });
  for (const id of stopped) {
    const domain = state.stopped ? null : await store.latest.domains.get(id);
    if (domain !== null) await checkOne(options, domain);
  }
  const page = await store.latest.domains.page(state.place, QUOTAS_AT_ONCE);
  for (const domain of page) {
    if (state.stopped) return;
    await checkOne(options, domain);
  }
  state.place = page.length < QUOTAS_AT_ONCE ? 0 : page.at(-1)!.id;
}

/** Settles the accounts that wait for it, some in each transaction, so that other writes come between. */
async function settleWaiting({ store, clock, note }: BillingWatchOptions, state: WatchState): Promise<void> {
  while (!state.stopped) {
    // PERF: most polls find no account here, and a write would wait for the disk.
    const accountIds = await store.latest.suspensions.unsettledAccounts(ACCOUNTS_AT_ONCE);
    if (accountIds.length === 0) return;
    const options = { accountIds, limit: SETTLED_AT_ONCE, now: clock() };
    const { domains, suspended, resumed } = await settleAccounts(store, options);
    // Another process has settled them.
    if (domains === 0) return;
    note({ kind: 'settled', suspended, resumed });
  }
}

/** Checks one domain, after other work of this thread. */
async function checkOne(options: BillingWatchOptions, domain: DomainRow): Promise<void> {
  // The embedded store reads on this thread: requests are answered between two domains.
  await new Promise((resolve) => setImmediate(resolve));
  try {
    const check = { ...options, now: options.clock() };
    const done = await checkQuota(check, domain);
    if (done !== null) options.note({ kind: done, domain: domain.name });
    await checkGatewayQuota(check, domain);
  } catch (error) {
    options.note({ kind: 'failed', domain: domain.name, error });
  }
}
