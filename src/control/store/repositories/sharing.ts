/** What a domain has besides records and rules: members, subscription. */
import { sql } from 'kysely';
import { lockDomain } from '../database/lock-domain.ts';
import { flags, one, type Session, statement } from '../database/statement.ts';
import type { InvitationRow, MemberRow, SubscriptionRow } from '../tables/domains.ts';

const getMember = statement((builder, p: { domain_id: number; account_id: number }) =>
  builder
    .selectFrom('domain_members')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('account_id', '=', p.account_id),
);

const listMembers = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('domain_members').selectAll().where('domain_id', '=', p.domain_id).orderBy('account_id'),
);

/** Joins the accounts, where the name is. */
const memberByName = statement((builder, p: { domain_id: number; name: string }) =>
  builder
    .selectFrom('domain_members')
    .innerJoin('accounts', 'accounts.id', 'domain_members.account_id')
    .selectAll('domain_members')
    .where('domain_id', '=', p.domain_id)
    .where('accounts.name', '=', p.name),
);

const countMembers = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('domain_members')
    .select(({ fn }) => fn.countAll<number>().as('members'))
    .where('domain_id', '=', p.domain_id),
);

/** A role that is granted again keeps its `created_at`. */
const putMember = statement((builder, p: MemberRow) =>
  builder
    .insertInto('domain_members')
    .values({
      domain_id: p.domain_id,
      account_id: p.account_id,
      role: p.role,
      created_at: p.created_at,
      updated_at: p.updated_at,
    })
    .onConflict((conflict) =>
      conflict.columns(['domain_id', 'account_id']).doUpdateSet((row) => ({
        role: row.ref('excluded.role'),
        updated_at: row.ref('excluded.updated_at'),
      })),
    ),
);

const removeMember = statement((builder, p: { domain_id: number; account_id: number }) =>
  builder
    .deleteFrom('domain_members')
    .where('domain_id', '=', p.domain_id)
    .where('account_id', '=', p.account_id)
    .returning('account_id'),
);

/** Members of a domain; its owner is not one of them. Each access locks the domain in a write. */
export function memberReads(session: Session) {
  return {
    async get(domainId: number, accountId: number): Promise<MemberRow | null> {
      await lockDomain(session, domainId);
      return one(session, getMember, { domain_id: domainId, account_id: accountId });
    },
    /** By account. */
    async list(domainId: number): Promise<readonly MemberRow[]> {
      await lockDomain(session, domainId);
      return listMembers(session, { domain_id: domainId });
    },
    /** The member whose account has this name. */
    async byName(domainId: number, name: string): Promise<MemberRow | null> {
      await lockDomain(session, domainId);
      return one(session, memberByName, { domain_id: domainId, name });
    },
    async count(domainId: number): Promise<number> {
      await lockDomain(session, domainId);
      return (await one(session, countMembers, { domain_id: domainId }))!.members;
    },
  };
}

/** Changes of the members of a domain. Each access locks the domain in a write. */
export function memberWrites(session: Session) {
  return {
    /** Grants the role, in place of an earlier one (whose `created_at` stays). `missing` when there is no such account. */
    async put(member: MemberRow): Promise<void> {
      await lockDomain(session, member.domain_id);
      await putMember(session, member);
    },
    async remove(domainId: number, accountId: number): Promise<boolean> {
      await lockDomain(session, domainId);
      return (await one(session, removeMember, { domain_id: domainId, account_id: accountId })) !== null;
    },
  };
}

const decodeSubscription = flags<SubscriptionRow>('active');

const getSubscription = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('subscriptions').selectAll().where('domain_id', '=', p.domain_id),
);

