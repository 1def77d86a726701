/** What export writes reads back as the same rule set, and printing what was read gives the same text. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readEdgeFile } from '../../src/rules/files/edge-file.ts';
import { printEdge } from '../../src/rules/files/print-edge.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { seeded } from '../support/generate.ts';
import { generateRule } from '../support/generate-rules.ts';

const RECORDS = [
  { name: '@', type: 'A', destination: '192.0.2.1', proxied: true },
  { name: 'shop', type: 'A', destination: '192.0.2.1', proxied: true },
  {
    name: 'shop.example.com',
    type: 'A',
    destination: '192.0.2.2',
    proxied: true,
    comment: 'no # comment: "yes"',
  },
  { name: 'shop', type: 'AAAA', destination: '2001:db8::1', proxied: true, timeout: 9 },
  { name: 'shop', type: 'TXT', destination: '  two\tstrings: [x]\\' },
  { name: '*.old', type: 'CNAME', destination: 'old.test', proxied: true },
  { name: 'no', type: 'A', destination: '192.0.2.1', proxied: true },
].map((record, index) => ({ id: (index + 1) * 3, ...record }));

function generate(seed: number): RuleSet | null {
  const random = seeded(seed);
  const recordIds = RECORDS.map(({ id }) => id);
  const ids = random.shuffled(random.times(1 + random.int(20), (index) => index * 2 + 5));
  const rules = ids.map((id) => generateRule(random, { id, domain: 'example.com', recordIds }));
  const parsed = parseRuleSet({ domain: { name: 'example.com' }, records: RECORDS, rules });
  return parsed.ok ? parsed.ruleSet : null;
}

function print(ruleSet: RuleSet, ids: boolean): string {
  const { records, rules } = ruleSet;
  return printEdge({ domain: { name: ruleSet.domain.name }, records, rules, ids }).text;
}

function read(text: string): RuleSet {
  const file = readEdgeFile(text, 'edge.yaml');
  if (!file.ok) throw new Error(`${JSON.stringify(file.diagnostics, null, 1)}\n${text}`);
  return file.ruleSet;
}

function sorted(ruleSet: RuleSet): object {
  const rules = [...ruleSet.rules].sort((one, other) => one.id - other.id);
  const scoped = rules.map((rule) => ({ ...rule, record_ids: [...rule.record_ids].sort((a, b) => a - b) }));
  return { ...ruleSet, rules: scoped };
}

test('a printed rule set reads back as itself, and equal content has equal text', () => {
  let compared = 0;
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const ruleSet = generate(seed);
      if (ruleSet === null) return;
      compared++;
      const exact = print(ruleSet, true);
      expect(sorted(read(exact))).toEqual(sorted(ruleSet));
      expect(print(read(exact), true)).toBe(exact);
      const portable = print(ruleSet, false);
      expect(print(read(portable), false)).toBe(portable);
      expect(read(portable).rules).toHaveLength(ruleSet.rules.length);
    }),
    { numRuns: 60 },
  );
  expect(compared).toBeGreaterThan(30);
});
