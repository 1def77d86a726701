/**
 * What one request shows of two plans: the components of the decision in which other rules act before and after. In: two
 * subjects, the pairs of their rules, and the request. Out: the changes that it is a witness of. Two sealed plans are
 * prepared here: their rules are paired, and those that differ or changed places are found.
 */

import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { slotsInValues } from '../../engine/compiler/header-changes.ts';
import { printPlan } from '../../engine/compiler/print.ts';
import { findGroup, type LoadedPlan } from '../../engine/evaluator/loaded.ts';
import type { FindList } from '../../engine/evaluator/plan-parts.ts';
import { NONE, SLOT, typeIndex } from '../../engine/plan/layout.ts';
import { diffPlans, type PlanSide, pairedRules } from './diff.ts';
import { COMPONENTS, type Component, isSeparate, type Profile, profilesOf, typesOf } from './profile.ts';
import { knownOf, type TypeComponent } from './rule-types.ts';
import { entriesOf, termsAt } from './space/terms.ts';
import { effectOf, readSubject, type Subject, type SubjectRule, variesByPath } from './subject.ts';
import { hostOfWitness, type Witness } from './witness.ts';

/** Pairs of rules of one component whose changed order is proved or shown, and comparisons of places to find them. */
const MAX_INVERTED = 1_000;
const MAX_ORDER_TESTS = 1_000_000;

/** One side of the comparison. */
export interface ChangeSide {
  readonly subject: Subject;
  /** Rules, by `<type>/<id>`, that the other side does not have, or has otherwise, or in another order. */
  readonly differing: ReadonlySet<string>;
}

/** What is compared. */
export interface ChangeInput {
  readonly before: ChangeSide;
  readonly after: ChangeSide;
  /** Rules of the newer side by `<type>/<id>`, with the rule of the older side that each is. */
  readonly pairs: ReadonlyMap<string, string>;
}

/** A pair of outcomes. */
export interface OpenPair {
  readonly component: Component;
  /** The rule that acts; `null`: none does. */
  readonly before: SubjectRule | null;
  readonly after: SubjectRule | null;
  /** The host whose own records differ, if no rule acts in either plan. */
  readonly host: string | null;
}

/** Requests that get another outcome. */
export interface OutcomeChange extends OpenPair {
  /**
   * `other_rule`: the outcome is the same, by another rule. `order`: both rules act in both plans, and the one of `before` was the
   * first of them, as that of `after` is now.
   */
  readonly kind: 'outcome' | 'other_rule' | 'order';
  readonly witness: Witness;
  readonly profiles: { readonly before: Profile; readonly after: Profile };
}

/** What the comparison of single requests reads of a side. */
export interface ReadSide extends ChangeSide {
  /** The host's own settings by group, printed: its records and whether they challenge. */
  readonly hosts: readonly { readonly captcha: string; readonly origin: string }[];
}

export interface ReadInput {
  readonly before: ReadSide;
  readonly after: ReadSide;
  readonly pairs: ReadonlyMap<string, string>;
}

/** What one request shows: the changes that it is a witness of. */
export function changesAt({ before, after, pairs }: ChangeInput, witness: Witness): readonly OutcomeChange[] {
  const { witness: solved, ...profiles } = profilesOf(
    { before: before.subject, after: after.subject },
    witness,
  );
  const read = (side: ChangeSide): ReadSide => ({ ...side, hosts: hostsOf(side.subject) });
  return differencesOf({ before: read(before), after: read(after), pairs }, profiles, solved);
}

/** The own settings of each group of the plans that were asked for: one plan is often compared with many. */
const HOSTS = new WeakMap<Subject, ReadSide['hosts']>();

/** The own settings of each group of a plan. */
export function hostsOf(subject: Subject): ReadSide['hosts'] {
  const known = HOSTS.get(subject);
  if (known !== undefined) return known;
  const made = printedHosts(subject);
  HOSTS.set(subject, made);
  return made;
}

function printedHosts({ loaded }: Subject): ReadSide['hosts'] {
  const { hosts } = printPlan({ plan: loaded.plan, revision: loaded.revision, version: 0 });
  return (hosts as readonly Readonly<Record<string, unknown>>[]).map((host) => ({
    captcha: JSON.stringify(host['captcha_record']),
    origin: JSON.stringify(host['records']),
  }));
}

/** `<type>/<id>`: the name by which the sides pair their rules. */
export function idOf({ type, ref }: SubjectRule): string {
  return `${type}/${ref.id}`;
}

