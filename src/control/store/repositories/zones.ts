/** Versions of zones, the steps between them, the catalog, and targets of ALIAS records. */
import { sql } from 'kysely';
import { freeStatement, int, one, raw, type Session, statement, textsIn } from '../database/statement.ts';
import type {
  FlattenedTargetRow,
  ZoneCatalogRow,
  ZoneChallengeRow,
  ZoneHeadRow,
  ZoneRow,
  ZoneStepRow,
} from '../tables/zones.ts';
import { markDomain, zoneMarkReads, zoneMarkWrites } from './zone-marks.ts';

export interface StepBounds {
  readonly steps: number;
  /** Octets of what the steps remove and add. */
  readonly octets: number;
}

const HEAD = [
  'name',
  'domain_id',
  'serial',
  'primary_name',
  'records',
  'settings',
  'problems_json',
  'updated_at',
] as const;

const get = statement((builder, p: { name: string }) =>
  builder.selectFrom('zones').selectAll().where('name', '=', p.name),
);

const head = statement((builder, p: { name: string }) =>
  builder.selectFrom('zones').select(HEAD).where('name', '=', p.name),
);

const steps = statement((builder, p: { name: string; from_serial: number }) =>
  builder
    .selectFrom('zone_steps')
    .select(['from_serial', 'to_serial', 'removed', 'added'])
    .where('name', '=', p.name)
    .where('id', '>=', (row) =>
      row
        .selectFrom('zone_steps as first')
        .select(({ fn }) => fn.max('first.id').as('id'))
        .where('first.name', '=', p.name)
        .where('first.from_serial', '=', p.from_serial),
    )
    .orderBy('id'),
);

const members = statement((builder, _: object) =>
  builder.selectFrom('zones').select(['name', 'domain_id']).orderBy('name'),
);

const changedSince = statement((builder, p: { at: number; limit: number }) =>
  builder
    .selectFrom('zones')
    .select(HEAD)
    .where('updated_at', '>', p.at)
    .orderBy('updated_at', 'desc')
    .orderBy('name')
    .limit(p.limit),
);

const count = statement((builder, _: object) =>
  builder.selectFrom('zones').select(({ fn }) => fn.countAll<number>().as('zones')),
);

const catalog = statement((builder, p: { name: string }, { locking }) =>
  builder
    .selectFrom('zone_catalogs')
    .selectAll()
    .where('name', '=', p.name)
    .$if(locking, (query) => query.forUpdate()),
);

const put = freeStatement((builder, p: ZoneRow) =>
  builder
    .insertInto('zones')
    .values({ ...p })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((row) => ({
        domain_id: row.ref('excluded.domain_id'),
        serial: row.ref('excluded.serial'),
        primary_name: row.ref('excluded.primary_name'),
        content: row.ref('excluded.content'),
        records: row.ref('excluded.records'),
        settings: row.ref('excluded.settings'),
        problems_json: row.ref('excluded.problems_json'),
        updated_at: row.ref('excluded.updated_at'),
      })),
    ),
);

const touch = statement((builder, p: Pick<ZoneRow, 'name' | 'domain_id' | 'settings' | 'problems_json'>) =>
  builder
    .updateTable('zones')
    .set({ domain_id: p.domain_id, settings: p.settings, problems_json: p.problems_json })
    .where('name', '=', p.name),
);

const remove = statement((builder, p: { name: string }) =>
  builder.deleteFrom('zones').where('name', '=', p.name),
);

const dropSteps = statement((builder, p: { name: string }) =>
  builder.deleteFrom('zone_steps').where('name', '=', p.name),
);

const addStep = statement((builder, p: ZoneStepRow & { name: string; octets: number }) =>
  builder.insertInto('zone_steps').values({
    name: p.name,
    from_serial: p.from_serial,
    to_serial: p.to_serial,
    octets: p.octets,
    removed: p.removed,
    added: p.added,
  }),
);

const stepSizes = statement((builder, p: { name: string }) =>
  builder.selectFrom('zone_steps').select(['id', 'octets']).where('name', '=', p.name).orderBy('id', 'desc'),
);

const dropOldSteps = statement((builder, p: { name: string; through: number }) =>
  builder.deleteFrom('zone_steps').where('name', '=', p.name).where('id', '<=', p.through),
);

const putCatalog = statement((builder, p: ZoneCatalogRow) =>
  builder
    .insertInto('zone_catalogs')
    .values({
      name: p.name,
      serial: p.serial,
      removed_serial: p.removed_serial,
      updated_at: p.updated_at,
    })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((row) => ({
        serial: row.ref('excluded.serial'),
        removed_serial: row.ref('excluded.removed_serial'),
        updated_at: row.ref('excluded.updated_at'),
      })),
    ),
);

