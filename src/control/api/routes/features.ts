/** The entitlements of a domain and the use of its limits. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { RULE_TYPES } from '../../../base/vocabulary/vocabulary.ts';
import type { Entitlements } from '../../accounts/entitlements.ts';
import { GIGABYTE, readGatewayMonth, readQuotaUse } from '../../billing/quota-use.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { ok, operation } from '../operation/route.ts';

/** A limit; `null`: unlimited. */
const limit = z.int().nullable();
const time = z.iso.datetime();

/** The use of one limit. */
const USAGE = z.object({
  name: z.string().describe("the limit's name; of `max_rules_per_set`, followed by the type"),
  used: z.number().describe('the current use, in the unit of the limit'),
  limit: limit.describe('the limit; `null`: unlimited'),
});

/** The entitlements of a domain (API document, "Domain entitlements"). */
const FEATURES = z
  .object({
    plan_id: z.int().describe('the number of the tier'),
    plan_name: z.string().describe('the name of the tier'),
    plan_slug: z.string().describe('the slug of the tier'),
    has_active_plan: z
      .boolean()
      .describe('whether a subscription is in force, or the default tier is not `free`'),
    max_records: limit.describe('DNS records; `null`: unlimited'),
    max_traffic_gb: limit.describe('traffic in a quota period, GB of 10^9 octets; `null`: unlimited'),
    max_rules_per_set: limit.describe('rules of one type; `null`: unlimited'),
    max_gateway_requests_30d: limit.describe('gateway requests in 30 days; `null`: unlimited'),
    max_cache_cap_mb: z.int().describe('the largest `cache_cap_mb` of the domain, MB'),
    max_cache_disk_gb: z.int().describe('disk for cached responses, GB'),
    max_cache_ttl_days: z.int().describe('the longest time that a response may be cached, days'),
    disabled_rule_types: z
      .array(z.enum(RULE_TYPES))
      .describe('types of which no rule can be created; existing rules stay in effect'),
    gateways_enabled: z.boolean().describe('whether gateways may be used'),
    logs_enabled: z.boolean().describe('whether logs may be used'),
    monitoring_enabled: z.boolean().describe('whether monitoring may be used'),
    rules_enabled: z.boolean().describe('whether rules may be created and changed'),
    cache_purge_enabled: z.boolean().describe('whether the cache may be purged'),
    custom_ssl_enabled: z.boolean().describe('whether certificates of the customer may be used'),
    ws_enabled: z.boolean().describe('whether WebSockets are proxied; otherwise nodes answer 403'),
    host_header_edit_enabled: z.boolean().describe('whether the Host header to an origin may be changed'),
    uptime_sms_enabled: z.boolean().describe('whether uptime alerts are sent by SMS'),
    dedicated_support_enabled: z.boolean().describe('whether the tier includes dedicated support'),
    domain_usage: z.array(USAGE).describe('the use of each limit that can be counted'),
    plan_term_id: z.int().describe('the term of the subscription, or the usual one of the tier'),
    billing_duration_days: z.int().describe('days that one payment covers'),
    quota_reset_days: z.int().describe('days of a quota period'),
    quota_period_start: time.describe('the start of the current quota period'),
    quota_period_end: time.describe('the end of the current quota period'),
  })
  .meta({ id: 'Features' });

/** The domain whose use is read. `now`: milliseconds since the epoch. */
interface UsageOf {
  readonly domainId: number;
  readonly entitlements: Entitlements;
  readonly now: number;
}

/** The use of every limit that can be counted; traffic over the quota period, gateways over 30 days. */
async function readUsage(
  tx: ReadTransaction,
  { domainId, entitlements, now }: UsageOf,
): Promise<z.output<typeof USAGE>[]> {
  const records = await tx.records.count(domainId);
  const rules = new Map((await tx.rules.totals(domainId)).map((row) => [row.type, row.rules]));
  const traffic = await readQuotaUse(tx, domainId, { entitlements, now });
  const gatewayRequests = await readGatewayMonth(tx, domainId, now);
  return [
    { name: 'max_records', used: records, limit: entitlements.max_records },
    {
      name: 'max_traffic_gb',
      used: Math.round((traffic.octets / GIGABYTE) * 1_000) / 1_000,
      limit: entitlements.max_traffic_gb,
    },
    {
      name: 'max_gateway_requests_30d',
      used: gatewayRequests,
      limit: entitlements.max_gateway_requests_30d,
    },
    ...RULE_TYPES.map((type) => ({
      name: `max_rules_per_set/${type}`,
      used: rules.get(type) ?? 0,
      limit: entitlements.max_rules_per_set,
    })),
  ];
}

/** `GET /domains/{domain}/features`: the entitlements in force and the use of each countable limit. */
export const features = operation({
  summary: 'What the plan of a domain includes, and current usage against its limits',
  response: FEATURES,
  async handle({ domain, entitlements: resolve, now, read }) {
    const entitlements = await resolve();
    const usage = await read((tx) => readUsage(tx, { domainId: domain.id, entitlements, now }));
    return ok({
      ...entitlements,
      domain_usage: usage,
      quota_period_start: timeText(entitlements.quota_period_start),
      quota_period_end: timeText(entitlements.quota_period_end),
    });
  },
});
