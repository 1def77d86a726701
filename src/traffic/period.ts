/** Spans of time that traffic is read for: the steps that counts are stored by, and how long each is stored. */

/** The steps, the shortest first. All of them begin at midnight UTC. */
export const TRAFFIC_STEPS = ['minute', 'hour', 'day'] as const;
/** One of TRAFFIC_STEPS. */
export type TrafficStep = (typeof TRAFFIC_STEPS)[number];

/** Milliseconds of each step. */
export const STEP_MS: Readonly<Record<TrafficStep, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
};

/** Milliseconds that counts of each step are stored. */
export type TrafficKept = Readonly<Record<TrafficStep, number>>;

/** The usual times (semantics §10): 48 hours by minute, 35 days by hour, 400 days by day. */
export const USUAL_TRAFFIC_KEPT: TrafficKept = {
  minute: 48 * STEP_MS.hour,
  hour: 35 * STEP_MS.day,
  day: 400 * STEP_MS.day,
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
