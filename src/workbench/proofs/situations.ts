/**
 * When a rule is evaluated (semantics §4), as questions about boxes. A rule is reached if in one of its situations its box is
 * not covered: by rules of earlier phases that end the request, and by rules of its own phase that take its place.
 */
import { parseHost } from '../../base/addresses/host.ts';
import { createTargetFacts, parseTarget } from '../../base/paths/path.ts';
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import { EXEMPT } from '../../engine/evaluator/facts.ts';
import { splitReference } from '../../engine/evaluator/phases/redirect.ts';
import { PHASE_TABLE } from '../../engine/evaluator/phases.ts';
import { phaseStart, typeIndex } from '../../engine/plan/layout.ts';
import { pathsToThemselves } from './listed-redirects.ts';
import { typesOf } from './profile.ts';
import { knownOf } from './rule-types.ts';
import type { LetterAutomaton } from './space/automaton.ts';
import { AXES, type Box, commonSets, restricted, subtract, withAxis } from './space/boxes.ts';
import type { Language } from './space/language.ts';
import type { Space, SpaceExtras } from './space/space.ts';
import { type Subject, type SubjectRule, targetsOf } from './subject.ts';

/** Boxes, ascending by their slots. */
export interface BlockerList {
  readonly boxes: readonly Box[];
  /** The rule whose matches a box consists of; `null`: no request is in the box, after the rule in the slot. */
  readonly rules: readonly (SubjectRule | null)[];
  readonly slots: readonly number[];
  /** The places of boxes without a rule. */
  readonly without: readonly number[];
}

/** A place in the order of evaluation: a rule's, or one after all rules of a type, where none of them has acted. */
export interface Evaluated {
  readonly slot: number;
  /** `end`: after all phases, where the request is forwarded. */
  readonly type: RuleType | 'end';
  readonly isTag: boolean;
}

/** The place after all phases. */
export const END: Evaluated = { slot: Number.POSITIVE_INFINITY, type: 'end', isTag: false };

/** The place after the last rule of a type. `isTag`: as the tags of that type come to it. */
export function placeAfter({ loaded }: Subject, type: RuleType, isTag = false): Evaluated {
  return { slot: phaseStart(loaded.plan, typeIndex(type) + 1), type, isTag };
}

/** The place before the first rule of a type. `isTag`: as the tags of that type come to it. */
export function placeBefore({ loaded }: Subject, type: RuleType, isTag = false): Evaluated {
  return { slot: phaseStart(loaded.plan, typeIndex(type)), type, isTag };
}

/** Requests of one kind that a rule may act on. */
export interface Situation {
  readonly kind: PathKind;
  readonly target: Box;
  readonly blockers: BlockerList;
  /** Boxes of rules before the rule: so many, from the first. */
  readonly count: number;
  readonly within: readonly LetterAutomaton[];
  readonly outside: readonly LetterAutomaton[];
  /** The method of a witness whose path is an ACME token's. */
  readonly acme: 'GET' | 'POST';
}

/** The types whose phase a request with one of these bits of EXEMPT passes (semantics §4). */
function typesPassedBy(exemption: number): readonly Evaluated['type'][] {
  return PHASE_TABLE.filter(({ passedBy }) => (passedBy & exemption) !== 0).flatMap(({ types }) => types);
}

const PASSED_BY_ACME = typesPassedBy(EXEMPT.acme);
const PASSED_BY_CRAWLERS = typesPassedBy(EXEMPT.crawler);
/** A pinned origin passes phases, and takes the place of routes and pools. */
const PASSED_BY_PINNED: readonly Evaluated['type'][] = [
  ...typesPassedBy(EXEMPT.pinned),
  ...typesOf('origin'),
];

/** Whether a rule does not act once a rule has pinned the origin. */
export function isStoppedByPin({ type }: SubjectRule): boolean {
  return type === 'bot_route' || PASSED_BY_PINNED.includes(type);
}

const HOST = AXES.indexOf('host');
const BOT = AXES.indexOf('bot');

/** The rules of a subject in a space. */
export interface SubjectSpace {
  readonly space: Space;
  readonly subject: Subject;
  /** The subject's place among the plans of the space. */
  readonly plan: number;
  /** Lists of blockers that several rules share, by what they depend on. */
  readonly lists: Map<string, BlockerList>;
}

/** The place of a type among the phases. */
function phaseOf(type: Evaluated['type']): number {
  return type === 'end' ? RULE_TYPES.length : RULE_TYPES.indexOf(type);
}

/** The requests that a rule matches; `null`: its filter is too complex for a proof. */
export function matchedBy(around: SubjectSpace, rule: SubjectRule): Box | null {
  const box = around.space.boxOf(around.plan, rule.slot);
  return box === null ? null : evaluatedIn(around, rule, box);
}

