/**
 * Judges the uptime of all domains through the last minute that has settled. In: the monitored requests that nodes have
 * reported, by domain and minute. Out: states, incidents, and a notification of each change, in the same transactions. A
 * process that stops in between continues where it stopped; of several processes on one database, each minute of a domain is
 * judged by one.
 */
import { pause } from '../../../base/platform/tasks.ts';
import { timeText } from '../../../base/text/time.ts';
import { notify } from '../../notices/notify.ts';
import type { Store, WriteTransaction } from '../../store/store.ts';
import type { IncidentRow, UptimeStateRow, WatchedDomain } from '../../store/tables/uptime.ts';
import {
  DOMAINS_AT_ONCE,
  INCIDENTS_STORED_MS,
  MINUTES_A_PASS,
  PASS_MS,
  SETTLING_MINUTES,
} from '../limits.ts';
import {
  createUptimeState,
  type IncidentEvent,
  judgeMinutes,
  readState,
  type UptimeMinute,
  type UptimeState,
  writeState,
} from './state.ts';

const MINUTE_MS = 60_000;

/** Reads the populated minutes of domains with `after` < minute ≤ `through`, by domain. */
export type ReadMinutes = (
  domainIds: readonly number[],
  span: { readonly after: number; readonly through: number },
) => Promise<ReadonlyMap<number, readonly UptimeMinute[]>>;

/** An incident that opened or resolved. */
export interface IncidentChange {
  readonly kind: IncidentEvent['kind'];
  readonly domain: WatchedDomain;
  readonly incident: IncidentRow;
}

export interface UptimeJudgeOptions {
  readonly store: Store;
  readonly minutes: ReadMinutes;
  /** Called for each change in the transaction that stores it. */
  readonly changed: (tx: WriteTransaction, change: IncidentChange) => Promise<void>;
}

/** The last minute that is judged at `now`: reports of later ones may be on their way. */
export function settledMinute(now: number): number {
  return Math.floor(now / MINUTE_MS) - 1 - SETTLING_MINUTES;
}

/**
 * Judges at most `MINUTES_A_PASS` minutes. Returns whether minutes are left to judge. Throws StoreFault.
 * @param now milliseconds since the epoch
 */
export async function judgeDue(options: UptimeJudgeOptions, now: number): Promise<boolean> {
  const { store, minutes } = options;
  const settled = settledMinute(now);
  const after = (await store.latest.uptime.through()) ?? settled - 1;
  if (after >= settled) return false;
  const through = Math.min(settled, after + MINUTES_A_PASS);
  const due = await store.latest.uptime.due(through);
  for (let from = 0; from < due.length; from += DOMAINS_AT_ONCE) {
    const ids = due.slice(from, from + DOMAINS_AT_ONCE);
    const pass = { after, through, ids, populated: await minutes(ids, { after, through }) };
    if (!(await store.write((tx) => judgeSome(tx, pass, options)))) return true;
  }
  await store.write(async (tx) => {
    if ((await tx.uptime.lock(after)) === after) await tx.uptime.advance(through);
  });
  return through < settled;
}

interface Pass {
  readonly after: number;
  readonly through: number;
  readonly populated: ReadonlyMap<number, readonly UptimeMinute[]>;
  readonly ids: readonly number[];
}

/** @returns false: another process has judged these minutes meanwhile */
async function judgeSome(
  tx: WriteTransaction,
  { after, through, populated, ids }: Pass,
  { changed }: UptimeJudgeOptions,
): Promise<boolean> {
  if ((await tx.uptime.lock(after)) !== after) return false;
  const states: UptimeStateRow[] = [];
  for (const domain of await tx.uptime.watched(ids)) {
    const before = domain.state_json === null ? createUptimeState(after) : readState(domain.state_json);
    // Judged by a pass of these minutes that did not end.
    if (before.through >= through) continue;
    const minutes = populated.get(domain.id) ?? [];
    const { state, events } = judgeMinutes(before, { minutes, through }, domain);
    states.push(stateRow(domain.id, state));
    for (const event of events) {
      const incident = await storeEvent(tx, domain.id, event);
      if (incident !== null) await changed(tx, { kind: event.kind, domain, incident });
    }
  }
  await tx.uptime.putStates(states);
  return true;
}

function stateRow(domainId: number, state: UptimeState): UptimeStateRow {
  return {
    domain_id: domainId,
    through: state.through,
    active: state.recent.length > 0 || state.incident !== null,
    state_json: writeState(state),
  };
}

/** Stores an incident that opened, or the end of the open one. */
async function storeEvent(
  tx: WriteTransaction,
  domainId: number,
  event: IncidentEvent,
): Promise<IncidentRow | null> {
  const { from, opened, requests, errors } = event.incident;
  if (event.kind === 'opened') {
    return tx.uptime.open({
      domain_id: domainId,
      began_at: from * MINUTE_MS,
      opened_at: endOf(opened),
      requests,
      errors,
    });
  }
  return tx.uptime.resolve({
    domain_id: domainId,
    resolved_at: endOf(event.minute),
    resolution: event.resolution,
    requests,
    errors,
  });
}

/** The end of a minute, milliseconds since the epoch. */
function endOf(minute: number): number {
  return (minute + 1) * MINUTE_MS;
}

// Judges uptime regularly; the API server starts and stops it.

export interface UptimeWatchOptions extends UptimeJudgeOptions {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called with the error of a pass; the next pass judges the same minutes. */
  readonly failed: (error: unknown) => void;
  /** Milliseconds between passes. Default: `PASS_MS`. */
  readonly everyMs?: number;
}

/** A running watch. */
export interface UptimeWatch {
  /** Ends after the pass that runs. */
  stop(): Promise<void>;
}

/** Starts to judge. */
export function watchUptime(options: UptimeWatchOptions): UptimeWatch {
  const stopping = new AbortController();
  const running = judgeRegularly(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function judgeRegularly(options: UptimeWatchOptions, signal: AbortSignal): Promise<void> {
  const { store, clock, failed, everyMs = PASS_MS } = options;
  while (!signal.aborted) {
    try {
      while (!signal.aborted && (await judgeDue(options, clock())));
      await store.write((tx) => tx.uptime.prune(clock() - INCIDENTS_STORED_MS));
    } catch (error) {
      failed(error);
    }
    // At another moment in each process, so that one of them finds the work and the others find it done.
    await pause(everyMs * (0.75 + Math.random() / 2), signal);
  }
}

/** A domain whose owner has turned alerts off has incidents and no notifications. @param now milliseconds since the epoch */
export async function notifyIncident(
  tx: WriteTransaction,
  { kind, domain, incident }: IncidentChange,
  now: number,
): Promise<void> {
  if (!domain.outage_alerts) return;
  const about = { incident_id: incident.id, since: timeText(incident.began_at) };
  if (kind === 'opened') {
    const { requests, errors } = incident;
    const data = { ...about, window_min: domain.uptime_window_min, requests, errors };
    await notify(tx, { kind: 'outage.opened', data, domain, now });
    return;
  }
  const until = timeText(incident.resolved_at ?? now);
  const data = { ...about, until, cause: incident.resolution ?? 'recovered' };
  await notify(tx, { kind: 'outage.resolved', data, domain, now });
}
