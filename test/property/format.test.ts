/** Formatting changes neither the plan nor a comment, and formatting twice is formatting once. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { compileEdge } from '../../src/edge/middleware/node/edge-input.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { readEdgeFile } from '../../src/rules/files/edge-file.ts';
import { formatFile } from '../../src/rules/files/format.ts';
import { printEdge } from '../../src/rules/files/print-edge.ts';
import { readYaml } from '../../src/rules/files/yaml.ts';
import { EMPTY_REGISTRY } from '../../src/rules/model/registry/registry.ts';
import { seeded } from '../support/generate.ts';
import { generateRule } from '../support/generate-rules.ts';

type Random = ReturnType<typeof seeded>;

const RECORDS = [
  { id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true },
  { id: 2, name: 'no', type: 'A', destination: '192.0.2.2', proxied: true, comment: 'no # comment: "yes"' },
  { id: 3, name: 'shop', type: 'TXT', destination: '  two\tstrings: [x]\\' },
];

function planOf(text: string): Buffer | null {
  const compiled = compileEdge(Buffer.from(text), 'edge.yaml');
  return compiled.ok ? Buffer.from(seal(compiled.plan, { revision: 0 })) : null;
}

/** The value with the keys of every mapping in another order. */
function shuffled(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((entry) => shuffled(entry, random));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    random.shuffled(Object.entries(value)).map(([key, inner]) => [key, shuffled(inner, random)]),
  );
}

/** YAML in one of its styles; no value has a line break, so that a comment may follow every line. */
function written(value: unknown, random: Random): string {
  if (random.int(3) === 0) return JSON.stringify(value, null, 1 + random.int(4));
  return stringify(value, {
    lineWidth: 0,
    blockQuote: false,
    doubleQuotedMinMultiLineLength: 1e9,
    indent: 2 + random.int(3),
    indentSeq: random.int(2) === 0,
    defaultStringType: random.int(2) === 0 ? 'QUOTE_SINGLE' : 'PLAIN',
    singleQuote: random.int(2) === 0,
  });
}

/** The text with comments and blank lines between its lines and behind them. */
function commented(text: string, random: Random): string {
  let count = 0;
  const lines = text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const indent = ' '.repeat(random.int(3) === 0 ? random.int(6) : line.length - line.trimStart().length);
      const above = random.int(6) === 0 ? [`${indent}# above ${count++}`] : [];
      const blank = random.int(6) === 0 ? [''] : [];
      const behind = random.int(6) === 0 ? ` # behind ${count++}` : '';
      return random.int(2) === 0 ? [...blank, ...above, line + behind] : [...above, ...blank, line + behind];
    });
  return `${lines.join('\n')}\n# last\n`;
}

const COMMENT = /# (?:above|behind|last)[ \d]*/g;

test('a formatted file has the same plan and comments, and formatting it again changes nothing', () => {
  let formatted = 0;
  let refused = 0;
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const random = seeded(seed);
      const recordIds = RECORDS.map(({ id }) => id);
      const rules = random.times(1 + random.int(6), (index) =>
        generateRule(random, { id: index + 1, domain: 'example.com', recordIds }),
      );
      const text = commented(
        written(shuffled({ domain: 'example.com', records: RECORDS, rules }, random), random),
        random,
      );
      const plan = planOf(text);
      if (plan === null || !readYaml(text, 'edge.yaml').ok) return;
      const once = formatFile(text, 'edge.yaml');
      if (!once.ok) {
        // A comment that has no place is refused, and never lost.
        expect(once.diagnostics.map(({ code }) => code)).toEqual(['comment_place']);
        refused++;
        return;
      }
      formatted++;
      expect(planOf(once.text)?.equals(plan)).toBe(true);
      const comments = (of: string) =>
        of
          .match(COMMENT)
          ?.map((one) => one.trim())
          .sort();
      expect(comments(once.text)).toEqual(comments(text));
      expect(formatFile(once.text, 'edge.yaml')).toEqual(once);
    }),
    { numRuns: 300 },
  );
  expect(formatted).toBeGreaterThan(20 * refused);
  expect(formatted).toBeGreaterThan(100);
});

test('what export prints is formatted', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const random = seeded(seed);
      const recordIds = RECORDS.map(({ id }) => id);
      const rules = random.times(6, (index) =>
        generateRule(random, { id: index + 1, domain: 'example.com', recordIds }),
      );
      const read = readEdgeFile(JSON.stringify({ domain: 'example.com', records: RECORDS, rules }), 'x');
      if (!read.ok) return;
      const { ruleSet } = read;
      const domain = { name: 'example.com', status: 'active', sec_no_sniff: true };
      for (const ids of [true, false]) {
        const { text } = printEdge({ ...ruleSet, registry: EMPTY_REGISTRY, domain, ids });
        expect(formatFile(text, 'x')).toEqual({ ok: true, text });
      }
    }),
    { numRuns: 60 },
  );
});
