/**
 * Checks the traffic of one domain against its quota (`max_traffic_gb` in the quota period). In: a domain with its entitlements.
 * Out: a notice at each level (`QUOTA_LEVELS`), once for each period and size of the quota in all processes; and where the
 * operator refuses traffic over the quota, the cause `quota` of a suspension, which ends with the period or with a larger
 * quota. No plan format is needed: such a domain is suspended like one whose wallet is below zero.
 */
import type { Entitlements } from '../accounts/entitlements.ts';
import { resumeDomain, suspendDomain } from '../domains/suspensions.ts';
import { QUOTA_LEVELS } from '../notices/limits.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store/store.ts';
import { SERVICE } from '../store/tables/accounts.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import { notifyQuota } from './notices.ts';
import { percentOf, type QuotaUse, readQuotaUse } from './quota-use.ts';

/** What happens to traffic over a quota: it is served, or the domain is suspended until the quota allows it again. */
export const OVER_QUOTA = ['serve', 'refuse'] as const;
/** One of OVER_QUOTA. */
export type OverQuota = (typeof OVER_QUOTA)[number];

/** The surroundings of a check. */
export interface QuotaCheck {
  readonly store: Store;
  readonly entitlementsOf: (tx: ReadTransaction, domain: DomainRow) => Promise<Entitlements>;
  readonly overQuota: OverQuota;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Checks one domain: reads first, and opens a transaction only when there is something to write. Returns whether the domain was
 * suspended or resumed.
 */
export async function checkQuota(
  check: QuotaCheck,
  domain: DomainRow,
): Promise<'suspended' | 'resumed' | null> {
  const { store, now } = check;
  const seen = await store.read((tx) => measure(tx, check, domain));
  if (seen === null || !isNews(seen)) return null;
  return store.write(async (tx) => {
    const fresh = await tx.domains.get(domain.id);
    // Compared again under the lock: another process, or another quota, may have come first.
    const found = fresh === null ? null : await compareAgain(tx, check, { ...seen, domain: fresh });
    if (found === null) return null;
    await noteLevels(tx, check, found);
    if (found.stop === found.stopped) return null;
    const change = { cause: 'quota', author: SERVICE, now } as const;
    if (found.stop) return (await suspendDomain(tx, found.domain, change)) === null ? null : 'suspended';
    return (await resumeDomain(tx, found.domain, change)) === null ? null : 'resumed';
  });
}

/** A domain and its traffic. */
interface Measured {
  readonly domain: DomainRow;
  readonly entitlements: Entitlements;
  readonly use: QuotaUse;
}

/** The traffic of a domain, and what is recorded of its quota. */
interface Found extends Measured {
  /** The domain is to be suspended for its quota. */
  readonly stop: boolean;
  /** The domain is suspended for its quota. */
  readonly stopped: boolean;
  /** Levels that are reached and not recorded, ascending. */
  readonly levels: readonly number[];
}

/** Whether there is something to write. */
function isNews({ levels, stop, stopped }: Found): boolean {
  return levels.length > 0 || stop !== stopped;
}

/** Measures a domain in one snapshot; `null`: it has no quota, and is not suspended for one. */
async function measure(tx: ReadTransaction, check: QuotaCheck, domain: DomainRow): Promise<Found | null> {
  const entitlements = await check.entitlementsOf(tx, domain);
  // PERF: without a quota the traffic is not summed.
  if (entitlements.max_traffic_gb === null && !(await isStopped(tx, domain))) return null;
  const use = await readQuotaUse(tx, domain.id, { entitlements, now: check.now });
  return compare(tx, check, { domain, entitlements, use });
}

/**
 * Compares traffic that was measured with the quota as it is in this transaction. The traffic is not summed again: a write has
 * no snapshot, and a roll-up moves counts between two statements. `null`: it is of another period.
 */
async function compareAgain(tx: ReadTransaction, check: QuotaCheck, seen: Measured): Promise<Found | null> {
  const { octets } = seen.use;
  const entitlements = await check.entitlementsOf(tx, seen.domain);
  if (entitlements.quota_period_start !== seen.entitlements.quota_period_start) return null;
  const quota_gb = entitlements.max_traffic_gb;
  const use = { octets, quota_gb, percent: percentOf(octets, quota_gb) };
  return compare(tx, check, { domain: seen.domain, entitlements, use });
}

/** Compares the traffic of a domain with what is recorded of its quota. */
async function compare(tx: ReadTransaction, { overQuota }: QuotaCheck, measured: Measured): Promise<Found> {
  const { percent } = measured.use;
  const stop = overQuota === 'refuse' && percent !== null && percent >= 100;
  const stopped = await isStopped(tx, measured.domain);
  return { ...measured, stop, stopped, levels: await newLevels(tx, measured) };
}

/** Whether the domain is suspended for its quota. */
async function isStopped(tx: ReadTransaction, domain: DomainRow): Promise<boolean> {
  return (await tx.suspensions.list(domain.id)).some(({ cause }) => cause === 'quota');
}

/** Levels that are reached and not recorded, ascending. */
async function newLevels(
  tx: ReadTransaction,
  { domain, entitlements, use }: Measured,
): Promise<readonly number[]> {
  const { percent, quota_gb } = use;
  if (percent === null) return [];
  const reached = QUOTA_LEVELS.filter((level) => percent >= level);
  if (reached.length === 0) return [];
  const noticed = await tx.quotas.noticed(domain.id, entitlements.quota_period_start);
  return reached.filter(
    (level) => !noticed.some((notice) => notice.quota_gb === quota_gb && notice.level === level),
  );
}

/** Records levels; of several that are new the highest is notified of. */
async function noteLevels(
  tx: WriteTransaction,
  { now }: QuotaCheck,
  { domain, entitlements, use, levels }: Measured & { readonly levels: readonly number[] },
): Promise<void> {
  const { quota_gb } = use;
  if (quota_gb === null) return;
  const { quota_period_start: period_start, quota_period_end: period_end } = entitlements;
  let highest: number | null = null;
  for (const level of levels) {
    // Of several processes one records the level and notifies.
    const notice = { domain_id: domain.id, period_start, quota_gb, level, at: now };
    if (await tx.quotas.note(notice)) highest = level;
  }
  if (highest !== null) await notifyQuota(tx, { domain, level: highest, use, period_end, now });
}
