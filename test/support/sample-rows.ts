/**
 * Sample rows of the store: domain, record, rule, publication, outbox and audit entry. A test states only the columns
 * that it is about.
 */

import type { NewCertificate } from '../../src/control/store/repositories/certificates.ts';
import type { Publication } from '../../src/control/store/repositories/plans.ts';
import type { NewRecord } from '../../src/control/store/repositories/records.ts';
import type { NewRule } from '../../src/control/store/repositories/rules.ts';
import type { WriteTransaction } from '../../src/control/store/store.ts';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import type { NewDomain } from '../../src/control/store/tables/domains.ts';

/** The time of every sample row, in milliseconds since the epoch. */
export const T = 1_800_000_000_000;

/** A domain that waits for its verification. */
export function newDomain(name: string, userId: number, changes: Partial<NewDomain> = {}): NewDomain {
  return {
    name,
    user_id: userId,
    status: 'pending',
    dns_mode: 'managed',
    ever_active: false,
    verification_token: 'token',
    verification_started_at: T,
    verification_expires_at: null,
    verified_at: null,
    unproved_since: T,
    pending_since: T,
    moved_since: null,
    next_check_at: null,
    last_manual_ns_check_at: null,
    cache_l2_max_gb: 1,
    cache_l2_ttl_days: 7,
    cache_cap_mb: 128,
    developer_mode_until: null,
    sec_no_sniff: false,
    sec_referrer_policy: true,
    sec_strip_headers: false,
    markdown_for_agents: false,
    outage_alerts: true,
    uptime_threshold_pct: 50,
    uptime_window_min: 5,
    uptime_min_requests: 10,
    uptime_min_active_min: 3,
    uptime_recover_min: 5,
    suspended: false,
    suspended_at: null,
    created_at: T,
    updated_at: T,
    ...changes,
  };
}

/** A domain that is verified and served, with alerts off. */
export function activeDomain(name: string, userId: number, changes: Partial<NewDomain> = {}): NewDomain {
  return newDomain(name, userId, {
    status: 'active',
    ever_active: true,
    verification_started_at: null,
    unproved_since: null,
    pending_since: null,
    cache_l2_max_gb: 10,
    sec_referrer_policy: false,
    outage_alerts: false,
    ...changes,
  });
}

/** A proxied A record at the apex. */
export function newRecord(domainId: number, changes: Partial<NewRecord> = {}): NewRecord {
  return {
    domain_id: domainId,
    name: '@',
    type: 'A',
    destination: '192.0.2.1',
    mx_priority: null,
    proxied: true,
    captcha: false,
    scheme: 'Default',
    port: null,
    host_header: '',
    monitor: false,
    timeout: null,
    comment: '',
    created_at: T,
    updated_at: T,
    ...changes,
  };
}

/** A drop rule without filters. */
export function newRule(domainId: number, changes: Partial<NewRule> = {}): NewRule {
  return {
    domain_id: domainId,
    type: 'drop',
    priority: 100,
    body: '{}',
    record_ids: [],
    created_at: T,
    updated_at: T,
    ...changes,
  };
}

/** An uploaded certificate of `a.example` that is in force for 90 days, without chain and key. */
export function newCertificate(domainId: number, changes: Partial<NewCertificate> = {}): NewCertificate {
  return {
    domain_id: domainId,
    source: 'custom',
    names_json: '["a.example"]',
    issuer: 'Test CA',
    key_type: 'P-256',
    sha256: '',
    not_before: T,
    not_after: T + 90 * 86_400_000,
    status: 'active',
    error: '',
    renew_at: null,
    noticed: '',
    created_at: T,
    chain: null,
    sealed_key: null,
    ...changes,
  };
}

/** A publication of revision 1. */
export function publication(domain: string, changes: Partial<Publication> = {}): Publication {
  return {
    domain,
    domain_id: 1,
    revision: 1,
    digest: null,
    reason: 'test',
    at: T,
    through: 0,
    ...SERVICE,
    ...changes,
  };
}

/** Inserts an account and a domain that it owns. */
export async function seed(tx: WriteTransaction, name = 'example.com') {
  const account = await tx.accounts.insert({
    name: `owner of ${name}`,
    active: true,
    created_at: T,
    updated_at: T,
  });
  const domain = await tx.domains.insert(newDomain(name, account.id));
  return { account, domain };
}

/** An outbox row for a change of a domain. */
export function outboxRow(domain: { id: number; name: string }, reason = 'rule.create') {
  return { domain_id: domain.id, domain: domain.name, at: T, reason, ...SERVICE };
}

/** An audit entry for a change of a domain. */
export function auditEntry(domain: { id: number; name: string }, action = 'rule.create') {
  return {
    domain_id: domain.id,
    domain: domain.name,
    at: T,
    action,
    subject: '',
    before_json: null,
    after_json: '{}',
    ...SERVICE,
  };
}
