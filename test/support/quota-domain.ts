/** A domain with a quota of its subscription, on a store without a server: its checks at a stated time, and its notices. */
import { resolveEntitlements } from '../../src/control/accounts/entitlements.ts';
import { changeSubscription, type Override } from '../../src/control/accounts/subscriptions.ts';
import type { TierSlug } from '../../src/control/accounts/tiers.ts';
import type { OverQuota } from '../../src/control/billing/quota.ts';
import { type BillingNote, createBillingWatch } from '../../src/control/billing/settle.ts';
import type { Store } from '../../src/control/store/store.ts';
import type { AccountRow } from '../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { activeDomain } from './sample-rows.ts';

/** An account with one domain, and the quota of its subscription. */
export interface QuotaDomain {
  readonly account: AccountRow;
  readonly domain: DomainRow;
  /** Changes the quota of the domain, or of another one. `null`: it has none. */
  setQuota(value: number | null, of?: DomainRow): Promise<void>;
  /** Checks the quotas of all domains once, with a watch of its own; what the watch notes. */
  poll(options: PollOptions): Promise<readonly BillingNote[]>;
  /** The notices about the domain, the oldest first. */
  notices(): Promise<readonly { readonly kind: string; readonly data: Readonly<Record<string, unknown>> }[]>;
}

interface PollOptions {
  readonly overQuota: OverQuota;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Default: the store of the domain. */
  readonly store?: Store | undefined;
}

/** What a domain begins with. `at`: milliseconds since the epoch. */
interface Beginning {
  readonly name: string;
  readonly tier: TierSlug;
  readonly quota: Override['name'];
  readonly limit: number;
  readonly at: number;
}

/** Creates the account, the domain and its subscription. */
export async function addQuotaDomain(
  store: Store,
  { name, tier, quota, limit, at }: Beginning,
): Promise<QuotaDomain> {
  const { account, domain } = await store.write(async (tx) => {
    const owner = await tx.accounts.insert({ name, active: true, created_at: at, updated_at: at });
    const row = await tx.domains.insert(activeDomain(`${name}.example`, owner.id, { created_at: at }));
    return { account: owner, domain: row };
  });
  const setQuota = async (value: number | null, of = domain): Promise<void> => {
    const change = { tier, overrides: [{ name: quota, value }], now: at };
    const outcome = await store.write((tx) => changeSubscription(tx, of, change));
    if (!outcome.ok) throw new Error(outcome.reason);
  };
  await setQuota(limit);
  return {
    ...{ account, domain, setQuota },
    async poll({ overQuota, now, store: of = store }) {
      const notes: BillingNote[] = [];
      await createBillingWatch({
        ...{ store: of, overQuota, clock: () => now },
        entitlementsOf: async (tx, row) => {
          const subscription = await tx.subscriptions.get(row.id);
          return resolveEntitlements({ domain: row, subscription, fallback: 'enterprise', now });
        },
        note: (note) => notes.push(note),
      }).poll();
      return notes;
    },
    async notices() {
      const page = { before: Number.MAX_SAFE_INTEGER, limit: 500, unread: false };
      const rows = await store.latest.notifications.list(account.id, page);
      return rows
        .filter(({ domain: about }) => about === domain.name)
        .map(({ kind, data_json }) => ({ kind, data: JSON.parse(data_json) }))
        .reverse();
    },
  };
}
