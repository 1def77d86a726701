/** What a reporter is given: the findings of `lint`, or the results of `test`. */
import { relative, resolve } from 'node:path';
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import type { MutationReport } from '../../workbench/mutation/report.ts';
import type { CoverageReport } from '../../workbench/rule-tests/coverage.ts';
import type { TestResult } from '../../workbench/rule-tests/run.ts';

/** How a report is printed. */
export interface ReportStyle {
  readonly colour: boolean;
  /** Texts of the files that were read, by name, for source lines. */
  readonly texts: ReadonlyMap<string, string>;
}

/** One edge file that was linted. */
export interface LintedInput {
  /** Its name in places. */
  readonly name: string;
  readonly findings: readonly Diagnostic[];
}

/** The findings of `lint`. */
export interface LintReport extends ReportStyle {
  /** What `-f` named. */
  readonly file: string;
  readonly inputs: readonly LintedInput[];
  /** Severities that fail the command. */
  readonly failing: readonly Diagnostic['severity'][];
  readonly seconds: number;
}

/** The results of `test`. */
export interface TestReport extends ReportStyle {
  readonly results: readonly TestResult[];
  /** Errors because of which tests were not run. */
  readonly mistakes: readonly Diagnostic[];
  /** `null`: it was not asked for. */
  readonly coverage: CoverageReport | null;
  /** Why the coverage fails the command; `null`: it does not. */
  readonly uncovered: string | null;
  /** `null`: it was not asked for, or tests fail. */
  readonly mutation: MutationReport | null;
  /** Why the mutation score fails the command; `null`: it does not. */
  readonly unkilled: string | null;
  readonly seconds: number;
}

/** A reporter: the text of a report. It writes nothing itself. */
export interface Reporter {
  lint(report: LintReport): string;
  test(report: TestReport): string;
}

/** Whether a place is in stdin, which no machine can open. */
export function isStdin(file: string): boolean {
  return file === 'stdin' || file === '-';
}

/**
 * The name of a file for machines: relative to the root of the repository where a CI names it (GITHUB_WORKSPACE), so that
 * annotations find it.
 */
export function fileName(file: string): string {
  const root = process.env['GITHUB_WORKSPACE'] ?? '';
  if (root === '' || isStdin(file)) return file;
  const name = relative(root, resolve(file));
  return name.startsWith('..') ? file : name;
}

/** Whether a finding fails `lint`. */
export function fails({ severity }: Diagnostic, { failing }: LintReport): boolean {
  return failing.includes(severity);
}
