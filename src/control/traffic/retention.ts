/**
 * How long traffic is stored by minute, hour and day, and the removal of what is older. In: the present time. Rows go in short
 * transactions; PostgreSQL drops the partition of a whole day.
 */
import type { Store } from '../store/store.ts';
import { BLOCK_UNITS, type BlockUnit } from '../store/traffic-repositories.ts';
import {
  BATCH_STORED_MS,
  DAY,
  DAYS_AHEAD,
  DAYS_FOR_MS,
  EXPIRED_AT_ONCE,
  HOURS_FOR_MS,
  MINUTE_MS,
  MINUTES_FOR_MS,
} from './limits.ts';
import { startOf } from './read-sums.ts';

/** Milliseconds for which blocks of each unit are stored. */
export type Retention = Readonly<Record<BlockUnit, number>>;

/** What an operator gets who says nothing else. */
export const USUAL_RETENTION: Retention = {
  minutes: MINUTES_FOR_MS,
  hours: HOURS_FOR_MS,
  days: DAYS_FOR_MS,
};

/** Minutes since the epoch before which blocks of each unit are removed. */
export function expiredAt(retention: Retention, now: number): Readonly<Record<BlockUnit, number>> {
  const before = (unit: BlockUnit): number => Math.max(0, Math.floor((now - retention[unit]) / MINUTE_MS));
  return { minutes: before('minutes'), hours: before('hours'), days: before('days') };
}

/** Creates the partitions of today and the days ahead. @throws StoreFault */
export async function prepareDays(store: Store, now: number): Promise<void> {
  const today = startOf(Math.floor(now / MINUTE_MS), DAY);
  const days = Array.from({ length: 1 + DAYS_AHEAD }, (_, ahead) => today + ahead * DAY);
  await store.write((tx) => tx.traffic.createPartitions(days));
}

/** Removes blocks and numbers of batches that are too old. @throws StoreFault */
export async function expireTraffic(
  store: Store,
  { now, retention }: { readonly now: number; readonly retention: Retention },
): Promise<void> {
  const before = expiredAt(retention, now);
  const yesterday = startOf(Math.floor(now / MINUTE_MS), DAY) - DAY;
  await store.write((tx) =>
    tx.traffic.dropPartitions({ parts: yesterday, minutes: before.minutes, hours: before.hours }),
  );
  for (const unit of BLOCK_UNITS) {
    const expire = () => store.write((tx) => tx.traffic.expire(unit, before[unit], EXPIRED_AT_ONCE));
    while ((await expire()) === EXPIRED_AT_ONCE);
  }
  const oldest = now - BATCH_STORED_MS;
  const prune = () => store.write((tx) => tx.nodes.pruneBatches(oldest, EXPIRED_AT_ONCE));
  while ((await prune()) === EXPIRED_AT_ONCE);
}
