/** `edgeplan lint`: reports rules of an edge file that very likely do something else than intended. */
import { performance } from 'node:perf_hooks';
import { Command, Option } from 'commander';
import { readEdgeBytes } from '../../rules/files/edge-file.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { type CommandFault, EXIT, inputFault, usageFault } from '../exit.ts';
import { domainFiles, edgePaths } from '../input/domain-files.ts';
import { lintEdge } from '../input/lint-edge.ts';
import { readEdge, textsOf } from '../input/open-subject.ts';
import { watchOption, watchRuns } from '../long-runs.ts';
import { type ChoiceFlags, signaturePaths } from '../open-signatures.ts';
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

/** What lint found in an edge file. */
interface Linted extends LintedInput {
  /** The number of rules; `null`: the file does not compile. */
  readonly rules: number | null;
}

/** Lints one edge file. @throws CommandFault when it cannot be read */
async function lintFile(file: string, flags: Flags, texts: Map<string, string>): Promise<Linted> {
  const input = await readEdge(file);
  const read = readEdgeBytes(input.octets, file, input.parts);
  for (const [name, text] of textsOf({ ...input, name: file })) texts.set(name, text);
  // Lint needs a rule set, so a file with errors ends here.
  if (!read.ok) return { name: file, findings: read.diagnostics, rules: null };
  return { name: file, findings: await lintEdge(read, flags), rules: read.ruleSet.rules.length };
}

/** Lints once, or after each change too. */
async function run(flags: Flags, { args: [operand] }: Command): Promise<void> {
  if (operand !== undefined) {
    throw usageFault(`\`${operand}\` has no option`, `name the file with -f: edgeplan lint -f ${operand}`);
  }
  if (flags.watch !== true) return lint(flags);
  await watchRuns({
    paths: () => [...edgePaths(flags.file), ...signaturePaths(flags)],
    run: () => lint(flags),
  });
}

/** Reads the file, lints it, and sets the exit code. */
async function lint(flags: Flags): Promise<void> {
  const reporters = chosenReporters(flags);
  const started = performance.now();
  const texts = new Map<string, string>();
  const { file, failOn, color } = flags;
  const inputs: Linted[] = [];
  for (const one of domainFiles(file)) inputs.push(await lintFile(one, flags, texts));
  // From the given severity up.
  const failing = THRESHOLDS.slice(THRESHOLDS.indexOf(failOn));
  const seconds = (performance.now() - started) / 1000;
  await writeReports(reporters, (reporter, toFile) => {
    const colour = !toFile && colourFor(process.stdout, color);
    return reporter.lint({ file, inputs, texts, failing, seconds, colour });
  });
  const findings = inputs.flatMap((input) => input.findings);
  for (const input of inputs) if (isForPeople(reporters)) noteOutcome(input, { several: inputs.length > 1 });
  const [broken, ...others] = inputs.filter(({ rules }) => rules === null);
  if (broken !== undefined && others.length === 0) throw notCompiled(broken);
  if (broken !== undefined)
    throw inputFault(`${others.length + 1} of ${inputs.length} domains do not compile`);
  if (findings.some(({ severity }) => failing.includes(severity))) process.exitCode = EXIT.no;
}

/** Notes that a file has no findings. */
function noteOutcome({ rules, findings, name }: Linted, { several }: { readonly several: boolean }): void {
  if (rules === null || findings.length > 0) return;
  note(`${several ? `${name}: ` : ''}${quantity(rules, 'rule')}, no findings`);
}

function notCompiled({ name, findings }: Linted): CommandFault {
  return inputFault(`\`${name}\` does not compile: ${tally(findings)}`);
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  lint: [
    'edgeplan lint',
    'edgeplan lint -f shop/edge.yaml --fail-on error --json',
    'edgeplan lint --reporter github',
  ],
};

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
  return withExamples(command.addOption(watchOption()).addOption(colourOption()).action(run), EXAMPLES);
}
