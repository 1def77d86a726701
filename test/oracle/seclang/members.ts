/** What a list of targets names: the members of variables, counts, and what is left out of them. */
import type { WrittenTarget } from '../../../src/engine/waf/seclang/draft.ts';
import { selects } from './operators.ts';
import { collectionOf, type Named, type RequestState, scalarOf } from './request.ts';
import { EMPTY, type Tx } from './tx.ts';

/** Where variables are looked up. */
export interface Seen {
  readonly state: RequestState;
  readonly tx: Tx;
  /** MATCHED_VARS: what the rule at work has matched so far. */
  matched: Named[];
}

/** A member that a target gave. */
export interface Member {
  readonly variable: string;
  readonly name: string;
  /** As MATCHED_VAR_NAME tells it. */
  readonly told: string;
  readonly value: string;
}

/** The members that a list of targets names, in the order of the list. */
export function membersOf(seen: Seen, targets: readonly WrittenTarget[]): readonly Member[] {
  const excluded = targets.filter((target) => target.excluded);
  return targets
    .filter((target) => !target.excluded)
    .flatMap((target) => {
      const all = variableOf(seen, target.variable.toUpperCase());
      const kept = all.filter((one) => takes(target, one) && !excluded.some((other) => takes(other, one)));
      if (!target.counted) return kept;
      // Variables that are empty for every request are told by one name.
      const variable = EMPTY.test(target.variable) ? 'UNIQUE_ID' : target.variable.toUpperCase();
      const name =
        variable === 'UNIQUE_ID'
          ? ''
          : target.selector?.kind === 'name'
            ? target.selector.text.toLowerCase()
            : '';
      const told = name === '' ? `&${variable}` : `&${variable}:${name}`;
      // A count is looked at under the name that it counts, in lower case.
      return [{ variable, name, told, value: String(kept.length) }];
    });
}

/** Every member of a variable. */
export function variableOf(seen: Seen, variable: string): readonly Member[] {
  const last = seen.matched.at(-1);
  const scalar = (value: string | null | undefined): readonly Member[] => {
    return value == null ? [] : [{ variable, name: '', told: variable, value }];
  };
  switch (variable) {
    case 'MATCHED_VAR':
      return scalar(last?.value);
    case 'MATCHED_VAR_NAME':
      return scalar(last?.name);
    case 'MATCHED_VARS':
      // What is found again keeps the name it was found under.
      return seen.matched.map(({ name, value }) => ({ variable, name, told: name, value }));
    case 'MATCHED_VARS_NAMES':
      return seen.matched.map(({ name }) => ({ variable, name, told: `${variable}:${name}`, value: name }));
    case 'TX':
      return Array.from(seen.tx, ([name, value]) => ({ variable, name, told: `TX:${name}`, value }));
    default: {
      const members = collectionOf(seen.state, variable);
      if (members === null) return scalar(scalarOf(seen.state, variable));
      return members.map(({ name, value }) => ({ variable, name, told: `${variable}:${name}`, value }));
    }
  }
}

/** Whether a target names a member; names are compared without case. */
export function takes(
  { variable, selector }: WrittenTarget,
  member: Pick<Member, 'variable' | 'name'>,
): boolean {
  if (variable.toUpperCase() !== member.variable) return false;
  if (selector === null) return true;
  if (selector.kind === 'pattern') return selects(selector.text, member.name);
  return selector.text.toLowerCase() === member.name.toLowerCase();
}
