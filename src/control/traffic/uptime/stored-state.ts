/** The state of uptime as the store has it: compact JSON, since a state of each domain is written every minute. */
import type { OpenIncident, UptimeState } from './state.ts';

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
