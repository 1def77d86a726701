/** Traffic that nodes have reported, and the blocks that it was merged into. The writing half is in `traffic-writes.ts`. */
import { type RawBuilder, sql } from 'kysely';
import { DEFAULT_GROUP } from '../../../../base/vocabulary/node-groups.ts';
import { type PartKey, TRAFFIC_SUMS, type TrafficPart, type TrafficSums } from '../../tables/traffic.ts';
import type {
  BlockSums,
  BlockUnit,
  DueParts,
  MinuteSpan,
  MonitoredMinute,
  ReportedDomain,
  TrafficReads,
} from '../../traffic-repositories.ts';
import { holderOf } from '../lock-domain.ts';
import { idsIn, int, raw, type Session, statement, textsIn } from '../statement.ts';

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

/** The reading half of the repository. */
export function trafficReads(session: Session): TrafficReads {
  const ofDomains = (domainIds: readonly number[], { from, to }: MinuteSpan): DomainsSpan => ({
    domains: JSON.stringify(domainIds),
    from,
    to,
  });
  return {
    async domainsOf(names) {
      const rows = await namedDomains(session, { names: JSON.stringify(names), group: DEFAULT_GROUP });
      return reportedDomains(rows);
    },
    async partSums(domainId, span) {
      return (await partSums(session, { domain_id: domainId, ...span }))[0]!;
    },
    parts: (domainId, span) => parts(session, { domain_id: domainId, ...span }),
    async partTops(domainId, span) {
      return (await partTops(session, { domain_id: domainId, ...span })).map(({ tops }) => tops);
    },
    due: ({ after, ...rest }) => due(session, { ...rest, ...(after ?? NO_PART) }),
    blockSums: (unit, domainId, span) => ON[unit].sums(session, { domain_id: domainId, ...span }),
    blocks: (unit, domainIds, span) => rowsOf(ON[unit].counts(session, ofDomains(domainIds, span))),
    minutes: (domainIds, span) => rowsOf(ON.minutes.whole(session, ofDomains(domainIds, span))),
    wholeBlocks: (unit, domainIds, span) => rowsOf(ON[unit].whole(session, ofDomains(domainIds, span))),
    tops: (unit, domainId, span) => rowsOf(ON[unit].extras(session, ofDomains([domainId], span))),
    async domainsWithHours(span, of) {
      return (await domainsWithHours(session, { ...span, ...of })).map(({ domain_id }) => domain_id);
    },
    monitoredParts: (domainIds, span) => monitoredParts(session, ofDomains(domainIds, span)),
    async monitoredBlocks(domainIds, span) {
      const rows = await ON.minutes.extras(session, ofDomains(domainIds, span));
      return (rows as readonly MonitoredRow[]).filter(({ monitored_minutes }) => monitored_minutes !== '');
    },
    async backlog() {
      return (await backlog(session, {}))[0]!;
    },
  };
}

type MonitoredRow = Awaited<ReturnType<TrafficReads['monitoredBlocks']>>[number];

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
