/** Spans of time that traffic is read for: the steps that counts are stored by, and how long each is stored. */

import { DAY, DAYS_FOR_MS, HOUR, HOURS_FOR_MS, MINUTE_MS, MINUTES_FOR_MS } from './limits.ts';
import type { TrafficStep } from './read-traffic.ts';

/** The steps, the shortest first. All of them begin at midnight UTC. */
export const TRAFFIC_STEPS = ['minute', 'hour', 'day'] as const satisfies readonly TrafficStep[];

/** Milliseconds of each step. */
export const STEP_MS: Readonly<Record<TrafficStep, number>> = {
  minute: MINUTE_MS,
  hour: HOUR * MINUTE_MS,
  day: DAY * MINUTE_MS,
};

/** Milliseconds that counts of each step are stored. */
export type TrafficKept = Readonly<Record<TrafficStep, number>>;

/** The times unless the operator says otherwise. */
export const USUAL_TRAFFIC_KEPT: TrafficKept = {
  minute: MINUTES_FOR_MS,
  hour: HOURS_FOR_MS,
  day: DAYS_FOR_MS,
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
