/** Writes parts and blocks of traffic, and the leases of the roll-up. Rows with octets enter by one statement for all of them. */
import { sql } from 'kysely';
import {
  type BlockUnit,
  type MinutesBlock,
  type PartKey,
  type SliceLease,
  TRAFFIC_SUMS,
  type TrafficBlock,
  type TrafficPart,
  type TrafficReads,
  type TrafficWrites,
} from '../../traffic-repositories.ts';
import type { Session } from '../session.ts';
import { int, type ListedColumns, listed, listedRows, one, raw, statement } from '../statement.ts';
import { BLOCK_TABLES, SUM_COLUMNS, trafficReads } from './traffic.ts';
import { createPartitions, dropPartitions } from './traffic-partitions.ts';

const KEY_COLUMNS: ListedColumns = {
  domain_id: 'bigint',
  minute: 'bigint',
  node_id: 'bigint',
  batch: 'bigint',
};
/** Where the octets of a row are in the parameter that has those of all rows; no octets of `tops`: `null`. */
const OCTET_COLUMNS: ListedColumns = {
  counts_from: 'bigint',
  counts_octets: 'bigint',
  tops_from: 'bigint',
  tops_octets: 'bigint',
};
const SUMS_LISTED: ListedColumns = Object.fromEntries(TRAFFIC_SUMS.map((name) => [name, 'bigint']));
const PART_COLUMNS: ListedColumns = {
  ...KEY_COLUMNS,
  ...SUMS_LISTED,
  taken_at: 'bigint',
  ...OCTET_COLUMNS,
};
const BLOCK_COLUMNS: ListedColumns = {
  domain_id: 'bigint',
  start: 'bigint',
  ...SUMS_LISTED,
  monitored_minutes: 'text',
  ...OCTET_COLUMNS,
};

/** Rows as two parameters: all columns but the octets, and the octets of all rows. */
interface PackedRows {
  readonly rows: string;
  readonly octets: Uint8Array;
}

type WithOctets = { readonly counts: Uint8Array; readonly tops?: Uint8Array | null };

function packRows<Row extends WithOctets>(rows: readonly Row[], columns: ListedColumns): PackedRows {
  // One octet before the first, since the driver of SQLite binds no octets at all as null; SQL counts from 1.
  const pieces: Uint8Array[] = [Uint8Array.of(0)];
  let from = 2;
  const place = (piece: Uint8Array): number => {
    const start = from;
    pieces.push(piece);
    from += piece.length;
    return start;
  };
  const placed = rows.map((row) => ({
    monitored_minutes: '',
    ...row,
    counts_from: place(row.counts),
    counts_octets: row.counts.length,
    tops_from: row.tops == null ? 0 : place(row.tops),
    tops_octets: row.tops?.length ?? 0,
  }));
  return { rows: listedRows(placed, columns), octets: Buffer.concat(pieces) };
}

const COUNTS = sql`substr(octets, cast(counts_from as integer), cast(counts_octets as integer))`;
const TOPS = sql`case when tops_octets > 0
  then substr(octets, cast(tops_from as integer), cast(tops_octets as integer)) end`;

/**
 * The source of an insert: the listed rows whose domain exists. On PostgreSQL it waits for a removal of the domain, and a
 * removal waits for it, so that no row outlives its domain.
 */
function listedWithDomains(
  p: PackedRows,
  columns: ListedColumns,
  session: Pick<Session, 'database' | 'locking'>,
) {
  const isSqlite = session.database === 'sqlite';
  const octets = isSqlite ? sql`cast(${p.octets} as blob)` : sql`cast(${p.octets} as bytea)`;
  // SQLite reads `on conflict` behind a join as its condition unless there is a `where`.
  const end = isSqlite ? sql`where true` : sql`for key share of domains`;
  return sql`from (${listed(p.rows, columns, session)}) as given
    cross join (select ${octets} as octets) as pieces
    join domains on domains.id = given.domain_id ${end}`;
}

const add = statement((builder, p: PackedRows, flavour) =>
  raw(
    sql`insert into traffic_parts (domain_id, minute, node_id, batch, ${SUM_COLUMNS}, taken_at, counts, tops)
      select domains.id, minute, node_id, batch, ${SUM_COLUMNS}, taken_at, ${COUNTS}, ${TOPS}
      ${listedWithDomains(p, PART_COLUMNS, flavour)}`,
    builder,
  ),
);

