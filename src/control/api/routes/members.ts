/**
 * Members of a domain. A membership starts as an invitation (`invitations.ts`). An account with the permission
 * `domain.settings` changes and removes roles below its own; every member may leave; the owner's role cannot be granted.
 */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { form } from '../../../rules/model/form.ts';
import { mayDo, ROLES, type Role } from '../../accounts/roles.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { type DomainRow, MEMBER_ROLES, type MemberRole, type MemberRow } from '../../store/tables/domains.ts';
import { formBody, idOf } from '../operation/read-request.ts';
import { conflict, forbidden, notFound, type Refusal } from '../operation/refusal.ts';
import { message, ok, operation, type Writing } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';

/** A member as every member of the domain sees it. */
export const MEMBER = z
  .object({
    user_id: z.int().describe('the id of the account'),
    name: z.string().describe('the name of the account'),
    role: z.enum(ROLES).describe('the role on the domain'),
    created_at: z.iso.datetime().describe('when the account became a member'),
    updated_at: z.iso.datetime().describe('when the role was last changed'),
  })
  .meta({ id: 'Member' });
/** A member in the form of the API. */
type Member = z.output<typeof MEMBER>;

/** Fields that only answers carry. */
const ANSWERED = ['user_id', 'created_at', 'updated_at'];

/** The form of a change of role. */
const changeForm = form({
  fields: { role: z.enum(MEMBER_ROLES) },
  ignored: [...ANSWERED, 'name'],
  finish: (values): { readonly role: MemberRole } => values,
});

/** A stored membership in the form of the API, with the name of its account. */
export async function showMember(tx: ReadTransaction, row: MemberRow): Promise<Member> {
  const account = await tx.accounts.get(row.account_id);
  return {
    user_id: row.account_id,
    name: account?.name ?? '',
    role: row.role,
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
  };
}

/** The owner in the form of a member, since the creation of the domain. */
async function showOwner(
  tx: ReadTransaction,
  { user_id, created_at }: Pick<DomainRow, 'user_id' | 'created_at'>,
): Promise<Member> {
  const owner = await tx.accounts.get(user_id);
  const since = timeText(created_at);
  return { user_id, name: owner?.name ?? '', role: 'owner', created_at: since, updated_at: since };
}

/** `GET /domains/{domain}/members/`: the owner first. */
export const list = operation({
  summary: 'The owner and the members of a domain',
  response: z.array(MEMBER),
  async handle({ domain, read }) {
    return read(async (tx) => {
      const body = [await showOwner(tx, domain)];
      for (const row of await tx.members.list(domain.id)) body.push(await showMember(tx, row));
      return ok(body);
    });
  },
});

/** Checks that only the owner grants or removes the role `admin`. @throws Refusal 403 */
export function judgeGrant(granter: Role, role: Role): void {
  if (granter === 'owner' || role !== 'admin') return;
  throw forbidden('only the owner grants, changes or takes the role `admin`');
}

/** The 409 for a change of the owner's own role. */
export const ownersOwn = (): Refusal => conflict('the account owns this domain');

/** The membership of an account other than the owner. @throws Refusal 404, 409 */
async function present({ domain, tx }: Writing, accountId: number): Promise<MemberRow> {
  if (accountId === domain.user_id) throw ownersOwn();
  const row = await tx.members.get(domain.id, accountId);
  if (row === null) throw notFound();
  return row;
}

/** `PUT /domains/{domain}/members/{userId}`: changes a role. 403 where an admin grants or changes the role `admin`. */
export const change = operation({
  summary: "Change a member's role",
  body: formBody(changeForm),
  response: MEMBER,
  statuses: [409],
  async handle({ body, params, write }) {
    const accountId = idOf(params['userId']);
    return write(async (w) => {
      const before = await present(w, accountId);
      w.match(await showMember(w.tx, before));
      judgeGrant(w.role, body.role);
      judgeGrant(w.role, before.role);
      const row = { ...before, role: body.role, updated_at: w.now };
      await w.tx.members.put(row);
      await w.audit({
        action: 'member.update',
        subject: `member/${accountId}`,
        before: { role: before.role },
        after: { role: row.role },
      });
      return ok(await showMember(w.tx, row));
    });
  },
});

/** `DELETE /domains/{domain}/members/{userId}`: a member may remove itself; others need `domain.settings`. */
export const remove = operation({
  summary: 'Take a member off a domain; anybody may take themselves off',
  response: messageShape,
  statuses: [409],
  async handle({ caller, params, write }) {
    const accountId = idOf(params['userId']);
    return write(async (w) => {
      const other = accountId !== caller.account_id;
      if (other && !mayDo(w.role, 'domain.settings'))
        throw forbidden(`role \`${w.role}\` lacks the permission \`domain.settings\``);
      const before = await present(w, accountId);
      if (other) judgeGrant(w.role, before.role);
      w.match(await showMember(w.tx, before));
      await w.tx.members.remove(w.domain.id, accountId);
      await w.audit({
        action: 'member.delete',
        subject: `member/${accountId}`,
        before: { role: before.role },
      });
      return message('member removed');
    });
  },
});

/** `GET /domains/{domain}/members/{userId}`. */
export const read = operation({
  summary: 'One member of a domain',
  response: MEMBER,
  async handle({ domain, latest, params }) {
    const accountId = idOf(params['userId']);
    if (accountId === domain.user_id) return ok(await showOwner(latest, domain));
    const row = await latest.members.get(domain.id, accountId);
    if (row === null) throw notFound();
    return ok(await showMember(latest, row));
  },
});
