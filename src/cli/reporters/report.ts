/**
 * The findings of `lint` and the results of `test` as a reporter takes them, and the reports for people (text), for
 * programs (JSON) and for GitHub Actions.
 */
import { relative, resolve } from 'node:path';
import {
  type Diagnostic,
  describeDiagnostic,
  diagnosticFields,
  type SourcePlace,
} from '../../base/diagnostics/diagnostic.ts';
import { terminalJson } from '../../base/text/json-object.ts';
import {
  type MutantReport,
  type MutationReport,
  mutantText,
  mutationDocument,
  mutationLines,
  survivorText,
} from '../../workbench/mutation/report.ts';
import type { CoverageReport } from '../../workbench/rule-tests/coverage.ts';
import {
  coverageLines,
  failureText,
  reportDocument,
  resultLines,
  summaryLine,
  tallyOf,
} from '../../workbench/rule-tests/report.ts';
import type { TestResult } from '../../workbench/rule-tests/run.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { jsonDocument } from '../output.ts';
import { diagnosticsText } from '../print/diagnostics.ts';

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
function isStdin(file: string): boolean {
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

export const HUMAN: Reporter = {
  lint({ inputs, colour, texts }: LintReport): string {
    return diagnosticsText(
      inputs.flatMap(({ findings }) => findings),
      { colour, texts },
    );
  },
  test({ results, coverage, mutation, colour, mistakes }: TestReport): string {
    if (results.length === 0 && mistakes.length > 0) return '';
    const lines = [
      ...resultLines(results),
      [],
      summaryLine(tallyOf(results)),
      ...(coverage === null ? [] : coverageLines(coverage)),
      ...(mutation === null ? [] : mutationLines(mutation)),
    ];
    return paint(lines, colour);
  },
};

export const JSON_REPORTER: Reporter = {
  lint({ file, inputs }: LintReport): string {
    return jsonDocument('findings', {
      file,
      findings: inputs.flatMap(({ findings }) => findings.map(findingOf)),
    });
  },
  test({ results, coverage, mutation, mistakes }: TestReport): string {
    if (results.length === 0 && mistakes.length > 0) return '';
    const mutants = mutation === null ? null : mutationDocument(mutation);
    return `${terminalJson({ ...reportDocument(results, coverage), mutation: mutants }, 2)}\n`;
  },
};

/** A diagnostic as `GET /domains/{domain}/analysis` returns it, with its place in the file. */
function findingOf(diagnostic: Diagnostic): object {
  const { at } = diagnostic;
  const place = at === undefined ? null : { file: at.file, line: at.line, column: at.column };
  return { ...diagnosticFields(diagnostic), at: place };
}

// Reports as workflow commands of GitHub Actions, which become annotations of the changed lines
// (docs.github.com, "Workflow commands for GitHub Actions"). GitHub shows the first ten errors, ten warnings and ten notices
// of a step as annotations; all others are in its log.

/** The commands of the severities. */
const COMMANDS = { error: 'error', warning: 'warning', info: 'notice' } as const satisfies Readonly<
  Record<Diagnostic['severity'], string>
>;

export const GITHUB: Reporter = {
  lint({ inputs }: LintReport): string {
    const findings = inputs.flatMap((input) => input.findings);
    return `${findings.map(annotation).join('')}${quantity(findings.length, 'finding')}\n`;
  },
  test({ results, mistakes, uncovered, mutation, unkilled }: TestReport): string {
    const failures = results.flatMap((result) =>
      result.failures.map((failure) =>
        command('error', { at: failure.at, title: result.name, message: failureText(failure) }),
      ),
    );
    const short = uncovered === null ? '' : command('error', { title: 'coverage', message: uncovered });
    const low = unkilled === null ? '' : command('error', { title: 'mutation', message: unkilled });
    const survivors = (mutation?.mutants ?? []).filter(({ judged }) => judged.outcome === 'survived');
    const summary = results.length === 0 ? '' : paint([summaryLine(tallyOf(results))], false).trimStart();
    const parts = [
      ...mistakes.map(annotation),
      ...failures,
      short,
      low,
      ...survivors.map(survivorCommand),
      summary,
    ];
    return parts.join('');
  },
};

/** The command for a diagnostic. */
function annotation(diagnostic: Diagnostic): string {
  const { at, code, severity } = diagnostic;
  const message = describeDiagnostic(diagnostic);
  return command(COMMANDS[severity], { ...(at === undefined ? {} : { at }), title: code, message });
}

/** A mutant that no test notices. */
function survivorCommand(mutant: MutantReport): string {
  const at = mutant.at === undefined ? {} : { at: mutant.at };
  return command('notice', { ...at, title: mutantText(mutant), message: survivorText(mutant) });
}

/** What an annotation shows. */
interface Annotation {
  readonly at?: SourcePlace;
  readonly title: string;
  readonly message: string;
}

/** One workflow command, ended by a newline. */
function command(name: string, { at, title, message }: Annotation): string {
  const place = at === undefined || isStdin(at.file) ? [] : placeOf(at);
  const properties = [...place, `title=${escapeProperty(title)}`];
  return `::${name} ${properties.join(',')}::${escapeText(message.trimEnd())}\n`;
}

function placeOf({ file, line, column }: SourcePlace): readonly string[] {
  return [`file=${escapeProperty(fileName(file))}`, `line=${line}`, `col=${column}`];
}

/** Escapes what would end a command: its line. */
function escapeText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** Escapes also what separates the properties of a command. */
function escapeProperty(text: string): string {
  return escapeText(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
