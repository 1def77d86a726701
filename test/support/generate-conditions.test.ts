/** Generated conditions are valid, meet the generated requests about as often as they miss, and are off unless asked for. */
import { describe, expect, test } from 'vitest';
import { CONDITION_OPS, VALUE_MEMBERS } from '../../src/base/vocabulary/vocabulary.ts';
import { parseRule } from '../../src/rules/model/parse.ts';
import type { Conditions, Rule, ValueCondition } from '../../src/rules/model/types.ts';
import { conditionsHold } from '../oracle/conditions.ts';
import { type Facts, gate } from '../oracle/facts.ts';
import { nameRecords } from '../oracle/host.ts';
import { createOracle } from '../oracle/index.ts';
import { generateCase, seeded } from './generate.ts';
import { tagsByKey } from './generate-conditions.ts';
import { generateRule } from './generate-rules.ts';
import { rule } from './sample-rules.ts';

const CASES = Array.from({ length: 200 }, (_, index) =>
  generateCase(index + 1, 30, { conditions: { share: 0.3, strayTags: true } }),
);

const RULES: readonly Rule[] = CASES.flatMap(({ ruleSet }) => ruleSet.rules);
const NARROWED = RULES.filter(({ conditions }) => conditions !== undefined);

test('some 30 % of rules of every type have one to three members, and each is what the model stores', () => {
  expect(NARROWED.length / RULES.length).toBeGreaterThan(0.25);
  expect(NARROWED.length / RULES.length).toBeLessThan(0.32);
  expect(new Set(NARROWED.map(({ type }) => type))).toEqual(new Set(RULES.map(({ type }) => type)));
  for (const one of NARROWED) {
    const count = Object.keys(one.conditions!).length;
    expect([1, 2, 3]).toContain(count);
    const parsed = parseRule('drop', rule('drop', 1, { conditions: one.conditions! }));
    if (!parsed.ok) throw new Error(JSON.stringify([one, parsed.diagnostics]));
    expect(parsed.fields.conditions).toEqual(one.conditions);
  }
});

test('without the option a case has no conditions', () => {
  const plain = CASES.flatMap(({ seed }) => generateCase(seed, 1).ruleSet.rules);
  expect(plain.filter((one) => 'conditions' in one)).toEqual([]);
  expect(plain.map(({ id, type }) => [id, type])).toEqual(RULES.map(({ id, type }) => [id, type]));
  const place = { id: 1, domain: 'example.com', recordIds: [] };
  const always = { ...place, conditions: { share: 1, rules: RULES } };
  expect(
    seeded(1)
      .times(50, () => generateRule(seeded(1), place))
      .some((one) => 'conditions' in one),
  ).toBe(false);
  const random = seeded(1);
  const all = random.times(50, () => generateRule(random, always));
  expect(all.filter((one) => one.conditions === undefined).length).toBeLessThan(5);
});

test('tags name rules of earlier phases, but for stray ones on demand', () => {
  const named = (strayTags: boolean): readonly boolean[] =>
    CASES.flatMap(({ seed }) => {
      const { rules } = generateCase(seed, 0, { conditions: { share: 1, strayTags } }).ruleSet;
      return rules.flatMap(({ type, conditions }) =>
        [...(conditions?.tags?.includes ?? []), ...(conditions?.tags?.excludes ?? [])].map((entry) =>
          rules.some(
            (one) =>
              `${one.type}/${one.id}` === entry &&
              (one.type === 'fingerprint' || (one.type === 'bot_route' && type !== 'bot_route')),
          ),
        ),
      );
    });
  expect(named(false).length).toBeGreaterThan(500);
  expect(named(false)).not.toContain(false);
  expect(named(true).filter((one) => !one).length).toBeGreaterThan(20);
});

test('tags by key are an id, a type with a key, or a key', () => {
  const includes = ['fingerprint/1', 'fingerprint/2', 'bot_route/3', 'bot_route/4'];
  const keys = new Map([1, 2, 3].map((id) => [id, `k-${id}`]));
  const named = tagsByKey(rule('drop', 1, { conditions: { tags: { includes } } }), keys);
  expect(named.conditions).toEqual({
    tags: { includes: ['k-1', 'fingerprint/2', 'bot_route/k-3', 'bot_route/4'] },
  });
});

/** Each member, and each condition on a value, by itself: how many requests it holds for, and how many not. */
function shares(): ReadonlyMap<string, { holds: number; fails: number }> {
  const counts = new Map<string, { holds: number; fails: number }>();
  const count = (name: string, holds: boolean): void => {
    const sum = counts.get(name) ?? { holds: 0, fails: 0 };
    counts.set(name, sum);
    sum[holds ? 'holds' : 'fails'] += 1;
  };
  for (const { ruleSet, env, requests } of CASES) {
    const { domain, records, rules } = ruleSet;
    const place = { domain, named: nameRecords(domain.name, records), clock: env.now };
    const oracle = createOracle(ruleSet, env);
    for (const request of requests) {
      const facts = gate(request, place);
      if (typeof facts === 'number') continue;
      const { tags } = oracle.evaluate(request);
      for (const { conditions = {} } of rules) {
        for (const [name, part] of partsOf(conditions)) count(name, holdsFor(part, facts, tags));
      }
    }
  }
  return counts;
}

function holdsFor(part: Conditions, facts: Facts, tags: readonly string[]): boolean {
  return conditionsHold(part, facts, (entry) => tags.includes(entry));
}

function partsOf(conditions: Conditions): readonly (readonly [name: string, part: Conditions])[] {
  return Object.entries(conditions).flatMap(([member, value]) => {
    if (!(VALUE_MEMBERS as readonly string[]).includes(member))
      return [[member, { [member]: value }] as const];
    return (value as readonly ValueCondition[]).map(
      (one) => [`${member} ${one.op}`, { [member]: [one] }] as const,
    );
  });
}

describe('requests', () => {
  const counted = shares();
  const inclusions = ['ips', 'countries', 'asns', 'bot_kinds', 'ja4', 'user_agents', 'tags'];
  const values = VALUE_MEMBERS.flatMap((member) => CONDITION_OPS.map((op) => `${member} ${op}`));

  test.each(['methods', 'schemes', 'verified_bot', ...inclusions, ...values])(
    '%s holds and fails',
    (name) => {
      const { holds, fails } = counted.get(name)!;
      expect(holds / (holds + fails)).toBeGreaterThan(0.03);
      expect(fails / (holds + fails)).toBeGreaterThan(0.03);
    },
  );
});
