/**
 * Checks the requests of a domain's gateways in the last 30 days against `max_gateway_requests_30d`. In: a domain with its
 * entitlements. Out: a notice at each level (`QUOTA_LEVELS`), once until the requests are below the level again, in all processes.
 * Edges serve requests over the quota; `api/gateways/quota.ts` refuses new gateways and consumers.
 */

import { QUOTA_LEVELS } from '../notices/limits.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import { LEVEL_QUIET_MS } from './limits.ts';
import { notifyGatewayQuota } from './notices.ts';
import type { QuotaCheck } from './quota.ts';
import { readGatewayMonth } from './quota-use.ts';

/** Checks one domain: reads first, and opens a transaction only when there is something to write. @throws StoreFault */
export async function checkGatewayQuota(check: QuotaCheck, domain: DomainRow): Promise<void> {
  const { store, now } = check;
  const used = await store.read((tx) => measure(tx, check, domain));
  if (!isNews(await compare(store.latest, check, { domain, used }))) return;
  await store.write(async (tx) => {
    const fresh = await tx.domains.get(domain.id);
    if (fresh === null) return;
    // Compared again: another process, or another quota, may have come first. The sum is not read again, as in `quota.ts`.
    const { limit, risen, fallen } = await compare(tx, check, { domain: fresh, used });
    for (const level of fallen) await tx.quotas.removeGatewayLevel({ domain_id: domain.id, level });
    const highest = await noteLevels(tx, risen, { domain_id: domain.id, at: now });
    if (highest === null || used === null || limit === null) return;
    await notifyGatewayQuota(tx, { domain: fresh, level: highest, used, limit, now });
  });
}

/** Requests of the last 30 days; `null`: they have no quota, or one of nothing, and are not summed. */
async function measure(tx: ReadTransaction, check: QuotaCheck, domain: DomainRow): Promise<number | null> {
  const { max_gateway_requests_30d: limit } = await check.entitlementsOf(tx, domain);
  // PERF: most plans have no gateways.
  return limit === null || limit === 0 ? null : readGatewayMonth(tx, domain.id, check.now);
}

/** The requests of a domain in 30 days; `null`: they were not summed. */
interface Measured {
  readonly domain: DomainRow;
  readonly used: number | null;
}

/** Requests beside the quota and what is recorded of it. */
interface Compared {
  readonly limit: number | null;
  /** Levels that are reached and not recorded, ascending. */
  readonly risen: readonly number[];
  /** Levels that are recorded, and that the requests are below. */
  readonly fallen: readonly number[];
}

function isNews({ risen, fallen }: Compared): boolean {
  return risen.length > 0 || fallen.length > 0;
}

async function compare(
  tx: ReadTransaction,
  check: QuotaCheck,
  { domain, used }: Measured,
): Promise<Compared> {
  const { max_gateway_requests_30d: limit } = await check.entitlementsOf(tx, domain);
  const recorded = await tx.quotas.gatewayLevels(domain.id);
  const isReached = (level: number): boolean =>
    used !== null && limit !== null && limit > 0 && used * 100 >= limit * level;
  const fallen = recorded.filter(({ level, at }) => !isReached(level) && at <= check.now - LEVEL_QUIET_MS);
  const risen = QUOTA_LEVELS.filter(
    (level) => isReached(level) && !recorded.some((row) => row.level === level),
  );
  return { limit, risen, fallen: fallen.map(({ level }) => level) };
}

/** Records levels. Returns the highest that this process is the first to record; `null`: another process has recorded all. */
async function noteLevels(
  tx: WriteTransaction,
  levels: readonly number[],
  common: { readonly domain_id: number; readonly at: number },
): Promise<number | null> {
  let highest: number | null = null;
  for (const level of levels) if (await tx.quotas.noteGatewayLevel({ ...common, level })) highest = level;
  return highest;
}
