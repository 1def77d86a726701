/**
 * What lint proves: rules that no request reaches, entries that the rest of their rule makes needless, rules whose order is
 * left to their ids, and cache rules beside gateways. One space serves all proofs about a rule set.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { FLAG, SLOT } from '../../../engine/plan/layout.ts';
import { insertsGroups } from '../../../rules/model/groups.ts';
import { namesList } from '../../../rules/model/list-name.ts';
import type { Rule } from '../../../rules/model/types.ts';
import { proveReach, subjectSpace } from '../reach.ts';
import type { SubjectSpace } from '../situations.ts';
import { isWithin, subtract, unite } from '../space/boxes.ts';
import { createBudget, type StepBudget, shareOf } from '../space/budget.ts';
import { entriesAt, type FilterEntries, type Language } from '../space/language.ts';
import { findText, fulfils, type TextQuery } from '../space/search.ts';
import { compileSubject, knowsLists, type SubjectRule } from '../subject.ts';
import { conditionLists, lintConditions } from './conditions.ts';
import {
  type FilterEntry,
  hasPaths,
  hostExcludes,
  hostIncludes,
  pathExcludes,
  pathIncludes,
} from './filters.ts';
import type { Finding, LintContext, ProofContext } from './finding.ts';
import { lintGatewayCaches } from './gateway-caches.ts';
import { lintCoveredAddresses } from './needless.ts';
import { lintConflicts, lintReach } from './proved-rules.ts';

/** Steps of the question whether the other entries of a list cover one. */
const MAX_ENTRY_STEPS = 20_000;
/** Steps of all such questions about one rule set: a second or so. */
const MAX_ENTRIES_STEPS = 1_000_000;
/** Entries of a covering that is reduced to a minimal one. */
const MAX_COVERING = 24;

/** Everything that is proved about enabled rules. `found`: what is known already is not reported again. */
export function lintProved(lint: LintContext, found: readonly Finding[]): readonly Finding[] {
  const { ruleSet, enabled, sources } = lint;
  if (!knowsLists(ruleSet, sources)) return [];
  if (enabled.length === 0 || !ruleSet.records.some(({ proxied }) => proxied)) return [];
  const subject = compileSubject(ruleSet, sources);
  const rules = new Map(ruleSet.rules.map((rule) => [`${rule.type}/${rule.id}`, rule]));
  const around = subjectSpace(subject);
  const context: ProofContext = {
    subject,
    around,
    ruleOf: ({ ref }) => rules.get(`${ref.type}/${ref.id}`)!,
    found,
    lists: ruleSet.lists ?? [],
  };
  const reaches = proveReach(subject, { around });
  return [
    ...lintReach(context, reaches),
    ...lintUnions(context),
    ...lintConflicts(context, reaches),
    ...lintGatewayCaches(lint, context, reaches),
  ];
}

// Finds entries that the rest of their rule makes needless: other entries of the list cover them together, or as patterns of
// another form, or the excludes leave nothing of them. In: the plan's own patterns as languages and sets. Out: findings; an entry
// about which the budget ends is not reported.

/** Entries that a message names; the others are counted. */
const MAX_NAMED = 4;

/** Finds needless entries in the host, path and address lists of enabled rules. */
function lintUnions({ subject, around, ruleOf, found, lists }: ProofContext): readonly Finding[] {
  const known = new Set(found.map(({ rule, field }) => `${rule.id} ${field.join(' ')}`));
  const total = createBudget(MAX_ENTRIES_STEPS);
  const findings = subject.rules.flatMap((subjectRule) => {
    const rule = ruleOf(subjectRule);
    const patterns =
      around === null
        ? []
        : [
            ...pathLists(around, subjectRule, rule),
            ...hostLists(around, subjectRule, rule),
            ...conditionLists(around, subjectRule),
          ];
    return [
      ...patterns.flatMap((list) => needless(rule, list, total)),
      ...lintCoveredAddresses(rule, lists),
      ...(around === null ? [] : lintConditions(around, subjectRule, rule)),
    ];
  });
  return findings.filter(({ rule, field }) => !known.has(`${rule.id} ${field.join(' ')}`));
}

/** A list whose entries are compared with each other. */
interface EntryList {
  readonly entries: readonly Pick<FilterEntry, 'field' | 'text'>[];
  readonly isExclude: boolean;
  /** Whether the rule matches the same without the entry at a place, as far as the others at these places are there. */
  isNeedless(place: number, others: readonly number[], budget: StepBudget): boolean;
}

/** The findings of a list. Of entries that cover each other the later ones are needless, so each is tried without those. */
function needless(rule: Rule, list: EntryList, total: StepBudget): readonly Finding[] {
  const { entries, isExclude } = list;
  if (entries.length === 0 || (entries.length === 1 && !isExclude)) return [];
  const left = new Set(entries.keys());
  const findings: Finding[] = [];
  for (const place of [...entries.keys()].reverse()) {
    // What a list has changes without the rule.
    if (namesList(entries[place]!.text)) continue;
    const others = [...left].filter((other) => other !== place);
    const budget = shareOf(total, MAX_ENTRY_STEPS);
    if (!list.isNeedless(place, others, budget)) continue;
    left.delete(place);
    findings.push(findingOf(rule, list, { place, by: smallest(list, place, others, budget) }));
  }
  return findings.reverse();
}