/** The requests of a box for which a rule is evaluated: hosts that are served, without crawlers where those pass its phase. */
export function evaluatedIn({ space, plan }: SubjectSpace, rule: SubjectRule, box: Box): Box {
  const served = withServed(space, plan, box);
  if (!PASSED_BY_CRAWLERS.includes(rule.type)) return served;
  const others = subtract(space.axes.bot.all, space.axes.bot.crawlers);
  return { ...served, sets: restricted(served.sets, [{ axis: BOT, set: others }]) };
}

/** Every request to a host that the plan serves. */
export function servedBox({ space, plan }: SubjectSpace): Box {
  return withServed(space, plan, { sets: space.free, paths: null });
}

function withServed(space: Space, plan: number, box: Box): Box {
  return { ...box, sets: restricted(box.sets, [{ axis: HOST, set: space.axes.host.served(plan) }]) };
}

/**
 * The requests that an enforced rule ends for certain. A redirect is left out where its location may be the request's own URL,
 * and a rule whose filter is too complex everywhere.
 */
export function endedBy(around: SubjectSpace, rule: SubjectRule): readonly Box[] {
  const box = matchedBy(around, rule);
  if (box === null) return [];
  if (rule.isListed) return apartFromThemselves(around, rule, box);
  return rule.ending === 'unless_own_url' ? elsewhere(around.space, rule, box) : [box];
}

/** Entries of a list of targets that are taken out of a box one by one. */
const MAX_TAKEN_OUT = 16;

/** The part of the box of a redirect with a list of targets whose entries have targets with other paths. */
function apartFromThemselves({ space, subject }: SubjectSpace, rule: SubjectRule, box: Box): readonly Box[] {
  const paths = pathsToThemselves(targetsOf(subject, rule));
  if (rule.preservesPath || paths.length > MAX_TAKEN_OUT) return [];
  let left = box.paths;
  for (const path of paths) {
    const one = space.wildcardPaths([path]);
    left = one === null ? null : space.without(left, one);
    if (left === null) return [];
  }
  return [{ ...box, paths: left }];
}

/** The part of a redirect's box whose location certainly differs from the request's URL. */
function elsewhere(space: Space, rule: SubjectRule, box: Box): readonly Box[] {
  const { target, preservesPath, preservesQuery, takesGroups } = rule;
  const { scheme, host, path, query } = splitTarget(target);
  const isOtherPath = preservesPath && path.replace(/\/+$/, '') !== '';
  const hasGroupsInQuery = takesGroups && (query ?? '').includes('$');
  // The request's query comes after that of the target, so the location's is longer.
  const isOtherQuery = preservesQuery && query !== null && query !== '' && !hasGroupsInQuery;
  if (isOtherPath || isOtherQuery) return [box];
  const parts: Box[] = [];
  if (host !== null) {
    const atom = space.axes.host.atomOf(host);
    const set = box.sets[HOST] ?? space.axes.host.all;
    // The plans serve no host without an atom.
    if (atom === null) return [box];
    parts.push({ ...box, sets: withAxis(box.sets, HOST, subtract(set, Int32Array.of(atom, atom + 1))) });
    const others = space.axes.values.otherSchemes(scheme);
    if (others !== null) parts.push({ ...box, sets: restricted(box.sets, [others]) });
  }
  if (!preservesQuery && !hasGroupsInQuery) {
    for (const others of space.axes.values.otherQueries(query ?? ''))
      parts.push({ ...box, sets: restricted(box.sets, [others]) });
  }
  if (preservesPath) return parts;
  const own = takesGroups && path.includes('$') ? pathsBelow(space, path) : pathItself(space, path);
  const paths = own === null ? null : space.without(box.paths, own);
  return paths === null ? parts : [...parts, { ...box, paths }];
}

/** The one path that is a redirect's target; `null`: a request with it is refused. */
function pathItself(space: Space, path: string): Language | null {
  const own = canonicalPath(path);
  return own === null ? null : { name: `one ${own}`, automaton: space.onePath(own) };
}

/**
 * Every path that the target of a redirect with groups may make: its whole segments before the first `$` are how all of them
 * begin. `null`: it has none.
 */
function pathsBelow(space: Space, path: string): Language | null {
  const own = canonicalPath(fixedPart(path));
  return own === null || own === '/' ? null : space.wildcardPaths([own, '']);
}

/** The segments of a path before the first that has a `$`, with their slash. */
function fixedPart(path: string): string {
  const dollar = path.indexOf('$');
  const before = dollar < 0 ? path : path.slice(0, dollar);
  return before.slice(0, before.lastIndexOf('/') + 1);
}

/** The canonical path of a redirect's target; `null`: a request with it is refused. */
function canonicalPath(path: string): string | null {
  const facts = createTargetFacts();
  return parseTarget(path === '' ? '/' : path, facts) === 0 ? facts.path : null;
}

