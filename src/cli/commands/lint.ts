/** `edgeplan lint`: reports rules of an edge file that very likely do something else than intended. */
import { performance } from 'node:perf_hooks';
import { Command, Option } from 'commander';
import { type LintSources, lintRuleSet } from '../../analysis/lint.ts';
import { type Diagnostic, formatPath } from '../../base/diagnostic.ts';
import { APPLICATION_HOST } from '../../base/vocabulary.ts';
import { type EdgeSources, readEdgeBytes } from '../../files/edge-file.ts';
import { byPlace, isMapping, readYamlBytes } from '../../files/yaml.ts';
import type { Rule, RuleSet } from '../../model/types.ts';
import { quantity } from '../../simulator/render-text.ts';
import { EXIT, inputFault, usageFault } from '../exit.ts';
import { type ChoiceFlags, signatureNames, signaturePaths } from '../input/choose-signatures.ts';
import { readEdgeOctets } from '../input/open-subject.ts';
import { colourOption, edgeFileOption, signatureOptions } from '../options.ts';
import { colourFor, note } from '../output.ts';
import { tally } from '../print/diagnostics.ts';
import type { LintedInput } from '../reporters/report.ts';
import {
  chosenReporters,
  isForPeople,
  type ReporterFlags,
  reporterOptions,
  writeReports,
} from '../reporters/reporters.ts';
import { watchOption, watchRuns } from '../watch-runs.ts';

/** The values of `--fail-on`, from the lowest severity. */
const THRESHOLDS = ['info', 'warning', 'error'] as const;

/** The options of the command, as commander parses them. */
interface Flags extends ChoiceFlags, ReporterFlags {
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** Runs again after changes. */
  readonly watch?: boolean;
  /** The lowest severity that causes exit code 1. */
  readonly failOn: (typeof THRESHOLDS)[number];
}

/** Decodes source lines; invalid octets become U+FFFD. */
const LENIENT = new TextDecoder('utf-8');

/** The places of rules in an edge file, and the fields that the author wrote. */
function sourcesOf(octets: Uint8Array, sources: EdgeSources): LintSources {
  const { value } = readYamlBytes(octets, sources.file);
  const written = isMapping(value) && Array.isArray(value['rules']) ? value['rules'] : [];
  const path = (rule: Rule) => ['rules', sources.rules.get(rule.id)?.index ?? 0];
  return {
    path,
    place: (rule, field) => sources.at([...path(rule), ...field]),
    written: (rule, field) => {
      const fields: unknown = written[sources.rules.get(rule.id)?.index ?? -1];
      return isMapping(fields) && Object.hasOwn(fields, field);
    },
  };
}

/** Removes duplicates: the reader of the file reports some of the same mistakes. */
function withoutRepeats(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ code, path }) => {
    const key = `${code} ${formatPath(path)}`;
    const repeated = seen.has(key);
    seen.add(key);
    return !repeated;
  });
}

/** A note for each record that the embedding application answers. */
function applicationNotes({ records }: RuleSet, sources: EdgeSources): readonly Diagnostic[] {
  return records
    .filter(({ destination }) => destination === APPLICATION_HOST)
    .map(({ id }) => {
      const path = ['records', sources.records.get(id)?.index ?? 0];
      const message = 'is answered by the application that embeds the edge: it has no `destination`';
      return { code: 'application_record', severity: 'info', path, message, at: sources.at(path) };
    });
}

/** What lint found in an edge file. */
interface Linted extends LintedInput {
  /** The number of rules; `null`: the file does not compile. */
  readonly rules: number | null;
}

/** Lints one edge file. @throws CommandFault when it cannot be read */
async function lintFile(file: string, flags: Flags, texts: Map<string, string>): Promise<Linted> {
  const octets = await readEdgeOctets(file);
  const read = readEdgeBytes(octets, file);
  texts.set(file, LENIENT.decode(octets));
  // Lint needs a rule set, so a file with errors ends here.
  if (!read.ok) return { name: file, findings: read.diagnostics, rules: null };
  const signatures = await signatureNames(read.ruleSet, flags);
  const found = lintRuleSet(read.ruleSet, sourcesOf(octets, read.sources), { signatures });
  const reported = [...read.diagnostics, ...found, ...applicationNotes(read.ruleSet, read.sources)];
  const findings = [...withoutRepeats(reported)].sort(byPlace);
  return { name: file, findings, rules: read.ruleSet.rules.length };
}

/** Lints once, or after each change too. */
async function run(flags: Flags, { args: [operand] }: Command): Promise<void> {
  if (operand !== undefined) {
    throw usageFault(`\`${operand}\` has no option`, `name the file with -f: edgeplan lint -f ${operand}`);
  }
  if (flags.watch !== true) return lint(flags);
  await watchRuns({ paths: () => [flags.file, ...signaturePaths(flags)], run: () => lint(flags) });
}

/** Reads the file, lints it, and sets the exit code. */
async function lint(flags: Flags): Promise<void> {
  const reporters = chosenReporters(flags);
  const started = performance.now();
  const texts = new Map<string, string>();
  const { file, failOn, color } = flags;
  const linted = await lintFile(file, flags, texts);
  // From the given severity up.
  const failing = THRESHOLDS.slice(THRESHOLDS.indexOf(failOn));
  const seconds = (performance.now() - started) / 1000;
  await writeReports(reporters, (reporter, toFile) => {
    const colour = !toFile && colourFor(process.stdout, color);
    return reporter.lint({ file, inputs: [linted], texts, failing, seconds, colour });
  });
  const { findings, rules } = linted;
  if (rules === null) throw inputFault(`\`${file}\` does not compile: ${tally(findings)}`);
  if (findings.length === 0 && isForPeople(reporters)) note(`${quantity(rules, 'rule')}, no findings`);
  if (findings.some(({ severity }) => failing.includes(severity))) process.exitCode = EXIT.no;
}

/** Creates the command. */
export function lintCommand(): Command {
  const command = new Command('lint')
    .description('Report rules that very likely do something else than intended.')
    // `lint edge.yaml` is refused with its remedy.
    .allowExcessArguments()
    .addOption(edgeFileOption());
  signatureOptions(command).addOption(
    new Option('--fail-on <severity>', 'exit with 1 from this severity on')
      .choices(THRESHOLDS)
      .default('warning'),
  );
  for (const option of reporterOptions('edgeplan.findings/v1')) command.addOption(option);
  return command.addOption(watchOption()).addOption(colourOption()).action(run);
}
