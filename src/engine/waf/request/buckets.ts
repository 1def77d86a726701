/** The tests of one class, grouped by the transformation chain that precedes them. */
import { changesOf, lengthBehind } from '../transformations/effects.ts';
import type { ValueTest } from './value-tests.ts';

/** The tests behind one chain, arranged for `testValue`. */
export interface Bucket {
  /** The transformations, as places in `WAF_TRANSFORMATIONS`. */
  readonly steps: readonly number[];
  /** The kinds of octets that the chain changes; -1: it can change every value. */
  readonly changes: number;
  /** The sets of literals with tests in `bySet`, a bit each; `null`: there are none. */
  readonly mask: Uint32Array | null;
  /** By set, the tests that require one of its literals. */
  readonly bySet: readonly (readonly ValueTest[])[];
  /** The tests that require no literal. */
  readonly always: readonly ValueTest[];
  /** The steps charged for each value. */
  readonly base: number;
  /** The tests with `multiMatch`, which run after each transformation. */
  readonly staged: readonly ValueTest[];
  /** The length in octets below which no test passes at this or a later stage; 0: values of any length may pass. */
  readonly shortest: number;
}

/** The tests of a class with the same chain. */
export interface Chained {
  /** Places in `WAF_TRANSFORMATIONS`. */
  readonly steps: readonly number[];
  readonly tests: readonly ValueTest[];
}

/** `Bucket.changes` of a chain that can change every value, even the empty one, whose shape is 0. */
export const ANY_VALUE = -1;

/** The parts of a level that buckets are built from. */
export interface BucketSource {
  /** Places in `WAF_TRANSFORMATIONS`, by chain. */
  readonly chains: readonly (readonly number[])[];
  /** `LiteralIndex.words`. */
  readonly words: number;
  /** By set of literals, the kinds of octets of each literal (`LiteralSets.kinds`). */
  readonly setKinds: readonly (readonly number[])[];
}

/** The tests to run for values of certain kinds of octets and of certain lengths (`schedules.ts`). */
export interface TestSchedule {
  /** The tests behind all chains that do not change such values; `null`: there are none. */
  readonly unchanged: Bucket | null;
  /** The tests behind chains that can change such values. */
  readonly changing: readonly Bucket[];
}

/** A class of members: the tests that apply to their values. */
export interface ValueClass {
  /** Its number within the level, from 0. */
  readonly number: number;
  readonly chained: readonly Chained[];
  /** By profile and length (`schedules.ts`), the schedule; each is built for the first value that needs it. */
  readonly schedules: (TestSchedule | undefined)[];
  readonly source: BucketSource;
}

/** Steps for each bucket of a value. */
const BUCKET_STEPS = 20;
/** Steps for each test of a bucket that no literal excludes. */
const TEST_STEPS = 4;

/** Arranges the tests behind a chain. */
export function bucketOf(
  steps: readonly number[],
  tests: readonly ValueTest[],
  { words }: BucketSource,
): Bucket {
  const bySet: ValueTest[][] = [];
  const always: ValueTest[] = [];
  const staged: ValueTest[] = [];
  const mask = new Uint32Array(words);
  for (const test of tests) {
    if (test.multiMatch && steps.length > 0) staged.push(test);
    else if (test.set < 0 || test.negated) always.push(test);
    else {
      bySet[test.set] ??= [];
      bySet[test.set]!.push(test);
      mask[test.set >> 5]! |= 1 << (test.set & 31);
    }
  }
  const masks = steps.map(changesOf);
  const changes = masks.includes(ANY_VALUE) ? ANY_VALUE : masks.reduce((all, one) => all | one, 0);
  const base = BUCKET_STEPS + TEST_STEPS * (always.length + staged.length);
  const shrinks = steps.every((step) => lengthBehind(step, 1) <= 1);
  const least = tests.reduce((least, one) => Math.min(least, one.negated ? 0 : one.shortest), Infinity);
  const shortest = shrinks ? least : 0;
  return { steps, changes, mask: bySet.length === 0 ? null : mask, bySet, always, staged, base, shortest };
}
