/**
 * Proves invariants: whether some request that is meant can get an outcome that it must never get, whatever the state of
 * counters, scores and solved challenges. In: a rule set and invariants. Out: for each a proof, a request that breaks it, or
 * neither if a budget ended.
 *
 * The filters of an invariant are compiled as rules of a second plan, so they are boxes of the same space. Each outcome has
 * its sources: the rules with that effect, the challenge of a record, the edge's own answers, and the end of all phases. A
 * source that no request of the box comes to is covered by what ends requests before it; that is one question each.
 */
import { compile } from '../../engine/compiler/compile.ts';
import type { Action, Decision } from '../../engine/evaluator/decision.ts';
import { findGroup } from '../../engine/evaluator/loaded.ts';
import { GROUP, META, NONE } from '../../engine/plan/layout.ts';
import { seal } from '../../engine/plan/seal.ts';
import type { Invariant } from '../../rules/model/invariant.ts';
import type { Rule, RuleSet } from '../../rules/model/types.ts';
import { knownOf } from './rule-types.ts';
import {
  commonBox,
  END,
  endedBy,
  matchedBy,
  placeAfter,
  redirectExtras,
  type Situation,
  type SubjectSpace,
  servedBox,
  situationsAt,
} from './situations.ts';
import {
  type AtomSet,
  AXES,
  atomSet,
  type Box,
  commonSets,
  isEmptyBox,
  restricted,
  subtract,
} from './space/boxes.ts';
import { createBudget, MAX_TOTAL_STEPS, type StepBudget, shareOf } from './space/budget.ts';
import { findUncovered } from './space/cover.ts';
import { createSpace, type SpaceAxes } from './space/space.ts';
import {
  compilable,
  knowsLists,
  type ListSources,
  nameOfRule,
  planRule,
  readSubject,
  type Subject,
  type SubjectRule,
} from './subject.ts';
import { changedUntil, tryDecision, type Witness, withUrls, witnessOf } from './witness.ts';

/** Steps of all questions about one invariant; about a second. */
export const MAX_INVARIANT_STEPS = 1_000_000;

/** What is known of an invariant. */
export type InvariantResult =
  | { readonly kind: 'proved' }
  | ({ readonly kind: 'broken' } & Breach)
  /** No request that the domain serves is meant, so it shows nothing. */
  | { readonly kind: 'empty' }
  /** `open`: the source of an outcome that was not decided within the budget. */
  | { readonly kind: 'unknown'; readonly open: string };

/** A request that breaks an invariant. */
export interface Breach {
  readonly witness: Witness;
  readonly action: Action;
  /** The rule that does it; `null`: none does, or a record. */
  readonly rule: SubjectRule | null;
  /** The state in which the rule does it; `null`: in any. */
  readonly needs: 'limit' | 'score' | null;
  /** What the evaluator decides where the state is not needed. */
  readonly decision: Decision;
}

/** The result of one invariant. */
export interface ProvedInvariant {
  readonly invariant: Invariant;
  readonly result: InvariantResult;
}

/** What can give a request an outcome. */
interface Source {
  readonly name: string;
  readonly action: Action;
  readonly rule: SubjectRule | null;
  readonly needs: Breach['needs'];
  /** When requests of a box come to it; `null`: that is too complex for a proof. */
  situations(target: Box): readonly Situation[] | null;
  /** Whether it has acted, or would with the state that it needs. */
  acts(decision: Decision): boolean;
}

/** The rule set and the invariants in one space. */
interface Proving {
  readonly around: SubjectSpace;
  /** The plan whose rules have the filters of the invariants, and the place of each. */
  readonly scopes: Subject;
  readonly sources: readonly Source[];
}

const [HOST, BOT] = [AXES.indexOf('host'), AXES.indexOf('bot')];

/** Proves or disproves every invariant. */
export function proveInvariants(
  ruleSet: RuleSet,
  invariants: readonly Invariant[],
  sources: ListSources = {},
): readonly ProvedInvariant[] {
  const prove = openInvariants(ruleSet, invariants, sources);
  const total = createBudget(MAX_TOTAL_STEPS);
  return invariants.map((invariant, index) => ({ invariant, result: prove(index, total) }));
}

