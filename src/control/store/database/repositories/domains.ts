/** Domains, and the accounts that see them. */
import { sql } from 'kysely';
import { FLAG_SETTING_NAMES } from '../../../../rules/model/domain.ts';
import type { DomainReads, DomainWrites, ScanReads, ScanWrites } from '../../customer-repositories.ts';
import type { Stored } from '../../tables/describe.ts';
import type {
  DomainChanges,
  DomainRow,
  MemberRole,
  NewDomain,
  ScanRow,
  SeenDomain,
} from '../../tables/domains.ts';
import { holderOf, lockDomain } from '../lock-domain.ts';
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
} from '../statement.ts';
import { markDeleted, markDomain } from './zone-marks.ts';

const decode = flags<DomainRow>('ever_active', 'suspended', ...FLAG_SETTING_NAMES);

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

/** The repository of a session. */
export function domains(session: Session): DomainReads & DomainWrites {
  return {
    get: (id) => find(session, id),
    async byName(name) {
      return holderOf(found(session, await named(session, { name })));
    },
    async named(name) {
      return found(session, await named(session, { name }));
    },
    async countUnproved(accountId) {
      return (await one(session, countUnproved, { account_id: accountId }))!.domains;
    },
    async unproved(before, limit) {
      return (await unproved(session, { before, limit })).map(decode);
    },
    seenBy: (accountId, name) =>
      recalled(session, `domain ${accountId} ${name}`, async () => {
        // Two statements: in one that locks the domain, the role could be older than the lock.
        if (session.locking && found(session, await named(session, { name })).length === 0) return null;
        const row = await one(session, seenBy, { account_id: accountId, name });
        if (row !== null) session.manualDomains?.set(row.id, row.publish_mode === 'manual');
        return row && Object.freeze(seen(row, accountId));
      }),
    async listSeenBy(accountId) {
      const rows = await listSeenBy(session, { account_id: accountId });
      return rows.map((row) => seen(row, accountId));
    },
    async ownedBy(accountId, { afterId, limit }) {
      return (await ownedBy(session, { account_id: accountId, after: afterId, limit })).map(decode);
    },
    async page(afterId, limit) {
      return (await page(session, { after: afterId, limit })).map(decode);
    },
    async due(now, limit) {
      return (await due(session, { now, limit })).map(decode);
    },
    async lockClaims(name, accountId) {
      if (session.locking) await lockClaims(session, { name, account: `account ${accountId}` });
    },
    async insert(domain) {
      const [row] = await insert(session, domain);
      session.lockedDomains.add(row!.id);
      await markDomain(session, domain.name);
      return { ...domain, id: row!.id, publish_mode: 'automatic' };
    },
    async update(id, changes) {
      if (Object.keys(changes).length === 0) return find(session, id);
      const [row = null] = found(session, await update(session, { id, changes }));
      if (row !== null && ZONE_FIELDS.some((name) => name in changes)) await markDomain(session, row.name);
      return row;
    },
    async remove(id) {
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
function found(session: Session, rows: readonly Stored<DomainRow>[]): readonly DomainRow[] {
  for (const { id, publish_mode } of rows) {
    session.lockedDomains.add(id);
    session.manualDomains?.set(id, publish_mode === 'manual');
  }
  return rows.map(decode);
}

/** The role of an account: owner, what it was granted, or `null`. */
function seen(row: Stored<DomainRow> & { granted_role: MemberRole | null }, accountId: number): SeenDomain {
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

/** The repository of a session. */
export function scans(session: Session): ScanReads & ScanWrites {
  return {
    due: (now, limit) => dueScans(session, { now, limit }),
    async put(scan) {
      await lockDomain(session, scan.domain_id);
      await put(session, scan);
    },
    async claim(domainId, { now, until }) {
      await lockDomain(session, domainId);
      return one(session, claim, { domain_id: domainId, now, until });
    },
    async release(domainId, now) {
      await lockDomain(session, domainId);
      await release(session, { domain_id: domainId, now });
    },
    async remove(domainId) {
      await lockDomain(session, domainId);
      return (await one(session, removeScan, { domain_id: domainId })) !== null;
    },
  };
}
