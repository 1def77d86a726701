/**
 * What rules look like on the wire, for the OpenAPI document: one object per type for answers, and made from it what a
 * create and an update may carry. What is really accepted is judged by the forms of `model`.
 */
import { z } from 'zod';
import {
  ACTION_MODES,
  BOT_ACTIONS,
  BOT_KINDS,
  BREACH_ACTIONS,
  CACHE_MODES,
  CACHE_QUERY_MODES,
  ERROR_PAGE_MODES,
  FINGERPRINT_ACTIONS,
  HOST_MATCH_TYPES,
  LB_TYPES,
  LIST_MATCH_TYPES,
  ORIGIN_SCHEMES,
  PATH_MATCH_TYPES,
  RATE_KEYS,
  REDIRECT_STATUSES,
  REWRITE_QUERY_MODES,
  RULE_TYPES,
  type RuleType,
  UNINSPECTED_MODES,
} from '../../base/vocabulary.ts';
import { ruleForm } from '../../model/rule.ts';

const texts = z.array(z.string());

const COMMON = {
  record_ids: z
    .array(z.int())
    .describe('proxied records the rule applies to; empty: every one of the domain'),
  enabled: z.boolean(),
  priority: z.int().describe('lower runs first'),
  host_pattern: z.string().describe('legacy: one more entry of host_includes'),
  host_match_type: z.enum(HOST_MATCH_TYPES),
  host_includes: texts,
  host_excludes: texts,
  action_mode: z.enum(ACTION_MODES),
};

const PATH = { path_match_type: z.enum(PATH_MATCH_TYPES), path_includes: texts, path_excludes: texts };

const ORIGIN = z.object({
  address: z.string(),
  port: z.int().nullable(),
  scheme: z.enum(ORIGIN_SCHEMES),
  weight: z.int(),
  node_ids: z.array(z.int()),
  country: z.string(),
});

const HEALTH_CHECK = z.object({
  enabled: z.boolean(),
  path: z.string(),
  interval_sec: z.int(),
  timeout_sec: z.int(),
  unhealthy_threshold: z.int(),
  healthy_threshold: z.int(),
  eject_sec: z.int(),
  host: z.string(),
});

const WAF_EXCLUSION = z.object({
  id: z.int().nullable().describe('the signature; null where `tag` says which'),
  tag: z
    .string()
    .describe('every signature with this tag, such as `attack-sqli`; empty where `id` says which'),
  target: z
    .string()
    .describe(
      'what the signatures do not look at: `ARGS:comment`, `REQUEST_COOKIES:sess*`, `REQUEST_HEADERS`; empty: they do not count at all',
    ),
  path: z.string().describe('where this holds: a wildcard over the canonical path, every path by default'),
});

const WAF_EXCLUSIONS =
  'signatures that leave out a target, or do not count, on some paths; each names one by `id` or a group by `tag`';

/** The fields of each type that are both written and read. */
const OWN = {
  drop: {
    ...PATH,
    country_match_type: z.enum(LIST_MATCH_TYPES),
    countries: texts,
    ip_match_type: z.enum(LIST_MATCH_TYPES),
    ips: texts,
  },
  fingerprint: { match_ja4: texts, match_ja4h: texts, action: z.enum(FINGERPRINT_ACTIONS) },
  bot_route: {
    bot_kinds: z.array(z.enum(['*', ...BOT_KINDS])),
    require_verified: z.boolean(),
    action: z.enum(BOT_ACTIONS),
    status: z.int(),
    body: z.string(),
    alt_dest: z.string(),
    alt_port: z.int().nullable(),
    alt_scheme: z.enum(ORIGIN_SCHEMES),
  },
  rate_limit: {
    ...PATH,
    limit: z.int(),
    window_sec: z.int(),
    key_by: z.enum(RATE_KEYS),
    on_breach: z.enum(BREACH_ACTIONS),
    burst: z.int(),
  },
  waf: {
    ...PATH,
    paranoia: z.int(),
    threshold: z.int(),
    body_cap_kb: z.int(),
    rule_excludes: texts.describe('ids of signatures that do not count'),
    exclusions: z.array(WAF_EXCLUSION).describe(WAF_EXCLUSIONS),
    on_uninspected: z
      .enum(UNINSPECTED_MODES)
      .describe(
        'what follows when a body cannot be parsed as its Content-Type says, is in a coding that does not inflate, was not read, or is longer than `body_cap_kb`: `score` adds 5 but for the part beyond the cap, `block` blocks, `pass` does nothing',
      ),
  },
  redirect: {
    ...PATH,
    target: z.string(),
    status_code: z.literal(REDIRECT_STATUSES),
    preserve_query: z.boolean(),
    preserve_path: z.boolean(),
  },
  captcha: { ...PATH, ttl_sec: z.int() },
  rewrite: {
    ...PATH,
    path_target: z.string(),
    query_mode: z.enum(REWRITE_QUERY_MODES),
    query_target: z.string(),
  },
  cache: {
    ...PATH,
    mode: z.enum(CACHE_MODES),
    edge_ttl_sec: z.int().nullable(),
    browser_ttl_sec: z.int().nullable(),
    query_mode: z.enum(CACHE_QUERY_MODES),
    query_params: texts,
  },
  origin_route: {
    ...PATH,
    address: z.string(),
    port: z.int().nullable(),
    scheme: z.enum(ORIGIN_SCHEMES),
    host_header: z.string(),
    country: z.string(),
    name: z.string(),
  },
  origin_pool: {
    lb_type: z.enum(LB_TYPES),
    origins: z.array(ORIGIN),
    health_check: HEALTH_CHECK,
    host_header: z.string(),
    name: z.string(),
  },
  error_page: { ...PATH, mode: z.enum(ERROR_PAGE_MODES), codes: z.array(z.int()) },
} as const satisfies Readonly<Record<RuleType, z.ZodRawShape>>;

