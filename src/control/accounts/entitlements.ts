/**
 * Resolves the entitlements of a domain: the values of its tier, overridden by its subscription (API document, "Domain
 * entitlements"). Pure: the subscription and a time in, the resolved values out.
 */
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
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
  /** The tier of domains without a subscription in force. */
  readonly fallback: TierSlug;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether a subscription is in force at `now`, milliseconds since the epoch. */
export function inForce(subscription: SubscriptionRow, now: number): boolean {
  return subscription.active && (subscription.ends_at === null || subscription.ends_at > now);
}

/** What a subscription in force allows: its tier with its overrides; `null`: it is not in force, or its tier is not offered. */
export function allowancesOf(subscription: SubscriptionRow, now: number): Allowances | null {
  const tier = inForce(subscription, now) ? tierOf(subscription.plan_slug) : null;
  return tier === null ? null : { ...tier.allowances, ...readOverrides(subscription.overrides_json, tier) };
}

/** The entitlements of a domain. A subscription to a tier that is no longer offered resolves to the fallback tier. */
export function resolveEntitlements({ domain, subscription, fallback, now }: EntitlementsOf): Entitlements {
  const subscribed = subscription !== null && inForce(subscription, now) ? subscription : null;
  const tier = tierOf(subscribed?.plan_slug ?? fallback) ?? tierOf(fallback)!;
  const start = subscribed?.started_at ?? domain.created_at;
  const period = tier.quota_reset_days * DAY;
  const begun = start + Math.max(0, Math.floor((now - start) / period)) * period;
  return {
    ...tier.allowances,
    ...(subscribed === null ? {} : readOverrides(subscribed.overrides_json, tier)),
    plan_id: tier.plan_id,
    plan_name: tier.name,
    plan_slug: tier.slug,
    has_active_plan: subscribed !== null || tier.slug !== 'free',
    plan_term_id: subscribed?.plan_term_id ?? tier.plan_term_id,
    billing_duration_days: tier.billing_duration_days,
    quota_reset_days: tier.quota_reset_days,
    quota_period_start: begun,
    quota_period_end: begun + period,
  };
}

/**
 * The overrides that name an allowance and have a value of its kind; others are ignored, so that a mistake in one
 * override never affects another allowance.
 */
function readOverrides(json: string, tier: Tier): Partial<Allowances> {
  const valid: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parseObject(json))) {
    if (!Object.hasOwn(tier.allowances, name)) continue;
    const usual = tier.allowances[name as keyof Allowances];
    if (name === 'disabled_rule_types') {
      if (Array.isArray(value)) valid[name] = value.filter(isRuleType);
    } else if (typeof usual === 'boolean') {
      if (typeof value === 'boolean') valid[name] = value;
    } else if (isCount(value) || (value === null && !CEILINGS.includes(name))) valid[name] = value;
  }
  return valid as Partial<Allowances>;
}

/** Allowances that are never unlimited (API document). */
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