/** Whether two rules have the same outcome: `null` if it is also by the same rule. */
export function kindOf(
  { before, after, pairs }: ReadInput,
  was: SubjectRule | null,
  now: SubjectRule | null,
): OutcomeChange['kind'] | null {
  if (was === null || now === null) return was === now ? null : 'outcome';
  if (effectOf(before.subject, was) !== effectOf(after.subject, now)) return 'outcome';
  return pairs.get(idOf(now)) === idOf(was) ? null : 'other_rule';
}

/** What rules decide by path. */
const COMPUTED = ['action', 'status', 'location', 'path', 'query'] as const;

/** The kind for one request: rules that decide by path may come to the same path or location by other patterns or entries. */
function kindByPath(
  comparison: ReadInput,
  { was, now }: { readonly was: SubjectRule | null; readonly now: SubjectRule | null },
  profiles: OutcomeChange['profiles'],
): OutcomeChange['kind'] | null {
  const kind = kindOf(comparison, was, now);
  if (kind !== 'outcome' || was === null || now === null) return kind;
  const { pairs } = comparison;
  if (!variesByPath(was) && !variesByPath(now)) return kind;
  const [older, newer] = [profiles.before.decision, profiles.after.decision];
  if (!COMPUTED.every((field) => older[field] === newer[field])) return kind;
  return pairs.get(idOf(now)) === idOf(was) ? null : 'other_rule';
}

/** The changes that one request shows. Where the ends differ, only what both plans came to is compared. */
export function differencesOf(
  comparison: ReadInput,
  profiles: OutcomeChange['profiles'],
  witness: Witness,
): readonly OutcomeChange[] {
  const { before, after } = comparison;
  const host = hostOfWitness(witness);
  const [was, now] = [before, after].map(({ subject }) => findGroup(subject.loaded, host));
  // The status of a response matters to error pages alone.
  const common = { witness: { ...witness, status: null }, profiles };
  if ((was === NONE) !== (now === NONE)) {
    return [{ component: 'gate', before: null, after: null, host, kind: 'outcome', ...common }];
  }
  const changes: OutcomeChange[] = [];
  const [ended, endedAfter] = [profiles.before, profiles.after].map(endingType);
  const last = Math.min(ended!, endedAfter!);
  // A phase that ends both requests is compared as far as its rules act for themselves: before that end.
  const lastSeparate = ended === endedAfter ? last + 1 : last;
  for (const component of COMPONENTS) {
    if (component === 'gate') continue;
    const [a, b] = [profiles.before, profiles.after].map(({ rules }) => rules.get(component) ?? []);
    if (isSeparate(component)) {
      changes.push(
        ...separateChanges(comparison, component, {
          ...{ was: a!, now: b! },
          last: isOfEveryAnswer(component) ? Number.POSITIVE_INFINITY : lastSeparate,
        }).map((one) => ({
          ...one,
          ...common,
        })),
      );
      continue;
    }
    // A gateway on one side: both plans did not come to the challenge, which never acts on its paths.
    if (component === 'captcha' && (isAdmitted(profiles.before) || isAdmitted(profiles.after))) continue;
    const [left, right] = [a![0] ?? null, b![0] ?? null];
    const isCompared =
      component === 'end' || isOfEveryAnswer(component) || typeIndex(typesOf(component)[0]!) < last;
    if (!isCompared) continue;
    const kind =
      component === 'rewrite' || component === 'end'
        ? kindByPath(comparison, { was: left, now: right }, profiles)
        : kindOf(comparison, left, right);
    const shown = component === 'error_page' ? { witness, profiles } : common;
    if (kind !== null) changes.push({ component, before: left, after: right, host: null, kind, ...shown });
    else if (left === null && right === null && (component === 'captcha' || component === 'origin')) {
      const differs = before.hosts[was!]?.[component] !== after.hosts[now!]?.[component];
      if (differs) changes.push({ component, before: null, after: null, host, kind: 'outcome', ...common });
    }
  }
  return changes;
}

/** Whether a gateway has the request. */
function isAdmitted({ rules }: Profile): boolean {
  return rules.has('gateway');
}

/** Whether rules of the component act on every answer, whatever ended the request. */
function isOfEveryAnswer(component: TypeComponent): boolean {
  return typesOf(component).some((type) => knownOf(type).onEveryAnswer);
}

