/**
 * Claims of what is fetched on a schedule: a table with a row for each fetch, when it is due, and which process has claimed it. One
 * fetch of each account at a time is claimed, so that slow servers of one account delay no other's.
 */
import { type RawBuilder, sql } from 'kysely';
import { idsIn, int, raw, type Statement, statement } from '../database/statement.ts';

/** What a claim is bounded by. */
export interface FetchClaiming {
  readonly now: number;
  /** When the claim lapses. */
  readonly until: number;
  /** The new claim. */
  readonly claim: number;
  readonly limit: number;
  /** Accounts that have a fetch under way in this process. */
  readonly busy: readonly number[];
}

/** The parameters of the statement that claims. */
type ClaimParameters = Omit<FetchClaiming, 'busy'> & { readonly busy: string; readonly beyond: number };

/** A table of fetches. */
interface FetchTable {
  readonly table: 'list_feeds' | 'issuer_fetches';
  /** The primary key: what is fetched. */
  readonly key: 'list_id' | 'issuer_id';
  /** The columns of a claimed row, as SQL, `claim` among them. */
  readonly columns: RawBuilder<unknown>;
  /** The table joined with `domains`: fetches of active accounts and of domains that are not disabled. */
  readonly fetchable: RawBuilder<unknown>;
  /** The account whose turn it is, in `fetchable`. */
  readonly account: RawBuilder<unknown>;
  /** The same as a query about one row of the table. */
  readonly accountOf: RawBuilder<unknown>;
}

/** The statements over a table of fetches. */
export interface FetchStatements<Claimed> {
  /** A row that is due and not claimed. */
  readonly isDue: Statement<{ now: number }, unknown>;
  readonly claim: Statement<ClaimParameters, Claimed>;
}

/** Milliseconds added to two leases, as for the outbox. */
const LONGEST_LEASE_MS = 10_000;

/** The parameters of `claim`; a claim that ends later than a lease can was made by a clock that was ahead, and is void. */
export function claimParameters({ busy, ...claiming }: FetchClaiming): ClaimParameters {
  const { now, until } = claiming;
  const beyond = now + Math.max(2 * (until - now), LONGEST_LEASE_MS);
  return { ...claiming, busy: JSON.stringify(busy), beyond };
}

/** Builds the statements. */
export function fetchStatements<Claimed>({
  table,
  key,
  columns,
  fetchable,
  account,
  accountOf,
}: FetchTable): FetchStatements<Claimed> {
  const [rows, one] = [sql.ref(table), sql.ref(key)];
  return {
    isDue: statement((builder, p: { now: number }) =>
      raw<unknown>(
        sql`select ${one} from ${fetchable} where due_at <= ${int(p.now)} and claimed_until <= ${int(p.now)} limit 1`,
        builder,
      ),
    ),
    // The second check of the claim is for PostgreSQL, where another process may have claimed the row between the choice and the
    // update.
    claim: statement((builder, p: ClaimParameters, flavour) => {
      const free = sql`(claimed_until <= ${int(p.now)} or claimed_until > ${int(p.beyond)})`;
      return raw<Claimed>(
        sql`update ${rows} set claim = ${int(p.claim)}, claimed_until = ${int(p.until)}
        where ${one} in (
          select ${one} from (
            select ${sql.ref(`${table}.${key}`)}, due_at, row_number() over (
              partition by ${account} order by due_at, ${sql.ref(`${table}.${key}`)}
            ) as place
            from ${fetchable}
            where due_at <= ${int(p.now)} and ${free} and ${account} not in ${idsIn(p.busy, flavour)}
          ) as ranked
          where place = 1 order by due_at, ${one} limit ${int(p.limit)}
        ) and ${free}
        returning ${columns}, ${accountOf} as account_id`,
        builder,
      );
    }),
  };
}
