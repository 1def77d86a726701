/**
 * The phases of semantics §4 over lists of rules that are tried one after the other: what an edge without indexes
 * does. How a rule is tried is the caller's; the precompiled and the naive scan share only this walk. It knows what
 * the rule sets of the bench hold (no dry_run, nothing cleared, no rate limit that breaches) and does less than
 * `evaluate` does: no location, cache key, origin or counter is made.
 */
import { RULE_TYPES, type RuleType } from '../../src/base/vocabulary/vocabulary.ts';
import type { Rule, RuleSet } from '../../src/rules/model/types.ts';
import type { Answer } from '../harness/answer.ts';

/** A rule of one phase, with its test. */
export interface Scanned<Facts> {
  readonly id: number;
  /** The rule's action where its type has several; otherwise empty. */
  readonly action: string;
  readonly matches: (facts: Facts) => boolean;
}

/** The rules by phase, each list in evaluation order. */
export type Phases<Facts> = Readonly<Record<RuleType, readonly Scanned<Facts>[]>>;

export function phasesOf<Facts>(
  ruleSet: RuleSet,
  testOf: (rule: Rule) => (facts: Facts) => boolean,
): Phases<Facts> {
  const phases = Object.fromEntries(RULE_TYPES.map((type) => [type, []])) as unknown as Record<
    RuleType,
    Scanned<Facts>[]
  >;
  const ordered = [...ruleSet.rules].sort((a, b) => a.priority - b.priority || a.id - b.id);
  for (const rule of ordered) {
    if (!rule.enabled) continue;
    const action = 'action' in rule ? rule.action : '';
    phases[rule.type].push({ id: rule.id, action, matches: testOf(rule) });
  }
  return phases;
}

function first<Facts>(rules: readonly Scanned<Facts>[], facts: Facts): Scanned<Facts> | null {
  for (const rule of rules) if (rule.matches(facts)) return rule;
  return null;
}

function ended(action: string, type: RuleType, matched: readonly number[]): Answer {
  return { action, type, id: matched.at(-1)!, matched };
}

/** Walks the phases; stops where the request ends. */
export function scan<Facts>(phases: Phases<Facts>, facts: Facts): Answer {
  const matched: number[] = [];
  const note = (rule: Scanned<Facts> | null): boolean => {
    if (rule !== null) matched.push(rule.id);
    return rule !== null;
  };
  if (note(first(phases.drop, facts))) return ended('block', 'drop', matched);
  for (const rule of phases.fingerprint) {
    if (!rule.matches(facts)) continue;
    matched.push(rule.id);
    if (rule.action !== 'tag')
      return ended(rule.action === 'drop' ? 'block' : 'challenge', 'fingerprint', matched);
  }
  for (const rule of phases.bot_route) {
    if (!rule.matches(facts)) continue;
    matched.push(rule.id);
    if (rule.action !== 'tag')
      return ended(rule.action === 'block' ? 'block' : 'respond', 'bot_route', matched);
  }
  for (const rule of phases.rate_limit) if (rule.matches(facts)) matched.push(rule.id);
  note(first(phases.waf, facts));
  if (note(first(phases.redirect, facts))) return ended('redirect', 'redirect', matched);
  if (note(first(phases.captcha, facts))) return ended('challenge', 'captcha', matched);
  note(first(phases.rewrite, facts));
  note(first(phases.cache, facts));
  if (note(first(phases.origin_route, facts))) return ended('forward', 'origin_route', matched);
  if (note(first(phases.origin_pool, facts))) return ended('forward', 'origin_pool', matched);
  return { action: 'forward', type: null, id: null, matched };
}
