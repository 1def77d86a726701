/** What the tests of a class say about a value: each chain of transformations once, each literal in one pass. */

import type { Meter } from '../octets/meter.ts';
import type { LiteralIndex } from '../patterns/literal-index.ts';
import { isRuledOut, patternEnd } from '../patterns/pattern.ts';
import { changesOf, lengthAhead } from '../transformations/effects.ts';
import { ANY_VALUE, type Bucket, type TestSchedule, type ValueClass } from './buckets.ts';
import { type Hits, noteHit } from './hits.ts';
import { type ExactSchedules, scheduleFor } from './schedules.ts';
import { containsLiteralOf, setsOf, type ValueTest } from './value-tests.ts';
import {
  type ClassResult,
  type InspectedValue,
  type InspectedValues,
  type OpenTest,
  resultOf,
  transformed,
} from './values.ts';

export interface TestContext {
  readonly values: InspectedValues;
  readonly index: LiteralIndex;
  readonly exact: ExactSchedules;
}

/**
 * Notes for a member with this value each test that it hits. The result is remembered with the value; what it costs
 * is counted once in each inspection, whether this one found it out or an earlier one.
 */
export function testValue(
  from: TestContext,
  group: ValueClass,
  value: InspectedValue,
  using: { readonly meter: Meter; readonly hits: Hits; readonly member: number },
): void {
  const { meter, hits, member } = using;
  const known = resultOf(value, group.number);
  const heard = known !== null && known.inspection === meter.inspection;
  if (heard) meter.left -= AGAIN_STEPS + value.text.length;
  // Known or not: a schedule that this inspection asks for is charged for.
  const schedule = heard ? null : scheduleFor(group, value, { exact: from.exact, meter });
  const result = known ?? fresh(from, group, value, { schedule: schedule!, meter });
  if (result === null) return;
  if (!heard) {
    if (known !== null) meter.left -= known.steps;
    if (result.open !== null) runOpenTests(result.open, meter);
    result.inspection = meter.inspection;
  }
  for (let i = 0; i < result.passed.length; i++) noteHit(hits, result.passed[i]!, member);
  if (result.open === null) return;
  for (const { number, passed } of result.open) if (passed) noteHit(hits, number, member);
}

function runOpenTests(open: readonly OpenTest[], meter: Meter): void {
  for (const test of open)
    test.passed = patternEnd(test.matcher, test.value.text, meter) >= 0 !== test.negated;
}

const NOTHING: readonly number[] = [];

/** Judges a value; `null`: the meter has run out. */
function fresh(
  from: TestContext,
  group: ValueClass,
  value: InspectedValue,
  { schedule, meter }: { readonly schedule: TestSchedule; readonly meter: Meter },
): ClassResult | null {
  const before = meter.left;
  meter.left -= FIXED_STEPS;
  const run: TestRun = { index: from.index, meter, passed: null, open: null };
  if (schedule.unchanged !== null) testBucket(from, schedule.unchanged, value, run);
  for (const bucket of schedule.changing) {
    if (meter.left < 0) return null;
    testBucket(from, bucket, value, run);
  }
  if (meter.left < 0) return null;
  const { passed, open } = run;
  const steps = before - meter.left;
  value.results = {
    group: group.number,
    passed: passed ?? NOTHING,
    steps,
    open,
    inspection: 0,
    rest: value.results,
  };
  return value.results;
}

/** What a value costs beside its octets. */
const FIXED_STEPS = 100;
/** What a value costs, beside its octets, that this inspection has judged before. */
const AGAIN_STEPS = 60;
/** Steps of a transformation beside one for each octet. */
export const TRANSFORM_STEPS = 50;
/** Steps of the scan for literals beside one for each octet, and of a test that is run. */
const SCAN_STEPS = 15;
const RUN_STEPS = 25;

interface TestRun {
  readonly index: LiteralIndex;
  readonly meter: Meter;
  passed: number[] | null;
  open: OpenTest[] | null;
}

