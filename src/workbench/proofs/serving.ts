/** The rule set that proofs are about: of a domain that serves, since its state is no property of its rules. */
import { compile } from '../../engine/compiler/compile.ts';
import { seal } from '../../engine/plan/seal.ts';
import { parseRule } from '../../rules/model/parse.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { readSubject, type Subject } from './subject.ts';

/** Sets the state of the domain aside: what is proved holds once the domain serves. */
export function serving(ruleSet: RuleSet): RuleSet {
  const domain = {
    ...ruleSet.domain,
    status: 'active',
    suspended: false,
    developer_mode_until: null,
  } as const;
  return { ...ruleSet, domain };
}

/** The rule set of a domain that serves. Rules that the model refuses match nothing and do not compile. */
export function compilable(ruleSet: RuleSet): RuleSet {
  const rules = ruleSet.rules.filter(
    ({ id: _, type, ...fields }) => parseRule(type, fields, { stored: true }).ok,
  );
  return { ...serving(ruleSet), rules };
}

/** The compiled subject of a rule set, as `compilable` has it. */
export function compileSubject(ruleSet: RuleSet): Subject {
  return readSubject(seal(compile(compilable(ruleSet)).plan, { revision: 1 }));
}