/** What a space must distinguish beside filters: whether a redirect leads to the request's own URL. */
export function redirectExtras(subjects: readonly Subject[]): SpaceExtras {
  const targets = subjects.flatMap(({ rules }) =>
    rules
      .filter(({ type, isListed }) => type === 'redirect' && !isListed)
      .map(({ target, takesGroups }) => ({ ...splitTarget(target), takesGroups })),
  );
  const hosts = targets.flatMap(({ host }) => (host === null || host === '' ? [] : [host]));
  const paths = targets.flatMap(
    ({ path, takesGroups }) =>
      canonicalPath(takesGroups && path.includes('$') ? fixedPart(path) : path) ?? [],
  );
  return { hosts: [...new Set(hosts)], paths: [...new Set(paths)] };
}

/** The parts of a redirect's target; `host` is `null` for a path, and empty if it is no host. */
export function splitTarget(target: string): {
  readonly scheme: string;
  readonly host: string | null;
  readonly path: string;
  readonly query: string | null;
} {
  const { scheme, authority, path, query } = splitReference(target);
  if (authority === '') return { scheme, host: null, path, query };
  const facts = { host: '', port: -1, literal: false };
  return { scheme, host: parseHost(authority, facts) ? facts.host : '', path, query };
}

/** The situations in which a rule is evaluated; `null`: its filter is too complex for a proof. */
export function situationsOf(around: SubjectSpace, rule: SubjectRule): readonly Situation[] | null {
  const target = matchedBy(around, rule);
  return target === null ? null : situationsAt(around, rule, target);
}

/** The situations in which requests of a box come to a place in the order of evaluation. */
export function situationsAt(around: SubjectSpace, place: Evaluated, target: Box): readonly Situation[] {
  const { space } = around;
  if (place.type !== 'end' && knownOf(place.type).onEveryAnswer) return [responses(around, place, target)];
  const ordinary = pinnings(around, place, target, 'ordinary');
  const own = phaseOf(place.type) <= phaseOf('rate_limit') ? pinnings(around, place, target, 'own') : [];
  const fetching = { ...target, sets: restricted(target.sets, space.axes.values.fetching) };
  const acme = PASSED_BY_ACME.includes(place.type) ? [] : pinnings(around, place, fetching, 'acme');
  return [
    ...ordinary.map((one) => ({ ...one, outside: [space.own] })),
    ...acme.map((one) => ({ ...one, within: [space.acme], acme: 'GET' as const })),
    ...own.map((one) => ({ ...one, within: [space.own] })),
  ];
}

/** Rules of every response, whatever ended the request; of error pages the first alone acts. */
function responses(around: SubjectSpace, rule: Evaluated, target: Box): Situation {
  const isFirst = rule.type !== 'end' && knownOf(rule.type).acting === 'first';
  const named = { name: `responses ${rule.type}`, kind: null };
  const blockers = listOf(around, named, (other) => isFirst && other.type === rule.type);
  return { kind: 'ordinary', target, ...before(blockers, rule), within: [], outside: [], acme: 'POST' };
}

/** The enforced rules that block, with their boxes, made once for all rules that share them. */
function listOf(
  around: SubjectSpace,
  { name, kind }: { readonly name: string; readonly kind: PathKind | null },
  isBlocker: (other: SubjectRule) => boolean,
): BlockerList {
  const { lists, subject } = around;
  const known = lists.get(name);
  if (known !== undefined) return known;
  const blocks = (rule: SubjectRule): boolean => !rule.isDryRun && isBlocker(rule);
  const pairs = subject.rules.flatMap((rule) => [
    ...(blocks(rule) ? endedBy(around, rule).map((box) => ({ box, rule, slot: rule.slot })) : []),
    ...neverTagged(around, rule, kind).map((box) => ({ box, rule: null, slot: rule.slot })),
  ]);
  const made = {
    boxes: pairs.map(({ box }) => box),
    rules: pairs.map(({ rule }) => rule),
    slots: pairs.map(({ slot }) => slot),
    without: pairs.flatMap(({ rule }, place) => (rule === null ? [place] : [])),
  };
  lists.set(name, made);
  return made;
}

/**
 * Points that no request has once a tagging rule was evaluated: those that it matches without its tag, and those with its tag that
 * it does not match. `kind`: of the requests; `null`: of responses, for which the rule may have been passed.
 */
