/** Generated conditions of rules, of every member and op, over the alphabets that requests share. */
import { CONDITION_OPS, type ConditionOp, RATE_PART_FACTS } from '../../src/base/vocabulary/vocabulary.ts';
import type { Conditions, Rule, ValueCondition } from '../../src/rules/model/types.ts';
import { type Random, seeded } from './generate-random.ts';
import {
  ADDRESS_ENTRIES,
  ASNS,
  BOTS,
  COOKIE_NAMES,
  COUNTRIES,
  HEADER_NAMES,
  JA4,
  METHODS,
  PARAMETERS,
  VALUES,
} from './generate-words.ts';

/** How rules come by conditions. */
export interface ConditionPlace {
  /** The share of rules that have some. */
  readonly share: number;
  /** The rules of the set, to which tags refer. */
  readonly rules: readonly Rule[];
  /** Whether some tags name no rule, which the model may refuse. Default `false`. */
  readonly strayTags?: boolean;
}

type Member = Exclude<keyof Conditions, 'except_methods'>;

interface Inclusion<Entry> {
  readonly includes?: Entry[];
  readonly excludes?: Entry[];
}

/** One list or both; `some` makes a list. */
function inclusion<Entry>(random: Random, some: () => Entry[]): Inclusion<Entry> {
  const which = random.pick(['includes', 'includes', 'excludes', 'both'] as const);
  return {
    ...(which === 'excludes' ? {} : { includes: some() }),
    ...(which === 'includes' ? {} : { excludes: some() }),
  };
}

const AGENTS = ['*', '*firefox*', 'CURL*', '*/8.5.0', '*bot*', 'mozilla/5.0 (*;*', 'GoogleBot', 'x', 'a*b'];

const VALUE_WILDCARDS = ['*', 'a*', '*b', 'a*b', '*A*', '*é*', 'a*c*', '?', 'a b', '*1', '**'];

const VALUE_REGEXES = [
  '^a',
  'b$',
  '^ab?$',
  'a.c',
  '^$',
  '[A-C]',
  '(?i)^ab',
  '\\bb',
  'é',
  '\\xe9',
  '^[^b]*$',
  '^a.*$',
  'x*$',
  '^(a|b)+$',
  '[0-9]+',
];

function valuesFor(random: Random, op: ConditionOp): string[] {
  if (op === 'present' || op === 'absent') return [];
  if (op.endsWith('wildcard')) return random.some(VALUE_WILDCARDS, 3);
  if (op.endsWith('regex')) return random.some(VALUE_REGEXES, 3);
  return random.some(op.endsWith('equals') ? VALUES : VALUES.filter((value) => value !== ''), 6);
}

function valueConditions(random: Random, names: readonly string[]): ValueCondition[] {
  return random.times(random.pick([1, 1, 1, 2]), () => {
    const op = random.pick(CONDITION_OPS);
    return {
      name: random.pick(names),
      op,
      values: valuesFor(random, op),
      ignore_case: random.chance(0.3),
    };
  });
}

/** Rules whose tags a rule of this type can see; others tag in the same phase or later. */
function taggingBefore(type: Rule['type'], rules: readonly Rule[]): readonly Rule[] {
  if (type === 'drop' || type === 'fingerprint') return [];
  return rules.filter(
    (rule) => rule.type === 'fingerprint' || (rule.type === 'bot_route' && type !== 'bot_route'),
  );
}

function tagEntries(random: Random, rule: Rule, { rules, strayTags = false }: ConditionPlace): string[] {
  const before = taggingBefore(rule.type, rules);
  const tagging = before.filter((one) => 'action' in one && one.action === 'tag' && one.enabled);
  const named = (tagging.length > 0 ? tagging : before).map((one) => `${one.type}/${one.id}`);
  const stray = ['fingerprint/999999', 'bot_route/999999', 'no-such-key'];
  return strayTags ? [...named, ...named, ...(random.chance(0.15) ? stray : [])] : named;
}

type Makers = {
  readonly [M in Member]: (random: Random, rule: Rule, place: ConditionPlace) => Conditions[M] | undefined;
};

