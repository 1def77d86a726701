/** Why domains are suspended, and which suspensions do not fit the wallets of their accounts. */
import { sql } from 'kysely';
import type { SuspensionReads, SuspensionWrites } from '../../store/billing-repositories.ts';
import { SUSPENSION_CAUSES, type SuspensionCause, type SuspensionRow } from '../../store/billing-rows.ts';
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

/** The parameters of both statements over wallets. */
interface UnsettledParameters {
  /** A JSON list; `null`: all accounts. */
  readonly accounts: string;
  readonly limit: number;
}

/** The condition that a wallet is of one of the accounts; `all` leaves it out. */
function among(accounts: string, { all, flavour }: { readonly all: boolean; readonly flavour: Flavour }) {
  return all ? sql`` : sql`and wallets.account_id in ${idsIn(accounts, flavour)}`;
}

/** Domains to suspend: through the index over negative wallets. */
function owing(all: boolean) {
  return statement((builder, p: UnsettledParameters, flavour) =>
    raw<{ id: number }>(
      sql`select domains.id from wallets join domains on domains.user_id = wallets.account_id
        where wallets.balance < 0 ${among(p.accounts, { all, flavour })}
          and not exists (select 1 from suspensions
            where suspensions.domain_id = domains.id and suspensions.cause = 'wallet')
        order by domains.id limit ${p.limit}`,
      builder,
    ),
  );
}

/** Domains to resume: through the index over causes. */
function settled(all: boolean) {
  return statement((builder, p: UnsettledParameters, flavour) =>
    raw<{ id: number }>(
      sql`select domains.id from suspensions
        join domains on domains.id = suspensions.domain_id
        join wallets on wallets.account_id = domains.user_id
        where suspensions.cause = 'wallet' and wallets.balance >= 0 ${among(p.accounts, { all, flavour })}
        order by domains.id limit ${p.limit}`,
      builder,
    ),
  );
}

const OWING = { all: owing(true), some: owing(false) };
const SETTLED = { all: settled(true), some: settled(false) };

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
      const which = accountIds === null ? 'all' : 'some';
      const parameters = { accounts: JSON.stringify(accountIds), limit };
      const [down, up] = [await OWING[which](session, parameters), await SETTLED[which](session, parameters)];
      // By id, so that transactions lock domains in one order.
      const ids = [...down, ...up].map(({ id }) => id);
      return ids.sort((left, right) => left - right).slice(0, limit);
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
