/**
 * What the workbench knows of `conditions`, which every rule type has: the entries that tests cover, and the facts that a replay
 * needs. In: the field. Out: entries and facts, each with its path below the rule. What it knows of types is in `rule-types.ts`.
 */
import { formatPath } from '../../base/diagnostics/diagnostic.ts';
import { comparisonOf } from '../../base/vocabulary/condition-ops.ts';
import type { ValueMember } from '../../base/vocabulary/vocabulary.ts';
import { VALUE_MEMBERS } from '../../base/vocabulary/vocabulary.ts';
import type { Conditions, ValueCondition } from '../../rules/model/types.ts';
import type { LogFact } from '../access-logs/entry.ts';

/** A fact that a rule depends on: one that a log may lack, or one that no access log has. */
export type ReplayFact = LogFact | 'asn' | 'ja4h' | 'verified_bot' | 'body' | 'solved_challenge' | 'identity';

/** Members with `includes` and `excludes`, in the order of the form. */
export const INCLUSION_MEMBERS = [
  'ips',
  'countries',
  'asns',
  'bot_kinds',
  'ja4',
  'user_agents',
  'tags',
] as const satisfies readonly (keyof Conditions)[];

/** An entry of conditions as a trace names it. */
export interface ConditionEntry {
  readonly path: readonly (string | number)[];
  readonly text: string;
  /**
   * What shows that a test needs it. `match`: the rule matches by it. `miss`: it alone keeps a request from the rule, as an entry of
   * `excludes` does.
   */
  readonly decides: 'match' | 'miss';
}

/** The entries of conditions that tests cover. A condition on a value is covered where it holds, and where it alone does not. */
export function conditionEntries(conditions: Conditions | undefined): readonly ConditionEntry[] {
  if (conditions === undefined) return [];
  const { methods = [], except_methods = [], schemes = [], verified_bot } = conditions;
  const verified = { path: ['conditions', 'verified_bot'], text: String(verified_bot) } as const;
  return [
    ...listedEntries(['conditions', 'methods'], methods, 'match'),
    ...listedEntries(['conditions', 'except_methods'], except_methods, 'miss'),
    ...listedEntries(['conditions', 'schemes'], schemes, 'match'),
    ...INCLUSION_MEMBERS.flatMap((member) => [
      ...listedEntries(['conditions', member, 'includes'], conditions[member]?.includes ?? [], 'match'),
      ...listedEntries(['conditions', member, 'excludes'], conditions[member]?.excludes ?? [], 'miss'),
    ]),
    ...(verified_bot === undefined ? [] : bothWays(verified)),
    ...VALUE_MEMBERS.flatMap((member) =>
      (conditions[member] ?? []).flatMap((condition, place) =>
        valueEntries(condition, ['conditions', member, place]),
      ),
    ),
  ];
}

function listedEntries(
  list: readonly string[],
  values: readonly (string | number)[],
  decides: ConditionEntry['decides'],
): readonly ConditionEntry[] {
  return values.map((value, place) => ({ path: [...list, place], text: String(value), decides }));
}

function bothWays(entry: Omit<ConditionEntry, 'decides'>): readonly ConditionEntry[] {
  return [
    { ...entry, decides: 'match' },
    { ...entry, decides: 'miss' },
  ];
}

function valueEntries(condition: ValueCondition, path: ConditionEntry['path']): readonly ConditionEntry[] {
  const { op, values } = condition;
  const whole = { path, text: conditionText(condition) };
  const compared = comparisonOf(op);
  if (compared === null) return bothWays(whole);
  const decides = compared.negated ? 'miss' : 'match';
  const each =
    values.length === 1
      ? [{ ...whole, decides } as const]
      : values.map((value, place): ConditionEntry => {
          const text = conditionText({ ...condition, values: [value] });
          return { path: [...path, 'values', place], text, decides };
        });
  return compared.negated ? each : [...each, { ...whole, decides: 'miss' }];
}

/** `x-api-key absent`, `debug equals 1, true`. */
export function conditionText({ name, op, values }: Pick<ValueCondition, 'name' | 'op' | 'values'>): string {
  return [name, op, ...(values.length === 0 ? [] : [values.join(', ')])].join(' ');
}

/** A fact that a condition needs. */
export interface ConditionFact {
  readonly fact: ReplayFact;
  /** `conditions.headers[0] x-api-key`. */
  readonly condition: string;
}

/** The facts of visitors that members read. */
const MEMBER_FACTS = {
  ips: ['ip'],
  countries: ['country'],
  asns: ['asn'],
  bot_kinds: ['user_agent'],
  verified_bot: ['user_agent', 'verified_bot'],
  ja4: ['ja4'],
  user_agents: ['user_agent'],
} as const satisfies Partial<Readonly<Record<keyof Conditions, readonly ReplayFact[]>>>;

/** Headers that logs have, and the facts that they are. */
const LOGGED: Readonly<Record<string, readonly ReplayFact[]>> = { 'user-agent': ['user_agent'], referer: [] };

/**
 * The facts that conditions need, but for tags, which need those of the rules that give them. Method, scheme and query are in every
 * log.
 */
export function conditionFacts(conditions: Conditions | undefined): readonly ConditionFact[] {
  if (conditions === undefined) return [];
  const members = (Object.keys(MEMBER_FACTS) as (keyof typeof MEMBER_FACTS)[]).filter(
    (member) => conditions[member] !== undefined,
  );
  return [
    ...members.flatMap((member) =>
      MEMBER_FACTS[member].map((fact) => ({ fact, condition: `conditions.${member}` })),
    ),
    ...readValues(conditions).flatMap((read) =>
      valueFacts(read).map((fact) => ({ fact, condition: read.condition })),
    ),
  ];
}

/** The facts that a value is, or is a part of. */
export function valueFacts({ member, name }: Pick<ReadValue, 'member' | 'name'>): readonly ReplayFact[] {
  if (member === 'query') return [];
  return (member === 'headers' ? LOGGED[name] : undefined) ?? ['headers'];
}

/** A header, query parameter or cookie that a condition reads. */
export interface ReadValue {
  readonly member: ValueMember;
  readonly name: string;
  /** The path of the condition, `conditions.headers[0]`. */
  readonly path: string;
  /** The path and the name. */
  readonly condition: string;
}

/** What conditions on values read. */
export function readValues(conditions: Conditions | undefined): readonly ReadValue[] {
  return VALUE_MEMBERS.flatMap((member) =>
    (conditions?.[member] ?? []).map(({ name }, place) => {
      const path = formatPath(['conditions', member, place]);
      return { member, name, path, condition: `${path} ${name}` };
    }),
  );
}
