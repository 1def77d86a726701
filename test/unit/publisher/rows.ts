/** A rule set as the store's rows hold it: what the publisher reads. */
import type { Rule, RuleSet } from '../../../src/model/types.ts';
import type { DomainRows } from '../../../src/publisher/rule-set.ts';
import type { DomainRow, RuleRow } from '../../../src/store/rows.ts';

export const SETTINGS: Omit<DomainRow, 'id' | 'name' | 'user_id'> = {
  status: 'active',
  dns_mode: 'managed',
  ever_active: true,
  verification_token: 'proof',
  verification_started_at: null,
  verification_expires_at: null,
  verified_at: null,
  unproved_since: null,
  pending_since: null,
  moved_since: null,
  next_check_at: null,
  last_manual_ns_check_at: null,
  cache_l2_max_gb: 10,
  cache_l2_ttl_days: 7,
  cache_cap_mb: 128,
  developer_mode_until: null,
  sec_no_sniff: false,
  sec_referrer_policy: false,
  sec_strip_headers: false,
  markdown_for_agents: false,
  outage_alerts: false,
  uptime_threshold_pct: 50,
  uptime_window_min: 5,
  uptime_min_requests: 10,
  uptime_min_active_min: 2,
  uptime_recover_min: 5,
  suspended: false,
  suspended_at: null,
  created_at: 1_000,
  updated_at: 1_000,
};

/** What a rule's row keeps: everything but its place, and an error page's HTML apart. */
export function ruleParts(
  rule: Rule,
): Pick<RuleRow, 'type' | 'priority' | 'body'> & { content: string | null } {
  const { id: _, type, priority, ...fields } = rule;
  if (!('content' in fields)) return { type, priority, body: JSON.stringify(fields), content: null };
  const { content, ...rest } = fields;
  return { type, priority, body: JSON.stringify(rest), content: JSON.stringify(content) };
}

export function toRows({ domain, records, rules }: RuleSet): DomainRows {
  const times = { created_at: 1_000, updated_at: 2_000 };
  const until = domain.developer_mode_until;
  return {
    websocketsOff: domain.websockets_off,
    domain: {
      ...SETTINGS,
      id: 7,
      name: domain.name,
      user_id: 1,
      status: domain.status,
      suspended: domain.suspended,
      developer_mode_until: until === null ? null : Date.parse(until),
    },
    records: records.map((record) => ({ ...record, ...times, domain_id: 7 })),
    rules: rules.map((rule) => {
      const { type, priority, body } = ruleParts(rule);
      return { id: rule.id, domain_id: 7, type, priority, body, ...times };
    }),
    contents: rules.flatMap((rule) => {
      const { content } = ruleParts(rule);
      return content === null ? [] : [{ rule_id: rule.id, content }];
    }),
  };
}
