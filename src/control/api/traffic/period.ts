/**
 * The period of a request for traffic: reads `from`, `to` and `step`, fills in what is absent, and moves both ends to
 * where a step begins, so that an answer has whole steps and the same ETag until the next one.
 */
import { z } from 'zod';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { converted } from '../../../rules/model/fields.ts';
import type { TrafficStep } from '../../traffic/read-traffic.ts';
import {
  type Retention,
  STEP_MS,
  STEP_UNITS,
  suitsStep,
  TRAFFIC_STEPS,
  type TrafficPeriod,
} from '../../traffic/retention.ts';
import { MAX_TRAFFIC_POINTS, USUAL_TRAFFIC_MS } from '../operation/limits.ts';
import { badRequest } from '../operation/refusal.ts';

/** An RFC 3339 time with a date and a zone, or a date alone, which is its midnight in UTC. */
const TIME = /^\d{4}-\d\d-\d\d(?:[Tt]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d))?$/;

/** The schema of a time; the output is in milliseconds since the epoch. */
export function queryTime(): z.ZodType<number | undefined> {
  const time = converted(
    (text) => {
      const value = TIME.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
      if (Number.isFinite(value)) return { value };
      // In a query `+` stands for a blank (WHATWG URL, application/x-www-form-urlencoded).
      const remedy = text.includes(' ') ? { remedy: 'write `+` as `%2B`, or the time in UTC' } : {};
      const message = 'must be an RFC 3339 time, such as `2026-11-20T09:30:00Z`, or a date';
      return { problem: { code: 'invalid_time', message, found: quoteValue(text), ...remedy } };
    },
    { format: 'date-time', examples: ['2026-11-20T09:30:00Z'] },
  );
  return time.optional() as unknown as z.ZodType<number | undefined>;
}

/** The parameters of a period without its step. */
const ENDS = {
  from: queryTime().describe(
    'start, inclusive, moved to where its step begins; without it 24 hours before `to`',
  ),
  to: queryTime().describe('end, exclusive, moved to where the next step begins; without it now'),
} as const;

/** The parameters of a period. */
export const PERIOD_QUERY = {
  ...ENDS,
  step: z
    .enum(TRAFFIC_STEPS)
    .optional()
    .describe('the unit of the counts; without it the shortest that suits the period')
    .meta({ examples: ['hour'] }),
} as const;

/** The parameters of a period whose counts have no steps. */
export const ENDS_QUERY = ENDS;

/** The output of `PERIOD_QUERY`. */
export interface AskedPeriod {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly step?: TrafficStep | undefined;
}

/** The time of the request and how long counts are stored. */
interface PeriodContext {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly retention: Retention;
  /** Steps that the counts have; default: all. */
  readonly steps?: readonly TrafficStep[];
}

/** The period to read. @throws Refusal 400, with a step or a start that would be accepted */
export function readPeriod(
  asked: AskedPeriod,
  { now, retention, steps = TRAFFIC_STEPS }: PeriodContext,
): TrafficPeriod {
  // Nothing is counted ahead of time.
  const end = Math.min(asked.to ?? now, now);
  const start = asked.from ?? end - USUAL_TRAFFIC_MS;
  if (start >= end) {
    const ends = asked.from !== undefined && asked.from >= now ? 'lies in the future' : 'must be before `to`';
    throw badRequest(`from: ${ends}, found \`${timeText(start)}\``);
  }
  const isStored = (step: TrafficStep): boolean =>
    floor(start, step) >= floor(now - retention[STEP_UNITS[step]], step);
  const usual = steps.find((step) => suitsStep(end - start, step) && isStored(step));
  const step = asked.step ?? usual ?? 'day';
  if (!isStored(step)) throw notStored(step, start, { now, retention });
  const [from, to] = [floor(start, step), floor(end - 1, step) + STEP_MS[step]];
  const points = (to - from) / STEP_MS[step];
  if (points > MAX_TRAFFIC_POINTS) throw tooMany(step, points, to);
  return { step, from, to };
}

/** The 400 for counts that are not stored any more. */
function notStored(step: TrafficStep, start: number, { now, retention }: PeriodContext): Error {
  const earliest = floor(now - retention[STEP_UNITS[step]], step);
  const longer = TRAFFIC_STEPS.slice(TRAFFIC_STEPS.indexOf(step) + 1).find(
    (other) => start >= now - retention[STEP_UNITS[other]],
  );
  const remedies = [
    ...(longer === undefined ? [] : [`\`step=${longer}\``]),
    `a \`from\` of ${timeText(earliest)} or later`,
  ];
  const stored = `counts by ${step} are stored for ${spanText(retention[STEP_UNITS[step]])}, and \`${timeText(start)}\` is longer ago`;
  return badRequest(`from: ${stored}; use ${remedies.join(', or ')}`);
}

/** The 400 for a period of too many steps. */
function tooMany(step: TrafficStep, points: number, to: number): Error {
  const longer = TRAFFIC_STEPS[TRAFFIC_STEPS.indexOf(step) + 1];
  const latest = timeText(to - MAX_TRAFFIC_POINTS * STEP_MS[step]);
  const remedies = [
    ...(longer === undefined ? [] : [`\`step=${longer}\``]),
    `a \`from\` of ${latest} or later`,
  ];
  const most = `an answer has at most ${MAX_TRAFFIC_POINTS} points, and this period has ${points} by ${step}`;
  return badRequest(`step: ${most}; use ${remedies.join(', or ')}`);
}

/** Where the step that a time is in begins. */
function floor(milliseconds: number, step: TrafficStep): number {
  return Math.floor(milliseconds / STEP_MS[step]) * STEP_MS[step];
}

/** `48 hours`, `35 days`. */
function spanText(milliseconds: number): string {
  const days = milliseconds / STEP_MS.day;
  return Number.isInteger(days) && days > 2
    ? `${days} days`
    : `${Math.round(milliseconds / STEP_MS.hour)} hours`;
}

/** A time as the API writes it, in whole seconds. */
function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z');
}
