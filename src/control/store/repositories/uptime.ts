/** States of uptime, the progress of judging, and incidents. */
import { sql } from 'kysely';
import {
  flags,
  idsIn,
  int,
  listed,
  listedRows,
  one,
  type PageBack,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import type { IncidentRow, UptimeStateRow, WatchedDomain } from '../tables/uptime.ts';

const decodeState = flags<UptimeStateRow>('active');
const decodeWatched = flags<WatchedDomain>('outage_alerts');

const through = statement((builder, _: object) =>
  builder.selectFrom('uptime_progress').select('through').where('id', '=', int(1)),
);

/** Writes the row as it is, which locks it on both databases. */
const lock = statement((builder, p: { first: number }) =>
  builder
    .insertInto('uptime_progress')
    .values({ id: 1, through: p.first })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({ through: row.ref('uptime_progress.through') })),
    )
    .returning('through'),
);

const advance = statement((builder, p: { through: number }) =>
  builder.updateTable('uptime_progress').set({ through: p.through }),
);

const state = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('uptime_states').selectAll().where('domain_id', '=', p.domain_id),
);

const due = statement((builder, p: { through: number }) =>
  builder
    .selectFrom('dns_records')
    .select('domain_id')
    .where('monitor', '=', 1)
    .where('proxied', '=', 1)
    .union(
      builder
        .selectFrom('uptime_states')
        .select('domain_id')
        .where('active', '=', 1)
        .where('through', '<', p.through),
    )
    .orderBy('domain_id'),
);

const watched = statement((builder, p: { ids: string }, flavour) =>
  builder
    .selectFrom('domains')
    .leftJoin('uptime_states', 'uptime_states.domain_id', 'domains.id')
    .select([
      'domains.id',
      'domains.name',
      'domains.user_id',
      'domains.outage_alerts',
      'domains.uptime_threshold_pct',
      'domains.uptime_window_min',
      'domains.uptime_min_requests',
      'domains.uptime_min_active_min',
      'domains.uptime_recover_min',
      'uptime_states.state_json',
    ])
    .where('domains.id', 'in', idsIn(p.ids, flavour))
    .orderBy('domains.id'),
);

const STATE = { domain_id: 'bigint', through: 'bigint', active: 'bigint', state_json: 'text' } as const;

/** Selects the domain, so that the state of one that was deleted is skipped instead of failing the others. */
const putStates = statement((builder, p: { states: string }, flavour) =>
  raw(
    sql`insert into uptime_states (domain_id, through, active, state_json)
      select domains.id, given.through, given.active, given.state_json
      from (${listed(p.states, STATE, flavour)}) as given join domains on domains.id = given.domain_id where true
      on conflict (domain_id) do update set
        through = excluded.through, active = excluded.active, state_json = excluded.state_json`,
    builder,
  ),
);

const incidents = statement((builder, p: { domain_id: number; below: number; limit: number }) =>
  builder
    .selectFrom('incidents')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('id', '<', p.below)
    .orderBy('id', 'desc')
    .limit(p.limit),
);

const open = statement((builder, p: Omit<IncidentRow, 'id' | 'resolved_at' | 'resolution'>) =>
  builder
    .insertInto('incidents')
    .values({
      domain_id: p.domain_id,
      began_at: p.began_at,
      opened_at: p.opened_at,
      resolved_at: null,
      resolution: null,
      requests: p.requests,
      errors: p.errors,
    })
    .returningAll(),
);

const resolve = statement(
  (builder, p: Pick<IncidentRow, 'domain_id' | 'resolved_at' | 'resolution' | 'requests' | 'errors'>) =>
    builder
      .updateTable('incidents')
      .set({
        resolved_at: p.resolved_at,
        resolution: p.resolution,
        requests: p.requests,
        errors: p.errors,
      })
      .where('domain_id', '=', p.domain_id)
      .where('resolved_at', 'is', null)
      .returningAll(),
);

const prune = statement((builder, p: { before: number }) =>
  builder.deleteFrom('incidents').where('resolved_at', '<', p.before),
);

/** Reads of uptime. */
export function uptimeReads(session: Session) {
  return {
    /** The last minute that was judged for all domains, minutes since the epoch; `null`: none yet. */
    async through(): Promise<number | null> {
      return (await one(session, through, {}))?.through ?? null;
    },
    async state(domainId: number): Promise<UptimeStateRow | null> {
      const row = await one(session, state, { domain_id: domainId });
      return row === null ? null : decodeState(row);
    },
    /** Domains to judge through a minute: with monitored records, or with a state that can change without traffic; by id. */
    async due(minute: number): Promise<readonly number[]> {
      return (await due(session, { through: minute })).map(({ domain_id }) => domain_id);
    },
    /** Incidents of a domain, newest first. */
    incidents: (domainId: number, { before, limit }: PageBack): Promise<readonly IncidentRow[]> =>
      incidents(session, { domain_id: domainId, below: before ?? Number.MAX_SAFE_INTEGER, limit }),
  };
}

/** Changes of uptime. They lock no domain; `lock` serialises them. */
export function uptimeWrites(session: Session) {
  return {
    /**
     * Locks the progress until the commit and answers the last judged minute, so that two processes do not judge a minute
     * twice. The first call of a store answers `first`.
     */
    async lock(first: number): Promise<number> {
      return (await one(session, lock, { first }))!.through;
    },
    /** Sets the last judged minute; after `lock`. */
    async advance(minute: number): Promise<void> {
      await advance(session, { through: minute });
    },
    /** The settings and states of domains, by id; domains that are gone are left out. */
    async watched(domainIds: readonly number[]): Promise<readonly WatchedDomain[]> {
      const rows = await watched(session, { ids: JSON.stringify(domainIds) });
      return rows.map(decodeWatched);
    },
    async putStates(states: readonly UptimeStateRow[]): Promise<void> {
      if (states.length > 0) await putStates(session, { states: listedRows(states, STATE) });
    },
    async open(incident: Omit<IncidentRow, 'id' | 'resolved_at' | 'resolution'>): Promise<IncidentRow> {
      return (await one(session, open, incident))!;
    },
    /** Resolves the open incident of a domain; `null`: none is open. */
    resolve: (
      incident: Pick<IncidentRow, 'domain_id' | 'resolved_at' | 'resolution' | 'requests' | 'errors'>,
    ): Promise<IncidentRow | null> => one(session, resolve, incident),
    /** Removes incidents that resolved before a time. */
    async prune(before: number): Promise<void> {
      await prune(session, { before });
    },
  };
}
