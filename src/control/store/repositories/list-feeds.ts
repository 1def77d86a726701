/** The feeds of named lists: their settings and states in the rows of the lists, when they are due, and who fetches them. */
import { sql } from 'kysely';
import { idsIn, int, one, raw, type Session, statement } from '../database/statement.ts';
import type { ClaimedFeed, ListRow, SealedHeaderRow } from '../tables/lists.ts';

/** What a claim of feeds is bounded by. */
export interface FeedClaiming {
  readonly now: number;
  /** When the claim lapses. */
  readonly until: number;
  /** The new claim. */
  readonly claim: number;
  readonly limit: number;
  /** Accounts that have a fetch under way in this process. */
  readonly busy: readonly number[];
}

/** A feed to store. */
export interface NewFeed extends Pick<ListRow, 'id'> {
  /** JSON texts, as in the row of the list. */
  readonly feed: string;
  readonly feed_state: string;
  readonly sealed_header: Uint8Array | null;
  readonly due_at: number;
  readonly at: number;
}

/** What follows a fetch. */
export interface FeedEnd {
  readonly feed_state: string;
  readonly due_at: number;
}

/** Milliseconds added to two leases, as for the outbox. */
const LONGEST_LEASE_MS = 10_000;

/** Feeds that may be fetched: none of inactive accounts and of disabled domains. The account is whose turn it is. */
const account = sql`coalesce(lists.account_id, domains.user_id)`;
const fetchable = sql`list_feeds
  join lists on lists.id = list_feeds.list_id
  left join domains on domains.id = lists.domain_id
  join accounts on accounts.id = ${account} and accounts.active = 1 and coalesce(domains.status, '') <> 'disabled'`;

const isDue = statement((builder, p: { now: number }) =>
  raw<{ list_id: number }>(
    sql`select list_id from ${fetchable} where due_at <= ${int(p.now)} and claimed_until <= ${int(p.now)} limit 1`,
    builder,
  ),
);

const header = statement((builder, p: { list_id: number }) =>
  builder.selectFrom('list_feeds').select('sealed_header').where('list_id', '=', p.list_id),
);

const withHeaders = statement<{ after: number; limit: number }, SealedHeaderRow>((builder, p) =>
  builder
    .selectFrom('list_feeds')
    .select(['list_id', sql<Uint8Array>`sealed_header`.as('sealed_header')])
    .where('list_id', '>', p.after)
    .where('sealed_header', 'is not', null)
    .orderBy('list_id')
    .limit(p.limit),
);

// One feed of each account at a time, so that slow servers of one account delay no other's. The second check of the claim is for
// PostgreSQL, where another process may have claimed the row between the choice and the update.
const claim = statement(
  (builder, p: Omit<FeedClaiming, 'busy'> & { busy: string; beyond: number }, flavour) => {
    const free = sql`(claimed_until <= ${int(p.now)} or claimed_until > ${int(p.beyond)})`;
    return raw<ClaimedFeed>(
      sql`update list_feeds set claim = ${int(p.claim)}, claimed_until = ${int(p.until)}
      where list_id in (
        select list_id from (
          select list_feeds.list_id, due_at, row_number() over (
            partition by ${account} order by due_at, list_feeds.list_id
          ) as place
          from ${fetchable}
          where due_at <= ${int(p.now)} and ${free} and ${account} not in ${idsIn(p.busy, flavour)}
        ) as ranked
        where place = 1 order by due_at, list_id limit ${int(p.limit)}
      ) and ${free}
      returning list_id, sealed_header, claim, (
        select coalesce(lists.account_id, domains.user_id) from lists
        left join domains on domains.id = lists.domain_id where lists.id = list_feeds.list_id
      ) as account_id`,
      builder,
    );
  },
);

const end = statement((builder, p: Pick<ClaimedFeed, 'list_id' | 'claim'> & { due_at: number }) =>
  builder
    .updateTable('list_feeds')
    .set({ due_at: p.due_at, claim: int(0), claimed_until: int(0) })
    .where('list_id', '=', p.list_id)
    .where('claim', '=', p.claim)
    .returning('list_id'),
);

const setFeed = statement((builder, p: Pick<NewFeed, 'id' | 'feed' | 'feed_state' | 'at'>) =>
  builder
    .updateTable('lists')
    .set({ feed: p.feed, feed_state: p.feed_state, updated_at: p.at })
    .where('id', '=', p.id)
    .returningAll(),
);

