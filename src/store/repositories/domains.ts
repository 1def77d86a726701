/** Domains, and who sees them. */
import { FLAG_SETTING_NAMES } from '../../model/settings.ts';
import type { DomainChanges, DomainReads, DomainWrites, NewDomain } from '../customer-repositories.ts';
import type { DomainRow, MemberRole, SeenDomain } from '../rows.ts';
import { recalled, type Session } from '../session.ts';
import { type Builder, flags, freeStatement, int, one, statement } from '../statement.ts';
import type { StoredColumns } from '../tables.ts';

const decode = flags<DomainRow>('ever_active', 'suspended', ...FLAG_SETTING_NAMES);

// In a write the whole name is locked, in the order of `hold.ts`.
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

const named = statement((builder, p: { name: string }, { locking }) =>
  builder
    .selectFrom('domains')
    .selectAll()
    .where('name', '=', p.name)
    .orderBy('id')
    .$if(locking, (query) => query.forNoKeyUpdate()),
);

const countUnproved = statement((builder, p: { account_id: number }) =>
  builder
    .selectFrom('domains')
    .select(({ fn }) => fn.countAll<number>().as('domains'))
    .where('user_id', '=', p.account_id)
    .where('unproved_since', 'is not', null),
);

const unproved = statement((builder, p: { before: number; limit: number }) =>
  builder
    .selectFrom('domains')
    .selectAll()
    .where('unproved_since', '<=', p.before)
    .orderBy('unproved_since')
    .orderBy('id')
    .limit(p.limit),
);

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

const page = statement((builder, p: { after: number; limit: number }) =>
  builder.selectFrom('domains').selectAll().where('id', '>', p.after).orderBy('id').limit(p.limit),
);

const due = statement((builder, p: { now: number; limit: number }) =>
  builder
    .selectFrom('domains')
    .selectAll()
    .where('next_check_at', '<=', p.now)
    .orderBy('next_check_at')
    .orderBy('id')
    .limit(p.limit),
);

const insert = freeStatement((builder, p: NewDomain) =>
  builder.insertInto('domains').values(withoutId(p)).returning('id'),
);

const update = freeStatement((builder, p: { id: number; changes: DomainChanges }) =>
  builder.updateTable('domains').set(p.changes).where('id', '=', p.id).returningAll(),
);

const remove = statement((builder, p: { id: number }) =>
  builder.deleteFrom('domains').where('id', '=', p.id).returning('id'),
);

export function domains(session: Session): DomainReads & DomainWrites {
  return {
    async get(id) {
      const rows = await get(session, { id });
      return found(session, rows).find((row) => row.id === id) ?? null;
    },
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
        // Under one statement that locks the domain, the role could be older than the lock.
        if (session.locking && found(session, await named(session, { name })).length === 0) return null;
        const row = await one(session, seenBy, { account_id: accountId, name });
        return row && Object.freeze(seen(row, accountId));
      }),
    async listSeenBy(accountId) {
      const rows = await listSeenBy(session, { account_id: accountId });
      return rows.map((row) => seen(row, accountId));
    },
    async page(afterId, limit) {
      return (await page(session, { after: afterId, limit })).map(decode);
    },
    async due(now, limit) {
      return (await due(session, { now, limit })).map(decode);
    },
    async insert(domain) {
      const [row] = await insert(session, domain);
      session.lockedDomains.add(row!.id);
      return { ...domain, id: row!.id };
    },
    async update(id, changes) {
      if (Object.keys(changes).length === 0) return this.get(id);
      return found(session, await update(session, { id, changes }))[0] ?? null;
    },
    async remove(id) {
      return (await one(session, remove, { id })) !== null;
    },
  };
}

/** In a writing session the rows have just been locked. */
function found(session: Session, rows: readonly StoredColumns<DomainRow>[]): readonly DomainRow[] {
  for (const { id } of rows) session.lockedDomains.add(id);
  return rows.map(decode);
}

/** Of domains of one name, by id: the one that the name stands for. */
function holderOf(rows: readonly DomainRow[]): DomainRow | null {
  const proved = rows.find(({ unproved_since }) => unproved_since === null);
  return proved ?? rows.find(({ ever_active }) => ever_active) ?? rows[0] ?? null;
}

function seen(
  row: StoredColumns<DomainRow> & { granted_role: MemberRole | null },
  accountId: number,
): SeenDomain {
  const { granted_role: granted, ...domain } = row;
  return { domain: Object.freeze(decode(domain)), role: domain.user_id === accountId ? 'owner' : granted };
}

/** A whole domain object may be given where a new one is asked for. */
function withoutId(domain: NewDomain): NewDomain {
  const { id: _, ...rest } = domain as DomainRow;
  return rest;
}
