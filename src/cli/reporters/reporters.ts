/** The reporters of `lint`, `test` and `prove`, and the options that choose them. */
import { InvalidArgumentError, Option } from 'commander';
import { type Diagnostic, describeDiagnostic } from '../../base/diagnostics/diagnostic.ts';
import { type MutationReport, mutantText, survivorText } from '../../workbench/mutation/report.ts';
import { failureText, percentText } from '../../workbench/rule-tests/report.ts';
import type { TestFailure, TestResult } from '../../workbench/rule-tests/run.ts';
import { usageFault } from '../exit.ts';
import { write } from '../output.ts';
import { writeWhole } from '../write-file.ts';
import {
  fails,
  fileName,
  GITHUB,
  HUMAN,
  JSON_REPORTER,
  type LintReport,
  type Reporter,
  type TestReport,
} from './report.ts';

// Reports as JUnit XML, which CI systems read. `test`: a suite for each test file, a case for each test. `lint`: a suite for
// each edge file, a case for each finding, and one that passes for a file without findings. An attribute `time` is in seconds.

/** The outcome of a case: passed, not as expected, or not run. */
interface Problem {
  readonly kind: 'failure' | 'error';
  readonly type: string;
  readonly message: string;
  readonly text: string;
}

/** A case. */
interface Case {
  readonly name: string;
  readonly line: number | null;
  readonly seconds: number;
  readonly problems: readonly Problem[];
  /** A finding that fails nothing. */
  readonly output?: string;
}

/** A suite. */
interface Suite {
  /** Its file. */
  readonly name: string;
  readonly cases: readonly Case[];
}

export const JUNIT: Reporter = {
  lint(report: LintReport): string {
    const suites = report.inputs.map(({ name, findings }): Suite => {
      const none: Case = { name: 'no findings', line: null, seconds: 0, problems: [] };
      return {
        name: fileName(name),
        cases: findings.length === 0 ? [none] : findings.map((finding) => findingCase(finding, report)),
      };
    });
    return documentText('edgeplan lint', suites, report.seconds);
  },
  test(report: TestReport): string {
    const { results, mistakes, coverage, uncovered, mutation, unkilled, seconds } = report;
    const byFile = new Map<string, Case[]>();
    const add = (file: string, one: Case): void => {
      byFile.set(file, [...(byFile.get(file) ?? []), one]);
    };
    for (const mistake of mistakes) add(mistake.at?.file ?? 'edge.yaml', mistakeCase(mistake));
    for (const result of results) add(result.at.file, testCase(result));
    const suites = [...byFile].map(([file, cases]): Suite => ({ name: fileName(file), cases }));
    if (coverage !== null) {
      const problems = uncovered === null ? [] : [problem('coverage', uncovered)];
      suites.push({ name: 'coverage', cases: [{ name: 'coverage', line: null, seconds: 0, problems }] });
    }
    if (mutation !== null) suites.push(mutationSuite(mutation, unkilled));
    return documentText('edgeplan test', suites, seconds);
  },
};

/** A case for the score, and one that passes for each survivor: the score alone fails. */
function mutationSuite({ mutants, score }: MutationReport, unkilled: string | null): Suite {
  const problems = unkilled === null ? [] : [problem('mutation', unkilled)];
  const survivors = mutants.filter(({ judged }) => judged.outcome === 'survived');
  return {
    name: 'mutation',
    cases: [
      { name: `score ${percentText(score)}`, line: null, seconds: 0, problems },
      ...survivors.map((mutant): Case => {
        const line = mutant.at?.line ?? null;
        return { name: mutantText(mutant), line, seconds: 0, problems: [], output: survivorText(mutant) };
      }),
    ],
  };
}

/** The case of a finding; one below the threshold of `--fail-on` passes. */
function findingCase(finding: Diagnostic, report: LintReport): Case {
  const message = describeDiagnostic(finding);
  const line = finding.at?.line ?? null;
  const name = `${finding.severity}[${finding.code}] line ${line ?? 0}`;
  if (!fails(finding, report)) return { name, line, seconds: 0, problems: [], output: message };
  return { name, line, seconds: 0, problems: [problem(finding.code, message)] };
}

/** The case of an error because of which tests were not run. */
function mistakeCase(mistake: Diagnostic): Case {
  const message = describeDiagnostic(mistake);
  const one: Problem = { kind: 'error', type: mistake.code, message, text: message };
  return { name: mistake.code, line: mistake.at?.line ?? null, seconds: 0, problems: [one] };
}

function testCase({ name, at, failures, seconds }: TestResult): Case {
  return { name, line: at.line, seconds, problems: failures.map(failureOf) };
}

function failureOf(failure: TestFailure): Problem {
  const { what, expected, got } = failure;
  const message = `expected ${expected}, got ${got}`;
  return { kind: 'failure', type: what, message, text: failureText(failure) };
}

function problem(type: string, message: string): Problem {
  return { kind: 'failure', type, message, text: message };
}

/** The number of cases of some suites with a problem of a kind. */
function countOf(suites: readonly Suite[], kind: Problem['kind']): number {
  return suites.flatMap(({ cases }) => cases).filter(({ problems }) => problems[0]?.kind === kind).length;
}

