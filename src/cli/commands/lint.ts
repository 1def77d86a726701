/** `edgeplan lint`: what an edge file says that its author very likely does not mean. */

import { Command, Option } from 'commander';
import { type LintSources, lintRuleSet } from '../../analysis/lint.ts';
import { type Diagnostic, formatPath } from '../../base/diagnostic.ts';
import { type EdgeSources, readEdgeBytes } from '../../files/edge-file.ts';
import { byPlace, isMapping, readYamlBytes } from '../../files/yaml.ts';
import type { Rule } from '../../model/types.ts';
import { quantity } from '../../simulator/render-text.ts';
import { EXIT, inputFault } from '../exit.ts';
import { type ChoiceFlags, signatureNames } from '../input/choose-signatures.ts';
import { readEdgeOctets } from '../input/open-subject.ts';
import { colourOption, edgeFileOption, signatureOptions } from '../options.ts';
import { colourFor, note, write } from '../output.ts';
import { diagnosticsText, tally } from '../print/diagnostics.ts';

const THRESHOLDS = ['info', 'warning', 'error'] as const;

interface Flags extends ChoiceFlags {
  readonly file: string;
  readonly json?: boolean;
  readonly failOn: (typeof THRESHOLDS)[number];
}

const LENIENT = new TextDecoder('utf-8');

/** Where the rules of an edge file were written, and which fields their author wrote. */
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

/** The reader warns of some of the same things; each is told once. */
function withoutRepeats(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const told = new Set<string>();
  return diagnostics.filter(({ code, path }) => {
    const key = `${code} ${formatPath(path)}`;
    const repeated = told.has(key);
    told.add(key);
    return !repeated;
  });
}

async function print(diagnostics: readonly Diagnostic[], text: string, flags: Flags): Promise<void> {
  if (flags.json === true) {
    await write(`${JSON.stringify(diagnostics, null, 2)}\n`);
    return;
  }
  const options = { colour: colourFor(process.stdout, flags.color), texts: new Map([[flags.file, text]]) };
  await write(diagnosticsText(diagnostics, options));
}

async function run(flags: Flags): Promise<void> {
  const octets = await readEdgeOctets(flags.file);
  const read = readEdgeBytes(octets, flags.file);
  const text = LENIENT.decode(octets);
  if (!read.ok) {
    await print(read.diagnostics, text, flags);
    throw inputFault(`\`${flags.file}\` does not compile: ${tally(read.diagnostics)}`);
  }
  const signatures = await signatureNames(read.ruleSet, flags);
  const found = lintRuleSet(read.ruleSet, sourcesOf(octets, read.sources), { signatures });
  const diagnostics = [...withoutRepeats([...read.diagnostics, ...found])].sort(byPlace);
  await print(diagnostics, text, flags);
  const count = read.ruleSet.rules.length;
  if (diagnostics.length === 0 && flags.json !== true) note(`${quantity(count, 'rule')}, nothing to remark`);
  const failing = THRESHOLDS.slice(THRESHOLDS.indexOf(flags.failOn));
  if (diagnostics.some(({ severity }) => failing.includes(severity))) process.exitCode = EXIT.no;
}

/** The command, to be added to a program. */
export function lintCommand(): Command {
  const command = new Command('lint')
    .description('Remark on rules that very likely do not do what they were meant to.')
    .addOption(edgeFileOption());
  return signatureOptions(command)
    .addOption(
      new Option('--fail-on <severity>', 'exit with 1 from this severity on')
        .choices(THRESHOLDS)
        .default('warning'),
    )
    .option('--json', 'print the findings as a JSON list')
    .addOption(colourOption())
    .action(run);
}
