/**
 * How traffic is stored: the steps of counts, how long each is stored, and the removal of what is older. In: the present
 * time. Rows go in short transactions; PostgreSQL drops the partition of a whole day.
 */
import type { Store } from '../store/store.ts';
import { BLOCK_UNITS, type BlockUnit } from '../store/tables/traffic.ts';
import {
  BATCH_STORED_MS,
  CONSUMER_DAYS_FOR_MS,
  DAY,
  DAYS_AHEAD,
  DAYS_FOR_MS,
  EXPIRED_AT_ONCE,
  HOUR,
  HOURS_FOR_MS,
  MINUTE_MS,
  MINUTES_FOR_MS,
} from './limits.ts';
import { startOf, type TrafficStep } from './read-traffic.ts';

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

/** Removes blocks, the use of consumers and numbers of batches that are too old. @throws StoreFault */
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
  const firstDay = startOf(Math.floor((now - CONSUMER_DAYS_FOR_MS) / MINUTE_MS), DAY);
  const expireUse = () => store.write((tx) => tx.consumerDays.expire(firstDay, EXPIRED_AT_ONCE));
  while ((await expireUse()) === EXPIRED_AT_ONCE);
  const oldest = now - BATCH_STORED_MS;
  const prune = () => store.write((tx) => tx.nodes.pruneBatches(oldest, EXPIRED_AT_ONCE));
  while ((await prune()) === EXPIRED_AT_ONCE);
}

/** The steps, the shortest first. All of them begin at midnight UTC. */
export const TRAFFIC_STEPS = ['minute', 'hour', 'day'] as const satisfies readonly TrafficStep[];

/** Milliseconds of each step. */
export const STEP_MS: Readonly<Record<TrafficStep, number>> = {
  minute: MINUTE_MS,
  hour: HOUR * MINUTE_MS,
  day: DAY * MINUTE_MS,
};

/** The blocks that each step is read from. */
export const STEP_UNITS: Readonly<Record<TrafficStep, BlockUnit>> = {
  minute: 'minutes',
  hour: 'hours',
  day: 'days',
};

/** A period to read, in milliseconds since the epoch: `from` inclusive, `to` exclusive, both where a step begins. */
export interface TrafficPeriod {
  readonly step: TrafficStep;
  readonly from: number;
  readonly to: number;
}

/** The starts of all steps of a period, in order. */
export function startsOf({ step, from, to }: TrafficPeriod): readonly number[] {
  return Array.from(
    { length: Math.round((to - from) / STEP_MS[step]) },
    (_, index) => from + index * STEP_MS[step],
  );
}

/** The longest periods that are read by each step unless a request names one: 360 minutes, 744 hours. */
const USUAL_SPANS: Readonly<Record<TrafficStep, number>> = {
  minute: 6 * STEP_MS.hour,
  hour: 31 * STEP_MS.day,
  day: Number.POSITIVE_INFINITY,
};

/** Whether a period of this length, in milliseconds, is short enough to be read by the step. */
export function suitsStep(span: number, step: TrafficStep): boolean {
  return span <= USUAL_SPANS[step];
}
