/** `edgeplan test`: runs the tests of an edge file against its compiled plan. */
import { existsSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Diagnostic, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import type { EdgeSources } from '../../rules/files/edge-file.ts';
import type { RuleTest } from '../../rules/files/test-file.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { type MutantResult, type MutationSubject, startMutation } from '../../workbench/mutation/mutate.ts';
import { type MutationReport, mutationReport, sumOfMutations } from '../../workbench/mutation/report.ts';
import { type CoverageReport, createCoverage, sumOfCoverage } from '../../workbench/rule-tests/coverage.ts';
import { nameRules, type RuleNames } from '../../workbench/rule-tests/names.ts';
import { prepareTests, type ReadyTest } from '../../workbench/rule-tests/prepare.ts';
import { percentText } from '../../workbench/rule-tests/report.ts';
import { proveWritten, runTests, type TestResult } from '../../workbench/rule-tests/run.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { DiagnosedFault, EXIT, usageFault } from '../exit.ts';
import {
  domainFiles,
  edgePaths,
  isFolder,
  printDiagnostics,
  readTests,
  type TestsOfFiles,
  type Texts,
  testFiles,
  testsBeside,
} from '../input/domain-files.ts';
import { compileFile } from '../input/open-subject.ts';
import { watchOption, watchRuns } from '../long-runs.ts';
import { type ChoiceFlags, signaturePaths, signaturesFor } from '../open-signatures.ts';
import { colourOption, edgeFileOption, signatureOptions } from '../options.ts';
import { colourFor, note, noteFault } from '../output.ts';
import { tally } from '../print/diagnostics.ts';
import { barText, createProgressLine } from '../print/progress-line.ts';
import { grouped } from '../print/table.ts';
import type { TestReport } from '../reporters/report.ts';
import {
  chosenReporters,
  type ReporterFlags,
  reporterOptions,
  writeReports,
} from '../reporters/reporters.ts';

/** Mutants that are tried; of more, a selection that a seed fixes. 200 rules make about 2,000; 1,000 take a minute or two. */
const MAX_MUTANTS = 1_000;

/** The options of the command, as commander parses them. */
interface Flags extends ChoiceFlags, ReporterFlags, MutationFlags {
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** Runs again after changes. */
  readonly watch?: boolean;
  /** Runs only tests whose name contains this text, ignoring case. */
  readonly filter?: string;
  /** Reports coverage. */
  readonly coverage?: boolean;
  /** The lowest coverage in percent that passes. */
  readonly failUnder?: number;
  /** Only invariants are checked, and no test is run. */
  readonly onlyInvariants?: boolean;
}

/** What is tested: rules, their names, and the compiled plan. */
interface Subject {
  readonly ruleSet: RuleSet;
  readonly sources: EdgeSources;
  readonly names: RuleNames;
  readonly bytes: Uint8Array;
}

/** Reads and compiles the edge file. */
async function readSubject(flags: Flags, texts: Texts): Promise<Subject> {
  const compiled = await compileFile(flags.file, flags.color);
  for (const [name, text] of compiled.texts) texts.set(name, text);
  printDiagnostics(compiled.diagnostics, { texts, colour: flags.color });
  const { ruleSet, sources, bytes } = compiled;
  return { ruleSet, sources, names: nameRules(ruleSet, sources), bytes };
}

/** Those with the text of `--filter` in their names. @throws CommandFault when none is left */
function select(
  { tests, invariants }: TestsOfFiles,
  { filter, onlyInvariants = false }: Flags,
): TestsOfFiles {
  const isMeant = (name: string): boolean =>
    filter === undefined || name.toLowerCase().includes(filter.toLowerCase());
  const selected: TestsOfFiles = {
    tests: onlyInvariants ? [] : tests.filter(({ name }) => isMeant(name)),
    invariants: invariants.filter(({ invariant }) => isMeant(invariant.name)),
  };
  if (selected.tests.length + selected.invariants.length > 0) return selected;
  const what = onlyInvariants ? 'invariant' : 'test';
  const isEmpty = invariants.length + (onlyInvariants ? 0 : tests.length) === 0;
  throw usageFault(
    isEmpty ? `there are no ${what}s` : `no ${what} has \`${filter}\` in its name`,
    onlyInvariants && isEmpty ? 'write `invariants:` into the test file' : 'nothing was checked',
  );
}

/** Prepares tests. @throws CommandFault when one is invalid */
function prepare(
  tests: readonly RuleTest[],
  subject: Subject,
  about: { texts: Texts; flags: Flags },
): readonly ReadyTest[] {
  const prepared = prepareTests(tests, subject);
  printDiagnostics(prepared.diagnostics, { texts: about.texts, colour: about.flags.color });
  if (hasErrors(prepared.diagnostics))
    throw new DiagnosedFault(`the tests cannot be run: ${tally(prepared.diagnostics)}`, prepared.diagnostics);
  return prepared.tests;
}

/** The results of a run, and of its coverage and mutants where they are asked for. */
interface Tested extends Pick<TestReport, 'results' | 'coverage' | 'uncovered' | 'mutation' | 'unkilled'> {
  /** The first domain of a tree whose tests cannot be run; the others are. */
  readonly fault: DiagnosedFault | null;
  readonly mistakes: readonly Diagnostic[];
}

/** Reads the tests of an edge file and runs them. @throws CommandFault */
async function runDomain(files: readonly string[], flags: Flags, texts: Texts): Promise<Tested> {
  const subject = await readSubject(flags, texts);
  const selected = select(
    await readTests(testFiles(files, flags.file), { texts, colour: flags.color }),
    flags,
  );
  const ready = prepare(selected.tests, subject, { texts, flags });
  // Collected in any case: tracing is needed for failures anyway.
  const coverage = createCoverage(subject);
  const signatures = await signaturesFor(subject.bytes, flags);
  const waf = signatures?.waf ?? null;
  const stopwatch = (): number => performance.now();
  const results = [
    ...runTests(ready, { ...subject, coverage, waf, stopwatch }),
    ...proveWritten(subject.ruleSet, selected.invariants, stopwatch),
  ];
  // --fail-under implies --coverage.
  const report = flags.coverage === true || flags.failUnder !== undefined ? coverage.report() : null;
  const mutation = mutationOf({ ...subject, tests: ready, waf }, results, flags);
  return {
    results,
    coverage: report,
    uncovered: uncoveredText(report, flags),
    mutation,
    unkilled: lowScoreText(mutation, flags),
    fault: null,
    mistakes: [],
  };
}

/** The mutation run; `null`: it is not wanted, or tests fail, which then kill every mutant. */
function mutationOf(
  subject: Parameters<typeof runMutation>[0],
  results: readonly TestResult[],
  flags: Flags,
): MutationReport | null {
  if (!wantsMutation(flags)) return null;
  const failed = results.filter(({ passed, claim }) => !passed && claim === null).length;
  if (failed === 0) return runMutation(subject, flags);
  note(`edgeplan: no mutants are tried, since ${quantity(failed, 'test')} fail without any`);
  return null;
}

/** Runs the tests of every domain of a tree; one that has none is left out. @throws CommandFault */
async function runTree(flags: Flags, texts: Texts): Promise<Tested> {
  const files = domainFiles(flags.file);
  const tested = files.filter((file) => existsSync(testsBeside(file)));
  if (tested.length === 0)
    throw usageFault(`no domain in \`${flags.file}\` has tests`, 'nothing was checked');
  const parts: Tested[] = [];
  const faults: DiagnosedFault[] = [];
  for (const file of tested) {
    try {
      parts.push(await runDomain([], { ...flags, file }, texts));
    } catch (error) {
      if (!(error instanceof DiagnosedFault)) throw error;
      noteFault(error);
      faults.push(error);
    }
  }
  const untested = files.length - tested.length;
  if (untested > 0) note(`${quantity(untested, 'domain')} of ${files.length} without tests`);
  const reports = parts.map(({ coverage }) => coverage).filter((coverage) => coverage !== null);
  const coverage = reports.length === 0 ? null : sumOfCoverage(reports);
  const results = parts.flatMap((part) => part.results);
  const mutations = parts.map(({ mutation }) => mutation).filter((mutation) => mutation !== null);
  const mutation = mutations.length === 0 ? null : sumOfMutations(mutations);
  const [first] = faults;
  const fault =
    first === undefined
      ? null
      : new DiagnosedFault(
          `${faults.length} of ${tested.length} domains cannot be tested`,
          first.diagnostics,
        );
  const mistakes = faults.flatMap(({ diagnostics }) => errorsOf(diagnostics));
  return {
    results,
    coverage,
    uncovered: uncoveredText(coverage, flags),
    mutation,
    unkilled: lowScoreText(mutation, flags),
    fault,
    mistakes,
  };
}

/** The errors among diagnostics. */
function errorsOf(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error');
}

/** Low coverage fails the command even if every test passes. */
function uncoveredText(report: CoverageReport | null, { failUnder }: Flags): string | null {
  if (report === null || failUnder === undefined || report.percent >= failUnder) return null;
  return `coverage is ${percentText(report.percent)}, below the ${failUnder} % of --fail-under`;
}

/** Runs the tests once, or after each change too. */
export async function runTestFiles(files: readonly string[], flags: Flags): Promise<void> {
  if (flags.watch !== true) return test(files, flags);
  const tests = () => domainFiles(flags.file).flatMap((file) => testFiles(files, file));
  const paths = () => [...edgePaths(flags.file), ...tests(), ...signaturePaths(flags)];
  await watchRuns({ paths, run: () => test(files, flags) });
}

/** Runs the tests, reports, and sets the exit code. */
async function test(files: readonly string[], flags: Flags): Promise<void> {
  if (files.length > 0 && isFolder(flags.file))
    throw usageFault('test files are for one domain; -f names a folder', 'name the edge file of the domain');
  const reporters = chosenReporters(flags);
  const started = performance.now();
  const texts: Texts = new Map();
  const report = (tested: Omit<Tested, 'fault'>): Promise<void> => {
    const seconds = (performance.now() - started) / 1000;
    return writeReports(reporters, (reporter, toFile) => {
      const colour = !toFile && colourFor(process.stdout, flags.color);
      return reporter.test({ ...tested, texts, seconds, colour });
    });
  };
  let tested: Tested;
  try {
    tested = await (isFolder(flags.file) ? runTree(flags, texts) : runDomain(files, flags, texts));
  } catch (error) {
    if (error instanceof DiagnosedFault) {
      const mistakes = errorsOf(error.diagnostics);
      await report({
        results: [],
        mistakes,
        coverage: null,
        uncovered: null,
        mutation: null,
        unkilled: null,
      });
    }
    throw error;
  }
  await report(tested);
  const { results, uncovered, unkilled, fault } = tested;
  if (fault !== null) throw fault;
  const short = [uncovered, unkilled].filter((text) => text !== null);
  for (const text of short) note(`edgeplan: ${text}`);
  if (short.length > 0 || results.some((result) => !result.passed)) process.exitCode = EXIT.no;
}

/** Parses `--fail-under`. */
function readPercent(text: string): number {
  const percent = Number(text);
  if (!/^\d{1,3}(\.\d+)?$/.test(text) || percent > 100)
    throw new InvalidArgumentError('write a percentage from 0 to 100.');
  return percent;
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  test: [
    'edgeplan test',
    'edgeplan test --coverage --fail-under 90',
    'edgeplan test --filter embargo --json',
    'edgeplan test --watch',
    'edgeplan test --reporter human --reporter junit=report.xml',
  ],
};

/** Creates the command. */
export function testCommand(): Command {
  const command = new Command('test')
    .description('Run requests against an edge file and check what each gets.')
    .argument('[files...]', 'test files (default: edge.test.yaml beside edge.yaml)')
    .addOption(edgeFileOption());
  signatureOptions(command)
    .option('--filter <text>', 'only tests with this in their name')
    .option('--coverage', 'list rules, list entries and regions beside rules that no test covers')
    .option('--fail-under <percent>', 'fail when the coverage of rules and entries is lower', readPercent);
  for (const option of mutationOptions(readPercent)) command.addOption(option);
  for (const option of reporterOptions('edgeplan.tests/v1')) command.addOption(option);
  command
    .addOption(watchOption())
    .addOption(colourOption())
    .addHelpText(
      'after',
      '\nExits with 1 when a test fails, or when coverage or the mutation score is too low.',
    )
    .action(runTestFiles);
  return withExamples(command, EXAMPLES);
}

// `edgeplan test --mutate`: its options, and the run with its progress on a terminal.

/** The options, as commander parses them. */
interface MutationFlags {
  readonly mutate?: boolean;
  /** The lowest score in percent that passes; implies `mutate`. */
  readonly mutateMin?: number;
  readonly mutateMost: number;
  readonly mutateSeed: number;
}

/** What is mutated, with the places of its rules. */
interface MutatedRules extends MutationSubject {
  readonly sources: EdgeSources;
}

/** The options of the command; `readPercent` parses a percentage. */
function mutationOptions(readPercent: (text: string) => number): readonly Option[] {
  return [
    new Option('--mutate', 'make small mistakes in the rules, and list those that no test notices'),
    new Option(
      '--mutate-min <percent>',
      'fail when the tests notice fewer of the mistakes; implies --mutate',
    ).argParser(readPercent),
    new Option('--mutate-most <count>', 'mistakes that are tried; of more, a selection')
      .argParser(readCount)
      .default(MAX_MUTANTS),
    new Option('--mutate-seed <number>', 'the seed of the selection').argParser(readSeed).default(1),
  ];
}

function readCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,6}$/.test(text) || count === 0) throw new InvalidArgumentError('write a number from 1.');
  return count;
}

function readSeed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('write a whole number of at most 9 digits.');
  return Number(text);
}

/** Whether mutants are wanted. */
function wantsMutation({ mutate, mutateMin }: MutationFlags): boolean {
  return mutate === true || mutateMin !== undefined;
}

/** Tries all mutants. */
function runMutation(rules: MutatedRules, flags: MutationFlags): MutationReport {
  const seed = flags.mutateSeed;
  const run = startMutation(rules, { most: flags.mutateMost, seed });
  const results: MutantResult[] = [];
  const progress = createProgressLine(process.stderr.isTTY === true);
  for (const result of run.results) {
    results.push(result);
    progress.draw(
      () =>
        `${barText(results.length, run.count)}  ${grouped(results.length)} of ${grouped(run.count)} mutants`,
    );
  }
  progress.clear();
  return mutationReport(results, run, { ...rules, seed });
}

/** Why the score fails the command; `null`: it does not. */
function lowScoreText(report: MutationReport | null, { mutateMin }: MutationFlags): string | null {
  if (report === null || mutateMin === undefined || report.score >= mutateMin) return null;
  return `the mutation score is ${percentText(report.score)}, below the ${mutateMin} % of --mutate-min`;
}
