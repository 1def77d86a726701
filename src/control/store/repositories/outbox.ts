/** The outbox: changes that wait for a publication. */
import { sql } from 'kysely';
import { lockDomain, lockDomains } from '../database/lock-domain.ts';
import {
  flags,
  idsIn,
  int,
  type ListedColumns,
  listed,
  listedRows,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import type { OutboxRow, PendingDomain } from '../tables/plans.ts';
import type { ReachedDomain } from './list-uses.ts';

const decode = flags<OutboxRow>('lists_only');

/** In the order of commits, since ids ascend within a domain. */
const listOutbox = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('outbox')
    .select(['id', 'domain_id', 'domain', 'account_id', 'key_id', 'at', 'reason', 'lists_only'])
    .where('domain_id', '=', p.domain_id)
    .orderBy('id'),
);

/** One row: the count, and the time of the oldest row or `null`. */
const backlog = statement((builder, _: object) =>
  builder
    .selectFrom('outbox')
    .select(({ fn }) => [fn.countAll<number>().as('rows'), fn.min<number | null>('at').as('since')]),
);

/** In a write the domain is locked before, so its ids ascend in the order of commits. */
const append = statement((builder, p: Omit<OutboxRow, 'id' | 'lists_only'>) =>
  builder
    .insertInto('outbox')
    .values({
      domain_id: p.domain_id,
      domain: p.domain,
      account_id: p.account_id,
      key_id: p.key_id,
      at: p.at,
      reason: p.reason,
    })
    .returning('id'),
);

/** The domain of each row, as one parameter has them. */
const REACHED = { domain_id: 'bigint', domain: 'text' } as const satisfies ListedColumns;

const appendLists = statement(
  (
    builder,
    p: Omit<OutboxRow, 'id' | 'domain_id' | 'domain' | 'lists_only'> & { domains: string },
    flavour,
  ) =>
    raw<Pick<OutboxRow, 'id' | 'domain_id'>>(
      sql`insert into outbox (domain_id, domain, account_id, key_id, at, reason, lists_only)
        select given.domain_id, given.domain, cast(${p.account_id} as bigint), cast(${p.key_id} as bigint),
          cast(${p.at} as bigint), cast(${p.reason} as text), 1
        from (${listed(p.domains, REACHED, flavour)}) as given where true returning id, domain_id`,
      builder,
    ),
);

/** Milliseconds added to two leases: a claim that ends later than that was made by a clock that was ahead, and is void. */
const LONGEST_LEASE_MS = 10_000;

// A domain is claimed while any of its rows is. A claim that ends after `beyond` was made by a clock that has been set
// back since, and lapses. The second check of `claimed_until` is for PostgreSQL, where another publisher may have claimed
// the row between the choice and the update.
const claim = statement((builder, p: { now: number; until: number; beyond: number; limit: number }) =>
  builder
    .updateTable('outbox')
    .set({ claimed_until: p.until })
    .where('domain_id', 'in', (row) =>
      row
        .selectFrom('outbox as waiting')
        .select('waiting.domain_id')
        .groupBy('waiting.domain_id')
        .having(({ eb, fn, or }) =>
          or([
            eb(fn.max('waiting.claimed_until'), '<=', p.now),
            eb(fn.max('waiting.claimed_until'), '>', p.beyond),
          ]),
        )
        .orderBy(({ fn }) => fn.min('waiting.at'))
        .orderBy('waiting.domain_id')
        .limit(p.limit),
    )
    .where(({ eb, or }) => or([eb('claimed_until', '<=', p.now), eb('claimed_until', '>', p.beyond)]))
    .returning(['id', 'domain_id', 'domain', 'at']),
);

/** Only domains that are claimed; a claim that has been ended meanwhile is not begun again. */
const renew = statement((builder, p: { domains: string; until: number }, flavour) =>
  builder
    .updateTable('outbox')
    .set({ claimed_until: p.until })
    .where('domain_id', 'in', idsIn(p.domains, flavour))
    .where('claimed_until', '>', int(0)),
);

/** Touches claimed rows only. */
const releaseAll = statement((builder, _: object) =>
  builder
    .updateTable('outbox')
    .set({ claimed_until: int(0) })
    .where('claimed_until', '>', int(0)),
);

