/** What a domain has besides records and rules: members, subscription. */
import type {
  MemberReads,
  MemberWrites,
  SubscriptionReads,
  SubscriptionWrites,
} from '../../customer-repositories.ts';
import type { MemberRow, SubscriptionRow } from '../../rows.ts';
import { lockDomain } from '../lock-domain.ts';
import type { Session } from '../session.ts';
import { flags, one, statement } from '../statement.ts';

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

/** The repository of a domain's members; each access locks the domain in a write. */
export function members(session: Session): MemberReads & MemberWrites {
  return {
    async get(domainId, accountId) {
      await lockDomain(session, domainId);
      return one(session, getMember, { domain_id: domainId, account_id: accountId });
    },
    async list(domainId) {
      await lockDomain(session, domainId);
      return listMembers(session, { domain_id: domainId });
    },
    async byName(domainId, name) {
      await lockDomain(session, domainId);
      return one(session, memberByName, { domain_id: domainId, name });
    },
    async count(domainId) {
      await lockDomain(session, domainId);
      return (await one(session, countMembers, { domain_id: domainId }))!.members;
    },
    async put(member) {
      await lockDomain(session, member.domain_id);
      await putMember(session, member);
    },
    async remove(domainId, accountId) {
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

/** The repository of domains' subscriptions; each access locks the domain in a write. */
export function subscriptions(session: Session): SubscriptionReads & SubscriptionWrites {
  return {
    async get(domainId) {
      await lockDomain(session, domainId);
      const row = await one(session, getSubscription, { domain_id: domainId });
      return row && decodeSubscription(row);
    },
    async put(subscription) {
      await lockDomain(session, subscription.domain_id);
      const [row] = await putSubscription(session, subscription);
      return { ...subscription, id: row!.id };
    },
    async remove(domainId) {
      await lockDomain(session, domainId);
      return (await one(session, removeSubscription, { domain_id: domainId })) !== null;
    },
  };
}
