/** Feeds of named lists of a domain and of an account (semantics §13): where the entries of a list are read from. */
import { z } from 'zod';
import { feedOf, refreshFeed, removeFeed, setFeed } from '../lists/feed.ts';
import { FEED_BODY, LIST, showList } from '../lists/show.ts';
import { type ApiRoute, type Operation, ok, operation } from '../operation/route.ts';
import { type ListsOf, nameOf, ownerOf, WHOSE } from './lists.ts';

/** Routes for the feeds of lists of domains, then for those of accounts. */
// biome-ignore format: a table is read in columns
export const LIST_FEED_ROUTES: readonly ApiRoute[] = (['domain', 'account'] as const).flatMap((of) => {
  const path = `${of === 'domain' ? '/domains/{domain}' : ''}/lists/{listName}/feed`;
  const edit = of === 'domain' ? ({ permission: 'rules.edit', hides: true } as const) : ({ permission: null } as const);
  return [
    { method: 'PUT', path, ...edit, ...set(of) },
    { method: 'DELETE', path, ...edit, ...remove(of) },
    { method: 'POST', path: `${path}/refresh`, ...edit, ...refresh(of) },
  ];
});

function set(of: ListsOf): Operation {
  return operation<unknown>({
    summary: `Set the feed of a named list ${WHOSE[of]}, which its entries are read from; it is fetched within seconds`,
    body: { kind: 'raw', schema: FEED_BODY },
    response: LIST,
    statuses: [503],
    async handle(call) {
      const list = { ...ownerOf(of, call), name: nameOf(call) };
      const feed = feedOf(call.body);
      return call.write(async (w) => ok(showList(await setFeed(w, call.services, { list, feed }))));
    },
  });
}

function remove(of: ListsOf): Operation {
  return operation({
    summary: `Remove the feed of a named list ${WHOSE[of]}; the entries stay`,
    response: LIST,
    async handle(call) {
      const list = { ...ownerOf(of, call), name: nameOf(call) };
      return call.write(async (w) => ok(showList(await removeFeed(w, list))));
    },
  });
}

/** `POST …/feed/refresh`: 429 within a minute of the last fetch. */
function refresh(of: ListsOf): Operation {
  return operation({
    summary: `Fetch the feed of a named list ${WHOSE[of]} within seconds`,
    query: z.object({
      accept_shrink: z
        .enum(['true', 'false'])
        .optional()
        .describe('`true`: the next content may have fewer than half of the entries'),
    }),
    response: LIST,
    statuses: [409, 429],
    async handle(call) {
      const list = { ...ownerOf(of, call), name: nameOf(call) };
      const { accept_shrink } = call.query as { accept_shrink?: 'true' | 'false' };
      return call.write(async (w) => ok(showList(await refreshFeed(w, list, accept_shrink === 'true'))));
    },
  });
}
