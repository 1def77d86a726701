/**
 * The domain object of the API (API document, "Domain"): its schema and how it is made from rows, the forms of a new
 * domain (`DomainCreate`) and of a change (`DomainUpdate`), and the checks of settings against the plan.
 */
import { z } from 'zod';
import { timeText } from '../../base/text/time.ts';
import { SETTING_SWITCHES } from '../../base/vocabulary/switches.ts';
import { DOMAIN_STATUSES } from '../../base/vocabulary/vocabulary.ts';
import {
  DEFAULT_SETTINGS,
  DOMAIN_SETTINGS,
  type DomainSettings,
  domainName,
  settingsOf,
} from '../../rules/model/domain.ts';
import { checked, documentFields } from '../../rules/model/fields.ts';
import { crossCheck, type FormValues, form, partially } from '../../rules/model/form.ts';
import { type Entitlements, inForce, judgeActivePlan, judgeCeiling } from '../accounts/entitlements.ts';
import { PERMISSIONS, permissionsOf, ROLES, type Role } from '../accounts/roles.ts';
import { SSL, summarizeSsl } from '../certificates/shapes.ts';
import { challengeHost, MAX_CHALLENGED_OCTETS } from '../domains/challenge.ts';
import { takesChallenge } from '../domains/state.ts';
import type { ReadTransaction } from '../store/store.ts';
import { DNS_MODES, type DnsMode, type DomainRow, type SubscriptionRow } from '../store/tables/domains.ts';
import { badRequest, forbidden } from './operation/refusal.ts';

/** An RFC 3339 time in UTC, see `timeText`. */
const time = z.iso.datetime();

/** The subscription in force; a domain without one shows none. */
const SUBSCRIPTION = z.object({
  id: z.int(),
  plan_slug: z.string(),
  plan_term_id: z.int().nullable(),
  started_at: time,
  ends_at: time.nullable(),
});

/** The fields of a domain in both forms; times are absent where the event has not happened. */
const SUMMARY = {
  id: z.int().describe('the id of the domain'),
  name: z.string().describe('the name, in lower case and Punycode'),
  status: z.enum(DOMAIN_STATUSES).describe('the state; nodes serve a domain that is `active` or `moved`'),
  dns_mode: z.enum(DNS_MODES).describe('`managed`: delegated to our nameservers; `external`: DNS elsewhere'),
  user_id: z.int().describe('the account that owns the domain'),
  verification_started_at: time.optional().describe('when its current verification started'),
  pending_since: time.optional().describe('since when the delegation is awaited'),
  moved_since: time.optional().describe('since when the delegation leads elsewhere'),
  next_check_at: time.optional().describe('when the delegation is checked next'),
  last_manual_ns_check_at: time.optional().describe('when check-ns was last called'),
  suspended: z
    .boolean()
    .describe('whether the service has suspended the domain; nodes then refuse its requests'),
  suspended_at: time.optional().describe('when it was suspended'),
  created_at: time.describe('when the domain was added'),
  updated_at: time.describe('when it was last changed'),
  ssl: SSL.describe('its certificates in short'),
  subscription: SUBSCRIPTION.optional().describe(
    'the subscription in force; absent: the default tier applies',
  ),
  my_role: z.enum(ROLES).describe('the role of the account that asks'),
} as const;

/** A domain in the list. */
export const domainSummary = z.object(SUMMARY).meta({ id: 'DomainSummary' });

/** A domain in the answer to a read of it alone: the summary with settings, verification and permissions. */
export const domainDetail = z
  .object({
    ...SUMMARY,
    ...documentFields(DOMAIN_SETTINGS, 'answer'),
    developer_mode_until: time.optional(),
    verification: z
      .object({
        host: z.string(),
        type: z.literal('TXT'),
        value: z.string(),
        verified: z.boolean(),
        expires_at: time.optional(),
        seconds_remaining: z.int().optional(),
      })
      .optional(),
    permissions: z.array(z.enum(PERMISSIONS)),
  })
  .meta({ id: 'Domain' });

/** A domain in the form of the list. */
export type DomainSummary = z.output<typeof domainSummary>;
/** A domain in the full form. */
export type DomainDetail = z.output<typeof domainDetail>;

/** A domain to show, with the caller's role. `now`: milliseconds since the epoch. */
interface Shown {
  readonly domain: DomainRow;
  readonly role: Role;
  readonly now: number;
}

