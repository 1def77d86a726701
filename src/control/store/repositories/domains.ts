/** Domains, and the accounts that see them. */
import { sql } from 'kysely';
import { holderOf, lockDomain } from '../database/lock-domain.ts';
import {
  type Builder,
  flags,
  freeStatement,
  int,
  one,
  raw,
  recalled,
  type Session,
  statement,
} from '../database/statement.ts';
import { flagsOf, type StoredRow } from '../tables/describe.ts';
import {
  type DomainChanges,
  type DomainRow,
  domains,
  type MemberRole,
  type NewDomain,
  type ScanRow,
  type SeenDomain,
} from '../tables/domains.ts';
import { markDeleted, markDomain } from './zone-marks.ts';

const decode = flags<DomainRow>(...flagsOf(domains));

// In a write all domains of the name are locked, in the order of `control/store/database/lock-domain.ts`.
const get = statement((builder, p: { id: number }, { locking }) =>
  builder
    .selectFrom('domains')
    .selectAll()
    .$if(!locking, (query) => query.where('id', '=', p.id))
    .$if(locking, (query) =>
      query
        .where('name', '=', (row) =>
          row.selectFrom('domains as one').select('one.name').where('one.id', '=', p.id),
        )
        .orderBy('id')
        .forNoKeyUpdate(),
    ),
);

/** In a write all domains of the name are locked, by id. */
const named = statement((builder, p: { name: string }, { locking }) =>
  builder
    .selectFrom('domains')
    .selectAll()
    .where('name', '=', p.name)
    .orderBy('id')
    .$if(locking, (query) => query.forNoKeyUpdate()),
);

/**
 * Advisory locks: a name without a domain has no row to lock, and neither has the number of an account's claims. The name
 * comes first in every transaction, so no two wait for each other.
 */
const lockClaims = statement((builder, p: { name: string; account: string }) =>
  raw(
    sql<{ locked: boolean }>`select pg_advisory_xact_lock(hashtextextended(key, 0)) is null as locked
      from unnest(array[${p.name}, ${p.account}]::text[]) as key`,
    builder,
  ),
);

const countUnproved = statement((builder, p: { account_id: number }) =>
  builder
    .selectFrom('domains')
    .select(({ fn }) => fn.countAll<number>().as('domains'))
    .where('user_id', '=', p.account_id)
    .where('unproved_since', 'is not', null),
);

/** Rows that were proved have `null`, which no comparison matches. */
const unproved = statement((builder, p: { before: number; limit: number }) =>
  builder
    .selectFrom('domains')
    .selectAll()
    .where('unproved_since', '<=', p.before)
    .orderBy('unproved_since')
    .orderBy('id')
    .limit(p.limit),
);

/** The account's own domain first, then one that it is a member of, then any other. */
const seenBy = statement((builder, p: { account_id: number; name: string }) =>
  withRole(builder, p.account_id)
    .where('domains.name', '=', p.name)
    .orderBy(({ eb }) =>
      eb
        .case()
        .when('domains.user_id', '=', p.account_id)
        .then(int(0))
        .when('domain_members.role', 'is not', null)
        .then(int(1))
        .else(int(2))
        .end(),
    )
    .orderBy('domains.id')
    .limit(1),
);

const listSeenBy = statement((builder, p: { account_id: number }) =>
  withRole(builder, p.account_id)
    .where((row) =>
      row.or([
        row('domains.user_id', '=', p.account_id),
        row('domains.id', 'in', (inner) =>
          inner
            .selectFrom('domain_members as shared')
            .select('shared.domain_id')
            .where('shared.account_id', '=', p.account_id),
        ),
      ]),
    )
    .orderBy('domains.name'),
);

/** Domains with the role that the account was granted there; `null` also if it is the owner. */
function withRole(builder: Builder, accountId: number) {
  return builder
    .selectFrom('domains')
    .leftJoin('domain_members', (join) =>
      join
        .onRef('domain_members.domain_id', '=', 'domains.id')
        .on('domain_members.account_id', '=', accountId),
    )
    .selectAll('domains')
    .select('domain_members.role as granted_role');
}

const ownedBy = statement((builder, p: { account_id: number; after: number; limit: number }) =>
  builder
    .selectFrom('domains')
    .selectAll()
    .where('user_id', '=', p.account_id)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
);

const page = statement((builder, p: { after: number; limit: number }) =>
  builder.selectFrom('domains').selectAll().where('id', '>', p.after).orderBy('id').limit(p.limit),
);

