/** `edgeplan lint`: reports rules of an edge file that very likely do something else than intended. */
import { Command, Option } from 'commander';
import { type LintSources, lintRuleSet } from '../../analysis/lint.ts';
import { type Diagnostic, diagnosticFields, formatPath } from '../../base/diagnostic.ts';
import { APPLICATION_HOST } from '../../base/vocabulary.ts';
import { type EdgeSources, readEdgeBytes } from '../../files/edge-file.ts';
import { byPlace, isMapping, readYamlBytes } from '../../files/yaml.ts';
import type { Rule, RuleSet } from '../../model/types.ts';
import { quantity } from '../../simulator/render-text.ts';
import { EXIT, inputFault, usageFault } from '../exit.ts';
import { type ChoiceFlags, signatureNames } from '../input/choose-signatures.ts';
import { readEdgeOctets } from '../input/open-subject.ts';
import { colourOption, edgeFileOption, signatureOptions } from '../options.ts';
import { colourFor, note, write, writeDocument } from '../output.ts';
import { diagnosticsText, tally } from '../print/diagnostics.ts';

/** The values of `--fail-on`, from the lowest severity. */
const THRESHOLDS = ['info', 'warning', 'error'] as const;

/** The options of the command, as commander parses them. */
interface Flags extends ChoiceFlags {
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** Prints JSON. */
  readonly json?: boolean;
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

/** A diagnostic as `GET /domains/{domain}/analysis` returns it, with its place in the file. */
function findingOf(diagnostic: Diagnostic): object {
  const { at } = diagnostic;
  const place = at === undefined ? null : { file: at.file, line: at.line, column: at.column };
  return { ...diagnosticFields(diagnostic), at: place };
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

/** Prints diagnostics as text or JSON. */
async function print(diagnostics: readonly Diagnostic[], text: string, flags: Flags): Promise<void> {
  if (flags.json === true) {
    await writeDocument('findings', { file: flags.file, findings: diagnostics.map(findingOf) });
    return;
  }
  const options = { colour: colourFor(process.stdout, flags.color), texts: new Map([[flags.file, text]]) };
  await write(diagnosticsText(diagnostics, options));
}

/** Reads the file, lints it, and sets the exit code. */
async function run(flags: Flags, { args: [operand] }: Command): Promise<void> {
  if (operand !== undefined) {
    throw usageFault(`\`${operand}\` has no option`, `name the file with -f: edgeplan lint -f ${operand}`);
  }
  const octets = await readEdgeOctets(flags.file);
  const read = readEdgeBytes(octets, flags.file);
  const text = LENIENT.decode(octets);
  // Lint needs a rule set, so a file with errors ends here.
  if (!read.ok) {
    await print(read.diagnostics, text, flags);
    throw inputFault(`\`${flags.file}\` does not compile: ${tally(read.diagnostics)}`);
  }
  const signatures = await signatureNames(read.ruleSet, flags);
  const found = lintRuleSet(read.ruleSet, sourcesOf(octets, read.sources), { signatures });
  const reported = [...read.diagnostics, ...found, ...applicationNotes(read.ruleSet, read.sources)];
  const diagnostics = [...withoutRepeats(reported)].sort(byPlace);
  await print(diagnostics, text, flags);
  const count = read.ruleSet.rules.length;
  if (diagnostics.length === 0 && flags.json !== true) note(`${quantity(count, 'rule')}, no findings`);
  // From the given severity up.
  const failing = THRESHOLDS.slice(THRESHOLDS.indexOf(flags.failOn));
  if (diagnostics.some(({ severity }) => failing.includes(severity))) process.exitCode = EXIT.no;
}

/** Creates the command. */
export function lintCommand(): Command {
  const command = new Command('lint')
    .description('Report rules that very likely do something else than intended.')
    // `lint edge.yaml` is refused with its remedy.
    .allowExcessArguments()
    .addOption(edgeFileOption());
  return signatureOptions(command)
    .addOption(
      new Option('--fail-on <severity>', 'exit with 1 from this severity on')
        .choices(THRESHOLDS)
        .default('warning'),
    )
    .option('--json', 'print the findings as one JSON document (edgeplan.findings/v1)')
    .addOption(colourOption())
    .action(run);
}
