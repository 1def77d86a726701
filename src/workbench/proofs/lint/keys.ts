/**
 * Finds rules of an edge file that have state beyond one request and no name that survives an edit (semantics §7,
 * Identity).
 */
import { isContentAddressed } from '../../../engine/evaluator/identity.ts';
import type { Rule } from '../../../rules/model/types.ts';
import type { Finding, LintContext } from './finding.ts';

/**
 * Finds enabled rules with neither `key` nor id that lose state when they are edited. Rules of the API have ids.
 */
export function lintKeys({ ruleSet, enabled }: LintContext): readonly Finding[] {
  const { keys } = ruleSet;
  if (keys === undefined) return [];
  return enabled.flatMap((rule) => {
    const key = keys.rules.get(rule.id);
    const state = stateOf(rule);
    if (key === undefined || !isContentAddressed(key) || state === null) return [];
    const message = `is missing, so the rule is identified by its content: each edit of it resets ${state}`;
    const remedy = 'add a name that does not change, such as `key: login-limit`';
    return [{ code: 'missing_key', severity: 'info', rule, field: ['key'], message, remedy }];
  });
}

const CLEARANCES = 'the clearances of visitors';

/** The state that outlives a request; `null`: none but entries in logs. */
function stateOf(rule: Rule): string | null {
  switch (rule.type) {
    case 'rate_limit':
      return rule.on_breach === 'captcha' ? `its counters and ${CLEARANCES}` : 'its counters';
    case 'captcha':
      return CLEARANCES;
    case 'fingerprint':
      return rule.action === 'challenge' ? CLEARANCES : null;
    case 'origin_pool':
      // With a single origin, health changes nothing: a pool whose origins are all out uses all of them.
      return rule.origins.length > 1 ? 'the health of its origins' : null;
    default:
      return null;
  }
}
