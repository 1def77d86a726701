/**
 * Invitations, with which a membership starts. An invitation names an account, which may be created later. No answer to
 * the inviting side depends on whether the account exists, and no query reads it: only the names of members, which the
 * caller may list, are compared. So an invitation cannot be used to enumerate account names.
 */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { filledText } from '../../../rules/model/fields.ts';
import { form } from '../../../rules/model/form.ts';
import { judgeLabel, MAX_LABEL_CHARACTERS } from '../../accounts/keys.ts';
import { notify } from '../../notices/notify.ts';
import type { ReadTransaction } from '../../store/store.ts';
import {
  type DomainRow,
  type InvitationRow,
  MEMBER_ROLES,
  type MemberRole,
} from '../../store/tables/domains.ts';
import {
  INVITATION_DAYS,
  MAX_INVITATIONS,
  MAX_INVITATIONS_OF_OWNER,
  MAX_SHARED,
  PRUNED_INVITATIONS,
} from '../operation/limits.ts';
import { formBody, idOf } from '../operation/read-request.ts';
import { badRequest, conflict, notFound } from '../operation/refusal.ts';
import { message, ok, operation, type Writing } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';
import { judgeGrant, MEMBER, ownersOwn, showMember } from './members.ts';

const DAY_MS = 86_400_000;

/** The fields of both forms of an invitation. */
const COMMON = {
  role: z.enum(MEMBER_ROLES).describe('the role that the member gets'),
  created_at: z.iso.datetime().describe('when it was made'),
  updated_at: z.iso.datetime().describe('when it was last changed'),
  expires_at: z.iso.datetime().describe('when it can be accepted no more'),
} as const;

/** An invitation as the domain's admins see it. */
const INVITATION = z
  .object({
    id: z.int().describe('the id of the invitation'),
    name: z.string().describe('the name of the invited account'),
    ...COMMON,
  })
  .meta({ id: 'Invitation' });

/** An invitation as the invited account sees it. */
const RECEIVED = z
  .object({
    id: z.int().describe('the id of the invitation'),
    domain: z.string().describe('the name of the domain'),
    ...COMMON,
  })
  .meta({ id: 'ReceivedInvitation' });

/** The form of a new invitation. */
const inviteForm = form({
  fields: { name: filledText(MAX_LABEL_CHARACTERS), role: z.enum(MEMBER_ROLES) },
  ignored: ['user_id', 'created_at', 'updated_at'],
  finish: (values): { readonly name: string; readonly role: MemberRole } => values,
});

/** An invitation in the form for the domain's admins. */
function show(row: InvitationRow): z.output<typeof INVITATION> {
  return { id: row.id, name: row.name, ...showCommon(row) };
}

/** The fields of both forms. */
function showCommon({ role, created_at, updated_at, expires_at }: InvitationRow) {
  return {
    role,
    created_at: timeText(created_at),
    updated_at: timeText(updated_at),
    expires_at: timeText(expires_at),
  };
}

/** Checks that the name is not that of the owner or of a member. @throws Refusal 409 */
async function judgeMember({ domain, tx }: Writing, name: string): Promise<void> {
  const owner = await tx.accounts.get(domain.user_id);
  if (owner?.name === name) throw ownersOwn();
  const member = await tx.members.byName(domain.id, name);
  if (member === null) return;
  const path = `/domains/${domain.name}/members/${member.account_id}`;
  throw conflict(`the account is a member already; PUT ${path} changes its role`);
}

/** Checks the bounds on members and invitations. @throws Refusal 409 */
async function judgeRoom({ domain, now, tx }: Writing, name: string): Promise<void> {
  const pending = await tx.invitations.list(domain.id, now);
  const shared = pending.length + (await tx.members.count(domain.id));
  if (shared >= MAX_SHARED) {
    const remedy = 'remove a member or withdraw an invitation first';
    throw conflict(
      `the domain has ${shared} members and pending invitations of at most ${MAX_SHARED}; ${remedy}`,
    );
  }
  const { all, ofOwner } = await tx.invitations.countOf(name, { ownerId: domain.user_id, now });
  const remedy = `invite again once some are answered or have lapsed (${INVITATION_DAYS} days)`;
  if (ofOwner >= MAX_INVITATIONS_OF_OWNER) {
    const most = `the most that one owner may have is ${MAX_INVITATIONS_OF_OWNER}`;
    throw conflict(
      `\`${name}\` has ${ofOwner} pending invitations to domains of this owner, and ${most}; ${remedy}`,
    );
  }
  if (all >= MAX_INVITATIONS)
    throw conflict(
      `\`${name}\` has ${MAX_INVITATIONS} pending invitations, and no name may have more; ${remedy}`,
    );
}

/** Stores a new invitation with its audit entry. @throws Refusal 409 beyond a bound */
async function create(w: Writing, name: string, role: MemberRole): Promise<InvitationRow> {
  const { domain, now, tx } = w;
  await judgeRoom(w, name);
  await tx.invitations.prune(now, PRUNED_INVITATIONS);
  const expires_at = now + INVITATION_DAYS * DAY_MS;
  const times = { created_at: now, updated_at: now, expires_at };
  const row = await tx.invitations.insert({ domain_id: domain.id, name, role, ...times });
  await tx.notifications.queueInvitation(row.id);
  await w.audit({ action: 'invitation.create', subject: `invitation/${row.id}`, after: { name, role } });
  return row;
}

/**
 * Renews a pending invitation: new role, new time of expiry. Needs no check of the bounds, since it is counted already.
 */
