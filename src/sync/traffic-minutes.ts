/**
 * Traffic counts by minute and domain, bounded in rows: while the control plane is away, the oldest minutes are merged.
 * A row is what a report has one of: the usage of a domain in a minute, or the matches of one rule in it.
 */
import { addTrafficCounts, createTrafficCounts, type TrafficCounts } from './traffic-counts.ts';

/** Counts of one minute, by domain. */
export type MinuteCounts = Map<string, TrafficCounts>;

/** Counts that are not in a report yet. */
export interface TrafficMinutes {
  /** Most rows, those of reports being sent included. */
  readonly maxRows: number;
  /** By the minute's number since the epoch. */
  readonly minutes: Map<number, MinuteCounts>;
  /** Rows of `minutes` and of the reports being sent. */
  rows: number;
}

export function createTrafficMinutes(maxRows: number): TrafficMinutes {
  return { maxRows, minutes: new Map(), rows: 0 };
}

/** The counts of a domain in a minute; adds a row if there are none yet. */
export function countsIn(traffic: TrafficMinutes, minute: number, domain: string): TrafficCounts {
  const { minutes, maxRows } = traffic;
  const known = minutes.get(minute)?.get(domain);
  if (known !== undefined) return known;
  if (traffic.rows >= maxRows) mergeOldest(traffic);
  let domains = minutes.get(minute);
  if (domains === undefined) {
    domains = new Map();
    minutes.set(minute, domains);
  }
  const counts = createTrafficCounts();
  domains.set(domain, counts);
  traffic.rows++;
  return counts;
}

/** Merges the two oldest minutes until there is room, or only two minutes are left. */
function mergeOldest(traffic: TrafficMinutes): void {
  const { minutes, maxRows } = traffic;
  while (traffic.rows >= maxRows && minutes.size > 2) {
    const [older, next] = [...minutes.keys()].sort((a, b) => a - b) as [number, number];
    const into = minutes.get(next)!;
    for (const [domain, from] of minutes.get(older)!) {
      const counts = into.get(domain);
      if (counts === undefined) into.set(domain, from);
      // The domain's own row, and one for each rule that both minutes have.
      else traffic.rows -= 1 + from.hits.size - addTrafficCounts(counts, from);
    }
    minutes.delete(older);
  }
}

/** Removes and returns the oldest minute but `present`; `null`: no such minute. Its rows still count. */
export function takeOldest(
  { minutes }: TrafficMinutes,
  present: number | null,
): { readonly minute: number; readonly counts: MinuteCounts } | null {
  // A minute later than the present is complete too: the clock was set back since.
  const [minute] = [...minutes.keys()].filter((number) => number !== present).sort((a, b) => a - b);
  if (minute === undefined) return null;
  const counts = minutes.get(minute)!;
  minutes.delete(minute);
  return { minute, counts };
}
