/** Conditions in edge files: their order, what is printed of them, the places of their mistakes, and the tags that they name. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { formatFile } from '../../../../src/rules/files/format.ts';
import { printEdge } from '../../../../src/rules/files/print-edge.ts';
import type { Rule } from '../../../../src/rules/model/types.ts';

const HEAD = 'domain: a.test\nrules:\n';

/** The rules of a file. */
function rulesOf(text: string): readonly Rule[] {
  const read = readEdgeFile(text, 'edge.yaml');
  if (!read.ok) throw new Error(read.diagnostics.map(formatDiagnostic).join('\n'));
  return read.ruleSet.rules;
}

function mistakes(rules: string): readonly string[] {
  return readEdgeFile(HEAD + rules, 'edge.yaml').diagnostics.map(formatDiagnostic);
}

const SCRAMBLED = `${HEAD}  - type: waf
    # those that write
    conditions:
      cookies:
        - values: [a, b]
          ignore_case: true
          op: not_equals
          name: session
      headers: [{ values: ["1"], op: equals, name: X-Api-Version }, { op: absent, name: authorization }]
      ips:
        excludes: [192.0.2.1]
        includes: [192.0.2.0/24]
      methods: [POST]
`;

const ORDERED = `${HEAD}  - type: waf
    # those that write
    conditions:
      methods: [POST]
      ips: { includes: [192.0.2.0/24], excludes: [192.0.2.1] }
      headers: [{ name: X-Api-Version, op: equals, values: ["1"] }, { name: authorization, op: absent }]
      cookies: [{ name: session, op: not_equals, values: [a, b], ignore_case: true }]
`;

describe('the layout of conditions', () => {
  test('has the members, and the fields of their objects, in one order', () => {
    const formatted = formatFile(SCRAMBLED, 'edge.yaml');
    expect(formatted).toEqual({ ok: true, text: ORDERED });
    expect(formatFile(ORDERED, 'edge.yaml')).toEqual({ ok: true, text: ORDERED });
  });

  test('is printed without defaults, and read back as it was', () => {
    const rules = rulesOf(SCRAMBLED);
    const { text } = printEdge({ domain: { name: 'a.test' }, records: [], rules, ids: false });
    expect(text).toBe(
      ORDERED.replace('    # those that write\n', '')
        .replace('X-Api', 'x-api')
        .replace('-Version', '-version')
        .replace('a.test\n', 'a.test\nrecords: []\n'),
    );
    expect(rulesOf(text)).toEqual(rules);
  });

  test('of a rule without conditions is as it was', () => {
    for (const empty of ['', '\n    conditions: {}']) {
      const rules = rulesOf(`${HEAD}  - type: waf${empty}\n`);
      expect(Object.keys(rules[0]!)).not.toContain('conditions');
      expect(printEdge({ domain: { name: 'a.test' }, records: [], rules, ids: false }).text).toBe(
        'domain: a.test\nrecords: []\nrules:\n  - type: waf\n',
      );
    }
  });
});

test('mistakes inside conditions are at their line and column', () => {
  const rules = `  - type: waf
    conditions:
      methods: [POST, "a b"]
      asns:
        includes: [64496, 0]
      headers:
        - name: accept
          op: equal
        - { name: accept, op: equals, values: [a], valuse: [b] }
`;
  expect(mistakes(rules).map((line) => line.slice(0, line.indexOf(': error: ') + 60))).toEqual([
    expect.stringMatching(/^edge\.yaml:5:23: error: rules\[0\]\.conditions\.methods\[1\]: /),
    expect.stringMatching(/^edge\.yaml:7:27: error: rules\[0\]\.conditions\.asns\.includes\[1\]: /),
    expect.stringMatching(/^edge\.yaml:10:15: error: rules\[0\]\.conditions\.headers\[0\]\.op: /),
    expect.stringMatching(/^edge\.yaml:11:52: error: rules\[0\]\.conditions\.headers\[1\]\.valuse: /),
  ]);
});

const TAGGING = `  - { key: bad, type: fingerprint, match_ja4: ["t10*"], action: tag }
  - { key: ai, type: bot_route, bot_kinds: [gptbot], action: tag }
  - { id: 9, type: bot_route, bot_kinds: [ccbot], action: tag }
`;

/** What a rule of a type cannot be without. */
const OWN: Readonly<Record<string, string>> = {
  fingerprint: 'match_ja4: [t1], action: tag',
  bot_route: 'bot_kinds: [ccbot], action: tag',
};

