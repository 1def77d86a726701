/** Fetches of the keys of token issuers: when they are due, and who fetches them. The keys are in the rows of the issuers. */
import { sql } from 'kysely';
import { int, one, type Session, statement } from '../database/statement.ts';
import { claimParameters, type FetchClaiming, fetchStatements } from '../repositories/fetch-claims.ts';
import type { ClaimedIssuer } from '../tables/registry.ts';

/** Issuers of domains that are not disabled, and of active accounts. */
const FETCHES = fetchStatements<ClaimedIssuer>({
  table: 'issuer_fetches',
  key: 'issuer_id',
  columns: sql`issuer_id, claim`,
  account: sql`domains.user_id`,
  fetchable: sql`issuer_fetches
    join token_issuers on token_issuers.id = issuer_fetches.issuer_id
    join domains on domains.id = token_issuers.domain_id and domains.status <> 'disabled'
    join accounts on accounts.id = domains.user_id and accounts.active = 1`,
  accountOf: sql`(
    select domains.user_id from token_issuers join domains on domains.id = token_issuers.domain_id
    where token_issuers.id = issuer_fetches.issuer_id
  )`,
});

const put = statement((builder, p: { issuer_id: number; due_at: number }) =>
  builder
    .insertInto('issuer_fetches')
    .values({ issuer_id: p.issuer_id, due_at: p.due_at, claim: int(0), claimed_until: int(0) })
    .onConflict((conflict) =>
      conflict.column('issuer_id').doUpdateSet((row) => ({
        due_at: row.ref('excluded.due_at'),
        claim: int(0),
        claimed_until: int(0),
      })),
    ),
);

const remove = statement((builder, p: { issuer_id: number }) =>
  builder.deleteFrom('issuer_fetches').where('issuer_id', '=', p.issuer_id),
);

const end = statement((builder, p: Pick<ClaimedIssuer, 'issuer_id' | 'claim'> & { due_at: number }) =>
  builder
    .updateTable('issuer_fetches')
    .set({ due_at: p.due_at, claim: int(0), claimed_until: int(0) })
    .where('issuer_id', '=', p.issuer_id)
    .where('claim', '=', p.claim)
    .returning('issuer_id'),
);

/** Fetches of keys. */
export function issuerFetchReads(session: Session) {
  return {
    /** Whether a fetch is due that no process has claimed. */
    async isDue(now: number): Promise<boolean> {
      return (await one(session, FETCHES.isDue, { now })) !== null;
    },
  };
}

/** Changes of fetches. The caller has locked the domain, but for claims. */
export function issuerFetchWrites(session: Session) {
  return {
    /** Claims due fetches, at most one of each account. No other process claims them before `until`. */
    claim: (claiming: FetchClaiming): Promise<readonly ClaimedIssuer[]> =>
      FETCHES.claim(session, claimParameters(claiming)),
    /** Adds the fetch of an issuer, or makes it due; what is under way is void. */
    async put(issuerId: number, dueAt: number): Promise<void> {
      await put(session, { issuer_id: issuerId, due_at: dueAt });
    },
    /** Of an issuer that has no URL any more. */
    async remove(issuerId: number): Promise<void> {
      await remove(session, { issuer_id: issuerId });
    },
    /** Ends the claim; false, and nothing is changed, if it has passed to another process or the issuer has changed. */
    async end(claimed: Pick<ClaimedIssuer, 'issuer_id' | 'claim'>, dueAt: number): Promise<boolean> {
      const { issuer_id, claim } = claimed;
      return (await end(session, { issuer_id, claim, due_at: dueAt })).length > 0;
    },
  };
}
