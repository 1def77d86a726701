/** Coverage of conditions: each entry by a match, each of excludes and each condition on a value where it alone prevents one. */
import { expect, it } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { seal } from '../../../../src/engine/plan/seal.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { readTestFile } from '../../../../src/rules/files/test-file.ts';
import { type CoverageReport, createCoverage } from '../../../../src/workbench/rule-tests/coverage.ts';
import { nameRules } from '../../../../src/workbench/rule-tests/names.ts';
import { prepareTests } from '../../../../src/workbench/rule-tests/prepare.ts';
import { coverageLines } from '../../../../src/workbench/rule-tests/report.ts';
import { runTests } from '../../../../src/workbench/rule-tests/run.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';

const HEAD = `domain: example.com
records: [{ name: "@", type: A, destination: 192.0.2.1, proxied: true }]
rules:
`;

/** The coverage of a drop rule with these conditions by requests, each a method and fields of `with`. */
function coverageOf(conditions: string, requests: readonly string[]): CoverageReport {
  const read = readEdgeFile(
    `${HEAD}  - key: k\n    type: drop\n    conditions: ${conditions}\n`,
    'edge.yaml',
  );
  if (!read.ok) throw new Error(read.diagnostics.map(formatDiagnostic).join('\n'));
  const { ruleSet, sources } = read;
  const about = { ruleSet, sources, names: nameRules(ruleSet, sources), bytes: seal(compile(ruleSet).plan) };
  const rows = requests.map((text, place) => {
    const [line, fields = ''] = text.split(' with ');
    return `  - { name: t${place}, request: ${line}, with: { ${fields} }, expect: { action: forward } }`;
  });
  const file = readTestFile(`tests:\n${rows.join('\n')}\n`, 'edge.test.yaml');
  const { tests, diagnostics } = prepareTests(file.tests, about);
  const found = [...file.diagnostics, ...diagnostics].map(formatDiagnostic);
  if (found.length > 0) throw new Error(found.join('\n'));
  const coverage = createCoverage(about);
  runTests(tests, { ...about, coverage });
  return coverage.report();
}

/** The covered entries, those that are covered by a miss with `not`. */
function coveredIn({ rules }: CoverageReport): readonly string[] {
  return rules[0]!.entries
    .filter(({ covered }) => covered)
    .map(({ entry, missed }) => `${missed === true ? 'not ' : ''}${entry.slice('conditions.'.length)}`);
}

const GET = 'GET https://example.com/';

it('an entry of a list is covered by a match, an entry of excludes by a request that it alone keeps away', () => {
  const conditions =
    '{ methods: [GET, POST], ips: { includes: [192.0.2.0/24], excludes: [192.0.2.1, 192.0.2.2] }, bot_kinds: { excludes: [ccbot, "*"] } }';
  expect(coveredIn(coverageOf(conditions, [`${GET} with ip: 192.0.2.9`]))).toEqual([
    'methods[0]',
    'ips.includes[0]',
  ]);
  expect(coveredIn(coverageOf(conditions, [`${GET} with ip: 192.0.2.2`]))).toEqual(['not ips.excludes[1]']);
  expect(coveredIn(coverageOf(conditions, [`PUT https://example.com/ with ip: 192.0.2.2`]))).toEqual([]);
  expect(coveredIn(coverageOf(conditions, [`${GET} with ip: 192.0.2.9, bot: gptbot`]))).toEqual([
    'not bot_kinds.excludes[1]',
  ]);
});

it('a condition on a value is covered where it holds, and where it alone does not', () => {
  const conditions =
    '{ headers: [{ name: x-a, op: prefix, values: [a, b] }], cookies: [{ name: s, op: absent }], query: [{ name: q, op: not_equals, values: ["1", "2"] }], verified_bot: false }';
  const met = `${GET} with headers: { x-a: bc }`;
  expect(coveredIn(coverageOf(conditions, [met]))).toEqual([
    'verified_bot',
    'headers[0].values[1]',
    'cookies[0]',
  ]);
  const report = coverageOf(conditions, [
    met,
    GET,
    `${GET} with headers: { x-a: a, cookie: s=1 }`,
    `${GET}?q=2 with headers: { x-a: a }`,
    `${GET} with headers: { x-a: a }, bot: { kind: gptbot, verified: true }`,
  ]);
  expect(coveredIn(report)).toEqual([
    'verified_bot',
    'not verified_bot',
    'headers[0].values[1]',
    'not headers[0]',
    'not query[0].values[1]',
    'cookies[0]',
    'not cookies[0]',
  ]);
  const { entries, coveredEntries } = report.counts;
  expect([entries, coveredEntries]).toEqual([9, 7]);
  expect(paint(coverageLines(report), false)).toContain(
    [
      '    ○ drop/k conditions.headers[0].values[0] `x-a prefix a` was never met in a match   edge.yaml:6',
      '    ○ drop/k conditions.query[0].values[0] `q not_equals 1` alone never excluded a request   edge.yaml:6',
    ].join('\n'),
  );
});
