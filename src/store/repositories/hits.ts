/** How often rules matched. */
import { sql } from 'kysely';
import type { HitReads, HitWrites } from '../edge-repositories.ts';
import type { HitRow } from '../rows.ts';
import type { Session } from '../session.ts';
import { int, one, raw, statement } from '../statement.ts';

/** Ties in hits are ordered by rule, so that the result is the same on both databases. */
const sums = statement((builder, p: { domain_id: number; from: number; to: number; limit: number }) =>
  builder
    .selectFrom('rule_hits')
    .select(['type', 'rule_id', sql<number>`cast(sum(hits) as bigint)`.as('hits')])
    .where('domain_id', '=', p.domain_id)
    .where('minute', '>=', p.from)
    .where('minute', '<', p.to)
    .groupBy(['type', 'rule_id'])
    .orderBy('hits', 'desc')
    .orderBy('type')
    .orderBy('rule_id')
    .limit(p.limit),
);

/** Selects the domain, so that a row for one that was deleted is skipped instead of failing the batch. */
const add = statement((builder, p: HitRow) =>
  raw(
    sql`insert into rule_hits (domain_id, minute, type, rule_id, hits)
      select id, ${int(p.minute)}, ${p.type}, ${int(p.rule_id)}, ${int(p.hits)}
      from domains where id = ${p.domain_id}
      on conflict (domain_id, minute, type, rule_id) do update set hits = rule_hits.hits + excluded.hits`,
    builder,
  ),
);

/** Compares with the traffic of the same minute: a rule matches a request once at most. */
const excess = statement((builder, p: { domain_id: number; minute: number }) =>
  builder
    .selectFrom('rule_hits')
    .leftJoin('usage', (join) =>
      join
        .onRef('usage.domain_id', '=', 'rule_hits.domain_id')
        .onRef('usage.minute', '=', 'rule_hits.minute'),
    )
    .selectAll('rule_hits')
    .where('rule_hits.domain_id', '=', p.domain_id)
    .where('rule_hits.minute', '=', p.minute)
    .where('rule_hits.hits', '>', (row) => row.fn.coalesce('usage.requests', int(0)))
    .limit(1),
);

const prune = statement((builder, p: { minute: number }) =>
  builder.deleteFrom('rule_hits').where('minute', '<', p.minute),
);

/** One order for all batches, so that two of them cannot deadlock. */
function inOrder(a: HitRow, b: HitRow): number {
  const place = a.domain_id - b.domain_id || a.minute - b.minute;
  return place || (a.type < b.type ? -1 : a.type > b.type ? 1 : a.rule_id - b.rule_id);
}

/** The repository of rule hits by minute. */
export function hits(session: Session): HitReads & HitWrites {
  return {
    sums: (domainId, { from, to, limit }) => sums(session, { domain_id: domainId, from, to, limit }),
    async add(rows) {
      await Promise.all([...rows].sort(inOrder).map((row) => add(session, row)));
    },
    excess: (domainId, minute) => one(session, excess, { domain_id: domainId, minute }),
    async prune(beforeMinute) {
      await prune(session, { minute: beforeMinute });
    },
  };
}
