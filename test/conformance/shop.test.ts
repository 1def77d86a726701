/** The example in `fixtures/shop`: its tests pass, and between them reach every rule and every list entry. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import { compile } from '../../src/engine/compiler/compile.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { readEdgeFile } from '../../src/rules/files/edge-file.ts';
import { readTestFile } from '../../src/rules/files/test-file.ts';
import { createCoverage } from '../../src/workbench/rule-tests/coverage.ts';
import { nameRules } from '../../src/workbench/rule-tests/names.ts';
import { prepareTests } from '../../src/workbench/rule-tests/prepare.ts';
import { runTests } from '../../src/workbench/rule-tests/run.ts';
import { starter } from '../support/starter.ts';

const read = (name: string): string =>
  readFileSync(new URL(`../../fixtures/shop/${name}`, import.meta.url), 'utf8');

test('the shop’s rule tests all pass, and cover every rule, entry and region', { timeout: 120_000 }, () => {
  const edge = readEdgeFile(read('edge.yaml'), 'edge.yaml');
  const file = readTestFile(read('edge.test.yaml'), 'edge.test.yaml');
  if (!edge.ok) throw new Error(edge.diagnostics.map(formatDiagnostic).join('\n'));
  const { ruleSet, sources } = edge;
  const bytes = seal(compile(ruleSet).plan);
  const subject = { ruleSet, sources, names: nameRules(ruleSet, sources), bytes };
  const prepared = prepareTests(file.tests, subject);
  expect([...file.diagnostics, ...prepared.diagnostics].map(formatDiagnostic)).toEqual([]);
  expect(prepared.tests.length).toBeGreaterThanOrEqual(30);
  const coverage = createCoverage(subject);
  const results = runTests(prepared.tests, { ...subject, coverage, waf: starter().waf });
  const failures = results.flatMap(({ name, failures: [first] }) =>
    first === undefined ? [] : [`${name}: expected ${first.expected}, got ${first.got}`],
  );
  expect(failures).toEqual([]);
  const { percent, counts } = coverage.report();
  expect(percent).toBe(100);
  expect(counts.regions).toBeGreaterThan(40);
  expect(counts.coveredRegions).toBe(counts.regions);
});