function replaceIn(unit: BlockUnit) {
  const table = sql.ref(BLOCK_TABLES[unit]);
  const [more, value] =
    unit === 'minutes' ? [sql`monitored_minutes`, sql`monitored_minutes`] : [sql`tops`, TOPS];
  const names = [...TRAFFIC_SUMS, 'counts', unit === 'minutes' ? 'monitored_minutes' : 'tops'];
  const changes = sql.join(names.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`));
  return statement((builder, p: PackedRows, flavour) =>
    raw(
      sql`insert into ${table} (domain_id, start, ${SUM_COLUMNS}, counts, ${more})
        select domains.id, start, ${SUM_COLUMNS}, ${COUNTS}, ${value}
        ${listedWithDomains(p, BLOCK_COLUMNS, flavour)}
        on conflict (domain_id, start) do update set ${changes}`,
      builder,
    ),
  );
}

const REPLACE = {
  minutes: replaceIn('minutes'),
  hours: replaceIn('hours'),
  days: replaceIn('days'),
} as const;

/** Returns the removed rows: their number shows whether all were there. */
const removeParts = statement((builder, p: { rows: string }, flavour) =>
  raw<{ readonly batch: number }>(
    sql`delete from traffic_parts where (domain_id, minute, node_id, batch) in
        (select domain_id, minute, node_id, batch from (${listed(p.rows, KEY_COLUMNS, flavour)}) as gone)
      returning batch`,
    builder,
  ),
);

/** A new slice has a lease that has ended. */
const openSlice = statement((builder, p: { slice: number; days: number }) =>
  raw(
    sql`insert into traffic_slices (slice, owner, until, days_through)
      values (${int(p.slice)}, '', 0, ${int(p.days)}) on conflict (slice) do nothing`,
    builder,
  ),
);

const lease = statement((builder, p: SliceLease & { beyond: number }) =>
  raw<{ readonly days_through: number }>(
    sql`update traffic_slices set owner = ${p.owner}, until = ${int(p.until)}
      where slice = ${p.slice} and (owner = ${p.owner} or until <= ${int(p.now)} or until > ${int(p.beyond)})
      returning days_through`,
    builder,
  ),
);

const renewLease = statement((builder, p: Omit<SliceLease, 'now'>) =>
  raw<{ readonly slice: number }>(
    sql`update traffic_slices set until = ${int(p.until)} where slice = ${p.slice} and owner = ${p.owner}
      returning slice`,
    builder,
  ),
);

const endLease = statement((builder, p: Pick<SliceLease, 'slice' | 'owner'>) =>
  raw(sql`update traffic_slices set until = 0 where slice = ${p.slice} and owner = ${p.owner}`, builder),
);

const endLeases = statement((builder, _: object) =>
  raw(sql`update traffic_slices set until = 0 where until > 0`, builder),
);

const setDaysThrough = statement((builder, p: { slice: number; days: number }) =>
  raw(
    sql`update traffic_slices set days_through = ${int(p.days)}
      where slice = ${p.slice} and days_through < ${int(p.days)}`,
    builder,
  ),
);

/** Through the index over `start`, which in PostgreSQL only the default partition has. */
function expireIn(unit: BlockUnit) {
  return statement((builder, p: { before: number; limit: number }, { database }) => {
    const table =
      database === 'postgres' && unit !== 'days' ? `${BLOCK_TABLES[unit]}_default` : BLOCK_TABLES[unit];
    return raw<{ readonly start: number }>(
      sql`delete from ${sql.ref(table)} where (domain_id, start) in
          (select domain_id, start from ${sql.ref(table)} where start < ${p.before} limit ${p.limit})
        returning start`,
      builder,
    );
  });
}

const EXPIRE = { minutes: expireIn('minutes'), hours: expireIn('hours'), days: expireIn('days') } as const;

/** One order for all writes, so that two of them cannot deadlock. */
function inOrder(a: TrafficBlock | MinutesBlock, b: TrafficBlock | MinutesBlock): number {
  return a.domain_id - b.domain_id || a.start - b.start;
}

function keyOrder(a: PartKey, b: PartKey): number {
  return a.domain_id - b.domain_id || a.minute - b.minute || a.node_id - b.node_id || a.batch - b.batch;
}

/** The repository of traffic. */
export function traffic(session: Session): TrafficReads & TrafficWrites {
  async function replace(unit: BlockUnit, blocks: readonly (TrafficBlock | MinutesBlock)[]): Promise<void> {
    if (blocks.length === 0) return;
    await REPLACE[unit](session, packRows([...blocks].sort(inOrder), BLOCK_COLUMNS));
  }
  return {
    ...trafficReads(session),
    async add(parts: readonly TrafficPart[]) {
      if (parts.length > 0) await add(session, packRows([...parts].sort(keyOrder), PART_COLUMNS));
    },
    async lease({ daysThrough, ...wanted }) {
      const { slice, now, until } = wanted;
      await openSlice(session, { slice, days: daysThrough });
      const beyond = now + 2 * (until - now);
      return (await one(session, lease, { ...wanted, beyond }))?.days_through ?? null;
    },
    async renewLease(wanted) {
      return (await one(session, renewLease, wanted)) !== null;
    },
    async endLease(ended) {
      await endLease(session, ended);
    },
    async endLeases() {
      await endLeases(session, {});
    },
    async setDaysThrough(slice, daysThrough) {
      await setDaysThrough(session, { slice, days: daysThrough });
    },
    async removeParts(keys) {
      const rows = listedRows([...keys].sort(keyOrder), KEY_COLUMNS);
      return (await removeParts(session, { rows })).length;
    },
    async replace({ minutes, hours, days }) {
      await replace('minutes', minutes);
      await replace('hours', hours);
      await replace('days', days);
    },
    async expire(unit, before, limit) {
      return (await EXPIRE[unit](session, { before, limit })).length;
    },
    createPartitions: (days) => createPartitions(session, days),
    dropPartitions: (before) => dropPartitions(session, before),
  };
}
