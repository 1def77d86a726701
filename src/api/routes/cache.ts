/** The cache at the edge: purge. */
import { message, operation } from '../../operation/route.ts';
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
