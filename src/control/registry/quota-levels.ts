/**
 * Notifies the people of a domain of consumers' quotas that are nearly or fully used (semantics §15): one notification of each level for
 * all consumers that have reached it since the last one. In: the use of quotas, and the levels that were notified of. Out:
 * notifications, in the transaction that stores their levels.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import { periodAt } from '../../engine/plan/quota-period.ts';
import type { KindData } from '../notices/kinds.ts';
import { notify } from '../notices/notify.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { ConsumerQuotaLevelRow } from '../store/tables/registry.ts';
import { levelOf, type QuotaUses, type UsedQuota } from './exhausted.ts';
import { CONSUMERS_QUIET_MS, NOTIFIED_QUOTAS } from './limits.ts';

/** What is notified of, by level. */
const KIND_OF = { near: 'consumer_quota.near', reached: 'consumer_quota.reached' } as const;
/** A kind of these notifications. */
type LevelKind = (typeof KIND_OF)[keyof typeof KIND_OF];

/** Levels that differ from what is stored. */
export interface LevelChanges {
  readonly domain: DomainRow;
  /** Rows to store; level 0: to remove. */
  readonly rows: readonly ConsumerQuotaLevelRow[];
  /** Quotas to notify of. */
  readonly risen: ReadonlyMap<LevelKind, readonly UsedQuota[]>;
}

/** Finds what to store and to notify of; `null`: nothing. @throws StoreFault */
export async function levelChanges(tx: ReadTransaction, uses: QuotaUses): Promise<LevelChanges | null> {
  const { domain, used, now } = uses;
  const stored = new Map((await tx.quotaLevels.list(domain.id)).map((row) => [keyOf(row), row]));
  if (stored.size === 0 && used.length === 0) return null;
  const owned = await tx.domains.get(domain.id);
  if (owned === null) return null;
  const rows: ConsumerQuotaLevelRow[] = [];
  const risen = new Map<LevelKind, UsedQuota[]>();
  for (const kind of Object.values(KIND_OF))
    if (!(await isQuiet(tx, owned, { kind, now }))) risen.set(kind, []);
  for (const quota of used) {
    const row = rowOf(quota, uses);
    const before = stored.get(keyOf(row));
    stored.delete(keyOf(row));
    const noticed = before?.period_start === row.period_start ? before.level : 0;
    if (row.level > noticed) {
      const waiting = risen.get(kindOf(row.level));
      if (waiting === undefined) continue;
      waiting.push(quota);
    }
    if (row.level !== noticed) rows.push(row);
  }
  // Less is used than the lowest level.
  for (const row of stored.values()) rows.push({ ...row, level: 0 });
  return rows.length === 0 ? null : { domain: owned, rows, risen };
}

/** Stores changes and notifies of them, in a transaction that has read the uses. @throws StoreFault */
export async function notifyLevels(tx: WriteTransaction, uses: QuotaUses): Promise<void> {
  const changes = await levelChanges(tx, uses);
  if (changes === null) return;
  await tx.quotaLevels.put(changes.rows);
  for (const [kind, quotas] of changes.risen) {
    if (quotas.length === 0) continue;
    await notify(tx, { kind, data: dataOf(quotas), domain: changes.domain, now: uses.now });
  }
}

function keyOf({ consumer_id, usage_plan }: ConsumerQuotaLevelRow): string {
  return `${consumer_id} ${usage_plan}`;
}

function rowOf({ consumer, plan, used }: UsedQuota, { domain, now }: QuotaUses): ConsumerQuotaLevelRow {
  const { limit, period } = plan.quota;
  return {
    domain_id: domain.id,
    consumer_id: consumer.id,
    usage_plan: plan.name,
    period_start: period === 'rolling_30d' ? 0 : periodAt(period, now).from,
    level: levelOf(used, limit),
  };
}

function kindOf(level: number): LevelKind {
  return level < 100 ? KIND_OF.near : KIND_OF.reached;
}

/** Whether the last notification of a kind is so recent that the next one waits. Its owner receives each of them. */
async function isQuiet(
  tx: ReadTransaction,
  { id: domain_id, user_id: account_id }: DomainRow,
  { kind, now }: { readonly kind: LevelKind; readonly now: number },
): Promise<boolean> {
  const last = await tx.notifications.lastTo({ account_id, domain_id, kind });
  return last !== null && last > now - CONSUMERS_QUIET_MS;
}

function dataOf(quotas: readonly UsedQuota[]): KindData<LevelKind> {
  assert(quotas.length > 0, 'a notification has a quota');
  return {
    count: quotas.length,
    quotas: quotas.slice(0, NOTIFIED_QUOTAS).map(({ consumer, plan, used }) => ({
      consumer: consumer.username,
      usage_plan: plan.name,
      used,
      limit: plan.quota.limit,
      period: plan.quota.period,
    })),
  };
}
