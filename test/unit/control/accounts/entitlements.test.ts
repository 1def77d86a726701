import { describe, expect, test } from 'vitest';
import {
  inForce,
  judgeActivePlan,
  judgeCeiling,
  refuseFeature,
  resolveEntitlements,
} from '../../../../src/control/accounts/entitlements.ts';
import { TIERS, type TierSlug } from '../../../../src/control/accounts/tiers.ts';
import type { SubscriptionRow } from '../../../../src/control/store/tables/domains.ts';

const NOW = Date.UTC(2026, 5, 15);
const DAY = 86_400_000;

function subscription(changes: Partial<SubscriptionRow> = {}): SubscriptionRow {
  return {
    id: 1,
    domain_id: 1,
    plan_slug: 'pro',
    plan_term_id: 7,
    active: true,
    started_at: NOW - 40 * DAY,
    ends_at: null,
    overrides_json: '{}',
    ...changes,
  };
}

function resolve(bought: SubscriptionRow | null, fallback: TierSlug = 'free') {
  const domain = { created_at: NOW - 100 * DAY };
  return resolveEntitlements({ domain, subscription: bought, fallback, now: NOW });
}

describe('tiers', () => {
  test('include everything of the smaller tiers', () => {
    for (const [index, tier] of TIERS.entries()) {
      const before = TIERS[index - 1]?.allowances;
      if (before === undefined) continue;
      for (const [name, value] of Object.entries(tier.allowances)) {
        const less = before[name as keyof typeof before];
        if (Array.isArray(value)) expect(less, name).toEqual(expect.arrayContaining(value));
        else if (typeof value === 'boolean') expect(value || !less, `${tier.slug}.${name}`).toBe(true);
        else expect(value ?? Infinity, name).toBeGreaterThanOrEqual((less as number | null) ?? Infinity);
      }
    }
    expect(new Set(TIERS.map(({ plan_id }) => plan_id)).size).toBe(TIERS.length);
  });
});

describe('entitlements', () => {
  test('without a subscription are those of the fallback', () => {
    expect(resolve(null)).toMatchObject({ plan_slug: 'free', has_active_plan: false, plan_term_id: 1 });
    expect(resolve(null, 'enterprise')).toMatchObject({ has_active_plan: true, max_records: null });
  });

  test('with a subscription are those of its tier, with the quota period from its start', () => {
    expect(resolve(subscription())).toMatchObject({
      plan_slug: 'pro',
      has_active_plan: true,
      plan_term_id: 7,
      quota_period_start: NOW - 10 * DAY,
      quota_period_end: NOW + 20 * DAY,
    });
  });

  test.each([{ active: false }, { ends_at: NOW }, { ends_at: NOW - 1 }, { plan_slug: 'gone' }])(
    'fall back when the subscription is %j',
    (changes) => expect(resolve(subscription(changes)).plan_slug).toBe('free'),
  );

  test('of a subscription end with it, not before', () => {
    expect(inForce(subscription({ ends_at: NOW + 1 }), NOW)).toBe(true);
    expect(inForce(subscription({ ends_at: NOW }), NOW)).toBe(false);
  });

  test('are overridden one by one, and an invalid override is ignored', () => {
    const overrides = {
      max_records: null,
      max_rules_per_set: 3,
      max_cache_cap_mb: null,
      max_traffic_gb: -1,
      logs_enabled: true,
      ws_enabled: 'no',
      disabled_rule_types: ['waf', 'nothing'],
      plan_slug: 'mine',
    };
    expect(resolve(subscription({ overrides_json: JSON.stringify(overrides) }))).toMatchObject({
      max_records: null,
      max_rules_per_set: 3,
      max_cache_cap_mb: 512,
      max_traffic_gb: 1_000,
      logs_enabled: true,
      ws_enabled: true,
      disabled_rule_types: ['waf'],
      plan_slug: 'pro',
    });
    for (const overrides_json of ['', '[', '7', 'null', '[1]'])
      expect(resolve(subscription({ overrides_json }))).toEqual(resolve(subscription()));
  });
});

describe('verdicts', () => {
  test('name the feature', () => {
    expect(refuseFeature(resolve(null), 'host_header_edit_enabled')).toBe(
      'plan `free` does not include host header editing (`host_header_edit_enabled`)',
    );
    expect(refuseFeature(resolve(subscription()), 'host_header_edit_enabled')).toBeNull();
  });

  test('name the ceiling and the refused value', () => {
    const asked = { field: 'cache_cap_mb', value: 1_024 };
    expect(judgeCeiling(resolve(subscription()), 'max_cache_cap_mb', asked)).toBe(
      'plan `pro` allows `cache_cap_mb` up to 512 (`max_cache_cap_mb`), found 1024',
    );
    expect(judgeCeiling(resolve(subscription()), 'max_cache_cap_mb', { field: 'x', value: 512 })).toBeNull();
  });

  test('name the active plan that a setting needs', () => {
    expect(judgeActivePlan(resolve(null), 'markdown_for_agents')).toBe(
      '`markdown_for_agents` needs an active plan (`has_active_plan`)',
    );
    expect(judgeActivePlan(resolve(subscription()), 'markdown_for_agents')).toBeNull();
  });
});
