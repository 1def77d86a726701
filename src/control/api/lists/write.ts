/** Writes of named lists: what a body is read with, bounds, which domains a change reaches, and whether a list is in use. */
import { MAX_LISTS } from '../../../base/vocabulary/limits.ts';
import type { ListJob, ReadListBody } from '../../compute/job.ts';
import { readListBody } from '../../compute/read-list.ts';
import { judgeSize as sizeProblem } from '../../lists/judge-size.ts';
import type { NamingRule, ReachedDomain } from '../../store/repositories/list-uses.ts';
import type { ListOwner } from '../../store/repositories/lists.ts';
import type { ListRow } from '../../store/tables/lists.ts';
import { MAX_LISTED_USES, NAMED_USES, READ_AT_ONCE_OCTETS } from '../operation/limits.ts';
import { badRequest, conflict, forbidden, notFound } from '../operation/refusal.ts';
import type { Call, Writing } from '../operation/route.ts';
import { showList, showUse } from './show.ts';

/** What was read from a body. */
export type ReadList = Exclude<ReadListBody, { readonly problem: string }>;

/** Reads a body, a large one in a compute thread. @throws Refusal 400, ComputeFault */
export async function readBodyOf(
  { body, compute }: Pick<Call<Buffer>, 'body' | 'compute'>,
  how: Pick<ListJob, 'read' | 'of'>,
): Promise<ReadList> {
  const job: ListJob = { kind: 'list', octets: body, ...how };
  const read =
    body.length <= READ_AT_ONCE_OCTETS ? readListBody(job) : await compute('list', async () => job);
  if ('problem' in read) throw badRequest(read.problem);
  return read;
}

/** Adds a list with its entries. @throws Refusal 400, 403, 409 */
export async function createList(w: Writing, owner: ListOwner, read: ReadList): Promise<ListRow> {
  const { tx, now } = w;
  const { name, kind } = read.list!;
  const there = await tx.lists.list(owner);
  if (there.some((list) => list.name === name)) throw conflict(`there is a list \`${name}\` already`);
  if (there.length >= MAX_LISTS)
    throw forbidden(`at most ${MAX_LISTS} lists are possible, and there are ${there.length}`);
  const reached = await tx.lists.reached({ ...owner, name });
  await judgeShadow(w, { ...owner, name, kind });
  const made = await tx.lists.insert({ ...owner, name, kind, created_at: now });
  const row = read.count === 0 ? made : (await tx.lists.replaceEntries(made.id, read.packed, now))!;
  await judgeSize(w, row, made);
  await record(w, { action: 'list.create', reached, after: row });
  return row;
}

/**
 * Checks that a new list of a domain has the kind of the account's list whose name its rules mean until now. @throws Refusal 409
 */
async function judgeShadow({ tx }: Writing, list: ListOwner & Pick<ListRow, 'name' | 'kind'>): Promise<void> {
  if (list.domain_id === null) return;
  const shadowed = (await tx.lists.named(list.domain_id, [list.name])).get(list.name);
  if (shadowed === undefined || shadowed.kind === list.kind) return;
  const uses = await tx.lists.naming(list, MAX_LISTED_USES);
  if (uses.length === 0) return;
  throw conflict(
    `rules mean the account's list \`${list.name}\` of kind \`${shadowed.kind}\` by this name: ${usesText(uses, false)}`,
  );
}

/** A change of the entries of a list. */
export interface EntryChange {
  readonly how: 'replace' | 'add' | 'remove';
  readonly read: ReadList;
  /** The id of the list whose kind the body was read with. */
  readonly id: number;
}

const CHANGES = { replace: 'replaceEntries', add: 'addEntries', remove: 'removeEntries' } as const;

/** Changes entries, all or none. @throws Refusal 400, 404, 409, 412 */
export async function changeEntries(
  w: Writing,
  list: ListOwner & Pick<ListRow, 'name'>,
  { how, read, id }: EntryChange,
): Promise<ListRow> {
  const before = await presentList(w, list);
  if (before.id !== id) throw notFound();
  if (before.feed !== null)
    throw conflict('the list has a feed, which its entries are read from; remove the feed to write them');
  const after = (await w.tx.lists[CHANGES[how]](id, read.packed, w.now))!;
  await judgeSize(w, after, before);
  // Once more: until the list was locked, rules of further domains may have come to name it.
  const reached = await w.tx.lists.reached(list);
  await record(w, { action: `list.${how}`, reached, before, after });
  return after;
}

/** Deletes a list that no rule needs. @throws Refusal 404, 409, 412 */
export async function removeList(w: Writing, list: ListOwner & Pick<ListRow, 'name'>): Promise<void> {
  const before = await presentList(w, list);
  const uses = await w.tx.lists.naming(list, MAX_LISTED_USES);
  if (uses.length > 0 && !(await hasHeir(w, before))) {
    throw conflict(
      `the list is in use: ${usesText(uses, list.domain_id === null)}; change these rules first`,
    );
  }
  const reached = await w.tx.lists.reached(list);
  await w.tx.lists.remove(before);
  await record(w, { action: 'list.delete', reached, before });
}

/** Whether the name means a list of the account with the same kind once that of the domain is gone. */
async function hasHeir(w: Writing, { domain_id, name, kind }: ListRow): Promise<boolean> {
  if (domain_id === null) return false;
  const heir = await w.tx.lists.get({ account_id: w.domain.user_id, domain_id: null }, name);
  return heir?.kind === kind;
}

/** The list, after the comparison with `If-Match`; it and the domains that it reaches are locked. @throws Refusal 404, 412 */
export async function presentList(w: Writing, list: ListOwner & Pick<ListRow, 'name'>): Promise<ListRow> {
  // The domains first, as writes of rules lock them before the lists that they name.
  await w.tx.lists.reached(list);
  const row = await w.tx.lists.get(list, list.name);
  if (row === null) throw notFound();
  w.match(showList(row));
  return row;
}

/** Checks the bounds of a list whose entries have changed. @throws Refusal 400 */
async function judgeSize({ tx }: Writing, list: ListRow, before: ListRow): Promise<void> {
  const problem = await sizeProblem(tx, list, before);
  if (problem !== null) throw badRequest(problem);
}

/** A change of a list. */
interface Recorded {
  readonly action: `list.${'create' | 'replace' | 'add' | 'remove' | 'delete'}`;
  readonly reached: readonly ReachedDomain[];
  readonly before?: ListRow;
  readonly after?: ListRow;
}

/** Audits a change, that of an account's list at each domain that it reaches, and publishes it there. */
async function record(w: Writing, { action, reached, before, after }: Recorded): Promise<void> {
  const { name, domain_id } = (after ?? before)!;
  const entry = {
    action,
    subject: `list/${name}`,
    ...(before === undefined ? {} : { before: showList(before) }),
    ...(after === undefined ? {} : { after: showList(after) }),
  };
  await (domain_id === null ? w.audit(...reached.map((domain) => ({ ...entry, domain }))) : w.audit(entry));
  await w.publishLists(`list \`@${name}\` changed`, reached);
}

/** Rules in a message, the first of them by name. */
function usesText(uses: readonly NamingRule[], withDomains: boolean): string {
  const named = uses
    .slice(0, NAMED_USES)
    .map(showUse)
    .map(({ domain, rule }) => (withDomains ? `\`${rule}\` of ${domain}` : `\`${rule}\``));
  const rest = uses.length - named.length;
  const least = uses.length === MAX_LISTED_USES ? 'at least ' : '';
  return `${named.join(', ')}${rest > 0 ? ` and ${least}${rest} more` : ''}`;
}
