/**
 * Whether the conditions of a rule hold (semantics §12). A test is decided once a request, however many rules state it; what
 * it reads is read once, when the first test asks (`values.ts`).
 */
import { dfaMatches, dfaMatchesStart } from '../../base/regex/table.ts';
import {
  NONE,
  PATTERN_KIND,
  TERM,
  TEST_COMPARISONS,
  type TestComparison,
  VALUE_TEST,
} from '../plan/layout.ts';
import { addressEntry, isAddressListed } from './addresses.ts';
import { type Facts, ipOf } from './facts.ts';
import { hasStart } from './lists.ts';
import { type LoadedPlan, matcherOf, patternMatches } from './loaded.ts';
import type { LoadedConditions, LoadedTest } from './loaded-conditions.ts';
import { foldedOf, isCut, readSource } from './values.ts';

/** Whether all terms of a slot hold. */
export function conditionsHold(
  loaded: LoadedPlan,
  conditions: LoadedConditions,
  slot: number,
  facts: Facts,
): boolean {
  const { words, conditions: offsets } = loaded.plan;
  const at = offsets[slot]!;
  if (at === NONE) return true;
  const end = at + 1 + words[at]! * TERM.size;
  for (let row = at + 1; row < end; row += TERM.size) {
    const holds = testHolds(loaded, conditions, words[row + TERM.test]!, facts);
    if (holds === (words[row + TERM.negated] === 1)) return false;
  }
  return true;
}

/** Whether a value of the source of test `number` compares. */
export function testHolds(
  loaded: LoadedPlan,
  conditions: LoadedConditions,
  number: number,
  facts: Facts,
): boolean {
  const test = conditions.tests[number] ?? loadTest(loaded, conditions, number);
  // Tags grow while the phases run.
  if (test.comparison === 'tagged') return isTagged(loaded.plan.words, test.data, facts);
  if (test.round !== facts.round) {
    test.round = facts.round;
    test.holds = decideTest(loaded, test, facts);
  }
  return test.holds;
}

function loadTest(loaded: LoadedPlan, conditions: LoadedConditions, number: number): LoadedTest {
  const { plan } = loaded;
  const row = number * VALUE_TEST.size;
  const comparison = TEST_COMPARISONS[plan.valueTests[row + VALUE_TEST.comparison]!]!;
  const data = plan.valueTests[row + VALUE_TEST.data]!;
  const test: LoadedTest = {
    source: conditions.sources.list[plan.valueTests[row + VALUE_TEST.source]!]!,
    comparison,
    ignoreCase: plan.valueTests[row + VALUE_TEST.ignoreCase] === 1,
    data,
    ...wholeTexts(loaded, comparison, data),
    round: 0,
    holds: false,
  };
  conditions.tests[number] = test;
  return test;
}

/** The texts of exact patterns. */
function wholeTexts(
  loaded: LoadedPlan,
  comparison: TestComparison,
  data: number,
): Pick<LoadedTest, 'only' | 'whole'> {
  if (comparison !== 'equals') return { only: null, whole: null };
  const { words } = loaded.plan;
  const patterns = words.subarray(data + 1, data + 1 + words[data]!);
  const matchers = [...patterns].map((pattern) => matcherOf(loaded, pattern));
  if (matchers.some(({ kind }) => kind === PATTERN_KIND.list)) return { only: null, whole: null };
  const texts = matchers.map(({ text }) => text);
  return texts.length === 1 ? { only: texts[0]!, whole: null } : { only: null, whole: new Set(texts) };
}

function decideTest(loaded: LoadedPlan, test: LoadedTest, facts: Facts): boolean {
  const { source, comparison, only, whole } = test;
  if (comparison === 'addresses') return ipOf(facts) !== 0 && isAddressListed(loaded, test.data, facts);
  readSource(source, facts);
  if (comparison === 'any') return source.count > 0;
  // PERF: one value compared with one other.
  if (only !== null && source.count === 1 && !source.hasCut) return comparedText(test, 0) === only;
  const { words } = loaded.plan;
  const end = test.data + 1 + words[test.data]!;
  for (let index = 0; index < source.count; index++) {
    const text = comparedText(test, index);
    if (only !== null) {
      if (text === only && !isCut(source, index)) return true;
    } else if (whole !== null) {
      if (!isCut(source, index) && whole.has(text)) return true;
    } else {
      for (let at = test.data + 1; at < end; at++)
        if (valueMatches(loaded, words[at]!, text, isCut(source, index))) return true;
    }
  }
  return false;
}

/** Value `index` as a test compares it. A regex has both cases in its automaton. */
function comparedText({ source, comparison, ignoreCase }: LoadedTest, index: number): string {
  return ignoreCase && comparison !== 'regex' ? foldedOf(source, index) : source.texts[index]!;
}

/**
 * Whether a pattern matches a text; of a `cut` one, every text that starts so (semantics §12). The test is decided once a
 * request, so that the results of its regexes need no memo.
 */
function valueMatches(loaded: LoadedPlan, pattern: number, text: string, cut: boolean): boolean {
  const { kind, pieces, data } = matcherOf(loaded, pattern);
  const { dfas } = loaded.plan;
  if (kind === PATTERN_KIND.dfa)
    return cut ? dfaMatchesStart(dfas, data, text) : dfaMatches(dfas, data, text);
  if (kind === PATTERN_KIND.list && cut) return hasStart(loaded.lists[data]!, text);
  const needsEnd =
    kind === PATTERN_KIND.exact ||
    kind === PATTERN_KIND.suffix ||
    (kind === PATTERN_KIND.pieces && pieces.at(-1) !== '');
  return !(cut && needsEnd) && patternMatches(loaded, pattern, text);
}

/** The place of the first entry of a test that holds for the request, or -1. For traces. */
export function testEntry(
  loaded: LoadedPlan,
  conditions: LoadedConditions,
  number: number,
  facts: Facts,
): number {
  if (!testHolds(loaded, conditions, number, facts)) return -1;
  const test = conditions.tests[number]!;
  const { words } = loaded.plan;
  if (test.comparison === 'addresses') return addressEntry(loaded, test.data, facts);
  if (test.comparison === 'any') return 0;
  const entries = words.subarray(test.data + 1, test.data + 1 + words[test.data]!);
  if (test.comparison === 'tagged') return entries.findIndex((slot) => facts.tagged.includes(slot));
  const { source } = test;
  return entries.findIndex((pattern) => {
    for (let index = 0; index < source.count; index++)
      if (valueMatches(loaded, pattern, comparedText(test, index), isCut(source, index))) return true;
    return false;
  });
}

/** Whether one of the rules whose slots are at `data` has tagged the request. */
function isTagged(words: Uint32Array, data: number, facts: Facts): boolean {
  const { tagged } = facts;
  for (let index = 0; index < tagged.length; index++) {
    for (let at = data + 1; at <= data + words[data]!; at++) if (words[at] === tagged[index]) return true;
  }
  return false;
}
