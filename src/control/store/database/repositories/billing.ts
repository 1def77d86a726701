/** What the operator's billing has written (wallets and invoices), and which levels of traffic quotas were reported. */
import { sql } from 'kysely';
import type {
  InvoiceReads,
  InvoiceWrites,
  QuotaReads,
  QuotaWrites,
  WalletReads,
  WalletWrites,
} from '../../billing-repositories.ts';
import type { InvoiceRow, InvoiceStatus, QuotaNoticeRow } from '../../billing-rows.ts';
import type { Session } from '../session.ts';
import { idsIn, type ListedColumns, listed, listedRows, one, raw, statement, textsIn } from '../statement.ts';

const getWallet = statement((builder, p: { account_id: number }) =>
  builder.selectFrom('wallets').selectAll().where('account_id', '=', p.account_id),
);

/** Stronger than the lock that every write of the account's keys takes, so that it waits for them and they for it. */
const lockAccounts = statement((builder, p: { ids: string }, flavour) =>
  builder
    .selectFrom('accounts')
    .select('id')
    .where('id', 'in', idsIn(p.ids, flavour))
    .orderBy('id')
    .$if(flavour.locking, (query) => query.forNoKeyUpdate()),
);

const walletsOf = statement((builder, p: { ids: string }, flavour) =>
  builder.selectFrom('wallets').selectAll().where('account_id', 'in', idsIn(p.ids, flavour)),
);

/** The columns of a wallet, for a list of rows as one parameter. */
const WALLET = {
  account_id: 'bigint',
  ref: 'text',
  balance: 'bigint',
  currency: 'text',
  at: 'bigint',
} as const satisfies ListedColumns;

const putWallets = statement((builder, p: { rows: string }, flavour) =>
  raw(
    sql`insert into wallets (account_id, ref, balance, currency, at) ${listed(p.rows, WALLET, flavour)}
      on conflict (account_id) do update set
        ref = excluded.ref, balance = excluded.balance, currency = excluded.currency, at = excluded.at`,
    builder,
  ),
);

/** The repository of wallets. */
export function wallets(session: Session): WalletReads & WalletWrites {
  return {
    get: (accountId) => one(session, getWallet, { account_id: accountId }),
    async lock(accountIds) {
      const ids = JSON.stringify(accountIds);
      if (session.locking) await lockAccounts(session, { ids });
      return walletsOf(session, { ids });
    },
    async put(rows) {
      if (rows.length > 0) await putWallets(session, { rows: listedRows(rows, WALLET) });
    },
  };
}

/** Its text depends on no parameter: a status of any is the range of all texts. */
const pageInvoices = statement(
  (
    builder,
    p: {
      account_id: number;
      issued_at: number;
      id: number;
      least: InvoiceStatus | '';
      most: InvoiceStatus | '~';
      limit: number;
    },
  ) =>
    builder
      .selectFrom('invoices')
      .selectAll()
      .where('account_id', '=', p.account_id)
      .where((row) =>
        row.or([
          row('issued_at', '<', p.issued_at),
          row.and([row('issued_at', '=', p.issued_at), row('id', '<', p.id)]),
        ]),
      )
      .where('status', '>=', p.least as InvoiceStatus)
      .where('status', '<=', p.most as InvoiceStatus)
      .orderBy('issued_at', 'desc')
      .orderBy('id', 'desc')
      .limit(p.limit),
);

const getInvoice = statement((builder, p: { account_id: number; id: number }) =>
  builder.selectFrom('invoices').selectAll().where('account_id', '=', p.account_id).where('id', '=', p.id),
);

const invoicesByRefs = statement((builder, p: { refs: string }, flavour) =>
  builder.selectFrom('invoices').selectAll().where('ref', 'in', textsIn(p.refs, flavour)),
);

/** The columns of an invoice, for a list of rows as one parameter. */
const INVOICE = {
  ref: 'text',
  account_id: 'bigint',
  number: 'text',
  domain: 'text',
  status: 'text',
  currency: 'text',
  total: 'bigint',
  period_start: 'bigint',
  period_end: 'bigint',
  issued_at: 'bigint',
  due_at: 'bigint',
  paid_at: 'bigint',
  lines_json: 'text',
  at: 'bigint',
} as const satisfies ListedColumns;

const putInvoices = statement((builder, p: { rows: string }, flavour) => {
  const names = Object.keys(INVOICE);
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const changed = names.filter((name) => name !== 'ref' && name !== 'account_id');
  const sets = sql.join(changed.map((name) => sql`${sql.ref(name)} = ${sql.ref(`excluded.${name}`)}`));
  return raw<Pick<InvoiceRow, 'ref'>>(
    sql`insert into invoices (${columns}) ${listed(p.rows, INVOICE, flavour)}
      on conflict (ref) do update set ${sets}
        where invoices.account_id = excluded.account_id and invoices.at < excluded.at
      returning ref`,
    builder,
  );
});

/** The repository of invoices. */
export function invoices(session: Session): InvoiceReads & InvoiceWrites {
  return {
    page: (accountId, { after, limit, status }) =>
      pageInvoices(session, {
        account_id: accountId,
        issued_at: after?.issued_at ?? Number.MAX_SAFE_INTEGER,
        id: after?.id ?? Number.MAX_SAFE_INTEGER,
        least: status ?? '',
        most: status ?? '~',
        limit,
      }),
    get: (accountId, id) => one(session, getInvoice, { account_id: accountId, id }),
    byRefs: (refs) => invoicesByRefs(session, { refs: JSON.stringify(refs) }),
    async put(rows) {
      if (rows.length === 0) return [];
      // In one order, so that two imports cannot deadlock.
      const ordered = [...rows].sort((left, right) => (left.ref < right.ref ? -1 : 1));
      const written = await putInvoices(session, { rows: listedRows(ordered, INVOICE) });
      return written.map(({ ref }) => ref);
    },
  };
}

const noticed = statement((builder, p: { domain_id: number; period_start: number }) =>
  builder
    .selectFrom('quota_notices')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('period_start', '=', p.period_start)
    .orderBy('quota_gb')
    .orderBy('level'),
);

const noteLevel = statement((builder, p: QuotaNoticeRow) =>
  builder
    .insertInto('quota_notices')
    .values({
      domain_id: p.domain_id,
      period_start: p.period_start,
      quota_gb: p.quota_gb,
      level: p.level,
      at: p.at,
    })
    .onConflict((conflict) =>
      conflict.columns(['domain_id', 'period_start', 'quota_gb', 'level']).doNothing(),
    )
    .returning('level'),
);

const forgetPeriods = statement((builder, p: { domain_id: number; period_start: number }) =>
  builder
    .deleteFrom('quota_notices')
    .where('domain_id', '=', p.domain_id)
    .where('period_start', '<', p.period_start),
);

/** The repository of quota notices. */
export function quotas(session: Session): QuotaReads & QuotaWrites {
  return {
    noticed: (domainId, periodStart) => noticed(session, { domain_id: domainId, period_start: periodStart }),
    async note(notice) {
      const { domain_id, period_start } = notice;
      await forgetPeriods(session, { domain_id, period_start });
      return (await one(session, noteLevel, notice)) !== null;
    },
  };
}
