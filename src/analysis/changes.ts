/**
 * What two plans decide differently: for each pair of an old and a new outcome a request that gets the one before and the other
 * after, confirmed by the evaluator on both plans, or the proof that there is none. In: two subjects and the pairs of their
 * rules. Out: the changes, and what a budget left open.
 *
 * Outcomes can only differ where a rule that differs acts in one of the plans: rules that both plans have, in the same order,
 * come to the same result where no other rule acts. So each differing rule is set against every rule that may act in its
 * place, and each such pair is one question about boxes.
 */

import { findGroup } from '../evaluator/names.ts';
import { META, NONE, typeIndex } from '../plan/layout.ts';
import { printPlan } from '../plan/print.ts';
import { effectOf } from './effects.ts';
import { COMPONENTS, type Component, componentOf, type Profile, profilesOf, SEPARATE } from './profile.ts';
import {
  type BlockerList,
  type Evaluated,
  endedBy,
  matchedBy,
  redirectExtras,
  type Situation,
  type SubjectSpace,
  servedBox,
  situationsAt,
} from './situations.ts';
import { AXES } from './space/axis.ts';
import { type Box, commonSets, withAxis } from './space/box.ts';
import { createBudget, type StepBudget } from './space/budget.ts';
import { type CoverQuery, findUncovered } from './space/cover.ts';
import { subtract } from './space/int-set.ts';
import { MAX_CHANGE_STEPS } from './space/limits.ts';
import { createSpace } from './space/space.ts';
import { type Witness, witnessOf } from './space/witness.ts';
import type { Subject, SubjectRule } from './subject.ts';

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
  /** `other_rule`: the outcome is the same, by another rule. */
  readonly kind: 'outcome' | 'other_rule';
  readonly witness: Witness;
  readonly profiles: { readonly before: Profile; readonly after: Profile };
}

/** The changes, in the order of components. */
export interface ProvedChanges {
  readonly changes: readonly OutcomeChange[];
  /** Pairs for which neither a request nor a proof was found. */
  readonly open: readonly OpenPair[];
  /** Whether more pairs are open than are listed, since the budget ended or host filters are too complex. */
  readonly isIncomplete: boolean;
}

/** What the comparison of single requests reads of a side. */
interface ReadSide extends ChangeSide {
  /** The host's own settings by group, printed: its records and whether they challenge. */
  readonly hosts: readonly { readonly captcha: string; readonly origin: string }[];
}

interface ReadInput {
  readonly before: ReadSide;
  readonly after: ReadSide;
  readonly pairs: ReadonlyMap<string, string>;
}

interface Side extends ReadSide, SubjectSpace {}

interface Comparison extends ReadInput {
  readonly before: Side;
  readonly after: Side;
  readonly budget: StepBudget;
  readonly found: Map<string, OutcomeChange>;
  readonly open: Map<string, OpenPair>;
}

const HOST = AXES.indexOf('host');

