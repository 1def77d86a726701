/** Reads the monitored requests of a domain by hour. In: a transaction that reads one snapshot. Out: hours with requests. */
import type { ReadTransaction } from '../../store/store.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;

/** The monitored requests of one hour. */
export interface UptimeHour {
  /** The start of the hour, milliseconds since the epoch. */
  readonly at: number;
  readonly requests: number;
  readonly errors: number;
}

/** Whole hours, milliseconds since the epoch: `from` ≤ hour < `to`. */
export interface HourSpan {
  readonly from: number;
  readonly to: number;
}

/** The hours that have monitored requests, by time. */
export async function readHours(
  tx: Pick<ReadTransaction, 'traffic'>,
  domainId: number,
  { from, to }: HourSpan,
): Promise<readonly UptimeHour[]> {
  const span = { from: from / MINUTE_MS, to: to / MINUTE_MS };
  const hours = new Map<number, UptimeHour>();
  const add = (
    minute: number,
    sums: { readonly monitored: number; readonly monitored_errors: number },
  ): void => {
    const at = Math.floor(minute / HOUR_MINUTES) * HOUR_MS;
    const before = hours.get(at);
    const requests = (before?.requests ?? 0) + sums.monitored;
    if (requests > 0) hours.set(at, { at, requests, errors: (before?.errors ?? 0) + sums.monitored_errors });
  };
  for (const block of await tx.traffic.blockSums('hours', domainId, span)) add(block.start, block);
  for (const part of await tx.traffic.monitoredParts([domainId], span)) add(part.minute, part);
  return [...hours.values()].sort((a, b) => a.at - b.at);
}