/** The whole document. */
function documentText(name: string, suites: readonly Suite[], seconds: number): string {
  const tests = suites.reduce((sum, { cases }) => sum + cases.length, 0);
  const head = attributes({ name, tests, ...countsOf(suites), time: timeText(seconds) });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${head}>\n${suites.map(suiteText).join('')}</testsuites>\n`;
}

function countsOf(suites: readonly Suite[]): { readonly failures: number; readonly errors: number } {
  return { failures: countOf(suites, 'failure'), errors: countOf(suites, 'error') };
}

function suiteText(suite: Suite): string {
  const { name, cases } = suite;
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  const head = attributes({
    name,
    tests: cases.length,
    ...countsOf([suite]),
    skipped: 0,
    time: timeText(seconds),
  });
  return `  <testsuite${head}>\n${cases.map((one) => caseText(one, name)).join('')}  </testsuite>\n`;
}

function caseText({ name, line, seconds, problems, output }: Case, file: string): string {
  const place = line === null ? { file } : { file, line };
  const head = attributes({ name, classname: file, ...place, time: timeText(seconds) });
  if (problems.length === 0 && output === undefined) return `    <testcase${head}/>\n`;
  // The schema of Jenkins allows one problem a case: further ones are in the text of the first.
  const [first] = problems;
  const text = problems.map((one) => one.text.trimEnd()).join('\n');
  const inside =
    first === undefined
      ? `<system-out>${xmlText(output ?? '')}</system-out>`
      : `<${first.kind}${attributes({ message: first.message, type: first.type })}>${xmlText(text)}</${first.kind}>`;
  return `    <testcase${head}>\n      ${inside}\n    </testcase>\n`;
}

/** Seconds with milliseconds, without an exponent. */
function timeText(seconds: number): string {
  return seconds.toFixed(3);
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) =>
        ` ${name}="${xmlText(String(value)).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`,
    )
    .join('');
}

/** Characters that XML 1.0 does not have, also not as references (section 2.2). */
const NOT_XML = /[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Escapes text; a character that XML does not have is written as JSON writes it. */
function xmlText(text: string): string {
  return text
    .replace(NOT_XML, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

/** All reporters by name. */
const REPORTERS = {
  human: HUMAN,
  json: JSON_REPORTER,
  junit: JUNIT,
  github: GITHUB,
} as const satisfies Readonly<Record<string, Reporter>>;

type ReporterName = keyof typeof REPORTERS;

/** A chosen reporter, and the file that it writes; `null`: stdout. */
export interface ChosenReporter {
  readonly name: ReporterName;
  readonly file: string | null;
}

/** Options of the commands that report. */
export interface ReporterFlags {
  readonly reporter?: readonly ChosenReporter[];
  /** The same as `--reporter json`. */
  readonly json?: boolean;
}

function isName(text: string): text is ReporterName {
  return Object.hasOwn(REPORTERS, text);
}

/** Parses `junit`, or `junit=report.xml` for a file. */
function readReporter(
  text: string,
  gathered: readonly ChosenReporter[] | undefined,
): readonly ChosenReporter[] {
  const [, name = '', file] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  if (!isName(name))
    throw new InvalidArgumentError(
      `write one of ${Object.keys(REPORTERS).join(', ')}, with =<file> to write a file.`,
    );
  if (file === '') throw new InvalidArgumentError(`\`${text}\` has no file after the =.`);
  return [...(gathered ?? []), { name, file: file ?? null }];
}

/** `--reporter` and `--json`. */
export function reporterOptions(format: string): readonly Option[] {
  return [
    new Option(
      '--reporter <name>',
      `${Object.keys(REPORTERS).join(', ')}; <name>=<file> writes a file; may be repeated`,
    ).argParser(readReporter),
    new Option('--json', `print one JSON document (${format}), as --reporter json does`),
  ];
}

/** The chosen reporters; people's, unless others are chosen. @throws CommandFault when two print to stdout */
export function chosenReporters({ reporter = [], json }: ReporterFlags): readonly ChosenReporter[] {
  const chosen: readonly ChosenReporter[] = [
    ...reporter,
    ...(json === true ? [{ name: 'json', file: null } as const] : []),
  ];
  const printed = chosen.filter(({ file }) => file === null);
  if (printed.length > 1)
    throw usageFault(
      `the reporters ${printed.map(({ name }) => name).join(' and ')} both print to stdout`,
      `give one of them a file: --reporter ${printed[1]!.name}=<file>`,
    );
  const files = chosen.map(({ file }) => file).filter((file) => file !== null);
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined) throw usageFault(`two reporters write \`${twice}\``);
  return printed.length === 0 ? [{ name: 'human', file: null }, ...chosen] : chosen;
}

/** Whether the report on stdout is the one for people. */
export function isForPeople(chosen: readonly ChosenReporter[]): boolean {
  return chosen.some(({ name, file }) => name === 'human' && file === null);
}

/** Writes the report of each chosen reporter. `textOf` makes the text; files get no colours. */
export async function writeReports(
  chosen: readonly ChosenReporter[],
  textOf: (reporter: Reporter, toFile: boolean) => string,
): Promise<void> {
  for (const { name, file } of chosen) {
    const text = textOf(REPORTERS[name], file !== null);
    if (file === null) await write(text);
    else await writeWhole(file, Buffer.from(text));
  }
}