/** Through the index over `next_check_at`, where `null` (nothing is due) matches no time. */
const due = statement((builder, p: { now: number; limit: number }) =>
  builder
    .selectFrom('domains')
    .selectAll()
    .where('next_check_at', '<=', p.now)
    .orderBy('next_check_at')
    .orderBy('id')
    .limit(p.limit),
);

/** Compiled at each use, since `withoutId` reads the fields of its parameter, which a hole lacks. */
const insert = freeStatement((builder, p: NewDomain) =>
  builder.insertInto('domains').values(withoutId(p)).returning('id'),
);

/** Its text depends on the fields that change. */
const update = freeStatement((builder, p: { id: number; changes: DomainChanges }) =>
  builder.updateTable('domains').set(p.changes).where('id', '=', p.id).returningAll(),
);

/** Foreign keys remove what belongs to the domain (ON DELETE CASCADE). */
const remove = statement((builder, p: { id: number }) =>
  builder.deleteFrom('domains').where('id', '=', p.id).returning(['id', 'name']),
);

/** What decides whether a domain has a zone. */
const ZONE_FIELDS = ['status', 'dns_mode', 'unproved_since'] as const;

/** Domains by id, name, account, or the time of their next step. */
export function domainReads(session: Session) {
  return {
    get: (id: number): Promise<DomainRow | null> => find(session, id),
    /** Of the domains of that name: the proved one, else one that has been active, else the oldest. */
    async byName(name: string): Promise<DomainRow | null> {
      return holderOf(found(session, await named(session, { name })));
    },
    /** The domains of that name by id: a proved one, or any number of unproved ones. */
    async named(name: string): Promise<readonly DomainRow[]> {
      return found(session, await named(session, { name }));
    },
    /** Number of the account's domains without a proof. */
    async countUnproved(accountId: number): Promise<number> {
      return (await one(session, countUnproved, { account_id: accountId }))!.domains;
    },
    /** Domains unproved since `before` or longer, the longest first, at most `limit`. Locks none. */
    async unproved(before: number, limit: number): Promise<readonly DomainRow[]> {
      return (await unproved(session, { before, limit })).map(decode);
    },
    /**
     * The domain of that name that the account sees, and its role there, in one query: its own before one shared with it.
     * If it sees none, another of that name, with the role `null`.
     */
    seenBy: (accountId: number, name: string): Promise<SeenDomain | null> =>
      recalled(session, `domain ${accountId} ${name}`, async () => {
        // Two statements: in one that locks the domain, the role could be older than the lock.
        if (session.locking && found(session, await named(session, { name })).length === 0) return null;
        const row = await one(session, seenBy, { account_id: accountId, name });
        if (row !== null) session.manualDomains?.set(row.id, row.publish_mode === 'manual');
        return row && Object.freeze(seen(row, accountId));
      }),
    /** Domains the account owns or is a member of, by name. */
    async listSeenBy(accountId: number): Promise<readonly SeenDomain[]> {
      const rows = await listSeenBy(session, { account_id: accountId });
      return rows.map((row) => seen(row, accountId));
    },
    /** Domains of an account above `afterId` by id, at most `limit`. */
    async ownedBy(
      accountId: number,
      { afterId, limit }: { readonly afterId: number; readonly limit: number },
    ): Promise<readonly DomainRow[]> {
      return (await ownedBy(session, { account_id: accountId, after: afterId, limit })).map(decode);
    },
    /** Domains above `afterId` by id, at most `limit`: to read all of them page by page. */
    async page(afterId: number, limit: number): Promise<readonly DomainRow[]> {
      return (await page(session, { after: afterId, limit })).map(decode);
    },
    /** Domains whose `next_check_at` has come, the longest due first. Locks none. */
    async due(now: number, limit: number): Promise<readonly DomainRow[]> {
      return (await due(session, { now, limit })).map(decode);
    },
  };
}

/** Changes of domains. Each locks the domain and the others of its name until the commit. */
export function domainWrites(session: Session) {
  return {
    /** Other transactions that lock this name or this account here wait until the commit. For use before a claim is judged. */
    async lockClaims(name: string, accountId: number): Promise<void> {
      if (session.locking) await lockClaims(session, { name, account: `account ${accountId}` });
    },
    /** `conflict` on `domains.name`. */
    async insert(domain: NewDomain): Promise<DomainRow> {
      const [row] = await insert(session, domain);
      session.lockedDomains.add(row!.id);
      await markDomain(session, domain.name);
      return { ...domain, id: row!.id, publish_mode: 'automatic' };
    },
    /** Changes the given fields and returns the whole row; `null` when it is gone. The caller sets `updated_at`. */
    async update(id: number, changes: DomainChanges): Promise<DomainRow | null> {
      if (Object.keys(changes).length === 0) return find(session, id);
      const [row = null] = found(session, await update(session, { id, changes }));
      if (row !== null && ZONE_FIELDS.some((name) => name in changes)) await markDomain(session, row.name);
      return row;
    },
    /**
     * Removes the domain with its members, subscription, certificates, records, rules and traffic. Its audit entries,
     * outbox rows and revisions stay. True when it was there.
     */
    async remove(id: number): Promise<boolean> {
      const removed = await one(session, remove, { id });
      if (removed !== null) await markDeleted(session, removed.name);
      return removed !== null;
    },
  };
}

