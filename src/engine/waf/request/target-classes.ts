/**
 * Classes of members: the tests that apply to a member of a request, grouped by the transformation chain that precedes
 * them. Members of one source share a class unless targets select by name (`REQUEST_HEADERS:User-Agent`,
 * `!REQUEST_COOKIES:/^__utm/`).
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import type { WafTarget } from '../../plan/signature-program.ts';
import type { Meter } from '../octets/meter.ts';
import { shapeOf } from '../octets/octet-buffer.ts';
import { type LiteralIndex, setsIn } from '../patterns/literal-index.ts';
import { type Matcher, mayMatch, patternEnd } from '../patterns/pattern.ts';
import { changesOf, lengthBehind, makesOf } from '../transformations/transformations.ts';
import { MAX_CACHED_NAMES } from './tx.ts';
import type { InspectedValue } from './values.ts';

/** The classes of one source's members; a class of `null` has no tests. */
export interface TargetClasses {
  /** By name in targets of the source, in lower case, its key in `bySelector`. */
  readonly names: ReadonlyMap<string, string>;
  /** The lengths of `names`, a bit each, modulo 32. */
  readonly lengths: number;
  /** The patterns of names in targets of the source. */
  readonly patterns: readonly Matcher[];
  /** The class of all names that are not in `names` and match no pattern. */
  readonly common: ValueClass | null;
  /** A cache of the other classes, by the name or the patterns that select it. */
  readonly bySelector: Map<string, ValueClass | null>;
  /** Computes the class of a name. */
  readonly find: (name: string) => ValueClass | null;
}

/** Names are matched without a step budget: they are short, and the results are cached. */
const UNMETERED: Meter = { left: 0, inspection: 0 };

/** Whether a pattern matches a name. */
function nameMatches(matcher: Matcher, name: string): boolean {
  UNMETERED.left = Number.MAX_SAFE_INTEGER;
  return patternEnd(matcher, name, UNMETERED) >= 0;
}

/** Whether a target selects a member by its name, without case; the name in the target is in lower case. */
export function selects({ selector }: WafTarget, name: string, matchers: readonly Matcher[]): boolean {
  switch (selector.kind) {
    case 'all':
      return true;
    case 'name':
      return selector.name.length === name.length && selector.name === name.toLowerCase();
    case 'pattern':
      return nameMatches(matchers[selector.pattern]!, name);
    default:
      return selector satisfies never;
  }
}

/** Whether some names can have another class than the common one. */
export function mayDiffer({ names, patterns }: TargetClasses): boolean {
  return names.size > 0 || patterns.length > 0;
}

/** Returns the class of a member by its name; `null`: no test applies to it. */
// PERF: a body may have thousands of new names. Checking that none of the few names and patterns of targets selects a name
// costs a tenth of computing its class.
export function classOf(classes: TargetClasses, name: string): ValueClass | null {
  const { names, lengths, patterns, common, bySelector } = classes;
  let key = ((lengths >>> (name.length & 31)) & 1) === 0 ? '' : (names.get(name.toLowerCase()) ?? '');
  const shape = patterns.length === 0 ? 0 : shapeOf(name);
  for (let i = 0; i < patterns.length; i++) {
    if (mayMatch(patterns[i]!, shape) && nameMatches(patterns[i]!, name)) key = `${i},${key}`;
  }
  if (key === '') return common;
  let found = bySelector.get(key);
  if (found === undefined) {
    found = classes.find(name);
    if (bySelector.size >= MAX_CACHED_NAMES) bySelector.clear();
    bySelector.set(key, found);
  }
  return found;
}

// The tests of one class, grouped by the transformation chain that precedes them.

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
  /** A transformed value meets one of these if a test passes; `null`: it may meet none. */
  readonly demands: readonly Demand[] | null;
}

/** What a text has that contains a literal. */
export interface LiteralDemand {
  /** The kinds of octets in the literal. */
  readonly kinds: number;
  /** Its letters (`lettersOf`). */
  readonly letters: number;
}

/** What a value has that passes a test. */
interface Demand extends LiteralDemand {
  /** Kinds of octets of which the value has at least one; -1: no such requirement. */
  readonly needed: number;
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
  /** By set of literals, what its literals demand (`LiteralSets.demands`). */
  readonly setDemands: readonly (readonly LiteralDemand[] | null)[];
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
  /** The dear tests, which run only for rules whose guards have hits (`CompiledRule.dear`), each alone in a bucket. */
  readonly dear: readonly { readonly test: number; readonly bucket: Bucket }[];
}

/** Steps for each bucket of a value. */
const BUCKET_STEPS = 20;
/** Steps for each test of a bucket that no literal excludes. */
const TEST_STEPS = 4;

