/** The cache at the edge: purge of all responses, of single ones, and refresh. */
import { foreignHosts, type PurgeRequest, purgeForm, refreshForm } from '../../model/purge.ts';
import { formBody, wrongInput } from '../../operation/read-body.ts';
import { message, operation, type Writing } from '../../operation/route.ts';
import { messageShape } from '../../operation/shapes.ts';

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
