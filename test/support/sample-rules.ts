/** Sample domain, records, rules and requests with every default filled in; a test states what it is about. */
import type {
  Conditions,
  DnsRecord,
  Domain,
  Rule,
  RuleSet,
  ValueCondition,
} from '../../src/rules/model/types.ts';
import { createOracle, type Decision, type EdgeRequest, type OracleEnv } from '../oracle/index.ts';

type OfType<T extends Rule['type']> = Extract<Rule, { type: T }>;

const COMMON = {
  record_ids: [],
  enabled: true,
  priority: 100,
  host_pattern: '',
  host_match_type: '',
  host_includes: [],
  host_excludes: [],
  action_mode: 'enforce',
} as const;

const PATHS = { path_match_type: 'wildcard', path_includes: ['/*'], path_excludes: [] } as const;

const HEALTH_CHECK = {
  enabled: false,
  path: '/',
  interval_sec: 15,
  timeout_sec: 5,
  unhealthy_threshold: 3,
  healthy_threshold: 2,
  eject_sec: 30,
  host: '',
} as const;

/** The least a rule of each type can be. */
const DEFAULTS: { readonly [T in Rule['type']]: Omit<OfType<T>, 'id'> } = {
  drop: {
    type: 'drop',
    ...COMMON,
    ...PATHS,
    country_match_type: 'include',
    countries: [],
    ip_match_type: 'include',
    ips: [],
  },
  fingerprint: { type: 'fingerprint', ...COMMON, match_ja4: [], match_ja4h: [], action: 'drop' },
  bot_route: {
    type: 'bot_route',
    ...COMMON,
    bot_kinds: ['*'],
    require_verified: false,
    action: 'block',
    status: 200,
    body: '',
    alt_dest: '',
    alt_port: null,
    alt_scheme: 'https',
  },
  rate_limit: {
    type: 'rate_limit',
    ...COMMON,
    ...PATHS,
    limit: 2,
    window_sec: 60,
    key_by: 'ip',
    on_breach: 'drop',
    burst: 0,
  },
  gateway: {
    type: 'gateway',
    ...COMMON,
    name: '',
    base_path: '/',
    auth: { require: 'none' },
    operations: [],
    on_unknown_operation: 'block',
    validation: { on_invalid: 'block', on_uninspected: 'pass', body_cap_kb: 64 },
  },
  waf: {
    type: 'waf',
    ...COMMON,
    ...PATHS,
    paranoia: 1,
    threshold: 5,
    body_cap_kb: 128,
    rule_excludes: [],
    exclusions: [],
    on_uninspected: 'score',
  },
  redirect: {
    type: 'redirect',
    ...COMMON,
    ...PATHS,
    target: '/to',
    status_code: 302,
    preserve_query: true,
    preserve_path: false,
  },
  captcha: { type: 'captcha', ...COMMON, ...PATHS, ttl_sec: 1800 },
  rewrite: {
    type: 'rewrite',
    ...COMMON,
    ...PATHS,
    path_target: '',
    query_mode: 'preserve',
    query_target: '',
  },
  cache: {
    type: 'cache',
    ...COMMON,
    ...PATHS,
    mode: 'standard',
    edge_ttl_sec: null,
    browser_ttl_sec: null,
    query_mode: 'all',
    query_params: [],
  },
  origin_route: {
    type: 'origin_route',
    ...COMMON,
    ...PATHS,
    address: '192.0.2.9',
    port: null,
    scheme: 'https',
    host_header: '',
    country: '',
    name: '',
  },
  origin_pool: {
    type: 'origin_pool',
    ...COMMON,
    lb_type: 'round_robin',
    origins: [],
    health_check: HEALTH_CHECK,
    host_header: '',
    name: '',
  },
  error_page: { type: 'error_page', ...COMMON, ...PATHS, mode: 'svc', codes: [500], content: {} },
  headers: { type: 'headers', ...COMMON, ...PATHS },
};

/** A rule of a type that differs from the defaults in the fields given. */
export function rule<T extends Rule['type']>(
  type: T,
  id: number,
  fields: Partial<OfType<T>> = {},
): OfType<T> {
  return { ...DEFAULTS[type], id, ...fields } as unknown as OfType<T>;
}

/** A condition on a header, a query parameter or a cookie, with case unless stated otherwise. */
export function condition(
  name: string,
  op: ValueCondition['op'],
  values: readonly string[] = [],
  { ignore_case = false }: { readonly ignore_case?: boolean } = {},
): ValueCondition {
  return { name, op, values: [...values], ignore_case };
}

/** A proxied A record that differs from the defaults in the fields given. */
export function dnsRecord(id: number, name: string, fields: Partial<DnsRecord> = {}): DnsRecord {
  return {
    id,
    name,
    type: 'A',
    destination: `192.0.2.${id}`,
    mx_priority: null,
    proxied: true,
    captcha: false,
    scheme: 'Default',
    port: null,
    host_header: '',
    monitor: false,
    timeout: null,
    comment: '',
    ...fields,
  };
}

export interface Setting {
  readonly domain?: Partial<Domain>;
  readonly records?: readonly DnsRecord[];
  readonly rules?: readonly Rule[];
}

/** `example.com` as the model makes it of a name alone. */
export const DOMAIN: Domain = {
  name: 'example.com',
  status: 'active',
  suspended: false,
  developer_mode_until: null,
  cache_cap_mb: 128,
  cache_l2_max_gb: 10,
  cache_l2_ttl_days: 7,
  sec_no_sniff: false,
  sec_referrer_policy: false,
  sec_strip_headers: false,
  markdown_for_agents: false,
  websockets_off: false,
};

/** The rule set of `example.com`; without records given, the apex, `www` and `*` are proxied as 1, 2 and 3. */
export function ruleSet({ domain = {}, records, rules = [] }: Setting): RuleSet {
  return {
    domain: {
      ...DOMAIN,
      ...domain,
    },
    records: records ?? [dnsRecord(1, '@'), dnsRecord(2, 'www'), dnsRecord(3, '*')],
    rules,
  };
}

/** A plain GET of `https://example.com/` that differs in the fields given, garbage included. */
export function request(fields: { readonly [F in keyof EdgeRequest]?: unknown } = {}): EdgeRequest {
  const plain = {
    scheme: 'https',
    method: 'GET',
    host: 'example.com',
    target: '/',
    ip: '198.51.100.7',
    now: 0,
  };
  return { ...plain, ...fields } as EdgeRequest;
}

/** The decision of a fresh oracle for one request. */
export function decide(
  setting: Setting,
  fields: Parameters<typeof request>[0] = {},
  env: OracleEnv = {},
): Decision {
  return createOracle(ruleSet(setting), env).evaluate(request(fields));
}

/** Whether a drop rule that conditions alone narrow drops the request. */
export function holds(conditions: Conditions, fields: Parameters<typeof request>[0] = {}): boolean {
  return decide({ rules: [rule('drop', 1, { conditions })] }, fields).action === 'block';
}

/** Conditions, the request, and whether they hold for it. */
export type ConditionRow = readonly [
  conditions: Conditions,
  fields: Parameters<typeof request>[0],
  expected: boolean,
];

/** The rows that the oracle decides otherwise. */
export function wrongRows(rows: readonly ConditionRow[]): readonly ConditionRow[] {
  return rows.filter(([conditions, fields, expected]) => holds(conditions, fields) !== expected);
}
