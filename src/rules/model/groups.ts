/** Which rules insert groups of their path patterns into what they write. */
import type { Rule } from './types.ts';

/** Whether the rule may insert groups, so that the first entry that matches decides what it does. */
export function insertsGroups(rule: Rule): boolean {
  if (rule.type === 'redirect') return rule.target_mode === 'captures';
  return rule.type === 'rewrite' && rule.path_match_type === 'regex';
}
