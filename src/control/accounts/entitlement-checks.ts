/**
 * Checks of entitlements: each returns `null` (allowed) or the sentence of a 403, which names the feature. The route
 * table lists the checks that need no body; handlers call the checks of a value in the body after they have read it
 * (semantics §6).
 */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { DomainRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { Entitlements } from './entitlements.ts';
import type { Allowances } from './tiers.ts';

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
