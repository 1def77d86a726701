/** The repository of uptime: the states of domains, how far minutes are judged, and incidents. */
import type { PageBack } from './customer-repositories.ts';
import type { IncidentRow, UptimeStateRow, WatchedDomain } from './rows.ts';

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
