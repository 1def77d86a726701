import { describe, expect, test } from 'vitest';
import {
  coverageLines,
  reportDocument,
  resultLines,
  summaryLine,
  tallyOf,
} from '../../../../src/workbench/rule-tests/report.ts';
import type { TestResult } from '../../../../src/workbench/rule-tests/run.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { run } from './subject.ts';

function results(text: string): readonly TestResult[] {
  return run(text).results;
}

function text(of: readonly TestResult[]): string {
  return paint(resultLines(of), false);
}

describe('state', () => {
  const limited = `
tests:
  - name: limits
    request: GET https://example.com/api
    with: { ip: 203.0.113.1 }
    steps:
      - { repeat: { times: 2, every: 1s, earlier: forward }, expect: forward }
      - { expect: { action: block, status: 429, rule: rate_limit/api-rate, retry_after: 10 } }
      - { after: 10s, expect: forward }
  - name: afresh
    request: GET https://example.com/api
    with: { ip: 203.0.113.1 }
    repeat: 2
    expect: forward
    cases: [{ name: first }, { name: second }]
`;

  test('steps of a test share counters and the clock, and tests share none', () => {
    const found = results(limited);
    expect(text(found)).toBe('  ✔ limits\n  ✔ afresh › first\n  ✔ afresh › second\n');
    expect(found.map(({ requests }) => requests)).toEqual([4, 2, 2]);
  });

  test('the health and load of origins are those that the test states', () => {
    const found = results(`
tests:
  - name: pool
    request: GET https://example.com/
    steps:
      - { expect: forward to https://10.0.0.1/ }
      - { with: { busy: { 10.0.0.1: 2, "10.0.0.2:8443": 1 } }, expect: "forward to https://10.0.0.2:8443/" }
      - { with: { down: [10.0.0.2] }, expect: forward to https://10.0.0.1/ }
`);
    expect(text(found)).toBe('  ✔ pool\n');
  });

  test('a program’s User-Agent without a named kind is a generic bot, and a browser’s is no bot', () => {
    const found = results(`
tests:
  - name: curl names no kind
    request: GET https://example.com/
    with: { user_agent: curl/8.5.0 }
    expect: forward
`);
    expect(found[0]?.passed).toBe(true);
  });

  test('an unmet expectation of an earlier request is reported with its number', () => {
    const [only] = results(`
tests:
  - name: too many
    request: GET https://example.com/api
    repeat: { times: 5, earlier: forward }
    expect: block 429
`);
    expect(only?.failures).toHaveLength(1);
    expect(only?.failures[0]).toMatchObject({
      step: 'request 3 of 5',
      what: 'earlier',
      expected: 'forward',
      got: 'block 429 by rate_limit/api-rate',
    });
  });
});

describe('failures', () => {
  test('a failure shows the expectation, the result, and the reasons of both rules with their lines', () => {
    const found = results(`
tests:
  - name: the office may enter
    request: GET https://example.com/admin/
    with: { ip: 203.0.113.7 }
    expect: forward
  - name: nobody else may
    request: GET https://example.com/administrators
    expect: block 403 by drop/office-only
`);
    expect(text(found)).toBe(`  ✘ the office may enter   edge.test.yaml:3
      GET https://example.com/admin/   edge.test.yaml:6
      expected  forward
      got       block 403 by drop/office-only
      because   drop/office-only matched: 203.0.113.7 is outside the allowlist [198.51.100.0/24]   edge.yaml:7

  ✘ nobody else may   edge.test.yaml:7
      GET https://example.com/administrators   edge.test.yaml:9
      expected  block 403 by drop/office-only
      got       forward to https://10.0.0.1/administrators by origin_pool/pool
      because   drop/office-only skipped: path /administrators is not in path_includes [/admin, /admin/*]   edge.yaml:7
                origin_pool/pool matched: example.com matches example.com   edge.yaml:14

`);
  });

  test('a failure lists the differing fields that the short forms do not show', () => {
    const found = results(`
tests:
  - name: fields
    request: GET https://example.com/
    expect: { origin: { host_header: other.example.com }, tags: [bot_route/talk] }
`);
    expect(text(found)).toContain('      origin.hostHeader is `example.com`, expected `other.example.com`\n');
    expect(text(found)).toContain('      tags is [], expected ["bot_route/talk"]\n');
  });

  test('a failure of `would` shows the shadow', () => {
    const found = results(`
tests:
  - name: watched
    request: GET https://example.com/
    with: { country: DE }
    expect: forward
    would: block by drop/watched
`);
    expect(text(found)).toContain('      would     block by drop/watched\n      got       nothing\n');
    expect(text(found)).toContain(
      'because   drop/watched skipped in dry_run: country DE is not in countries [RU, BY]   edge.yaml:8',
    );
  });

  test('a failure by a refusal shows the reason of the gate', () => {
    const found = results(
      'tests: [{ name: gate, request: "GET https://nope.example.com/", expect: forward }]',
    );
    expect(text(found)).toContain('because   gate: no proxied record serves host nope.example.com\n');
  });

  test('a failure of a page shows the error page rule', () => {
    const found = results(
      'tests: [{ name: page, request: "GET https://example.com/", response: { status: 502 }, expect: no page }]',
    );
    expect(text(found)).toContain('expected  no page\n      got       page custom by error_page/sorry\n');
  });

  test('a failure without an expected rule explains rules that could have acted', () => {
    const found = results('tests: [{ name: free, request: "GET https://example.com/x", expect: block }]');
    expect(text(found)).toContain('drop/office-only skipped: path /x is not in path_includes');
    expect(text(found)).not.toContain('drop/off ');
  });
});

