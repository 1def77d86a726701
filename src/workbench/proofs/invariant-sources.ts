/**
 * What can give a request an outcome: the rules with that effect, the challenges of records, the edge's own paths, and the end of all
 * phases. In: a rule set in a space. Out: sources, each with the questions that show whether a request comes to it.
 */
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import type { Action, Decision } from '../../engine/evaluator/decision.ts';
import { findGroup } from '../../engine/evaluator/loaded.ts';
import { GROUP, META, NONE } from '../../engine/plan/layout.ts';
import { credentialsFor } from './credentials.ts';
import {
  type CredentialQuestion,
  type GatewaySpace,
  questionsAnswered,
  questionsPast,
} from './gateway-questions.ts';
import { knownOf } from './rule-types.ts';
import {
  commonBox,
  END,
  endedBy,
  matchedBy,
  placeAfter,
  type Situation,
  type SubjectSpace,
  situationsAt,
} from './situations.ts';
import { type AtomSet, AXES, atomSet, type Box, restricted, subtract } from './space/boxes.ts';
import { nameOfRule, planRule, type SubjectRule } from './subject.ts';

const [HOST, BOT] = [AXES.indexOf('host'), AXES.indexOf('bot')];

/** What can give a request an outcome. */
export interface OutcomeSource {
  readonly name: string;
  readonly action: Action;
  readonly rule: SubjectRule | null;
  /** The state in which it does so; `null`: in any. */
  readonly needs: 'limit' | 'score' | 'body' | null;
  /** When requests of a box come to it; `null`: that is too complex for a proof. */
  situations(target: Box): readonly Situation[] | null;
  /** Which requests of a situation it acts on, by their credentials. */
  questions(placed: GatewaySpace, situation: Situation): readonly CredentialQuestion[];
  /** Whether it has acted, or would with the state that it needs. */
  acts(decision: Decision): boolean;
}

/** The questions of a source that acts before credentials are read. */
function questionsOfAll({ world }: GatewaySpace, situation: Situation): readonly CredentialQuestion[] {
  const { target, blockers, count, within, outside, acme } = situation;
  const query = { target, blockers: blockers.boxes, count, within, outside };
  return [{ query, acme, credentials: credentialsFor(world, null).slice(0, 1) }];
}

/** Every source of every outcome, the end of all phases first. */
export function sourcesOf(around: SubjectSpace): readonly OutcomeSource[] {
  const end: OutcomeSource = {
    name: 'the end of all phases',
    action: 'forward',
    rule: null,
    needs: null,
    situations: (target) => situationsAt(around, END, target),
    questions: questionsPast,
    acts: ({ action }) => action === 'forward',
  };
  const rules = around.subject.rules.flatMap((rule): readonly OutcomeSource[] => {
    const words = planRule(around.subject.loaded, rule.slot);
    const actions = rule.isDryRun ? [] : knownOf(rule.type).outcomes(words);
    return actions.flatMap((action) => sourcesOfRule(around, rule, action));
  });
  return [end, ...rules, ownAnswers(around), recordChallenges(around)];
}

function sourcesOfRule(around: SubjectSpace, rule: SubjectRule, action: Action): readonly OutcomeSource[] {
  const source = sourceOfRule(around, rule, action);
  if (rule.type !== 'gateway') return [source];
  return [
    { ...source, questions: (placed, one) => questionsAnswered(placed, one, { rule, answer: 'refused' }) },
    ...ANSWERS_AFTER.map(
      ({ needs, answer }): OutcomeSource => ({
        ...source,
        needs,
        questions: (placed, one) => questionsAnswered(placed, one, { rule, answer }),
        acts: ({ matches }) =>
          matches.some(
            ({ type, id, effect }) => type === 'gateway' && id === rule.ref.id && effect === 'admit',
          ),
      }),
    ),
  ];
}

/** How a gateway refuses requests that it has admitted. */
const ANSWERS_AFTER = [
  { needs: 'limit', answer: 'limited' },
  { needs: 'body', answer: 'compared' },
] as const;

function sourceOfRule(around: SubjectSpace, rule: SubjectRule, action: Action): OutcomeSource {
  const { needs } = knownOf(rule.type);
  const isBefore = RULE_TYPES.indexOf(rule.type) < RULE_TYPES.indexOf('gateway');
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
    questions: isBefore ? questionsOfAll : questionsPast,
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
function ownAnswers(around: SubjectSpace): OutcomeSource {
  const place = placeAfter(around.subject, 'rate_limit');
  return {
    name: "the edge's own paths",
    action: 'respond',
    rule: null,
    needs: null,
    situations: (target) => situationsAt(around, place, target).filter(({ kind }) => kind === 'own'),
    questions: questionsOfAll,
    acts: ({ action, rule }) => action === 'respond' && rule === null,
  };
}

/** Challenges of records, where no captcha rule acts (semantics §4). */
function recordChallenges(around: SubjectSpace): OutcomeSource {
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
    questions: questionsPast,
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
