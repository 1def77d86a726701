/**
 * What two plans decide differently: for each pair of an old and a new outcome a request that gets the one before and the other
 * after, confirmed by the evaluator on both plans, or the proof that no request does. In: two subjects and the pairs of their
 * rules. Out: the changes, and what a budget left open.
 *
 * Outcomes can only differ where a rule that differs acts in one of the plans: rules that both plans have, in the same order,
 * come to the same result where no other rule acts. So each differing rule is set against every rule that may act in its
 * place, and each such pair is one question about boxes.
 */
import { findGroup } from '../../engine/evaluator/loaded.ts';
import {
  type ChangeInput,
  type ChangeSide,
  differencesOf,
  hostsOf,
  idOf,
  invertedPairs,
  kindOf,
  type OpenPair,
  type OrderedRules,
  type OutcomeChange,
  type ReadInput,
  type ReadSide,
} from './differences.ts';
import { COMPONENTS, type Component, componentOf, isSeparate, profilesOf, typesOf } from './profile.ts';
import {
  type BlockerList,
  commonBox,
  END,
  type Evaluated,
  endedBy,
  isStoppedByPin,
  matchedBy,
  placeAfter,
  placeBefore,
  redirectExtras,
  type Situation,
  type SubjectSpace,
  servedBox,
  situationsAt,
} from './situations.ts';
import { AXES, type Box, commonSets, restricted, setsOverlap, subtract, withAxis } from './space/boxes.ts';
import { createBudget, type StepBudget } from './space/budget.ts';
import { type CoverQuery, findUncovered } from './space/cover.ts';
import { createSpace, type Space } from './space/space.ts';
import { type Subject, type SubjectRule, variesByPath } from './subject.ts';
import { withUrls, witnessOf } from './witness.ts';

/** Steps of the comparison of two plans; some seconds. */
const MAX_CHANGE_STEPS = 4_000_000;

/** The changes, in the order of components. */
export interface ProvedChanges {
  readonly changes: readonly OutcomeChange[];
  /** Pairs for which neither a request nor a proof was found. */
  readonly open: readonly OpenPair[];
  /** Whether more pairs are open than are listed: the budget ended, host filters are too complex, or a change was enough. */
  readonly isIncomplete: boolean;
}

/** One side in the space. */
interface Side extends ReadSide, SubjectSpace {}

interface Comparison extends ReadInput {
  readonly before: Side;
  readonly after: Side;
  /** Rules of the older side, with the rule of the newer side that each is. */
  readonly reverse: ReadonlyMap<string, string>;
  readonly budget: StepBudget;
  readonly found: Map<string, OutcomeChange>;
  readonly open: Map<string, OpenPair>;
  readonly isEnough: (change: OutcomeChange) => boolean;
  /** A change was found that is enough. */
  isDone: boolean;
  /** Not every pair was asked about. */
  isCut: boolean;
}

/** A space that several proofs share, with the places of the two plans in it. */
export interface SharedSpace {
  readonly space: Space;
  readonly before: number;
  readonly after: number;
}

/** Options of a proof. */
export interface ChangeOptions {
  /** A space of more plans than the two. Default: one of the two. */
  readonly shared?: SharedSpace;
  /** Steps of all questions. Default: `MAX_CHANGE_STEPS`. */
  readonly steps?: number;
  /** Whether no more changes are wanted after this one; called once for each. Default: all are. */
  readonly isEnough?: (change: OutcomeChange) => boolean;
}

const HOST = AXES.indexOf('host');

/** The space of subjects, in their order; `null`: their host filters are too complex for proofs. */
export function spaceOf(subjects: readonly Subject[]): Space | null {
  return createSpace(
    subjects.map(({ loaded }) => loaded),
    redirectExtras(subjects),
  );
}

