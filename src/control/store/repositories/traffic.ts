/** Traffic that nodes have reported, and the blocks that it was merged into. The writing half is in `traffic-writes.ts`. */
import { type RawBuilder, sql } from 'kysely';
import { DEFAULT_GROUP } from '../../../base/vocabulary/node-groups.ts';
import { holderOf } from '../database/lock-domain.ts';
import { idsIn, int, raw, type Session, statement, textsIn } from '../database/statement.ts';
import {
  type BlockUnit,
  type MinutesBlock,
  type PartKey,
  TRAFFIC_SUMS,
  type TrafficBlock,
  type TrafficPart,
  type TrafficSums,
} from '../tables/traffic.ts';

/** Minutes since the epoch, `from` ≤ minute < `to`. */
export interface MinuteSpan {
  readonly from: number;
  readonly to: number;
}

/** Sums of a block. */
export type BlockSums = TrafficSums & Pick<TrafficBlock, 'domain_id' | 'start'>;

/** A name that a node reports traffic or decisions of. */
export interface ReportedDomain {
  readonly name: string;
  readonly domain_id: number;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  /** Groups that serve the name, as `base/vocabulary/node-groups.ts` writes them, and those that served it before. */
  readonly node_groups: string;
  readonly left_groups: string;
}

/** Parts that wait for the roll-up. */
export interface DueParts {
  /** Domains are divided by the remainder of their ids. */
  readonly slice: number;
  readonly slices: number;
  /** Parts of minutes before this one. */
  readonly before: number;
  /** Behind this part in the order of the result; `null`: from the first one on. */
  readonly after: PartKey | null;
  readonly limit: number;
}

/** Monitored requests of one domain in one minute. */
export interface MonitoredMinute {
  readonly domain_id: number;
  readonly minute: number;
  readonly monitored: number;
  readonly monitored_errors: number;
}

/** The table of each unit. */
export const BLOCK_TABLES = {
  minutes: 'traffic_minutes',
  hours: 'traffic_hours',
  days: 'traffic_days',
} as const satisfies Readonly<Record<BlockUnit, string>>;

/** The columns of TrafficSums. */
export const SUM_COLUMNS: RawBuilder<unknown> = sql.join(TRAFFIC_SUMS.map((name) => sql.ref(name)));
/** Cast to bigint, since PostgreSQL sums bigints to numeric, which the driver returns as text. */
const SUMMED = sql.join(
  TRAFFIC_SUMS.map((name) => sql`cast(coalesce(sum(${sql.ref(name)}), 0) as bigint) as ${sql.ref(name)}`),
);

/** A domain and a span as parameters. */
type DomainSpan = MinuteSpan & { readonly domain_id: number };
/** Domains, as a JSON array of ids, and a span. */
type DomainsSpan = MinuteSpan & { readonly domains: string };

/** The manifest's row may be of another domain of the name. */
interface NamedRow {
  readonly name: string;
  readonly id: number;
  readonly created_at: number;
  readonly unproved_since: number | null;
  readonly ever_active: number;
  readonly published_id: number | null;
  readonly published_groups: string | null;
  readonly left_groups: string | null;
  readonly own_groups: string;
}

/** Every domain of each name with what groups serve it. */
const namedDomains = statement((builder, p: { names: string; group: string }, flavour) =>
  raw<NamedRow>(
    sql`select domains.name, domains.id, domains.created_at, unproved_since, ever_active, manifest.domain_id as published_id,
        manifest.node_groups as published_groups, manifest.left_groups,
        coalesce(domain_groups.node_groups, cast(${p.group} as text)) as own_groups
      from domains
        left join manifest on manifest.domain = domains.name
        left join domain_groups on domain_groups.domain_id = domains.id
      where domains.name in ${textsIn(p.names, flavour)} order by domains.id`,
    builder,
  ),
);

const partSums = statement((builder, p: DomainSpan) =>
  raw<TrafficSums>(
    sql`select ${SUMMED} from traffic_parts
      where domain_id = ${p.domain_id} and minute >= ${p.from} and minute < ${p.to}`,
    builder,
  ),
);

const parts = statement((builder, p: DomainSpan) =>
  raw<Omit<TrafficPart, 'tops'>>(
    sql`select domain_id, minute, node_id, batch, ${SUM_COLUMNS}, taken_at, counts from traffic_parts
      where domain_id = ${p.domain_id} and minute >= ${p.from} and minute < ${p.to} order by minute`,
    builder,
  ),
);

const partTops = statement((builder, p: DomainSpan) =>
  raw<{ readonly tops: Uint8Array }>(
    sql`select tops from traffic_parts
      where domain_id = ${p.domain_id} and minute >= ${p.from} and minute < ${p.to} and tops is not null`,
    builder,
  ),
);

