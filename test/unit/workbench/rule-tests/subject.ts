/** A small edge file and the means to run tests against it. */
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { compile } from '../../../../src/engine/compiler/compile.ts';
import { seal } from '../../../../src/engine/plan/seal.ts';
import { type EdgeSources, readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { readTestFile } from '../../../../src/rules/files/test-file.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { type Coverage, createCoverage } from '../../../../src/workbench/rule-tests/coverage.ts';
import { nameRules, type RuleNames } from '../../../../src/workbench/rule-tests/names.ts';
import { prepareTests } from '../../../../src/workbench/rule-tests/prepare.ts';
import { runTests, type TestResult } from '../../../../src/workbench/rule-tests/run.ts';

export const EDGE = `domain: example.com
records:
  - { id: 1, name: "@", type: A, destination: 192.0.2.1, proxied: true }
  - { id: 2, name: shop, type: A, destination: 192.0.2.2, proxied: true, captcha: true }
  - { id: 3, name: shop, type: AAAA, destination: "2001:db8::3", proxied: true }
rules:
  - { id: 41, key: office-only, type: drop, path_includes: [/admin, /admin/*], path_excludes: [/admin/health], ip_match_type: exclude, ips: [198.51.100.0/24] }
  - { id: 42, key: watched, type: drop, action_mode: dry_run, countries: [RU, BY] }
  - { id: 43, type: drop, path_includes: [/nameless*] }
  - { id: 44, key: off, type: drop, path_includes: [/off*], enabled: false }
  - { id: 50, key: api-rate, type: rate_limit, path_includes: [/api*], limit: 2, window_sec: 10 }
  - { id: 60, key: moved, type: redirect, path_includes: [/old], target: "https://example.com/new", status_code: 301 }
  - { id: 70, key: login, type: captcha, path_includes: [/login*] }
  - { id: 80, key: pool, type: origin_pool, host_includes: [example.com], lb_type: least_load, origins: [{ address: 10.0.0.1 }, { address: 10.0.0.2, port: 8443 }] }
  - { id: 90, key: sorry, type: error_page, mode: custom, codes: [502], content: { 502: "<h1>sorry</h1>" } }
  - { id: 95, key: talk, type: bot_route, bot_kinds: [gptbot], action: alt_content, body: no }
`;

export interface Subject {
  readonly ruleSet: RuleSet;
  readonly sources: EdgeSources;
  readonly names: RuleNames;
  readonly bytes: Uint8Array;
}

/** The edge file, compiled and sealed. */
export function subject(): Subject {
  const read = readEdgeFile(EDGE, 'edge.yaml');
  if (!read.ok) throw new Error(read.diagnostics.map(formatDiagnostic).join('\n'));
  const { ruleSet, sources } = read;
  return { ruleSet, sources, names: nameRules(ruleSet, sources), bytes: seal(compile(ruleSet).plan) };
}

export interface Outcome {
  readonly results: readonly TestResult[];
  readonly coverage: Coverage;
}

/** Runs the tests of a text, which must hold no mistakes. */
export function run(text: string): Outcome {
  const about = subject();
  const file = readTestFile(text, 'edge.test.yaml');
  const prepared = prepareTests(file.tests, about);
  const found = [...file.diagnostics, ...prepared.diagnostics].map(formatDiagnostic);
  if (found.length > 0) throw new Error(found.join('\n'));
  const coverage = createCoverage(about);
  return { results: runTests(prepared.tests, { ...about, coverage }), coverage };
}

/** What is wrong with the expectations of a text. */
export function mistakes(text: string): readonly string[] {
  const file = readTestFile(text, 'edge.test.yaml');
  const { diagnostics } = prepareTests(file.tests, subject());
  return [...file.diagnostics, ...diagnostics].map(formatDiagnostic);
}