function neverTagged(around: SubjectSpace, rule: SubjectRule, kind: PathKind | null): readonly Box[] {
  const { space, plan } = around;
  const { values } = space.axes;
  const has = rule.isTag ? values.tagged(plan, rule.slot, true) : null;
  const lacks = values.tagged(plan, rule.slot, false);
  if (has === null || lacks === null) return [];
  if (kind === 'acme' && PASSED_BY_ACME.includes(rule.type))
    return [{ sets: restricted(space.free, [has]), paths: null }];
  const box = matchedBy(around, rule);
  if (box === null || box.paths !== null) return [];
  const elsewhere = box.sets.flatMap((set, axis): readonly Box[] => {
    if (set === null) return [];
    const others = subtract(space.whole[axis]!, set);
    return [{ sets: restricted(space.free, [has, { axis, set: others }]), paths: null }];
  });
  if (kind !== null) return [{ ...box, sets: restricted(box.sets, [lacks]) }, ...elsewhere];
  const ended = around.subject.rules
    .filter((other) => other.slot < rule.slot && ENDS_TAGGING.includes(other.type))
    .filter(({ isDryRun, ending }) => !isDryRun && ending === 'always')
    .flatMap((other) => endedBy(around, other));
  return [...elsewhere, ...ended.map((one) => ({ ...one, sets: restricted(one.sets, [has]) }))];
}

/** Types whose rules end a request, so that later ones do not tag it. */
const ENDS_TAGGING: readonly RuleType[] = ['drop', 'fingerprint'];

/** The blockers, and how many of them belong to rules before a rule. */
function before(blockers: BlockerList, { slot }: Evaluated): Pick<Situation, 'blockers' | 'count'> {
  let [low, high] = [0, blockers.slots.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (blockers.slots[middle]! < slot) low = middle + 1;
    else high = middle;
  }
  return { blockers, count: low };
}

/** Requests for ordinary paths, for ACME tokens, or for the edge's own paths. */
type PathKind = 'ordinary' | 'acme' | 'own';

/** The situations by what has pinned the origin: nothing, or each rule that may. */
function pinnings(around: SubjectSpace, rule: Evaluated, target: Box, kind: PathKind): readonly Situation[] {
  const pins = kind === 'acme' ? [] : pinsBefore(around, rule);
  const free = situation(around, rule, { target, kind, pinned: null });
  // A pinned origin passes these, and of bot_route rules all but tags.
  if (PASSED_BY_PINNED.includes(rule.type) || (rule.type === 'bot_route' && !rule.isTag)) return [free];
  const pinned = pins.map((pin): Situation => {
    const box = matchedBy(around, pin);
    // A box that is too complex to narrow stays as it is: it has more requests than the situation, and lacks none.
    const both = box === null ? null : commonBox(around.space, target, box);
    return situation(around, rule, { target: both ?? target, kind, pinned: pin });
  });
  return [free, ...pinned];
}

/** Enforced rules that pin the origin and are evaluated before a rule. */
function pinsBefore({ subject }: SubjectSpace, rule: Evaluated): readonly SubjectRule[] {
  return subject.pins.filter(({ slot }) => slot < rule.slot);
}

/** What two boxes have in common; `null`: too complex. */
export function commonBox(space: Space, a: Box, b: Box): Box | null {
  const sets = commonSets(a.sets, b.sets);
  if (a.paths === null || b.paths === null || a.paths.name === b.paths.name) {
    return { sets, paths: a.paths ?? b.paths };
  }
  const paths = space.common(a.paths, b.paths);
  return paths === null ? null : { sets, paths };
}

/** One situation: the target, and the rules that come before. */
function situation(
  around: SubjectSpace,
  rule: Evaluated,
  {
    target,
    kind,
    pinned,
  }: { readonly target: Box; readonly kind: PathKind; readonly pinned: SubjectRule | null },
): Situation {
  const name = [rule.type, rule.isTag, kind, pinned?.slot].join(' ');
  const blockers = listOf(around, { name, kind }, (other) => blocks(other, rule, { kind, pinned }));
  return { kind, target, ...before(blockers, rule), within: [], outside: [], acme: 'POST' };
}

/** Whether an enforced match of an earlier rule prevents that a rule is evaluated. */
function blocks(
  other: SubjectRule,
  rule: Evaluated,
  { kind, pinned }: { readonly kind: PathKind; readonly pinned: SubjectRule | null },
): boolean {
  if (kind === 'acme' && PASSED_BY_ACME.includes(other.type)) return false;
  if (other.type === 'bot_route') return !other.isTag && botBlocks(other, pinned);
  if (pinned !== null && PASSED_BY_PINNED.includes(other.type)) return false;
  if (other.type === rule.type) return knownOf(other.type).acting === 'first' || other.ending !== 'never';
  if (other.type === 'origin_route' && rule.type === 'origin_pool') return true;
  // A gateway answers the request, or no challenge acts on it.
  if (other.type === 'gateway' && rule.type === 'captcha') return true;
  return other.ending === 'always' || other.ending === 'unless_own_url';
}

/** Of bot_route rules other than tags the first enforced match alone acts; one that pins ends nothing but takes the place. */
function botBlocks(other: SubjectRule, pinned: SubjectRule | null): boolean {
  return pinned === null || other.slot < pinned.slot;
}