/** Compiles a rule set with invariants; the function proves one of them, by its place. */
export function openInvariants(
  ruleSet: RuleSet,
  invariants: readonly Invariant[],
  sources: ListSources = {},
): (index: number, total: StepBudget) => InvariantResult {
  const domain = compilable(ruleSet);
  const rules = invariants.map(({ when }, index): Rule => ({ ...when, type: 'drop', id: index + 1 }));
  if (!knowsLists({ ...domain, rules: [...domain.rules, ...rules] }, sources))
    return () => ({ kind: 'unknown', open: 'lists whose entries are not known' });
  const subject = readSubject(seal(compile(domain).plan, { revision: 1 }), sources);
  const { keys: _, ...rest } = domain;
  const scopes = readSubject(seal(compile({ ...rest, rules }).plan, { revision: 1 }), sources);
  const space = createSpace([subject.loaded, scopes.loaded], redirectExtras([subject]));
  if (space === null) return () => ({ kind: 'unknown', open: 'the filters of hosts' });
  const around: SubjectSpace = { space, subject, plan: 0, lists: new Map() };
  const proving: Proving = { around, scopes, sources: sourcesOf(around) };
  return (index, total) => proveOne(proving, invariants[index]!, { id: index + 1, total });
}

function proveOne(
  proving: Proving,
  invariant: Invariant,
  { id, total }: { readonly id: number; readonly total: StepBudget },
): InvariantResult {
  const { around, sources } = proving;
  const target = meantBy(proving, invariant, id);
  if (target === null) return { kind: 'unknown', open: 'the paths of `when`' };
  const budget = shareOf(total, MAX_INVARIANT_STEPS);
  const any = { target, blockers: [], count: 0, within: [], outside: [] };
  const some = findUncovered(any, around.space, budget);
  if (some.kind === 'covered') return { kind: 'empty' };
  let open: string | null = null;
  for (const source of sources) {
    if (!invariant.never.includes(source.action)) continue;
    const found = askSource(around, source, target, budget);
    if (found === 'unknown') open ??= source.name;
    else if (found !== 'none') return { kind: 'broken', ...found };
  }
  return open === null ? { kind: 'proved' } : { kind: 'unknown', open };
}

/** The requests that an invariant is about; `null`: its paths are too complex. */
function meantBy({ around, scopes }: Proving, { bots }: Invariant, id: number): Box | null {
  const { space } = around;
  const parts = space.partsOf(1, scopes.ruleOf('drop', id)!.slot);
  if (parts === null) return null;
  const { filters, terms } = parts;
  const sets = restricted(commonSets(filters.sets, servedBox(around).sets), terms);
  if (bots === null) return { ...filters, sets };
  const { bot } = space.axes;
  const listed = atomSet(bots.listed.flatMap((entry) => atomsOfBot(bot, entry)));
  const set = bots.excludes ? subtract(bot.all, listed) : listed;
  return { ...filters, sets: restricted(sets, [{ axis: BOT, set }]) };
}

function atomsOfBot(
  bot: SpaceAxes['bot'],
  { kind, verified }: { readonly kind: string | null; readonly verified: boolean | null },
): readonly number[] {
  if (kind === null) return [0];
  const [from, to] = bot.kindSet(kind);
  const atoms = Array.from({ length: to! - from! }, (_, at) => from! + at);
  return atoms.filter((atom) => verified === null || bot.sample(atom)?.verified === verified);
}

/** Asks whether a request of the box comes to a source, and confirms it. */
function askSource(
  around: SubjectSpace,
  source: Source,
  target: Box,
  budget: StepBudget,
): Breach | 'none' | 'unknown' {
  const situations = source.situations(target);
  if (situations === null) return 'unknown';
  let isOpen = false;
  for (const { target: box, blockers, count, within, outside, acme } of situations) {
    if (isEmptyBox(box)) continue;
    const query = { target: box, blockers: blockers.boxes, count, within, outside };
    const found = findUncovered(query, around.space, budget);
    if (found.kind === 'covered') continue;
    const point = found.kind === 'point' ? witnessOf(found.point, around.space, acme) : null;
    const breach = point === null ? null : confirm(around, source, point);
    if (breach !== null) return breach;
    isOpen = true;
  }
  return isOpen ? 'unknown' : 'none';
}

