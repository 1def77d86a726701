/**
 * The traffic of a domain in its quota period, and the requests that its gateways have admitted in 30 days, beside the quotas. In: a
 * transaction that reads one snapshot, entitlements, a time. Out: octets, GB, requests and percent. Traffic is what nodes have sent to
 * visitors.
 */
import type { Entitlements } from '../accounts/entitlements.ts';
import type { ReadTransaction } from '../store/store.ts';
import { MINUTE_MS } from '../traffic/limits.ts';
import { readSums } from '../traffic/read-traffic.ts';

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
  tx: Pick<ReadTransaction, 'traffic'>,
  domainId: number,
  { entitlements, now }: { readonly entitlements: Entitlements; readonly now: number },
): Promise<QuotaUse> {
  // The present minute is whole.
  const span = { from: entitlements.quota_period_start, to: now + MINUTE_MS };
  const { octets_out: octets } = await readSums(tx, domainId, span);
  const quota_gb = entitlements.max_traffic_gb;
  return { octets, quota_gb, percent: percentOf(octets, quota_gb) };
}

/** Whole percent of a quota, rounded down. Both divided numbers are integers, so that exactly the quota is exactly 100. */
export function percentOf(octets: number, quota_gb: number | null): number | null {
  if (quota_gb === null) return null;
  return quota_gb === 0 ? 100 : Math.floor(octets / (quota_gb * (GIGABYTE / 100)));
}

/** Milliseconds of the 30 days that `max_gateway_requests_30d` covers. */
const MONTH_MS = 30 * 24 * 60 * MINUTE_MS;

/** Requests that gateways of a domain have admitted in the last 30 days, to the minute. `now` in milliseconds since the epoch. */
export async function readGatewayMonth(
  tx: Pick<ReadTransaction, 'traffic'>,
  domainId: number,
  now: number,
): Promise<number> {
  // The present minute is whole.
  const to = now + MINUTE_MS;
  return (await readSums(tx, domainId, { from: to - MONTH_MS, to })).gateway_requests;
}
