/**
 * The conditions of rules (semantics §12) in a plan. In: `conditions` of each rule. Out: its terms, tests that rules share, and
 * the sources that tests read (layout: `engine/plan/layout.ts`); the options to file a rule by its conditions; and conditions printed.
 */

import { comparisonOf } from '../../base/vocabulary/condition-ops.ts';
import { VALUE_MEMBERS } from '../../base/vocabulary/vocabulary.ts';
import type { Conditions, Rule, ValueCondition } from '../../rules/model/types.ts';
import {
  CONDITION_MEMBERS,
  type ConditionMember,
  decodeString,
  NONE,
  PATTERN,
  PLACE_BITS,
  type Plan,
  SOURCE_KINDS,
  type SourceKind,
  TERM,
  TEST_COMPARISONS,
  type TestComparison,
  VALUE_SOURCE,
  VALUE_TEST,
} from '../plan/layout.ts';
import { type PlanDraft, placeString, placeWords, slotOfTag } from './draft.ts';
import {
  addressOption,
  botOption,
  countryOption,
  type FilingKey,
  type FilingOption,
  fingerprintOptions,
  KEY,
  key,
  listKey,
  valueShare,
} from './filing-keys.ts';
import { placeAddresses } from './filters.ts';
import { placePattern, type ValueForm } from './patterns.ts';
import { printAddresses } from './print-addresses.ts';

/** One term of a rule before it is placed. */
interface Term {
  readonly member: ConditionMember;
  /** The place in a list of VALUE_MEMBERS, or 0 for `includes` and 1 for `excludes`. */
  readonly at: number;
  readonly source: { readonly kind: SourceKind; readonly name: string };
  readonly comparison: TestComparison;
  readonly ignoreCase: boolean;
  readonly values: readonly string[];
  /** The term holds if the test fails. */
  readonly negated: boolean;
}

/** A member with `includes` and `excludes`. */
interface Inclusion {
  readonly includes?: readonly (string | number)[] | undefined;
  readonly excludes?: readonly (string | number)[] | undefined;
}

/** What members with `includes` and `excludes` read, and how they compare. */
const INCLUSIONS = [
  ['ips', 'ip', 'addresses'],
  ['countries', 'country', 'equals'],
  ['asns', 'asn', 'equals'],
  ['bot_kinds', 'bot', 'equals'],
  ['ja4', 'ja4', 'wildcard'],
  ['user_agents', 'header', 'wildcard'],
  ['tags', 'tag', 'tagged'],
] as const satisfies readonly (readonly [ConditionMember, SourceKind, TestComparison])[];

/** The kinds of sources of the members that list values. */
const VALUE_KINDS = { headers: 'header', query: 'query', cookies: 'cookie' } as const;

/** The terms of conditions, in the order of CONDITION_MEMBERS; all of them must hold. */
function termsOf(conditions: Conditions): readonly Term[] {
  const terms: Term[] = [];
  const plain = { at: 0, ignoreCase: false, negated: false } as const;
  const single = (kind: SourceKind): Term['source'] => ({ kind, name: '' });
  const { schemes, verified_bot } = conditions;
  for (const member of ['methods', 'except_methods'] as const) {
    const values = conditions[member];
    const base = { ...plain, member, source: single('method'), comparison: 'equals' } as const;
    if (values !== undefined) terms.push({ ...base, values, negated: member === 'except_methods' });
  }
  if (schemes !== undefined)
    terms.push({
      ...plain,
      member: 'schemes',
      source: single('scheme'),
      comparison: 'equals',
      values: schemes,
    });
  for (const [member, kind, comparison] of INCLUSIONS)
    terms.push(...inclusionTerms(conditions, { member, kind, comparison }));
  if (verified_bot !== undefined) {
    const source = single('verified');
    terms.push({
      ...plain,
      member: 'verified_bot',
      source,
      comparison: 'any',
      values: [],
      negated: !verified_bot,
    });
  }
  for (const member of VALUE_MEMBERS) {
    for (const [at, condition] of (conditions[member] ?? []).entries())
      terms.push(valueTerm(condition, { member, at, kind: VALUE_KINDS[member] }));
  }
  const rank = (member: ConditionMember): number => CONDITION_MEMBERS.indexOf(member);
  return terms.sort((a, b) => rank(a.member) - rank(b.member));
}

function inclusionTerms(
  conditions: Conditions,
  {
    member,
    kind,
    comparison,
  }: { member: (typeof INCLUSIONS)[number][0]; kind: SourceKind; comparison: TestComparison },
): readonly Term[] {
  const listed: Inclusion = conditions[member] ?? {};
  const name = member === 'user_agents' ? 'user-agent' : '';
  return [listed.includes, listed.excludes].flatMap((entries, at) => {
    if (entries === undefined) return [];
    // `*` among kinds of bots is every classified bot.
    const any = member === 'bot_kinds' && entries.includes('*');
    return {
      ...{ member, at, source: { kind, name }, negated: at === 1, ignoreCase: member === 'user_agents' },
      comparison: any ? 'any' : comparison,
      values: entries.map(String),
    };
  });
}