async function renew(w: Writing, before: InvitationRow, role: MemberRole): Promise<InvitationRow> {
  const { now, tx } = w;
  const row = { ...before, role, updated_at: now, expires_at: now + INVITATION_DAYS * DAY_MS };
  await tx.invitations.renew(row);
  await w.audit({
    action: 'invitation.update',
    subject: `invitation/${row.id}`,
    before: { name: row.name, role: before.role },
    after: { name: row.name, role },
  });
  return row;
}

/**
 * `POST /domains/{domain}/members/`: the same answer whether or not an account of that name exists. 409 for a member, or
 * beyond a bound.
 */
export const invite = operation({
  summary: `Invite an account to the domain; it becomes a member when it accepts, within ${INVITATION_DAYS} days`,
  body: formBody(inviteForm),
  response: INVITATION,
  status: 202,
  statuses: [409],
  async handle({ body: { name, role }, write }) {
    const problem = judgeLabel(name);
    if (problem !== null) throw badRequest(`name: ${problem}`);
    return write(async (w) => {
      judgeGrant(w.role, role);
      await judgeMember(w, name);
      const before = await w.tx.invitations.byName(w.domain.id, name);
      if (before !== null && before.expires_at > w.now) {
        judgeGrant(w.role, before.role);
        return ok(show(await renew(w, before, role)));
      }
      if (before !== null) await w.tx.invitations.remove(w.domain.id, before.id);
      return ok(show(await create(w, name, role)));
    });
  },
});

/** `GET /domains/{domain}/invitations/`: the pending ones. */
export const list = operation({
  summary: 'Pending invitations to the domain',
  response: z.array(INVITATION),
  async handle({ domain, latest, now }) {
    return ok((await latest.invitations.list(domain.id, now)).map(show));
  },
});

/** `DELETE /domains/{domain}/invitations/{invitationId}`: 404 once it was accepted, declined or has lapsed. */
export const withdraw = operation({
  summary: 'Withdraw a pending invitation',
  response: messageShape,
  statuses: [409],
  async handle({ params, write }) {
    const id = idOf(params['invitationId']);
    return write(async (w) => {
      const row = await w.tx.invitations.get(w.domain.id, id);
      if (row === null || row.expires_at <= w.now) throw notFound();
      judgeGrant(w.role, row.role);
      w.match(show(row));
      await w.tx.invitations.remove(row.domain_id, id);
      const { name, role } = row;
      await w.audit({ action: 'invitation.withdraw', subject: `invitation/${id}`, before: { name, role } });
      return message('invitation withdrawn');
    });
  },
});

/** The name of the account that a key belongs to. */
async function nameOf(tx: Pick<ReadTransaction, 'accounts'>, accountId: number): Promise<string | null> {
  return (await tx.accounts.get(accountId))?.name ?? null;
}

/** `GET /invitations/`: the pending invitations for the name of the key's account. */
export const received = operation({
  summary: 'Pending invitations of the account',
  response: z.array(RECEIVED),
  async handle({ caller, now, read }) {
    return read(async (tx) => {
      const name = await nameOf(tx, caller.account_id);
      const rows = name === null ? [] : await tx.invitations.listOf(name, now);
      return ok(rows.map((row) => ({ id: row.id, domain: row.domain, ...showCommon(row) })));
    });
  },
});

/** A pending invitation of the account, with its domain. @throws Refusal 404, also for another account's */
async function own({ tx, now }: Pick<Writing, 'tx' | 'now'>, accountId: number, id: number) {
  const name = await nameOf(tx, accountId);
  const row = name === null ? null : await tx.invitations.received(name, id);
  if (row === null || row.expires_at <= now) throw notFound();
  const domain = await tx.domains.get(row.domain_id);
  if (domain === null) throw notFound();
  return { row, domain };
}

/** The account that became a member, and where. */
interface Joined {
  readonly account_id: number;
  readonly name: string;
  readonly role: MemberRole;
  readonly domain: DomainRow;
}

/** Notifies the owner of a new member. */
async function notifyJoined({ tx, now }: Writing, { account_id, name, role, domain }: Joined): Promise<void> {
  const data = { event: 'joined', role, account: name, invitation_id: null, expires_at: null } as const;
  await notify(tx, {
    kind: 'domain.shared',
    data,
    domain,
    account_id: domain.user_id,
    actor_id: account_id,
    now,
  });
}

/** `POST /invitations/{invitationId}/accept`: the account becomes a member with the invited role. */
export const accept = operation({
  summary: 'Accept an invitation: the account becomes a member of the domain',
  response: MEMBER,
  statuses: [409],
  async handle({ caller: { account_id }, params, write }) {
    const id = idOf(params['invitationId']);
    return write(async (w) => {
      const { now, tx } = w;
      const { row, domain } = await own(w, account_id, id);
      if (domain.status === 'disabled') throw conflict('domain is disabled');
      const { role } = row;
      const member = { domain_id: domain.id, account_id, role, created_at: now, updated_at: now };
      await tx.members.put(member);
      await tx.invitations.remove(domain.id, id);
      await notifyJoined(w, { account_id, name: row.name, role, domain });
      const subject = `invitation/${id}`;
      await w.audit({ action: 'invitation.accept', subject, after: { name: row.name, role }, domain });
      return ok(await showMember(tx, member));
    });
  },
});

/** `POST /invitations/{invitationId}/decline`: removes the invitation, with an entry in the audit log of the domain. */
export const decline = operation({
  summary: 'Decline an invitation',
  response: messageShape,
  async handle({ caller: { account_id }, params, write }) {
    const id = idOf(params['invitationId']);
    return write(async (w) => {
      const { row, domain } = await own(w, account_id, id);
      await w.tx.invitations.remove(domain.id, id);
      const { name, role } = row;
      const subject = `invitation/${id}`;
      await w.audit({ action: 'invitation.decline', subject, before: { name, role }, domain });
      return message('invitation declined');
    });
  },
});
