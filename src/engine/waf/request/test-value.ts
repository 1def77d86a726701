/**
 * Runs the tests of a class on a value: each transformation chain is applied once, and one pass searches all literals.
 * In: a class, a value. Out: the hits of the member with that value.
 */
import type { Meter } from '../octets/meter.ts';
import type { LiteralIndex } from '../patterns/literal-index.ts';
import { isRuledOut, patternEnd } from '../patterns/pattern.ts';
import { changesOf, lengthAhead } from '../transformations/transformations.ts';
import { addHit, type Hits } from './members.ts';
import { type ExactSchedules, scheduleFor } from './schedules.ts';
import {
  ANY_VALUE,
  type Bucket,
  containsLiteralOf,
  mayMeet,
  setsOf,
  type TestSchedule,
  type ValueClass,
  type ValueTest,
} from './target-classes.ts';
import {
  type ClassResult,
  type InspectedValue,
  type InspectedValues,
  type OpenTest,
  resultOf,
  transformed,
} from './values.ts';

/** The parts of a compiled rule set that tests need. */
export interface TestContext {
  readonly values: InspectedValues;
  readonly index: LiteralIndex;
  readonly exact: ExactSchedules;
}

/**
 * Adds a hit for each test of the class that the value passes. The result is stored with the value. Each inspection is
 * charged the full cost once, even if an earlier inspection computed the result, so that its step count does not depend
 * on earlier requests.
 */
export function testValue(
  from: TestContext,
  group: ValueClass,
  value: InspectedValue,
  using: { readonly meter: Meter; readonly hits: Hits; readonly member: number },
): void {
  const { meter, hits, member } = using;
  const known = resultOf(value, group.number);
  const charged = known !== null && known.inspection === meter.inspection;
  if (charged) meter.left -= AGAIN_STEPS + value.text.length;
  // Also with a stored result, since looking up the schedule charges its cost to this inspection.
  const schedule = charged ? null : scheduleFor(group, value, { exact: from.exact, meter });
  const result = known ?? computeResult(from, group, value, { schedule: schedule!, meter });
  if (result === null) return;
  if (!charged) {
    if (known !== null) meter.left -= known.steps;
    if (result.open !== null) runOpenTests(result.open, meter);
    result.inspection = meter.inspection;
  }
  for (let i = 0; i < result.passed.length; i++) addHit(hits, result.passed[i]!, member);
  if (result.open === null) return;
  for (const { number, passed } of result.open) if (passed) addHit(hits, number, member);
}

/** Adds a hit if the value passes the dear test of a bucket. The result is not stored. */
export function testDear(
  from: TestContext,
  bucket: Bucket,
  value: InspectedValue,
  using: { readonly meter: Meter; readonly hits: Hits; readonly member: number },
): void {
  const { meter, hits, member } = using;
  const run = beginRun(from, meter);
  testBucket(from, bucket, value, run);
  for (const test of run.passed ?? NOTHING) addHit(hits, test, member);
}

/** Runs the tests that every inspection repeats. */
function runOpenTests(open: readonly OpenTest[], meter: Meter): void {
  for (const test of open)
    test.passed = patternEnd(test.matcher, test.value.text, meter) >= 0 !== test.negated;
}

const NOTHING: readonly number[] = [];