/** The summary of a domain, read from rows of its certificates, records and subscription. */
export async function showSummary(tx: ReadTransaction, { domain, role, now }: Shown): Promise<DomainSummary> {
  const certificates = await tx.certificates.list(domain.id);
  const records = await tx.records.list(domain.id);
  const subscription = await tx.subscriptions.get(domain.id);
  const times = {
    verification_started_at: domain.verification_started_at,
    pending_since: domain.pending_since,
    moved_since: domain.moved_since,
    next_check_at: domain.next_check_at,
    last_manual_ns_check_at: domain.last_manual_ns_check_at,
    suspended_at: domain.suspended_at,
  };
  return {
    id: domain.id,
    name: domain.name,
    status: domain.status,
    dns_mode: domain.dns_mode,
    user_id: domain.user_id,
    ...presentTimes(times),
    suspended: domain.suspended,
    created_at: timeText(domain.created_at),
    updated_at: timeText(domain.updated_at),
    ssl: summarizeSsl(domain.name, { certificates, records, now }),
    ...(subscription !== null && inForce(subscription, now)
      ? { subscription: showSubscription(subscription) }
      : {}),
    my_role: role,
  };
}

/** The full form of a domain. */
export async function showDetail(tx: ReadTransaction, shown: Shown): Promise<DomainDetail> {
  const { domain, role, now } = shown;
  const developing = domain.developer_mode_until !== null && domain.developer_mode_until > now;
  return {
    ...(await showSummary(tx, shown)),
    ...settingsOf(domain),
    ...presentTimes({ developer_mode_until: developing ? domain.developer_mode_until : null }),
    ...showVerification(domain, now),
    permissions: [...permissionsOf(role)],
  };
}

/** The part of a domain that its ETag covers: all but the fields that only count down with time. */
export function isCacheable(domain: DomainSummary | DomainDetail): unknown {
  const { days_remaining: _days, ...ssl } = domain.ssl;
  if (!('verification' in domain) || domain.verification === undefined) return { ...domain, ssl };
  const { seconds_remaining: _seconds, ...verification } = domain.verification;
  return { ...domain, ssl, verification };
}

/** The times that are set, as texts; `null` ones are left out. */
function presentTimes<Name extends string>(
  times: Readonly<Record<Name, number | null>>,
): { readonly [K in Name]?: string } {
  const present = Object.entries<number | null>(times).flatMap(([name, at]) =>
    at === null ? [] : [[name, timeText(at)]],
  );
  return Object.fromEntries(present);
}

/** The pending or finished proof by TXT record; nothing where the domain takes no such proof. */
function showVerification(domain: DomainRow, now: number): Pick<DomainDetail, 'verification'> {
  const host = takesChallenge(domain) ? challengeHost(domain.name) : null;
  if (host === null || domain.verification_token === '') return {};
  const expires = domain.verification_expires_at;
  const left = expires === null ? null : Math.max(0, Math.floor((expires - now) / 1_000));
  return {
    verification: {
      host,
      type: 'TXT',
      value: domain.verification_token,
      verified: domain.verified_at !== null,
      ...(expires === null || left === null
        ? {}
        : { expires_at: timeText(expires), seconds_remaining: left }),
    },
  };
}

/** A subscription in the form of the API. */
function showSubscription(row: SubscriptionRow): z.output<typeof SUBSCRIPTION> {
  return {
    id: row.id,
    plan_slug: row.plan_slug,
    plan_term_id: row.plan_term_id,
    started_at: timeText(row.started_at),
    ends_at: row.ends_at === null ? null : timeText(row.ends_at),
  };
}

/** A partial update of a domain, as its form returns it. */
export interface DomainUpdate {
  /** The settings that the request has, changed or not. */
  readonly settings: Partial<DomainSettings>;
  /** `undefined`: the mode stays. */
  readonly dns_mode: DnsMode | undefined;
  /** `developer_mode_until: null` ends developer mode; a time, as a GET shows it, is ignored. */
  readonly endDeveloperMode: boolean;
}

/** The fields of an answer; an update accepts and ignores those that it cannot change. */
const SHOWN = Object.keys(domainDetail.shape);

/** Who serves the DNS of a domain. */
const DNS_MODE = z
  .enum(DNS_MODES)
  .describe(
    '`managed`: the name servers of the service answer for the domain; `external`: those of another provider',
  )
  .meta({ examples: ['external'] });

