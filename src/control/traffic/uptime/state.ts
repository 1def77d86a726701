/**
 * The uptime of a domain as a pure state machine (semantics §11). In: the state, the counts of further minutes, and the
 * domain's settings. Out: the next state, and the incidents that opened or resolved. Each minute is judged once and in
 * order, so the result is the same whichever process judges it, and a restart continues where the last one ended.
 */
import type { DomainSettings } from '../../../rules/model/domain.ts';
import type { Resolution } from '../../store/tables/uptime.ts';
import { MAX_WINDOW_MINUTES, NO_TRAFFIC_MINUTES, SETTLING_MINUTES } from '../limits.ts';

/** The settings that uptime is judged by; the API document has their meanings. */
export type UptimeSettings = Pick<
  DomainSettings,
  | 'uptime_threshold_pct'
  | 'uptime_window_min'
  | 'uptime_min_requests'
  | 'uptime_min_active_min'
  | 'uptime_recover_min'
>;

/** The requests of one minute that went to an origin and are monitored. */
export interface UptimeMinute {
  /** Whole minutes since the epoch. */
  readonly minute: number;
  /** At least 1: a minute without requests is not listed. */
  readonly requests: number;
  /** Requests that the origin did not answer, or answered with a status of 500 or more. */
  readonly errors: number;
}

/** An outage that goes on. Minutes since the epoch. */
interface OpenIncident {
  /** The first populated minute of the window in which every one was down. */
  readonly from: number;
  /** The minute after whose end the incident opened. */
  readonly opened: number;
  /** Requests and errors of the minutes from `from` on. */
  readonly requests: number;
  readonly errors: number;
}

/** The state of one domain; JSON-safe. */
export interface UptimeState {
  /** The last judged minute. */
  readonly through: number;
  /** Judged minutes with requests, by minute: those within `MAX_WINDOW_MINUTES` of `through`. */
  readonly recent: readonly UptimeMinute[];
  readonly incident: OpenIncident | null;
  /** While an incident is open: populated minutes in a row that were not down. */
  readonly clear: number;
  /** The last populated minute; `null`: none was judged. */
  readonly lastPopulated: number | null;
}

/** A change of the incident of a domain. */
export type IncidentEvent =
  | { readonly kind: 'opened'; readonly incident: OpenIncident }
  | {
      readonly kind: 'resolved';
      readonly incident: OpenIncident;
      /** The minute after whose end the incident resolved. */
      readonly minute: number;
      readonly resolution: Resolution;
    };

/** The outcome of judging minutes. */
export interface Judged {
  readonly state: UptimeState;
  /** In their order. */
  readonly events: readonly IncidentEvent[];
}

/** Minutes to judge. */
export interface MinutesToJudge {
  /** The populated minutes after `state.through`, by minute; later ones than `through` are not read. */
  readonly minutes: readonly UptimeMinute[];
  /** The last minute to judge. */
  readonly through: number;
}

/** The state of a domain before the first judged minute. @param through the last minute that is not judged */
export function createUptimeState(through: number): UptimeState {
  return { through, recent: [], incident: null, clear: 0, lastPopulated: null };
}

/** Whether a populated minute counts as down. */
function isDown(
  { requests, errors }: Pick<UptimeMinute, 'requests' | 'errors'>,
  { uptime_threshold_pct: threshold }: Pick<UptimeSettings, 'uptime_threshold_pct'>,
): boolean {
  return errors * 100 >= threshold * requests;
}

/** Judges every minute up to `through`. */
export function judgeMinutes(
  before: UptimeState,
  { minutes, through }: MinutesToJudge,
  settings: UptimeSettings,
): Judged {
  const events: IncidentEvent[] = [];
  let state = before;
  let at = 0;
  while (state.through < through) {
    while (at < minutes.length && minutes[at]!.minute <= state.through) at++;
    const next = minutes[at] ?? null;
    const minute = Math.min(through, nextMinute(state, next));
    const counts = next?.minute === minute ? next : null;
    const judged = judgeMinute(state, { minute, counts }, settings);
    state = judged.state;
    events.push(...judged.events);
  }
  return { state, events };
}

