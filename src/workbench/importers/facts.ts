/**
 * What a source asks of a request beside its host, path, address and country: the method, the scheme, headers, query parameters,
 * cookies, networks by number. Tests of one request combine to the `conditions` of a rule (semantics §12).
 */
import { comparisonOf } from '../../base/vocabulary/condition-ops.ts';
import { MAX_CONDITION_VALUES } from '../../base/vocabulary/limits.ts';
import { ORIGIN_SCHEMES, type ValueMember } from '../../base/vocabulary/vocabulary.ts';
import type { Conditions, ValueCondition } from '../../rules/model/types.ts';

/** A test of a request by one member of `conditions`. */
export type ImportedFact =
  | {
      readonly member: 'methods' | 'schemes' | 'asns' | 'bot_kinds' | 'ja4';
      /** One of them suffices. */
      readonly values: readonly string[];
      readonly negated: boolean;
    }
  | { readonly member: 'verified_bot'; readonly negated: boolean }
  | { readonly member: ValueMember; readonly condition: ValueCondition };

/** A test of a header, a query parameter or a cookie. */
export function valueFact(
  member: ValueMember,
  name: string,
  {
    op,
    values = [],
    ignoreCase = false,
  }: {
    readonly op: ValueCondition['op'];
    readonly values?: readonly string[];
    readonly ignoreCase?: boolean;
  },
): ImportedFact {
  return { member, condition: { name, op, values: [...values], ignore_case: ignoreCase } };
}

/** The test that holds where the given one does not. */
export function oppositeOf(fact: ImportedFact): ImportedFact {
  if (!('condition' in fact)) return { ...fact, negated: !fact.negated };
  const { op } = fact.condition;
  return { ...fact, condition: { ...fact.condition, op: oppositeOp(op) } };
}

function oppositeOp(op: ValueCondition['op']): ValueCondition['op'] {
  const compared = comparisonOf(op);
  if (compared === null) return op === 'present' ? 'absent' : 'present';
  return compared.negated ? compared.comparison : `not_${compared.comparison}`;
}

/** The tests of both, each once; `null`: no request passes them. */
export function bothFacts(
  one: readonly ImportedFact[],
  other: readonly ImportedFact[],
): readonly ImportedFact[] | null {
  const facts = new Map([...one, ...other].map((fact) => [JSON.stringify(fact), fact]));
  for (const fact of facts.values()) if (facts.has(JSON.stringify(oppositeOf(fact)))) return null;
  const all = [...facts.values()];
  const isNever = (['methods', 'schemes'] as const).some((member) => chosen(all, member)?.length === 0);
  return isNever ? null : all;
}

/** The tests of requests that pass either of two lists, which differ in the values of one test; `null`: no list of tests is exact. */
export function eitherFacts(
  one: readonly ImportedFact[],
  other: readonly ImportedFact[],
): readonly ImportedFact[] | null {
  const shared = new Set(other.map((fact) => JSON.stringify(fact)));
  const [left, ...more] = one.filter((fact) => !shared.has(JSON.stringify(fact)));
  const right = other.filter((fact) => !one.some((mine) => JSON.stringify(mine) === JSON.stringify(fact)));
  if (left === undefined || more.length > 0 || right.length !== 1) return null;
  const joined = joinValues(left, right[0]!);
  return joined === null ? null : one.map((fact) => (fact === left ? joined : fact));
}

/** A test of the values of both, where any value suffices for each. */
function joinValues(one: ImportedFact, other: ImportedFact): ImportedFact | null {
  if ('condition' in one && 'condition' in other) {
    const values = [...new Set([...one.condition.values, ...other.condition.values])];
    const isAlike = textWithout(one) === textWithout(other);
    const isAny = comparisonOf(one.condition.op)?.negated === false;
    if (!isAlike || !isAny || values.length > MAX_CONDITION_VALUES) return null;
    return { ...one, condition: { ...one.condition, values } };
  }
  if (!('values' in one) || !('values' in other)) return null;
  if (one.member !== other.member || one.negated || other.negated) return null;
  const values = [...new Set([...one.values, ...other.values])];
  return values.length > MAX_JOINED ? null : { ...one, values };
}

/** A test without its values, as text. */
function textWithout({ member, condition }: Extract<ImportedFact, { condition: unknown }>): string {
  return JSON.stringify([member, { ...condition, values: [] }]);
}

/** Values of one member that tests are joined to: methods have the shortest list. */
const MAX_JOINED = 20;

/** The values that all tests of a member leave; `null`: it has no test that lists what is meant. */
function chosen(facts: readonly ImportedFact[], member: 'methods' | 'schemes'): readonly string[] | null {
  const own = facts.flatMap((fact) => (fact.member === member ? [fact] : []));
  const wanted = own.filter(({ negated }) => !negated).map(({ values }) => values);
  if (member === 'schemes' && own.length > 0) wanted.push(ORIGIN_SCHEMES);
  if (wanted.length === 0) return null;
  const excluded = own.flatMap(({ negated, values }) => (negated ? values : []));
  return wanted[0]!.filter(
    (value) => !excluded.includes(value) && wanted.every((all) => all.includes(value)),
  );
}

/** The conditions of a rule that has these tests; a text is the reason why one rule cannot have them all. */
export function conditionsOf(facts: readonly ImportedFact[]): Conditions | string {
  const conditions: Record<string, unknown> = {};
  for (const member of ['methods', 'schemes'] as const) {
    const values = chosen(facts, member);
    if (values !== null) conditions[member] = values;
  }
  const excepted = exceptedMethods(facts);
  if (excepted.length > 0 && conditions['methods'] === undefined) conditions['except_methods'] = excepted;
  for (const member of ['asns', 'bot_kinds', 'ja4'] as const) {
    const own = facts.flatMap((fact) => (fact.member === member ? [fact] : []));
    const [wanted, ...more] = own.filter(({ negated }) => !negated);
    if (more.length > 0) return `two tests of \`${member}\` apply at once, which one rule cannot express`;
    const excludes = own.flatMap(({ negated, values }) => (negated ? values : []));
    const typed = (values: readonly string[]): readonly unknown[] =>
      member === 'asns' ? values.map((value) => (value.startsWith('@') ? value : Number(value))) : values;
    if (own.length === 0) continue;
    conditions[member] = {
      ...(wanted === undefined ? {} : { includes: typed(wanted.values) }),
      ...(excludes.length === 0 ? {} : { excludes: typed(excludes) }),
    };
  }
  const verified = facts.find((fact) => fact.member === 'verified_bot');
  if (verified !== undefined) conditions['verified_bot'] = !verified.negated;
  for (const member of ['headers', 'query', 'cookies'] as const) {
    const own = facts.flatMap((fact) => (fact.member === member ? [writtenCondition(fact.condition)] : []));
    if (own.length > 0) conditions[member] = own;
  }
  return conditions as Conditions;
}

function exceptedMethods(facts: readonly ImportedFact[]): readonly string[] {
  return [
    ...new Set(facts.flatMap((fact) => (fact.member === 'methods' && fact.negated ? fact.values : []))),
  ];
}

/** A condition without the fields that say nothing. */
function writtenCondition({ name, op, values, ignore_case }: ValueCondition): object {
  return {
    name,
    op,
    ...(values.length === 0 ? {} : { values }),
    ...(ignore_case ? { ignore_case } : {}),
  };
}
