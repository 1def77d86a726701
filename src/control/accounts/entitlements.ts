/**
 * Resolves the entitlements of a domain: the values of its tier, overridden by its subscription (API document, "Domain
 * entitlements"). Pure: the subscription and a time in, the resolved values out.
 */
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { DomainRow, SubscriptionRow } from '../store/tables/domains.ts';
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

// Checks of entitlements: each returns `null` (allowed) or the sentence of a 403, which names the feature. The route
// table lists the checks that need no body; handlers call the checks of a value in the body after they have read it
// (semantics §6).

export interface EntitlementInput {
  /** Inside a write its own transaction, so that a count is still valid at the commit. */
  readonly tx: ReadTransaction;
  readonly domain: DomainRow;
  entitlements(): Promise<Entitlements>;
}

/** Returns the sentence of the 403; `null`: allowed. */
export type EntitlementCheck = (input: EntitlementInput) => Promise<string | null>;

/** The allowances that are true or false. */
export type Feature = {
  [K in keyof Allowances]: Allowances[K] extends boolean ? K : never;
}[keyof Allowances];

/** Names of the features as error messages show them. */
const FEATURES: Readonly<Record<Feature, string>> = {
  gateways_enabled: 'gateways',
  logs_enabled: 'raw logs and top lists',
  monitoring_enabled: 'monitoring',
  rules_enabled: 'edge rules',
  cache_purge_enabled: 'cache purge',
  custom_ssl_enabled: 'custom certificates',
  ws_enabled: 'websockets',
  host_header_edit_enabled: 'host header editing',
  uptime_sms_enabled: 'uptime alerts by SMS',
  dedicated_support_enabled: 'dedicated support',
};

/** Allows domains whose tier includes the feature. */
export function checkFeature(feature: Feature): EntitlementCheck {
  return async ({ entitlements }) => refuseFeature(await entitlements(), feature);
}

/** As `checkFeature`, for a handler whose result depends on the body (`host_header`). */
export function refuseFeature(entitlements: Entitlements, feature: Feature): string | null {
  if (entitlements[feature]) return null;
  return `plan \`${entitlements.plan_slug}\` does not include ${FEATURES[feature]} (\`${feature}\`)`;
}

/** Allows one more rule of a type: by its feature, its type and the number of rules. */
export function checkRuleType(type: RuleType): EntitlementCheck {
  return async ({ tx, domain, entitlements }) => {
    const given = await entitlements();
    const closed =
      refuseFeature(given, 'rules_enabled') ??
      (type === 'gateway' ? refuseFeature(given, 'gateways_enabled') : null);
    if (closed !== null) return closed;
    const { plan_slug: plan, disabled_rule_types: disabled, max_rules_per_set: most } = given;
    if (disabled.includes(type))
      return `plan \`${plan}\` does not include rules of type \`${type}\` (\`disabled_rule_types\`)`;
    if (most === null) return null;
    const count = await tx.rules.count(domain.id, type);
    if (count < most) return null;
    return `plan \`${plan}\` allows ${most} rules of type \`${type}\` (\`max_rules_per_set\`), and there are ${count}`;
  };
}

/** Allows `count` more records. */
export function checkRecordType(count = 1): EntitlementCheck {
  return async ({ tx, domain, entitlements }) => {
    const { plan_slug: plan, max_records: most } = await entitlements();
    if (most === null) return null;
    const there = await tx.records.count(domain.id);
    if (there + count <= most) return null;
    return `plan \`${plan}\` allows ${most} records (\`max_records\`), and there are ${there}`;
  };
}

/** Allowances that limit a numeric setting of the domain. */
export type Ceiling = 'max_cache_cap_mb' | 'max_cache_disk_gb' | 'max_cache_ttl_days';

/** The sentence of the 403 when a setting exceeds the allowance; `null`: allowed. */
export function judgeCeiling(
  entitlements: Entitlements,
  ceiling: Ceiling,
  { field, value }: { readonly field: string; readonly value: number },
): string | null {
  const most = entitlements[ceiling];
  if (value <= most) return null;
  return `plan \`${entitlements.plan_slug}\` allows \`${field}\` up to ${most} (\`${ceiling}\`), found ${value}`;
}

/** The sentence of the 403 when a setting needs an active plan; `null`: allowed. */
export function judgeActivePlan(entitlements: Entitlements, field: string): string | null {
  return entitlements.has_active_plan ? null : `\`${field}\` needs an active plan (\`has_active_plan\`)`;
}
