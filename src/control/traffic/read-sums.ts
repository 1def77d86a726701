/**
 * Sums of a domain over any time, without opening more than the counts at its two ends. In: a transaction that reads one
 * snapshot (between two statements of others a roll-up may move counts). Out: the sums that have a column.
 *
 * Days are used where the span has all of one, hours else, minutes where the span begins or ends within an hour. What is
 * older than its minutes or hours are stored belongs to the time at which its hour or day begins.
 */
import type { ReadTransaction } from '../store/store.ts';
import {
  type BlockSums,
  type MinuteSpan,
  type MinutesBlock,
  TRAFFIC_SUMS,
  type TrafficSums,
} from '../store/traffic-repositories.ts';
import { columnsOf, openMinutes } from './blocks.ts';
import { BLOCK_MINUTES, DAY, HOUR, MINUTE_MS } from './limits.ts';

/** Milliseconds since the epoch, `from` ≤ time < `to`. Parts of minutes are rounded down. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** The start of the span of `length` minutes that a minute is in. */
export function startOf(minute: number, length: number): number {
  return minute - (minute % length);
}

/** A span in minutes. */
export function minutesOf({ from, to }: TimeSpan): MinuteSpan {
  return { from: Math.floor(from / MINUTE_MS), to: Math.floor(to / MINUTE_MS) };
}

/** The sums of a domain. */
export async function readSums(
  tx: Pick<ReadTransaction, 'traffic'>,
  domainId: number,
  times: TimeSpan,
): Promise<TrafficSums> {
  const span = minutesOf(times);
  const total = { ...(await tx.traffic.partSums(domainId, span)) };
  const add = (sums: TrafficSums): void => {
    for (const name of TRAFFIC_SUMS) total[name] += sums[name];
  };
  const days = await tx.traffic.blockSums('days', domainId, { from: startOf(span.from, DAY), to: span.to });
  const hours = await tx.traffic.blockSums('hours', domainId, {
    from: startOf(span.from, HOUR),
    to: span.to,
  });
  const used = chooseBlocks({ days, hours, span });
  for (const day of used.days) add(day);
  for (const hour of used.hours) {
    if (hour.start >= span.from && hour.start + HOUR <= span.to) add(hour);
    else for (const sums of await readEdge(tx, hour, span)) add(sums);
  }
  return total;
}

/** Blocks that together have each minute of a span once. */
interface ChosenBlocks<Block> {
  readonly days: readonly Block[];
  /** May begin before the span, or end behind it. */
  readonly hours: readonly Block[];
}

/** Chooses days of which the span has every minute, or no hours are stored, and hours of all other days. */
export function chooseBlocks<Block extends Pick<BlockSums, 'start'>>({
  days,
  hours,
  span,
}: ChosenBlocks<Block> & { readonly span: MinuteSpan }): ChosenBlocks<Block> {
  const withHours = new Set(hours.map(({ start }) => startOf(start, DAY)));
  const chosen = days.filter(
    ({ start }) =>
      start >= span.from && (start + DAY <= span.to || (start < span.to && !withHours.has(start))),
  );
  const inDays = new Set(chosen.map(({ start }) => start));
  return { days: chosen, hours: hours.filter(({ start }) => !inDays.has(startOf(start, DAY))) };
}

/** The sums of an hour's minutes that are in the span. */
async function readEdge(
  tx: Pick<ReadTransaction, 'traffic'>,
  hour: BlockSums,
  span: MinuteSpan,
): Promise<readonly TrafficSums[]> {
  const blocks = await tx.traffic.minutes([hour.domain_id], { from: hour.start, to: hour.start + HOUR });
  if (blocks.length === 0) return hour.start >= span.from ? [hour] : [];
  return blocks.flatMap((block) => sumsWithin(block, span));
}

function sumsWithin(block: MinutesBlock, span: MinuteSpan): readonly TrafficSums[] {
  const end = block.start + BLOCK_MINUTES;
  if (end <= span.from || block.start >= span.to) return [];
  if (block.start >= span.from && end <= span.to) return [block];
  return [...openMinutes(block.counts)]
    .filter(([offset]) => block.start + offset >= span.from && block.start + offset < span.to)
    .map(([, counts]) => columnsOf(counts));
}