/** Runs all tests of the class on a value and stores the result; `null`: the step budget is exhausted. */
function computeResult(
  from: TestContext,
  group: ValueClass,
  value: InspectedValue,
  { schedule, meter }: { readonly schedule: TestSchedule; readonly meter: Meter },
): ClassResult | null {
  const before = meter.left;
  meter.left -= FIXED_STEPS;
  const run = beginRun(from, meter);
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

/** Steps for a value, besides those for its octets. */
const FIXED_STEPS = 100;
/** Steps for a value that this inspection has tested before, besides one for each octet. */
const AGAIN_STEPS = 60;
/** Steps of a transformation, besides one for each octet. */
export const TRANSFORM_STEPS = 50;
/** Steps of a search for literals, besides one for each octet. */
const SCAN_STEPS = 15;
/** Steps of a test that runs its operator. */
const RUN_STEPS = 25;

/** The tests of one value in progress. */
interface TestRun {
  index: LiteralIndex | null;
  meter: Meter;
  /** The tests passed so far; `null`: none. */
  passed: number[] | null;
  /** `ClassResult.open`. */
  open: OpenTest[] | null;
}

// PERF: one state for all values, since a list has thousands. Tests are synchronous, and each value resets all fields.
const current: TestRun = { index: null, meter: { left: 0, inspection: 0 }, passed: null, open: null };

/** Begins the tests of a value. */
function beginRun({ index }: TestContext, meter: Meter): TestRun {
  current.index = index;
  current.meter = meter;
  current.passed = null;
  current.open = null;
  return current;
}

/** Runs the tests behind one transformation chain. */

function testBucket(from: TestContext, bucket: Bucket, value: InspectedValue, run: TestRun): void {
  const { meter } = run;
  const { always, mask, staged } = bucket;
  meter.left -= bucket.base;
  if (bucket.demands !== null && !mayMeet(bucket, value)) return;
  const changes = changesValue(bucket.changes, value);
  if (mask !== null || always.length > 0) {
    const last = changes ? transformAll(from.values, value, bucket, meter) : value;
    if (last !== null) {
      if (mask !== null) testLiteralSets(from, bucket, last, run);
      for (const test of always) runTest(run, test, last);
    }
  }
  if (staged.length === 0 || meter.left < 0) return;
  // Also if the last stage equals the first, since the stages between differ.
  const { steps, shortest } = bucket;
  const stages = changes ? stagesOf(from.values, value, { steps, shortest, meter }) : [value];
  for (const test of staged) for (const stage of stages) runTest(run, test, stage);
}

function changesValue(changes: number, value: InspectedValue): boolean {
  return changes === ANY_VALUE || (value.shape & changes) !== 0;
}

/** A transformation chain to apply. */
export interface Chain {
  /** Places in `WAF_TRANSFORMATIONS`. */
  readonly steps: readonly number[];
  /** The length in octets below which no test passes at this or a later stage; 0: unknown. */
  readonly shortest: number;
  /** The meter to charge. */
  readonly meter: Meter;
}

/** Applies the whole chain; `null`: the value became too short, or the step budget is exhausted. */
function transformAll(
  values: InspectedValues,
  value: InspectedValue,
  { steps, shortest }: Bucket,
  meter: Meter,
): InspectedValue | null {
  let at = value;
  for (let place = 0; place < steps.length; place++) {
    const step = steps[place]!;
    if (!changesValue(changesOf(step), at)) continue;
    meter.left -= at.text.length;
    if (meter.left < 0 || lengthAhead(step, at.text) < shortest) return null;
    meter.left -= TRANSFORM_STEPS;
    at = transformed(values, at, step);
  }
  return at;
}

/** Returns a value and its forms after each step that changes it, up to the first that is too short. */
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

/** Searches the literals in a value, then runs the tests whose set has a literal in it. */
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

/** Runs one test, unless length, kinds of octets or guard decide it; postpones lazy patterns to `open`. */
function runTest(run: TestRun, test: ValueTest, value: InspectedValue): void {
  const { number, negated, lazy, set, needed, shortest } = test;
  if (value.text.length < shortest || (needed !== ANY_VALUE && (value.shape & needed) === 0)) {
    if (negated) pass(run, number);
    return;
  }
  run.meter.left -= RUN_STEPS;
  if (lazy === null) {
    if (test.check(value, run.meter) !== negated) pass(run, number);
  } else if ((set >= 0 && !containsLiteralOf(value, run.index!, set)) || isRuledOut(lazy, value, run.meter)) {
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
