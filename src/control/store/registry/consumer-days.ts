/** Requests of consumers through gateways by day. In: days as their first minutes since the epoch. */
import { sql } from 'kysely';
import {
  int,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
  textsIn,
} from '../database/statement.ts';
import type { MinuteSpan } from '../repositories/traffic.ts';
import type { ConsumerDay } from '../tables/traffic.ts';

/** The sums of one consumer over some days. */
export type ConsumerSums = Pick<ConsumerDay, 'consumer' | 'requests' | 'admitted'>;

/** Cast to bigint, since PostgreSQL sums bigints to numeric, which the driver returns as text. */
const SUMS = sql`cast(coalesce(sum(requests), 0) as bigint) as requests,
  cast(coalesce(sum(admitted), 0) as bigint) as admitted`;

const sumOf = statement((builder, p: MinuteSpan & { domain_id: number; consumer: string }) =>
  raw<Omit<ConsumerSums, 'consumer'>>(
    sql`select ${SUMS} from consumer_days where domain_id = ${p.domain_id} and consumer = ${p.consumer}
      and day >= ${p.from} and day < ${p.to}`,
    builder,
  ),
);

const sums = statement((builder, p: MinuteSpan & { domain_id: number }) =>
  raw<ConsumerSums>(
    sql`select consumer, ${SUMS} from consumer_days
      where domain_id = ${p.domain_id} and day >= ${p.from} and day < ${p.to} group by consumer`,
    builder,
  ),
);

const reached = statement((builder, p: MinuteSpan & { domain_id: number; at_least: number }) =>
  raw<Pick<ConsumerSums, 'consumer' | 'admitted'>>(
    sql`select consumer, cast(sum(admitted) as bigint) as admitted from consumer_days
      where domain_id = ${p.domain_id} and consumer <> '' and day >= ${p.from} and day < ${p.to}
      group by consumer having sum(admitted) >= ${p.at_least}`,
    builder,
  ),
);

const daysOf = statement((builder, p: MinuteSpan & { domain_id: number; consumers: string }, flavour) =>
  builder
    .selectFrom('consumer_days')
    .select(['consumer', 'day', 'admitted'])
    .where('domain_id', '=', p.domain_id)
    .where('consumer', 'in', textsIn(p.consumers, flavour))
    .where('day', '>=', p.from)
    .where('day', '<', p.to)
    .orderBy('consumer')
    .orderBy('day'),
);

/** Reads of the use of consumers. */
export function consumerDayReads(session: Session) {
  return {
    /** The sums of one consumer: zeros if it had no requests. */
    async sumOf(
      domainId: number,
      consumer: string,
      span: MinuteSpan,
    ): Promise<Omit<ConsumerSums, 'consumer'>> {
      return (await one(session, sumOf, { domain_id: domainId, consumer, ...span }))!;
    },
    /** The sums of each consumer that had requests; requests without one are under the empty name. */
    sums: (domainId: number, span: MinuteSpan): Promise<readonly ConsumerSums[]> =>
      sums(session, { domain_id: domainId, ...span }),
    /** The consumers with at least so many admitted requests. */
    reached: (
      domainId: number,
      span: MinuteSpan,
      atLeast: number,
    ): Promise<readonly Pick<ConsumerSums, 'consumer' | 'admitted'>[]> =>
      reached(session, { domain_id: domainId, at_least: atLeast, ...span }),
    /** The days of these consumers, by consumer and day. */
    daysOf: (
      domainId: number,
      consumers: readonly string[],
      span: MinuteSpan,
    ): Promise<readonly Pick<ConsumerDay, 'consumer' | 'day' | 'admitted'>[]> =>
      daysOf(session, { domain_id: domainId, consumers: JSON.stringify(consumers), ...span }),
  };
}

const COLUMNS: ListedColumns = {
  domain_id: 'bigint',
  consumer: 'text',
  day: 'bigint',
  requests: 'bigint',
  admitted: 'bigint',
};

/**
 * The domains are read first, so that rows of one that is gone are left out. On PostgreSQL it waits for a removal of the
 * domain, and a removal waits for it.
 */
const add = statement((builder, p: { rows: string }, flavour) => {
  // SQLite reads `on conflict` behind a join as its condition unless there is a `where`.
  const end = flavour.database === 'sqlite' ? sql`where true` : sql`for key share of domains`;
  return raw(
    sql`insert into consumer_days (domain_id, consumer, day, requests, admitted)
      select domains.id, consumer, day, requests, admitted from (${listed(p.rows, COLUMNS, flavour)}) as given
        join domains on domains.id = given.domain_id ${end}
      on conflict (domain_id, consumer, day) do update
        set requests = consumer_days.requests + excluded.requests,
          admitted = consumer_days.admitted + excluded.admitted`,
    builder,
  );
});

const expire = statement((builder, p: { before: number; limit: number }) =>
  raw<{ readonly day: number }>(
    sql`delete from consumer_days where (domain_id, consumer, day) in
        (select domain_id, consumer, day from consumer_days where day < ${p.before} limit ${int(p.limit)})
      returning day`,
    builder,
  ),
);

/** One order for all writes, so that two of them cannot deadlock. */
function inOrder(a: ConsumerDay, b: ConsumerDay): number {
  return (
    a.domain_id - b.domain_id ||
    (a.consumer < b.consumer ? -1 : Number(a.consumer > b.consumer)) ||
    a.day - b.day
  );
}

/** Changes of the use of consumers. */
export function consumerDayWrites(session: Session) {
  return {
    /** Adds requests, each consumer and day once. */
    async add(rows: readonly ConsumerDay[]): Promise<void> {
      if (rows.length > 0) await add(session, { rows: listedRows([...rows].sort(inOrder), COLUMNS) });
    },
    /** Removes days before a minute, at most `limit` rows; returns how many. */
    async expire(before: number, limit: number): Promise<number> {
      return (await expire(session, { before, limit })).length;
    },
  };
}