/** The row comparison begins behind one row of the primary key, which the order is that of. */
const due = statement((builder, p: Omit<DueParts, 'after'> & PartKey) =>
  raw<TrafficPart>(
    sql`select domain_id, minute, node_id, batch, ${SUM_COLUMNS}, taken_at, counts, tops from traffic_parts
      where (domain_id, minute, node_id, batch) >
          (${int(p.domain_id)}, ${int(p.minute)}, ${int(p.node_id)}, ${int(p.batch)})
        and domain_id % ${int(p.slices)} = ${int(p.slice)} and minute < ${p.before}
      order by domain_id, minute, node_id, batch limit ${p.limit}`,
    builder,
  ),
);

/** Before the first part. */
const NO_PART: PartKey = { domain_id: 0, minute: 0, node_id: 0, batch: Number.MIN_SAFE_INTEGER };

/** The statements on the blocks of one unit. */
function statementsOn(unit: BlockUnit) {
  const table = sql.ref(BLOCK_TABLES[unit]);
  const more = unit === 'minutes' ? sql`, monitored_minutes` : sql`, tops`;
  const ofDomains = (p: DomainsSpan, flavour: Pick<Session, 'database' | 'locking'>): RawBuilder<unknown> =>
    sql`where domain_id in ${idsIn(p.domains, flavour)} and start >= ${p.from} and start < ${p.to}
      order by domain_id, start`;
  return {
    sums: statement((builder, p: DomainSpan) =>
      raw<BlockSums>(
        sql`select domain_id, start, ${SUM_COLUMNS} from ${table}
          where domain_id = ${p.domain_id} and start >= ${p.from} and start < ${p.to} order by start`,
        builder,
      ),
    ),
    counts: statement((builder, p: DomainsSpan, flavour) =>
      raw<object>(
        sql`select domain_id, start, ${SUM_COLUMNS}, counts from ${table} ${ofDomains(p, flavour)}`,
        builder,
      ),
    ),
    whole: statement((builder, p: DomainsSpan, flavour) =>
      raw<object>(
        sql`select domain_id, start, ${SUM_COLUMNS}, counts${more} from ${table} ${ofDomains(p, flavour)}`,
        builder,
      ),
    ),
    extras: statement((builder, p: DomainsSpan, flavour) =>
      raw<object>(sql`select domain_id, start${more} from ${table} ${ofDomains(p, flavour)}`, builder),
    ),
  };
}

const ON = {
  minutes: statementsOn('minutes'),
  hours: statementsOn('hours'),
  days: statementsOn('days'),
} as const;

const domainsWithHours = statement(
  (builder, p: MinuteSpan & { slice: number; slices: number; limit: number; after: number }) =>
    raw<{ readonly domain_id: number }>(
      sql`select distinct domain_id from traffic_hours
        where domain_id > ${p.after} and domain_id % ${int(p.slices)} = ${int(p.slice)}
          and start >= ${p.from} and start < ${p.to}
        order by domain_id limit ${p.limit}`,
      builder,
    ),
);

const monitoredParts = statement((builder, p: DomainsSpan, flavour) =>
  raw<MonitoredMinute>(
    sql`select domain_id, minute, cast(sum(monitored) as bigint) as monitored,
        cast(sum(monitored_errors) as bigint) as monitored_errors
      from traffic_parts where domain_id in ${idsIn(p.domains, flavour)}
        and minute >= ${p.from} and minute < ${p.to} and monitored > 0
      group by domain_id, minute order by domain_id, minute`,
    builder,
  ),
);

/** Counts the rows of the whole table, which the roll-up empties every few minutes. */
const backlog = statement((builder, _: object) =>
  raw<{ readonly parts: number; readonly since: number | null }>(
    sql`select cast(count(*) as bigint) as parts, min(taken_at) as since from traffic_parts`,
    builder,
  ),
);