/**
 * The next minute at which anything can change. PERF: in an empty minute beyond the longest window nothing changes, but
 * that an incident resolves as `no_traffic`; most domains are idle for most of the time.
 * @param next the next populated minute; `null`: none is listed
 */
function nextMinute(state: UptimeState, next: UptimeMinute | null): number {
  const { through, recent, incident, lastPopulated } = state;
  if (recent.length > 0) return through + 1;
  const populated = next?.minute ?? Number.POSITIVE_INFINITY;
  if (incident === null || lastPopulated === null) return populated;
  return Math.max(through + 1, Math.min(populated, lastPopulated + NO_TRAFFIC_MINUTES));
}

interface JudgedMinute {
  readonly minute: number;
  /** `null`: no request. */
  readonly counts: UptimeMinute | null;
}

function judgeMinute(state: UptimeState, judged: JudgedMinute, settings: UptimeSettings): Judged {
  const { minute, counts } = judged;
  const recent = state.recent.filter((one) => one.minute > minute - MAX_WINDOW_MINUTES);
  if (counts !== null) recent.push(counts);
  const lastPopulated = counts === null ? state.lastPopulated : minute;
  const next: UptimeState = { ...state, through: minute, recent, lastPopulated };
  return state.incident === null
    ? openIfDown(next, settings)
    : resolveIfClear({ ...next, incident: addMinute(state.incident, counts) }, counts, settings);
}

function addMinute(incident: OpenIncident, counts: UptimeMinute | null): OpenIncident {
  if (counts === null) return incident;
  return {
    ...incident,
    requests: incident.requests + counts.requests,
    errors: incident.errors + counts.errors,
  };
}

function openIfDown(state: UptimeState, settings: UptimeSettings): Judged {
  const window = windowOf(state, settings);
  if (!holds(window)) return { state, events: [] };
  const { minutes, requests } = window;
  const incident: OpenIncident = {
    from: minutes[0]!.minute,
    opened: state.through,
    requests,
    errors: minutes.reduce((sum, { errors }) => sum + errors, 0),
  };
  return { state: { ...state, incident, clear: 0 }, events: [{ kind: 'opened', incident }] };
}

function resolveIfClear(state: UptimeState, counts: UptimeMinute | null, settings: UptimeSettings): Judged {
  const incident = state.incident!;
  const clear = counts === null ? state.clear : isDown(counts, settings) ? 0 : state.clear + 1;
  const resolution: Resolution | null =
    counts !== null && clear >= settings.uptime_recover_min
      ? 'recovered'
      : state.through - (state.lastPopulated ?? state.through) >= NO_TRAFFIC_MINUTES
        ? 'no_traffic'
        : null;
  if (resolution === null) return { state: { ...state, clear }, events: [] };
  return {
    state: { ...state, incident: null, clear: 0 },
    events: [{ kind: 'resolved', incident, minute: state.through, resolution }],
  };
}

/** The window of the last judged minute, with what it lacks for an incident. */
export interface UptimeWindow {
  /** Populated minutes, by minute. */
  readonly minutes: readonly UptimeMinute[];
  readonly requests: number;
  /** Populated minutes that are not down. */
  readonly up: number;
  /** Populated minutes below `uptime_min_active_min`, and requests below `uptime_min_requests`; 0: enough. */
  readonly missingMinutes: number;
  readonly missingRequests: number;
}

/** The window that ends with the last judged minute. */
function windowOf({ recent, through }: UptimeState, settings: UptimeSettings): UptimeWindow {
  const minutes = recent.filter(({ minute }) => minute > through - settings.uptime_window_min);
  const requests = minutes.reduce((sum, one) => sum + one.requests, 0);
  return {
    minutes,
    requests,
    up: minutes.filter((one) => !isDown(one, settings)).length,
    missingMinutes: Math.max(0, settings.uptime_min_active_min - minutes.length),
    missingRequests: Math.max(0, settings.uptime_min_requests - requests),
  };
}

/** Whether the window is an outage. A window without a populated minute never is. */
function holds({ minutes, up, missingMinutes, missingRequests }: UptimeWindow): boolean {
  return minutes.length > 0 && up === 0 && missingMinutes === 0 && missingRequests === 0;
}

