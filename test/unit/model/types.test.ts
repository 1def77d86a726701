import { describe, expect, expectTypeOf, it } from 'vitest';
import { RULE_TYPES, type RuleType } from '../../../src/base/vocabulary.ts';
import { parseRuleSet } from '../../../src/model/parse.ts';
import type { RULE_FORMS } from '../../../src/model/rule.ts';
import type { DnsRecord, Domain, HealthCheck, PoolOrigin, Rule } from '../../../src/model/types.ts';
import { LEAST } from './read.ts';

type RuleOf<T extends RuleType> = Extract<Rule, { type: T }>;
/** Every key of a shape, optional ones impossible to forget: the compiler holds this to `types.ts`. */
type Keys<T> = { readonly [K in keyof Required<T>]: true };

const common = {
  id: true,
  type: true,
  record_ids: true,
  enabled: true,
  priority: true,
  host_pattern: true,
  host_match_type: true,
  host_includes: true,
  host_excludes: true,
  action_mode: true,
} as const;
const path = { path_match_type: true, path_includes: true, path_excludes: true } as const;

const RULE_KEYS: { readonly [T in RuleType]: Keys<RuleOf<T>> } = {
  drop: { ...common, ...path, country_match_type: true, countries: true, ip_match_type: true, ips: true },
  fingerprint: { ...common, match_ja4: true, match_ja4h: true, action: true },
  bot_route: {
    ...common,
    bot_kinds: true,
    require_verified: true,
    action: true,
    status: true,
    body: true,
    alt_dest: true,
    alt_port: true,
    alt_scheme: true,
  },
  rate_limit: {
    ...common,
    ...path,
    limit: true,
    window_sec: true,
    key_by: true,
    on_breach: true,
    burst: true,
  },
  waf: {
    ...common,
    ...path,
    paranoia: true,
    threshold: true,
    body_cap_kb: true,
    rule_excludes: true,
    exclusions: true,
    on_uninspected: true,
  },
  redirect: {
    ...common,
    ...path,
    target: true,
    status_code: true,
    preserve_query: true,
    preserve_path: true,
  },
  captcha: { ...common, ...path, ttl_sec: true },
  rewrite: { ...common, ...path, path_target: true, query_mode: true, query_target: true },
  cache: {
    ...common,
    ...path,
    mode: true,
    edge_ttl_sec: true,
    browser_ttl_sec: true,
    query_mode: true,
    query_params: true,
  },
  origin_route: {
    ...common,
    ...path,
    address: true,
    port: true,
    scheme: true,
    host_header: true,
    country: true,
    name: true,
  },
  origin_pool: { ...common, lb_type: true, origins: true, health_check: true, host_header: true, name: true },
  error_page: { ...common, ...path, mode: true, codes: true, content: true },
};
const ORIGIN_KEYS: Keys<PoolOrigin> = {
  address: true,
  port: true,
  scheme: true,
  weight: true,
  node_ids: true,
  country: true,
};
const HEALTH_KEYS: Keys<HealthCheck> = {
  enabled: true,
  path: true,
  interval_sec: true,
  timeout_sec: true,
  unhealthy_threshold: true,
  healthy_threshold: true,
  eject_sec: true,
  host: true,
};
const DOMAIN_KEYS: Keys<Domain> = {
  name: true,
  status: true,
  suspended: true,
  developer_mode_until: true,
  cache_cap_mb: true,
  cache_l2_max_gb: true,
  cache_l2_ttl_days: true,
  sec_no_sniff: true,
  sec_referrer_policy: true,
  sec_strip_headers: true,
  markdown_for_agents: true,
  websockets_off: true,
};
const RECORD_KEYS: Keys<DnsRecord> = {
  id: true,
  name: true,
  type: true,
  destination: true,
  mx_priority: true,
  proxied: true,
  captcha: true,
  scheme: true,
  port: true,
  host_header: true,
  monitor: true,
  timeout: true,
  comment: true,
};

function keysOf(value: object): string[] {
  return Object.keys(value).sort();
}

describe('what the forms produce', () => {
  it('is typed exactly as types.ts has it', () => {
    type Produced<T extends RuleType> = ReturnType<(typeof RULE_FORMS)[T]['finish']> & {
      id: number;
      type: T;
    };
    expectTypeOf<Produced<'drop'>>().toExtend<RuleOf<'drop'>>();
    expectTypeOf<{ [T in RuleType]: keyof Produced<T> }>().toEqualTypeOf<{
      [T in RuleType]: keyof RuleOf<T>;
    }>();
  });

  it('holds these keys and no others', () => {
    const input = {
      domain: { name: 'example.com' },
      records: [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1' }],
      rules: RULE_TYPES.map((type, index) => ({ ...LEAST[type], id: index + 1, type })),
    };
    const parsed = parseRuleSet(input);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
    const { domain, records, rules } = parsed.ruleSet;
    expect(keysOf(domain)).toEqual(keysOf(DOMAIN_KEYS));
    expect(keysOf(records[0]!)).toEqual(keysOf(RECORD_KEYS));
    expect(rules.map(({ type }) => type)).toEqual([...RULE_TYPES]);
    for (const rule of rules) expect(keysOf(rule)).toEqual(keysOf(RULE_KEYS[rule.type]));
    const pool = rules.find((rule) => rule.type === 'origin_pool')!;
    expect(keysOf(pool.origins[0]!)).toEqual(keysOf(ORIGIN_KEYS));
    expect(keysOf(pool.health_check)).toEqual(keysOf(HEALTH_KEYS));
  });
});
