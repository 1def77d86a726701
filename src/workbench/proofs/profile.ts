/**
 * What a plan does with one request, as the rules that act in each component of the decision. Solved challenges, counters and
 * scores are left open: two plans with equal profiles decide alike whatever these are.
 */
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { Decision } from '../../engine/evaluator/decision.ts';
import { refText } from '../../engine/evaluator/identity.ts';
import { knownOf, type TypeComponent } from './rule-types.ts';
import type { Subject, SubjectRule } from './subject.ts';
import { requestOf, type Witness } from './witness.ts';

/**
 * A part of a decision. At most one rule acts in each, but where each rule acts for itself. `end`: what ends the request without
 * leaving it open.
 */
export type Component = 'gate' | TypeComponent;

/** The parts of a decision, in the order of phases. */
export const COMPONENTS: readonly Component[] = [
  ...new Set<Component>(['gate', ...RULE_TYPES.map((type) => knownOf(type).component)]),
];

/** Whether every rule of the component acts for itself. */
export function isSeparate(component: Component): boolean {
  return typesOf(component).some((type) => knownOf(type).acting === 'each');
}

/** The types whose rules act in a component, in the order of phases; those of `end` may act elsewhere too. */
export function typesOf(component: Component): readonly RuleType[] {
  return RULE_TYPES.filter((type) => knownOf(type).component === component);
}

/** The component in which an enforced rule acts. */
export function componentOf({ type, ending }: SubjectRule): TypeComponent {
  if (ending === 'always' || ending === 'unless_own_url') return 'end';
  return ending === 'pins' ? 'origin' : knownOf(type).component;
}

/** What acts on one request. */
export interface Profile {
  /** The rules that act, by component; for most at most one. */
  readonly rules: ReadonlyMap<Component, readonly SubjectRule[]>;
  readonly decision: Decision;
}

/** Challenges that a request meets, at most: of fingerprint and captcha rules and of a record, with room. */
const MAX_CHALLENGES = 16;

/** The profiles of one request under both subjects, with every challenge of either solved. */
export function profilesOf(
  subjects: { readonly before: Subject; readonly after: Subject },
  witness: Witness,
): { readonly before: Profile; readonly after: Profile; readonly witness: Witness } {
  let solved = witness;
  for (let tried = 0; tried < MAX_CHALLENGES; tried++) {
    const before = profileOf(subjects.before, solved);
    const after = profileOf(subjects.after, solved);
    const asking = [before, after].flatMap(({ decision: { action, rule } }) =>
      action === 'challenge' && rule !== null ? [refText(rule)] : [],
    );
    const fresh = asking.filter((challenge) => !solved.cleared.includes(challenge));
    if (fresh.length === 0) return { before, after, witness: solved };
    solved = { ...solved, cleared: [...solved.cleared, ...new Set(fresh)] };
  }
  return {
    before: profileOf(subjects.before, solved),
    after: profileOf(subjects.after, solved),
    witness: solved,
  };
}

function profileOf(subject: Subject, witness: Witness): Profile {
  const request = requestOf(witness, subject.moment());
  const decision = subject.evaluator.evaluate(request);
  const pages = subject.evaluator.errorPage(request, witness.status ?? 500, 'origin');
  const rules = new Map<Component, SubjectRule[]>();
  for (const { type, id, mode, effect } of [...decision.matches, ...pages.matches]) {
    if (mode !== 'enforce' || effect === 'self_redirect') continue;
    const rule = subject.ruleOf(type, id);
    if (rule === null) continue;
    const component = componentOf(rule);
    const list = rules.get(component);
    if (list === undefined) rules.set(component, [rule]);
    else list.push(rule);
  }
  return { rules, decision };
}