/** Arranges the tests behind a chain. */
export function bucketOf(
  steps: readonly number[],
  tests: readonly ValueTest[],
  source: BucketSource,
): Bucket {
  const bySet: ValueTest[][] = [];
  const always: ValueTest[] = [];
  const staged: ValueTest[] = [];
  const mask = new Uint32Array(source.words);
  for (const test of tests) {
    if (test.multiMatch && steps.length > 0) staged.push(test);
    else if (test.set < 0 || test.negated) always.push(test);
    else {
      bySet[test.set] ??= [];
      bySet[test.set]!.push(test);
      mask[test.set >> 5]! |= 1 << (test.set & 31);
    }
  }
  always.sort((a, b) => b.breadth - a.breadth);
  const masks = steps.map(changesOf);
  const changes = masks.includes(ANY_VALUE) ? ANY_VALUE : masks.reduce((all, one) => all | one, 0);
  const base = BUCKET_STEPS + TEST_STEPS * (always.length + staged.length);
  const shrinks = steps.every((step) => lengthBehind(step, 1) <= 1);
  const least = tests.reduce((least, one) => Math.min(least, one.negated ? 0 : one.shortest), Infinity);
  const shortest = shrinks ? least : 0;
  const demands = demandsOf(steps, tests, source);
  return {
    steps,
    changes,
    mask: bySet.length === 0 ? null : mask,
    bySet,
    always,
    staged,
    base,
    shortest,
    demands,
  };
}

/** The most demands of a bucket: more take longer than they save, and some of so many are met by most values. */
const MOST_DEMANDS = 16;

const NO_LITERAL: readonly LiteralDemand[] = [{ kinds: 0, letters: 0 }];

/** The demands of the tests behind a chain that transforms values; `null`: none, or too many. */
function demandsOf(
  steps: readonly number[],
  tests: readonly ValueTest[],
  { setDemands }: BucketSource,
): readonly Demand[] | null {
  if (steps.length === 0) return null;
  const found: Demand[] = [];
  for (const { negated, needed, set } of tests) {
    const demands = set < 0 ? NO_LITERAL : setDemands[set]!;
    if (negated || demands === null || (set < 0 && needed === ANY_VALUE)) return null;
    for (const { kinds, letters } of demands) found.push({ needed, kinds, letters });
    if (found.length > MOST_DEMANDS) return null;
  }
  return found;
}

const LETTER_KINDS = KIND.lower | KIND.upper;

/** Whether a value with such octets can pass a test of a bucket behind its transformations. */
// PERF: most values lack a sign or a letter that the few tests behind a long chain need, so that no text is made for them.
export function mayMeet({ steps, demands }: Bucket, value: InspectedValue): boolean {
  if (demands === null) return true;
  let kinds = value.shape;
  let made = 0;
  for (let at = 0; at < steps.length; at++) {
    const changes = changesOf(steps[at]!);
    if (changes === ANY_VALUE || (kinds & changes) !== 0) {
      made |= makesOf(steps[at]!);
      kinds |= made;
    }
  }
  const letters = (made & LETTER_KINDS) === 0 ? value.letters : -1;
  // Literals are in lower case.
  if ((kinds & KIND.upper) !== 0) kinds |= KIND.lower;
  for (let at = 0; at < demands.length; at++) {
    const one = demands[at]!;
    const isMet = (one.kinds & ~kinds) === 0 && (one.letters & ~letters) === 0;
    if (isMet && (one.needed === ANY_VALUE || (one.needed & kinds) !== 0)) return true;
  }
  return false;
}

// A test: a condition on one value whose result depends on the value alone. Equal conditions share one test.

/** Whether an operator matches a value that is transformed already; charges the meter. */
export type OperatorCheck = (value: InspectedValue, meter: Meter) => boolean;

/** One test of a level. */
export interface ValueTest {
  /** Its number within the level, from 0. */
  readonly number: number;
  /** The number of its transformation chain. */
  readonly chain: number;
  /** `!@…`: the test passes if the operator does not match. */
  readonly negated: boolean;
  /** Whether the operator runs after each transformation, not only after the last. */
  readonly multiMatch: boolean;
  /** The set of literals of which every matching value contains one; -1: the operator requires none. */
  readonly set: number;
  /** The kinds of octets of which every matching value contains one; -1: values of any kinds match. */
  readonly needed: number;
  /** The length in octets of the shortest matching value; 0: values of any length match. */
  readonly shortest: number;
  /** Of tests that share a search, the one with most runs first (`Detector.breadth`). */
  readonly breadth: number;
  readonly check: OperatorCheck;
  /** The pattern of an `@rx` that a lazy DFA matches, else `null`. */
  readonly lazy: Matcher | null;
}

/** Whether a value contains a literal of a set. */
export function containsLiteralOf(value: InspectedValue, index: LiteralIndex, set: number): boolean {
  const sets = setsOf(value, index);
  return sets.length > 0 && (sets[set >> 5]! & (1 << (set & 31))) !== 0;
}

/** The sets of which a value contains a literal; searched at the first call and stored with the value. */
export function setsOf(value: InspectedValue, index: LiteralIndex): readonly number[] {
  value.sets ??= setsIn(index, value.text);
  return value.sets;
}
