/** Uptime: what was judged of each domain, how far, and incidents. Nothing of it names a plan. */
import { flag, integer, json, type RowOf, shortId, table, text, time } from './describe.ts';
import { type DomainRow, domains } from './domains.ts';

/** What domains were judged by. */
export const uptimeStates = table(
  'uptime_states',
  15,
  {
    domain_id: integer().key().references(domains, 'cascade'),
    /** The last judged minute, whole minutes since the epoch. */
    through: integer(),
    /** The state can change without further traffic. */
    active: flag(),
    /** As `control/traffic/uptime/state.ts` writes it. */
    state_json: json(),
  },
  { indexes: { uptime_states_active: { on: ['domain_id'], where: 'active = 1' } } },
);

/** What the uptime of a domain was judged by so far. */
export interface UptimeStateRow extends RowOf<typeof uptimeStates> {}

/** A domain as uptime judges it; `state_json` as in `UptimeStateRow`, `null`: it was never judged. */
export interface WatchedDomain
  extends Pick<
    DomainRow,
    | 'id'
    | 'name'
    | 'user_id'
    | 'outage_alerts'
    | 'uptime_threshold_pct'
    | 'uptime_window_min'
    | 'uptime_min_requests'
    | 'uptime_min_active_min'
    | 'uptime_recover_min'
  > {
  readonly state_json: string | null;
}

/** One row: the last judged minute. A process that judges locks it until the commit. */
export const uptimeProgress = table('uptime_progress', 15, { id: integer().key(), through: integer() });

/** Why an incident resolved. `recovered`: the origin answers again. `no_traffic`: 24 hours passed without a request. */
export const RESOLUTIONS = ['recovered', 'no_traffic'] as const;
/** One of RESOLUTIONS. */
export type Resolution = (typeof RESOLUTIONS)[number];

/** Outages of the origins of domains. */
export const incidents = table(
  'incidents',
  15,
  {
    id: shortId('unchecked'),
    domain_id: integer().references(domains, 'cascade'),
    /** The start of the first minute that was down. */
    began_at: time(),
    /** The end of the minute with which the settings of the domain made it an incident. */
    opened_at: time(),
    /** The end of the minute with which it resolved; `null`: it is open. */
    resolved_at: time().nullable(),
    resolution: text<Resolution>().nullable(),
    /** Monitored requests from `began_at` on: to `opened_at` of an open one, else to `resolved_at`. */
    requests: integer(),
    /** Those of them that failed. */
    errors: integer(),
  },
  {
    indexes: {
      incidents_by_domain: ['domain_id', 'id'],
      'incidents.domain_id': { on: ['domain_id'], unique: true, where: 'resolved_at IS NULL' },
    },
  },
);

/** An outage of a domain's origins. */
export interface IncidentRow extends RowOf<typeof incidents> {}
