/**
 * What an account has bought and owes: subscriptions with their traffic, invoices, the wallet. All of it is read-only: the
 * operator's billing writes it (`edgeplan billing import`), and no key may move money (API document, "Authentication").
 */
import { z } from 'zod';
import { resolveEntitlements } from '../../accounts/entitlements.ts';
import { readQuotaUse } from '../../billing/quota-use.ts';
import {
  INVOICE,
  SUBSCRIPTION,
  showInvoice,
  showSubscribed,
  showWallet,
  WALLET,
} from '../../billing/shapes.ts';
import type { InvoicePlace } from '../../store/repositories/billing.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { INVOICE_STATUSES, type InvoiceRow, type InvoiceStatus } from '../../store/tables/billing.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import { MAX_PAGE, MAX_SUBSCRIPTIONS, USUAL_PAGE } from '../operation/limits.ts';
import { idOf, nextPage, queryNumber } from '../operation/read-request.ts';
import { badRequest, notFound } from '../operation/refusal.ts';
import { ok, operation, type Services } from '../operation/route.ts';

/** `GET /wallet`: an account without a wallet has a balance of nothing. */
export const wallet = operation({
  summary: 'The wallet of the account, and the domains that are suspended because of it',
  response: WALLET,
  async handle({ caller: { account_id }, read }) {
    return read(async (tx) => {
      const row = await tx.wallets.get(account_id);
      return ok(showWallet(row, await tx.suspensions.ofAccount(account_id, 'wallet')));
    });
  },
});

/** `GET /invoices/`: page by page; `Link` leads to the next one. */
export const listInvoices = operation({
  summary: 'Invoices of the account, newest first',
  query: z.object({
    status: z.enum(INVOICE_STATUSES).optional().describe('only invoices with this status'),
    limit: queryNumber(1, MAX_PAGE).describe(`invoices, at most; without it ${USUAL_PAGE}`),
    cursor: z.string().max(64).optional().describe('where the page before left off'),
  }),
  response: z.array(INVOICE),
  async handle({ caller: { account_id }, query, read }) {
    const {
      status,
      limit = USUAL_PAGE,
      cursor,
    } = query as {
      readonly status?: InvoiceStatus;
      readonly limit?: number;
      readonly cursor?: string;
    };
    const after = cursor === undefined ? null : readCursor(cursor);
    // One more row shows whether there is a next page.
    const page = { after, limit: limit + 1, status: status ?? null };
    const rows = await read((tx) => tx.invoices.page(account_id, page));
    const answer = ok(rows.slice(0, limit).map(showInvoice));
    if (rows.length <= limit) return answer;
    const next = { status, limit, cursor: cursorOf(rows[limit - 1]!) };
    return { ...answer, headers: nextPage({ path: '/invoices/', query: next }) };
  },
});

/** The cursor after an invoice: its place in the order of the list. */
function cursorOf({ issued_at, id }: InvoiceRow): string {
  return `${issued_at}-${id}`;
}

/** Parses a cursor of `cursorOf`. @throws Refusal 400 */
function readCursor(cursor: string): InvoicePlace {
  const [, issued_at, id] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  if (id === undefined) throw badRequest('cursor: must be taken from the `Link` of a page of this list');
  return { issued_at: Number(issued_at), id: Number(id) };
}

/** `GET /invoices/{invoiceId}`. */
export const readInvoice = operation({
  summary: 'One invoice of the account',
  response: INVOICE,
  async handle({ caller: { account_id }, params, latest }) {
    const row = await latest.invoices.get(account_id, idOf(params['invoiceId']));
    if (row === null) throw notFound();
    return ok(showInvoice(row));
  },
});

/** A domain's subscription with its traffic. */
async function readSubscribed(
  tx: ReadTransaction,
  domain: DomainRow,
  { services, now }: { readonly services: Services; readonly now: number },
): Promise<z.output<typeof SUBSCRIPTION>> {
  const subscription = await tx.subscriptions.get(domain.id);
  const entitlements = resolveEntitlements({ domain, subscription, fallback: services.tier, now });
  const use = await readQuotaUse(tx, domain.id, { entitlements, now });
  const suspensions = await tx.suspensions.list(domain.id);
  const { overQuota } = services;
  return showSubscribed({ domain, subscription, entitlements, use, suspensions, overQuota, now });
}

/** `GET /subscriptions/`: the domains that the account owns, by id, page by page; each page sums their traffic. */
export const listSubscriptions = operation({
  summary: 'What the domains that the account owns have bought, with their traffic against the quota',
  query: z.object({
    limit: queryNumber(1, MAX_SUBSCRIPTIONS).describe(`domains, at most; without it ${MAX_SUBSCRIPTIONS}`),
    after: queryNumber(1, Number.MAX_SAFE_INTEGER).describe('only domains with a higher id'),
  }),
  response: z.array(SUBSCRIPTION),
  async handle({ caller: { account_id }, query, read, services, now }) {
    const { limit = MAX_SUBSCRIPTIONS, after = 0 } = query as {
      readonly limit?: number;
      readonly after?: number;
    };
    return read(async (tx) => {
      const rows = await tx.domains.ownedBy(account_id, { afterId: after, limit: limit + 1 });
      const shown = rows.slice(0, limit);
      const body = [];
      for (const domain of shown) body.push(await readSubscribed(tx, domain, { services, now }));
      if (rows.length <= limit) return ok(body);
      const next = { path: '/subscriptions/', query: { limit, after: shown.at(-1)!.id } };
      return { ...ok(body), headers: nextPage(next) };
    });
  },
});

/** `GET /domains/{domain}/subscriptions/`: one entry. */
export const ofDomain = operation({
  summary: 'What the domain has bought, with its traffic against the quota',
  response: z.array(SUBSCRIPTION),
  async handle({ domain, read, services, now }) {
    return read(async (tx) => {
      const fresh = await tx.domains.get(domain.id);
      if (fresh === null) throw notFound();
      return ok([await readSubscribed(tx, fresh, { services, now })]);
    });
  },
});
