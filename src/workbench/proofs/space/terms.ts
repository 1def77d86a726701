/**
 * The conditions of rules (semantics §12) as proofs read them: terms of a slot, and tests that are equal for equal conditions of
 * any plan. In: plans. Out: terms with what they read, how they compare and whether they are negated.
 */
import { BOT_ACTIONS, FINGERPRINT_ACTIONS } from '../../../base/vocabulary/vocabulary.ts';
import { type LoadedPlan, textOf } from '../../../engine/evaluator/loaded.ts';
import {
  CONDITION_MEMBERS,
  type ConditionMember,
  FLAG,
  FLAG_ACTION_SHIFT,
  NONE,
  PATTERN,
  PLACE_BITS,
  SLOT,
  SOURCE_KINDS,
  type SourceKind,
  TERM,
  TEST_COMPARISONS,
  type TestComparison,
  typeNumber,
  VALUE_SOURCE,
  VALUE_TEST,
} from '../../../engine/plan/layout.ts';

/** A term of a rule. */
export interface PlanTerm {
  readonly member: ConditionMember;
  /** The place in a list of conditions, or 0 for `includes` and 1 for `excludes`. */
  readonly at: number;
  readonly kind: SourceKind;
  /** Of a header, a query parameter or a cookie; else empty. */
  readonly name: string;
  readonly comparison: TestComparison;
  readonly ignoreCase: boolean;
  /** Offset of the test's data in `words`. */
  readonly data: number;
  /** The term holds if the test fails. */
  readonly negated: boolean;
}

/** Whether the rule in a slot has conditions. */
export function hasTerms({ plan: { conditions } }: LoadedPlan, slot: number): boolean {
  return (conditions[slot] ?? NONE) !== NONE;
}

/** The terms of a slot, all of which must hold. */
export function termsAt(loaded: LoadedPlan, slot: number): readonly PlanTerm[] {
  const { words, conditions, valueTests, valueSources } = loaded.plan;
  if (!hasTerms(loaded, slot)) return [];
  const at = conditions[slot]!;
  return Array.from({ length: words[at]! }, (_, term) => {
    const row = at + 1 + term * TERM.size;
    const place = words[row + TERM.place]!;
    const test = words[row + TERM.test]! * VALUE_TEST.size;
    const source = valueTests[test + VALUE_TEST.source]! * VALUE_SOURCE.size;
    return {
      member: CONDITION_MEMBERS[place & ((1 << PLACE_BITS) - 1)]!,
      at: place >>> PLACE_BITS,
      kind: SOURCE_KINDS[valueSources[source + VALUE_SOURCE.kind]!]!,
      name: textOf(loaded, valueSources[source + VALUE_SOURCE.name]!),
      comparison: TEST_COMPARISONS[valueTests[test + VALUE_TEST.comparison]!]!,
      ignoreCase: valueTests[test + VALUE_TEST.ignoreCase] === 1,
      data: valueTests[test + VALUE_TEST.data]!,
      negated: words[row + TERM.negated] === 1,
    };
  });
}

/** The terms of all enabled rules. */
export function* termsOfPlan(loaded: LoadedPlan): Iterable<PlanTerm> {
  const { slots, conditions } = loaded.plan;
  for (let slot = 0; slot < conditions.length; slot++) {
    if ((slots[slot * SLOT.size + SLOT.flags]! & FLAG.enabled) !== 0) yield* termsAt(loaded, slot);
  }
}

/** The numbers after the count at a term's data: of patterns, or of slots. */
export function entriesOf({ plan: { words } }: LoadedPlan, { data }: PlanTerm): readonly number[] {
  return [...words.subarray(data + 1, data + 1 + words[data]!)];
}

/** The entries of a term that compares with patterns, as the customer wrote them. */
export function textsOfTerm(loaded: LoadedPlan, term: PlanTerm): readonly string[] {
  const { patterns } = loaded.plan;
  return entriesOf(loaded, term).map((pattern) =>
    textOf(loaded, patterns[pattern * PATTERN.size + PATTERN.source]!),
  );
}

const FINGERPRINT = typeNumber('fingerprint');
const BOT_ROUTE = typeNumber('bot_route');
const TAGGING: readonly (readonly [type: number, action: number])[] = [
  [FINGERPRINT, FINGERPRINT_ACTIONS.indexOf('tag')],
  [BOT_ROUTE, BOT_ACTIONS.indexOf('tag')],
];

/** Slots of rules that tag requests and that some enabled rule asks about, ascending; those in dry run tag none. */
export function tagSlots(loaded: LoadedPlan): readonly number[] {
  const named = new Set<number>();
  for (const term of termsOfPlan(loaded)) {
    if (term.comparison === 'tagged') for (const slot of entriesOf(loaded, term)) named.add(slot);
  }
  return [...named].filter((slot) => slot !== NONE && tags(loaded, slot)).sort((a, b) => a - b);
}

function tags({ plan: { slots } }: LoadedPlan, slot: number): boolean {
  const flags = slots[slot * SLOT.size + SLOT.flags]!;
  if ((flags & FLAG.enabled) === 0 || (flags & FLAG.dryRun) !== 0) return false;
  return TAGGING.some(
    ([type, action]) => (flags & FLAG.type) === type && flags >>> FLAG_ACTION_SHIFT === action,
  );
}
