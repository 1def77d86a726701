/**
 * Traffic: what nodes reported (parts), and what a roll-up merges it into (blocks of ten minutes, hours, days). Times are
 * whole minutes since the epoch. The sums have columns; counts and top lists are octets that `traffic/` seals and opens. Rows
 * with values of some hundred octets and more have rowids: in the interior pages of an index they would leave room for few
 * entries.
 *
 * On PostgreSQL all but the days are partitioned by day, so that what is too old is dropped with its partition. Partitions of
 * days ahead are created while the server runs; rows of all other days are in the default partition. A trigger removes the
 * rows of a domain, since these tables refer to none.
 */
import { bytes, integer, json, namesOf, type RowOf, table, text, time } from './describe.ts';
import { domains } from './domains.ts';

/** The columns of sums, with the meanings of `engine/counts/counts.ts`. */
const sums = {
  requests: integer(),
  octets_in: integer(),
  octets_out: integer(),
  monitored: integer(),
  monitored_errors: integer(),
  gateway_requests: integer(),
} as const;

/** The names of the sums. */
export const TRAFFIC_SUMS = namesOf(sums);
/** Sums of one domain over some time. */
export type TrafficSums = Readonly<Record<keyof typeof sums, number>>;

/** What nodes reported and no roll-up has merged yet. */
export const trafficParts = table(
  'traffic_parts',
  12,
  {
    domain_id: integer().references(domains, 'cascade'),
    minute: integer(),
    node_id: integer(),
    batch: integer(),
    ...sums,
    /** Milliseconds since the epoch. */
    taken_at: time(),
    /** Sealed counts, not deflated. */
    counts: bytes(),
    /** Sealed top lists; `null`: none. */
    tops: bytes().nullable(),
  },
  { key: ['domain_id', 'minute', 'node_id', 'batch'], partitionedBy: 'minute', byTrigger: true },
);

/** Counts of one domain in one minute by one batch of one node. */
export interface TrafficPart extends RowOf<typeof trafficParts> {}

/** What identifies a part. */
export interface PartKey extends Pick<TrafficPart, 'domain_id' | 'minute' | 'node_id' | 'batch'> {}

/** The columns of a block but for its top lists. */
const block = {
  domain_id: integer().references(domains, 'cascade'),
  /** The first minute. */
  start: integer(),
  ...sums,
} as const;

/** Blocks of ten minutes. Top lists are not stored by minute. */
export const trafficMinutes = table(
  'traffic_minutes',
  12,
  {
    ...block,
    /**
     * Monitored requests by minute, so that no counts have to be opened for them: a JSON array of offset from `start`,
     * requests, errors, of each minute that has any; empty: none.
     */
    monitored_minutes: json(),
    /** As `control/traffic/blocks.ts` seals it; empty: there is nothing but the sums. */
    counts: bytes(),
  },
  {
    key: ['domain_id', 'start'],
    partitionedBy: 'start',
    byTrigger: true,
    indexes: { traffic_minutes_by_start: ['start'] },
  },
);

/** Minutes of one domain in one row. */
export interface MinutesBlock extends RowOf<typeof trafficMinutes> {}

/** The columns of a block with its top lists. */
const wholeBlock = {
  ...block,
  /** As `control/traffic/blocks.ts` seals it; empty: there is nothing but the sums. */
  counts: bytes(),
  /** Sealed top lists; `null`: none. */
  tops: bytes().nullable(),
} as const;

/** Blocks of hours. */
export const trafficHours = table('traffic_hours', 12, wholeBlock, {
  key: ['domain_id', 'start'],
  partitionedBy: 'start',
  byTrigger: true,
  indexes: { traffic_hours_by_start: ['start'] },
});

/** Blocks of days. */
export const trafficDays = table('traffic_days', 12, wholeBlock, {
  key: ['domain_id', 'start'],
  byTrigger: true,
  indexes: { traffic_days_by_start: ['start'] },
});

/** Merged counts of one domain in one span of time. */
export interface TrafficBlock extends RowOf<typeof trafficHours> {}

/** Requests of consumers through gateways by day, so that the use of a quota's period is a sum of few rows. */
export const consumerDays = table(
  'consumer_days',
  27,
  {
    domain_id: integer().references(domains, 'cascade'),
    /** The username; empty: requests without a consumer. */
    consumer: text(),
    /** The first minute of the day, UTC. */
    day: integer(),
    /** With the meanings of `engine/counts/gateway-counts.ts`. */
    requests: integer(),
    admitted: integer(),
  },
  {
    key: ['domain_id', 'consumer', 'day'],
    withoutRowid: true,
    indexes: { consumer_days_by_day: ['day'] },
  },
);

/** Requests of one consumer on one day. */
export interface ConsumerDay extends RowOf<typeof consumerDays> {}

/** Of each slice of the domains: who rolls it up, and up to which day the blocks of days exist. */
export const trafficSlices = table('traffic_slices', 12, {
  slice: integer().key(),
  owner: text(),
  until: time(),
  days_through: integer(),
});

/** Sums by minute, which blocks have replaced. */
export const usage = table(
  'usage',
  2,
  {
    domain_id: integer().references(domains, 'cascade'),
    minute: integer(),
    requests: integer(),
    octets: integer(),
    gateway_requests: integer(),
  },
  { key: ['domain_id', 'minute'], withoutRowid: true, until: 12 },
);

/** How often rules matched, by minute, which blocks have replaced. */
export const ruleHits = table(
  'rule_hits',
  4,
  {
    domain_id: integer().references(domains, 'cascade'),
    minute: integer(),
    type: text(),
    rule_id: integer(),
    hits: integer(),
  },
  { key: ['domain_id', 'minute', 'type', 'rule_id'], withoutRowid: true, until: 12 },
);

/** The span of a block: some minutes, an hour, a day. */
export const BLOCK_UNITS = ['minutes', 'hours', 'days'] as const;

/** One of BLOCK_UNITS. */
export type BlockUnit = (typeof BLOCK_UNITS)[number];