// The state of uptime as the store has it: compact JSON, since a state of each domain is written every minute.

/** `[through, [[minutes before through, requests, errors]…], [from, opened, requests, errors] | null, clear, lastPopulated]` */
type StoredState = readonly [
  number,
  readonly (readonly [number, number, number])[],
  readonly [number, number, number, number] | null,
  number,
  number | null,
];

/** The text of a state. */
export function writeState({ through, recent, incident, clear, lastPopulated }: UptimeState): string {
  const stored: StoredState = [
    through,
    recent.map(({ minute, requests, errors }) => [through - minute, requests, errors]),
    incident === null ? null : [incident.from, incident.opened, incident.requests, incident.errors],
    clear,
    lastPopulated,
  ];
  return JSON.stringify(stored);
}

/** The state of a text that `writeState` made. */
export function readState(text: string): UptimeState {
  const [through, recent, open, clear, lastPopulated] = JSON.parse(text) as StoredState;
  return {
    through,
    recent: recent.map(([before, requests, errors]) => ({ minute: through - before, requests, errors })),
    incident: open === null ? null : readIncident(open),
    clear,
    lastPopulated,
  };
}

function readIncident([from, opened, requests, errors]: NonNullable<StoredState[2]>): OpenIncident {
  return { from, opened, requests, errors };
}

// Explains the present state of a domain's uptime. In: its state and settings. Out: `up`, `down` or `unknown`, and one
// sentence each for what opens, prevents or ends an incident.

/** `down`: an incident is open. `unknown`: no monitored request in the window. `up`: neither. */
export const UPTIME_STATUSES = ['up', 'down', 'unknown'] as const;
/** One of UPTIME_STATUSES. */
export type UptimeStatus = (typeof UPTIME_STATUSES)[number];

/** The explanation of a state. */
export interface UptimeAccount {
  readonly status: UptimeStatus;
  /** Sentences without a full stop. */
  readonly reasons: readonly string[];
}

/** @param state `null`: the domain was never judged */
export function explainUptime(state: UptimeState | null, settings: UptimeSettings): UptimeAccount {
  if (state === null) {
    const remedy = '`monitor: true` on a proxied record counts its requests';
    const delay = `minutes are judged ${SETTLING_MINUTES} minutes after their end`;
    return { status: 'unknown', reasons: [`no monitored request was reported; ${remedy}; ${delay}`] };
  }
  return state.incident === null ? explainNone(state, settings) : explainOpen(state, settings);
}

function explainNone(state: UptimeState, settings: UptimeSettings): UptimeAccount {
  const { uptime_window_min, uptime_min_active_min, uptime_min_requests } = settings;
  const { minutes, requests, up, missingMinutes, missingRequests } = windowOf(state, settings);
  const span = `in the last ${uptime_window_min} minutes`;
  if (minutes.length === 0) return { status: 'unknown', reasons: [`no monitored request ${span}`] };
  const reasons: string[] = [];
  if (up > 0) reasons.push(`${up} of ${minutes.length} minutes with requests ${span} were not down`);
  if (missingMinutes > 0) {
    reasons.push(
      `minutes with requests ${span}: ${minutes.length}, an incident needs ${uptime_min_active_min}`,
    );
  }
  if (missingRequests > 0) {
    reasons.push(`requests ${span}: ${requests}, an incident needs ${uptime_min_requests}`);
  }
  return { status: 'up', reasons };
}

function explainOpen({ recent, clear, incident }: UptimeState, settings: UptimeSettings): UptimeAccount {
  const { uptime_threshold_pct, uptime_recover_min, uptime_window_min } = settings;
  const last = recent.at(-1);
  const opened = `every minute with requests of ${uptime_window_min} minutes had ${uptime_threshold_pct} % errors or more`;
  const wanted = `it resolves after ${uptime_recover_min} minutes in a row with requests and not down, ${clear} so far`;
  const latest =
    last === undefined || last.minute <= incident!.opened
      ? 'no monitored request since'
      : `the last minute with requests was ${isDown(last, settings) ? 'down' : 'not down'}`;
  return { status: 'down', reasons: [opened, wanted, latest] };
}
