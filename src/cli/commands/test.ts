/** `edgeplan test`: runs the tests of an edge file against its compiled plan. */
import { Command, InvalidArgumentError } from 'commander';
import { type Diagnostic, hasErrors } from '../../base/diagnostic.ts';
import type { EdgeSources } from '../../files/edge-file.ts';
import { type RuleTest, readTestBytes } from '../../files/test-file.ts';
import type { RuleSet } from '../../model/types.ts';
import { paint } from '../../simulator/paint.ts';
import { type CoverageReport, createCoverage } from '../../simulator/rule-tests/coverage.ts';
import { nameRules, type RuleNames } from '../../simulator/rule-tests/names.ts';
import { prepareTests, type ReadyTest } from '../../simulator/rule-tests/prepare.ts';
import {
  coverageLines,
  percentText,
  reportDocument,
  resultLines,
  summaryLine,
  tallyOf,
} from '../../simulator/rule-tests/report.ts';
import { runTests, type TestResult } from '../../simulator/rule-tests/run.ts';
import { EXIT, inputFault, usageFault } from '../exit.ts';
import { type ChoiceFlags, signaturesFor } from '../input/choose-signatures.ts';
import { compileFile } from '../input/open-subject.ts';
import { readBytes } from '../input/read-file.ts';
import { testsBeside } from '../input/tests-beside.ts';
import { colourOption, edgeFileOption, signatureOptions } from '../options.ts';
import { colourFor, note, write } from '../output.ts';
import { diagnosticsText, tally } from '../print/diagnostics.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ChoiceFlags {
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** Prints JSON. */
  readonly json?: boolean;
  /** Runs only tests whose name contains this text, ignoring case. */
  readonly filter?: string;
  /** Reports coverage. */
  readonly coverage?: boolean;
  /** The lowest coverage in percent that passes. */
  readonly failUnder?: number;
}

/** What is tested: rules, their names, and the compiled plan. */
interface Subject {
  readonly ruleSet: RuleSet;
  readonly sources: EdgeSources;
  readonly names: RuleNames;
  readonly bytes: Uint8Array;
}

/** Texts of the files read so far by name, to print diagnostics with source lines. */
type Texts = Map<string, string>;

/** Decodes source lines; invalid octets become U+FFFD. */
const LENIENT = new TextDecoder('utf-8');

/** Prints diagnostics on stderr. */
function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  { texts, flags }: { texts: Texts; flags: Flags },
): void {
  if (diagnostics.length === 0) return;
  process.stderr.write(
    diagnosticsText(diagnostics, { colour: colourFor(process.stderr, flags.color), texts }),
  );
}

/** Reads and compiles the edge file. */
async function readSubject(flags: Flags, texts: Texts): Promise<Subject> {
  const compiled = await compileFile(flags.file, flags.color);
  for (const [name, text] of compiled.texts) texts.set(name, text);
  printDiagnostics(compiled.diagnostics, { texts, flags });
  const { ruleSet, sources, bytes } = compiled;
  return { ruleSet, sources, names: nameRules(ruleSet, sources), bytes };
}

/** Reads the test files. @throws CommandFault with exit code 3 */
async function readTests(names: readonly string[], flags: Flags, texts: Texts): Promise<readonly RuleTest[]> {
  const tests: RuleTest[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const name of names) {
    const octets = await readBytes(name);
    texts.set(name, LENIENT.decode(octets));
    const read = readTestBytes(octets, name);
    tests.push(...read.tests);
    diagnostics.push(...read.diagnostics);
  }
  printDiagnostics(diagnostics, { texts, flags });
  if (hasErrors(diagnostics)) {
    const edge = names.find((name) => isEdgeFile(texts.get(name) ?? ''));
    const remedy = `\`${edge}\` is an edge file; write: edgeplan test -f ${edge}`;
    throw inputFault(`the tests cannot be read: ${tally(diagnostics)}`, edge === undefined ? {} : { remedy });
  }
  return tests;
}

