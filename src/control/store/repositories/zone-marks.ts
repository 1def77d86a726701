/**
 * Marks of names whose zone must be made again. Every write that can change a zone sets one in its own transaction, so no
 * change is lost by a crash. A mark has a random version: a zone that was made before the last change does not remove it.
 */
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { type Flavour, flags, idsIn, int, one, raw, type Session, statement } from '../database/statement.ts';
import type { ZoneChangeRow } from '../tables/zones.ts';

const decode = flags<ZoneChangeRow>('renumber');

/** The upsert of marks for the names that `names` selects. */
function marks(names: ReturnType<typeof sql>, p: Mark, renumber: 0 | 1) {
  return sql<{ name: string }>`insert into zone_changes (name, version, since, renumber)
    select distinct chosen.name, ${int(p.version)}, ${int(p.at)}, ${sql.lit(renumber)} from (${names}) as chosen where true
    on conflict (name) do update set version = excluded.version,
      renumber = case when excluded.renumber = 1 then 1 else zone_changes.renumber end
    returning name`;
}

/** What every mark has. */
interface Mark {
  readonly version: number;
  readonly at: number;
}

const NAMES = (json: string, flavour: Flavour) =>
  flavour.database === 'sqlite'
    ? sql`select value as name from json_each(${json})`
    : sql`select value as name from json_array_elements_text(${json}::json)`;

const markNames = statement((builder, p: Mark & { names: string }, flavour) =>
  raw(marks(NAMES(p.names, flavour), p, 0), builder),
);

const markManaged = statement((builder, p: Mark & { ids: string }, flavour) =>
  raw(
    marks(sql`select name from domains where id in ${idsIn(p.ids, flavour)} and dns_mode = 'managed'`, p, 0),
    builder,
  ),
);

const markOthers = statement((builder, p: Mark & { settings: string }) =>
  raw(
    marks(
      sql`select name from zones where settings <> ${p.settings}
        union select name from domains where dns_mode = 'managed' and name not in (select name from zones)`,
      p,
      0,
    ),
    builder,
  ),
);

const markAllZones = statement((builder, p: Mark) => raw(marks(sql`select name from zones`, p, 1), builder));

const dropHistory = statement((builder, _: object) => builder.deleteFrom('zone_steps'));

const renumberCatalogs = statement((builder, p: { seconds: number; at: number }) =>
  raw(
    sql`update zone_catalogs set updated_at = ${int(p.at)},
      serial = case when serial < ${int(p.seconds)} then ${int(p.seconds)} else serial + 1 end`,
    builder,
  ),
);

/** A deleted domain whose zone was never made, and whose name no other domain has, leaves no mark. */
const dropUnused = statement((builder, p: { name: string }) =>
  builder
    .deleteFrom('zone_changes')
    .where('name', '=', p.name)
    .where('name', 'not in', (row) => row.selectFrom('zones').select('name'))
    .where('name', 'not in', (row) => row.selectFrom('domains').select('name')),
);

const change = statement((builder, p: { name: string }) =>
  builder
    .selectFrom('zone_changes')
    .select(['name', 'version', 'since', 'renumber'])
    .where('name', '=', p.name),
);

const waiting = statement((builder, _: object) =>
  builder
    .selectFrom('zone_changes')
    .select(({ fn }) => [fn.countAll<number>().as('zones'), fn.min<number | null>('since').as('since')]),
);

/** Milliseconds added to two leases, as for the outbox: a claim that ends later was made by a clock that was ahead. */
const LONGEST_LEASE_MS = 10_000;

const claim = statement((builder, p: { now: number; until: number; beyond: number; limit: number }) =>
  builder
    .updateTable('zone_changes')
    .set({ claimed_until: p.until })
    .where('name', 'in', (row) =>
      row
        .selectFrom('zone_changes as waiting')
        .select('waiting.name')
        .where(({ eb, or }) =>
          or([eb('waiting.claimed_until', '<=', p.now), eb('waiting.claimed_until', '>', p.beyond)]),
        )
        .orderBy('waiting.since')
        .orderBy('waiting.name')
        .limit(p.limit),
    )
    .where(({ eb, or }) => or([eb('claimed_until', '<=', p.now), eb('claimed_until', '>', p.beyond)]))
    .returning(['name', 'version', 'since', 'renumber']),
);

