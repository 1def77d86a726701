/** Domains, the accounts that see them, and what they have bought. */
import type { DomainStatus } from '../../../base/vocabulary/vocabulary.ts';
import type { DomainSettings } from '../../../rules/model/domain.ts';
import { accounts, author } from './accounts.ts';
import { flag, id, integer, json, type RowOf, shortId, table, text, time } from './describe.ts';

/** Whose nameservers serve the domain's zone: this service's, or others. */
export const DNS_MODES = ['managed', 'external'] as const;
/** One of DNS_MODES. */
export type DnsMode = (typeof DNS_MODES)[number];

/** Whether each change of rules is published at once, or collected in a draft that somebody publishes. */
export const PUBLISH_MODES = ['automatic', 'manual'] as const;
/** One of PUBLISH_MODES. */
export type PublishMode = (typeof PUBLISH_MODES)[number];

/** Roles that can be granted; `owner` belongs to the account in `user_id` and is never stored. */
export const MEMBER_ROLES = ['viewer', 'editor', 'admin'] as const;
/** One of MEMBER_ROLES. */
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Domains. The settings are those of `rules/model/domain.ts`. */
export const domains = table(
  'domains',
  1,
  {
    id: id(),
    /** Lower-case ASCII without a trailing dot. Unique among proved domains, and among those of one account. */
    name: text().unique(9),
    /** The owning account. */
    user_id: integer().references(accounts),
    status: text<DomainStatus>(),
    dns_mode: text<DnsMode>(),
    /** Once `active`, always true: only such a name owns hosts (semantics §2). */
    ever_active: flag(),
    /** Content of the TXT record that proves ownership. */
    verification_token: text(),
    verification_started_at: time().nullable(),
    verification_expires_at: time().nullable(),
    verified_at: time().nullable(),
    /** Since when a managed domain waits for its delegation; `null`: it waits for none. */
    pending_since: time().nullable(),
    /** Since when the delegation is gone; the grace period starts here. */
    moved_since: time().nullable(),
    /** When the lifecycle acts on the domain next; `null`: nothing is due. */
    next_check_at: time().nullable(),
    /** Time of the last check on request, which is rate limited. */
    last_manual_ns_check_at: time().nullable(),
    cache_l2_max_gb: integer(),
    cache_l2_ttl_days: integer(),
    cache_cap_mb: integer<DomainSettings['cache_cap_mb']>(),
    /** The cache is bypassed before this time. */
    developer_mode_until: time().nullable(),
    sec_no_sniff: flag(),
    sec_referrer_policy: flag(),
    sec_strip_headers: flag(),
    markdown_for_agents: flag(),
    outage_alerts: flag(),
    uptime_threshold_pct: integer(),
    uptime_window_min: integer(),
    uptime_min_requests: integer(),
    uptime_min_active_min: integer(),
    uptime_recover_min: integer(),
    /** In addition to the status: a suspended domain serves nothing. */
    suspended: flag(),
    suspended_at: time().nullable(),
    created_at: time(),
    updated_at: time(),
    /**
     * Since when the name has no proof: from creation on, or since the proof was lost. `null`: it was proved, or the
     * domain is banned, and no other domain can have the name.
     */
    unproved_since: time().nullable().since(9),
    publish_mode: text<PublishMode>().preset('automatic').since(22),
  },
  {
    indexes: {
      domains_by_owner: ['user_id'],
      domains_by_check: { on: ['next_check_at'], where: 'next_check_at IS NOT NULL' },
      domains_proved: {
        on: ['name'],
        unique: true,
        where: "unproved_since IS NULL OR status IN ('active', 'moved')",
        conflict: 'domains.name',
        since: 9,
      },
      domains_by_name: {
        on: ['name', 'user_id'],
        unique: true,
        conflict: 'domains.name, domains.user_id',
        since: 9,
      },
      domains_unproved: { on: ['unproved_since'], where: 'unproved_since IS NOT NULL', since: 9 },
    },
  },
);

/** The documented domain object as far as it is stored. `null` is an absent time. */
export interface DomainRow extends RowOf<typeof domains> {}

/** A domain to insert; it publishes automatically. */
export type NewDomain = Omit<DomainRow, 'id' | 'publish_mode'>;
/** The fields of a domain to change; the others stay. */
export type DomainChanges = Partial<Omit<DomainRow, 'id' | 'name' | 'created_at'>>;

/** A domain and what one account may do there; `null`: nothing, it is invisible to the account. */
export interface SeenDomain {
  readonly domain: DomainRow;
  readonly role: 'owner' | MemberRole | null;
}

/** Roles of accounts at domains that other accounts own. */
export const domainMembers = table(
  'domain_members',
  1,
  {
    domain_id: integer().references(domains, 'cascade'),
    account_id: integer().references(accounts),
    role: text<MemberRole>(),
    created_at: time(),
    updated_at: time(),
  },
  {
    key: ['domain_id', 'account_id'],
    withoutRowid: true,
    indexes: { domain_members_by_account: ['account_id'] },
  },
);

/** An account's role at a domain that another account owns. */
export interface MemberRow extends RowOf<typeof domainMembers> {}

/** Memberships that were offered. They name accounts that may not exist, so they refer to none. */
export const invitations = table(
  'invitations',
  9,
  {
    id: shortId(),
    domain_id: integer().references(domains, 'cascade'),
    /** The name of the invited account; once in a domain. */
    name: text(),
    role: text<MemberRole>(),
    created_at: time(),
    updated_at: time(),
    /** From then on it has lapsed. */
    expires_at: time(),
  },
  {
    unique: ['domain_id', 'name'],
    indexes: { invitations_by_name: ['name', 'id'], invitations_by_end: ['expires_at'] },
  },
);

/**
 * A membership that was offered and is neither accepted nor declined. It names an account, which may not exist (yet), and
 * so applies to an account that is made later under that name.
 */
export interface InvitationRow extends RowOf<typeof invitations> {}

/** What domains have bought; at most one a domain. */
export const subscriptions = table('subscriptions', 1, {
  id: id(),
  domain_id: integer().unique().references(domains, 'cascade'),
  /** The tier's name. */
  plan_slug: text(),
  plan_term_id: integer().nullable(),
  active: flag(),
  started_at: time(),
  ends_at: time().nullable(),
  /** Entitlements that differ from the tier's, as a JSON object. */
  overrides_json: json(),
});

/** What a domain has bought. */
export interface SubscriptionRow extends RowOf<typeof subscriptions> {}

/** New domains whose existing records are still to be scanned for. */
export const recordScans = table(
  'record_scans',
  6,
  {
    domain_id: integer().key().references(domains, 'cascade'),
    ...author,
    /** When it is due. The process that begins it moves this ahead, so that an interrupted scan is begun again. */
    run_at: time(),
    /** How often it was begun. */
    tries: integer(),
  },
  { indexes: { record_scans_by_time: ['run_at'] } },
);

/** A new domain whose existing records are still to be scanned for. */
export interface ScanRow extends RowOf<typeof recordScans> {}

/** The groups of domains that were put into other ones than `default`, as `base/vocabulary/node-groups.ts` writes them. */
export const domainGroups = table('domain_groups', 11, {
  domain_id: integer().key().references(domains, 'cascade'),
  node_groups: text(),
});
