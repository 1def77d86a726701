/** The cache at the edge: what nodes have stored, purge of all responses, of single ones, and refresh. */
import { z } from 'zod';
import { readPurgePrefix } from '../../../base/paths/purge-values.ts';
import { foreignHosts, type PurgeRequest, purgeForm, refreshForm } from '../../../rules/model/purge.ts';
import {
  CACHED_ENTRIES,
  FOOTPRINT,
  readEntries,
  readEntriesCursor,
  readFootprint,
} from '../../traffic/footprint.ts';
import { MAX_CURSOR, MAX_PAGE_URLS, MAX_URL, USUAL_PAGE_URLS } from '../../traffic/limits.ts';
import { formBody, queryNumber, wrongInput } from '../operation/read-request.ts';
import { badRequest } from '../operation/refusal.ts';
import { message, ok, operation, type Writing } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';

/** `GET /domains/{domain}/cache/`. */
export const footprint = operation({
  summary: 'How much nodes have cached of a domain, by their last reports',
  response: FOOTPRINT,
  handle: async ({ domain, latest, now }) => ok(await readFootprint(latest, domain.id, now)),
});

/** `GET /domains/{domain}/cache/entries`. */
export const entries = operation({
  summary: 'The cached URLs of a domain, by the last reports of nodes, page by page',
  query: z.object({
    prefix: z
      .string()
      .max(MAX_URL)
      .optional()
      .describe('only URLs under it: a host with the beginning of a path, as a purge names it'),
    limit: queryNumber(1, MAX_PAGE_URLS).describe(`URLs, at most; without it ${USUAL_PAGE_URLS}`),
    cursor: z.string().max(MAX_CURSOR).optional().describe('`next` of the page before'),
  }),
  response: CACHED_ENTRIES,
  async handle({ domain, query, read, now }) {
    const { prefix, limit = USUAL_PAGE_URLS, cursor } = query as EntriesQuery;
    const start = prefix === undefined ? null : readPurgePrefix(prefix);
    if (start !== null && 'mistake' in start) throw badRequest(`prefix: ${start.mistake}`);
    const after = cursor === undefined ? null : readEntriesCursor(cursor);
    const page = { prefix: start?.value ?? null, after, limit };
    return ok(await read((tx) => readEntries(tx, domain.id, { page, now })));
  },
});

interface EntriesQuery {
  readonly prefix?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/**
 * `DELETE /domains/{domain}/cache/`: raises the domain's purge epoch; nodes treat every cached response of a lower epoch as
 * stale.
 */
export const purge = operation({
  summary: "Purge a domain's cache on every node",
  response: messageShape,
  statuses: [409],
  async handle({ write }) {
    return write(async (w) => {
      await w.audit({ action: 'cache.purge' });
      // Last, since publications of all domains wait from here to the commit.
      await w.tx.plans.purge(w.domain.name, { domain_id: w.domain.id, at: w.now });
      return message(`cache of \`${w.domain.name}\` purged`);
    });
  },
});

/** `POST /domains/{domain}/cache/purge`: responses to these URLs, under these prefixes, or with these tags are not used again. */
export const purgeSome = operation<PurgeRequest>({
  summary: 'Purge cached responses by URL, prefix or tag on every node',
  body: formBody(purgeForm),
  response: messageShape,
  statuses: [409],
  handle: ({ body, write }) =>
    write(async (w) => {
      await store(w, body, body.kind);
      return message(`${body.values.length} ${body.field} purged`);
    }),
});

/** `POST /domains/{domain}/cache/refresh`: the next request for each URL revalidates the response with the origin. */
export const refresh = operation<PurgeRequest>({
  summary: 'Mark cached responses as stale on every node: the next request revalidates them with the origin',
  body: formBody(refreshForm),
  response: messageShape,
  statuses: [409],
  handle: ({ body, write }) =>
    write(async (w) => {
      await store(w, body, 'refresh');
      return message(`${body.values.length} ${body.field} marked as stale`);
    }),
});

/** Stores a purge and its audit entry. @throws Refusal 400 for hosts of other domains */
async function store(w: Writing, body: PurgeRequest, kind: PurgeRequest['kind'] | 'refresh'): Promise<void> {
  const { field, values } = body;
  const foreign = foreignHosts(body, w.domain.name);
  if (foreign.length > 0) throw wrongInput(foreign);
  const action = kind === 'refresh' ? 'cache.refresh' : 'cache.purge';
  await w.audit({ action, after: { [field]: values } });
  // Last, as above.
  await w.tx.caches.purge(w.domain, { kind, values, at: w.now });
}