/** A partial update; fields that only answers carry are ignored, so that what was read can be sent back. */
export const domainUpdateForm = form({
  fields: {
    dns_mode: DNS_MODE.optional(),
    developer_mode_until: z
      .string()
      .meta({ format: 'date-time' })
      .nullable()
      .optional()
      .describe('null ends developer mode; a time, as a GET shows it, is ignored')
      .meta({ examples: [null] }),
    ...partially(DOMAIN_SETTINGS),
  },
  ignored: SHOWN,
  finish: ({ dns_mode, developer_mode_until, ...settings }): DomainUpdate => ({
    settings: dropAbsent(settings),
    dns_mode,
    endDeveloperMode: developer_mode_until === null,
  }),
});

/**
 * The name of a new domain: at least two labels, since a single label belongs to a registry and no account can prove
 * it. Names of records may have other characters than letters, digits and hyphens; the name of a zone may not (RFC 1123
 * §2.1).
 */
const registrable = checked(domainName, (name) => {
  const code = 'invalid_name';
  if (!name.includes('.')) return { code, message: 'must have at least two labels' };
  const plain = name.split('.').every((label) => /^[a-z0-9-]+$/.test(label) && !/^-|-$/.test(label));
  return plain ? null : { code, message: 'must have labels of letters, digits and inner hyphens' };
});

/** Why a name cannot be proven by a TXT record. */
export const NO_ROOM = 'the name leaves no room for the TXT record that would prove it';

/** The fields of a new domain. */
const CREATE_FIELDS = {
  name: registrable.describe('name of the domain, at least two labels').meta({ examples: ['example.com'] }),
  dns_mode: DNS_MODE.default('managed'),
};

/** Checks that an external domain leaves room for its TXT record, since only that record can prove it. */
const provable = crossCheck<FormValues<typeof CREATE_FIELDS>>(['name', 'dns_mode'], (values, scope) => {
  if (values.dns_mode !== 'external' || challengeHost(values.name) !== null) return;
  const message = `must be at most ${MAX_CHALLENGED_OCTETS} octets while \`dns_mode\` is \`external\`: ${NO_ROOM}`;
  scope.error(['name'], { code: 'too_long', message, found: `${values.name.length} octets` });
});

/** The form of a new domain. */
export const domainCreateForm = form({
  fields: CREATE_FIELDS,
  ignored: [],
  checks: [provable],
  finish: ({ name, dns_mode }): { readonly name: string; readonly dns_mode: DnsMode } => ({ name, dns_mode }),
});

/** The settings of a new domain: the defaults, lowered to the ceilings of its plan, but at least 1. */
export function initialSettings(entitlements: Entitlements): DomainSettings {
  const { cache_l2_max_gb, cache_l2_ttl_days } = DEFAULT_SETTINGS;
  return {
    ...DEFAULT_SETTINGS,
    cache_l2_max_gb: Math.max(1, Math.min(cache_l2_max_gb, entitlements.max_cache_disk_gb)),
    cache_l2_ttl_days: Math.max(1, Math.min(cache_l2_ttl_days, entitlements.max_cache_ttl_days)),
  };
}

/** Checks the settings that a change would result in against each other. @throws Refusal 400 */
export function judgeSettings(after: DomainSettings): void {
  if (after.uptime_min_active_min <= after.uptime_window_min) return;
  throw badRequest(
    'uptime_min_active_min: must be at most `uptime_window_min`, ' +
      `found ${after.uptime_min_active_min} with a window of ${after.uptime_window_min}`,
  );
}

/**
 * Checks changed settings against the plan's ceilings; an unchanged one may stay above its ceiling.
 * @throws Refusal 403
 */
export function judgeCeilings(
  before: DomainSettings,
  changed: Partial<DomainSettings>,
  entitlements: Entitlements,
): void {
  const ceilings = [
    ['max_cache_cap_mb', 'cache_cap_mb'],
    ['max_cache_disk_gb', 'cache_l2_max_gb'],
    ['max_cache_ttl_days', 'cache_l2_ttl_days'],
  ] as const;
  for (const [ceiling, field] of ceilings) {
    const value = changed[field];
    if (value === undefined || value === before[field]) continue;
    const above = judgeCeiling(entitlements, ceiling, { field, value });
    if (above !== null) throw forbidden(above);
  }
  for (const name of Object.keys(SETTING_SWITCHES) as (keyof typeof SETTING_SWITCHES)[]) {
    if (SETTING_SWITCHES[name].needsPlan !== true) continue;
    if (changed[name] !== true || before[name]) continue;
    const inactive = judgeActivePlan(entitlements, name);
    if (inactive !== null) throw forbidden(inactive);
  }
}

/** The fields with a value; absent ones of an update are `undefined`. */
function dropAbsent<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
