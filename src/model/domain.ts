/** The part of a domain that shapes what the edge does. */
import { z } from 'zod';
import { normalizeName } from '../base/host.ts';
import { CACHE_CAPS_MB, MAX_DISK_DAYS, MAX_DISK_GB, MAX_HOST_OCTETS } from '../base/limits.ts';
import { DOMAIN_STATUSES } from '../base/vocabulary.ts';
import { converted, flag, integer } from './fields.ts';
import { crossCheck, form } from './form.ts';
import type { Problem } from './report.ts';
import type { Domain } from './types.ts';

/** Fields of the documented domain object that say nothing about how a request is decided. */
const ANSWERED = [
  'id',
  'user_id',
  'dns_mode',
  'verification_started_at',
  'pending_since',
  'moved_since',
  'next_check_at',
  'last_manual_ns_check_at',
  'outage_alerts',
  'uptime_threshold_pct',
  'uptime_window_min',
  'uptime_min_requests',
  'uptime_min_active_min',
  'uptime_recover_min',
  'suspended_at',
  'created_at',
  'updated_at',
  'ssl',
  'subscription',
  'verification',
  'my_role',
  'permissions',
] as const;

/** A domain's name, brought to its canonical form. */
export const domainName = converted((value) => {
  const name = normalizeName(value);
  const whole = name !== null && !name.includes('*') && !/(?:^|\.)[0-9]+$/.test(name);
  return whole ? { value: name } : { problem: INVALID_NAME };
});

const INVALID_NAME: Problem = {
  code: 'invalid_name',
  message: `must be a domain name of at most ${MAX_HOST_OCTETS} octets, without scheme, port or star`,
};

/** An RFC 3339 time. */
const time = converted((value) => {
  const shape = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(value);
  if (shape && Number.isFinite(Date.parse(value.toUpperCase()))) return { value };
  const message = 'must be an RFC 3339 time, like `2030-01-31T12:00:00Z`';
  return { problem: { code: 'invalid_time', message } };
});

export const domainForm = form({
  fields: {
    name: domainName,
    status: z.enum(DOMAIN_STATUSES).default('active'),
    suspended: flag(false),
    developer_mode_until: time.nullable().default(null),
    cache_cap_mb: z.literal(CACHE_CAPS_MB).default(CACHE_CAPS_MB[0]),
    cache_l2_max_gb: integer(1, MAX_DISK_GB).default(10),
    cache_l2_ttl_days: integer(1, MAX_DISK_DAYS).default(MAX_DISK_DAYS),
    sec_no_sniff: flag(false),
    sec_referrer_policy: flag(false),
    sec_strip_headers: flag(false),
    markdown_for_agents: flag(false),
    websockets_off: flag(false),
  },
  ignored: ANSWERED,
  checks: [
    crossCheck<Pick<Domain, 'status'>>(['status'], ({ status }, scope) => {
      if (status === 'active' || status === 'moved') return;
      const message = `is \`${status}\`, so every request is refused with 421`;
      scope.warn(['status'], { code: 'not_serving', message });
    }),
  ],
  finish: (values): Domain => ({
    name: values.name,
    status: values.status,
    suspended: values.suspended,
    developer_mode_until: values.developer_mode_until,
    cache_cap_mb: values.cache_cap_mb,
    cache_l2_max_gb: values.cache_l2_max_gb,
    cache_l2_ttl_days: values.cache_l2_ttl_days,
    sec_no_sniff: values.sec_no_sniff,
    sec_referrer_policy: values.sec_referrer_policy,
    sec_strip_headers: values.sec_strip_headers,
    markdown_for_agents: values.markdown_for_agents,
    websockets_off: values.websockets_off,
  }),
});