/** The domain with this id. */
async function find(session: Session, id: number): Promise<DomainRow | null> {
  return found(session, await get(session, { id })).find((row) => row.id === id) ?? null;
}

/** In a writing session the rows have just been locked. */
function found(session: Session, rows: readonly StoredRow<DomainRow>[]): readonly DomainRow[] {
  for (const { id, publish_mode } of rows) {
    session.lockedDomains.add(id);
    session.manualDomains?.set(id, publish_mode === 'manual');
  }
  return rows.map(decode);
}

/** The role of an account: owner, what it was granted, or `null`. */
function seen(
  row: StoredRow<DomainRow> & { granted_role: MemberRole | null },
  accountId: number,
): SeenDomain {
  const { granted_role: granted, ...domain } = row;
  return { domain: Object.freeze(decode(domain)), role: domain.user_id === accountId ? 'owner' : granted };
}

/** Removes the id of a whole domain object, which callers may pass as a new one. */
function withoutId(domain: NewDomain): NewDomain {
  const { id: _, ...rest } = domain as DomainRow;
  return rest;
}

// Scans of new domains that are still to be done.

/** A scan that is claimed has its `run_at` in the future. */
const dueScans = statement((builder, p: { now: number; limit: number }) =>
  builder
    .selectFrom('record_scans')
    .selectAll()
    .where('run_at', '<=', p.now)
    .orderBy('run_at')
    .orderBy('domain_id')
    .limit(p.limit),
);

/** A new domain has no scan yet; a second one violates the primary key. */
const put = statement((builder, p: ScanRow) =>
  builder.insertInto('record_scans').values({
    domain_id: p.domain_id,
    account_id: p.account_id,
    key_id: p.key_id,
    run_at: p.run_at,
    tries: p.tries,
  }),
);

/** No row if the scan is not due, since another process has claimed it. */
const claim = statement((builder, p: { domain_id: number; now: number; until: number }) =>
  builder
    .updateTable('record_scans')
    .set((row) => ({ run_at: p.until, tries: row('tries', '+', row.lit(1)) }))
    .where('domain_id', '=', p.domain_id)
    .where('run_at', '<=', p.now)
    .returningAll(),
);

const release = statement((builder, p: { domain_id: number; now: number }) =>
  builder.updateTable('record_scans').set({ run_at: p.now }).where('domain_id', '=', p.domain_id),
);

const removeScan = statement((builder, p: { domain_id: number }) =>
  builder.deleteFrom('record_scans').where('domain_id', '=', p.domain_id).returning('domain_id'),
);

/** Scans of new domains that are still to be done. */
export function scanReads(session: Session) {
  return {
    /** Scans that are due, the longest waiting first. Locks none. */
    due: (now: number, limit: number): Promise<readonly ScanRow[]> => dueScans(session, { now, limit }),
  };
}

/** Changes of scans, and the claims on them. */
export function scanWrites(session: Session) {
  return {
    /** Requests a scan of the domain. */
    async put(scan: ScanRow): Promise<void> {
      await lockDomain(session, scan.domain_id);
      await put(session, scan);
    },
    /** Claims a scan that is due, so that no other process claims it before `until`; `null`: another process has. */
    async claim(
      domainId: number,
      { now, until }: { readonly now: number; readonly until: number },
    ): Promise<ScanRow | null> {
      await lockDomain(session, domainId);
      return one(session, claim, { domain_id: domainId, now, until });
    },
    /** Ends a claim; the scan is due at `now`. */
    async release(domainId: number, now: number): Promise<void> {
      await lockDomain(session, domainId);
      await release(session, { domain_id: domainId, now });
    },
    /** True when the scan was still to be done. */
    async remove(domainId: number): Promise<boolean> {
      await lockDomain(session, domainId);
      return (await one(session, removeScan, { domain_id: domainId })) !== null;
    },
  };
}
