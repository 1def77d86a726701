/** Reports results: as lines for a terminal, and as one JSON document. */
import { quoteValue, type SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import type { RegionName } from '../proofs/regions.ts';
import { paint } from '../simulation/paint.ts';
import { quantity, type RenderedLine, span } from '../simulation/render-text.ts';
import type { CoverageReport, EntryCoverage, RuleCoverage } from './coverage.ts';
import type { TestFailure, TestResult } from './run.ts';

/** The format of the JSON document. */
export const TEST_FORMAT = 'edgeplan.tests/v1';

/** Passed and failed tests, and requests sent. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly requests: number;
  /** Those of them that are invariants. */
  readonly invariants: number;
}

/** Counts results. */
export function tallyOf(results: readonly TestResult[]): Tally {
  const passed = results.filter((result) => result.passed).length;
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  const invariants = results.filter(({ claim }) => claim !== null).length;
  return { passed, failed: results.length - passed, requests, invariants };
}

/** `file:line`; empty without a place. */
function place(at: SourcePlace | undefined): string {
  return at === undefined ? '' : `${at.file}:${at.line}`;
}

/** One line per test; for a failed test also the expectation, the result and the reasons. */
export function resultLines(results: readonly TestResult[]): readonly RenderedLine[] {
  return results.flatMap((result) => [
    result.passed
      ? [span('  ✔ ', 'good'), span(result.name), span(claimText(result), 'dim')]
      : [span('  ✘ ', 'bad'), span(result.name, 'strong'), span(`   ${place(result.at)}`, 'dim')],
    ...result.failures.flatMap(failureLines),
  ]);
}

/** What a proved invariant claims; empty for a test. */
function claimText({ claim }: TestResult): string {
  return claim === null ? '' : `   proved: ${claim}`;
}

/** The label of each kind of expectation, padded to one width. */
const WORDS: Readonly<Record<TestFailure['what'], string>> = {
  expect: 'expected ',
  earlier: 'earlier  ',
  would: 'would    ',
  invariant: 'claimed  ',
};

/** The lines of one unmet expectation. */
function failureLines(failure: TestFailure): readonly RenderedLine[] {
  const { what, expected, got, reasons } = failure;
  const step = failure.step === null ? [] : [span(`${failure.step}: `, 'accent')];
  return [
    [span('      '), ...step, span(failure.line), span(`   ${place(failure.at)}`, 'dim')],
    [span(`      ${WORDS[what]} `, 'dim'), span(expected, 'good')],
    [span('      got       ', 'dim'), span(got, 'bad')],
    ...detailLines(failure),
    ...reasons.map(
      (reason, index): RenderedLine => [
        span(index === 0 ? '      because   ' : '                ', 'dim'),
        span(`${reason.subject}: ${reason.text}`),
        span(reason.at === undefined ? '' : `   ${place(reason.at)}`, 'dim'),
      ],
    ),
    [],
  ];
}

/** The same lines as text, without their indentation. */
export function failureText(failure: TestFailure): string {
  return paint(failureLines(failure), false).replace(/^ {6}/gm, '').trimEnd();
}

/** The fields that differ and that neither sentence shows. */
function detailLines({ differences, expected, got }: TestFailure): readonly RenderedLine[] {
  if (differences.length === 0 || (differences.length === 1 && differences[0]?.field === '')) return [];
  const shown = differences.filter(
    ({ field }) => expected.includes(': ') || !IN_SHORT_FORM.test(field) || expected === got,
  );
  return shown.map(({ field, expected: wanted, got: actual }) => [
    span(`      ${field} `, 'dim'),
    span(`is ${value(actual)}, expected ${value(wanted)}`),
  ]);
}

/** Fields that the short form shows. */
const IN_SHORT_FORM =
  /^(action|status|rule(\..*)?|location|kind|path|query|origin(\.(address|port|scheme))?)$/;

/** A value as the report shows it. */
function value(of: unknown): string {
  return typeof of === 'object' && of !== null ? JSON.stringify(of) : quoteValue(of);
}

