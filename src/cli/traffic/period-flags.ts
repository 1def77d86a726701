/** The options that choose a period of traffic, and the query that they make. */
import { type Command, Option } from 'commander';
import { suitsStep, TRAFFIC_STEPS } from '../../control/traffic/period.ts';
import type { TrafficStep } from '../../control/traffic/read-traffic.ts';
import { usageFault } from '../exit.ts';
import { durationText } from '../print/quantities.ts';
import { type GivenTime, readDuration, readTime, timeAt } from '../time-option.ts';

/** The options, as commander parses them. */
export interface PeriodFlags {
  readonly from?: GivenTime;
  readonly to?: GivenTime;
  /** Milliseconds. */
  readonly last?: number;
  readonly step?: TrafficStep;
}

/** Milliseconds that are shown unless options say otherwise: as of the API. */
const USUAL_MS = 86_400_000;

/** Adds the options to a command. */
export function periodOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--last <duration>', 'the last 90m, 24h, 7d or 2w (default: 24h)').argParser(readDuration),
    )
    .addOption(
      new Option('--from <time>', 'from then on: 2026-11-20, an RFC 3339 time, or 24h ago').argParser(
        readTime,
      ),
    )
    .addOption(new Option('--to <time>', 'up to then (default: now)').argParser(readTime))
    .addOption(
      new Option('--step <unit>', 'the unit of the counts (default: by the period)').choices(TRAFFIC_STEPS),
    );
}

/** A period to request. */
export interface RequestedPeriod {
  /** Parameters of the request, with a step. */
  readonly query: Readonly<Record<string, string>>;
  /** The period in words: `24 h`, `this period`. */
  readonly words: string;
}

/** The period at a time. @throws CommandFault for options that exclude one another */
export function periodAt({ from, to, last, step }: PeriodFlags, now: number): RequestedPeriod {
  if (last !== undefined && (from !== undefined || to !== undefined)) {
    throw usageFault('`--last` ends now, so it excludes --from and --to');
  }
  const end = to === undefined ? now : timeAt(to, now);
  const start = from === undefined ? end - (last ?? USUAL_MS) : timeAt(from, now);
  if (start >= end) throw usageFault('`--from` must be before --to');
  const usual = TRAFFIC_STEPS.find((one) => suitsStep(end - start, one)) ?? 'day';
  const query = { from: new Date(start).toISOString(), to: new Date(end).toISOString(), step: step ?? usual };
  return { query, words: to === undefined ? durationText(end - start) : 'this period' };
}

/** The period of an answer as a heading: `2026-11-20 09:00 to 2026-11-21 10:00 UTC, by hour`. */
export function periodText({
  from,
  to,
  step,
}: {
  readonly from: string;
  readonly to: string;
  readonly step?: string;
}): string {
  const short = (time: string): string => time.slice(0, 16).replace('T', ' ');
  return `${short(from)} to ${short(to)} UTC${step === undefined ? '' : `, by ${step}`}`;
}
