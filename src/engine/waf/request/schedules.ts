/**
 * Schedules: the tests of a class that a value can pass, given the kinds of its octets and its length. Most values are
 * words and numbers. Hardly any transformation changes them, so that the tests behind all chains run on one text; hardly
 * any pattern or literal can occur in them; and values of a few octets are too short for most other tests.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import type { Meter } from '../octets/meter.ts';
import { changesOf, lengthBehind, makesOf } from '../transformations/transformations.ts';
import {
  ANY_VALUE,
  type Bucket,
  type BucketSource,
  bucketOf,
  type TestSchedule,
  type ValueClass,
  type ValueTest,
} from './target-classes.ts';

/**
 * Slots for schedules of exact kinds (`schedules.ts`), a power of two: several times as many as the requests of a site
 * need, and a few megabytes when an attacker fills them all.
 */
const EXACT_SCHEDULES = 1_024;

/** Kinds of octets in ordinary values, each list a superset of the one before. */
const WORDS = KIND.lower | KIND.digit | KIND.underscore;
const NAMES = WORDS | KIND.dot | KIND.dash;
const TITLES = NAMES | KIND.upper | KIND.space;
const PROSE = TITLES | KIND.comma | KIND.colon | KIND.slash;
/** All kinds except those that begin an escape sequence. */
const UNESCAPED = ~(KIND.percent | KIND.plus | KIND.backslash | KIND.ampersand | KIND.nul);

/** Frequent combinations of kinds; the profile of a value is the first that includes all of its kinds. */
const PROFILES = [KIND.digit, WORDS, WORDS | KIND.upper, NAMES, TITLES, PROSE, UNESCAPED, -1] as const;
/** The first profile that is so wide that a schedule for the exact kinds is much shorter. */
const LOOSE = PROFILES.indexOf(UNESCAPED);

/** Upper bounds of the classes of lengths, in octets. */
const LENGTHS = [0, 1, 2, 3, 4, 6, 8, 12, 24, Number.POSITIVE_INFINITY] as const;
const LONG = LENGTHS.length - 1;
/** By length in octets, its place in `LENGTHS`; longer values are in the last class. */
const PLACES = Uint8Array.from({ length: LENGTHS[LONG - 1]! + 1 }, (_, length) =>
  LENGTHS.findIndex((most) => length <= most),
);

/** A cache of schedules for short values of exactly certain kinds; one a slot, by hash. */
export type ExactSchedules = (ExactSchedule | null)[];

/** A schedule in the cache with its key: class, shape and place of the length. */
interface ExactSchedule {
  readonly valueClass: ValueClass;
  readonly shape: number;
  readonly place: number;
  readonly schedule: TestSchedule;
  /** The last inspection that was charged for it. */
  inspection: number;
}

/** Creates an empty cache. */
export function createExactSchedules(): ExactSchedules {
  return new Array<ExactSchedule | null>(EXACT_SCHEDULES).fill(null);
}

/** Steps of building a schedule. */
const SCHEDULE_STEPS = 5_000;

/**
 * Returns the schedule of a class for a value. Long lists of short values with one or two special characters are the most
 * expensive requests; such values get a schedule for exactly their kinds. All others share one for each profile and class
 * of lengths.
 */
// INVARIANT: whether an exact schedule is charged depends on the values of this inspection only. What a slot contained
// before the inspection affects the time, not the step count.
export function scheduleFor(
  valueClass: ValueClass,
  { text: { length }, shape }: { readonly text: string; readonly shape: number },
  { exact, meter }: { readonly exact: ExactSchedules; readonly meter: Meter },
): TestSchedule {
  let profile = 0;
  while ((shape & ~PROFILES[profile]!) !== 0) profile++;
  const place = length < PLACES.length ? PLACES[length]! : LONG;
  if (profile >= LOOSE && place < LONG) return exactSchedule({ valueClass, shape, place }, exact, meter);
  const key = profile * LENGTHS.length + place;
  let schedule = valueClass.schedules[key];
  if (schedule === undefined) {
    schedule = buildSchedule(valueClass, PROFILES[profile]!, LENGTHS[place]!);
    valueClass.schedules[key] = schedule;
  }
  return schedule;
}

/** Returns the schedule for exactly these kinds, from the cache or built now. */
function exactSchedule(
  {
    valueClass,
    shape,
    place,
  }: { readonly valueClass: ValueClass; readonly shape: number; readonly place: number },
  exact: ExactSchedules,
  meter: Meter,
): TestSchedule {
  const slot = slotOf(shape, valueClass.number * LENGTHS.length + place);
  const known = exact[slot]!;
  if (known !== null && known.shape === shape && known.place === place && known.valueClass === valueClass) {
    if (known.inspection !== meter.inspection) {
      known.inspection = meter.inspection;
      meter.left -= SCHEDULE_STEPS;
    }
    return known.schedule;
  }
  meter.left -= SCHEDULE_STEPS;
  const schedule = buildSchedule(valueClass, shape, LENGTHS[place]!);
  exact[slot] = { valueClass, shape, place, schedule, inspection: meter.inspection };
  return schedule;
}

/** Hashes shape and key to a slot (the finaliser of MurmurHash3). */
function slotOf(shape: number, key: number): number {
  let hash = Math.imul(shape ^ (shape >>> 16), 0x85ebca6b) ^ Math.imul(key, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) & (EXACT_SCHEDULES - 1);
}

/** Builds the schedule for values of at most `most` octets of no other kinds than `kinds`. */
function buildSchedule({ chained, source }: ValueClass, kinds: number, most: number): TestSchedule {
  const byChain = new Map<string, { readonly steps: readonly number[]; readonly tests: ValueTest[] }>();
  for (const { steps, tests } of chained) {
    const needed = neededSteps(steps, { kinds, most });
    const possible = tests.filter((test) => mayPass(test, needed.forms, source));
    if (possible.length === 0) continue;
    const key = needed.steps.join();
    const known = byChain.get(key);
    if (known === undefined) byChain.set(key, { steps: needed.steps, tests: possible });
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

/** Bounds of a value at some stage of its transformations. */
interface Form {
  /** The kinds of octets that it can contain. */
  readonly kinds: number;
  /** Its largest length in octets. */
  readonly most: number;
}

/** Returns the steps of a chain that can change such a value, and the forms it can have at any stage. */
function neededSteps(
  steps: readonly number[],
  sent: Form,
): { readonly steps: readonly number[]; readonly forms: readonly Form[] } {
  const needed: number[] = [];
  const forms = [sent];
  for (const step of steps) {
    const changes = changesOf(step);
    const changed = forms.filter(({ kinds }) => changes === ANY_VALUE || (changes & kinds) !== 0);
    if (changed.length === 0) continue;
    needed.push(step);
    for (const { kinds, most } of changed) {
      const form = { kinds: kinds | makesOf(step), most: lengthBehind(step, most) };
      if (!forms.some((one) => covers(one, form))) forms.push(form);
    }
  }
  return { steps: needed, forms };
}

/** Whether every value of the narrow form is also one of the wide form. */
function covers(wide: Form, narrow: Form): boolean {
  return wide.most >= narrow.most && (narrow.kinds & ~wide.kinds) === 0;
}

/** Whether a test can pass for a value of one of these forms. */
function mayPass(
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