/** A domain has one subscription at most; a replacement keeps its id. */
const putSubscription = statement((builder, p: Omit<SubscriptionRow, 'id'>) =>
  builder
    .insertInto('subscriptions')
    .values({
      domain_id: p.domain_id,
      plan_slug: p.plan_slug,
      plan_term_id: p.plan_term_id,
      active: p.active,
      started_at: p.started_at,
      ends_at: p.ends_at,
      overrides_json: p.overrides_json,
    })
    .onConflict((conflict) =>
      conflict.column('domain_id').doUpdateSet((row) => ({
        plan_slug: row.ref('excluded.plan_slug'),
        plan_term_id: row.ref('excluded.plan_term_id'),
        active: row.ref('excluded.active'),
        started_at: row.ref('excluded.started_at'),
        ends_at: row.ref('excluded.ends_at'),
        overrides_json: row.ref('excluded.overrides_json'),
      })),
    )
    .returning('id'),
);

const removeSubscription = statement((builder, p: { domain_id: number }) =>
  builder.deleteFrom('subscriptions').where('domain_id', '=', p.domain_id).returning('id'),
);

/** What a domain has bought. Each access locks the domain in a write. */
export function subscriptionReads(session: Session) {
  return {
    /** The domain's own subscription, also one that has ended; `access` decides whether it is in force. */
    async get(domainId: number): Promise<SubscriptionRow | null> {
      await lockDomain(session, domainId);
      const row = await one(session, getSubscription, { domain_id: domainId });
      return row && decodeSubscription(row);
    },
  };
}

/** Changes of a domain's subscription. Each access locks the domain in a write. */
export function subscriptionWrites(session: Session) {
  return {
    /** Replaces the domain's subscription; a replaced one keeps its id. */
    async put(subscription: Omit<SubscriptionRow, 'id'>): Promise<SubscriptionRow> {
      await lockDomain(session, subscription.domain_id);
      const [row] = await putSubscription(session, subscription);
      return { ...subscription, id: row!.id };
    },
    async remove(domainId: number): Promise<boolean> {
      await lockDomain(session, domainId);
      return (await one(session, removeSubscription, { domain_id: domainId })) !== null;
    },
  };
}

// Invitations to become a member: by the domain that offers them, and by the name that is invited.

const get = statement((builder, p: { domain_id: number; id: number }) =>
  builder.selectFrom('invitations').selectAll().where('domain_id', '=', p.domain_id).where('id', '=', p.id),
);

/** By name and id: an id alone may be of an invitation of another account. */
const received = statement((builder, p: { name: string; id: number }) =>
  builder.selectFrom('invitations').selectAll().where('name', '=', p.name).where('id', '=', p.id),
);

const byName = statement((builder, p: { domain_id: number; name: string }) =>
  builder
    .selectFrom('invitations')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('name', '=', p.name),
);

const list = statement((builder, p: { domain_id: number; now: number }) =>
  builder
    .selectFrom('invitations')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('expires_at', '>', p.now)
    .orderBy('id'),
);

const listOf = statement((builder, p: { name: string; now: number }) =>
  builder
    .selectFrom('invitations')
    .innerJoin('domains', 'domains.id', 'invitations.domain_id')
    .selectAll('invitations')
    .select('domains.name as domain')
    .where('invitations.name', '=', p.name)
    .where('expires_at', '>', p.now)
    .orderBy('invitations.id'),
);

const countOf = statement((builder, p: { name: string; owner_id: number; now: number }) =>
  builder
    .selectFrom('invitations')
    .innerJoin('domains', 'domains.id', 'invitations.domain_id')
    .select(({ fn }) => [
      fn.countAll<number>().as('all'),
      sql<number>`count(case when domains.user_id = ${p.owner_id} then 1 end)`.as('ofOwner'),
    ])
    .where('invitations.name', '=', p.name)
    .where('expires_at', '>', p.now),
);

/** A second invitation of a name to the domain violates its unique constraint. */
const insert = statement((builder, p: Omit<InvitationRow, 'id'>) =>
  builder
    .insertInto('invitations')
    .values({
      domain_id: p.domain_id,
      name: p.name,
      role: p.role,
      created_at: p.created_at,
      updated_at: p.updated_at,
      expires_at: p.expires_at,
    })
    .returning('id'),
);

