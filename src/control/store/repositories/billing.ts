/** What the operator's billing has written (wallets and invoices), and which levels of traffic quotas were reported. */
import { type RawBuilder, sql } from 'kysely';
import { lockDomain } from '../database/lock-domain.ts';
import {
  type Flavour,
  idsIn,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
  textsIn,
} from '../database/statement.ts';
import {
  type GatewayQuotaLevelRow,
  type InvoiceRow,
  type InvoiceStatus,
  type QuotaNoticeRow,
  SUSPENSION_CAUSES,
  type SuspensionCause,
  type SuspensionRow,
  type WalletRow,
} from '../tables/billing.ts';
import type { DomainRow } from '../tables/domains.ts';

/** Domains whose `suspended` flag changes when their accounts are settled. */
export interface UnsettledCounts {
  readonly suspended: number;
  readonly resumed: number;
}

/** A place in the order of a list of invoices. */
export type InvoicePlace = Pick<InvoiceRow, 'issued_at' | 'id'>;

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

/** Wallets of accounts. */
export function walletReads(session: Session) {
  return {
    get: (accountId: number): Promise<WalletRow | null> => one(session, getWallet, { account_id: accountId }),
  };
}

/** Changes of wallets. */
export function walletWrites(session: Session) {
  return {
    /**
     * Locks the accounts until the commit, by id, and returns their wallets. Writes of keys of these accounts wait, so no domain
     * is added meanwhile. INVARIANT: called before any domain is locked.
     */
    async lock(accountIds: readonly number[]): Promise<readonly WalletRow[]> {
      const ids = JSON.stringify(accountIds);
      if (session.locking) await lockAccounts(session, { ids });
      return walletsOf(session, { ids });
    },
    /** Replaces the wallets of accounts that `lock` has locked. */
    async put(rows: readonly WalletRow[]): Promise<void> {
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

/** Invoices of accounts. */
export function invoiceReads(session: Session) {
  return {
    /** The newest first, by time of issue, then id. */
    page: (
      accountId: number,
      {
        after,
        limit,
        status,
      }: {
        /** The last invoice of the page before; `null`: from the newest on. */
        readonly after: InvoicePlace | null;
        readonly limit: number;
        /** `null`: of any. */
        readonly status: InvoiceStatus | null;
      },
    ): Promise<readonly InvoiceRow[]> =>
      pageInvoices(session, {
        account_id: accountId,
        issued_at: after?.issued_at ?? Number.MAX_SAFE_INTEGER,
        id: after?.id ?? Number.MAX_SAFE_INTEGER,
        least: status ?? '',
        most: status ?? '~',
        limit,
      }),
    /** The account's invoice with this id. */
    get: (accountId: number, id: number): Promise<InvoiceRow | null> =>
      one(session, getInvoice, { account_id: accountId, id }),
    /** The invoices with these ids of the operator's billing, in any order. */
    byRefs: (refs: readonly string[]): Promise<readonly InvoiceRow[]> =>
      invoicesByRefs(session, { refs: JSON.stringify(refs) }),
  };
}

/** Changes of invoices; none is ever removed. */
export function invoiceWrites(session: Session) {
  return {
    /**
     * Inserts the invoices, one statement for all; one that exists is replaced if it is older and of the same account. No `ref`
     * may occur twice. Returns the refs of those that were written.
     */
    async put(rows: readonly Omit<InvoiceRow, 'id'>[]): Promise<readonly string[]> {
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

const gatewayLevels = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('gateway_quota_levels')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .orderBy('level'),
);

const noteGatewayLevel = statement((builder, p: GatewayQuotaLevelRow) =>
  builder
    .insertInto('gateway_quota_levels')
    .values({ domain_id: p.domain_id, level: p.level, at: p.at })
    .onConflict((conflict) => conflict.columns(['domain_id', 'level']).doNothing())
    .returning('level'),
);

const removeGatewayLevel = statement((builder, p: Omit<GatewayQuotaLevelRow, 'at'>) =>
  builder
    .deleteFrom('gateway_quota_levels')
    .where('domain_id', '=', p.domain_id)
    .where('level', '=', p.level),
);

/** Reported levels of traffic and gateway quotas. */
export function quotaReads(session: Session) {
  return {
    /** The notices of a domain's period, by quota and level. */
    noticed: (domainId: number, periodStart: number): Promise<readonly QuotaNoticeRow[]> =>
      noticed(session, { domain_id: domainId, period_start: periodStart }),
    /** The notified levels of a domain's gateway quota, ascending. */
    gatewayLevels: (domainId: number): Promise<readonly GatewayQuotaLevelRow[]> =>
      gatewayLevels(session, { domain_id: domainId }),
  };
}

/** Records reported levels of traffic and gateway quotas. */
export function quotaWrites(session: Session) {
  return {
    /** Records a level and removes those of earlier periods. True when it was not recorded before. */
    async note(notice: QuotaNoticeRow): Promise<boolean> {
      const { domain_id, period_start } = notice;
      await forgetPeriods(session, { domain_id, period_start });
      return (await one(session, noteLevel, notice)) !== null;
    },
    /** Records a level of a gateway quota. True when it was not recorded before. */
    async noteGatewayLevel(row: GatewayQuotaLevelRow): Promise<boolean> {
      return (await one(session, noteGatewayLevel, row)) !== null;
    },
    /** Removes a level of a gateway quota that the requests are below. */
    async removeGatewayLevel(row: Omit<GatewayQuotaLevelRow, 'at'>): Promise<void> {
      await removeGatewayLevel(session, row);
    },
  };
}

// Why domains are suspended, and which suspensions do not fit the wallets of their accounts.

const list = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('suspensions').selectAll().where('domain_id', '=', p.domain_id),
);

const ofAccount = statement((builder, p: { account_id: number; cause: SuspensionCause }) =>
  builder
    .selectFrom('suspensions')
    .innerJoin('domains', 'domains.id', 'suspensions.domain_id')
    .select(['domains.id', 'domains.name'])
    .where('domains.user_id', '=', p.account_id)
    .where('suspensions.cause', '=', p.cause)
    .orderBy('domains.name'),
);

const byCause = statement((builder, p: { cause: SuspensionCause; after: number; limit: number }) =>
  builder
    .selectFrom('suspensions')
    .select('domain_id')
    .where('cause', '=', p.cause)
    .where('domain_id', '>', p.after)
    .orderBy('domain_id')
    .limit(p.limit),
);

/** Domains to suspend for their wallets: through the index over negative wallets. */
const OWING = sql`wallets join domains on domains.user_id = wallets.account_id
  where wallets.balance < 0 and not exists (select 1 from suspensions
    where suspensions.domain_id = domains.id and suspensions.cause = 'wallet')`;

/** Domains whose wallets suspend them no more: through the index over causes. */
const SETTLED = sql`suspensions
  join domains on domains.id = suspensions.domain_id
  join wallets on wallets.account_id = domains.user_id
  where suspensions.cause = 'wallet' and wallets.balance >= 0`;

/** The condition that a wallet is of one of the accounts. */
function among(accounts: string, flavour: Flavour): RawBuilder<unknown> {
  return sql`and wallets.account_id in ${idsIn(accounts, flavour)}`;
}

const unsettled = statement((builder, p: { accounts: string; limit: number }, flavour) => {
  const some = among(p.accounts, flavour);
  // By id, so that transactions lock domains in one order.
  return raw<{ id: number }>(
    sql`select domains.id from ${OWING} ${some} union select domains.id from ${SETTLED} ${some}
      order by id limit ${p.limit}`,
    builder,
  );
});

const unsettledAccounts = statement((builder, p: { limit: number }) =>
  raw<{ account_id: number }>(
    sql`select wallets.account_id from ${OWING} union select wallets.account_id from ${SETTLED}
      order by account_id limit ${p.limit}`,
    builder,
  ),
);

/** A domain that has another cause as well is suspended before and after. */
const countUnsettled = statement((builder, p: { accounts: string }, flavour) => {
  const some = among(p.accounts, flavour);
  return raw<UnsettledCounts>(
    sql`select
      (select count(*) from ${OWING} ${some} and domains.suspended = 0) as suspended,
      (select count(*) from ${SETTLED} ${some} and not exists (select 1 from suspensions as other
        where other.domain_id = domains.id and other.cause <> 'wallet')) as resumed`,
    builder,
  );
});

const put = statement((builder, p: SuspensionRow) =>
  builder
    .insertInto('suspensions')
    .values({ domain_id: p.domain_id, cause: p.cause, at: p.at })
    .onConflict((conflict) => conflict.columns(['domain_id', 'cause']).doNothing())
    .returning('domain_id'),
);

const remove = statement((builder, p: { domain_id: number; cause: SuspensionCause }) =>
  builder
    .deleteFrom('suspensions')
    .where('domain_id', '=', p.domain_id)
    .where('cause', '=', p.cause)
    .returning('domain_id'),
);

/** Why domains are suspended. Each access by domain locks it in a write. */
export function suspensionReads(session: Session) {
  return {
    /** The causes of a domain's suspension, in the order of SUSPENSION_CAUSES. */
    async list(domainId: number): Promise<readonly SuspensionRow[]> {
      await lockDomain(session, domainId);
      const rows = await list(session, { domain_id: domainId });
      return SUSPENSION_CAUSES.flatMap((cause) => rows.find((row) => row.cause === cause) ?? []);
    },
    /** Domains that an account owns and whose suspension has this cause, by name. Locks none. */
    ofAccount: (
      accountId: number,
      cause: SuspensionCause,
    ): Promise<readonly Pick<DomainRow, 'id' | 'name'>[]> =>
      ofAccount(session, { account_id: accountId, cause }),
    /** Domains above `afterId` whose suspension has this cause, by id, at most `limit`. Locks none. */
    async byCause(
      cause: SuspensionCause,
      { afterId, limit }: { readonly afterId: number; readonly limit: number },
    ): Promise<readonly number[]> {
      return (await byCause(session, { cause, after: afterId, limit })).map((row) => row.domain_id);
    },
    /**
     * Domains of these accounts whose suspension does not fit the wallet, by id, at most `limit`: the balance is below zero and
     * the domain is not suspended for it, or the other way round. Locks none.
     */
    async unsettled({
      accountIds,
      limit,
    }: {
      readonly accountIds: readonly number[];
      readonly limit: number;
    }): Promise<readonly number[]> {
      const rows = await unsettled(session, { accounts: JSON.stringify(accountIds), limit });
      return rows.map(({ id }) => id);
    },
    /** Accounts that have a domain of `unsettled`, by id, at most `limit`. Locks none. */
    async unsettledAccounts(limit: number): Promise<readonly number[]> {
      return (await unsettledAccounts(session, { limit })).map(({ account_id }) => account_id);
    },
    /** How many domains of these accounts `unsettled` would make the edge refuse, and serve again. */
    async countUnsettled(accountIds: readonly number[]): Promise<UnsettledCounts> {
      return (await one(session, countUnsettled, { accounts: JSON.stringify(accountIds) }))!;
    },
  };
}

/** Changes of the causes of a domain's suspension; `lifecycle` changes the domain with them. Each access by domain locks it in a write. */
export function suspensionWrites(session: Session) {
  return {
    /** True when the domain did not have the cause. */
    async put(suspension: SuspensionRow): Promise<boolean> {
      await lockDomain(session, suspension.domain_id);
      return (await one(session, put, suspension)) !== null;
    },
    /** True when the domain had the cause. */
    async remove(domainId: number, cause: SuspensionCause): Promise<boolean> {
      await lockDomain(session, domainId);
      return (await one(session, remove, { domain_id: domainId, cause })) !== null;
    },
  };
}