function testBucket(from: TestContext, bucket: Bucket, value: InspectedValue, run: TestRun): void {
  const { meter } = run;
  const { steps, shortest, always, mask, staged } = bucket;
  meter.left -= bucket.base;
  const changes = changesValue(bucket.changes, value);
  const chain = { steps, shortest, meter };
  if (mask !== null || always.length > 0) {
    const last = changes ? transformAll(from.values, value, chain) : value;
    if (last !== null) {
      if (mask !== null) testLiteralSets(from, bucket, last, run);
      for (const test of always) runTest(run, test, last);
    }
  }
  if (staged.length === 0 || meter.left < 0) return;
  // Also where the last stage is the first again: those between are not.
  const stages = changes ? stagesOf(from.values, value, chain) : [value];
  for (const test of staged) for (const stage of stages) runTest(run, test, stage);
}

function changesValue(changes: number, value: InspectedValue): boolean {
  return changes === ANY_VALUE || (value.shape & changes) !== 0;
}

/** Transformations to be done, and paid for. */
export interface Chain {
  /** Places in `WAF_TRANSFORMATIONS`. */
  readonly steps: readonly number[];
  /** A value of fewer octets is of no interest, nor what becomes of it. */
  readonly shortest: number;
  readonly meter: Meter;
}

/** The value behind the whole chain; `null`: it is of no interest, or the meter has run out. */
function transformAll(
  values: InspectedValues,
  value: InspectedValue,
  { steps, shortest, meter }: Chain,
): InspectedValue | null {
  let at = value;
  for (const step of steps) {
    if (!changesValue(changesOf(step), at)) continue;
    meter.left -= at.text.length;
    if (meter.left < 0 || lengthAhead(step, at.text) < shortest) return null;
    meter.left -= TRANSFORM_STEPS;
    at = transformed(values, at, step);
  }
  return at;
}

/** A value and what each step of a chain makes of it, where it changes something; without those of no interest. */
export function stagesOf(
  values: InspectedValues,
  value: InspectedValue,
  { steps, shortest, meter }: Chain,
): readonly InspectedValue[] {
  const stages = [value];
  let at = value;
  for (const step of steps) {
    if (!changesValue(changesOf(step), at)) continue;
    meter.left -= at.text.length;
    if (meter.left < 0 || lengthAhead(step, at.text) < shortest) break;
    meter.left -= TRANSFORM_STEPS;
    const next = transformed(values, at, step);
    if (next !== at) stages.push(next);
    at = next;
  }
  return stages;
}

function testLiteralSets(from: TestContext, bucket: Bucket, value: InspectedValue, run: TestRun): void {
  run.meter.left -= SCAN_STEPS + value.text.length;
  const sets = setsOf(value, from.index);
  const mask = bucket.mask!;
  for (let word = 0; word < sets.length; word++) {
    for (let bits = sets[word]! & mask[word]!; bits !== 0; bits &= bits - 1) {
      const set = (word << 5) + 31 - Math.clz32(bits & -bits);
      for (const test of bucket.bySet[set]!) runTest(run, test, value);
    }
  }
}

function runTest(run: TestRun, test: ValueTest, value: InspectedValue): void {
  const { number, negated, lazy, set, needed, shortest } = test;
  if (value.text.length < shortest || (needed !== ANY_VALUE && (value.shape & needed) === 0)) {
    if (negated) pass(run, number);
    return;
  }
  run.meter.left -= RUN_STEPS;
  if (lazy === null) {
    if (test.check(value, run.meter) !== negated) pass(run, number);
  } else if ((set >= 0 && !containsLiteralOf(value, run.index, set)) || isRuledOut(lazy, value, run.meter)) {
    if (negated) pass(run, number);
  } else {
    run.open ??= [];
    run.open.push({ number, negated, matcher: lazy, value, passed: false });
  }
}

function pass(run: TestRun, number: number): void {
  if (run.passed === null) run.passed = [number];
  else if (!run.passed.includes(number)) run.passed.push(number);
}
