/**
 * Times two sides against each other in one run, turn by turn (A B A B …), so that whatever the machine does meanwhile
 * meets both. The result is the ratio of the medians of their rounds.
 */
import type { BenchOptions } from '../row.ts';
import { clock } from './clock.ts';

/** One of two things that are compared. */
export interface Side {
  readonly name: string;
  /**
   * Does the work `count` times, on the sample's entries from `from` on, over and over. Loops belong to the side, so
   * that a fast one pays for no call that its rival is spared.
   */
  run(from: number, count: number): void | Promise<void>;
}

export interface RaceResult {
  /** Nanoseconds an operation of each side takes: the median over the rounds. */
  readonly a: number;
  readonly b: number;
  /** a ÷ b. */
  readonly ratio: number;
}

/** Where results go, so that no compiler may leave their computation out. */
export const sink: { value: unknown } = { value: null };

interface Turn {
  readonly side: Side;
  readonly count: number;
  readonly times: number[];
  from: number;
}

/** Milliseconds of one turn, of warming up before the first, and the number of rounds. */
function measureOf({ quick }: BenchOptions): { turn: number; warmUp: number; rounds: number } {
  return quick ? { turn: 1, warmUp: 20, rounds: 5 } : { turn: 15, warmUp: 400, rounds: 41 };
}

export async function race(a: Side, b: Side, options: BenchOptions): Promise<RaceResult> {
  const { turn, warmUp, rounds } = measureOf(options);
  const turns: Turn[] = [];
  for (const side of [a, b]) {
    const count = await calibrate(side, turn, warmUp);
    turns.push({ side, count, times: [], from: 0 });
  }
  for (let round = 0; round < rounds; round++) for (const each of turns) await take(each);
  const [left, right] = turns.map(({ times }) => median(times)) as [number, number];
  return { a: left, b: right, ratio: left / right };
}

async function take(turn: Turn): Promise<void> {
  const started = clock();
  const done = turn.side.run(turn.from, turn.count);
  if (done !== undefined) await done;
  turn.times.push((clock() - started) / turn.count);
  turn.from += turn.count;
}

/** Warms a side up and finds how many operations fill a turn. */
async function calibrate(side: Side, turn: number, warmUp: number): Promise<number> {
  const begun = clock();
  let count = 1;
  for (;;) {
    const started = clock();
    const done = side.run(0, count);
    if (done !== undefined) await done;
    const took = (clock() - started) / 1e6;
    const warm = (clock() - begun) / 1e6 >= warmUp;
    if (took >= turn && warm) return Math.max(1, Math.round((count * turn) / took));
    if (took < turn) count = took * 8 < turn ? count * 4 : Math.ceil(count * 1.5);
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
  return `${(nanoseconds / 1e6).toPrecision(3)} ms`;
}

/** Both sides' times, for a row's note. */
export function timesText(a: Side, b: Side, result: RaceResult): string {
  return `${a.name} ${timeText(result.a)}, ${b.name} ${timeText(result.b)}`;
}
