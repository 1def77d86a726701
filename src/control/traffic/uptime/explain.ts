/**
 * Explains the present state of a domain's uptime. In: its state and settings. Out: `up`, `down` or `unknown`, and one
 * sentence each for what opens, prevents or ends an incident.
 */
import { SETTLING_MINUTES } from './limits.ts';
import { isDown, type UptimeSettings, type UptimeState, windowOf } from './state.ts';

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