/** What became of the www record of a canonical redirect (API document, "redirect"). */
const WWW_RECORDS = [
  'created',
  'created_external',
  'covered',
  'unproxied',
  'no_apex',
  'limit',
  'failed',
] as const;
export type WwwRecord = (typeof WWW_RECORDS)[number];

/** Fields of some types that only answers carry, and where. */
const ANSWERED: Partial<Record<RuleType, z.ZodRawShape>> = {
  redirect: { www_record: z.enum(WWW_RECORDS).optional().describe('only in the answer to a create') },
  error_page: {
    content: z.record(z.string(), z.string()).optional().describe('left out in lists'),
    content_codes: z.array(z.int()),
    content_bytes: z.record(z.string(), z.int()).describe('empty in lists'),
  },
};

/** Fields that are written in another shape than they are read. */
const WRITTEN: Partial<Record<RuleType, z.ZodRawShape>> = {
  origin_pool: {
    origins: z.array(ORIGIN.partial().required({ address: true })),
    health_check: HEALTH_CHECK.partial(),
  },
  waf: { exclusions: z.array(WAF_EXCLUSION.partial()).describe(WAF_EXCLUSIONS) },
  error_page: { content: z.record(z.string(), z.string()) },
};

const SCOPE = {
  record_id: z.int().nullable().optional().describe('deprecated: use record_ids').meta({ deprecated: true }),
  record_ids: z.array(z.int()).nullable().optional(),
};

interface RuleShapes {
  readonly answer: z.ZodType;
  readonly create: z.ZodType;
  readonly update: z.ZodType;
}

/** The shapes of each type. */
export const RULE_SHAPES = Object.fromEntries(RULE_TYPES.map((type) => [type, shapesOf(type)])) as Readonly<
  Record<RuleType, RuleShapes>
>;

function shapesOf(type: RuleType): RuleShapes {
  const name = type.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const answer = z.object({
    id: z.int(),
    domain_id: z.int(),
    type: z.literal(type),
    record_id: z.int().optional().meta({ deprecated: true }),
    ...COMMON,
    ...OWN[type],
    ...ANSWERED[type],
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  });
  const written: z.ZodRawShape = { ...COMMON, ...OWN[type], ...WRITTEN[type] };
  const update = z.object({ ...z.object(written).partial().shape, ...SCOPE });
  const create = z.object({
    ...update.shape,
    ...Object.fromEntries(Object.entries(written).filter(([field]) => isRequired(type, field))),
  });
  return {
    answer: answer.meta({ id: `${name}Rule` }),
    create: create.meta({ id: `${name}RuleCreate` }),
    update: update.meta({ id: `${name}RuleUpdate` }),
  };
}

function isRequired(type: RuleType, field: string): boolean {
  const fields: Readonly<Record<string, z.ZodType>> = ruleForm(type).fields;
  return fields[field]?.safeParse(undefined).success === false;
}
