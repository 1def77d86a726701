/** Named lists of a domain and of an account (semantics §13). A name in a rule means the domain's own list, else the account's. */
import { z } from 'zod';
import { judgeListName } from '../../../rules/model/list-name.ts';
import { showEntry } from '../../../rules/model/lists.ts';
import { entryOf } from '../../store/repositories/list-entries.ts';
import type { ListOwner } from '../../store/repositories/lists.ts';
import { setFeed } from '../lists/feed.ts';
import {
  ENTRIES_BODY,
  ENTRY,
  KEYS_BODY,
  LIST,
  LIST_BODY,
  showList,
  showUse,
  USED_LIST,
} from '../lists/show.ts';
import { changeEntries, createList, type EntryChange, readBodyOf, removeList } from '../lists/write.ts';
import { MAX_LISTED_USES, MAX_PAGE, USUAL_PAGE } from '../operation/limits.ts';
import { nextPage, queryNumber } from '../operation/read-request.ts';
import { notFound } from '../operation/refusal.ts';
import { type ApiRoute, type Call, message, type Operation, ok, operation } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';

/** Whose lists an operation is about. */
export type ListsOf = 'domain' | 'account';

/** The same in summaries. */
export const WHOSE = { domain: 'of the domain', account: 'of the account' } as const;

const CHANGES = {
  replace: 'Replace all entries',
  add: 'Add entries, or replace those that match the same,',
  remove: 'Remove entries',
} as const;

/** Routes for the lists of domains, then for those of accounts. A role that may not edit rules is answered 404, as for rules. */
// biome-ignore format: a table is read in columns
export const LIST_ROUTES: readonly ApiRoute[] = (['domain', 'account'] as const).flatMap((of) => {
  const all = of === 'domain' ? '/domains/{domain}/lists/' : '/lists/';
  const one = `${all}{listName}`;
  const view = of === 'domain' ? ({ permission: 'domain.view', hides: true } as const) : ({ permission: null } as const);
  const edit = of === 'domain' ? ({ permission: 'rules.edit', hides: true } as const) : ({ permission: null } as const);
  return [
    { method: 'GET', path: all, ...view, ...list(of) },
    { method: 'POST', path: all, ...edit, ...create(of) },
    { method: 'GET', path: one, ...view, ...read(of) },
    { method: 'DELETE', path: one, ...edit, ...remove(of) },
    { method: 'GET', path: `${one}/entries`, ...view, ...entries(of) },
    { method: 'PUT', path: `${one}/entries`, ...edit, ...change(of, 'replace') },
    { method: 'POST', path: `${one}/entries`, ...edit, ...change(of, 'add') },
    { method: 'DELETE', path: `${one}/entries`, ...edit, ...change(of, 'remove') },
  ];
});

/** Whose lists the path means. */
export function ownerOf(of: ListsOf, call: Pick<Call<unknown>, 'caller' | 'domain'>): ListOwner {
  return of === 'domain'
    ? { account_id: null, domain_id: call.domain.id }
    : { account_id: call.caller.account_id, domain_id: null };
}

/** The name in the path. @throws Refusal 404 for one that no list can have */
export function nameOf({ params }: Pick<Call<unknown>, 'params'>): string {
  const name = params['listName'] ?? '';
  if (judgeListName(name) !== null) throw notFound();
  return name;
}

function list(of: ListsOf): Operation {
  return operation({
    summary: `Named lists ${WHOSE[of]}, by name`,
    response: z.array(LIST),
    async handle(call) {
      return ok((await call.latest.lists.list(ownerOf(of, call))).map(showList));
    },
  });
}

function create(of: ListsOf): Operation {
  return operation<Buffer>({
    summary: `Add a named list ${WHOSE[of]}; rules name it by \`@\` and its name`,
    body: { kind: 'large', schema: LIST_BODY },
    response: LIST,
    statuses: [403, 409, 503],
    async handle(call) {
      const made = await readBodyOf(call, { read: 'list', of: null });
      return call.write(async (w) => {
        const row = await createList(w, ownerOf(of, call), made);
        const { feed } = made;
        return ok(showList(feed === undefined ? row : await setFeed(w, call.services, { list: row, feed })));
      });
    },
  });
}

function read(of: ListsOf): Operation {
  return operation({
    summary: `One named list ${WHOSE[of]}, with the rules that name it`,
    response: USED_LIST,
    async handle(call) {
      const [owner, name] = [ownerOf(of, call), nameOf(call)];
      return call.read(async (tx) => {
        const row = await tx.lists.get(owner, name);
        if (row === null) throw notFound();
        const uses = await tx.lists.naming(row, MAX_LISTED_USES);
        const tagged = showList(row);
        return { body: { ...tagged, used_by: uses.map(showUse) }, tagged };
      });
    },
  });
}

function remove(of: ListsOf): Operation {
  return operation({
    summary: `Delete a named list ${WHOSE[of]} that no rule names`,
    response: messageShape,
    statuses: [409],
    async handle(call) {
      const name = nameOf(call);
      return call.write(async (w) => {
        await removeList(w, { ...ownerOf(of, call), name });
        return message(`list ${name} deleted`);
      });
    },
  });
}

/** `GET …/entries`: page by page; `Link` leads to the next one. */
function entries(of: ListsOf): Operation {
  return operation({
    summary: `Entries of a named list ${WHOSE[of]} in order, page by page`,
    query: z.object({
      limit: queryNumber(1, MAX_PAGE).describe(`entries, at most; without it ${USUAL_PAGE}`),
      cursor: queryNumber(0, Number.MAX_SAFE_INTEGER).describe('from `Link` of the page before'),
    }),
    response: z.array(ENTRY),
    async handle(call) {
      const [owner, name] = [ownerOf(of, call), nameOf(call)];
      const { limit = USUAL_PAGE, cursor = -1 } = call.query as { limit?: number; cursor?: number };
      return call.read(async (tx) => {
        const row = await tx.lists.get(owner, name);
        if (row === null) throw notFound();
        const found = await tx.lists.page(row.id, { after: cursor, limit: limit + 1 });
        const shown = found.slice(0, limit);
        const path = `${of === 'domain' ? `/domains/${call.domain.name}` : ''}/lists/${name}/entries`;
        const next = { path, query: { limit, cursor: shown.at(-1)?.position } };
        const link = found.length > limit ? nextPage(next) : {};
        return {
          body: shown.map((entry) => showEntry(row.kind, entryOf(entry))),
          headers: { 'x-total-count': String(row.entries), ...link },
        };
      });
    },
  });
}

/** `PUT`, `POST`, `DELETE …/entries`: all or none; `If-Match` is the ETag of the list. */
function change(of: ListsOf, how: EntryChange['how']): Operation {
  return operation<Buffer>({
    summary: `${CHANGES[how]} of a named list ${WHOSE[of]}; all or none`,
    body: { kind: 'large', schema: how === 'remove' ? KEYS_BODY : ENTRIES_BODY },
    response: LIST,
    statuses: [409],
    async handle(call) {
      const [owner, name] = [ownerOf(of, call), nameOf(call)];
      const known = await call.latest.lists.get(owner, name);
      if (known === null) throw notFound();
      const { id, kind } = known;
      const sent = await readBodyOf(call, { read: how === 'remove' ? 'keys' : 'entries', of: kind });
      return call.write(async (w) =>
        ok(showList(await changeEntries(w, { ...owner, name }, { how, read: sent, id }))),
      );
    },
  });
}
