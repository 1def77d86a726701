/**
 * Mistakes in the conditions of a rule (semantics §12): a condition or an entry is missing, a list is read the other way round, a
 * comparison is negated, case counts where it does not, another method. In: a rule. Out: the same rule with one of them.
 */
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import { comparisonOf } from '../../base/vocabulary/condition-ops.ts';
import { type ConditionOp, VALUE_MEMBERS, type ValueMember } from '../../base/vocabulary/vocabulary.ts';
import { storedConditions } from '../../rules/model/conditions.ts';
import type { Conditions, Rule, ValueCondition } from '../../rules/model/types.ts';
import { conditionText, INCLUSION_MEMBERS } from '../proofs/rule-conditions.ts';
import { shown } from '../proofs/rule-types.ts';
import { type Mutation, spread } from './action-mutations.ts';

/** A mutation of conditions; `field` is below `conditions`. */
interface Mistake extends Omit<Mutation, 'rule'> {
  readonly becomes: Conditions;
}

/** The mutations of a rule's conditions. */
export function conditionMutations(rule: Rule): readonly Mutation[] {
  const { conditions, ...others } = rule;
  if (conditions === undefined) return [];
  const mistakes = [
    ...withoutMembers(conditions),
    ...methodMistakes(conditions, 'methods'),
    ...methodMistakes(conditions, 'except_methods'),
    ...listMistakes(conditions, ['schemes'], conditions.schemes),
    ...INCLUSION_MEMBERS.flatMap((member) => inclusionMistakes(conditions, member)),
    ...verifiedMistakes(conditions),
    ...VALUE_MEMBERS.flatMap((member) =>
      (conditions[member] ?? []).flatMap((_, place) => valueMistakes(conditions, member, place)),
    ),
  ];
  return mistakes.map(({ operator, field, change, becomes }) => ({
    ...{ operator, change, field: ['conditions', ...field] },
    rule: { ...others, ...storedConditions(becomes) } as Rule,
  }));
}

/** Each member missing; a list of conditions on values loses them one by one. */
function withoutMembers(conditions: Conditions): readonly Mistake[] {
  const members = (Object.keys(conditions) as (keyof Conditions)[]).filter(
    (member) => conditions[member] !== undefined && !VALUE_MEMBERS.some((one) => one === member),
  );
  return members.map((member) => ({
    ...{ operator: 'drop_condition', field: [member], change: 'removed' },
    becomes: without(conditions, member),
  }));
}

function without(conditions: Conditions, member: keyof Conditions): Conditions {
  const { [member]: _, ...rest } = conditions;
  return rest;
}

/** The conditions with another list; without the member if none is left. */
function withList(
  conditions: Conditions,
  [member, side]: readonly [keyof Conditions, string?],
  list: unknown,
): Conditions {
  const isEmpty = Array.isArray(list) && list.length === 0;
  if (side === undefined)
    return isEmpty ? without(conditions, member) : ({ ...conditions, [member]: list } as Conditions);
  const { [side]: _, ...others } = conditions[member] as Readonly<Record<string, unknown>>;
  const sides = isEmpty ? others : { ...others, [side]: list };
  if (Object.values(sides).every((one) => one === undefined)) return without(conditions, member);
  return { ...conditions, [member]: sides } as Conditions;
}

/** A list without some of its entries, one at a time. */
function listMistakes(
  conditions: Conditions,
  path: readonly [keyof Conditions, string?],
  values: readonly (string | number)[] = [],
): readonly Mistake[] {
  return spread(values.length).map((place) => ({
    ...{
      operator: 'drop_entry',
      field: [...path, place] as FieldPath,
      change: `without ${shown(values[place])}`,
    },
    becomes: withList(conditions, path, values.toSpliced(place, 1)),
  }));
}

/** Methods that take the place of one that is listed, the first that is not. */
const OTHER_METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

function methodMistakes(conditions: Conditions, member: 'methods' | 'except_methods'): readonly Mistake[] {
  const methods = conditions[member] ?? [];
  const other = OTHER_METHODS.find((method) => !methods.includes(method));
  const replaced = spread(methods.length).flatMap((place): readonly Mistake[] => {
    if (other === undefined) return [];
    const change = `${shown(methods[place])} → ${shown(other)}`;
    const becomes = { ...conditions, [member]: methods.with(place, other) };
    return [{ operator: 'change_condition', field: [member, place], change, becomes }];
  });
  return [...listMistakes(conditions, [member], methods), ...replaced];
}

/** Entries missing, and the lists read the other way round. */
function inclusionMistakes(
  conditions: Conditions,
  member: (typeof INCLUSION_MEMBERS)[number],
): readonly Mistake[] {
  const lists = conditions[member];
  if (lists === undefined) return [];
  const { includes, excludes } = lists;
  const flipped = {
    ...(excludes === undefined ? {} : { includes: excludes }),
    ...(includes === undefined ? {} : { excludes: includes }),
  };
  return [
    ...listMistakes(conditions, [member, 'includes'], includes),
    ...listMistakes(conditions, [member, 'excludes'], excludes),
    {
      ...{ operator: 'flip_list', field: [member], change: '`includes` ↔ `excludes`' },
      becomes: { ...conditions, [member]: flipped } as Conditions,
    },
  ];
}

function verifiedMistakes(conditions: Conditions): readonly Mistake[] {
  const { verified_bot } = conditions;
  if (verified_bot === undefined) return [];
  const change = `${shown(verified_bot)} → ${shown(!verified_bot)}`;
  const becomes = { ...conditions, verified_bot: !verified_bot };
  return [{ operator: 'change_condition', field: ['verified_bot'], change, becomes }];
}

/** A condition on a value missing, negated, with the other case, and without some of its values. */
function valueMistakes(conditions: Conditions, member: ValueMember, place: number): readonly Mistake[] {
  const list = conditions[member] ?? [];
  const condition = list[place]!;
  const { op, values, ignore_case } = condition;
  const field = [member, place] as const;
  const changed = (next: Partial<ValueCondition>): Conditions =>
    withList(conditions, [member], list.with(place, { ...condition, ...next }));
  const other = negated(op);
  const hasCase = comparisonOf(op) !== null && values.some((value) => /[a-z]/i.test(value));
  const fewer = values.length < 2 ? [] : spread(values.length);
  return [
    {
      ...{ operator: 'drop_condition', field, change: `without ${shown(conditionText(condition))}` },
      becomes: withList(conditions, [member], list.toSpliced(place, 1)),
    },
    {
      ...{ operator: 'change_condition', field: [...field, 'op'], change: `${shown(op)} → ${shown(other)}` },
      becomes: changed({ op: other }),
    },
    ...(hasCase
      ? [
          {
            operator: 'change_condition',
            field: [...field, 'ignore_case'],
            change: `${shown(ignore_case)} → ${shown(!ignore_case)}`,
            becomes: changed({ ignore_case: !ignore_case }),
          } as const,
        ]
      : []),
    ...fewer.map((at): Mistake => {
      const change = `without ${shown(values[at])}`;
      const path = [...field, 'values', at];
      return {
        operator: 'drop_entry',
        field: path,
        change,
        becomes: changed({ values: values.toSpliced(at, 1) }),
      };
    }),
  ];
}

/** `present` and `absent`, and each comparison with and without `not_`. */
function negated(op: ConditionOp): ConditionOp {
  if (op === 'present') return 'absent';
  if (op === 'absent') return 'present';
  return (op.startsWith('not_') ? op.slice(4) : `not_${op}`) as ConditionOp;
}
