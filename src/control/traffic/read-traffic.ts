/**
 * Reads traffic of a domain: blocks, and parts that no roll-up has merged yet. In: a transaction that reads one snapshot, a
 * span of milliseconds since the epoch, widened to whole steps. Out: counts, which the caller may change.
 *
 * Opening counts takes some 30 µs for each minute, hour or day: long spans are read in a thread (`compute/`), not where
 * requests are answered.
 */
import {
  addTrafficCounts,
  createTrafficCounts,
  type TopKind,
  type TrafficCounts,
} from '../../engine/counts/counts.ts';
import { openTop } from '../../engine/counts/layout.ts';
import { createSpaceSaving, mergeSpaceSaving, type SpaceSaving } from '../../engine/counts/space-saving.ts';
import type { BlockSums, MinuteSpan, MonitoredMinute } from '../store/repositories/traffic.ts';
import type { ReadTransaction } from '../store/store.ts';
import { type MinutesBlock, TRAFFIC_SUMS, type TrafficSums } from '../store/tables/traffic.ts';
import { columnsOf, openBlock, openMinutes, openPart, openTopOfBlock, readMonitored } from './blocks.ts';
import { BLOCK_MINUTES, DAY, HOUR, MINUTE_MS } from './limits.ts';

/** Minutes of each step. */
export const STEP_MINUTES = { minute: 1, hour: HOUR, day: DAY } as const;
/** The step of a series. */
export type TrafficStep = keyof typeof STEP_MINUTES;

type TrafficReader = Pick<ReadTransaction, 'traffic'>;

/** The counts of each step that has traffic, by the step's start in milliseconds. @throws CountsFault, StoreFault */
export async function readTraffic(
  tx: TrafficReader,
  domainId: number,
  { step, from, to }: TimeSpan & { readonly step: TrafficStep },
): Promise<Map<number, TrafficCounts>> {
  const length = STEP_MINUTES[step];
  const span = wholeSteps(minutesOf({ from, to: to + MINUTE_MS - 1 }), length);
  const steps = new Map<number, TrafficCounts>();
  const add = (minute: number, counts: TrafficCounts): void => {
    const start = startOf(minute, length) * MINUTE_MS;
    const before = steps.get(start);
    if (before === undefined) steps.set(start, counts);
    else addTrafficCounts(before, counts);
  };
  if (step === 'minute') await addMinutes(tx, domainId, { span, add });
  else if (step === 'hour') await addBlocks(tx, domainId, { unit: 'hours', span, add });
  else await addDays(tx, domainId, { span, add });
  for (const part of await tx.traffic.parts(domainId, span)) add(part.minute, openPart(part));
  return new Map([...steps].sort(([a], [b]) => a - b));
}

/** The most frequent values of one kind over a span, widened to whole hours. @throws CountsFault, StoreFault */
export async function readTop(
  tx: TrafficReader,
  domainId: number,
  { of, ...times }: TimeSpan & { readonly of: TopKind },
): Promise<SpaceSaving> {
  const span = wholeSteps(minutesOf({ ...times, to: times.to + MINUTE_MS - 1 }), HOUR);
  const list = createSpaceSaving();
  const days = await tx.traffic.tops('days', domainId, { from: startOf(span.from, DAY), to: span.to });
  const hours = await tx.traffic.tops('hours', domainId, span);
  const chosen = chooseBlocks({ days, hours, span });
  for (const { tops } of [...chosen.days, ...chosen.hours]) {
    if (tops !== null) mergeSpaceSaving(list, openTopOfBlock(tops, of));
  }
  for (const tops of await tx.traffic.partTops(domainId, span)) mergeSpaceSaving(list, openTop(tops, of));
  return list;
}

/**
 * All counts of a span together, as exact as `readSums`, from as few blocks as there are: of 31 days some 80 hours and days
 * and up to 120 minutes. @throws CountsFault, StoreFault
 */
export async function readTotal(
  tx: TrafficReader,
  domainId: number,
  times: TimeSpan,
): Promise<TrafficCounts> {
  const span = minutesOf(times);
  const total = createTrafficCounts();
  const add = (_: number, counts: TrafficCounts): void => addTrafficCounts(total, counts);
  for (const part of await tx.traffic.parts(domainId, span)) add(part.minute, openPart(part));
  const days = await tx.traffic.blocks('days', [domainId], { from: startOf(span.from, DAY), to: span.to });
  const hours = await tx.traffic.blockSums('hours', domainId, {
    from: startOf(span.from, HOUR),
    to: span.to,
  });
  const chosen = chooseBlocks<BlockSums>({ days, hours, span });
  const wanted = new Set(chosen.days.map(({ start }) => start));
  for (const day of days) if (wanted.has(day.start)) add(day.start, openBlock(day));
  const edges = chosen.hours.filter(({ start }) => start < span.from || start + HOUR > span.to);
  const whole = new Set(chosen.hours.filter((hour) => !edges.includes(hour)).map(({ start }) => start));
  for (const edge of edges) {
    const within = { from: Math.max(edge.start, span.from), to: Math.min(edge.start + HOUR, span.to) };
    const opened = await addMinutes(tx, domainId, { span: within, add });
    // The minutes are gone: the hour belongs to the time at which it begins.
    if (!opened && edge.start >= span.from) whole.add(edge.start);
  }
  for (const day of new Set([...whole].map((start) => startOf(start, DAY)))) {
    for (const hour of await tx.traffic.blocks('hours', [domainId], { from: day, to: day + DAY }))
      if (whole.has(hour.start)) add(hour.start, openBlock(hour));
  }
  return total;
}

