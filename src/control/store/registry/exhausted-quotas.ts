/** Quotas that consumers have exhausted, as the registry of their domain has them (semantics §15). */
import { sql } from 'kysely';
import { lockDomain } from '../database/lock-domain.ts';
import {
  int,
  type ListedColumns,
  listed,
  listedRows,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import type { ExhaustedQuotaRow } from '../tables/registry.ts';
import { raiseRegistry } from './registries.ts';

/** An exhausted quota with the name of its consumer. */
export interface NamedExhaustedQuota extends ExhaustedQuotaRow {
  readonly username: string;
}

const list = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('exhausted_quotas')
    .innerJoin('consumers', 'consumers.id', 'exhausted_quotas.consumer_id')
    .selectAll('exhausted_quotas')
    .select('consumers.username')
    .where('exhausted_quotas.domain_id', '=', p.domain_id)
    .orderBy('exhausted_quotas.consumer_id')
    .orderBy('exhausted_quotas.usage_plan'),
);

const clear = statement((builder, p: { domain_id: number }) =>
  builder.deleteFrom('exhausted_quotas').where('domain_id', '=', p.domain_id),
);

const COLUMNS: ListedColumns = {
  domain_id: 'bigint',
  consumer_id: 'bigint',
  usage_plan: 'text',
  until: 'bigint',
};

const insert = statement((builder, p: { rows: string }, flavour) =>
  raw(
    sql`insert into exhausted_quotas (domain_id, consumer_id, usage_plan, until)
      select domain_id, consumer_id, usage_plan, until from (${listed(p.rows, COLUMNS, flavour)}) as given`,
    builder,
  ),
);

const withQuota = statement((builder, p: { after: number; limit: number }) =>
  builder
    .selectFrom('usage_plans')
    .innerJoin('domains', 'domains.id', 'usage_plans.domain_id')
    .select(['domains.id', 'domains.name'])
    .distinct()
    .where('usage_plans.quota_period', 'is not', null)
    .where('usage_plans.domain_id', '>', p.after)
    .orderBy('domains.id')
    .limit(int(p.limit)),
);

/** Exhausted quotas. In a write, `list` locks the domain. */
export function exhaustedQuotaReads(session: Session) {
  return {
    /** All of a domain, by consumer and usage plan; those whose time is over may be among them. */
    async list(domainId: number): Promise<readonly NamedExhaustedQuota[]> {
      await lockDomain(session, domainId);
      return list(session, { domain_id: domainId });
    },
    /** Domains with ids above `after` that have a usage plan with a quota, at most `limit`, by id. */
    domains: (
      after: number,
      limit: number,
    ): Promise<readonly { readonly id: number; readonly name: string }[]> =>
      withQuota(session, { after, limit }),
  };
}

/** Changes of exhausted quotas. */
export function exhaustedQuotaWrites(session: Session) {
  return {
    /** Replaces those of a domain and raises the version of its registry. */
    async replace(domainId: number, rows: readonly ExhaustedQuotaRow[]): Promise<void> {
      await raiseRegistry(session, domainId);
      await clear(session, { domain_id: domainId });
      if (rows.length > 0) await insert(session, { rows: listedRows(rows, COLUMNS) });
    },
  };
}
