/** Wallets, invoices and subscriptions as the API answers them: schemas, and rows in their form. */
import { z } from 'zod';
import { timeText } from '../../base/text/time.ts';
import { type Entitlements, inForce } from '../accounts/entitlements.ts';
import {
  INVOICE_STATUSES,
  type InvoiceRow,
  SUSPENSION_CAUSES,
  type SuspensionRow,
  type WalletRow,
} from '../store/tables/billing.ts';
import type { DomainRow, SubscriptionRow } from '../store/tables/domains.ts';
import { OVER_QUOTA, type OverQuota } from './quota.ts';
import type { QuotaUse } from './quota-use.ts';

const time = z.iso.datetime();
const currency = z
  .string()
  .describe('the currency by ISO 4217')
  .meta({ examples: ['EUR'] });
const limit = z.int().nullable();

/** The wallet of the account. */
export const WALLET = z
  .object({
    balance: z
      .int()
      .describe(
        'the balance in minor units of the currency, such as cents; below zero all domains are suspended',
      )
      .meta({ examples: [-1250] }),
    currency: currency.nullable().describe('the currency by ISO 4217; `null`: the account has no wallet'),
    updated_at: time.nullable().describe('when the balance was true; `null`: the account has no wallet'),
    suspended_domains: z
      .array(z.string())
      .describe('domains of the account that are suspended because of the balance, by name')
      .meta({ examples: [['shop.example']] }),
  })
  .meta({ id: 'Wallet' });

/** A wallet; without a row the balance is nothing. */
export function showWallet(
  row: WalletRow | null,
  suspended: readonly Pick<DomainRow, 'name'>[],
): z.output<typeof WALLET> {
  return {
    balance: row?.balance ?? 0,
    currency: row?.currency ?? null,
    updated_at: row === null ? null : timeText(row.at),
    suspended_domains: suspended.map(({ name }) => name),
  };
}

/** One invoice. */
export const INVOICE = z
  .object({
    id: z
      .int()
      .describe('the id of the invoice')
      .meta({ examples: [7] }),
    reference: z
      .string()
      .describe('its id in the billing of the operator')
      .meta({ examples: ['inv_01HZX'] }),
    number: z
      .string()
      .describe('the number on the invoice')
      .meta({ examples: ['2026-0042'] }),
    domain: z.string().nullable().describe('the domain that it is for; `null`: the account'),
    status: z.enum(INVOICE_STATUSES).describe('`open` waits for payment, `void` was withdrawn'),
    currency,
    total: z
      .int()
      .describe('the total in minor units of the currency')
      .meta({ examples: [4900] }),
    period_start: time.nullable().describe('the start of the period that it covers; `null`: none'),
    period_end: time.nullable().describe('the end of that period; `null`: none'),
    issued_at: time.describe('when it was issued'),
    due_at: time.nullable().describe('when it is due; `null`: at once, or it is not to be paid'),
    paid_at: time.nullable().describe('when it was paid; `null`: it was not'),
    lines: z
      .array(
        z.object({
          description: z
            .string()
            .describe('what is charged')
            .meta({ examples: ['Plan Pro, November'] }),
          amount: z
            .int()
            .describe('the amount in minor units')
            .meta({ examples: [4900] }),
        }),
      )
      .describe('the charges, as the operator listed them; they need not add up to the total'),
  })
  .meta({ id: 'Invoice' });

/** An invoice in the form of the API. */
export function showInvoice(row: InvoiceRow): z.output<typeof INVOICE> {
  return {
    id: row.id,
    reference: row.ref,
    number: row.number,
    domain: row.domain,
    status: row.status,
    currency: row.currency,
    total: row.total,
    period_start: timeOrNull(row.period_start),
    period_end: timeOrNull(row.period_end),
    issued_at: timeText(row.issued_at),
    due_at: timeOrNull(row.due_at),
    paid_at: timeOrNull(row.paid_at),
    lines: JSON.parse(row.lines_json) as z.output<typeof INVOICE>['lines'],
  };
}

function timeOrNull(at: number | null): string | null {
  return at === null ? null : timeText(at);
}

/** What a domain has bought, with its traffic beside the quota. */
export const SUBSCRIPTION = z
  .object({
    id: z
      .int()
      .nullable()
      .describe('the id of the subscription; `null`: the default tier applies without one'),
    domain_id: z.int().describe('the id of the domain'),
    domain: z
      .string()
      .describe('the name of the domain')
      .meta({ examples: ['shop.example'] }),
    plan_slug: z
      .string()
      .describe('the tier that applies')
      .meta({ examples: ['pro'] }),
    plan_name: z
      .string()
      .describe('its name')
      .meta({ examples: ['Pro'] }),
    in_force: z.boolean().describe('whether a subscription applies; otherwise the tier is the default one'),
    started_at: time.nullable().describe('when the subscription began; `null`: no subscription'),
    ends_at: time.nullable().describe('when it ends; `null`: it has no end, or no subscription exists'),
    quota_period_start: time.describe('the start of the current quota period'),
    quota_period_end: time.describe('the end of the current quota period'),
    max_records: limit.describe('DNS records; `null`: unlimited'),
    max_traffic_gb: limit.describe('traffic in a quota period, GB of 10^9 octets; `null`: unlimited'),
    max_rules_per_set: limit.describe('rules of one type; `null`: unlimited'),
    traffic_octets: z
      .int()
      .describe('traffic of the current period in octets')
      .meta({ examples: [812_000_000_000] }),
    traffic_percent: z
      .int()
      .nullable()
      .describe('percent of `max_traffic_gb`, rounded down; `null`: unlimited')
      .meta({ examples: [81] }),
    over_quota: z
      .enum(OVER_QUOTA)
      .describe(
        'what happens to traffic over the quota: it is served, or the domain is suspended until it fits',
      ),
    suspended: z.boolean().describe('whether the edge refuses its visitors'),
    suspended_for: z
      .array(z.enum(SUSPENSION_CAUSES))
      .describe(
        'why: by the operator, a wallet below zero, a quota that is reached; empty: it is not suspended',
      ),
  })
  .meta({ id: 'Subscription' });

/** What a subscription is shown with. */
export interface SubscriptionParts {
  readonly domain: DomainRow;
  readonly subscription: SubscriptionRow | null;
  readonly entitlements: Entitlements;
  readonly use: QuotaUse;
  readonly suspensions: readonly SuspensionRow[];
  readonly overQuota: OverQuota;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A domain's subscription in the form of the API. */
export function showSubscribed(parts: SubscriptionParts): z.output<typeof SUBSCRIPTION> {
  const { domain, subscription, entitlements, use, suspensions, overQuota, now } = parts;
  return {
    id: subscription?.id ?? null,
    domain_id: domain.id,
    domain: domain.name,
    plan_slug: entitlements.plan_slug,
    plan_name: entitlements.plan_name,
    in_force: subscription !== null && inForce(subscription, now),
    started_at: timeOrNull(subscription?.started_at ?? null),
    ends_at: timeOrNull(subscription?.ends_at ?? null),
    quota_period_start: timeText(entitlements.quota_period_start),
    quota_period_end: timeText(entitlements.quota_period_end),
    max_records: entitlements.max_records,
    max_traffic_gb: entitlements.max_traffic_gb,
    max_rules_per_set: entitlements.max_rules_per_set,
    traffic_octets: use.octets,
    traffic_percent: use.percent,
    over_quota: overQuota,
    suspended: domain.suspended,
    suspended_for: suspensions.map(({ cause }) => cause),
  };
}
