/** A rule set as that of a domain that serves. */
import type { RuleSet } from '../model/types.ts';

/** Sets the state of the domain aside, since it is no property of its rules: what is proved holds once the domain serves. */
export function serving(ruleSet: RuleSet): RuleSet {
  const domain = {
    ...ruleSet.domain,
    status: 'active',
    suspended: false,
    developer_mode_until: null,
  } as const;
  return { ...ruleSet, domain };
}
