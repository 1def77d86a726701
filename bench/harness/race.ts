/**
 * Times two sides against each other in one run, turn by turn (A B A B …), so that whatever the machine does meanwhile
 * meets both. The result is the ratio of the medians of their turns. Turns are short, about 0.3 ms: one that the
 * scheduler or a collection falls into is then one of many, and the median passes it over.
 */
import type { BenchOptions } from '../row.ts';

/** One of two things that are compared. */
export interface Side {
  readonly name: string;
  /**
   * Made before every turn, untimed: requests whose strings nobody has looked at yet. On a server every request is
   * like that; the hash of a string that is looked up again and again would be there already. Only what the turn takes
   * is made, so that it is as near in memory as a request is that was read a moment ago.
   */
  readonly fresh?: Fresh;
  /**
   * Does the work `count` times, on the sample's entries from `from` on, over and over. Loops belong to the side, so
   * that a fast one pays for no call that its rival is spared.
   */
  run(from: number, count: number): void | Promise<void>;
}

export interface Fresh {
  /** Entries; a turn takes each at most once. */
  readonly size: number;
  renew(from: number, count: number): void;
}

export interface RaceResult {
  /** Nanoseconds an operation of each side takes: the median over the turns. */
  readonly a: number;
  readonly b: number;
  /** a ÷ b. */
  readonly ratio: number;
}

/** Where results go, so that no compiler may leave their computation out. */
export const sink: { value: unknown } = { value: null };

interface Measure {
  /** Milliseconds of one turn. */
  readonly turn: number;
  /** Milliseconds of work before the first turn counts. */
  readonly warmUp: number;
  readonly rounds: number;
  /** Milliseconds after which no further round is begun, once there were a few. */
  readonly patience: number;
}

/** For sides that are processes of their own: a turn long enough for hundreds of requests on every connection. */
export const SERVERS = {
  full: { turn: 250, warmUp: 2_000, rounds: 21, patience: 12_000 },
  quick: { turn: 20, warmUp: 50, rounds: 3, patience: 0 },
} as const satisfies Pace;

const FULL: Measure = { turn: 0.3, warmUp: 600, rounds: 401, patience: 8_000 };
const QUICK: Measure = { turn: 0.1, warmUp: 10, rounds: 3, patience: 0 };
/** How long to measure in a full run and in a smoke run. */
interface Pace {
  readonly full: Measure;
  readonly quick: Measure;
}

const FEWEST_ROUNDS = 9;

interface Turns {
  readonly side: Side;
  readonly count: number;
  readonly times: number[];
  from: number;
}

export async function race(
  a: Side,
  b: Side,
  { quick, pace = { full: FULL, quick: QUICK } }: BenchOptions & { readonly pace?: Pace },
): Promise<RaceResult> {
  const measure = quick ? pace.quick : pace.full;
  const turns: Turns[] = [];
  for (const side of [a, b]) turns.push({ side, count: await calibrate(side, measure), times: [], from: 0 });
  const begun = performance.now();
  for (let round = 0; round < measure.rounds; round++) {
    if (round >= FEWEST_ROUNDS && performance.now() - begun > measure.patience) break;
    for (const each of turns) await take(each);
  }
  const [left, right] = turns.map(({ times }) => median(times)) as [number, number];
  return { a: left, b: right, ratio: left / right };
}

async function take(turns: Turns): Promise<void> {
  const { side, count } = turns;
  turns.times.push((await timed(side, turns.from, count)) / count);
  turns.from += count;
}

/** Nanoseconds that `count` operations take. */
async function timed(side: Side, from: number, count: number): Promise<number> {
  side.fresh?.renew(from, count);
  const started = performance.now();
  const done = side.run(from, count);
  if (done !== undefined) await done;
  return (performance.now() - started) * 1e6;
}

/** Warms a side up and finds how many operations fill a turn. */
async function calibrate(side: Side, { turn, warmUp }: Measure): Promise<number> {
  const most = side.fresh?.size ?? Number.POSITIVE_INFINITY;
  let count = 1;
  for (let spent = 0; ; ) {
    const took = (await timed(side, 0, count)) / 1e6;
    spent += took;
    const full = took >= turn || count >= most;
    if (full && spent >= warmUp) return Math.min(most, Math.max(1, Math.round((count * turn) / took)));
    if (!full) count = Math.min(most, took * 8 < turn ? count * 4 : Math.ceil(count * 1.5));
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((x, y) => x - y);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** A duration in nanoseconds as people read it. */
export function timeText(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${Math.round(nanoseconds)} ns`;
  if (nanoseconds < 1e6) return `${(nanoseconds / 1e3).toPrecision(3)} µs`;
  if (nanoseconds < 1e9) return `${(nanoseconds / 1e6).toPrecision(3)} ms`;
  return `${(nanoseconds / 1e9).toPrecision(3)} s`;
}

/** Both sides' times, for a row's note. */
export function timesText(a: Side, b: Side, result: RaceResult): string {
  return `${a.name} ${timeText(result.a)}, ${b.name} ${timeText(result.b)}`;
}