describe('tags', () => {
  test.each(['ai', 'bot_route/ai', 'bot_route/2', 'bot_route/9', 'fingerprint/bad', 'bad'])(
    '`%s` names a rule of an earlier phase',
    (tag) => {
      const rules = rulesOf(
        `${HEAD}${TAGGING}  - { type: waf, conditions: { tags: { excludes: [${tag}] } } }\n`,
      );
      expect(rules.at(-1)!.conditions).toEqual({ tags: { excludes: [tag] } });
    },
  );

  test.each([
    [
      'waf',
      'aii',
      'names no rule that tags requests, found `aii`; name `fingerprint/bad`, `bot_route/ai`, `bot_route/9`',
    ],
    ['waf', 'bot_route/7', 'names no rule that tags requests'],
    ['waf', 'fingerprint/ai', 'names no rule that tags requests'],
    ['waf', 'bot_route/9x', 'names no rule that tags requests'],
    ['waf', 'waf/3', 'names a rule of type `waf`, which tags no request'],
    [
      'bot_route',
      'bot_route/ai',
      'names a rule of type `bot_route`, which is not evaluated before rules of type `bot_route`',
    ],
    ['bot_route', 'nobody', 'names no rule that tags requests, found `nobody`; name `fingerprint/bad`'],
    ['fingerprint', 'ai', 'must not be in a rule of type `fingerprint`, before which no rule tags requests'],
    [
      'drop',
      'ai',
      'must not be in a rule of type `drop`, before which no rule tags requests, found `ai`; leave `tags` out',
    ],
  ])('a rule of type %s with `%s`: %s', (type, tag, message) => {
    const [first, ...others] = mistakes(
      `${TAGGING}  - { type: ${type}, conditions: { tags: { includes: [${tag}] } }, ${OWN[type] ?? 'enabled: true'} }\n`,
    );
    expect(first).toContain(`error: rules[3].conditions.tags.includes[0]: ${message}`);
    expect(first).toMatch(/^edge\.yaml:6:\d+: /);
    expect(others).toEqual([]);
  });

  test('without a tagging rule lead to the types that tag', () => {
    expect(mistakes('  - { type: waf, conditions: { tags: { includes: [ai] } } }\n')[0]).toContain(
      'add a rule of type `fingerprint` or `bot_route` first, which tags requests',
    );
  });

  test('a mistake in the tagging rule is the only one that is reported', () => {
    const rules = '  - { key: ai, type: bot_route, bot_kinds: [nobody], action: tag }\n';
    expect(mistakes(`${rules}  - { type: waf, conditions: { tags: { includes: [ai] } } }\n`)).toHaveLength(1);
  });

  test('of a fragment may name a rule that the fragment does not have, by its id alone', () => {
    const fragment = (tag: string): readonly string[] =>
      readEdgeFile(
        `domain: a.test\nfragment: true\nrules: [{ id: 4, type: waf, conditions: { tags: { includes: [${tag}] } } }]\n`,
        'edge.yaml',
      ).diagnostics.map(({ code }) => code);
    expect(fragment('bot_route/7')).toEqual([]);
    expect(['ai', 'waf/7', 'bot_route/ai'].map(fragment)).toEqual(Array(3).fill(['no_tagging_rule']));
  });
});

describe('tags that are printed', () => {
  const waf = (tags: object): Rule =>
    ({ ...rulesOf(`${HEAD}  - type: waf\n`)[0]!, id: 70, conditions: { methods: ['POST'], tags } }) as Rule;
  const bots = rulesOf(`${HEAD}  - { id: 41, type: bot_route, bot_kinds: [gptbot], action: tag }\n`);
  const print = (rule: Rule, more: object = {}) =>
    printEdge({ domain: { name: 'a.test' }, records: [], rules: [rule, ...bots], ids: false, ...more });

  test('name the rule by its place, or by its key', () => {
    const { text, untagged } = print(waf({ includes: ['bot_route/41'] }));
    expect(text).toContain('  - id: 1\n    type: bot_route\n');
    expect(text).toContain('conditions: { methods: [POST], tags: { includes: [bot_route/1] } }');
    expect(untagged).toEqual([]);
    expect(rulesOf(text).map(({ id, type }) => `${type}/${id}`)).toEqual(['bot_route/1', 'waf/2']);
    const keyed = print(waf({ includes: ['bot_route/41'] }), { ruleKeys: new Map([['bot_route/41', 'ai']]) });
    expect(keyed.text).toContain('  - key: ai\n    type: bot_route\n');
    expect(keyed.text).toContain('tags: { includes: [bot_route/ai] }');
    expect(rulesOf(keyed.text)).toHaveLength(2);
    expect(print(waf({ includes: ['bot_route/41'] }), { ids: true }).text).toContain(
      'includes: [bot_route/41]',
    );
  });

  test('of deleted rules are left out, and a rule that would then apply to more requests is disabled', () => {
    const some = print(waf({ includes: ['bot_route/7', 'bot_route/41'] }));
    expect(some.text).toContain('tags: { includes: [bot_route/1] } }');
    expect(some.untagged).toEqual([]);
    const excluded = print(waf({ excludes: ['bot_route/7'] }));
    expect(excluded.text).toContain('  - type: waf\n    conditions: { methods: [POST] }\n');
    expect(excluded.untagged).toEqual([]);
    const gone = print(waf({ includes: ['bot_route/7'] }));
    expect(gone.untagged.map(({ id }) => id)).toEqual([70]);
    expect(gone.text).toContain('  - type: waf\n    enabled: false\n    conditions: { methods: [POST] }\n');
    expect(rulesOf(gone.text)).toHaveLength(2);
  });
});