/** Finds all changes, or those up to the first that is enough. */
export function proveChanges(
  { before, after, pairs }: ChangeInput,
  { steps = MAX_CHANGE_STEPS, isEnough = () => false, shared }: ChangeOptions = {},
): ProvedChanges {
  const space = shared === undefined ? spaceOf([before.subject, after.subject]) : shared.space;
  if (space === null) return { changes: [], open: [], isIncomplete: true };
  const sideOf = (side: ChangeSide, plan: number): Side => ({
    ...side,
    space,
    plan,
    lists: new Map(),
    hosts: hostsOf(side.subject),
  });
  const budget = createBudget(steps);
  const comparison: Comparison = {
    before: sideOf(before, shared?.before ?? 0),
    after: sideOf(after, shared?.after ?? 1),
    pairs,
    reverse: new Map([...pairs].map(([now, was]) => [was, now])),
    budget,
    found: new Map(),
    open: new Map(),
    isEnough,
    isDone: false,
    isCut: false,
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
    isIncomplete: comparison.isDone || comparison.isCut || !budget.take(0),
  };
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
          sets: withAxis(space.free, HOST, Int32Array.of(atom, atom + 1)),
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
  if (isSeparate(component)) {
    for (const rule of now!)
      if (after.differing.has(idOf(rule)))
        compareSeparately(comparison, component, partnerOf.before(rule), rule);
    for (const rule of was!)
      if (before.differing.has(idOf(rule)) && partnerOf.after(rule) === null)
        compareSeparately(comparison, component, rule, null);
    const inverted = invertedPairs(comparison, was!, now!);
    for (const pair of inverted.pairs) askOrder(comparison, component, pair);
    comparison.isCut ||= inverted.isCut;
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

/** A differing rule that pins the origin also decides whether others act: those are set against it too. */
function comparePins(comparison: Comparison): void {
  const { before, after } = comparison;
  for (const component of ['end', 'rewrite', 'cache'] as const) {
    for (const pin of pinsOf(before)) {
      for (const rule of actorsOf(after, component)) {
        if (!isStoppedByPin(rule)) continue;
        ask(comparison, { component, before: null, after: rule, host: null }, { before: pin });
      }
    }
    for (const pin of pinsOf(after)) {
      for (const rule of actorsOf(before, component)) {
        if (!isStoppedByPin(rule)) continue;
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

/** The enforced rules of a component, in their order. */
function actorsOf({ subject }: Side, component: Component): readonly SubjectRule[] {
  return subject.rules.filter((rule) => !rule.isDryRun && componentOf(rule) === component);
}

/** The rule of the other side that a rule is; `null`: it has none, or that one is not enforced. */
function partners({ before, after, pairs, reverse }: Comparison): {
  readonly before: (rule: SubjectRule) => SubjectRule | null;
  readonly after: (rule: SubjectRule) => SubjectRule | null;
} {
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

function keyOf({ component, before, after, host }: OpenPair): string {
  return [component, ...[before, after].map((rule) => (rule === null ? '' : idOf(rule))), host].join(' ');
}

/** What restricts a question. */
interface Restriction {
  /** Only these hosts. */
  readonly hosts?: Int32Array;
  /** On this side no rule of the component acts, because this rule pins the origin. */
  readonly before?: SubjectRule;
  readonly after?: SubjectRule;
}

/** Looks for a request with this pair of outcomes. */
function ask(comparison: Comparison, pair: OpenPair, { hosts, ...pins }: Restriction = {}): void {
  const { before, after } = comparison;
  if (isAnswered(comparison, pair)) return;
  if (hosts === undefined && kindOf(comparison, pair.before, pair.after) === null) return;
  const was = regionOf(before, pair.component, { rule: pair.before, pin: pins.before });
  const now = regionOf(after, pair.component, { rule: pair.after, pin: pins.after });
  const excluded = isSeparate(pair.component) ? unmatched(comparison, pair) : [];
  askRegions(comparison, pair, { was, now, excluded, hosts });
}

/** Looks for a request on which two rules act in both plans, in the one order before and in the other after. */
function askOrder(
  comparison: Comparison,
  component: Component,
  { before, after }: { readonly before: OrderedRules; readonly after: OrderedRules },
): void {
  const pair = { component, before: before.first, after: after.first, host: null };
  if (isAnswered(comparison, pair)) return;
  const was = bothActing(comparison.before, before);
  const now = bothActing(comparison.after, after);
  askRegions(comparison, pair, { was, now, excluded: [], hosts: undefined });
}

/** When both rules act, whether or not a later one of their phase ends the request; `null`: their paths are too complex. */
function bothActing(side: Side, { first, second }: OrderedRules): readonly ActingIn[] | null {
  const [a, b] = [matchedBy(side, first), matchedBy(side, second)];
  if (a === null || b === null) return null;
  if (!setsOverlap(a.sets, b.sets)) return [];
  const box = commonBox(side.space, a, b);
  if (box === null) return null;
  return situationsAt(side, second, box).map((one) => ({ ...one, mayBeOwnUrl: false }));
}

function isAnswered({ isDone, found }: Comparison, pair: OpenPair): boolean {
  return isDone || found.has(keyOf(pair));
}

/** Looks for a request in one of the regions of both sides. `null`: a filter is too complex for a proof. */
function askRegions(
  comparison: Comparison,
  pair: OpenPair,
  {
    was,
    now,
    excluded,
    hosts,
  }: {
    readonly was: readonly ActingIn[] | null;
    readonly now: readonly ActingIn[] | null;
    readonly excluded: readonly Box[] | null;
    readonly hosts: Int32Array | undefined;
  },
): void {
  const { budget, found, open } = comparison;
  const key = keyOf(pair);
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
      if (comparison.isDone || found.has(key)) return;
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
  return { ...target, sets: restricted(target.sets, [{ axis: HOST, set: hosts }]) };
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
  if (rule === null) return at(placeWithout(side, component), servedBox(side), false);
  const box = matchedBy(side, rule);
  if (box === null) return null;
  if (rule.type !== 'redirect') return at(rule, box, false);
  // Of a location by path, one request does not show what others of its box get.
  const mayBeOwnUrl = !variesByPath(rule);
  return [...endedBy(side, rule).flatMap((one) => at(rule, one, false)), ...at(rule, box, mayBeOwnUrl)];
}

/** A situation in which a rule acts. */
interface ActingIn extends Situation {
  /** The rule is a redirect whose location may be the request's own URL, by scheme and query. */
  readonly mayBeOwnUrl: boolean;
}

/**
 * The place that a request reaches without a rule of a component: after the last one, or where rules act for themselves,
 * before the first, since another rule of the phase may end the request.
 */
function placeWithout({ subject }: Side, component: Component): Evaluated {
  if (component === 'end' || component === 'gate') return END;
  if (isSeparate(component)) return placeBefore(subject, typesOf(component)[0]!, true);
  return placeAfter(subject, typesOf(component).at(-1)!);
}

/** Requests of both situations; `null`: there are none of both kinds. */
export function joint(a: Situation, b: Situation): CoverQuery | null {
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
  const first = witnessOf(result.point, before.space, acme);
  if (first === null) return 'unknown';
  for (const witness of withUrls(first, targets)) {
    const { witness: solved, ...profiles } = profilesOf(subjects, witness);
    for (const change of differencesOf(comparison, profiles, solved)) {
      const key = keyOf(change);
      open.delete(key);
      if (found.has(key)) continue;
      found.set(key, change);
      comparison.isDone ||= comparison.isEnough(change);
    }
  }
  return 'point';
}