const release = statement((builder, p: { name: string }) =>
  builder
    .updateTable('zone_changes')
    .set({ claimed_until: int(0) })
    .where('name', '=', p.name),
);

const take = statement((builder, p: { name: string; version: number }) =>
  builder
    .deleteFrom('zone_changes')
    .where('name', '=', p.name)
    .where('version', '=', p.version)
    .returning('name'),
);

/** A version that no other mark has. */
function mark(at: number): Mark {
  return { version: randomInt(2 ** 47), at };
}

/** Marks the zones of managed domains whose records have changed. */
export async function markDomains(session: Session, domainIds: readonly number[]): Promise<void> {
  session.note('zones');
  await markManaged(session, { ...mark(Date.now()), ids: JSON.stringify(domainIds) });
}

/**
 * Marks the zone of a domain that was made, or that may have a zone no more. Whatever its mode: a process that writes the
 * zone at this moment has locked its mark, so this waits for it; a look at its zone would not find what it writes.
 */
export async function markDomain(session: Session, name: string): Promise<void> {
  session.note('zones');
  await markNames(session, { ...mark(Date.now()), names: JSON.stringify([name]) });
}

/** Marks the zone of a domain that was just deleted. */
export async function markDeleted(session: Session, name: string): Promise<void> {
  await markDomain(session, name);
  await dropUnused(session, { name });
}

/** The reads of marks. */
export function zoneMarkReads(session: Session) {
  return {
    /** What waits for a name. */
    async change(name: string): Promise<ZoneChangeRow | null> {
      const row = await one(session, change, { name });
      return row && decode(row);
    },
    /** Names that wait, and since when the oldest does: for metrics. */
    async waiting(): Promise<{ readonly zones: number; readonly since: number | null }> {
      return (await one(session, waiting, {}))!;
    },
  };
}

/** The writes of marks. */
export function zoneMarkWrites(session: Session) {
  return {
    /** Marks zones to be made again. Writes of domains and records do so by themselves. */
    async mark(names: readonly string[], at: number): Promise<void> {
      if (names.length === 0) return;
      session.note('zones');
      await markNames(session, { ...mark(at), names: JSON.stringify(names) });
    },
    /** Marks zones that were made with other settings, and managed domains without a zone. */
    async markOthers(settings: string, at: number): Promise<void> {
      session.note('zones');
      await markOthers(session, { ...mark(at), settings });
    },
    /** Removes all history and gives every zone and catalog a new serial: for a store that was restored from a backup. */
    async renumberAll(at: number): Promise<void> {
      session.note('zones');
      await dropHistory(session, {});
      await renumberCatalogs(session, { seconds: Math.floor(at / 1_000), at });
      await markAllZones(session, mark(at));
    },
    /** Claims marked names, the longest waiting first, so that no other process claims them before `until`. */
    async claim(wanted: {
      readonly now: number;
      readonly until: number;
      readonly limit: number;
    }): Promise<readonly ZoneChangeRow[]> {
      const { now, until } = wanted;
      const beyond = now + Math.max(2 * (until - now), LONGEST_LEASE_MS);
      const rows = (await claim(session, { ...wanted, beyond })).map(decode);
      return [...rows].sort((a, b) => a.since - b.since);
    },
    /** Ends the claim on a name. */
    async release(name: string): Promise<void> {
      session.note('zones');
      await release(session, { name });
    },
    /** Removes the mark of a name; false, and nothing is removed, if the name was changed after `version`. */
    async take(name: string, version: number): Promise<boolean> {
      return (await take(session, { name, version })).length > 0;
    },
  };
}
