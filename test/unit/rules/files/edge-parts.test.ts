import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { MAX_EDGE_PARTS, MAX_FILE_OCTETS } from '../../../../src/base/vocabulary/limits.ts';
import { compileEdge } from '../../../../src/edge/middleware/node/edge-input.ts';
import { seal } from '../../../../src/engine/plan/seal.ts';
import { readEdgeBytes } from '../../../../src/rules/files/edge-file.ts';
import { seeded } from '../../../support/generate.ts';
import { generateRule } from '../../../support/generate-rules.ts';

const MAIN = `domain: a.test
records:
  - { name: "@", type: A, destination: 192.0.2.1, proxied: true }
rules:
  - { key: office, type: drop, countries: [DE] }
`;
const RECORDS = 'records:\n  - { name: shop, type: A, destination: 192.0.2.2, proxied: true }\n';
const RULES = 'rules:\n  - { key: shop, type: drop, records: [shop], countries: [FR] }\n';

function part(name: string, text: string) {
  return { name: `edge.d/${name}.yaml`, octets: Buffer.from(text) };
}

function read(main: string, ...parts: readonly ReturnType<typeof part>[]) {
  return readEdgeBytes(Buffer.from(main), 'edge.yaml', parts);
}

function problems(main: string, ...parts: readonly ReturnType<typeof part>[]): readonly string[] {
  return read(main, ...parts).diagnostics.map(formatDiagnostic);
}

function planOf(main: string, ...parts: readonly ReturnType<typeof part>[]): Buffer | null {
  const compiled = compileEdge(Buffer.from(main), 'edge.yaml', parts);
  return compiled.ok ? Buffer.from(seal(compiled.plan, { revision: 0 })) : null;
}

describe('parts of a domain', () => {
  test('a rule of one part names a record of another, and places are those of the part', () => {
    const file = read(MAIN, part('a', RECORDS), part('b', `# shop\n${RULES}`));
    expect(file.diagnostics).toEqual([]);
    const rules = [...file.sources.rules.values()].map(
      (source) => `${source.key} ${source.file}:${source.line}`,
    );
    expect(rules).toEqual(['office edge.yaml:5', 'shop edge.d/b.yaml:3']);
    const records = [...file.sources.records.values()].map((source) => `${source.file}:${source.line}`);
    expect(records).toEqual(['edge.yaml:3', 'edge.d/a.yaml:2']);
    expect(file.sources.at(['rules', 1, 'countries', 0])).toEqual({
      file: 'edge.d/b.yaml',
      line: 3,
      column: 59,
    });
    expect(file.sources.writes(['rules', 1, 'countries'])).toBe(true);
    expect(file.sources.writes(['rules', 1, 'priority'])).toBe(false);
  });

  test('a domain in several files has the plan of the same domain in one', () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = seeded(seed);
        const records = [1, 2].map((id) => ({
          id,
          name: `n${id}`,
          type: 'A',
          destination: `192.0.2.${id}`,
          proxied: true,
        }));
        const rules = random.times(1 + random.int(12), (index) =>
          generateRule(random, { id: index + 1, domain: 'example.com', recordIds: [1, 2] }),
        );
        const whole = planOf(stringify({ domain: 'example.com', records, rules }));
        if (whole === null) return;
        compared++;
        const cut = random.int(rules.length + 1);
        const later = cut + random.int(rules.length + 1 - cut);
        const split = planOf(
          stringify({ domain: 'example.com', records: records.slice(0, 1), rules: rules.slice(0, cut) }),
          part('a', stringify({ rules: rules.slice(cut, later) })),
          part('b', '# nothing\n'),
          part('c', stringify({ records: records.slice(1), rules: rules.slice(later) })),
        );
        expect(split?.equals(whole)).toBe(true);
      }),
      { numRuns: 60 },
    );
    expect(compared).toBeGreaterThan(20);
  });

  test('a mistake is placed in the part that has it, in the order of the files', () => {
    expect(
      problems(
        MAIN,
        part('a', 'rules:\n  - { type: drop, countries: [XX] }\n'),
        part('b', 'rules:\n  - { key: office, type: drop, countrys: [DE] }\n'),
      ),
    ).toEqual([
      expect.stringMatching(/^edge\.d\/a\.yaml:2:31: error: rules\[1\]\.countries\[0\]: /),
      expect.stringMatching(/^edge\.d\/b\.yaml:2:12: .*earlier rule \(edge\.yaml:5\); keys must differ/),
      expect.stringMatching(/^edge\.d\/b\.yaml:2:32: error: rules\[2\]\.countrys: is not a known field/),
    ]);
  });

  test.each([
    ['domain: b.test', /^edge\.d\/a\.yaml:1:1: error: domain: must not be in a part of a domain/],
    ['fragment: true', /fragment: must not be in a part/],
    ['- rules', /must be a mapping with one or more of `records`, `rules`, `gateways`, `consumers`/],
    ['rules: { type: drop }', /^edge\.d\/a\.yaml:1:8: error: rules: must be a list/],
    ['rules: [', /^edge\.d\/a\.yaml:1:9: error: /],
  ])('the part %j is refused', (text, problem) => {
    expect(problems(MAIN, part('a', text))).toEqual([expect.stringMatching(problem)]);
  });

  test('what follows from a part that cannot be read is not reported', () => {
    expect(problems(MAIN, part('a', 'records: ['), part('b', RULES))).toHaveLength(1);
  });

  test('empty parts, and lists without a value, add nothing', () => {
    const main = 'domain: a.test\nrules:\n';
    expect(planOf(main, part('a', ''), part('b', 'rules:\n'))).toEqual(planOf(main));
  });

  test('a domain has a limited number of parts, and the size of one file', () => {
    const many = Array.from({ length: MAX_EDGE_PARTS + 1 }, (_, index) => part(String(index), ''));
    expect(problems(MAIN, ...many)).toEqual([expect.stringContaining(`at most ${MAX_EDGE_PARTS} parts`)]);
    const long = `#${' '.repeat(MAX_FILE_OCTETS - 100)}`;
    expect(problems(MAIN, part('a', long))).toEqual([
      expect.stringMatching(
        /^edge\.d\/a\.yaml:1:1: error: the files of a domain must together be at most 4 MiB/,
      ),
    ]);
  });
});
