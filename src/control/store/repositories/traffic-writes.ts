/** Writes parts and blocks of traffic, and the leases of the roll-up. Rows with octets enter by one statement for all of them. */
import { sql } from 'kysely';
import {
  freeStatement,
  int,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import {
  type BlockUnit,
  type MinutesBlock,
  type PartKey,
  TRAFFIC_SUMS,
  type TrafficBlock,
  type TrafficPart,
} from '../tables/traffic.ts';
import { BLOCK_TABLES, SUM_COLUMNS } from './traffic.ts';

/** A slice of the domains, leased to one process. */
export interface SliceLease {
  readonly slice: number;
  /** The process. */
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/** Blocks that replace those of the same domain and start. */
export interface NewBlocks {
  readonly minutes: readonly MinutesBlock[];
  readonly hours: readonly TrafficBlock[];
  readonly days: readonly TrafficBlock[];
}

// The partitions of traffic by day in PostgreSQL, named `<table>_<first minute>`: created ahead, so that what is too old is
// dropped as a whole. A day without a partition of its own has its rows in the default one. SQLite has no partitions.

/** The partitioned tables, each with the column that its partitions are ranges of. */
const PARTITIONED = {
  parts: { table: 'traffic_parts', column: 'minute' },
  minutes: { table: 'traffic_minutes', column: 'start' },
  hours: { table: 'traffic_hours', column: 'start' },
} as const;
type Partitioned = keyof typeof PARTITIONED;

/** Minutes of a day. */
const DAY = 1_440;
/** Key of the advisory lock under which partitions are created and dropped, by one process at a time: "part". */
const PARTITION_LOCK = 0x70617274;
/**
 * Milliseconds that a statement on partitions waits for the readers of its table, while those behind it wait too: a
 * page of analytics is read in less. What was in the way is tried again an hour later.
 */
const PARTITION_WAIT_MS = 2_000;

const run = freeStatement((builder, { text }: { readonly text: string }) =>
  raw<{ readonly value: unknown }>(sql.raw(text), builder),
);

/** Only numbers and names of this file enter the text. */
async function query(session: Session, text: string): Promise<readonly unknown[]> {
  return (await run(session, { text })).map(({ value }) => value);
}

async function lockPartitions(session: Session): Promise<void> {
  await query(session, `SET LOCAL lock_timeout = ${PARTITION_WAIT_MS}`);
  await query(session, `SELECT pg_advisory_xact_lock(${PARTITION_LOCK}) IS NULL AS value`);
}

/** The days of a table's partitions, as their first minutes. */
async function partitionDays(session: Session, table: string): Promise<readonly number[]> {
  const names = await query(
    session,
    `SELECT inhrelid::regclass::text AS value FROM pg_inherits WHERE inhparent = '${table}'::regclass`,
  );
  return names.map((name) => Number(String(name).slice(table.length + 1))).filter(Number.isInteger);
}

/** `createPartitions` of the repository. */
async function createPartitions(session: Session, days: readonly number[]): Promise<void> {
  if (session.database !== 'postgres') return;
  await lockPartitions(session);
  for (const { table, column } of Object.values(PARTITIONED)) {
    const there = await partitionDays(session, table);
    for (const day of days.filter((wanted) => !there.includes(wanted))) {
      const [isTaken] = await query(
        session,
        `SELECT EXISTS (SELECT FROM ${table}_default WHERE ${column} >= ${day} AND ${column} < ${day + DAY}) AS value`,
      );
      if (isTaken === true) continue;
      const bounds = `FROM (${day}) TO (${day + DAY})`;
      await query(session, `CREATE TABLE ${table}_${day} PARTITION OF ${table} FOR VALUES ${bounds}`);
    }
  }
}

/** `dropPartitions` of the repository. */
async function dropPartitions(
  session: Session,
  before: Readonly<Record<Partitioned, number>>,
): Promise<number> {
  if (session.database !== 'postgres') return 0;
  await lockPartitions(session);
  let dropped = 0;
  for (const [kind, { table }] of Object.entries(PARTITIONED) as [
    Partitioned,
    { readonly table: string },
  ][]) {
    const days = await partitionDays(session, table);
    for (const day of days.filter((first) => first + DAY <= before[kind])) {
      if (kind === 'parts' && !(await isEmpty(session, `${table}_${day}`))) continue;
      await query(session, `DROP TABLE ${table}_${day}`);
      dropped += 1;
    }
  }
  return dropped;
}

/** Parts that were not merged are never dropped; the lock stops those that come meanwhile. */
async function isEmpty(session: Session, partition: string): Promise<boolean> {
  await query(session, `LOCK TABLE ${partition} IN ACCESS EXCLUSIVE MODE`);
  const [hasRows] = await query(session, `SELECT EXISTS (SELECT FROM ${partition}) AS value`);
  return hasRows !== true;
}

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

/** Changes of traffic. None locks a domain; rows of domains that are gone are left out. */
export function trafficWrites(session: Session) {
  async function replace(unit: BlockUnit, blocks: readonly (TrafficBlock | MinutesBlock)[]): Promise<void> {
    if (blocks.length === 0) return;
    await REPLACE[unit](session, packRows([...blocks].sort(inOrder), BLOCK_COLUMNS));
  }
  return {
    /** `conflict` if one is there already. */
    async add(parts: readonly TrafficPart[]): Promise<void> {
      if (parts.length > 0) await add(session, packRows([...parts].sort(keyOrder), PART_COLUMNS));
    },
    /**
     * Leases a slice, if its lease has ended, is void (it ends later than two leases from now: its clock was ahead), or is of
     * the same owner. Returns the first minute of the last day whose blocks exist, at first `daysThrough`; `null`: another
     * process has it.
     */
    async lease({
      daysThrough,
      ...wanted
    }: SliceLease & { readonly daysThrough: number }): Promise<number | null> {
      const { slice, now, until } = wanted;
      await openSlice(session, { slice, days: daysThrough });
      const beyond = now + 2 * (until - now);
      return (await one(session, lease, { ...wanted, beyond }))?.days_through ?? null;
    },
    /** Prolongs a lease, and locks it until the commit. False: another process has it, so nothing may be written for it. */
    async renewLease(wanted: Omit<SliceLease, 'now'>): Promise<boolean> {
      return (await one(session, renewLease, wanted)) !== null;
    },
    /** Ends a lease. */
    async endLease(ended: Pick<SliceLease, 'slice' | 'owner'>): Promise<void> {
      await endLease(session, ended);
    },
    /** Ends every lease: for the only process of a store, whose earlier leases are of a process that ended. */
    async endLeases(): Promise<void> {
      await endLeases(session, {});
    },
    /** Raises what `lease` returns. */
    async setDaysThrough(slice: number, daysThrough: number): Promise<void> {
      await setDaysThrough(session, { slice, days: daysThrough });
    },
    /** Removes parts; returns how many there were. */
    async removeParts(keys: readonly PartKey[]): Promise<number> {
      const rows = listedRows([...keys].sort(keyOrder), KEY_COLUMNS);
      return (await removeParts(session, { rows })).length;
    },
    async replace({ minutes, hours, days }: NewBlocks): Promise<void> {
      await replace('minutes', minutes);
      await replace('hours', hours);
      await replace('days', days);
    },
    /** Removes blocks that start before a minute, at most `limit` of those in no partition of their day; returns how many. */
    async expire(unit: BlockUnit, before: number, limit: number): Promise<number> {
      return (await EXPIRE[unit](session, { before, limit })).length;
    },
    /**
     * Creates the partitions of these days (first minutes) where the database has partitions, and none of their rows
     * is in the default one.
     */
    createPartitions: (days: readonly number[]): Promise<void> => createPartitions(session, days),
    /** Drops partitions of whole days before a minute; those of parts only if they are empty. Returns how many. */
    dropPartitions: (before: Readonly<Record<'parts' | 'minutes' | 'hours', number>>): Promise<number> =>
      dropPartitions(session, before),
  };
}