const renew = statement(
  (builder, p: Pick<InvitationRow, 'id' | 'domain_id' | 'role' | 'updated_at' | 'expires_at'>) =>
    builder
      .updateTable('invitations')
      .set({ role: p.role, updated_at: p.updated_at, expires_at: p.expires_at })
      .where('domain_id', '=', p.domain_id)
      .where('id', '=', p.id),
);

const remove = statement((builder, p: { domain_id: number; id: number }) =>
  builder
    .deleteFrom('invitations')
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id)
    .returning('id'),
);

// A row that another write has locked is left to a later call, so that no two writes wait for each other here.
const prune = statement((builder, p: { now: number; limit: number }, { locking }) =>
  builder.deleteFrom('invitations').where('id', 'in', (row) =>
    row
      .selectFrom('invitations as lapsed')
      .select('lapsed.id')
      .where('lapsed.expires_at', '<=', p.now)
      .orderBy('lapsed.expires_at')
      .limit(p.limit)
      .$if(locking, (query) => query.forUpdate().skipLocked()),
  ),
);

/** Invitations, by the domain that offers them or the name that is invited. Each access by domain locks it in a write. */
export function invitationReads(session: Session) {
  return {
    /** The domain's invitation with this id, lapsed or not. */
    async get(domainId: number, id: number): Promise<InvitationRow | null> {
      await lockDomain(session, domainId);
      return one(session, get, { domain_id: domainId, id });
    },
    /** The invitation of that name with this id, lapsed or not; in a write its domain is locked. */
    async received(name: string, id: number): Promise<InvitationRow | null> {
      const row = await one(session, received, { name, id });
      if (row === null || !session.locking) return row;
      await lockDomain(session, row.domain_id);
      // Read again: another write may have changed it before the domain was locked.
      return one(session, received, { name, id });
    },
    /** The invitation of that name to the domain, lapsed or not. */
    async byName(domainId: number, name: string): Promise<InvitationRow | null> {
      await lockDomain(session, domainId);
      return one(session, byName, { domain_id: domainId, name });
    },
    /** Invitations to the domain that have not lapsed at `now`, by id. */
    async list(domainId: number, now: number): Promise<readonly InvitationRow[]> {
      await lockDomain(session, domainId);
      return list(session, { domain_id: domainId, now });
    },
    /** Invitations of that name that have not lapsed at `now`, with the name of their domain, by id. */
    listOf: (name: string, now: number): Promise<readonly (InvitationRow & { readonly domain: string })[]> =>
      listOf(session, { name, now }),
    /** The number of those, and of those among them to domains of the account `ownerId`. */
    async countOf(
      name: string,
      { ownerId, now }: { readonly ownerId: number; readonly now: number },
    ): Promise<{ readonly all: number; readonly ofOwner: number }> {
      return (await one(session, countOf, { name, owner_id: ownerId, now }))!;
    },
  };
}

/** Changes of invitations. Each access by domain locks it in a write. */
export function invitationWrites(session: Session) {
  return {
    /** `conflict` on `invitations.domain_id` when the name is invited to the domain already. */
    async insert(invitation: Omit<InvitationRow, 'id'>): Promise<InvitationRow> {
      await lockDomain(session, invitation.domain_id);
      const [row] = await insert(session, invitation);
      return { ...invitation, id: row!.id };
    },
    /** Replaces the role and the times of an existing invitation. */
    async renew(
      invitation: Pick<InvitationRow, 'id' | 'domain_id' | 'role' | 'updated_at' | 'expires_at'>,
    ): Promise<void> {
      await lockDomain(session, invitation.domain_id);
      await renew(session, invitation);
    },
    /** True when it was there. */
    async remove(domainId: number, id: number): Promise<boolean> {
      await lockDomain(session, domainId);
      return (await one(session, remove, { domain_id: domainId, id })) !== null;
    },
    /** Removes invitations that have lapsed at `now`, those of longest ago first, at most `limit`. Locks no domain. */
    async prune(now: number, limit: number): Promise<void> {
      await prune(session, { now, limit });
    },
  };
}