const putFeed = statement((builder, p: Pick<NewFeed, 'id' | 'sealed_header' | 'due_at'>) =>
  builder
    .insertInto('list_feeds')
    .values({
      list_id: p.id,
      sealed_header: p.sealed_header,
      due_at: p.due_at,
      claim: int(0),
      claimed_until: int(0),
    })
    .onConflict((conflict) =>
      conflict.column('list_id').doUpdateSet((row) => ({
        sealed_header: row.ref('excluded.sealed_header'),
        due_at: row.ref('excluded.due_at'),
        claim: int(0),
        claimed_until: int(0),
      })),
    ),
);

const clearFeed = statement((builder, p: { id: number; at: number }) =>
  builder
    .updateTable('lists')
    .set({ feed: null, feed_state: null, updated_at: p.at })
    .where('id', '=', p.id)
    .returningAll(),
);

const dropFeed = statement((builder, p: { id: number }) =>
  builder.deleteFrom('list_feeds').where('list_id', '=', p.id),
);

const setState = statement((builder, p: { id: number; feed_state: string }) =>
  builder.updateTable('lists').set({ feed_state: p.feed_state }).where('id', '=', p.id).returningAll(),
);

const hasten = statement((builder, p: { id: number; due_at: number }) =>
  builder
    .updateTable('list_feeds')
    .set({ due_at: p.due_at, claim: int(0), claimed_until: int(0) })
    .where('list_id', '=', p.id),
);

const reseal = statement((builder, p: { list_id: number; before: Uint8Array; after: Uint8Array }) =>
  builder
    .updateTable('list_feeds')
    .set({ sealed_header: p.after })
    .where('list_id', '=', p.list_id)
    .where('sealed_header', '=', p.before)
    .returning('list_id'),
);

/** Feeds of lists. */
export function listFeedReads(session: Session) {
  return {
    /** Whether a feed is due that no process has claimed. */
    async isDue(now: number): Promise<boolean> {
      return (await one(session, isDue, { now })) !== null;
    },
    /** The encrypted header of a feed; `null`: it has none. */
    async header(listId: number): Promise<Uint8Array | null> {
      return (await one(session, header, { list_id: listId }))?.sealed_header ?? null;
    },
    /** Encrypted headers of lists above `after`, by list. */
    withHeaders: (after: number, limit: number): Promise<readonly SealedHeaderRow[]> =>
      withHeaders(session, { after, limit }),
  };
}

/** Changes of feeds. The caller has locked the domains that the list reaches (`lists.reached`), but for claims. */
export function listFeedWrites(session: Session) {
  return {
    /**
     * Claims due feeds, at most one of each account, none of inactive accounts and of disabled domains. No other process claims
     * them before `until`; a claim that ends later than a lease can was made by a clock that was ahead, and is void.
     */
    async claim({ busy, ...claiming }: FeedClaiming): Promise<readonly ClaimedFeed[]> {
      const { now, until } = claiming;
      const beyond = now + Math.max(2 * (until - now), LONGEST_LEASE_MS);
      return claim(session, { ...claiming, busy: JSON.stringify(busy), beyond });
    },
    /** Ends the claim and stores the state; false, and nothing is stored, if it has passed to another process. */
    async end(
      claimed: Pick<ClaimedFeed, 'list_id' | 'claim'>,
      { feed_state, due_at }: FeedEnd,
    ): Promise<boolean> {
      if ((await end(session, { ...claimed, due_at })).length === 0) return false;
      await setState(session, { id: claimed.list_id, feed_state });
      return true;
    },
    /** Adds or replaces the feed of a list; what is under way for the one before is void. `null`: the list is gone. */
    async put({ id, feed, feed_state, sealed_header, due_at, at }: NewFeed): Promise<ListRow | null> {
      const row = await one(session, setFeed, { id, feed, feed_state, at });
      if (row !== null) await putFeed(session, { id, sealed_header, due_at });
      return row;
    },
    /** Removes the feed of a list; the entries stay. `null`: the list is gone. */
    async remove(id: number, at: number): Promise<ListRow | null> {
      await dropFeed(session, { id });
      return one(session, clearFeed, { id, at });
    },
    /** Makes a feed due; what is under way is void. */
    async hasten(id: number, { feed_state, due_at }: FeedEnd): Promise<ListRow | null> {
      await hasten(session, { id, due_at });
      return one(session, setState, { id, feed_state });
    },
    /** Replaces an encrypted header, if it still is `before`. */
    async reseal(
      list_id: number,
      headers: { readonly before: Uint8Array; readonly after: Uint8Array },
    ): Promise<boolean> {
      return (await reseal(session, { list_id, ...headers })).length > 0;
    },
  };
}
