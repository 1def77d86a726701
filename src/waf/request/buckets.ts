/** The tests of one class of values, by what is done to the value before. */

import { changesOf, lengthBehind } from '../transformations/effects.ts';
import type { ValueTest } from './value-tests.ts';

/** The tests of a class behind one chain. */
export interface Bucket {
  /** Places in `WAF_TRANSFORMATIONS`. */
  readonly steps: readonly number[];
  /** Kinds of octets without which the chain changes nothing; -1: it may change any value. */
  readonly changes: number;
  /** The sets whose tests are here, and those tests by set; `null`: there are none. */
  readonly mask: Uint32Array | null;
  readonly bySet: readonly (readonly ValueTest[])[];
  /** Tests that any value undergoes. */
  readonly always: readonly ValueTest[];
  /** What the bucket costs whatever the value is. */
  readonly base: number;
  /** Tests of the value after each transformation. */
  readonly staged: readonly ValueTest[];
  /** Octets without which none of the tests comes to anything at this or any later stage; 0: it may on any value. */
  readonly shortest: number;
}

/** The tests of a class that runTest the same chain. */
export interface Chained {
  /** Places in `WAF_TRANSFORMATIONS`. */
  readonly steps: readonly number[];
  readonly tests: readonly ValueTest[];
}

/** Any value may be changed, also the empty one, whose shape is 0. */
export const ANY_VALUE = -1;

export interface BucketSource {
  /** Places in `WAF_TRANSFORMATIONS`, by chain. */
  readonly chains: readonly (readonly number[])[];
  /** Words of a value's set bits. */
  readonly words: number;
  /** By set of literals, the kinds of octets that they are made of. */
  readonly setKinds: readonly (readonly number[])[];
}

/** What remains to be done for values of some kinds of octets and of some length only (`schedules.ts`). */
export interface TestSchedule {
  /** The tests behind all chains that leave the value as it is; `null`: there are none. */
  readonly unchanged: Bucket | null;
  /** What may change the value. */
  readonly changing: readonly Bucket[];
}

/** The tests that values of one class runTest. */
export interface ValueClass {
  readonly number: number;
  readonly chained: readonly Chained[];
  /** By profile and length (`schedules.ts`), what remains to be done for such values; made when the first of them comes. */
  readonly schedules: (TestSchedule | undefined)[];
  readonly source: BucketSource;
}

/** Steps of looking at a value behind one chain, and of looking whether a test may hold for it. */
const BUCKET_STEPS = 20;
const TEST_STEPS = 4;

/** The tests behind a chain. */
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