/** The breach that a witness shows; of a redirect maybe with another scheme or query. */
function confirm({ subject }: SubjectSpace, source: Source, point: Witness): Breach | null {
  const { action, rule, needs } = source;
  const targets = rule?.type === 'redirect' ? [rule.target] : [];
  for (const first of withUrls({ ...point, status: null }, targets)) {
    const witness = changedUntil(first, subject, (changed) => tryDecision(subject, changed, source.acts));
    if (witness === null) continue;
    const { decision } = tryDecision(subject, witness, source.acts);
    return { witness, action, rule, needs, decision };
  }
  return null;
}

/** Every source of every outcome, the end of all phases first. */
function sourcesOf(around: SubjectSpace): readonly Source[] {
  const end: Source = {
    name: 'the end of all phases',
    action: 'forward',
    rule: null,
    needs: null,
    situations: (target) => situationsAt(around, END, target),
    acts: ({ action }) => action === 'forward',
  };
  const rules = around.subject.rules.flatMap((rule): readonly Source[] => {
    const words = planRule(around.subject.loaded, rule.slot);
    const actions = rule.isDryRun ? [] : knownOf(rule.type).outcomes(words);
    return actions.map((action) => sourceOfRule(around, rule, action));
  });
  return [end, ...rules, ownAnswers(around), recordChallenges(around)];
}

function sourceOfRule(around: SubjectSpace, rule: SubjectRule, action: Action): Source {
  const { needs } = knownOf(rule.type);
  const isRule = (ref: { readonly type: string; readonly id: number } | null): boolean =>
    ref !== null && ref.type === rule.ref.type && ref.id === rule.ref.id;
  return {
    name: nameOfRule(rule),
    action,
    rule,
    needs,
    situations(target) {
      const boxes = actingBoxes(around, rule, target);
      const all = boxes?.flatMap((box) => situationsAt(around, rule, box)) ?? null;
      // No challenge acts on the paths where challenges are solved (semantics §4).
      return action === 'challenge' ? (all?.filter(({ kind }) => kind !== 'own') ?? null) : all;
    },
    acts: (decision) =>
      needs === null ? decision.action === action && isRule(decision.rule) : decision.matches.some(isRule),
  };
}

/** The boxes in which a rule may act, those in which it acts for certain first; `null`: too complex. */
function actingBoxes(around: SubjectSpace, rule: SubjectRule, target: Box): readonly Box[] | null {
  const matched = matchedBy(around, rule);
  if (matched === null) return null;
  const boxes = rule.type === 'redirect' ? [...endedBy(around, rule), matched] : [matched];
  const common = boxes.map((box) => commonBox(around.space, target, box));
  return common.every((box) => box !== null) ? common : null;
}

/** The edge's own paths, which it answers after the rate limits (semantics §4). */
function ownAnswers(around: SubjectSpace): Source {
  const place = placeAfter(around.subject, 'rate_limit');
  return {
    name: "the edge's own paths",
    action: 'respond',
    rule: null,
    needs: null,
    situations: (target) => situationsAt(around, place, target).filter(({ kind }) => kind === 'own'),
    acts: ({ action, rule }) => action === 'respond' && rule === null,
  };
}

/** Challenges of records, where no captcha rule acts (semantics §4). */
function recordChallenges(around: SubjectSpace): Source {
  const { space, subject } = around;
  const place = placeAfter(around.subject, 'captcha');
  const visitors = subtract(space.axes.bot.all, space.axes.bot.crawlers);
  const hosts = challengedHosts(around);
  const challenged = [
    { axis: HOST, set: hosts },
    { axis: BOT, set: visitors },
  ];
  return {
    name: `the challenges of the records of ${subject.domain}`,
    action: 'challenge',
    rule: null,
    needs: null,
    situations: (target) =>
      situationsAt(around, place, { ...target, sets: restricted(target.sets, challenged) }),
    acts: ({ action, rule }) => action === 'challenge' && rule?.type === 'record',
  };
}

/** The hosts with a record that challenges. */
function challengedHosts({ space, subject: { loaded } }: SubjectSpace): AtomSet {
  const { host } = space.axes;
  const atoms = Array.from({ length: host.all[1]! }, (_, atom) => atom);
  return atomSet(
    atoms.filter((atom) => {
      const group = findGroup(loaded, host.sample(atom));
      if (group === NONE) return false;
      const { words, meta } = loaded.plan;
      return words[words[meta[META.groups]! + group]! + GROUP.captcha] !== 0;
    }),
  );
}
