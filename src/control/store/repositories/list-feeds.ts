/** The feeds of named lists: their settings and states in the rows of the lists, when they are due, and who fetches them. */
import { sql } from 'kysely';
import { int, one, type Session, statement } from '../database/statement.ts';
import type { ClaimedFeed, ListRow, SealedHeaderRow } from '../tables/lists.ts';
import { claimParameters, type FetchClaiming, fetchStatements } from './fetch-claims.ts';

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

/** Feeds of lists: none of inactive accounts and of disabled domains. The account is whose turn it is. */
const account = sql`coalesce(lists.account_id, domains.user_id)`;
const FETCHES = fetchStatements<ClaimedFeed>({
  table: 'list_feeds',
  key: 'list_id',
  columns: sql`list_id, sealed_header, claim`,
  account,
  fetchable: sql`list_feeds
    join lists on lists.id = list_feeds.list_id
    left join domains on domains.id = lists.domain_id
    join accounts on accounts.id = ${account} and accounts.active = 1 and coalesce(domains.status, '') <> 'disabled'`,
  accountOf: sql`(
    select ${account} from lists left join domains on domains.id = lists.domain_id where lists.id = list_feeds.list_id
  )`,
});

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
      return (await one(session, FETCHES.isDue, { now })) !== null;
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
    claim: (claiming: FetchClaiming): Promise<readonly ClaimedFeed[]> =>
      FETCHES.claim(session, claimParameters(claiming)),
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
