/**
 * The naive uptime: written from semantics §11 alone, minute by minute over the whole series, nothing remembered but the
 * incident. It answers every incident of a series.
 */

export interface NaiveSettings {
  readonly threshold: number;
  readonly window: number;
  readonly minRequests: number;
  readonly minActive: number;
  readonly recover: number;
}

export interface NaiveIncident {
  from: number;
  opened: number;
  resolved: number | null;
  resolution: 'recovered' | 'no_traffic' | null;
  requests: number;
  errors: number;
}

/** @param series requests and errors of each minute from 0 on; requests 0: an empty minute */
export function naiveIncidents(
  series: readonly { readonly requests: number; readonly errors: number }[],
  settings: NaiveSettings,
): readonly NaiveIncident[] {
  const down = (minute: number): boolean =>
    (series[minute]!.errors / series[minute]!.requests) * 100 >= settings.threshold;
  const populated = (minute: number): boolean => series[minute]!.requests > 0;
  const between = (first: number, last: number): number[] => {
    const minutes: number[] = [];
    for (let minute = Math.max(0, first); minute <= last; minute++)
      if (populated(minute)) minutes.push(minute);
    return minutes;
  };
  const sum = (minutes: readonly number[], field: 'requests' | 'errors'): number =>
    minutes.reduce((total, minute) => total + series[minute]![field], 0);
  const incidents: NaiveIncident[] = [];
  for (let now = 0; now < series.length; now++) {
    const open = incidents.at(-1);
    if (open === undefined || open.resolved !== null) {
      const window = between(now - settings.window + 1, now);
      const enough = window.length >= settings.minActive && sum(window, 'requests') >= settings.minRequests;
      if (window.length === 0 || !enough || !window.every(down)) continue;
      const counts = { requests: sum(window, 'requests'), errors: sum(window, 'errors') };
      incidents.push({ from: window[0]!, opened: now, resolved: null, resolution: null, ...counts });
      continue;
    }
    const recent = between(open.opened + 1, now).slice(-settings.recover);
    if (populated(now) && recent.length >= settings.recover && !recent.some(down))
      open.resolution = 'recovered';
    else if (between(now - 24 * 60 + 1, now).length === 0) open.resolution = 'no_traffic';
    else continue;
    const all = between(open.from, now);
    open.resolved = now;
    open.requests = sum(all, 'requests');
    open.errors = sum(all, 'errors');
  }
  return incidents;
}