/** Whether a text is an edge file in place of tests. */
function isEdgeFile(text: string): boolean {
  return /^domain:/m.test(text) && !/^tests:/m.test(text);
}

/** The test files: those named, else the one beside the edge file. @throws CommandFault for stdin */
function testFiles(named: readonly string[], file: string): readonly string[] {
  if (named.length > 0) return named;
  if (file === '-') throw usageFault('an edge file from stdin has no tests beside it', 'name the test files');
  return [testsBeside(file)];
}

/** Selects and prepares the tests. @throws CommandFault when none is left or one is invalid */
function prepare(
  tests: readonly RuleTest[],
  subject: Subject,
  about: { texts: Texts; flags: Flags },
): readonly ReadyTest[] {
  const { filter } = about.flags;
  const selected =
    filter === undefined
      ? tests
      : tests.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  if (selected.length === 0) {
    const why = tests.length === 0 ? 'there are no tests' : `no test has \`${filter}\` in its name`;
    throw usageFault(why, 'nothing was checked');
  }
  const prepared = prepareTests(selected, subject);
  printDiagnostics(prepared.diagnostics, about);
  if (hasErrors(prepared.diagnostics))
    throw inputFault(`the tests cannot be run: ${tally(prepared.diagnostics)}`);
  return prepared.tests;
}

/** Prints the results. */
async function print(
  results: readonly TestResult[],
  coverage: CoverageReport | null,
  flags: Flags,
): Promise<void> {
  if (flags.json === true) {
    await write(`${JSON.stringify(reportDocument(results, coverage), null, 2)}\n`);
    return;
  }
  const lines = [
    ...resultLines(results),
    [],
    summaryLine(tallyOf(results)),
    ...(coverage === null ? [] : coverageLines(coverage)),
  ];
  await write(paint(lines, colourFor(process.stdout, flags.color)));
}

/** Runs the tests and sets the exit code. */
async function run(files: readonly string[], flags: Flags): Promise<void> {
  const texts: Texts = new Map();
  const subject = await readSubject(flags, texts);
  const tests = await readTests(testFiles(files, flags.file), flags, texts);
  const ready = prepare(tests, subject, { texts, flags });
  // Collected in any case: tracing is needed for failures anyway.
  const coverage = createCoverage(subject);
  const signatures = await signaturesFor(subject.bytes, flags);
  const results = runTests(ready, { ...subject, coverage, waf: signatures?.waf ?? null });
  // --fail-under implies --coverage.
  const report = flags.coverage === true || flags.failUnder !== undefined ? coverage.report() : null;
  await print(results, report, flags);
  // Low coverage fails the command even if every test passes.
  const short = report !== null && flags.failUnder !== undefined && report.percent < flags.failUnder;
  if (short)
    note(
      `edgeplan: coverage is ${percentText(report.percent)}, below the ${flags.failUnder} % of --fail-under`,
    );
  if (short || results.some((result) => !result.passed)) process.exitCode = EXIT.no;
}

/** Parses `--fail-under`. */
function readPercent(text: string): number {
  const percent = Number(text);
  if (!/^\d{1,3}(\.\d+)?$/.test(text) || percent > 100)
    throw new InvalidArgumentError('write a percentage from 0 to 100.');
  return percent;
}

/** Creates the command. */
export function testCommand(): Command {
  const command = new Command('test')
    .description('Run requests against an edge file and check what each gets.')
    .argument('[files...]', 'test files (default: edge.test.yaml beside edge.yaml)')
    .addOption(edgeFileOption());
  return signatureOptions(command)
    .option('--filter <text>', 'only tests with this in their name')
    .option('--coverage', 'list rules and list entries that no test covers')
    .option('--fail-under <percent>', 'fail when coverage is lower', readPercent)
    .option('--json', 'print one JSON document (edgeplan.tests/v1)')
    .addOption(colourOption())
    .addHelpText('after', '\nExits with 1 when a test fails or coverage is too low.')
    .action(run);
}