/** Of a domain that is not claimed, changes nothing. */
const release = statement((builder, p: { domain_id: number }) =>
  builder
    .updateTable('outbox')
    .set({ claimed_until: int(0) })
    .where('domain_id', '=', p.domain_id),
);

/** Changes that wait for a publication. `append` and `list` do. */
export function outboxReads(session: Session) {
  return {
    /** The waiting rows of one domain, by id. */
    async list(domainId: number): Promise<readonly OutboxRow[]> {
      await lockDomain(session, domainId);
      return (await listOutbox(session, { domain_id: domainId })).map(decode);
    },
    /** Rows waiting over all domains, and when the oldest was written: for metrics. */
    async backlog(): Promise<{ readonly rows: number; readonly since: number | null }> {
      const [row] = await backlog(session, {});
      return row!;
    },
  };
}

/** Appends to the outbox, and the claims that divide its domains among publishers. `append` and `list` do. */
export function outboxWrites(session: Session) {
  return {
    /** Returns the row's id, as `plans.covering` takes it. */
    async append(row: Omit<OutboxRow, 'id' | 'lists_only'>): Promise<number> {
      await lockDomain(session, row.domain_id);
      session.note('outbox');
      const [given] = await append(session, row);
      return given!.id;
    },
    /**
     * Appends a row for each of these domains, in which only the content of lists has changed. Returns the ids by domain, as
     * `plans.covering` takes them.
     */
    async appendLists(
      domains: readonly ReachedDomain[],
      row: Omit<OutboxRow, 'id' | 'domain_id' | 'domain' | 'lists_only'>,
    ): Promise<ReadonlyMap<number, number>> {
      if (domains.length === 0) return new Map();
      await lockDomains(
        session,
        domains.map(({ id }) => id),
      );
      session.note('outbox');
      const rows = domains.map(({ id, name }) => ({ domain_id: id, domain: name }));
      const given = await appendLists(session, { ...row, domains: listedRows(rows, REACHED) });
      return new Map(given.map(({ id, domain_id }) => [domain_id, id]));
    },
    /**
     * Claims domains with waiting rows, the longest waiting first, so that no other publisher claims them before `until`.
     * Rows that are added meanwhile belong to the same claim. A claim only saves work: between two publishers of one
     * domain `plans.publish` decides. Locks no domain. A claim that ends later than two leases
     * (`until - now`) and 10 seconds from `now` is void: its clock was ahead.
     */
    async claim(wanted: {
      readonly now: number;
      readonly until: number;
      readonly limit: number;
    }): Promise<readonly PendingDomain[]> {
      const { now, until } = wanted;
      const beyond = now + Math.max(2 * (until - now), LONGEST_LEASE_MS);
      return pendingDomains(await claim(session, { ...wanted, beyond }));
    },
    /** Moves the end of the claims on these domains, if they are claimed. */
    async renew(domainIds: readonly number[], until: number): Promise<void> {
      await renew(session, { domains: JSON.stringify(domainIds), until });
    },
    /** Ends the claim on a domain, for example after a publication (rows may have been added since) or a failure. */
    async release(domainId: number): Promise<void> {
      session.note('outbox');
      await release(session, { domain_id: domainId });
    },
    /** Ends every claim: for the only publisher of a store, whose earlier claims are of a process that ended. */
    async releaseAll(): Promise<void> {
      session.note('outbox');
      await releaseAll(session, {});
    },
  };
}

/** The part of a claimed row that `pendingDomains` needs. */
type ClaimedRow = Pick<OutboxRow, 'id' | 'domain_id' | 'domain' | 'at'>;

/** Groups rows by domain, the longest waiting first. */
function pendingDomains(rows: readonly ClaimedRow[]): readonly PendingDomain[] {
  const byDomain = new Map<number, PendingDomain>();
  for (const row of rows) {
    const known = byDomain.get(row.domain_id);
    byDomain.set(row.domain_id, {
      domain_id: row.domain_id,
      domain: row.domain,
      rows: (known?.rows ?? 0) + 1,
      through: Math.max(known?.through ?? 0, row.id),
      since: Math.min(known?.since ?? row.at, row.at),
    });
  }
  return [...byDomain.values()].sort((a, b) => a.since - b.since || a.domain_id - b.domain_id);
}
