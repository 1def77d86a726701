/** What may be done to a rule set without changing what it decides. */
import { expect, test } from 'vitest';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { type Decision, loadPlan } from '../../src/engine/evaluator/index.ts';
import type { Rule, RuleSet } from '../../src/rules/model/types.ts';
import { type Random, seeded } from '../support/generate.ts';
import { everyFourth, generateGateway } from '../support/generate-gateways.ts';
import { generateRule } from '../support/generate-rules.ts';
import { type Case, cases, expectSame } from './cases.ts';

const CASES = cases(80, 60, { answers: 0.3, conditions: { share: 0.3 } }).map(everyFourth);

function bytesOf(ruleSet: RuleSet): Uint8Array {
  return seal(compile(ruleSet).plan);
}

/** The case's rules with priorities that no two rules share. */
function distinct(random: Random, { ruleSet }: Case): readonly Rule[] {
  const priorities = random.shuffled(ruleSet.rules.map((_, index) => index * 7));
  return ruleSet.rules.map((rule, index) => ({ ...rule, priority: priorities[index]! }));
}

test('the order in which rules and records are stored leaves every octet of the plan alone', () => {
  for (const { seed, ruleSet } of CASES) {
    const random = seeded(seed);
    const { rules, records } = ruleSet;
    const turned = { ...ruleSet, rules: random.shuffled(rules), records: random.shuffled(records) };
    expect(Buffer.compare(bytesOf(turned), bytesOf(ruleSet)), `seed ${seed}`).toBe(0);
  }
});

test('with distinct priorities, decisions do not depend on ids', () => {
  for (const made of CASES) {
    const random = seeded(made.seed);
    const rules = distinct(random, made);
    const renamed = new Map(
      random.shuffled(rules.map((rule) => rule.id)).map((id, at) => [rules[at]!.id, id]),
    );
    const moved = rules.map((rule) => withTags({ ...rule, id: renamed.get(rule.id)! }, renamed));
    const requests = made.requests.map((request) => ({ ...request, cleared: undefined }));
    const pair = [rules, moved].map((list) => loadPlan(bytesOf({ ...made.ruleSet, rules: list }))) as [
      ReturnType<typeof loadPlan>,
      ReturnType<typeof loadPlan>,
    ];
    for (const [index, request] of requests.entries()) {
      const expected = renameIds(pair[0].evaluate(request), renamed);
      expect(pair[1].evaluate(request), `seed ${made.seed}, request ${index}`).toEqual(expected);
    }
  }
});

/** The rule with the tags of its conditions by their new ids. */
function withTags(rule: Rule, names: ReadonlyMap<number, number>): Rule {
  const { conditions } = rule;
  if (conditions?.tags === undefined) return rule;
  const moved = (tag: string): string => {
    const [type, id] = tag.split('/');
    return `${type}/${names.get(Number(id)) ?? id}`;
  };
  const { includes, excludes } = conditions.tags;
  const tags = {
    ...(includes === undefined ? {} : { includes: includes.map(moved) }),
    ...(excludes === undefined ? {} : { excludes: excludes.map(moved) }),
  };
  return { ...rule, conditions: { ...conditions, tags } };
}

function renameIds(decision: Decision, names: ReadonlyMap<number, number>): Decision {
  const { rule } = decision;
  const renamed = rule === null || rule.type === 'record' ? rule : { ...rule, id: names.get(rule.id)! };
  return {
    ...decision,
    rule: renamed,
    tags: decision.tags.map((tag) => {
      const [type, id] = tag.split('/');
      return `${type}/${names.get(Number(id))}`;
    }),
    matches: decision.matches.map((match) => ({ ...match, id: names.get(match.id)! })),
    shadow: decision.shadow === null ? null : renameIds(decision.shadow, names),
  };
}