/** Finds all changes. */
export function proveChanges({ before, after, pairs }: ChangeInput): ProvedChanges {
  const subjects = [before.subject, after.subject];
  const space = createSpace(
    subjects.map(({ loaded }) => loaded),
    redirectExtras(subjects),
  );
  if (space === null) return { changes: [], open: [], isIncomplete: true };
  const sideOf = (side: ChangeSide, plan: number): Side => ({
    ...side,
    space,
    plan,
    lists: new Map(),
    hosts: hostsOf(side.subject),
  });
  const budget = createBudget(MAX_CHANGE_STEPS);
  const comparison: Comparison = {
    before: sideOf(before, 0),
    after: sideOf(after, 1),
    pairs,
    budget,
    found: new Map(),
    open: new Map(),
  };
  compareHosts(comparison);
  for (const component of COMPONENTS) {
    if (component !== 'gate') compareComponent(comparison, component);
  }
  comparePins(comparison);
  const order = (change: OpenPair): number => COMPONENTS.indexOf(change.component);
  return {
    changes: [...comparison.found.values()].sort((a, b) => order(a) - order(b)),
    open: [...comparison.open.values()],
    isIncomplete: !budget.take(0),
  };
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

function hostsOf({ loaded }: Subject): Side['hosts'] {
  const { hosts } = printPlan({ plan: loaded.plan, revision: loaded.revision, version: 0 });
  return (hosts as readonly Readonly<Record<string, unknown>>[]).map((host) => ({
    captcha: JSON.stringify(host['captcha_record']),
    origin: JSON.stringify(host['records']),
  }));
}

/** Hosts that one plan alone serves, and those whose own records differ. */
function compareHosts(comparison: Comparison): void {
  const { before, after } = comparison;
  const { space } = before;
  const served = [before, after].map(({ plan }) => space.axes.host.served(plan));
  const ways = [subtract(served[0]!, served[1]!), subtract(served[1]!, served[0]!)];
  for (const hosts of ways) {
    for (let at = 0; at < hosts.length; at += 2) {
      for (let atom = hosts[at]!; atom < hosts[at + 1]!; atom++) {
        const target = {
          sets: withAxis(
            AXES.map(() => null),
            HOST,
            Int32Array.of(atom, atom + 1),
          ),
          paths: null,
        };
        probe(comparison, { target, blockers: [], count: 0, within: [], outside: [] });
      }
    }
  }
  for (let atom = 0; atom < space.axes.host.all[1]!; atom++) {
    const host = space.axes.host.sample(atom);
    const groups = [before, after].map(({ subject }) => findGroup(subject.loaded, host));
    const [was, now] = [before.hosts[groups[0]!], after.hosts[groups[1]!]];
    if (was === undefined || now === undefined) continue;
    const only = Int32Array.of(atom, atom + 1);
    for (const component of ['captcha', 'origin'] as const) {
      if (was[component] !== now[component])
        ask(comparison, { component, before: null, after: null, host }, { hosts: only });
    }
  }
}

/** Sets every differing rule of a component against all that may act in its place on the other side. */
function compareComponent(comparison: Comparison, component: Component): void {
  const { before, after } = comparison;
  const [was, now] = [before, after].map((side) => actorsOf(side, component));
  const partnerOf = partners(comparison);
  if (SEPARATE.includes(component)) {
    for (const rule of now!)
      if (after.differing.has(idOf(rule)))
        compareSeparately(comparison, component, partnerOf.before(rule), rule);
    for (const rule of was!)
      if (before.differing.has(idOf(rule)) && partnerOf.after(rule) === null)
        compareSeparately(comparison, component, rule, null);
    return;
  }
  for (const rule of was!) {
    if (!before.differing.has(idOf(rule))) continue;
    for (const other of [null, ...now!])
      ask(comparison, { component, before: rule, after: other, host: null });
  }
  for (const rule of now!) {
    if (!after.differing.has(idOf(rule))) continue;
    for (const other of [null, ...was!])
      ask(comparison, { component, before: other, after: rule, host: null });
  }
}

/** Types of rules that do not act once a rule pins the origin. */
const UNPINNED: readonly string[] = ['bot_route', 'redirect', 'rewrite', 'cache'];

/** A differing rule that pins the origin also decides whether others act: those are set against it too. */
function comparePins(comparison: Comparison): void {
  const { before, after } = comparison;
  for (const component of ['end', 'rewrite', 'cache'] as const) {
    for (const pin of pinsOf(before)) {
      for (const rule of actorsOf(after, component)) {
        if (!UNPINNED.includes(rule.type)) continue;
        ask(comparison, { component, before: null, after: rule, host: null }, { before: pin });
      }
    }
    for (const pin of pinsOf(after)) {
      for (const rule of actorsOf(before, component)) {
        if (!UNPINNED.includes(rule.type)) continue;
        ask(comparison, { component, before: rule, after: null, host: null }, { after: pin });
      }
    }
  }
}

/** The differing rules of a side that pin the origin. */
function pinsOf(side: Side): readonly SubjectRule[] {
  return actorsOf(side, 'origin').filter((rule) => rule.ending === 'pins' && side.differing.has(idOf(rule)));
}

/** Rules that act for themselves: where one matches and the other does not, and where both do. */
function compareSeparately(
  comparison: Comparison,
  component: Component,
  before: SubjectRule | null,
  after: SubjectRule | null,
): void {
  if (before !== null) ask(comparison, { component, before, after: null, host: null });
  if (after !== null) ask(comparison, { component, before: null, after, host: null });
  if (before !== null && after !== null) ask(comparison, { component, before, after, host: null });
}

function idOf({ type, ref }: SubjectRule): string {
  return `${type}/${ref.id}`;
}

/** The enforced rules of a component, in their order. */
function actorsOf({ subject }: Side, component: Component): readonly SubjectRule[] {
  return subject.rules.filter((rule) => !rule.isDryRun && componentOf(rule) === component);
}

/** The rule of the other side that a rule is; `null`: it has none, or that one is not enforced. */
function partners({ before, after, pairs }: Comparison): {
  readonly before: (rule: SubjectRule) => SubjectRule | null;
  readonly after: (rule: SubjectRule) => SubjectRule | null;
} {
  const reverse = new Map([...pairs].map(([now, was]) => [was, now]));
  const find = ({ subject }: Side, name: string | undefined, component: Component): SubjectRule | null => {
    const [type, id] = (name ?? '/').split('/');
    const rule = subject.ruleOf(type!, Number(id));
    return rule !== null && !rule.isDryRun && componentOf(rule) === component ? rule : null;
  };
  return {
    before: (rule) => find(before, pairs.get(idOf(rule)), componentOf(rule)),
    after: (rule) => find(after, reverse.get(idOf(rule)), componentOf(rule)),
  };
}

/** Whether two rules have the same outcome: `null` if it is also by the same rule. */
function kindOf(
  { before, after, pairs }: ReadInput,
  was: SubjectRule | null,
  now: SubjectRule | null,
): OutcomeChange['kind'] | null {
  if (was === null || now === null) return was === now ? null : 'outcome';
  if (effectOf(before.subject, was) !== effectOf(after.subject, now)) return 'outcome';
  return pairs.get(idOf(now)) === idOf(was) ? null : 'other_rule';
}

function keyOf({ component, before, after, host }: OpenPair): string {
  return [component, ...[before, after].map((rule) => (rule === null ? '' : idOf(rule))), host].join(' ');
}

/** What restricts a question. */
interface Within {
  /** Only these hosts. */
  readonly hosts?: Int32Array;
  /** On this side no rule of the component acts, because this rule pins the origin. */
  readonly before?: SubjectRule;
  readonly after?: SubjectRule;
}

/** Looks for a request with this pair of outcomes. */
function ask(comparison: Comparison, pair: OpenPair, { hosts, ...pins }: Within = {}): void {
  const { before, after, budget, found, open } = comparison;
  const key = keyOf(pair);
  if (found.has(key) || (hosts === undefined && kindOf(comparison, pair.before, pair.after) === null)) return;
  const was = regionOf(before, pair.component, { rule: pair.before, pin: pins.before });
  const now = regionOf(after, pair.component, { rule: pair.after, pin: pins.after });
  const excluded = SEPARATE.includes(pair.component) ? unmatched(comparison, pair) : [];
  if (was === null || now === null || excluded === null) {
    open.set(key, pair);
    return;
  }
  const trial = { acme: 'POST', targets: redirectTargets(pair) } as const;
  for (const a of was) {
    for (const b of now) {
      const query = joint(a, b);
      if (query === null) continue;
      const target = hosts === undefined ? query.target : onlyHosts(query.target, hosts);
      const blockers = [...query.blockers, ...excluded];
      const asked = { ...query, target, blockers, count: blockers.length };
      const result = probe(comparison, asked, { ...trial, acme: a.acme });
      if (found.has(key)) return;
      // All URLs of a request that a redirect may lead to itself were tried.
      const isTried = result === 'point' && (a.mayBeOwnUrl || b.mayBeOwnUrl);
      if (result !== 'covered' && !isTried) open.set(key, pair);
    }
  }
  if (!budget.take(0)) open.set(key, pair);
}

/** When a rule acts, or when none of the component does. */
function regionOf(
  side: Side,
  component: Component,
  { rule, pin }: { readonly rule: SubjectRule | null; readonly pin: SubjectRule | undefined },
): readonly ActingIn[] | null {
  return pin === undefined ? situationsFor(side, component, rule) : situationsFor(side, 'origin', pin);
}

function redirectTargets({ before, after }: OpenPair): readonly string[] {
  return [before, after].flatMap((rule) => (rule?.type === 'redirect' ? [rule.target] : []));
}

function onlyHosts(target: Box, hosts: Int32Array): Box {
  return {
    ...target,
    sets: commonSets(
      target.sets,
      withAxis(
        AXES.map(() => null),
        HOST,
        hosts,
      ),
    ),
  };
}

/** For a rule that acts for itself and must not act on the other side: what its partner matches there. */
function unmatched(comparison: Comparison, { before, after }: OpenPair): readonly Box[] | null {
  if (before !== null && after !== null) return [];
  const partner = before === null ? partners(comparison).before(after!) : partners(comparison).after(before);
  if (partner === null) return [];
  const box = matchedBy(before === null ? comparison.before : comparison.after, partner);
  return box === null ? null : [box];
}

/** When a rule acts, or when no rule of the component does. */
function situationsFor(
  side: Side,
  component: Component,
  rule: SubjectRule | null,
): readonly ActingIn[] | null {
  const at = (place: Evaluated, box: Box, mayBeOwnUrl: boolean): readonly ActingIn[] =>
    situationsAt(side, place, box).map((one) => ({ ...one, mayBeOwnUrl }));
  if (rule === null) return at(placeAfter(side, component), servedBox(side), false);
  const box = matchedBy(side, rule);
  if (box === null) return null;
  if (rule.type !== 'redirect') return at(rule, box, false);
  return [...endedBy(side, rule).flatMap((one) => at(rule, one, false)), ...at(rule, box, true)];
}

/** A situation in which a rule acts. */
interface ActingIn extends Situation {
  /** The rule is a redirect whose location may be the request's own URL, by scheme and query. */
  readonly mayBeOwnUrl: boolean;
}

/** The place after the last rule of a component. */
function placeAfter({ subject }: Side, component: Component): Evaluated {
  if (component === 'end' || component === 'gate') {
    return { slot: Number.POSITIVE_INFINITY, type: 'end', isTag: false };
  }
  const type = component === 'origin' ? 'origin_pool' : component === 'bot_tag' ? 'bot_route' : component;
  const slot = subject.loaded.plan.meta[META.phases + typeIndex(type) + 1]!;
  return { slot, type, isTag: SEPARATE.includes(component) };
}

/** Requests of both situations; `null`: there are none of both kinds. */
function joint(a: Situation, b: Situation): CoverQuery | null {
  if (a.kind !== b.kind) return null;
  const sets = commonSets(a.target.sets, b.target.sets);
  if (sets.some((set) => set !== null && set.length === 0)) return null;
  const [first, second] = a.target.paths === null ? [b.target.paths, null] : [a.target.paths, b.target.paths];
  const blockers = [...boxesOf(a.blockers, a.count), ...boxesOf(b.blockers, b.count)];
  return {
    target: { sets, paths: first },
    blockers,
    count: blockers.length,
    within: a.within,
    outside: a.outside,
    further: second?.name === first?.name ? null : second,
  };
}

function boxesOf({ boxes }: BlockerList, count: number): readonly Box[] {
  return boxes.slice(0, count);
}

/** How requests are made of points. */
interface Trial {
  readonly acme: 'GET' | 'POST';
  /** Targets of redirects, whose schemes and queries are tried too. */
  readonly targets: readonly string[];
}

/** Asks one question; a request that is found is tried on both plans, and every change that it shows is recorded. */
function probe(
  comparison: Comparison,
  query: CoverQuery,
  { acme, targets }: Trial = { acme: 'POST', targets: [] },
): 'point' | 'covered' | 'unknown' {
  const { before, after, budget, found, open } = comparison;
  const result = findUncovered(query, before.space, budget);
  if (result.kind !== 'point') return result.kind;
  const subjects = { before: before.subject, after: after.subject };
  for (const witness of withUrls(witnessOf(result.point, before.space, acme), targets)) {
    const { witness: solved, ...profiles } = profilesOf(subjects, witness);
    for (const change of differencesOf(comparison, profiles, solved)) {
      const key = keyOf(change);
      if (!found.has(key)) found.set(key, change);
      open.delete(key);
    }
  }
  return 'point';
}

/** The witness, and if redirects are concerned, the same over either scheme and with the queries of their targets. */
function withUrls(witness: Witness, targets: readonly string[]): readonly Witness[] {
  if (targets.length === 0) return [witness];
  const queries = new Set(['', ...targets.map((target) => /\?[^#]*/.exec(target)?.[0] ?? '')]);
  const rest = witness.url.slice(witness.url.indexOf(':'));
  return ['https', 'http'].flatMap((scheme) =>
    [...queries].map((query) => ({ ...witness, url: `${scheme}${rest}${query}` })),
  );
}

/** The changes that one request shows. Where the ends differ, only what both plans came to is compared. */
function differencesOf(
  comparison: ReadInput,
  profiles: OutcomeChange['profiles'],
  witness: Witness,
): readonly OutcomeChange[] {
  const { before, after } = comparison;
  const host = hostOf(witness);
  const [was, now] = [before, after].map(({ subject }) => findGroup(subject.loaded, host));
  // The status of a response matters to error pages alone.
  const common = { witness: { ...witness, status: null }, profiles };
  if ((was === NONE) !== (now === NONE)) {
    return [{ component: 'gate', before: null, after: null, host, kind: 'outcome', ...common }];
  }
  const changes: OutcomeChange[] = [];
  const last = Math.min(...[profiles.before, profiles.after].map(lastSlotType));
  for (const component of COMPONENTS) {
    if (component === 'gate') continue;
    const [a, b] = [profiles.before, profiles.after].map(({ rules }) => rules.get(component) ?? []);
    if (SEPARATE.includes(component)) {
      changes.push(
        ...separateChanges(comparison, component, { was: a!, now: b!, last }).map((one) => ({
          ...one,
          ...common,
        })),
      );
      continue;
    }
    const [left, right] = [a![0] ?? null, b![0] ?? null];
    const isCompared =
      component === 'end' || component === 'error_page' || typeIndex(typeAt(component)) < last;
    if (!isCompared) continue;
    const kind = kindOf(comparison, left, right);
    const shown = component === 'error_page' ? { witness, profiles } : common;
    if (kind !== null) changes.push({ component, before: left, after: right, host: null, kind, ...shown });
    else if (left === null && right === null && (component === 'captcha' || component === 'origin')) {
      const differs = before.hosts[was!]?.[component] !== after.hosts[now!]?.[component];
      if (differs) changes.push({ component, before: null, after: null, host, kind: 'outcome', ...common });
    }
  }
  return changes;
}

function separateChanges(
  comparison: ReadInput,
  component: Component,
  {
    was,
    now,
    last,
  }: { readonly was: readonly SubjectRule[]; readonly now: readonly SubjectRule[]; readonly last: number },
): readonly Omit<OutcomeChange, 'witness' | 'profiles'>[] {
  if (typeIndex(typeAt(component)) >= last) return [];
  const { pairs } = comparison;
  const changes: Omit<OutcomeChange, 'witness' | 'profiles'>[] = [];
  for (const rule of now) {
    const partner = was.find((other) => pairs.get(idOf(rule)) === idOf(other)) ?? null;
    const kind = kindOf(comparison, partner, rule);
    if (kind !== null) changes.push({ component, before: partner, after: rule, host: null, kind });
  }
  for (const rule of was) {
    const isPaired = now.some((other) => pairs.get(idOf(other)) === idOf(rule));
    if (!isPaired) changes.push({ component, before: rule, after: null, host: null, kind: 'outcome' });
  }
  return changes;
}

/** A type of the component's phase. */
function typeAt(component: Component): SubjectRule['type'] {
  switch (component) {
    case 'gate':
    case 'end':
      return 'drop';
    case 'bot_tag':
      return 'bot_route';
    case 'origin':
      return 'origin_route';
    default:
      return component;
  }
}

/** The place of the type whose rule has ended the request; beyond all if none has. */
function lastSlotType({ rules }: Profile): number {
  const end = rules.get('end')?.[0];
  return end === undefined ? Number.POSITIVE_INFINITY : typeIndex(end.type);
}

function hostOf({ url }: Witness): string {
  const start = url.indexOf('://') + 3;
  return url.slice(start, url.indexOf('/', start));
}
