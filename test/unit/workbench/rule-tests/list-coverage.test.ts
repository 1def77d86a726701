/** Coverage, invariants and mutants of an edge file whose rules name lists. */
import { expect, it } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { seal } from '../../../../src/engine/plan/seal.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { readTestFile } from '../../../../src/rules/files/test-file.ts';
import { mutantsOf } from '../../../../src/workbench/mutation/mutants.ts';
import { startMutation } from '../../../../src/workbench/mutation/mutate.ts';
import { createCoverage } from '../../../../src/workbench/rule-tests/coverage.ts';
import { nameRules } from '../../../../src/workbench/rule-tests/names.ts';
import { prepareTests } from '../../../../src/workbench/rule-tests/prepare.ts';
import { coverageLines } from '../../../../src/workbench/rule-tests/report.ts';
import { runTests } from '../../../../src/workbench/rule-tests/run.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';

const EDGE = `domain: example.com
records: [{ name: "@", type: A, destination: 192.0.2.1, proxied: true }]
lists:
  - { name: php, kind: path, entries: ["*.php"] }
  - { name: office, kind: ip, entries: [203.0.113.0/24] }
  - { name: agents, kind: user_agent, entries: ["curl/*"] }
rules:
  - { key: php, type: drop, path_includes: ["@php", /x], conditions: { user_agents: { excludes: ["@agents"] } } }
  - { key: office, type: drop, path_includes: [/admin], ip_match_type: exclude, ips: ["@office"] }
`;

function subject() {
  const read = readEdgeFile(EDGE, 'edge.yaml');
  if (!read.ok) throw new Error(read.diagnostics.map(formatDiagnostic).join('\n'));
  const { ruleSet, sources } = read;
  return { ruleSet, sources, names: nameRules(ruleSet, sources), bytes: seal(compile(ruleSet).plan) };
}

const TESTS = `tests:
  - { name: php, request: GET https://example.com/a.php, expect: { action: block, rule: drop/php } }
  - { name: curl, request: GET https://example.com/a.php, with: { headers: { user-agent: curl/8 } }, expect: { action: forward } }
`;

it('an entry that names a list is covered by a request that matches by the list', () => {
  const about = subject();
  const file = readTestFile(TESTS, 'edge.test.yaml');
  const { tests, diagnostics } = prepareTests(file.tests, about);
  expect([...file.diagnostics, ...diagnostics].map(formatDiagnostic)).toEqual([]);
  const coverage = createCoverage(about);
  const results = runTests(tests, { ...about, coverage });
  expect(results.map(({ passed }) => passed)).toEqual([true, true]);
  const report = coverage.report();
  expect(report.rules[0]!.entries.map(({ entry, covered }) => [entry, covered])).toEqual([
    ['path_includes[0]', true],
    ['path_includes[1]', false],
    ['conditions.user_agents.excludes[0]', true],
  ]);
  expect(paint(coverageLines(report), false)).toContain('/x');
});

it('a mutant leaves out the name of a list, and no mutant has another pattern for it', () => {
  const { ruleSet, names } = subject();
  const changes = mutantsOf(ruleSet, { most: 1_000, seed: 1 }).mutants.map(({ change }) => change);
  expect(changes).toEqual(expect.arrayContaining(['without `@php`', 'without `@agents`']));
  expect(changes.filter((change) => change.includes('@php') && change.includes('→'))).toEqual([]);
  const run = startMutation({ ruleSet, names, tests: [], waf: null }, { most: 1_000, seed: 1 });
  const judged = [...run.results].find(({ mutant }) => mutant.change === 'without `@php`')!.judged;
  expect(judged).toMatchObject({ outcome: 'survived', shown: { test: expect.stringContaining('.php') } });
});