function valueTerm(
  { name, op, values, ignore_case }: ValueCondition,
  { member, at, kind }: { member: ConditionMember; at: number; kind: SourceKind },
): Term {
  const compared = comparisonOf(op);
  const base = { member, at, source: { kind, name }, values };
  if (compared === null) return { ...base, comparison: 'any', ignoreCase: false, negated: op === 'absent' };
  return { ...base, comparison: compared.comparison, ignoreCase: ignore_case, negated: compared.negated };
}

/** The number of a source, added if nothing before has read it. */
export function placeSource({ conditionPool }: PlanDraft, { kind, name }: Term['source']): number {
  const { sources, sourceRows } = conditionPool;
  const text = `${kind} ${name}`;
  const known = sources.get(text);
  if (known !== undefined) return known;
  sources.set(text, sourceRows.length);
  return sourceRows.push({ kind, name }) - 1;
}

/** The members whose entries may name lists that are compared as patterns. */
const LISTING: readonly ConditionMember[] = ['countries', 'asns', 'user_agents'];

/** The form of a value's pattern. */
function formOf({ member, comparison, ignoreCase }: Term, value: string): ValueForm | 'list' {
  if (LISTING.includes(member) && value.startsWith('@')) return 'list';
  const form = `value_${comparison as Exclude<TestComparison, 'any' | 'addresses' | 'tagged'>}` as const;
  return ignoreCase ? `${form}_fold` : form;
}

/** Lays the terms of every rule, and the sources that rules read; nothing if no rule has conditions or reads a source. */
export function layConditions(draft: PlanDraft): void {
  const readsNone = draft.conditionPool.sourceRows.length === 0;
  if (readsNone && draft.rules.every(({ conditions }) => conditions === undefined)) return;
  draft.conditions = Uint32Array.from(draft.rules, ({ conditions }) => {
    if (conditions === undefined) return NONE;
    const terms = termsOf(conditions);
    // Nodes of earlier releases do not know the member.
    if (conditions.except_methods !== undefined) draft.recent = true;
    const rows = terms.flatMap((term) => [
      placeTest(draft, term),
      term.negated ? 1 : 0,
      CONDITION_MEMBERS.indexOf(term.member) | (term.at << PLACE_BITS),
    ]);
    return placeWords(draft.words, [terms.length, ...rows]);
  });
  draft.valueTests = Uint32Array.from(draft.conditionPool.testRows);
  draft.valueSources = Uint32Array.from(
    draft.conditionPool.sourceRows.flatMap(({ kind, name }, source) => [
      SOURCE_KINDS.indexOf(kind),
      placeString(draft.strings, name),
      draft.valueTrees.get(`${source}c`) ?? NONE,
      draft.valueTrees.get(`${source}i`) ?? NONE,
    ]),
  );
}

/** The number of a term's test, added if no rule before has stated it. */
function placeTest(draft: PlanDraft, term: Term): number {
  const { tests, testRows } = draft.conditionPool;
  const { comparison, ignoreCase } = term;
  const row = [
    placeSource(draft, term.source),
    TEST_COMPARISONS.indexOf(comparison),
    ignoreCase ? 1 : 0,
    placeData(draft, term),
  ];
  const text = row.join();
  const known = tests.get(text);
  if (known !== undefined) return known;
  const number = testRows.length / VALUE_TEST.size;
  testRows.push(...row);
  tests.set(text, number);
  return number;
}

function placeData(draft: PlanDraft, term: Term): number {
  const { comparison, values } = term;
  switch (comparison) {
    case 'addresses':
      return placeAddresses(draft, values);
    case 'any':
      // The entries as the customer wrote them, for traces.
      return placeWords(draft.words, [
        values.length,
        ...values.map((value) => placeString(draft.strings, value)),
      ]);
    case 'tagged': {
      const slots = values.map((value) => slotOfTag(draft, value));
      const texts = values.map((value) => placeString(draft.strings, value));
      return placeWords(draft.words, [slots.length, ...slots, ...texts]);
    }
    default: {
      const patterns = values.map((value) => placePattern(draft.patterns, formOf(term, value), value));
      return placeWords(draft.words, [patterns.length, ...patterns]);
    }
  }
}

/** The options to file a rule by its conditions. A term that must not hold narrows nothing that an index finds. */
export function conditionOptions(draft: PlanDraft, { conditions }: Rule): readonly FilingOption[] {
  if (conditions === undefined) return [];
  return termsOf(conditions).flatMap((term) => (term.negated ? [] : termOptions(draft, term)));
}

