/**
 * What a value need not runTest, by the kinds of its octets and by its length. Most values that come are words and
 * numbers: hardly any transformation changes them, so that what was to be done behind each chain is done once, and
 * hardly any pattern or literal may be in them. What is only a few octets long is too short for most of the rest.
 */
import { KIND } from '../../base/octet-kinds.ts';
import type { Meter } from '../octets/meter.ts';
import { changesOf, lengthBehind, makesOf } from '../transformations/effects.ts';
import {
  ANY_VALUE,
  type Bucket,
  type BucketSource,
  bucketOf,
  type TestSchedule,
  type ValueClass,
} from './buckets.ts';
import { EXACT_SCHEDULES } from './limits.ts';
import type { ValueTest } from './value-tests.ts';

const WORDS = KIND.lower | KIND.digit | KIND.underscore;
const NAMES = WORDS | KIND.dot | KIND.dash;
const TITLES = NAMES | KIND.upper | KIND.space;
const PROSE = TITLES | KIND.comma | KIND.colon | KIND.slash;
/** All but what begins an escape. */
const UNESCAPED = ~(KIND.percent | KIND.plus | KIND.backslash | KIND.ampersand | KIND.nul);

/** Kinds of octets that values are often made of; a value's profile is the first that holds all of its kinds. */
const PROFILES = [KIND.digit, WORDS, WORDS | KIND.upper, NAMES, TITLES, PROSE, UNESCAPED, -1] as const;
/** Profiles before this one say of a value nearly as much as its own kinds. */
const LOOSE = PROFILES.indexOf(UNESCAPED);

/** Lengths that are told apart: a value counts as one of the next of them. */
const LENGTHS = [0, 1, 2, 3, 4, 6, 8, 12, 24, Number.POSITIVE_INFINITY] as const;
const LONG = LENGTHS.length - 1;
/** By length, up to the last but one, its place in `LENGTHS`. */
const PLACES = Uint8Array.from({ length: LENGTHS[LONG - 1]! + 1 }, (_, length) =>
  LENGTHS.findIndex((most) => length <= most),
);

/** Plans for short values of just the kinds they hold, each in the slot it belongs to. */
export type ExactSchedules = (ExactSchedule | null)[];

interface ExactSchedule {
  readonly group: ValueClass;
  readonly shape: number;
  readonly place: number;
  readonly schedule: TestSchedule;
  /** The last inspection that asked for it. */
  inspection: number;
}

export function createExactSchedules(): ExactSchedules {
  return new Array<ExactSchedule | null>(EXACT_SCHEDULES).fill(null);
}

/** What making a schedule costs. */
const SCHEDULE_STEPS = 5_000;

/**
 * What a value undergoes in a class. Lists of short values with a mark or two are the dearest requests: those have schedules
 * of their own. The others share a handful, which are made once.
 */
// INVARIANT: whether an exact schedule is charged for follows from the inspection's own values: what a slot held before this
// inspection makes no difference to the count, only to the time.
export function scheduleFor(
  group: ValueClass,
  { text: { length }, shape }: { readonly text: string; readonly shape: number },
  { exact, meter }: { readonly exact: ExactSchedules; readonly meter: Meter },
): TestSchedule {
  let profile = 0;
  while ((shape & ~PROFILES[profile]!) !== 0) profile++;
  const place = length < PLACES.length ? PLACES[length]! : LONG;
  if (profile >= LOOSE && place < LONG) return exactSchedule({ group, shape, place }, exact, meter);
  const key = profile * LENGTHS.length + place;
  let schedule = group.schedules[key];
  if (schedule === undefined) {
    schedule = buildSchedule(group, PROFILES[profile]!, LENGTHS[place]!);
    group.schedules[key] = schedule;
  }
  return schedule;
}

function exactSchedule(
  { group, shape, place }: { readonly group: ValueClass; readonly shape: number; readonly place: number },
  exact: ExactSchedules,
  meter: Meter,
): TestSchedule {
  const slot = slotOf(shape, group.number * LENGTHS.length + place);
  const known = exact[slot]!;
  if (known !== null && known.shape === shape && known.place === place && known.group === group) {
    if (known.inspection !== meter.inspection) {
      known.inspection = meter.inspection;
      meter.left -= SCHEDULE_STEPS;
    }
    return known.schedule;
  }
  meter.left -= SCHEDULE_STEPS;
  const schedule = buildSchedule(group, shape, LENGTHS[place]!);
  exact[slot] = { group, shape, place, schedule, inspection: meter.inspection };
  return schedule;
}

/** The slot of two numbers whose bits say little one by one (the mixing is MurmurHash3's). */
function slotOf(shape: number, key: number): number {
  let hash = Math.imul(shape ^ (shape >>> 16), 0x85ebca6b) ^ Math.imul(key, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) & (EXACT_SCHEDULES - 1);
}

/** What remains for values of at most so many octets that hold no other kinds than these. */
function buildSchedule({ chained, source }: ValueClass, kinds: number, most: number): TestSchedule {
  const byChain = new Map<string, { readonly steps: readonly number[]; readonly tests: ValueTest[] }>();
  for (const { steps, tests } of chained) {
    const left = leftOf(steps, { kinds, most });
    const possible = tests.filter((test) => mayHold(test, left.forms, source));
    if (possible.length === 0) continue;
    const key = left.steps.join();
    const known = byChain.get(key);
    if (known === undefined) byChain.set(key, { steps: left.steps, tests: possible });
    else known.tests.push(...possible);
  }
  let unchanged: Bucket | null = null;
  const changing: Bucket[] = [];
  for (const { steps, tests } of byChain.values()) {
    const bucket = bucketOf(steps, tests, source);
    if (steps.length === 0) unchanged = bucket;
    else changing.push(bucket);
  }
  return { unchanged, changing };
}

/** What a value may be at some stage of its transformations. */
interface Form {
  readonly kinds: number;
  /** Octets at most. */
  readonly most: number;
}

/** What is left of a chain: the steps that may change the value, and all forms it may have at any stage. */
function leftOf(
  steps: readonly number[],
  sent: Form,
): { readonly steps: readonly number[]; readonly forms: readonly Form[] } {
  const left: number[] = [];
  const forms = [sent];
  for (const step of steps) {
    const changes = changesOf(step);
    const changed = forms.filter(({ kinds }) => changes === ANY_VALUE || (changes & kinds) !== 0);
    if (changed.length === 0) continue;
    left.push(step);
    for (const { kinds, most } of changed) {
      const form = { kinds: kinds | makesOf(step), most: lengthBehind(step, most) };
      if (!forms.some((one) => covers(one, form))) forms.push(form);
    }
  }
  return { steps: left, forms };
}

function covers(wide: Form, narrow: Form): boolean {
  return wide.most >= narrow.most && (narrow.kinds & ~wide.kinds) === 0;
}

/** Whether the outcome for values of some forms is not known beforehand. */
function mayHold(
  { negated, needed, set, shortest }: ValueTest,
  forms: readonly Form[],
  { setKinds }: BucketSource,
): boolean {
  if (negated) return true;
  return forms.some(({ kinds, most }) => {
    if (shortest > most || (needed !== ANY_VALUE && (needed & kinds) === 0)) return false;
    const folded = (kinds & KIND.upper) === 0 ? kinds : kinds | KIND.lower;
    return set < 0 || setKinds[set]!.some((one) => (one & ~folded) === 0);
  });
}
