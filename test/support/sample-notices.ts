/** One notification of every kind, as rows of the store. */
import type { KindData, KindName } from '../../src/control/notices/kinds.ts';
import type { NotificationRow } from '../../src/control/store/tables/notifications.ts';

const names = ['shop.example', 'www.shop.example'];

/** Data of each kind. */
export const SAMPLE_NOTICES: { readonly [Name in KindName]: KindData<Name> } = {
  'domain.activated': { previous_status: 'pending', reason: null },
  'domain.moved': { dns_mode: 'managed', disabled_at: '2026-12-02T04:30:00.000Z' },
  'domain.disabled': { cause: 'grace_period', reason: null },
  'domain.banned': { reason: 'phishing, ticket 4711' },
  'domain.suspended': { reason: 'wallet below zero' },
  'domain.resumed': { reason: null },
  'domain.shared': {
    event: 'invited',
    role: 'editor',
    account: null,
    invitation_id: 7,
    expires_at: '2026-12-09T04:30:00.000Z',
  },
  'outage.opened': {
    incident_id: 3,
    since: '2026-11-25T04:21:00.000Z',
    window_min: 5,
    requests: 12_345,
    errors: 12_001,
  },
  'outage.resolved': {
    incident_id: 3,
    since: '2026-11-25T04:21:00.000Z',
    until: '2026-11-25T05:03:00.000Z',
    cause: 'recovered',
  },
  'certificate.issued': { names, issuer: "Let's Encrypt R12", not_after: '2027-02-23T04:30:00.000Z' },
  'certificate.expiring': { names, source: 'custom', not_after: '2026-12-02T04:30:00.000Z', days: 7 },
  'certificate.expired': { names, source: 'custom', not_after: '2026-11-25T04:30:00.000Z' },
  'certificate.failed': {
    names,
    error: 'CAA record of shop.example prevents issuance',
    next_try_at: '2026-11-25T10:30:00.000Z',
  },
  'publication.failed': { since: '2026-11-25T04:29:51.000Z', attempts: 3, code: 'compile' },
  'list.refused': {
    list: 'scanners',
    host: 'lists.example.net',
    code: 'shrunk',
    reason: '3 entries in place of 40, fewer than half',
    entry_count: 40,
  },
  'consumer_quota.near': {
    count: 1,
    quotas: [{ consumer: 'acme', usage_plan: 'gold', used: 812, limit: 1_000, period: 'month' }],
  },
  'consumer_quota.reached': {
    count: 12,
    quotas: [{ consumer: 'acme', usage_plan: 'gold', used: 1_000, limit: 1_000, period: 'rolling_30d' }],
  },
  'token_issuer.failed': {
    token_issuer: 'idp',
    host: 'idp.example.net',
    reason: 'status 503',
    failures: 4,
    fetched_at: '2026-11-25T02:24:00.000Z',
    key_count: 2,
  },
  'node.lost': { node: 'eu-1', node_groups: ['eu', 'us'], last_seen_at: '2026-11-25T04:24:00.000Z' },
  'quota.near': {
    quota: 'gateway_requests',
    used: 812_344,
    limit: 1_000_000,
    period_end: '2026-12-01T00:00:00.000Z',
  },
  'quota.reached': {
    quota: 'gateway_requests',
    used: 1_000_000,
    limit: 1_000_000,
    period_end: '2026-12-01T00:00:00.000Z',
  },
  'key.created': { key_id: 12, name: 'dashboard', read_only: true, expires_at: '2027-02-23T04:30:00.000Z' },
  'key.revoked': { key_id: 12, name: 'dashboard', read_only: true },
  'ticket.opened': {
    ticket_id: 12,
    subject: 'Certificate of shop.example',
    about: 'shop.example',
    account: 'shop',
  },
  'ticket.answered': {
    ticket_id: 12,
    subject: 'Certificate of shop.example',
    about: 'shop.example',
    answer: 'The validation failed for www.shop.example.\n\nPlease remove its CAA record, then issue again.',
    complete: true,
  },
  'ticket.closed': { ticket_id: 12, subject: 'Certificate of shop.example', about: null },
  'account.test': {},
};

/** The time of the samples. */
export const SAMPLE_AT = Date.parse('2026-11-25T04:30:00.000Z');

/** The row of a kind. */
export function sampleRow(kind: KindName): NotificationRow {
  const ofDomain = !/^(?:key|node|account|ticket)\./.test(kind);
  return {
    id: 17,
    account_id: 1,
    domain_id: ofDomain ? 3 : null,
    domain: ofDomain ? 'shop.example' : '',
    kind,
    data_json: JSON.stringify(SAMPLE_NOTICES[kind]),
    created_at: SAMPLE_AT,
    read_at: null,
  };
}
