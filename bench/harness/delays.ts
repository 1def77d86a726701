/** Delays of many events as rows: a share of them, in milliseconds. */
import type { Goal, Row } from '../row.ts';

/** The delay that at least this share of the delays does not exceed (nearest rank). Throws if there are no delays. */
export function percentile(delays: readonly number[], share: number): number {
  const sorted = delays.toSorted((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (found === undefined) throw new Error('the bench measured no delay');
  return found;
}

/** What a row of delays is named, and which share of them it shows. */
interface ShownShare {
  readonly name: string;
  /** From 0 to 1: 1 is the longest. */
  readonly share: number;
  readonly goal?: Goal;
}

/** A row for each share. */
export function delayRows(
  delays: readonly number[],
  { note, shares }: { readonly note: string; readonly shares: readonly ShownShare[] },
): readonly Row[] {
  return shares.map(({ name, share, goal = null }) => ({
    name,
    value: percentile(delays, share),
    goal,
    unit: 'ms',
    note,
  }));
}
