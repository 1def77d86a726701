import { expect, test } from 'vitest';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { printEdge } from '../../../../src/rules/files/print-edge.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';

const RECORDS = [
  { id: 7, name: 'shop', type: 'A', destination: '192.0.2.1', proxied: true },
  { id: 8, name: 'shop', type: 'A', destination: '192.0.2.2', proxied: true },
  { id: 9, name: 'shop', type: 'AAAA', destination: '2001:db8::1', proxied: true },
];

function print(rule: object, options: { ids?: boolean; domain?: object } = {}): string {
  const rules = [{ id: 4, type: 'drop', countries: ['NO'], ...rule }];
  const parsed = parseRuleSet({ domain: { name: 'a.test' }, records: RECORDS, rules });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  const { records } = parsed.ruleSet;
  const domain = { name: 'a.test', ...options.domain };
  return printEdge({ domain, records, rules: parsed.ruleSet.rules, ids: options.ids === true }).text;
}

test.each([
  [[], ''],
  [[7, 8, 9], '    records: [shop]\n'],
  [[9], '    records: [shop AAAA]\n'],
  [[7, 8], '    records: [shop A]\n'],
  [[8], '    record_ids: [2]\n'],
])(
  'the record ids %j are printed by name where names select exactly these records',
  (record_ids, written) => {
    const text = print({ record_ids });
    expect(text).toContain(`rules:\n  - type: drop\n${written}    countries: ["NO"]\n`);
    const read = readEdgeFile(text, 'x');
    const places = record_ids.map((id) => id - 6);
    expect(read.ok && read.ruleSet.rules[0]!.record_ids).toEqual(places);
  },
);

test('prints ids and fields of the domain, and leaves out fields that equal their defaults', () => {
  expect(print({ enabled: false, priority: 100 }, { ids: true, domain: { sec_no_sniff: false } })).toBe(
    'domain:\n  name: a.test\n  sec_no_sniff: false\nrecords:\n' +
      '  - { id: 7, name: shop, type: A, destination: 192.0.2.1, proxied: true }\n' +
      '  - { id: 8, name: shop, type: A, destination: 192.0.2.2, proxied: true }\n' +
      '  - { id: 9, name: shop, type: AAAA, destination: 2001:db8::1, proxied: true }\n' +
      'rules:\n  - id: 4\n    type: drop\n    enabled: false\n    countries: ["NO"]\n',
  );
  expect(print({ path_match_type: 'regex', path_includes: ['^/a'] })).toContain('path_match_type: regex');
});

test('a rule whose records were deleted is printed disabled and reported as an orphan', () => {
  const parsed = parseRuleSet({ domain: { name: 'a.test' }, records: RECORDS, rules: [] });
  if (!parsed.ok) throw new Error('unread');
  const [rule] = (
    readEdgeFile('domain: a.test\nrules: [{ type: drop, countries: [RU] }]', 'x') as never as {
      ruleSet: { rules: readonly [never] };
    }
  ).ruleSet.rules;
  const orphan = { ...(rule as object), record_ids: [99] } as never;
  const printed = printEdge({ domain: { name: 'a.test' }, records: [], rules: [orphan], ids: false });
  expect(printed.text).toContain('enabled: false');
  expect(printed.orphans).toEqual([orphan]);
});

test('a fragment has its mark, the ids, and no empty list', () => {
  const parsed = parseRuleSet({
    domain: { name: 'a.test' },
    rules: [{ id: 4, type: 'drop', countries: ['NO'], enabled: false }],
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  const { rules } = parsed.ruleSet;
  const { text } = printEdge({ domain: { name: 'a.test' }, records: [], rules, ids: true, fragment: true });
  expect(text).toBe(
    'domain: a.test\nfragment: true\nrules:\n  - id: 4\n    type: drop\n    enabled: false\n    countries: ["NO"]\n',
  );
  expect(readEdgeFile(text, 'x').sources.fragment).toBe(true);
});

test('a comment is printed above its rule, and no text of it ends the comment', () => {
  const read = parseRuleSet({
    domain: { name: 'a.test' },
    rules: [{ id: 4, type: 'drop', countries: ['NO'] }],
  });
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  const comments = new Map([[4, ['from\nrules: []\u2028x: 1\u001b']]]);
  const { text } = printEdge({
    domain: { name: 'a.test' },
    records: [],
    rules: read.ruleSet.rules,
    ids: false,
    comments,
  });
  expect(text).toContain('rules:\n  # from rules: [] x: 1 \n  - type: drop\n');
  expect(readEdgeFile(text, 'x').ok).toBe(true);
});