/**
 * Monitored requests of some domains by minute, in the order of domains and minutes; minutes without any are left out. No
 * counts are opened: two statements for all domains.
 */
export async function readMonitoredMinutes(
  tx: TrafficReader,
  domainIds: readonly number[],
  times: TimeSpan,
): Promise<readonly MonitoredMinute[]> {
  const span = minutesOf(times);
  const found = new Map<string, MonitoredMinute>();
  const add = (row: MonitoredMinute): void => {
    if (row.minute < span.from || row.minute >= span.to) return;
    const key = `${row.domain_id} ${row.minute}`;
    const before = found.get(key);
    found.set(key, {
      ...row,
      monitored: row.monitored + (before?.monitored ?? 0),
      monitored_errors: row.monitored_errors + (before?.monitored_errors ?? 0),
    });
  };
  const blocks = { from: startOf(span.from, BLOCK_MINUTES), to: span.to };
  for (const row of await tx.traffic.monitoredBlocks(domainIds, blocks)) {
    for (const { offset, monitored, errors } of readMonitored(row))
      add({ domain_id: row.domain_id, minute: row.start + offset, monitored, monitored_errors: errors });
  }
  for (const row of await tx.traffic.monitoredParts(domainIds, span)) add(row);
  return [...found.values()].sort((a, b) => a.domain_id - b.domain_id || a.minute - b.minute);
}

/** Where counts go. */
interface Adding {
  readonly span: MinuteSpan;
  readonly add: (minute: number, counts: TrafficCounts) => void;
}

/** Returns whether the hours of the span have minutes at all. */
async function addMinutes(tx: TrafficReader, domainId: number, { span, add }: Adding): Promise<boolean> {
  const blocks = { from: startOf(span.from, HOUR), to: startOf(span.to + HOUR - 1, HOUR) };
  const found = await tx.traffic.minutes([domainId], blocks);
  for (const { start, counts } of found) {
    if (start + BLOCK_MINUTES <= span.from || start >= span.to) continue;
    for (const [offset, minute] of openMinutes(counts)) {
      const at = start + offset;
      if (at >= span.from && at < span.to) add(at, minute);
    }
  }
  return found.length > 0;
}

async function addBlocks(
  tx: TrafficReader,
  domainId: number,
  { unit, span, add }: Adding & { readonly unit: 'hours' | 'days' },
): Promise<void> {
  for (const block of await tx.traffic.blocks(unit, [domainId], span)) add(block.start, openBlock(block));
}

/** Days, and the hours of those that are not built yet. */
async function addDays(tx: TrafficReader, domainId: number, { span, add }: Adding): Promise<void> {
  const days = await tx.traffic.blocks('days', [domainId], span);
  for (const day of days) add(day.start, openBlock(day));
  const built = new Set(days.map(({ start }) => start));
  const withHours = await tx.traffic.blockSums('hours', domainId, span);
  const missing = new Set(withHours.map(({ start }) => startOf(start, DAY)).filter((day) => !built.has(day)));
  for (const day of missing)
    await addBlocks(tx, domainId, { unit: 'hours', span: { from: day, to: day + DAY }, add });
}

function wholeSteps({ from, to }: MinuteSpan, length: number): MinuteSpan {
  return { from: startOf(from, length), to: startOf(to + length - 1, length) };
}

// Sums of a domain over any time, without opening more than the counts at its two ends. In: a transaction that reads one
// snapshot (between two statements of others a roll-up may move counts). Out: the sums that have a column.
//
// Days are used where the span has all of one, hours else, minutes where the span begins or ends within an hour. What is
// older than its minutes or hours are stored belongs to the time at which its hour or day begins.

/** Milliseconds since the epoch, `from` ≤ time < `to`. Parts of minutes are rounded down. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** The start of the span of `length` minutes that a minute is in. */
export function startOf(minute: number, length: number): number {
  return minute - (minute % length);
}

/** A span in minutes. */
function minutesOf({ from, to }: TimeSpan): MinuteSpan {
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
function chooseBlocks<Block extends Pick<BlockSums, 'start'>>({
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