/** Reads of traffic. */
export function trafficReads(session: Session) {
  const ofDomains = (domainIds: readonly number[], { from, to }: MinuteSpan): DomainsSpan => ({
    domains: JSON.stringify(domainIds),
    from,
    to,
  });
  return {
    /** Domains by name, each name once: the one that nodes serve. Names without a domain have none. */
    async domainsOf(names: readonly string[]): Promise<readonly ReportedDomain[]> {
      const rows = await namedDomains(session, { names: JSON.stringify(names), group: DEFAULT_GROUP });
      return reportedDomains(rows);
    },
    /** Sums of the parts of a domain. */
    async partSums(domainId: number, span: MinuteSpan): Promise<TrafficSums> {
      return (await partSums(session, { domain_id: domainId, ...span }))[0]!;
    },
    /** Parts of a domain without their top lists, by minute. */
    parts: (domainId: number, span: MinuteSpan): Promise<readonly Omit<TrafficPart, 'tops'>[]> =>
      parts(session, { domain_id: domainId, ...span }),
    /** Top lists of the parts of a domain. */
    async partTops(domainId: number, span: MinuteSpan): Promise<readonly Uint8Array[]> {
      return (await partTops(session, { domain_id: domainId, ...span })).map(({ tops }) => tops);
    },
    /** Parts by domain, minute, node and batch. */
    due: ({ after, ...rest }: DueParts): Promise<readonly TrafficPart[]> =>
      due(session, { ...rest, ...(after ?? NO_PART) }),
    /** Sums of the blocks of a domain that start in the span, by start. */
    blockSums: (unit: BlockUnit, domainId: number, span: MinuteSpan): Promise<readonly BlockSums[]> =>
      ON[unit].sums(session, { domain_id: domainId, ...span }),
    /** Blocks of some domains that start in the span, by domain and start; without their top lists. */
    blocks: (
      unit: 'hours' | 'days',
      domainIds: readonly number[],
      span: MinuteSpan,
    ): Promise<readonly Omit<TrafficBlock, 'tops'>[]> =>
      rowsOf(ON[unit].counts(session, ofDomains(domainIds, span))),
    /** Blocks of minutes that start in the span, by domain and start. */
    minutes: (domainIds: readonly number[], span: MinuteSpan): Promise<readonly MinutesBlock[]> =>
      rowsOf(ON.minutes.whole(session, ofDomains(domainIds, span))),
    /** Blocks with top lists, by domain and start. */
    wholeBlocks: (
      unit: 'hours' | 'days',
      domainIds: readonly number[],
      span: MinuteSpan,
    ): Promise<readonly TrafficBlock[]> => rowsOf(ON[unit].whole(session, ofDomains(domainIds, span))),
    /** Top lists of the blocks of a domain that start in the span; `null`: the block has none. */
    tops: (
      unit: 'hours' | 'days',
      domainId: number,
      span: MinuteSpan,
    ): Promise<readonly Pick<TrafficBlock, 'start' | 'tops'>[]> =>
      rowsOf(ON[unit].extras(session, ofDomains([domainId], span))),
    /** Ids above `after` of domains of a slice that have blocks of hours that start in the span, in their order. */
    async domainsWithHours(
      span: MinuteSpan,
      of: Pick<DueParts, 'slice' | 'slices' | 'limit'> & { readonly after: number },
    ): Promise<readonly number[]> {
      return (await domainsWithHours(session, { ...span, ...of })).map(({ domain_id }) => domain_id);
    },
    /** Parts with monitored requests: sums by domain and minute. */
    monitoredParts: (domainIds: readonly number[], span: MinuteSpan): Promise<readonly MonitoredMinute[]> =>
      monitoredParts(session, ofDomains(domainIds, span)),
    /** Of blocks that start in the span and have monitored requests. */
    async monitoredBlocks(
      domainIds: readonly number[],
      span: MinuteSpan,
    ): Promise<readonly Pick<MinutesBlock, 'domain_id' | 'start' | 'monitored_minutes'>[]> {
      const rows = await ON.minutes.extras(session, ofDomains(domainIds, span));
      return (rows as readonly MonitoredRow[]).filter(({ monitored_minutes }) => monitored_minutes !== '');
    },
    /** Parts that wait, and when the oldest was taken, milliseconds since the epoch: for metrics. */
    async backlog(): Promise<{ readonly parts: number; readonly since: number | null }> {
      return (await backlog(session, {}))[0]!;
    },
  };
}

type MonitoredRow = Awaited<ReturnType<ReturnType<typeof trafficReads>['monitoredBlocks']>>[number];

/** Rows of a statement whose columns depend on its unit. */
async function rowsOf<Row>(rows: Promise<readonly object[]>): Promise<readonly Row[]> {
  return (await rows) as readonly Row[];
}

/** The domain that nodes serve under each name. */
function reportedDomains(rows: readonly NamedRow[]): readonly ReportedDomain[] {
  const byName = new Map<string, NamedRow[]>();
  for (const row of rows) {
    const same = byName.get(row.name);
    if (same === undefined) byName.set(row.name, [row]);
    else same.push(row);
  }
  return [...byName.values()].map((same) => {
    const row = holderOf(same)!;
    const isPublished = row.published_id === row.id;
    return {
      name: row.name,
      domain_id: row.id,
      created_at: row.created_at,
      node_groups: (isPublished ? row.published_groups : null) ?? row.own_groups,
      left_groups: (isPublished ? row.left_groups : null) ?? '',
    };
  });
}
