/**
 * The partitions of traffic by day in PostgreSQL, named `<table>_<first minute>`: created ahead, so that what is too old is
 * dropped as a whole. A day without a partition of its own has its rows in the default one. SQLite has no partitions.
 */
import { sql } from 'kysely';
import type { Session } from '../session.ts';
import { freeStatement, raw } from '../statement.ts';

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

/** See `TrafficWrites.createPartitions`. */
export async function createPartitions(session: Session, days: readonly number[]): Promise<void> {
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

/** See `TrafficWrites.dropPartitions`. */
export async function dropPartitions(
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
