/**
 * Who shares a domain. Whoever may change settings grants and takes the roles below their own; anybody may leave; the
 * owner's role is nobody's to give.
 */
import { z } from 'zod';
import { MAX_LABEL_CHARACTERS } from '../../access/keys.ts';
import { mayDo, ROLES, type Role } from '../../access/roles.ts';
import { filledText } from '../../model/fields.ts';
import { form } from '../../model/form.ts';
import { type DomainRow, MEMBER_ROLES, type MemberRole, type MemberRow } from '../../store/rows.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { timeText } from '../domain-shape.ts';
import { idOf } from '../paths.ts';
import { formBody } from '../read-body.ts';
import { badRequest, conflict, forbidden, notFound, type Refusal } from '../refusal.ts';
import { message, ok, operation, type Writing } from '../route.ts';
import { messageShape } from '../shapes.ts';

const MEMBER = z
  .object({
    user_id: z.int(),
    name: z.string(),
    role: z.enum(ROLES),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Member' });
type Member = z.output<typeof MEMBER>;

const ANSWERED = ['user_id', 'created_at', 'updated_at'];

const addForm = form({
  fields: { name: filledText(MAX_LABEL_CHARACTERS), role: z.enum(MEMBER_ROLES) },
  ignored: ANSWERED,
  finish: (values): { readonly name: string; readonly role: MemberRole } => values,
});

const changeForm = form({
  fields: { role: z.enum(MEMBER_ROLES) },
  ignored: [...ANSWERED, 'name'],
  finish: (values): { readonly role: MemberRole } => values,
});

async function show(tx: ReadTransaction, row: MemberRow): Promise<Member> {
  const account = await tx.accounts.get(row.account_id);
  return {
    user_id: row.account_id,
    name: account?.name ?? '',
    role: row.role,
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
  };
}

async function showOwner(
  tx: ReadTransaction,
  { user_id, created_at }: Pick<DomainRow, 'user_id' | 'created_at'>,
): Promise<Member> {
  const owner = await tx.accounts.get(user_id);
  const since = timeText(created_at);
  return { user_id, name: owner?.name ?? '', role: 'owner', created_at: since, updated_at: since };
}

export const list = operation({
  summary: 'The owner and the members of a domain',
  response: z.array(MEMBER),
  async handle({ domain, read }) {
    return read(async (tx) => {
      const body = [await showOwner(tx, domain)];
      for (const row of await tx.members.list(domain.id)) body.push(await show(tx, row));
      return ok(body);
    });
  },
});

/** An admin grants and takes what is below an admin; throws the 403. */
function judgeGrant(granter: Role, role: Role): void {
  if (granter === 'owner' || role !== 'admin') return;
  throw forbidden('only the owner grants, changes or takes the role `admin`');
}

const ownersOwn = (): Refusal => conflict('the account owns this domain');

/** A member other than the owner; throws the refusal. */
async function present({ domain, tx }: Writing, accountId: number): Promise<MemberRow> {
  if (accountId === domain.user_id) throw ownersOwn();
  const row = await tx.members.get(domain.id, accountId);
  if (row === null) throw notFound();
  return row;
}

async function grant(w: Writing, accountId: number, role: MemberRole): Promise<Member> {
  const { domain, now, tx } = w;
  const before = await tx.members.get(domain.id, accountId);
  judgeGrant(w.role, role);
  if (before !== null) judgeGrant(w.role, before.role);
  const row = {
    domain_id: domain.id,
    account_id: accountId,
    role,
    created_at: before?.created_at ?? now,
    updated_at: now,
  };
  await tx.members.put(row);
  await w.audit({
    action: before === null ? 'member.create' : 'member.update',
    subject: `member/${accountId}`,
    ...(before === null ? {} : { before: { role: before.role } }),
    after: { role },
  });
  return show(tx, row);
}

export const add = operation({
  summary: 'Grant an account a role on a domain',
  body: formBody(addForm),
  response: MEMBER,
  statuses: [409],
  async handle({ body, write }) {
    return write(async (w) => {
      const account = await w.tx.accounts.byName(body.name);
      if (account === null) throw badRequest(`name: there is no account \`${body.name}\``);
      judgeGrant(w.role, body.role);
      if (account.id === w.domain.user_id) throw ownersOwn();
      if ((await w.tx.members.get(w.domain.id, account.id)) !== null)
        throw conflict('the account is a member already');
      return ok(await grant(w, account.id, body.role));
    });
  },
});

export const change = operation({
  summary: "Change a member's role",
  body: formBody(changeForm),
  response: MEMBER,
  statuses: [409],
  async handle({ body, params, write }) {
    const accountId = idOf(params['userId']);
    return write(async (w) => {
      const before = await present(w, accountId);
      w.match(await show(w.tx, before));
      return ok(await grant(w, accountId, body.role));
    });
  },
});

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
      w.match(await show(w.tx, before));
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

export const read = operation({
  summary: 'One member of a domain',
  response: MEMBER,
  async handle({ domain, latest, params }) {
    const accountId = idOf(params['userId']);
    if (accountId === domain.user_id) return ok(await showOwner(latest, domain));
    const row = await latest.members.get(domain.id, accountId);
    if (row === null) throw notFound();
    return ok(await show(latest, row));
  },
});