function termOptions(draft: PlanDraft, term: Term): readonly FilingOption[] {
  const { comparison, source, values } = term;
  if (comparison === 'tagged' || source.kind === 'scheme') return [];
  if (comparison === 'addresses') return [addressOption(values)];
  if (source.kind === 'country') return [countryOption(values)];
  if (source.kind === 'bot') return [botOption(values)];
  if (source.kind === 'ja4') return fingerprintOptions(values, []);
  if (source.kind === 'verified') return [botOption(['*'])];
  const number = placeSource(draft, source);
  const present = key(`${KEY.valuePrefix}${number}c\0`, valueShare(source, 'present'));
  if (comparison === 'any') return [[[present]]];
  return [values.map((value) => [valueKey(draft, { term, number, value }) ?? present])];
}

/** The key of one value: the whole of it, or its start; `null`: neither is known. */
function valueKey(
  draft: PlanDraft,
  { term, number, value }: { readonly term: Term; readonly number: number; readonly value: string },
): FilingKey | null {
  if (formOf(term, value) === 'list') return listKey(value);
  const { keys } = draft.patterns.list[placePattern(draft.patterns, formOf(term, value), value)]!;
  const tree = `${number}${term.ignoreCase ? 'i' : 'c'}\0`;
  if (keys.exact !== null)
    return key(`${KEY.valueExact}${tree}${keys.exact}`, valueShare(term.source, 'whole'));
  if (keys.prefix === null) return null;
  return key(`${KEY.valuePrefix}${tree}${keys.prefix}`, valueShare(term.source, 'start'));
}

// Conditions printed.

/** The conditions of a slot as the customer wrote them; `null`: none. */
export function printConditions(plan: Plan, slot: number): Readonly<Record<string, unknown>> | null {
  const at = plan.conditions[slot] ?? NONE;
  if (at === NONE) return null;
  const printed: Record<string, unknown> = {};
  for (let term = 0; term < plan.words[at]!; term++) {
    const row = at + 1 + term * TERM.size;
    const place = plan.words[row + TERM.place]!;
    const member = CONDITION_MEMBERS[place & ((1 << PLACE_BITS) - 1)]!;
    const negated = plan.words[row + TERM.negated] === 1;
    const test = plan.words[row + TERM.test]! * VALUE_TEST.size;
    printTerm(printed, { plan, member, test, negated });
  }
  return printed;
}

interface PrintedTerm {
  readonly plan: Plan;
  readonly member: ConditionMember;
  readonly test: number;
  readonly negated: boolean;
}

function printTerm(printed: Record<string, unknown>, { plan, member, test, negated }: PrintedTerm): void {
  const { valueTests, valueSources } = plan;
  const comparison = TEST_COMPARISONS[valueTests[test + VALUE_TEST.comparison]!]!;
  const name = valueSources[valueTests[test + VALUE_TEST.source]! * VALUE_SOURCE.size + VALUE_SOURCE.name]!;
  const values = termValues(plan, test);
  if (member === 'methods' || member === 'except_methods' || member === 'schemes') printed[member] = values;
  else if (member === 'verified_bot') printed[member] = !negated;
  else if (member === 'headers' || member === 'query' || member === 'cookies') {
    const list = (printed[member] ?? []) as unknown[];
    const op =
      comparison === 'any' ? (negated ? 'absent' : 'present') : `${negated ? 'not_' : ''}${comparison}`;
    const ignore_case = valueTests[test + VALUE_TEST.ignoreCase] === 1;
    printed[member] = [...list, { name: decodeString(plan, name), op, values, ignore_case }];
  } else printed[member] = { ...(printed[member] as object), [negated ? 'excludes' : 'includes']: values };
}

/** The entries of a test as the customer wrote them. Those of `addresses` are in the printed plan as ranges. */
function termValues(plan: Plan, test: number): readonly (string | number)[] {
  const data = plan.valueTests[test + VALUE_TEST.data]!;
  const count = plan.words[data]!;
  const numbers = (from: number): number[] => [...plan.words.subarray(from, from + count)];
  switch (TEST_COMPARISONS[plan.valueTests[test + VALUE_TEST.comparison]!]) {
    case 'addresses':
      return printAddresses(plan, data);
    case 'any':
      return numbers(data + 1).map((text) => decodeString(plan, text));
    case 'tagged':
      return numbers(data + 1 + count).map((text) => decodeString(plan, text));
    default:
      return numbers(data + 1).map((pattern) =>
        decodeString(plan, plan.patterns[pattern * PATTERN.size + PATTERN.source]!),
      );
  }
}
