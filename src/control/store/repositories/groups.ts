/** Groups of domains. Those of a node are in its row. */
import { sql } from 'kysely';
import { DEFAULT_GROUP } from '../../../base/vocabulary/node-groups.ts';
import { lockDomain } from '../database/lock-domain.ts';
import { one, type Session, statement } from '../database/statement.ts';
import type { GroupedDomains } from '../tables/nodes.ts';

/** The groups of a domain; without a row it is in `default`. */
const groupsOf = sql<string>`coalesce(domain_groups.node_groups, ${sql.lit(DEFAULT_GROUP)})`;

/** No row if the domain does not exist. */
const ofDomain = statement((builder, p: { id: number }) =>
  builder
    .selectFrom('domains')
    .leftJoin('domain_groups', 'domain_groups.domain_id', 'domains.id')
    .select(groupsOf.as('node_groups'))
    .where('domains.id', '=', p.id),
);

const countDomains = statement<object, GroupedDomains>((builder, _: object) =>
  builder
    .selectFrom('domains')
    .leftJoin('domain_groups', 'domain_groups.domain_id', 'domains.id')
    .select(({ fn }) => [groupsOf.as('node_groups'), fn.countAll<number>().as('domains')])
    .groupBy(groupsOf),
);

const setDomain = statement((builder, p: { domain_id: number; node_groups: string }) =>
  builder
    .insertInto('domain_groups')
    .values({ domain_id: p.domain_id, node_groups: p.node_groups })
    .onConflict((conflict) =>
      conflict.column('domain_id').doUpdateSet((row) => ({ node_groups: row.ref('excluded.node_groups') })),
    ),
);

/** Groups of domains, as `base/vocabulary/node-groups.ts` writes them. */
export function groupReads(session: Session) {
  return {
    /** The groups of a domain; `null`: there is no such domain. */
    async ofDomain(domainId: number): Promise<string | null> {
      return (await one(session, ofDomain, { id: domainId }))?.node_groups ?? null;
    },
    /** How many domains are in each set of groups. */
    countDomains: (): Promise<readonly GroupedDomains[]> => countDomains(session, {}),
  };
}

/** Changes of the groups of domains. */
export function groupWrites(session: Session) {
  return {
    /** Nodes see it once the domain is published again. */
    async setDomain(domainId: number, nodeGroups: string): Promise<void> {
      await lockDomain(session, domainId);
      await setDomain(session, { domain_id: domainId, node_groups: nodeGroups });
    },
  };
}