/** Filters that no generated request passes, each for a reason of its own. */
const IMPOSSIBLE: readonly Partial<Record<string, unknown>>[] = [
  { enabled: false },
  { host_pattern: '', host_match_type: 'exact', host_includes: ['nowhere.test'], host_excludes: [] },
  { host_pattern: '*.nowhere.test', host_match_type: 'wildcard', host_includes: [], host_excludes: [] },
  { host_pattern: '', host_match_type: 'regex', host_includes: ['^nowhere$'], host_excludes: [] },
  { host_pattern: '', host_match_type: 'wildcard', host_includes: [], host_excludes: ['*'] },
];
const IMPOSSIBLE_PATHS: readonly Partial<Record<string, unknown>>[] = [
  { path_match_type: 'wildcard', path_includes: ['/never/*/qqq', '/qqq'], path_excludes: [] },
  { path_match_type: 'wildcard', path_includes: ['*qqq*', '*.qqq'], path_excludes: ['/*'] },
  { path_match_type: 'regex', path_includes: ['^[^/]', 'q{3}'], path_excludes: [] },
  { path_match_type: 'regex', path_includes: ['a'], path_excludes: ['.*'] },
];
const IMPOSSIBLE_DROPS: readonly Partial<Record<string, unknown>>[] = [
  { countries: ['AQ'], country_match_type: 'include' },
  { ips: ['233.252.0.7', '233.252.0.128/25'], ip_match_type: 'include' },
];

function neverMatching(random: Random, made: Case, id: number): Rule {
  const recordIds = made.ruleSet.records.map((record) => record.id);
  const place = { id, domain: made.ruleSet.domain.name, recordIds };
  const isGateway = made.ruleSet.registry !== undefined && random.chance(0.3);
  const rule = isGateway ? generateGateway(random, place) : generateRule(random, place);
  const ways = [
    ...IMPOSSIBLE,
    ...('path_includes' in rule ? IMPOSSIBLE_PATHS : []),
    ...(rule.type === 'drop' ? IMPOSSIBLE_DROPS : []),
    ...(isGateway ? [{ base_path: '/qqq' }] : []),
  ];
  const priority = random.pick([0, 10, 50, 100, 1_000_000]);
  return { ...rule, ...random.pick(ways), priority } as unknown as Rule;
}

test('rules that never match change no decision', () => {
  for (const made of CASES) {
    const random = seeded(made.seed);
    const extra = random.times(1 + random.int(40), (index) => neverMatching(random, made, index * 3 + 2));
    const more = { ...made.ruleSet, rules: random.shuffled([...made.ruleSet.rules, ...extra]) };
    const pair = [made.ruleSet, more].map((ruleSet) => loadPlan(bytesOf(ruleSet), made.options));
    expectSame([pair[0]!, pair[1]!], made);
  }
});

/** What is left of a decision without its dry_run entries and its shadow. */
function enforcedPart(decision: Decision): Decision {
  return { ...decision, matches: decision.matches.filter((match) => match.mode === 'enforce'), shadow: null };
}

test('dry_run rules change nothing but the shadow and their own entries among the matches', () => {
  let shadows = 0;
  for (const made of CASES) {
    const rules = made.ruleSet.rules.filter(
      (rule) => rule.type === 'cache' || rule.action_mode === 'enforce',
    );
    const pair = [made.ruleSet, { ...made.ruleSet, rules }].map((one) =>
      loadPlan(bytesOf(one), made.options),
    );
    expectSame([pair[0]!, pair[1]!], made, (decision) => {
      if (decision.shadow !== null) shadows++;
      return enforcedPart(decision);
    });
  }
  expect(shadows).toBeGreaterThan(200);
});

test('the shadow of a first request is the decision of the rule set with everything enforced', () => {
  let shadows = 0;
  for (const made of CASES.slice(0, 40)) {
    const rules = made.ruleSet.rules.map((rule) => ({ ...rule, action_mode: 'enforce' as const }));
    const [given, enforced] = [bytesOf(made.ruleSet), bytesOf({ ...made.ruleSet, rules })];
    for (const [index, request] of made.requests.entries()) {
      const { shadow } = loadPlan(given, made.options).evaluate(request);
      if (shadow === null) continue;
      shadows++;
      const matches = shadow.matches.map((match) => ({ ...match, mode: 'enforce' as const }));
      const expected = loadPlan(enforced, made.options).evaluate(request);
      expect({ ...shadow, matches }, `seed ${made.seed}, request ${index}`).toEqual(expected);
    }
  }
  expect(shadows).toBeGreaterThan(100);
});
