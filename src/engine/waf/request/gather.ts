/** Gathers the members of a request that a list of targets selects, in the order of the list. */
import type { WafTarget, WafTargets, WafVariable } from '../../plan/signature-program.ts';
import type { Matcher } from '../patterns/pattern.ts';
import { selects } from './target-classes.ts';
import { isScalar, membersOf, scalarOf, type Transaction } from './transaction.ts';
import { readTx, selectedTx } from './tx.ts';

/** One member of a request. */
export interface RequestMember {
  readonly variable: WafVariable;
  /** Its name within the collection; `''` for a scalar. */
  readonly name: string;
  /** Its name in reports and MATCHED_VAR_NAME: `ARGS:id`, `&ARGS`, `REQUEST_URI`. */
  readonly display: string;
  /** Its value, Latin-1. */
  readonly text: string;
}

/** Gathers the members; a target with `count` becomes one member whose value is the number. */
export function gather(
  targets: WafTargets,
  transaction: Transaction,
  matchers: readonly Matcher[],
): readonly RequestMember[] {
  const found: RequestMember[] = [];
  for (const target of targets.include) {
    const { variable } = target;
    const all = membersOfTarget(target, transaction, matchers);
    const members = targets.exclude.length === 0 ? all : withoutExcluded(all, targets.exclude, matchers);
    if (target.count) {
      const { selector } = target;
      const name = selector.kind === 'name' ? selector.name : '';
      const display = name === '' ? `&${variable}` : `&${variable}:${name}`;
      found.push({ variable, name, display, text: String(members.length) });
    } else found.push(...members);
  }
  return found;
}

function withoutExcluded(
  members: readonly RequestMember[],
  excluded: readonly WafTarget[],
  matchers: readonly Matcher[],
): readonly RequestMember[] {
  return members.filter(
    ({ variable, name }) =>
      !excluded.some((one) => one.variable === variable && selects(one, name, matchers)),
  );
}

function membersOfTarget(
  target: WafTarget,
  transaction: Transaction,
  matchers: readonly Matcher[],
): readonly RequestMember[] {
  const { variable, selector } = target;
  if (isScalar(variable)) {
    const text = scalarOf(transaction, variable);
    return text === null ? [] : [{ variable, name: '', display: variable, text }];
  }
  if (variable === 'TX' && selector.kind === 'name') {
    const text = readTx(transaction.tx, selector.name);
    return text === null ? [] : [{ variable, name: selector.name, display: `TX:${selector.name}`, text }];
  }
  if (variable === 'TX' && selector.kind === 'pattern') {
    const chosen = selectedTx(transaction.tx, selector.pattern, (name) => selects(target, name, matchers));
    return chosen.map(({ name, value }) => ({ variable, name, display: `TX:${name}`, text: value }));
  }
  const found: RequestMember[] = [];
  for (const { name, value } of membersOf(transaction, variable)) {
    if (!selects(target, name, matchers)) continue;
    found.push({ variable, name, display: `${variable}:${name}`, text: value });
  }
  return found;
}