/** The changes of rules that act for themselves. */
function separateChanges(
  comparison: ReadInput,
  component: TypeComponent,
  {
    was,
    now,
    last,
  }: { readonly was: readonly SubjectRule[]; readonly now: readonly SubjectRule[]; readonly last: number },
): readonly Omit<OutcomeChange, 'witness' | 'profiles'>[] {
  if (typeIndex(typesOf(component)[0]!) >= last) return [];
  const { pairs } = comparison;
  const changes: Omit<OutcomeChange, 'witness' | 'profiles'>[] = [];
  const byName = new Map(was.map((rule) => [idOf(rule), rule]));
  const paired = new Set(now.map((rule) => pairs.get(idOf(rule))));
  for (const rule of now) {
    const partner = byName.get(pairs.get(idOf(rule)) ?? '') ?? null;
    const kind = kindOf(comparison, partner, rule);
    if (kind !== null) changes.push({ component, before: partner, after: rule, host: null, kind });
  }
  for (const rule of was) {
    if (!paired.has(idOf(rule)))
      changes.push({ component, before: rule, after: null, host: null, kind: 'outcome' });
  }
  const inverted = invertedPairs(comparison, was, now).pairs.map(({ before, after }) => ({
    ...{ component, before: before.first, after: after.first, host: null },
    kind: 'order' as const,
  }));
  return [...changes, ...inverted];
}

/** Two rules of a side, in the order in which they act there. */
export interface OrderedRules {
  readonly first: SubjectRule;
  readonly second: SubjectRule;
}

/** Two rules of both sides, in the order of each. */
export interface InvertedPair {
  readonly before: OrderedRules;
  readonly after: OrderedRules;
}

/**
 * Rules of both sides that act one after the other on the one side, the other way round on the other, with different effects.
 * `isCut`: there may be more.
 */
export function invertedPairs(
  { after, pairs }: ChangeInput,
  was: readonly SubjectRule[],
  now: readonly SubjectRule[],
): { readonly pairs: readonly InvertedPair[]; readonly isCut: boolean } {
  const places = new Map(was.map((rule, place) => [idOf(rule), place]));
  const both = now.flatMap((rule) => {
    const place = places.get(pairs.get(idOf(rule)) ?? '');
    return place === undefined ? [] : [{ rule, place }];
  });
  const hasMoved = ({ rule }: (typeof both)[number]): boolean => after.differing.has(idOf(rule));
  const found: InvertedPair[] = [];
  let tests = 0;
  // Of two rules that have changed places, one at least is among those that differ.
  for (const [index, one] of both.entries()) {
    if (!hasMoved(one)) continue;
    tests += both.length;
    if (tests > MAX_ORDER_TESTS) return { pairs: found, isCut: true };
    for (const [place, other] of both.entries()) {
      const isSameOrder = place < index === other.place < one.place;
      const isFoundTwice = place < index && hasMoved(other);
      if (place === index || isSameOrder || isFoundTwice) continue;
      if (effectOf(after.subject, one.rule) === effectOf(after.subject, other.rule)) continue;
      if (found.length === MAX_INVERTED) return { pairs: found, isCut: true };
      const [first, second] = place < index ? [other, one] : [one, other];
      found.push({
        before: { first: was[second.place]!, second: was[first.place]! },
        after: { first: first.rule, second: second.rule },
      });
    }
  }
  return { pairs: found, isCut: false };
}

/** The place of the type whose rule has ended the request; beyond all if none has. */
function endingType({ rules, decision }: Profile): number {
  const end = rules.get('end')?.[0];
  if (end !== undefined) return typeIndex(end.type);
  // A rewrite that took groups and came to a dot segment: it acted, and what comes after it did not.
  if (decision.action === 'refuse' && decision.rule?.type === 'rewrite') return typeIndex('rewrite') + 1;
  // The edge's own paths end after the rate limits (semantics §4).
  const isOwn = decision.action === 'respond' && decision.rule === null;
  return isOwn ? typeIndex('rate_limit') + 1 : Number.POSITIVE_INFINITY;
}

/** A side as it is compared field by field, with its sealed bytes. */
export interface SealedSide extends PlanSide {
  readonly bytes: Uint8Array;
  /** The lists that the plan names by digest; absent: it names none. */
  readonly lists?: FindList;
}

/** The input of `proveChanges`. @throws PlanFault */
export function changeInput(before: SealedSide, after: SealedSide): ChangeInput {
  const pairs = pairedRules(before, after);
  const subjects = { before: readSubject(before.bytes, before), after: readSubject(after.bytes, after) };
  const differing = { before: new Set<string>(), after: new Set<string>() };
  for (const { change, rule, before: was, fields } of diffPlans(before, after).rules) {
    // A rule whose priority alone differs acts as before unless its place among the others changed.
    if (change === 'moved') continue;
    if (fields.length === 0) continue;
    if (change !== 'added') differing.before.add(was ?? rule);
    if (change !== 'removed') differing.after.add(rule);
  }
  for (const name of displaced(subjects, pairs)) {
    differing.after.add(name);
    differing.before.add(pairs.get(name)!);
  }
  return withTagReaders({
    before: { subject: subjects.before, differing: differing.before },
    after: { subject: subjects.after, differing: differing.after },
    pairs,
  });
}

