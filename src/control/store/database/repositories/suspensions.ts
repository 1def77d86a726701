/** Why domains are suspended, and which suspensions do not fit the wallets of their accounts. */
import { type RawBuilder, sql } from 'kysely';
import type { SuspensionReads, SuspensionWrites, UnsettledCounts } from '../../billing-repositories.ts';
import { SUSPENSION_CAUSES, type SuspensionCause, type SuspensionRow } from '../../billing-rows.ts';
import { lockDomain } from '../lock-domain.ts';
import type { Session } from '../session.ts';
import { type Flavour, idsIn, one, raw, statement } from '../statement.ts';

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

/** The repository of a session; each access by domain locks it in a write. */
export function suspensions(session: Session): SuspensionReads & SuspensionWrites {
  return {
    async list(domainId) {
      await lockDomain(session, domainId);
      const rows = await list(session, { domain_id: domainId });
      return SUSPENSION_CAUSES.flatMap((cause) => rows.find((row) => row.cause === cause) ?? []);
    },
    ofAccount: (accountId, cause) => ofAccount(session, { account_id: accountId, cause }),
    async byCause(cause, { afterId, limit }) {
      return (await byCause(session, { cause, after: afterId, limit })).map((row) => row.domain_id);
    },
    async unsettled({ accountIds, limit }) {
      const rows = await unsettled(session, { accounts: JSON.stringify(accountIds), limit });
      return rows.map(({ id }) => id);
    },
    async unsettledAccounts(limit) {
      return (await unsettledAccounts(session, { limit })).map(({ account_id }) => account_id);
    },
    async countUnsettled(accountIds) {
      return (await one(session, countUnsettled, { accounts: JSON.stringify(accountIds) }))!;
    },
    async put(suspension) {
      await lockDomain(session, suspension.domain_id);
      return (await one(session, put, suspension)) !== null;
    },
    async remove(domainId, cause) {
      await lockDomain(session, domainId);
      return (await one(session, remove, { domain_id: domainId, cause })) !== null;
    },
  };
}
