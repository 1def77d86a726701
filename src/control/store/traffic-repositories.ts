/**
 * The repositories of traffic: what nodes have reported (parts) and what a roll-up merged it into (blocks). The store sees the
 * sums, for which it has columns; counts and top lists are octets that `traffic/` seals and opens. Times are whole minutes
 * since the epoch; a span has the minutes `from` ≤ minute < `to`. Conventions as in `customer-repositories.ts`.
 */

import type { PageBack } from './customer-repositories.ts';
import type { MinutesBlock, PartKey, TrafficBlock, TrafficPart, TrafficSums } from './tables/traffic.ts';
import type { IncidentRow, UptimeStateRow, WatchedDomain } from './tables/uptime.ts';

/** Minutes since the epoch, `from` ≤ minute < `to`. */
export interface MinuteSpan {
  readonly from: number;
  readonly to: number;
}

/** The span of a block: some minutes, an hour, a day. */
export const BLOCK_UNITS = ['minutes', 'hours', 'days'] as const;
/** One of BLOCK_UNITS. */
export type BlockUnit = (typeof BLOCK_UNITS)[number];

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

/** Reads of traffic. */
export interface TrafficReads {
  /** Domains by name, each name once: the one that nodes serve. Names without a domain have none. */
  domainsOf(names: readonly string[]): Promise<readonly ReportedDomain[]>;
  /** Sums of the parts of a domain. */
  partSums(domainId: number, span: MinuteSpan): Promise<TrafficSums>;
  /** Parts of a domain without their top lists, by minute. */
  parts(domainId: number, span: MinuteSpan): Promise<readonly Omit<TrafficPart, 'tops'>[]>;
  /** Top lists of the parts of a domain. */
  partTops(domainId: number, span: MinuteSpan): Promise<readonly Uint8Array[]>;
  /** Parts by domain, minute, node and batch. */
  due(due: DueParts): Promise<readonly TrafficPart[]>;
  /** Sums of the blocks of a domain that start in the span, by start. */
  blockSums(unit: BlockUnit, domainId: number, span: MinuteSpan): Promise<readonly BlockSums[]>;
  /** Blocks of some domains that start in the span, by domain and start; without their top lists. */
  blocks(
    unit: 'hours' | 'days',
    domainIds: readonly number[],
    span: MinuteSpan,
  ): Promise<readonly Omit<TrafficBlock, 'tops'>[]>;
  /** Blocks of minutes that start in the span, by domain and start. */
  minutes(domainIds: readonly number[], span: MinuteSpan): Promise<readonly MinutesBlock[]>;
  /** Blocks with top lists, by domain and start. */
  wholeBlocks(
    unit: 'hours' | 'days',
    domainIds: readonly number[],
    span: MinuteSpan,
  ): Promise<readonly TrafficBlock[]>;
  /** Top lists of the blocks of a domain that start in the span; `null`: the block has none. */
  tops(
    unit: 'hours' | 'days',
    domainId: number,
    span: MinuteSpan,
  ): Promise<readonly Pick<TrafficBlock, 'start' | 'tops'>[]>;
  /** Ids above `after` of domains of a slice that have blocks of hours that start in the span, in their order. */
  domainsWithHours(
    span: MinuteSpan,
    of: Pick<DueParts, 'slice' | 'slices' | 'limit'> & { readonly after: number },
  ): Promise<readonly number[]>;
  /** Parts with monitored requests: sums by domain and minute. */
  monitoredParts(domainIds: readonly number[], span: MinuteSpan): Promise<readonly MonitoredMinute[]>;
  /** Of blocks that start in the span and have monitored requests. */
  monitoredBlocks(
    domainIds: readonly number[],
    span: MinuteSpan,
  ): Promise<readonly Pick<MinutesBlock, 'domain_id' | 'start' | 'monitored_minutes'>[]>;
  /** Parts that wait, and when the oldest was taken, milliseconds since the epoch: for metrics. */
  backlog(): Promise<{ readonly parts: number; readonly since: number | null }>;
}

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

/** Changes of traffic. None locks a domain; rows of domains that are gone are left out. */
export interface TrafficWrites {
  /** `conflict` if one is there already. */
  add(parts: readonly TrafficPart[]): Promise<void>;
  /**
   * Leases a slice, if its lease has ended, is void (it ends later than two leases from now: its clock was ahead), or is of
   * the same owner. Returns the first minute of the last day whose blocks exist, at first `daysThrough`; `null`: another
   * process has it.
   */
  lease(lease: SliceLease & { readonly daysThrough: number }): Promise<number | null>;
  /** Prolongs a lease, and locks it until the commit. False: another process has it, so nothing may be written for it. */
  renewLease(lease: Omit<SliceLease, 'now'>): Promise<boolean>;
  /** Ends a lease. */
  endLease(lease: Pick<SliceLease, 'slice' | 'owner'>): Promise<void>;
  /** Ends every lease: for the only process of a store, whose earlier leases are of a process that ended. */
  endLeases(): Promise<void>;
  /** Raises what `lease` returns. */
  setDaysThrough(slice: number, daysThrough: number): Promise<void>;
  /** Removes parts; returns how many there were. */
  removeParts(keys: readonly PartKey[]): Promise<number>;
  replace(blocks: NewBlocks): Promise<void>;
  /** Removes blocks that start before a minute, at most `limit` of those in no partition of their day; returns how many. */
  expire(unit: BlockUnit, before: number, limit: number): Promise<number>;
  /**
   * Creates the partitions of these days (first minutes) where the database has partitions, and none of their rows
   * is in the default one.
   */
  createPartitions(days: readonly number[]): Promise<void>;
  /** Drops partitions of whole days before a minute; those of parts only if they are empty. Returns how many. */
  dropPartitions(before: Readonly<Record<'parts' | 'minutes' | 'hours', number>>): Promise<number>;
}

// The repository of uptime: the states of domains, how far minutes are judged, and incidents.

/** Reads of uptime. */
export interface UptimeReads {
  /** The last minute that was judged for all domains, minutes since the epoch; `null`: none yet. */
  through(): Promise<number | null>;
  state(domainId: number): Promise<UptimeStateRow | null>;
  /** Domains to judge through a minute: with monitored records, or with a state that can change without traffic; by id. */
  due(through: number): Promise<readonly number[]>;
  /** Incidents of a domain, newest first. */
  incidents(domainId: number, page: PageBack): Promise<readonly IncidentRow[]>;
}

/** Changes of uptime. They lock no domain; `lock` serialises them. */
export interface UptimeWrites {
  /**
   * Locks the progress until the commit and answers the last judged minute, so that two processes do not judge a minute
   * twice. The first call of a store answers `first`.
   */
  lock(first: number): Promise<number>;
  /** Sets the last judged minute; after `lock`. */
  advance(through: number): Promise<void>;
  /** The settings and states of domains, by id; domains that are gone are left out. */
  watched(domainIds: readonly number[]): Promise<readonly WatchedDomain[]>;
  putStates(states: readonly UptimeStateRow[]): Promise<void>;
  open(incident: Omit<IncidentRow, 'id' | 'resolved_at' | 'resolution'>): Promise<IncidentRow>;
  /** Resolves the open incident of a domain; `null`: none is open. */
  resolve(
    incident: Pick<IncidentRow, 'domain_id' | 'resolved_at' | 'resolution' | 'requests' | 'errors'>,
  ): Promise<IncidentRow | null>;
  /** Removes incidents that resolved before a time. */
  prune(before: number): Promise<void>;
}
