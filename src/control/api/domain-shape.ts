/** The domain object as the API shows it (API document, "Domain"): its schema, and how it is made from rows. */
import { z } from 'zod';
import { timeText } from '../../base/text/time.ts';
import { DOMAIN_STATUSES } from '../../base/vocabulary/vocabulary.ts';
import { DOMAIN_SETTINGS, settingsOf } from '../../rules/model/domain.ts';
import { documentFields } from '../../rules/model/fields.ts';
import { inForce } from '../accounts/entitlements.ts';
import { PERMISSIONS, permissionsOf, ROLES, type Role } from '../accounts/roles.ts';
import { SSL } from '../certificates/shapes.ts';
import { summarizeSsl } from '../certificates/state.ts';
import { challengeHost } from '../domains/challenge.ts';
import { takesChallenge } from '../domains/state.ts';
import { DNS_MODES, type DomainRow, type SubscriptionRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';

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
