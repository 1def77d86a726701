/** The traffic of a domain in its quota period, beside the quota. In: entitlements and a time. Out: octets, GB and percent. */
import type { Entitlements } from '../access/entitlements.ts';
import type { ReadTransaction } from '../store/store.ts';

const MINUTE_MS = 60_000;
/** Octets of a gigabyte of traffic. */
export const GIGABYTE = 1_000_000_000;

/** The traffic of a quota period. */
export interface QuotaUse {
  readonly octets: number;
  /** GB of 10^9 octets; `null`: unlimited. */
  readonly quota_gb: number | null;
  /** Whole percent of the quota, rounded down; `null`: unlimited. A quota of nothing is at 100 from the start. */
  readonly percent: number | null;
}

/** The traffic of the current quota period. `now` in milliseconds since the epoch. */
export async function readQuotaUse(
  tx: Pick<ReadTransaction, 'usage'>,
  domainId: number,
  { entitlements, now }: { readonly entitlements: Entitlements; readonly now: number },
): Promise<QuotaUse> {
  const from = Math.floor(entitlements.quota_period_start / MINUTE_MS);
  const { octets } = await tx.usage.sum(domainId, from, Math.floor(now / MINUTE_MS) + 1);
  const quota_gb = entitlements.max_traffic_gb;
  if (quota_gb === null) return { octets, quota_gb, percent: null };
  return {
    octets,
    quota_gb,
    percent: quota_gb === 0 ? 100 : Math.floor(octets / GIGABYTE / (quota_gb / 100)),
  };
}
