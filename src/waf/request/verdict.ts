/** What the tests of a class say about a value: each chain of transformations once, each literal in one pass. */

import type { Meter } from '../octets/meter.ts';
import type { LiteralIndex } from '../patterns/literal-index.ts';
import { isRuledOut, patternEnd } from '../patterns/pattern.ts';
import { changesOf, lengthAhead } from '../transformations/effects.ts';
import { ANY_VALUE, type Bucket, type TransformationChain, type ValueClass } from './buckets.ts';
import { type Condition, containsLiteralOf, setsOf } from './conditions.ts';
import { type Hits, noteHit } from './hits.ts';
import { chainFor, type ExactChains } from './transformation-chains.ts';
import {
  type ConditionVerdict,
  type InspectedValue,
  type InspectedValues,
  type OpenTest,
  transformed,
  verdictOf,
} from './values.ts';

export interface ValueJudge {
  readonly values: InspectedValues;
  readonly index: LiteralIndex;
  readonly exact: ExactChains;
}

/**
 * Notes for a member with this value each test that it passes. The verdict is remembered with the value; what it costs
 * is counted once in each inspection, whether this one found it out or an earlier one.
 */
export function judge(
  from: ValueJudge,
  group: ValueClass,
  value: InspectedValue,
  using: { readonly meter: Meter; readonly passes: Hits; readonly member: number },
): void {
  const { meter, passes, member } = using;
  const known = verdictOf(value, group.number);
  const heard = known !== null && known.inspection === meter.inspection;
  if (heard) meter.left -= AGAIN_STEPS + value.text.length;
  // Known or not: a plan that this inspection asks for is charged for.
  const plan = heard ? null : chainFor(group, value, { exact: from.exact, meter });
  const verdict = known ?? fresh(from, group, value, { plan: plan!, meter });
  if (verdict === null) return;
  if (!heard) {
    if (known !== null) meter.left -= known.steps;
    if (verdict.open !== null) undergoOpen(verdict.open, meter);
    verdict.inspection = meter.inspection;
  }
  for (let i = 0; i < verdict.passed.length; i++) noteHit(passes, verdict.passed[i]!, member);
  if (verdict.open === null) return;
  for (const { number, passed } of verdict.open) if (passed) noteHit(passes, number, member);
}

function undergoOpen(open: readonly OpenTest[], meter: Meter): void {
  for (const test of open)
    test.passed = patternEnd(test.matcher, test.value.text, meter) >= 0 !== test.negated;
}

const NOTHING: readonly number[] = [];

/** Judges a value; `null`: the meter has run out. */
function fresh(
  from: ValueJudge,
  group: ValueClass,
  value: InspectedValue,
  { plan, meter }: { readonly plan: TransformationChain; readonly meter: Meter },
): ConditionVerdict | null {
  const before = meter.left;
  meter.left -= FIXED_STEPS;
  const judging: Judging = { index: from.index, meter, passed: null, open: null };
  if (plan.unchanged !== null) judgeBucket(from, plan.unchanged, value, judging);
  for (const bucket of plan.changing) {
    if (meter.left < 0) return null;
    judgeBucket(from, bucket, value, judging);
  }
  if (meter.left < 0) return null;
  const { passed, open } = judging;
  const steps = before - meter.left;
  value.verdicts = {
    group: group.number,
    passed: passed ?? NOTHING,
    steps,
    open,
    inspection: 0,
    rest: value.verdicts,
  };
  return value.verdicts;
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

interface Judging {
  readonly index: LiteralIndex;
  readonly meter: Meter;
  passed: number[] | null;
  open: OpenTest[] | null;
}

function judgeBucket(from: ValueJudge, bucket: Bucket, value: InspectedValue, judging: Judging): void {
  const { meter } = judging;
  const { steps, shortest, always, mask, staged } = bucket;
  meter.left -= bucket.base;
  const changes = changesValue(bucket.changes, value);
  const chain = { steps, shortest, meter };
  if (mask !== null || always.length > 0) {
    const last = changes ? transformAll(from.values, value, chain) : value;
    if (last !== null) {
      if (mask !== null) judgeSets(from, bucket, last, judging);
      for (const test of always) undergo(judging, test, last);
    }
  }
  if (staged.length === 0 || meter.left < 0) return;
  // Also where the last stage is the first again: those between are not.
  const stages = changes ? stagesOf(from.values, value, chain) : [value];
  for (const test of staged) for (const stage of stages) undergo(judging, test, stage);
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

function judgeSets(from: ValueJudge, bucket: Bucket, value: InspectedValue, judging: Judging): void {
  judging.meter.left -= SCAN_STEPS + value.text.length;
  const sets = setsOf(value, from.index);
  const mask = bucket.mask!;
  for (let word = 0; word < sets.length; word++) {
    for (let bits = sets[word]! & mask[word]!; bits !== 0; bits &= bits - 1) {
      const set = (word << 5) + 31 - Math.clz32(bits & -bits);
      for (const test of bucket.bySet[set]!) undergo(judging, test, value);
    }
  }
}

function undergo(judging: Judging, test: Condition, value: InspectedValue): void {
  const { number, negated, lazy, set, needed, shortest } = test;
  if (value.text.length < shortest || (needed !== ANY_VALUE && (value.shape & needed) === 0)) {
    if (negated) pass(judging, number);
    return;
  }
  judging.meter.left -= RUN_STEPS;
  if (lazy === null) {
    if (test.check(value, judging.meter) !== negated) pass(judging, number);
  } else if (
    (set >= 0 && !containsLiteralOf(value, judging.index, set)) ||
    isRuledOut(lazy, value, judging.meter)
  ) {
    if (negated) pass(judging, number);
  } else {
    judging.open ??= [];
    judging.open.push({ number, negated, matcher: lazy, value, passed: false });
  }
}

function pass(judging: Judging, number: number): void {
  if (judging.passed === null) judging.passed = [number];
  else if (!judging.passed.includes(number)) judging.passed.push(number);
}
