/**
 * Which consumers have exhausted their quota, and until when (semantics §15). In: what nodes have reported of a domain. Out: the
 * exhausted quotas that the registry of the domain has, by which every node refuses those consumers, and the use of quotas whose levels
 * are notified of. A quota counts the admitted
 * requests of a consumer over all gateways of the domain.
 */
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
import { readGatewayUse } from '../traffic/gateway-use.ts';

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

/**
 * Stores what is exhausted now, if that differs from what is stored. False: it does not, and nothing was changed; else the registry has
 * another version, which the caller publishes. @throws StoreFault
 */
export async function settleExhausted(
  tx: QuotaReads & Pick<WriteTransaction, 'exhaustedQuotas'>,
  domain: ReachedDomain,
  now: number,
): Promise<boolean> {
  return storeExhausted(tx, await readQuotaUses(tx, domain, now));
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
interface Counting {
  readonly tx: QuotaReads;
  readonly domain: ReachedDomain;
  readonly now: number;
  /** Admitted requests by consumer, by the start of the time that they are of. */
  readonly sums: Map<number, ReadonlyMap<string, number>>;
}

/** Reads the quotas of a domain that are used up or nearly so. In a write the domain is locked first. @throws StoreFault */
export async function readQuotaUses(tx: QuotaReads, domain: ReachedDomain, now: number): Promise<QuotaUses> {
  const stored = await tx.exhaustedQuotas.list(domain.id);
  const counting: Counting = { tx, domain, now, sums: new Map() };
  const used = await findUsed(counting);
  const exhausted: ExhaustedQuotaRow[] = [];
  for (const { consumer, plan } of used.filter(({ used, plan }) => used >= plan.quota.limit)) {
    const until = await exhaustedUntil(counting, consumer, plan);
    exhausted.push({ domain_id: domain.id, consumer_id: consumer.id, usage_plan: plan.name, until });
  }
  return { domain, now, used, stored, exhausted };
}

async function findUsed(counting: Counting): Promise<readonly UsedQuota[]> {
  const { tx, domain, now } = counting;
  const plans = (await tx.usagePlans.list(domain.id)).map(usagePlanOf).filter(hasQuota);
  const high = new Set<string>();
  for (const { quota } of plans)
    for (const [username, used] of await usedSince(counting, periodAt(quota.period, now).from))
      if (levelOf(used, quota.limit) > 0) high.add(username);
  if (high.size === 0) return [];
  const consumers = await tx.consumers.named(domain.id, [...high]);
  const needsDefaults = consumers.some(({ usage_plan }) => usage_plan === null);
  const defaults = needsDefaults ? await defaultPlans(tx, domain) : new Set<string>();
  const found: UsedQuota[] = [];
  for (const consumer of consumers) {
    for (const plan of plans.filter(({ name }) => appliesTo(consumer, name, defaults))) {
      const { from } = periodAt(plan.quota.period, now);
      const used = (await usedSince(counting, from)).get(consumer.username) ?? 0;
      if (levelOf(used, plan.quota.limit) > 0) found.push({ consumer, plan, used });
    }
  }
  return found;
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

/** Admitted requests by consumer since a time. */
async function usedSince(
  { tx, domain, now, sums }: Counting,
  from: number,
): Promise<ReadonlyMap<string, number>> {
  const known = sums.get(from);
  if (known !== undefined) return known;
  // A node whose clock is ahead reports the next day.
  const use = await readGatewayUse(tx, { domainId: domain.id, from, to: now + DAY_MS });
  const read = new Map([...use].map(([username, { admitted }]) => [username, admitted]));
  sums.set(from, read);
  return read;
}

/** Until when a consumer that has exhausted a quota may send nothing. */
async function exhaustedUntil(
  counting: Counting,
  { username }: Pick<ConsumerHead, 'username'>,
  { quota: { limit, period } }: QuotaPlan,
): Promise<number> {
  const isOver = async (from: number): Promise<boolean> =>
    ((await usedSince(counting, from)).get(username) ?? 0) >= limit;
  const span = periodAt(period, counting.now);
  return period === 'rolling_30d' ? rollingEnd(span, isOver) : span.to;
}

/** The midnight at which so many days are left behind that the sum of the others is below the limit. */
async function rollingEnd(
  { from, to }: PeriodSpan,
  isOver: (from: number) => Promise<boolean>,
): Promise<number> {
  let days = 1;
  while (from + days * DAY_MS < to && (await isOver(from + days * DAY_MS))) days++;
  return to + (days - 1) * DAY_MS;
}