const challenges = statement((builder, p: { name: string }) =>
  builder
    .selectFrom('zone_challenges')
    .select(['owner', 'value', 'created_at'])
    .where('name', '=', p.name)
    .orderBy('owner')
    .orderBy('value'),
);

const addChallenge = statement((builder, p: ZoneChallengeRow & { name: string }) =>
  builder
    .insertInto('zone_challenges')
    .values({ name: p.name, owner: p.owner, value: p.value, created_at: p.created_at })
    .onConflict((conflict) => conflict.columns(['name', 'owner', 'value']).doNothing()),
);

const removeChallenge = statement((builder, p: { name: string; owner: string; value: string }) =>
  builder
    .deleteFrom('zone_challenges')
    .where('name', '=', p.name)
    .where('owner', '=', p.owner)
    .where('value', '=', p.value),
);

const removeOldChallenges = statement((builder, p: { before: number }) =>
  builder.deleteFrom('zone_challenges').where('created_at', '<', p.before).returning('name'),
);

const flattened = statement((builder, p: { targets: string }, flavour) =>
  builder.selectFrom('flattened_targets').selectAll().where('target', 'in', textsIn(p.targets, flavour)),
);

const usersOf = statement((builder, p: { target: string }) =>
  builder.selectFrom('flattened_uses').select('name').where('target', '=', p.target).orderBy('name'),
);

const dropUses = statement((builder, p: { name: string; targets: string }, flavour) =>
  builder
    .deleteFrom('flattened_uses')
    .where('name', '=', p.name)
    .where('target', 'not in', textsIn(p.targets, flavour))
    .returning('target'),
);

const addUse = statement((builder, p: { name: string; target: string }) =>
  builder
    .insertInto('flattened_uses')
    .values({ name: p.name, target: p.target })
    .onConflict((conflict) => conflict.columns(['name', 'target']).doNothing()),
);

const addTarget = statement((builder, p: { target: string }) =>
  builder
    .insertInto('flattened_targets')
    .values({ target: p.target, addresses_json: '[]', good_at: null, failures: int(0), next_at: int(0) })
    .onConflict((conflict) => conflict.column('target').doNothing()),
);

const dropTargets = statement((builder, p: { targets: string }, flavour) =>
  builder
    .deleteFrom('flattened_targets')
    .where('target', 'in', textsIn(p.targets, flavour))
    .where('target', 'not in', (row) => row.selectFrom('flattened_uses').select('target')),
);

/** The second check of `next_at` is for PostgreSQL, where another process may have claimed the row meanwhile. */
const claimTargets = statement((builder, p: { now: number; until: number; limit: number; failing: number }) =>
  builder
    .updateTable('flattened_targets')
    .set({ next_at: p.until })
    .where('target', 'in', (row) =>
      row
        .selectFrom('flattened_targets as due')
        .select('due.target')
        .where('due.next_at', '<=', p.now)
        .where(sql<number>`case when due.failures > 0 then 1 else 0 end`, '=', int(p.failing))
        .orderBy('due.next_at')
        .limit(p.limit),
    )
    .where('next_at', '<=', p.now)
    .returningAll(),
);

const putTarget = statement((builder, p: FlattenedTargetRow) =>
  raw(
    sql`update flattened_targets set addresses_json = ${p.addresses_json}, good_at = ${p.good_at},
      failures = ${p.failures}, next_at = ${p.next_at} where target = ${p.target}`,
    builder,
  ),
);

/** Removes the oldest steps beyond the bounds. */
async function pruneSteps(session: Session, name: string, bounds: StepBounds): Promise<void> {
  let octets = 0;
  const sizes = await stepSizes(session, { name });
  const excess = sizes.findIndex((step, at) => {
    octets += step.octets;
    return at >= bounds.steps || octets > bounds.octets;
  });
  if (excess >= 0) await dropOldSteps(session, { name, through: sizes[excess]!.id });
}

/** Adds a step to the history of a zone, or ends it. */
async function addToHistory(
  session: Session,
  name: string,
  { step, bounds }: { readonly step: ZoneStepRow | null; readonly bounds: StepBounds },
): Promise<void> {
  if (step === null) {
    await dropSteps(session, { name });
    return;
  }
  await addStep(session, { ...step, name, octets: step.removed.length + step.added.length });
  await pruneSteps(session, name, bounds);
}

