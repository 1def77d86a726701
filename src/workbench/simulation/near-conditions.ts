/**
 * What a request needs for the conditions of a rule to hold (semantics §12). In: the rule, and which of its checks fail. Out: for
 * each header, query parameter and cookie that conditions read, and for method and scheme, the changes to try. Address, country,
 * bot and fingerprint are read by types too: their changes are in `near-visitor.ts`.
 */

import { comparisonOf } from '../../base/vocabulary/condition-ops.ts';
import { VALUE_MEMBERS, type ValueMember } from '../../base/vocabulary/vocabulary.ts';
import type { CheckTrace } from '../../engine/evaluator/trace.ts';
import type { Conditions } from '../../rules/model/types.ts';
import type { NamedValues, Proposal } from './near-request.ts';
import { type ComparedValues, sampleValue } from './value-samples.ts';

/** All that conditions ask of one header, query parameter or cookie. */
interface AskedSource {
  readonly member: ValueMember;
  readonly name: string;
  /** Paths of the conditions: `conditions.headers[0]`. */
  readonly entries: readonly string[];
  readonly within: readonly ComparedValues[];
  readonly outside: readonly ComparedValues[];
  /** It must be there, whatever its value is. */
  readonly isPresent: boolean;
}

/** Whether a check is of a condition whose path starts so. */
function isOf({ entry }: CheckTrace, path: string): boolean {
  return entry === path || entry?.startsWith(`${path}.`) === true || entry?.startsWith(`${path}[`) === true;
}

/** The changes for one thing that conditions read; empty: none is known. */
export type Choices = readonly Proposal[];

/** Methods to choose from where conditions only except some. */
const ORDINARY_METHODS = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];

/** The choices for each thing that failing checks read, and what the others need to be stated. */
export function conditionChoices(conditions: Conditions, checks: readonly CheckTrace[]): readonly Choices[] {
  const { methods = ORDINARY_METHODS, except_methods = [], schemes = [] } = conditions;
  const failed = checks.filter(({ pass }) => pass !== true);
  const fails = (path: string): boolean => failed.some((check) => isOf(check, path));
  return [
    ...(fails('conditions.methods') || fails('conditions.except_methods')
      ? [methods.flatMap((method) => (except_methods.includes(method) ? [] : [{ method }]))]
      : []),
    ...(fails('conditions.schemes') ? [schemes.map((scheme) => ({ scheme }))] : []),
    ...sourcesOf(conditions).flatMap((source) => sourceChoices(source, source.entries.some(fails))),
  ];
}

/** What a source needs. One whose conditions hold is stated again, by another value, unless the URL has it. */
function sourceChoices(source: AskedSource, isFailing: boolean): readonly Choices[] {
  const { member, name, isPresent, within } = source;
  const isNeeded = isPresent || within.length > 0;
  if (!isFailing && (!isNeeded || member === 'query')) return [];
  const value = isNeeded ? sampleValue(source) : null;
  if (isNeeded && value === null) return isFailing ? [[]] : [];
  const change: NamedValues = { [name]: value };
  return [[{ [member]: change }]];
}

/** The sources that conditions read, each with all that they ask of it. */
function sourcesOf(conditions: Conditions): readonly AskedSource[] {
  const asked = [
    ...agentDemands(conditions),
    ...VALUE_MEMBERS.flatMap((member) =>
      (conditions[member] ?? []).map(({ name, op, values, ignore_case }, place): AskedSource => {
        const compared = comparisonOf(op);
        const demand =
          compared === null ? [] : [{ comparison: compared.comparison, values, ignoreCase: ignore_case }];
        return {
          ...{ member, name, entries: [`conditions.${member}[${place}]`], isPresent: op === 'present' },
          within: compared?.negated === false ? demand : [],
          outside: compared?.negated === true ? demand : [],
        };
      }),
    ),
  ];
  const names = new Set(asked.map(({ member, name }) => `${member} ${name}`));
  return [...names].map((text) =>
    joinedSource(asked.filter(({ member, name }) => `${member} ${name}` === text)),
  );
}

/** `user_agents` as conditions on the header. */
function agentDemands({ user_agents: { includes, excludes } = {} }: Conditions): readonly AskedSource[] {
  const plain = { member: 'headers', name: 'user-agent', isPresent: false, within: [], outside: [] } as const;
  const compared = (values: readonly string[]): readonly ComparedValues[] => [
    { comparison: 'wildcard', values, ignoreCase: true },
  ];
  return [
    ...(includes === undefined
      ? []
      : [{ ...plain, entries: ['conditions.user_agents.includes'], within: compared(includes) }]),
    ...(excludes === undefined
      ? []
      : [{ ...plain, entries: ['conditions.user_agents.excludes'], outside: compared(excludes) }]),
  ];
}

function joinedSource(parts: readonly AskedSource[]): AskedSource {
  return {
    ...parts[0]!,
    entries: parts.flatMap(({ entries }) => entries),
    within: parts.flatMap(({ within }) => within),
    outside: parts.flatMap(({ outside }) => outside),
    isPresent: parts.some(({ isPresent }) => isPresent),
  };
}
