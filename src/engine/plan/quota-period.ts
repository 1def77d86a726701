/** The periods of quotas (semantics §15), in UTC. In: a period, a time. Out: the span of time whose requests count. */
import type { QuotaPeriod } from '../../base/vocabulary/vocabulary.ts';

const DAY_MS = 86_400_000;

/** A span of time, in milliseconds since the epoch: `from` ≤ time < `to`. */
export interface PeriodSpan {
  readonly from: number;
  readonly to: number;
}

/** The period at a time. That of `rolling_30d` is the day of the time and the 29 days before it. */
export function periodAt(period: QuotaPeriod, now: number): PeriodSpan {
  const day = Math.floor(now / DAY_MS) * DAY_MS;
  if (period === 'day') return { from: day, to: day + DAY_MS };
  if (period === 'rolling_30d') return { from: day - 29 * DAY_MS, to: day + DAY_MS };
  const at = new Date(day);
  if (period === 'week') {
    const from = day - ((at.getUTCDay() + 6) % 7) * DAY_MS;
    return { from, to: from + 7 * DAY_MS };
  }
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) };
}