/** `31 passed, 2 failed · 140 requests · 3 invariants`. */
export function summaryLine(tally: Tally): RenderedLine {
  const failed = tally.failed === 0 ? [] : [span(`, ${tally.failed} failed`, 'bad')];
  const counts = [
    ...(tally.requests === 0 && tally.invariants > 0 ? [] : [quantity(tally.requests, 'request')]),
    ...(tally.invariants === 0 ? [] : [quantity(tally.invariants, 'invariant')]),
  ];
  return [
    span(`  ${tally.passed} passed`, tally.failed === 0 ? 'good' : 'plain'),
    ...failed,
    span(` · ${counts.join(' · ')}`, 'dim'),
  ];
}

/** A percentage with one decimal, rounded down, so that 100 % means all. */
export function percentText(percent: number): string {
  return `${Math.floor(percent * 10) / 10} %`;
}

/** The sum of a coverage report, and every rule and entry that no test covers. */
export function coverageLines(report: CoverageReport): readonly RenderedLine[] {
  const { rules, coveredRules, entries, coveredEntries, regions, coveredRegions } = report.counts;
  const sum = `rules ${coveredRules} of ${rules} · list entries ${coveredEntries} of ${entries} · ${percentText(report.percent)}`;
  const beside =
    regions === 0
      ? []
      : [[span('  regions   ', 'dim'), span(`${coveredRegions} of ${regions} beside rules`)] as RenderedLine];
  return [
    [span('  coverage  ', 'dim'), span(sum)],
    ...report.rules.flatMap(uncoveredLines),
    ...beside,
    ...report.rules.flatMap(unenteredLines),
  ];
}

/** The lines of a rule that never matched, or of its entries that never decided. */
function uncoveredLines(rule: RuleCoverage): readonly RenderedLine[] {
  if (!rule.covered) {
    return [
      [span('    ○ ', 'warn'), span(`${rule.rule} never matched`), span(`   ${place(rule.at)}`, 'dim')],
    ];
  }
  return rule.entries
    .filter((entry) => !entry.covered)
    .map((entry) => [
      span('    ○ ', 'warn'),
      span(`${rule.rule} ${entry.entry} ${quoteValue(entry.text)} ${undecidedText(entry)}`),
      span(`   ${place(entry.at)}`, 'dim'),
    ]);
}

/** What no test shows of an entry. */
function undecidedText({ entry, missed }: EntryCoverage): string {
  if (!entry.startsWith('conditions.')) return 'never decided';
  return missed === true ? 'alone never excluded a request' : 'was never met in a match';
}

/** The regions beside a rule that no test enters, with a request that does. */
function unenteredLines({ rule, at, regions }: RuleCoverage): readonly RenderedLine[] {
  return regions
    .filter(({ covered }) => !covered)
    .flatMap(({ region, request }) => [
      [
        span('    ○ ', 'warn'),
        span(`no test misses ${rule} by its ${REGION_WORDS[region]} alone`),
        span(`   ${place(at)}`, 'dim'),
      ],
      [span(`        ${request ?? 'nor was a request found that does'}`, 'dim')],
    ]);
}

const REGION_WORDS: Readonly<Record<RegionName, string>> = {
  path: 'path filter',
  host: 'host filter',
  ip: 'addresses',
  country: 'countries',
  bot: 'bots',
  ja4: 'JA4 list',
  ja4h: 'JA4H list',
  method: 'methods',
  scheme: 'schemes',
  asn: 'autonomous systems',
  user_agent: 'User-Agents',
  tag: 'tags',
  header: 'headers',
  query: 'query parameters',
  cookie: 'cookies',
};

/** The JSON document of a coverage report. */
function coverageDocument({ percent, counts, rules }: CoverageReport): object {
  const { coveredRules, coveredEntries, coveredRegions, ...all } = counts;
  const covered = {
    covered_rules: coveredRules,
    covered_entries: coveredEntries,
    covered_regions: coveredRegions,
  };
  return { percent, counts: { ...all, ...covered }, rules };
}

/** The JSON document; `coverage` is `null` when it was not asked for. */
export function reportDocument(results: readonly TestResult[], coverage: CoverageReport | null): object {
  return {
    format: TEST_FORMAT,
    ...tallyOf(results),
    tests: results.map(({ name, at, claim, passed, requests, failures }) => ({
      name,
      at,
      claim,
      passed,
      requests,
      failures,
    })),
    coverage: coverage === null ? null : coverageDocument(coverage),
  };
}
