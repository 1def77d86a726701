/**
 * Which consumers have exhausted their quota, and until when (semantics §15). In: what nodes have reported of a domain. Out: the
 * exhausted quotas that the registry of the domain has, by which every node refuses those consumers, and the use of quotas whose levels
 * are notified of. A quota counts the admitted requests of a consumer over all gateways of the domain.
 */
import type { QuotaPeriod } from '../../base/vocabulary/vocabulary.ts';
import { registryNamesOf } from '../../engine/compiler/gateways.ts';
import { type PeriodSpan, periodAt } from '../../engine/plan/quota-period.ts';
import { openPlan } from '../../engine/plan/seal.ts';
import type { UsagePlan } from '../../rules/model/types.ts';
import { QUOTA_LEVELS } from '../notices/limits.ts';
import { usagePlanOf } from '../publishing/plan-registry.ts';
import { findBlob } from '../publishing/revisions.ts';
import type { ConsumerHead } from '../store/registry/consumers.ts';
import type { ReachedDomain } from '../store/repositories/list-uses.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import type { ExhaustedQuotaRow } from '../store/tables/registry.ts';
import { type DayUse, readConsumerUse, readDaysOf, readHighUse } from '../traffic/gateway-use.ts';

const DAY_MS = 86_400_000;

/** The repositories that quotas are read from. */
type QuotaReads = Pick<
  ReadTransaction,
  'usagePlans' | 'consumers' | 'consumerDays' | 'exhaustedQuotas' | 'plans'
>;

/** A usage plan with a quota. */
export type QuotaPlan = UsagePlan & { readonly quota: NonNullable<UsagePlan['quota']> };

/** A quota of a consumer of which at least the lowest of `QUOTA_LEVELS` is used. */
export interface UsedQuota {
  readonly consumer: ConsumerHead;
  readonly plan: QuotaPlan;
  /** Admitted requests of the present period. */
  readonly used: number;
}

/** The use of the quotas of one domain. */
export interface QuotaUses {
  readonly domain: ReachedDomain;
  readonly now: number;
  /** By consumer id. */
  readonly used: readonly UsedQuota[];
  /** What is stored as exhausted. */
  readonly stored: readonly ExhaustedQuotaRow[];
  /** What is exhausted. */
  readonly exhausted: readonly ExhaustedQuotaRow[];
}

/** Whose quotas are read, and when: milliseconds since the epoch. */
export interface QuotaQuery {
  readonly now: number;
  /** This consumer alone; absent: every consumer. */
  readonly consumer?: ConsumerHead;
}

/**
 * Stores what is exhausted now, if that differs from what is stored. False: it does not, and nothing was changed; else the registry has
 * another version, which the caller publishes. @throws StoreFault
 */
export async function settleExhausted(
  tx: QuotaReads & Pick<WriteTransaction, 'exhaustedQuotas'>,
  domain: ReachedDomain,
  query: QuotaQuery,
): Promise<boolean> {
  return storeExhausted(tx, await readQuotaUses(tx, domain, query));
}

/** As `settleExhausted`, of uses that this transaction has read. @throws StoreFault */
export async function storeExhausted(
  tx: Pick<WriteTransaction, 'exhaustedQuotas'>,
  uses: QuotaUses,
): Promise<boolean> {
  const isChanged = isOtherExhausted(uses);
  if (isChanged) await tx.exhaustedQuotas.replace(uses.domain.id, uses.exhausted);
  return isChanged;
}

/** Whether what is exhausted differs from what is stored. */
export function isOtherExhausted({ stored, exhausted, now }: QuotaUses): boolean {
  // Nodes see the end of a quota by themselves.
  return keyOf(stored.filter(({ until }) => until > now)) !== keyOf(exhausted);
}

function keyOf(rows: readonly ExhaustedQuotaRow[]): string {
  return JSON.stringify(
    rows.map(({ consumer_id, usage_plan, until }) => `${consumer_id} ${usage_plan} ${until}`).sort(),
  );
}

/** What quotas of one domain are computed with. */
interface Counting extends QuotaQuery {
  readonly tx: QuotaReads;
  readonly domain: ReachedDomain;
}

/** Reads the quotas of a domain that are used up or nearly so. In a write the domain is locked first. @throws StoreFault */
export async function readQuotaUses(
  tx: QuotaReads,
  domain: ReachedDomain,
  query: QuotaQuery,
): Promise<QuotaUses> {
  const { now, consumer: only } = query;
  const stored = await tx.exhaustedQuotas.list(domain.id);
  const counting: Counting = { tx, domain, ...query };
  const used = await findUsed(counting);
  const exhausted = await findExhausted(
    counting,
    used.filter(({ used, plan }) => used >= plan.quota.limit),
  );
  // Those of other consumers stay as they are.
  const others = stored.filter((row) => only !== undefined && row.consumer_id !== only.id && row.until > now);
  return { domain, now, used, stored, exhausted: [...others, ...exhausted] };
}

