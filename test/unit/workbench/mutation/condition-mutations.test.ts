/** Mutants of conditions: which mistakes are made, and what becomes of them. */
import { describe, expect, it } from 'vitest';
import { formatDiagnostic, formatPath } from '../../../../src/base/diagnostics/diagnostic.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { readTestFile } from '../../../../src/rules/files/test-file.ts';
import { conditionMutations } from '../../../../src/workbench/mutation/condition-mutations.ts';
import { mutantsOf } from '../../../../src/workbench/mutation/mutants.ts';
import { startMutation } from '../../../../src/workbench/mutation/mutate.ts';
import { nameRules } from '../../../../src/workbench/rule-tests/names.ts';
import { prepareTests } from '../../../../src/workbench/rule-tests/prepare.ts';

const HEAD = `domain: example.com
records: [{ name: "@", type: A, destination: 192.0.2.1, proxied: true }]
rules:
`;

function edgeOf(conditions: string) {
  const read = readEdgeFile(
    `${HEAD}  - key: k\n    type: drop\n    conditions: ${conditions}\n`,
    'edge.yaml',
  );
  if (!read.ok) throw new Error(read.diagnostics.map(formatDiagnostic).join('\n'));
  return read;
}

/** The mistakes, each as its place and what is changed. */
function mistakesIn(conditions: string): readonly string[] {
  const [rule] = edgeOf(conditions).ruleSet.rules;
  return conditionMutations(rule!).map(
    ({ operator, field, change }) => `${operator} ${formatPath(field.slice(1))}: ${change}`,
  );
}

describe('mistakes in conditions', () => {
  it.each([
    [
      '{ except_methods: [GET] }',
      [
        'drop_condition except_methods: removed',
        'drop_entry except_methods[0]: without `GET`',
        'change_condition except_methods[0]: `GET` → `POST`',
      ],
    ],
    [
      '{ methods: [GET, PATCH] }',
      [
        'drop_condition methods: removed',
        'drop_entry methods[0]: without `GET`',
        'drop_entry methods[1]: without `PATCH`',
        'change_condition methods[0]: `GET` → `POST`',
        'change_condition methods[1]: `PATCH` → `POST`',
      ],
    ],
    [
      '{ asns: { includes: [64496, 64497] } }',
      [
        'drop_condition asns: removed',
        'drop_entry asns.includes[0]: without `64496`',
        'drop_entry asns.includes[1]: without `64497`',
        'flip_list asns: `includes` ↔ `excludes`',
      ],
    ],
    [
      '{ verified_bot: true }',
      ['drop_condition verified_bot: removed', 'change_condition verified_bot: `true` → `false`'],
    ],
    [
      '{ headers: [{ name: x-a, op: not_equals, values: [a, "1"] }], cookies: [{ name: s, op: present }] }',
      [
        'drop_condition headers[0]: without `x-a not_equals a, 1`',
        'change_condition headers[0].op: `not_equals` → `equals`',
        'change_condition headers[0].ignore_case: `false` → `true`',
        'drop_entry headers[0].values[0]: without `a`',
        'drop_entry headers[0].values[1]: without `1`',
        'drop_condition cookies[0]: without `s present`',
        'change_condition cookies[0].op: `present` → `absent`',
      ],
    ],
    [
      '{ query: [{ name: q, op: prefix, values: ["1"] }] }',
      [
        'drop_condition query[0]: without `q prefix 1`',
        'change_condition query[0].op: `prefix` → `not_prefix`',
      ],
    ],
  ])('%s', (conditions, mistakes) => {
    expect(mistakesIn(conditions)).toEqual(mistakes);
  });

  it('a list that loses its last entry is gone, and with it a member or all conditions', () => {
    const [rule] = edgeOf('{ ips: { includes: [192.0.2.1], excludes: [192.0.2.2] }, methods: [GET] }').ruleSet
      .rules;
    const after = (field: string) =>
      conditionMutations(rule!).find((one) => formatPath(one.field) === `conditions.${field}`)?.rule
        .conditions;
    expect(after('ips.includes[0]')).toEqual({ ips: { excludes: ['192.0.2.2'] }, methods: ['GET'] });
    const [alone] = edgeOf('{ methods: [GET] }').ruleSet.rules;
    expect(conditionMutations(alone!).map(({ rule: { conditions } }) => conditions)).toEqual([
      undefined,
      undefined,
      { methods: ['POST'] },
    ]);
  });

  it('are mutants if the model accepts them, and none is the rule as written', () => {
    const { ruleSet } = edgeOf('{ methods: [GET] }');
    const fields = mutantsOf(ruleSet, { most: 100, seed: 1 }).mutants.map(({ field }) => formatPath(field));
    // Without its only condition the rule would drop everything, which the model refuses.
    expect(fields.filter((field) => field.startsWith('conditions'))).toEqual(['conditions.methods[0]']);
  });
});

describe('a mutant of conditions', () => {
  const CONDITIONS = '{ methods: [POST], headers: [{ name: x-a, op: equals, values: [a] }] }';

  /** What became of each mutant of conditions under tests, by its field. */
  function judged(requests: readonly string[]): Readonly<Record<string, string>> {
    const { ruleSet, sources } = edgeOf(CONDITIONS);
    const names = nameRules(ruleSet, sources);
    const text = `tests:\n${requests.map((one, place) => `  - { name: t${place}, ${one} }`).join('\n')}\n`;
    const { tests, diagnostics } = prepareTests(readTestFile(text, 'edge.test.yaml').tests, {
      ruleSet,
      names,
    });
    expect(diagnostics).toEqual([]);
    const { results } = startMutation({ ruleSet, names, tests, waf: null }, { most: 100, seed: 1 });
    const found = [...results].map(
      ({ mutant, judged: { outcome } }) => [formatPath(mutant.field), outcome] as const,
    );
    return Object.fromEntries(found.filter(([field]) => field.startsWith('conditions')));
  }

  it('is killed by a test that it decides otherwise', () => {
    const blocked = 'request: POST https://example.com/, with: { headers: { x-a: a } }, expect: block';
    const others = [
      'request: POST https://example.com/, with: { headers: { x-a: A } }, expect: forward',
      'request: GET https://example.com/, with: { headers: { x-a: a } }, expect: forward',
    ];
    expect(judged([blocked, ...others])).toEqual({
      'conditions.methods[0]': 'killed',
      'conditions.headers[0]': 'killed',
      'conditions.headers[0].op': 'killed',
      'conditions.headers[0].ignore_case': 'killed',
    });
  });

  it('that no test kills is not called equivalent', () => {
    const found = Object.values(judged(['request: GET https://example.com/, expect: forward']));
    expect(found).toHaveLength(4);
    expect(found).not.toContain('equivalent');
  });
});