/** Types whose rules tag requests, or end them before others tag. */
const BEFORE_TAGS: readonly RuleType[] = ['drop', 'fingerprint', 'bot_route'];

/**
 * The input in which rules that ask for tags differ, too, where the rules that tag do: they match other requests then. Which tags a
 * response has also depends on what ends requests in the phases that tag.
 */
export function withTagReaders({ before, after, pairs }: ChangeInput): ChangeInput {
  const readers = { before: tagReaders(before.subject), after: tagReaders(after.subject) };
  if (readers.before.size + readers.after.size === 0) return { before, after, pairs };
  const differing = { before: new Set(before.differing), after: new Set(after.differing) };
  const isBefore = (name: string): boolean => BEFORE_TAGS.some((type) => name.startsWith(`${type}/`));
  for (let known = -1; known < differing.before.size + differing.after.size; ) {
    known = differing.before.size + differing.after.size;
    const isOther = [...differing.before, ...differing.after].some(isBefore);
    for (const [name, tags] of readers.after) {
      const was = pairs.get(name);
      if (was === undefined) continue;
      const old = readers.before.get(was) ?? [];
      const isSame =
        old.length === tags.length &&
        tags.every((tag, place) => (pairs.get(tag) ?? '') === old[place] && !differing.after.has(tag));
      if (isSame && !(isOther && knownOf(name.split('/')[0] as RuleType).onEveryAnswer)) continue;
      differing.after.add(name);
      differing.before.add(was);
    }
  }
  return {
    before: { ...before, differing: differing.before },
    after: { ...after, differing: differing.after },
    pairs,
  };
}

/** The offset of a rule's own fields in `words`. */
function fieldsOf({ plan }: LoadedPlan, { slot }: SubjectRule): number {
  return plan.slots[slot * SLOT.size + SLOT.fields]!;
}

/** Rules that ask for tags, as `<type>/<id>`, and those that they name, in their order; empty for one that does not exist. */
function tagReaders({ loaded, rules }: Subject): ReadonlyMap<string, readonly string[]> {
  const readers = new Map<string, readonly string[]>();
  const nameOf = new Map(rules.map((rule) => [rule.slot, idOf(rule)]));
  for (const rule of rules) {
    const slots = [
      ...(loaded.plan.conditions.length === 0 ? [] : termsAt(loaded, rule.slot)).flatMap((term) =>
        term.comparison === 'tagged' ? entriesOf(loaded, term) : [],
      ),
      ...(rule.type === 'headers' ? slotsInValues(loaded.plan, fieldsOf(loaded, rule)) : []),
    ];
    const named = slots.map((slot) => nameOf.get(slot) ?? '');
    if (named.length > 0) readers.set(idOf(rule), named);
  }
  return readers;
}

/**
 * Paired rules that are no longer in the order they were in: those outside a longest sequence of rules whose order is the same
 * on both sides (the longest increasing subsequence of their old places; Fredman 1975).
 */
function displaced(
  { before, after }: { readonly before: Subject; readonly after: Subject },
  pairs: ReadonlyMap<string, string>,
): readonly string[] {
  const places = new Map(before.rules.map(({ type, ref }, place) => [`${type}/${ref.id}`, place]));
  const rows = after.rules.flatMap(({ type, ref }) => {
    const name = `${type}/${ref.id}`;
    const place = places.get(pairs.get(name) ?? '');
    return place === undefined ? [] : [{ name, place }];
  });
  const ordered = increasing(rows.map(({ place }) => place));
  return rows.filter((_, index) => !ordered.has(index)).map(({ name }) => name);
}

/** The places of a longest increasing subsequence. */
function increasing(values: readonly number[]): ReadonlySet<number> {
  const tails: number[] = [];
  const previous = new Int32Array(values.length).fill(-1);
  values.forEach((value, index) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[tails[middle]!]! < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) previous[index] = tails[low - 1]!;
    tails[low] = index;
  });
  const chosen = new Set<number>();
  for (let at = tails.at(-1) ?? -1; at >= 0; at = previous[at]!) chosen.add(at);
  return chosen;
}