async function findUsed(counting: Counting): Promise<readonly UsedQuota[]> {
  const { tx, domain, consumer: only } = counting;
  const plans = (await tx.usagePlans.list(domain.id)).map(usagePlanOf).filter(hasQuota);
  const uses = await readUses(counting, plans);
  const high = new Set<string>();
  for (const { quota } of plans)
    for (const [username, used] of uses.get(quota.period)!)
      if (levelOf(used, quota.limit) > 0) high.add(username);
  if (high.size === 0) return [];
  const consumers = only === undefined ? await tx.consumers.named(domain.id, [...high]) : [only];
  const needsDefaults = consumers.some(({ usage_plan }) => usage_plan === null);
  const defaults = needsDefaults ? await defaultPlans(tx, domain) : new Set<string>();
  const found: UsedQuota[] = [];
  for (const consumer of consumers) {
    for (const plan of plans.filter(({ name }) => appliesTo(consumer, name, defaults))) {
      const used = uses.get(plan.quota.period)!.get(consumer.username) ?? 0;
      if (levelOf(used, plan.quota.limit) > 0) found.push({ consumer, plan, used });
    }
  }
  return found;
}

/** Admitted requests by username in the present period of each kind; consumers that have reached no level of any plan may be absent. */
async function readUses(
  { tx, domain, now, consumer: only }: Counting,
  plans: readonly QuotaPlan[],
): Promise<ReadonlyMap<QuotaPeriod, ReadonlyMap<string, number>>> {
  const uses = new Map<QuotaPeriod, ReadonlyMap<string, number>>();
  for (const { period } of plans.map(({ quota }) => quota)) {
    if (uses.has(period)) continue;
    // A node whose clock is ahead reports the next day.
    const query = { domainId: domain.id, from: periodAt(period, now).from, to: now + DAY_MS };
    if (only === undefined) {
      const limits = plans.filter(({ quota }) => quota.period === period).map(({ quota }) => quota.limit);
      // PERF: the database answers the few consumers that have used most of a quota, not all of the domain.
      const atLeast = Math.ceil((Math.min(...limits) * QUOTA_LEVELS[0]) / 100);
      uses.set(period, await readHighUse(tx, { ...query, atLeast }));
    } else {
      const { admitted } = await readConsumerUse(tx, { ...query, consumer: only.username });
      uses.set(period, new Map([[only.username, admitted]]));
    }
  }
  return uses;
}

/** The highest of `QUOTA_LEVELS` that a use has reached; 0: none. */
export function levelOf(used: number, limit: number): number {
  return QUOTA_LEVELS.findLast((level) => used * 100 >= limit * level) ?? 0;
}

/** The usage plans with a quota that apply to a consumer, by name. @throws StoreFault */
export async function plansOfConsumer(
  tx: QuotaReads,
  domain: ReachedDomain,
  consumer: ConsumerHead,
): Promise<readonly QuotaPlan[]> {
  const plans = (await tx.usagePlans.list(domain.id)).map(usagePlanOf).filter(hasQuota);
  if (plans.length === 0) return [];
  const defaults = consumer.usage_plan === null ? await defaultPlans(tx, domain) : new Set<string>();
  return plans.filter(({ name }) => appliesTo(consumer, name, defaults));
}

/** Whether the consumer has a usage plan, or, having none of its own, a gateway gives it. */
function appliesTo({ usage_plan }: ConsumerHead, name: string, defaults: ReadonlySet<string>): boolean {
  return usage_plan === null ? defaults.has(name) : usage_plan === name;
}

function hasQuota(plan: UsagePlan): plan is QuotaPlan {
  return plan.quota !== null;
}

/** The usage plans of consumers without one of their own, as the plan that nodes have names them. */
async function defaultPlans(tx: QuotaReads, { name }: ReachedDomain): Promise<ReadonlySet<string>> {
  const current = await tx.plans.current(name);
  const bytes = current?.digest == null ? null : await findBlob(tx, current.digest);
  return bytes === null ? new Set() : registryNamesOf(openPlan(bytes, { trusted: true }).plan).usage_plans;
}

/** The rows of exhausted quotas, each with the time until which its consumer may send nothing. */
async function findExhausted(
  { tx, domain, now }: Counting,
  used: readonly UsedQuota[],
): Promise<readonly ExhaustedQuotaRow[]> {
  const rolling = used.filter(({ plan }) => plan.quota.period === 'rolling_30d');
  const { from } = periodAt('rolling_30d', now);
  const consumers = rolling.map(({ consumer }) => consumer.username);
  const days =
    rolling.length === 0
      ? new Map<string, readonly DayUse[]>()
      : await readDaysOf(tx, { domainId: domain.id, consumers, from, to: now + DAY_MS });
  return used.map(({ consumer, plan: { name, quota } }) => {
    const { to } = periodAt(quota.period, now);
    const own = days.get(consumer.username) ?? [];
    const until = quota.period === 'rolling_30d' ? rollingEnd({ from, to }, own, quota.limit) : to;
    return { domain_id: domain.id, consumer_id: consumer.id, usage_plan: name, until };
  });
}

/** The midnight at which so many days are left behind that the sum of the others is below the limit. */
function rollingEnd({ from, to }: PeriodSpan, days: readonly DayUse[], limit: number): number {
  let left = days.reduce((sum, { admitted }) => sum + admitted, 0);
  let end = to;
  for (const { at, admitted } of days) {
    if (left < limit) break;
    left -= admitted;
    // The day is left behind at the midnight that ends the period whose first day it is.
    end = to + (at - from);
  }
  return end;
}
