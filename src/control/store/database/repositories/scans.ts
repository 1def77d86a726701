/** Scans of new domains that are still to be done. */
import type { ScanReads, ScanWrites } from '../../customer-repositories.ts';
import type { ScanRow } from '../../rows.ts';
import { lockDomain } from '../lock-domain.ts';
import type { Session } from '../session.ts';
import { one, statement } from '../statement.ts';

/** A scan that is claimed has its `run_at` in the future. */
const due = statement((builder, p: { now: number; limit: number }) =>
  builder
    .selectFrom('record_scans')
    .selectAll()
    .where('run_at', '<=', p.now)
    .orderBy('run_at')
    .orderBy('domain_id')
    .limit(p.limit),
);

/** A new domain has no scan yet; a second one violates the primary key. */
const put = statement((builder, p: ScanRow) =>
  builder.insertInto('record_scans').values({
    domain_id: p.domain_id,
    account_id: p.account_id,
    key_id: p.key_id,
    run_at: p.run_at,
    tries: p.tries,
  }),
);

/** No row if the scan is not due, since another process has claimed it. */
const claim = statement((builder, p: { domain_id: number; now: number; until: number }) =>
  builder
    .updateTable('record_scans')
    .set((row) => ({ run_at: p.until, tries: row('tries', '+', row.lit(1)) }))
    .where('domain_id', '=', p.domain_id)
    .where('run_at', '<=', p.now)
    .returningAll(),
);

const release = statement((builder, p: { domain_id: number; now: number }) =>
  builder.updateTable('record_scans').set({ run_at: p.now }).where('domain_id', '=', p.domain_id),
);

const remove = statement((builder, p: { domain_id: number }) =>
  builder.deleteFrom('record_scans').where('domain_id', '=', p.domain_id).returning('domain_id'),
);

/** The repository of a session. */
export function scans(session: Session): ScanReads & ScanWrites {
  return {
    due: (now, limit) => due(session, { now, limit }),
    async put(scan) {
      await lockDomain(session, scan.domain_id);
      await put(session, scan);
    },
    async claim(domainId, { now, until }) {
      await lockDomain(session, domainId);
      return one(session, claim, { domain_id: domainId, now, until });
    },
    async release(domainId, now) {
      await lockDomain(session, domainId);
      await release(session, { domain_id: domainId, now });
    },
    async remove(domainId) {
      await lockDomain(session, domainId);
      return (await one(session, remove, { domain_id: domainId })) !== null;
    },
  };
}
