/** `edgeplan test`: runs the tests of an edge file against the plan it compiles to. */
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
import { colourOption, edgeFileOption, signatureOptions } from '../options.ts';
import { colourFor, note, write } from '../output.ts';
import { diagnosticsText, tally } from '../print/diagnostics.ts';

interface Flags extends ChoiceFlags {
  readonly file: string;
  readonly json?: boolean;
  readonly filter?: string;
  readonly coverage?: boolean;
  readonly failUnder?: number;
}

/** What the tests are about: rules, their names, and the plan they compile to. */
interface Subject {
  readonly ruleSet: RuleSet;
  readonly sources: EdgeSources;
  readonly names: RuleNames;
  readonly bytes: Uint8Array;
}

/** Texts of the files read so far, for printing diagnostics with their lines. */
type Texts = Map<string, string>;

const LENIENT = new TextDecoder('utf-8');

function complainAbout(
  diagnostics: readonly Diagnostic[],
  { texts, flags }: { texts: Texts; flags: Flags },
): void {
  if (diagnostics.length === 0) return;
  process.stderr.write(
    diagnosticsText(diagnostics, { colour: colourFor(process.stderr, flags.color), texts }),
  );
}

async function readSubject(flags: Flags, texts: Texts): Promise<Subject> {
  const compiled = await compileFile(flags.file, flags.color);
  for (const [name, text] of compiled.texts) texts.set(name, text);
  complainAbout(compiled.diagnostics, { texts, flags });
  const { ruleSet, sources, bytes } = compiled;
  return { ruleSet, sources, names: nameRules(ruleSet, sources), bytes };
}

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
  complainAbout(diagnostics, { texts, flags });
  if (hasErrors(diagnostics)) throw inputFault(`the tests cannot be read: ${tally(diagnostics)}`);
  return tests;
}

/** `shop/edge.yaml` is tested by `shop/edge.test.yaml`. */
function testsBeside(file: string): string {
  if (file === '-') throw usageFault('an edge file from stdin has no tests beside it', 'name the test files');
  return `${file.replace(/\.(ya?ml|json)$/, '')}.test.yaml`;
}

function prepare(
  tests: readonly RuleTest[],
  subject: Subject,
  about: { texts: Texts; flags: Flags },
): readonly ReadyTest[] {
  const { filter } = about.flags;
  const wanted =
    filter === undefined
      ? tests
      : tests.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  if (wanted.length === 0) {
    const why = tests.length === 0 ? 'there are no tests' : `no test has \`${filter}\` in its name`;
    throw usageFault(why, 'nothing was checked');
  }
  const prepared = prepareTests(wanted, subject);
  complainAbout(prepared.diagnostics, about);
  if (hasErrors(prepared.diagnostics))
    throw inputFault(`the tests cannot be run: ${tally(prepared.diagnostics)}`);
  return prepared.tests;
}

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

async function run(files: readonly string[], flags: Flags): Promise<void> {
  const texts: Texts = new Map();
  const subject = await readSubject(flags, texts);
  const tests = await readTests(files.length === 0 ? [testsBeside(flags.file)] : files, flags, texts);
  const ready = prepare(tests, subject, { texts, flags });
  const coverage = createCoverage(subject);
  const signatures = await signaturesFor(subject.bytes, flags);
  const results = runTests(ready, { ...subject, coverage, waf: signatures?.waf ?? null });
  const report = flags.coverage === true || flags.failUnder !== undefined ? coverage.report() : null;
  await print(results, report, flags);
  const short = report !== null && flags.failUnder !== undefined && report.percent < flags.failUnder;
  if (short)
    note(
      `edgeplan: coverage is ${percentText(report.percent)}, below the ${flags.failUnder} % that was asked for`,
    );
  if (short || results.some((result) => !result.passed)) process.exitCode = EXIT.no;
}

function readPercent(text: string): number {
  const percent = Number(text);
  if (!/^\d{1,3}(\.\d+)?$/.test(text) || percent > 100)
    throw new InvalidArgumentError('write a percentage from 0 to 100.');
  return percent;
}

/** The command, to be added to a program. */
export function testCommand(): Command {
  const command = new Command('test')
    .description('Run requests against an edge file and check what each gets.')
    .argument('[files...]', 'test files (default: edge.test.yaml beside edge.yaml)')
    .addOption(edgeFileOption());
  return signatureOptions(command)
    .option('--filter <text>', 'only tests with this in their name')
    .option('--coverage', 'tell which rules and list entries no test has reached')
    .option('--fail-under <percent>', 'fail when coverage is lower', readPercent)
    .option('--json', 'print one JSON document')
    .addOption(colourOption())
    .addHelpText('after', '\nExits with 1 when a test fails or coverage is too low.')
    .action(run);
}
