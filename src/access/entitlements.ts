/**
 * What a domain may use: its tier's values, then what its subscription says otherwise (API document, "Domain
 * entitlements"). Pure: the subscription and the moment come in, the resolved values go out.
 */
import { RULE_TYPES, type RuleType } from '../base/vocabulary.ts';
import type { DomainRow, SubscriptionRow } from '../store/rows.ts';
import { type Allowances, type Tier, type TierSlug, tierOf } from './tiers.ts';

/** The entitlements of one domain at one moment. Sizes as named; `null` is unlimited. */
export interface Entitlements extends Allowances {
  readonly plan_id: number;
  readonly plan_name: string;
  readonly plan_slug: string;
  readonly has_active_plan: boolean;
  readonly plan_term_id: number;
  readonly billing_duration_days: number;
  readonly quota_reset_days: number;
  /** Milliseconds since the epoch. */
  readonly quota_period_start: number;
  readonly quota_period_end: number;
}

const DAY = 86_400_000;

export interface EntitlementsOf {
  readonly domain: Pick<DomainRow, 'created_at'>;
  readonly subscription: SubscriptionRow | null;
  /** The tier of domains that have no subscription in force. */
  readonly fallback: TierSlug;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether a subscription is in force at a moment. */
export function inForce(subscription: SubscriptionRow, now: number): boolean {
  return subscription.active && (subscription.ends_at === null || subscription.ends_at > now);
}

/** Resolves what a domain may use. A subscription to a tier that is no longer offered gives the fallback's values. */
export function resolveEntitlements({ domain, subscription, fallback, now }: EntitlementsOf): Entitlements {
  const bought = subscription !== null && inForce(subscription, now) ? subscription : null;
  const tier = tierOf(bought?.plan_slug ?? fallback) ?? tierOf(fallback)!;
  const start = bought?.started_at ?? domain.created_at;
  const period = tier.quota_reset_days * DAY;
  const begun = start + Math.max(0, Math.floor((now - start) / period)) * period;
  return {
    ...tier.allowances,
    ...(bought === null ? {} : readOverrides(bought.overrides_json, tier)),
    plan_id: tier.plan_id,
    plan_name: tier.name,
    plan_slug: tier.slug,
    has_active_plan: bought !== null || tier.slug !== 'free',
    plan_term_id: bought?.plan_term_id ?? tier.plan_term_id,
    billing_duration_days: tier.billing_duration_days,
    quota_reset_days: tier.quota_reset_days,
    quota_period_start: begun,
    quota_period_end: begun + period,
  };
}

/**
 * The overrides that name an allowance and have its kind of value; anything else is left out, so that a slip in one
 * override never opens or closes another gate.
 */
function readOverrides(json: string, tier: Tier): Partial<Allowances> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parseObject(json))) {
    if (!Object.hasOwn(tier.allowances, name)) continue;
    const usual = tier.allowances[name as keyof Allowances];
    if (name === 'disabled_rule_types') {
      if (Array.isArray(value)) kept[name] = value.filter(isRuleType);
    } else if (typeof usual === 'boolean') {
      if (typeof value === 'boolean') kept[name] = value;
    } else if (isCount(value) || (value === null && !CEILINGS.includes(name))) kept[name] = value;
  }
  return kept as Partial<Allowances>;
}

/** The limits that always have a number (API document). */
export const CEILINGS: readonly string[] = ['max_cache_cap_mb', 'max_cache_disk_gb', 'max_cache_ttl_days'];

function isRuleType(value: unknown): value is RuleType {
  return (RULE_TYPES as readonly unknown[]).includes(value);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function parseObject(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
