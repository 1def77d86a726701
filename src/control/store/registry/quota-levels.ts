/** Levels of consumers' quotas that were notified of (semantics §15). */
import { sql } from 'kysely';
import {
  type ListedColumns,
  listed,
  listedRows,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import type { ConsumerQuotaLevelRow } from '../tables/registry.ts';

const list = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('consumer_quota_levels')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .orderBy('consumer_id')
    .orderBy('usage_plan'),
);

const COLUMNS: ListedColumns = {
  domain_id: 'bigint',
  consumer_id: 'bigint',
  usage_plan: 'text',
  period_start: 'bigint',
  level: 'bigint',
};

const remove = statement((builder, p: { rows: string }, flavour) =>
  raw(
    sql`delete from consumer_quota_levels where (consumer_id, usage_plan) in
      (select consumer_id, usage_plan from (${listed(p.rows, COLUMNS, flavour)}) as given)`,
    builder,
  ),
);

const insert = statement((builder, p: { rows: string }, flavour) =>
  raw(
    sql`insert into consumer_quota_levels (domain_id, consumer_id, usage_plan, period_start, level)
      select domain_id, consumer_id, usage_plan, period_start, level
        from (${listed(p.rows, COLUMNS, flavour)}) as given`,
    builder,
  ),
);

/** Reads of notified levels. */
export function quotaLevelReads(session: Session) {
  return {
    /** All of a domain, by consumer and usage plan; those of earlier periods may be among them. */
    list: (domainId: number): Promise<readonly ConsumerQuotaLevelRow[]> =>
      list(session, { domain_id: domainId }),
  };
}

/** Changes of notified levels. */
export function quotaLevelWrites(session: Session) {
  return {
    /** Replaces the level of each quota; 0 removes it. The caller has locked the domain. */
    async put(rows: readonly ConsumerQuotaLevelRow[]): Promise<void> {
      if (rows.length === 0) return;
      await remove(session, { rows: listedRows(rows, COLUMNS) });
      const levels = rows.filter(({ level }) => level > 0);
      if (levels.length > 0) await insert(session, { rows: listedRows(levels, COLUMNS) });
    },
  };
}
