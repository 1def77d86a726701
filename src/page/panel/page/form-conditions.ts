/** What the form may assume of a plan, as its fields list it; part of the evaluator's chunk. */
import type { RuleRef } from '../../../engine/evaluator/decision.ts';
import { isContentAddressed, refText } from '../../../engine/evaluator/identity.ts';
import { planConditions } from '../../../workbench/simulation/plan-conditions.ts';
import { labelOf } from '../../../workbench/simulation/render-rule.ts';

/** An entry of a field that lists words. */
export interface FormCondition {
  /** The word; of a rate limit, what comes before `=`. */
  readonly word: string;
  readonly label: string;
  /** `<type>/<id>` of the rule or record. */
  readonly rule: string;
}

/** A rate limit with what it lets through. */
export interface LimitEntry extends FormCondition {
  readonly allows: string;
}

/** The entries of each field. */
export interface FormConditions {
  readonly challenges: readonly FormCondition[];
  readonly limits: readonly LimitEntry[];
  readonly origins: readonly FormCondition[];
}

/** Reads the entries of a sealed plan. @throws PlanFault when the bytes are not a plan */
export function formConditions(bytes: Uint8Array): FormConditions {
  const { challenges, limits, pools } = planConditions(bytes);
  return {
    challenges: challenges.map(entryOf),
    limits: limits.map(({ rule, requests, windowSec }) => ({
      ...entryOf(rule),
      allows: `of ${requests} in ${windowSec} s`,
    })),
    origins: pools.flatMap(({ id, key, origins }) =>
      origins.map(({ address }, index) => ({
        word: `${id}/${index}`,
        label: `${namesRule(key) ? key : `#${id}`}: ${address}`,
        rule: `origin_pool/${id}`,
      })),
    ),
  };
}

function entryOf(rule: RuleRef): FormCondition {
  const { type, id, key } = rule;
  return {
    word: refText(rule),
    label: labelOf({ type, id, key: namesRule(key) ? key : null }),
    rule: `${type}/${id}`,
  };
}

/** Whether the rule has a key that names it; a hash of its content names nothing. */
function namesRule(key: string | undefined): key is string {
  return key !== undefined && !isContentAddressed(key);
}
