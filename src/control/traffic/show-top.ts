/**
 * A top list as the API shows it: the most frequent values with the bounds of their counts. A Space-Saving summary counts
 * a value too often, never too seldom (Metwally, Agrawal, El Abbadi 2005).
 */
import { type SpaceSaving, top } from '../../engine/counts/space-saving.ts';

/** One value. */
export interface TopValue {
  readonly value: string;
  /** The count of the summary: at most this many requests had the value. */
  readonly requests: number;
  /** At least this many had it. */
  readonly at_least: number;
}

/** A top list. */
export interface TopAnswer {
  /** Requests that the list counted. */
  readonly total: number;
  /** A value that is not in the summary has at most this many requests. */
  readonly unlisted_at_most: number;
  readonly values: readonly TopValue[];
}

/** The values with the highest counts, at most `limit`. */
export function showTop(summary: SpaceSaving, limit: number): TopAnswer {
  return {
    total: summary.total,
    unlisted_at_most: summary.unlisted,
    values: top(summary, limit).map(({ value, count, error }) => ({
      value,
      requests: count,
      at_least: count - error,
    })),
  };
}