/** A selection of the others that still makes the entry needless. */
function smallest(
  list: EntryList,
  place: number,
  others: readonly number[],
  budget: StepBudget,
): readonly number[] {
  if (others.length > MAX_COVERING) return others;
  let left = others;
  for (const other of others) {
    const rest = left.filter((one) => one !== other);
    if (list.isNeedless(place, rest, budget)) left = rest;
  }
  return left;
}

function findingOf(
  rule: Rule,
  { entries, isExclude }: EntryList,
  { place, by }: { readonly place: number; readonly by: readonly number[] },
): Finding {
  const { field, text } = entries[place]!;
  const names = by.slice(0, MAX_NAMED).map((other) => `\`${entries[other]!.text}\``);
  const more = by.length > names.length ? ` and ${by.length - names.length} more` : '';
  const message =
    by.length === 0
      ? isExclude
        ? 'excludes nothing that the rule would match'
        : 'matches nothing that the rest of the rule leaves'
      : by.length === 1
        ? `is covered by ${names[0]} of the same list`
        : `is covered by ${names.join(', ')}${more} of the same list together`;
  return {
    rule,
    field,
    found: quoteValue(text),
    code: 'needless_entry',
    severity: 'info',
    message,
    remedy: 'remove it',
  };
}

/** The path lists of a rule. Groups come from the first entry that matches, so every entry counts where they are inserted. */
function pathLists(around: SubjectSpace, { slot }: SubjectRule, rule: Rule): readonly EntryList[] {
  const { space, plan, subject } = around;
  const { slots } = subject.loaded.plan;
  const filter = entriesAt(subject.loaded, slots[slot * SLOT.size + SLOT.path]!);
  // A filter that is too complex as a whole is too complex for questions about its parts.
  if (filter === null || !hasPaths(rule) || space.boxOf(plan, slot) === null) return [];
  if (insertsGroups(rule)) return [];
  const bothForms = (slots[slot * SLOT.size + SLOT.flags]! & FLAG.bothForms) !== 0;
  const language = (includes: readonly number[], excludes: readonly number[]): Language | null =>
    space.pathsOf(plan, { includes, excludes }, bothForms);
  const isEmpty = (within: Parts, outside: Parts, budget: StepBudget): boolean => {
    if (!isBuilt(within) || !isBuilt(outside)) return false;
    const query: TextQuery = {
      within: [space.canonical, ...within.map(({ automaton }) => automaton)],
      outside: outside.map(({ automaton }) => automaton),
    };
    // PERF: a short path of the entry itself answers nearly every question.
    const probes = [null, ...within].flatMap((paths) => space.probes(paths));
    if (probes.some((probe) => fulfils(probe, query))) return false;
    return findText(query, space.letters, budget).kind === 'empty';
  };
  const spared = (place: number): Language | null => language([], [filter.excludes[place]!]);
  return [
    {
      entries: pathIncludes(rule),
      isExclude: false,
      isNeedless: (place, others, budget) =>
        isEmpty(
          [language([filter.includes[place]!], filter.excludes)],
          others.map((other) => language([filter.includes[other]!], [])),
          budget,
        ),
    },
    {
      entries: pathExcludes(rule),
      isExclude: true,
      isNeedless(place, others, budget) {
        const included = filter.includes.length === 0 ? [] : [language(filter.includes, [])];
        return isEmpty([...included, ...others.map(spared)], [spared(place)], budget);
      },
    },
  ];
}

type Parts = readonly (Language | null)[];

function isBuilt(languages: Parts): languages is readonly Language[] {
  return !languages.includes(null);
}

/** The host lists of a rule. Hosts that no record serves are other families' business. */
function hostLists(around: SubjectSpace, { slot }: SubjectRule, rule: Rule): readonly EntryList[] {
  const { space, plan, subject } = around;
  const filter = entriesAt(subject.loaded, subject.loaded.plan.slots[slot * SLOT.size + SLOT.host]!);
  if (filter === null) return [];
  const { host } = space.axes;
  const setOf = (entries: FilterEntries): Int32Array | null => {
    const set = host.setOfEntries(plan, entries);
    return set === null ? null : subtract(set, subtract(host.all, host.served(plan)));
  };
  const includes = (numbers: readonly number[]): Int32Array | null =>
    numbers.length === 0 ? new Int32Array(0) : setOf({ includes: numbers, excludes: [] });
  const covers = (wide: Int32Array | null, narrow: Int32Array | null): boolean =>
    wide !== null && narrow !== null && narrow.length > 0 && isWithin(narrow, wide);
  const at = (list: readonly number[], places: readonly number[]): readonly number[] =>
    places.map((place) => list[place]!);
  return [
    {
      entries: hostIncludes(rule),
      isExclude: false,
      isNeedless: (place, others) =>
        covers(includes(at(filter.includes, others)), includes([filter.includes[place]!])),
    },
    {
      entries: hostExcludes(rule),
      isExclude: true,
      isNeedless(place, others) {
        const spared = includes(at(filter.excludes, others));
        const included = filter.includes.length === 0 ? host.served(plan) : includes(filter.includes);
        if (spared === null || included === null) return false;
        const unmatched = subtract(host.all, included);
        return covers(unite(spared, unmatched), includes([filter.excludes[place]!]));
      },
    },
  ];
}
