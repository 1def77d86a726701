/**
 * The tiers of domains, as data, from the smallest to the largest. A tier includes all that the smaller ones include;
 * `test/unit/control/accounts` checks it.
 */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';

/** The allowances of a tier, under the field names of the API document. `null` is unlimited. */
export interface Allowances {
  readonly max_records: number | null;
  readonly max_traffic_gb: number | null;
  /** Rules of one type. */
  readonly max_rules_per_set: number | null;
  readonly max_gateway_requests_30d: number | null;
  readonly max_cache_cap_mb: number;
  readonly max_cache_disk_gb: number;
  readonly max_cache_ttl_days: number;
  /** Types of which no rule can be created; existing rules stay in effect. */
  readonly disabled_rule_types: readonly RuleType[];
  readonly gateways_enabled: boolean;
  readonly logs_enabled: boolean;
  readonly monitoring_enabled: boolean;
  readonly rules_enabled: boolean;
  readonly cache_purge_enabled: boolean;
  readonly custom_ssl_enabled: boolean;
  readonly ws_enabled: boolean;
  readonly host_header_edit_enabled: boolean;
  readonly uptime_sms_enabled: boolean;
  readonly dedicated_support_enabled: boolean;
}

export const TIER_SLUGS = ['free', 'pro', 'business', 'enterprise'] as const;
export type TierSlug = (typeof TIER_SLUGS)[number];

export interface Tier {
  readonly plan_id: number;
  /** The term it is sold for, if a subscription names no other. */
  readonly plan_term_id: number;
  readonly slug: TierSlug;
  readonly name: string;
  readonly billing_duration_days: number;
  readonly quota_reset_days: number;
  readonly allowances: Allowances;
}

const FREE: Allowances = {
  max_records: 100,
  max_traffic_gb: 100,
  max_rules_per_set: 5,
  max_gateway_requests_30d: 0,
  max_cache_cap_mb: 128,
  max_cache_disk_gb: 1,
  max_cache_ttl_days: 1,
  disabled_rule_types: ['fingerprint', 'bot_route', 'waf', 'origin_route', 'origin_pool'],
  gateways_enabled: false,
  logs_enabled: false,
  monitoring_enabled: false,
  rules_enabled: true,
  cache_purge_enabled: true,
  custom_ssl_enabled: false,
  ws_enabled: false,
  host_header_edit_enabled: false,
  uptime_sms_enabled: false,
  dedicated_support_enabled: false,
};

const PRO: Allowances = {
  ...FREE,
  max_records: 500,
  max_traffic_gb: 1_000,
  max_rules_per_set: 50,
  max_cache_cap_mb: 512,
  max_cache_disk_gb: 10,
  max_cache_ttl_days: 3,
  disabled_rule_types: ['fingerprint', 'origin_pool'],
  monitoring_enabled: true,
  custom_ssl_enabled: true,
  ws_enabled: true,
  host_header_edit_enabled: true,
};

const BUSINESS: Allowances = {
  ...PRO,
  max_records: 2_000,
  max_traffic_gb: 10_000,
  max_rules_per_set: 500,
  max_gateway_requests_30d: 1_000_000,
  max_cache_cap_mb: 2_048,
  max_cache_disk_gb: 100,
  max_cache_ttl_days: 7,
  disabled_rule_types: [],
  gateways_enabled: true,
  logs_enabled: true,
  uptime_sms_enabled: true,
};

const ENTERPRISE: Allowances = {
  ...BUSINESS,
  max_records: null,
  max_traffic_gb: null,
  max_rules_per_set: null,
  max_gateway_requests_30d: null,
  max_cache_cap_mb: 4_096,
  max_cache_disk_gb: 1_000,
  dedicated_support_enabled: true,
};

const MONTH = { billing_duration_days: 30, quota_reset_days: 30 };

export const TIERS: readonly Tier[] = [
  { plan_id: 1, plan_term_id: 1, slug: 'free', name: 'Free', ...MONTH, allowances: FREE },
  { plan_id: 2, plan_term_id: 2, slug: 'pro', name: 'Pro', ...MONTH, allowances: PRO },
  { plan_id: 3, plan_term_id: 3, slug: 'business', name: 'Business', ...MONTH, allowances: BUSINESS },
  {
    plan_id: 4,
    plan_term_id: 4,
    slug: 'enterprise',
    name: 'Enterprise',
    billing_duration_days: 365,
    quota_reset_days: 30,
    allowances: ENTERPRISE,
  },
];

/**
 * The tier of domains without a subscription, unless `serve --tier` sets another. An operator who runs the server for
 * their own domains sells no tiers, so the default is the largest.
 */
export const DEFAULT_TIER: TierSlug = 'enterprise';

/** The tier of a slug; `null`: no tier of that slug is offered. */
export function tierOf(slug: string): Tier | null {
  return TIERS.find((tier) => tier.slug === slug) ?? null;
}
