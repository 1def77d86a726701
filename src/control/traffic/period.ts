/** Spans of time that traffic is read for: the steps that counts are stored by, and how long each is stored. */
import type { BlockUnit } from '../store/traffic-repositories.ts';
import { DAY, HOUR, MINUTE_MS } from './limits.ts';
import type { TrafficStep } from './read-traffic.ts';

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