/** Reads of zones. */
export function zoneReads(session: Session) {
  return {
    ...zoneMarkReads(session),
    get: (name: string): Promise<ZoneRow | null> => one(session, get, { name }),
    head: (name: string): Promise<ZoneHeadRow | null> => one(session, head, { name }),
    /** Steps from the version `fromSerial` on, in order; empty: the history has no step from it. */
    steps: (name: string, fromSerial: number): Promise<readonly ZoneStepRow[]> =>
      steps(session, { name, from_serial: fromSerial }),
    /** All zones by name, for the catalog. */
    members: (): Promise<readonly Pick<ZoneRow, 'name' | 'domain_id'>[]> => members(session, {}),
    /** Zones whose version is newer than a time, newest first, at most `limit`. */
    changedSince: (at: number, limit: number): Promise<readonly ZoneHeadRow[]> =>
      changedSince(session, { at, limit }),
    async count(): Promise<number> {
      return (await one(session, count, {}))!.zones;
    },
    /** In a write it is locked until the commit. */
    catalog: (name: string): Promise<ZoneCatalogRow | null> => one(session, catalog, { name }),
    /** The challenges in the zone of a name, by owner and value. */
    challenges: (name: string): Promise<readonly ZoneChallengeRow[]> => challenges(session, { name }),
    async flattened(targets: readonly string[]): Promise<readonly FlattenedTargetRow[]> {
      return targets.length === 0 ? [] : flattened(session, { targets: JSON.stringify(targets) });
    },
    /** Names of zones that contain the addresses of a target. */
    async usersOf(target: string): Promise<readonly string[]> {
      return (await usersOf(session, { target })).map(({ name }) => name);
    },
  };
}

/** Changes of zones. They lock no domain. */
export function zoneWrites(session: Session) {
  return {
    ...zoneMarkWrites(session),
    /**
     * Stores a version and the step to it; without a step, the history of the zone ends. Steps beyond `bounds` are removed,
     * the oldest first.
     */
    async put(zone: ZoneRow, step: ZoneStepRow | null, bounds: StepBounds): Promise<void> {
      await put(session, zone);
      await addToHistory(session, zone.name, { step, bounds });
    },
    /** Stores settings and problems of a zone whose version stays. */
    async touch(zone: Pick<ZoneRow, 'name' | 'domain_id' | 'settings' | 'problems_json'>): Promise<void> {
      await touch(session, zone);
    },
    /** Removes a zone with its history. */
    async remove(name: string): Promise<void> {
      await remove(session, { name });
      await dropSteps(session, { name });
    },
    async putCatalog(row: ZoneCatalogRow, step: ZoneStepRow | null, bounds: StepBounds): Promise<void> {
      await putCatalog(session, row);
      await addToHistory(session, row.name, { step, bounds });
    },
    /** Adds a challenge to the zone of a name and marks the zone. */
    async addChallenge(name: string, challenge: ZoneChallengeRow): Promise<void> {
      await addChallenge(session, { name, ...challenge });
      await markDomain(session, name);
    },
    /** Removes a challenge from the zone of a name and marks the zone. */
    async removeChallenge(
      name: string,
      { owner, value }: Pick<ZoneChallengeRow, 'owner' | 'value'>,
    ): Promise<void> {
      await removeChallenge(session, { name, owner, value });
      await markDomain(session, name);
    },
    /** Removes challenges that were made before a time, which an ended process has left, and marks their zones. */
    async removeOldChallenges(before: number): Promise<void> {
      const names = new Set((await removeOldChallenges(session, { before })).map(({ name }) => name));
      for (const name of names) await markDomain(session, name);
    },
    /** Sets the targets whose addresses a zone contains; targets that no zone uses any more are removed. */
    async setTargets(name: string, targets: readonly string[]): Promise<void> {
      const dropped = await dropUses(session, { name, targets: JSON.stringify(targets) });
      for (const target of [...targets].sort()) {
        await addUse(session, { name, target });
        await addTarget(session, { target });
      }
      if (dropped.length > 0)
        await dropTargets(session, { targets: JSON.stringify(dropped.map(({ target }) => target)) });
    },
    /** Answers targets to look up now, those whose last lookup failed or the others; no other process gets them before `until`. */
    claimTargets: ({
      failing,
      ...claim
    }: {
      readonly now: number;
      readonly until: number;
      readonly limit: number;
      readonly failing: boolean;
    }): Promise<readonly FlattenedTargetRow[]> =>
      claimTargets(session, { ...claim, failing: Number(failing) }),
    /** Stores what is known of a target, if a zone uses it. */
    async putTarget(row: FlattenedTargetRow): Promise<void> {
      await putTarget(session, row);
    },
  };
}
