/**
 * The gates of the entitlements: each answers `null` (go on) or the sentence of a 403, which names the feature. What
 * can be judged without the request's body stands in the route table; ceilings over a value of the body are judged by
 * whoever has read it (semantics §6).
 */
import type { RuleType } from '../base/vocabulary.ts';
import type { DomainRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { Entitlements } from './entitlements.ts';
import type { Allowances } from './tiers.ts';

export interface EntitlementInput {
  /** Inside a write its transaction, so that what was counted still holds at the commit. */
  readonly tx: ReadTransaction;
  readonly domain: DomainRow;
  entitlements(): Promise<Entitlements>;
}

/** The sentence of the 403, or `null`. */
export type EntitlementCheck = (input: EntitlementInput) => Promise<string | null>;

/** The allowances that are on or off. */
export type Feature = {
  [K in keyof Allowances]: Allowances[K] extends boolean ? K : never;
}[keyof Allowances];

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

/** Lets through domains whose plan has the feature. */
export function checkFeature(feature: Feature): EntitlementCheck {
  return async ({ entitlements }) => refuseFeature(await entitlements(), feature);
}

/** As `featureGate`, where the verdict depends on the body (`host_header`). */
export function refuseFeature(entitlements: Entitlements, feature: Feature): string | null {
  if (entitlements[feature]) return null;
  return `plan \`${entitlements.plan_slug}\` does not include ${FEATURES[feature]} (\`${feature}\`)`;
}

/** Lets through the creation of one more rule of a type. */
export function checkRuleType(type: RuleType): EntitlementCheck {
  return async ({ tx, domain, entitlements }) => {
    const given = await entitlements();
    const closed = refuseFeature(given, 'rules_enabled');
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

/** Lets through the creation of `count` more records. */
export function checkRecordType(count = 1): EntitlementCheck {
  return async ({ tx, domain, entitlements }) => {
    const { plan_slug: plan, max_records: most } = await entitlements();
    if (most === null) return null;
    const there = await tx.records.count(domain.id);
    if (there + count <= most) return null;
    return `plan \`${plan}\` allows ${most} records (\`max_records\`), and there are ${there}`;
  };
}

/** Allowances that bound a number of the domain's settings. */
export type Ceiling = 'max_cache_cap_mb' | 'max_cache_disk_gb' | 'max_cache_ttl_days';

/** The sentence when a setting of the body is above what the plan allows. */
export function judgeCeiling(
  entitlements: Entitlements,
  ceiling: Ceiling,
  { field, value }: { readonly field: string; readonly value: number },
): string | null {
  const most = entitlements[ceiling];
  if (value <= most) return null;
  return `plan \`${entitlements.plan_slug}\` allows \`${field}\` up to ${most} (\`${ceiling}\`), found ${value}`;
}

/** The sentence when the setting needs a plan that is active. */
export function judgeActivePlan(entitlements: Entitlements, field: string): string | null {
  return entitlements.has_active_plan ? null : `\`${field}\` needs an active plan (\`has_active_plan\`)`;
}