describe('coverage', () => {
  test('coverage counts rules that matched and entries that decided', () => {
    const { coverage } = run(`
tests:
  - { name: a, request: "GET https://example.com/admin/x", with: { ip: 203.0.113.1 }, expect: block }
  - { name: b, request: "GET https://example.com/admin/x", with: { ip: 198.51.100.1 }, expect: forward }
  - { name: c, request: "GET https://example.com/", with: { country: BY }, expect: forward }
  - { name: d, request: "GET https://example.com/", response: { status: 502 }, expect: page }
`);
    const report = coverage.report();
    const covered = report.rules.filter((rule) => rule.covered).map(({ rule }) => rule);
    expect(covered).toEqual(['drop/office-only', 'drop/watched', 'origin_pool/pool', 'error_page/sorry']);
    const office = report.rules[0]?.entries.map(({ entry, covered: hit, at }) => [entry, hit, at?.line]);
    expect(office).toEqual([
      ['path_includes[0]', false, 7],
      ['path_includes[1]', true, 7],
      ['path_excludes[0]', false, 7],
      ['ips[0]', true, 7],
    ]);
    expect(report.rules[1]?.entries.map(({ text: shown, covered: hit }) => [shown, hit])).toEqual([
      ['RU', false],
      ['BY', true],
    ]);
    expect(report.rules.map(({ rule }) => rule)).not.toContain('drop/off');
    expect(report.counts).toEqual({
      ...{ rules: 9, coveredRules: 4, entries: 12, coveredEntries: 4 },
      ...{ regions: 9, coveredRegions: 8 },
    });
    expect(report.percent).toBeCloseTo((8 / 21) * 100);
  });

  test('an exclude is covered when it alone prevents a match', () => {
    const health = (ip: string) =>
      run(
        `tests: [{ name: a, request: "GET https://example.com/admin/health", with: { ip: ${ip} }, expect: forward }]`,
      );
    const entry = ({ coverage }: ReturnType<typeof run>) => coverage.report().rules[0]?.entries[2];
    expect(entry(health('203.0.113.1'))).toMatchObject({ entry: 'path_excludes[0]', covered: true });
    expect(entry(health('198.51.100.1'))).toMatchObject({ covered: false });
  });

  test('a region is covered by a request that one filter alone excludes, and shown with one where none is', () => {
    const office = (path: string, ip: string) =>
      run(
        `tests: [{ name: a, request: "GET https://example.com${path}", with: { ip: ${ip} }, expect: forward }]`,
      )
        .coverage.report()
        .rules[0]!.regions.map(({ region, covered, request }) => [region, covered, request]);
    expect(office('/public', '203.0.113.1')).toEqual([
      ['path', true, null],
      ['ip', false, expect.stringMatching(/^https:\/\/\S*example\.com\/admin\S* --ip 198\.51\.100\.\d+$/)],
    ]);
    expect(office('/admin/x', '198.51.100.9')).toEqual([
      ['path', false, expect.stringMatching(/^https:\/\/\S*example\.com\/\S* --ip \S+$/)],
      ['ip', true, null],
    ]);
    // Two filters fail, so neither decides.
    expect(office('/public', '198.51.100.9').map(([, covered]) => covered)).toEqual([false, false]);
  });

  test('the report lists uncovered rules and entries', () => {
    const { coverage } = run(
      'tests: [{ name: a, request: "GET https://example.com/admin/x", with: { ip: 203.0.113.1 }, expect: block }]',
    );
    const lines = paint(coverageLines(coverage.report()), false).split('\n');
    expect(lines[0]).toBe('  coverage  rules 1 of 9 · list entries 1 of 12 · 9.5 %');
    expect(lines).toContain('    ○ drop/watched never matched   edge.yaml:8');
    expect(lines).toContain(
      '    ○ drop/office-only path_excludes[0] `/admin/health` never decided   edge.yaml:7',
    );
  });
});

test('the JSON document contains the tally, the tests and the coverage', () => {
  const { results: found, coverage } = run(
    'tests: [{ name: a, request: "GET https://example.com/", expect: block }]',
  );
  const document = JSON.parse(JSON.stringify(reportDocument(found, coverage.report())));
  expect(document).toMatchObject({
    format: 'edgeplan.tests/v1',
    passed: 0,
    failed: 1,
    requests: 1,
    coverage: { counts: { rules: 9 } },
  });
  expect(document.tests[0]).toMatchObject({
    name: 'a',
    passed: false,
    failures: [{ what: 'expect', expected: 'block' }],
  });
  expect(paint([summaryLine(tallyOf(found))], false)).toBe('  0 passed, 1 failed · 1 request\n');
});
