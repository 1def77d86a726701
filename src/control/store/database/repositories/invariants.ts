/** Invariants that a domain requires of its drafts. */
import { sql } from 'kysely';
import type { InvariantReads, InvariantWrites } from '../../draft-repositories.ts';
import { lockDomain } from '../lock-domain.ts';
import type { Session } from '../session.ts';
import { one, statement } from '../statement.ts';

const get = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('domain_invariants').selectAll().where('domain_id', '=', p.domain_id),
);

const put = statement((builder, p: { domain_id: number; body: string }) =>
  builder
    .insertInto('domain_invariants')
    .values({ domain_id: p.domain_id, edit: 1, body: p.body })
    .onConflict((conflict) =>
      conflict.column('domain_id').doUpdateSet({
        edit: sql<number>`domain_invariants.edit + 1`,
        body: p.body,
      }),
    ),
);

/** The repository of a session; each access locks the domain in a write. */
export function invariants(session: Session): InvariantReads & InvariantWrites {
  return {
    async get(domainId) {
      await lockDomain(session, domainId);
      return one(session, get, { domain_id: domainId });
    },
    async put(domainId, body) {
      await lockDomain(session, domainId);
      await put(session, { domain_id: domainId, body });
    },
  };
}