/** What makes each member; `undefined` where the rule can have none. */
const MAKERS: Makers = {
  methods: (random) => random.some(METHODS, 3),
  schemes: (random) => random.some(['http', 'https', 'https'] as const, 2),
  ips: (random) => inclusion(random, () => random.some(ADDRESS_ENTRIES, 4)),
  countries: (random) => inclusion(random, () => random.some(COUNTRIES, 2)),
  asns: (random) => inclusion(random, () => random.some(ASNS, 2)),
  bot_kinds: (random) => inclusion(random, () => (random.chance(0.3) ? ['*'] : random.some(BOTS, 3))),
  verified_bot: (random) => random.chance(0.5),
  ja4: (random) => inclusion(random, () => random.some([...JA4, 't1*', 't13d1517*', '*'], 2)),
  user_agents: (random) => inclusion(random, () => random.some(AGENTS, 2)),
  tags(random, rule, place) {
    const entries = tagEntries(random, rule, place);
    return entries.length === 0 ? undefined : inclusion(random, () => random.some(entries, 3));
  },
  headers: (random) => valueConditions(random, HEADER_NAMES),
  query: (random) => valueConditions(random, PARAMETERS),
  cookies: (random) => valueConditions(random, COOKIE_NAMES),
};

/** Members as often as they are worth: tags fit few rules, and values have many ops. */
const WEIGHED: readonly Member[] = [
  ...(Object.keys(MAKERS) as Member[]),
  'tags',
  'tags',
  'headers',
  'headers',
  'query',
  'query',
  'cookies',
  'cookies',
];

/** Parts of keys of rate limits. */
const PARTS: readonly string[] = [
  ...RATE_PART_FACTS,
  'ip',
  ...HEADER_NAMES.map((name) => `header:${name}`),
  ...COOKIE_NAMES.map((name) => `cookie:${name}`),
  ...PARAMETERS.map((name) => `query:${name}`),
];

/** The rule; two of five rate limits have keys of parts, and as many count by status. Draws of its own, so that the rest of a case is as ever for a seed. */
export function withRateFields<R extends Rule>(rule: R): R {
  if (rule.type !== 'rate_limit') return rule;
  const random = seeded(rule.id * 1_000_003 + rule.priority * 31 + rule.limit);
  const parted = random.chance(0.4);
  const key_parts = [...new Set(random.times(1 + random.int(3), () => random.pick(PARTS)))];
  const count_statuses = random.some([400, 401, 403, 404, 429, 503], 3);
  return {
    ...rule,
    ...(parted ? { key_by: 'ip' as const, key_parts } : {}),
    ...(random.chance(0.4) ? { count_statuses } : {}),
    ...(random.chance(0.3) ? { headers: true } : {}),
  };
}

/** The rule with what later versions have added: keys of parts, and one to three members of conditions in `share` of all calls. */
export function withConditions<R extends Rule>(random: Random, given: R, place: ConditionPlace): R {
  const rule = withRateFields(given);
  if (!random.chance(place.share)) return rule;
  const members = new Set(random.times(1 + random.int(3), () => random.pick(WEIGHED)));
  const made = [...members].flatMap((member) => {
    const value = MAKERS[member](random, rule, place);
    return value === undefined ? [] : [[member, value] as const];
  });
  return made.length === 0 ? rule : { ...rule, conditions: withExcepted(rule.id, Object.fromEntries(made)) };
}

/** The conditions; of three with methods, one excepts them instead. No draw, so that the rest of a case is as ever for a seed. */
function withExcepted(id: number, { methods, ...others }: Conditions): Conditions {
  if (methods === undefined) return others;
  return id % 3 === 0 ? { ...others, except_methods: methods } : { ...others, methods };
}

/** The rule with tags written in all ways: of three rules with keys one stays an id, others are `<type>/<key>` and a bare key. */
export function tagsByKey<R extends Rule>(rule: R, keys: ReadonlyMap<number, string>): R {
  const tags = rule.conditions?.tags;
  if (tags === undefined) return rule;
  const renamed = (entry: string): string => {
    const [type, id] = entry.split('/');
    const key = keys.get(Number(id));
    if (key === undefined) return entry;
    return [entry, `${type}/${key}`, key][(rule.id + Number(id)) % 3]!;
  };
  const lists = Object.entries(tags).map(([list, entries]) => [list, entries?.map(renamed)]);
  return { ...rule, conditions: { ...rule.conditions, tags: Object.fromEntries(lists) } };
}
