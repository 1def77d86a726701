/** `edgeplan compile`: compiles an edge file to the sealed plan that an edge runs. */
import { join } from 'node:path';
import { Command } from 'commander';
import { terminalJson } from '../../base/text/json-object.ts';
import { printPlan } from '../../engine/compiler/print.ts';
import { META, NONE } from '../../engine/plan/layout.ts';
import { sizeText } from '../../rules/files/size.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { domainFiles, isFolder } from '../input/domain-files.ts';
import { type OpenedSubject, openSubject } from '../input/open-subject.ts';
import { colourOption, fileOption } from '../options.ts';
import { type ColourChoice, colourFor, write } from '../output.ts';
import { diagnosticsText, tally } from '../print/diagnostics.ts';
import { writeWhole } from '../write-file.ts';

/** The options of the command, as commander parses them. */
interface Flags {
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** When to colour the output. */
  readonly color: ColourChoice;
  /** The path of the sealed plan. */
  readonly output?: string;
  /** Prints the plan as JSON. */
  readonly print?: boolean;
}

/** The number of rules by type: `12 rules: 3 drop, 9 redirect`. */
function ruleCounts(opened: OpenedSubject): string {
  const rules = opened.subject.ruleSet?.rules ?? [];
  const counts = new Map<string, number>();
  for (const rule of rules) counts.set(rule.type, (counts.get(rule.type) ?? 0) + 1);
  const total = quantity(rules.length, 'rule');
  const parts = [...counts].map(([type, count]) => `${count} ${type}`).join(', ');
  return parts === '' ? total : `${total}: ${parts}`;
}

/** The size of the indexes, and the number of rules that every request is checked against. */
function indexCounts({ opened: { plan } }: OpenedSubject): string {
  const { meta, postings, cidr4, cidr6 } = plan;
  // The list of rules without an index key, which every request is checked against.
  const always = meta[META.always] ?? NONE;
  const wide = always === NONE ? 0 : (postings[always * 2 + 1] ?? 0);
  const lists = postings.length / 2;
  // An IPv4 entry takes two words of the index, an IPv6 entry five (`engine/plan/layout.ts`).
  const boundaries = cidr4.length / 2 + cidr6.length / 5;
  return [
    quantity(lists, 'list'),
    ...(boundaries === 0 ? [] : [quantity(boundaries, 'address boundary', 'address boundaries')]),
    `${quantity(wide, 'rule')} checked for every request`,
  ].join(', ');
}

/** What is printed about the plan. */
function summary(opened: OpenedSubject, flags: Flags): string {
  const { subject, diagnostics } = opened;
  const found = tally(diagnostics);
  return [
    `  plan      ${flags.output ?? 'not written, name a file with -o'}`,
    `  size      ${sizeText(subject.bytes.length)}`,
    `  digest    ${subject.digest}`,
    `  domain    ${subject.ruleSet?.domain.name ?? ''}`,
    `  contents  ${ruleCounts(opened)}`,
    `  indexes   ${indexCounts(opened)}`,
    `  found     ${found === '' ? 'no warnings' : found}`,
    '',
  ].join('\n');
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  compile: ['edgeplan compile -o plan.edgeplan', 'edgeplan compile -f plan.edgeplan --print'],
};

/** Creates the command. */
export function compileCommand(): Command {
  const command = new Command('compile')
    .summary('compile an edge file into a sealed plan')
    .description('Compiles an edge file and seals the plan. Prints its size, its contents and any warnings.')
    .addOption(fileOption())
    .option('-o, --output <file>', 'write the sealed plan here')
    .option('--print', 'print the plan as JSON instead of the summary')
    .addOption(colourOption())
    .action(async (flags: Flags) => {
      const files = domainFiles(flags.file);
      if (files.length > 1) checkTree(files, flags);
      for (const file of files) await compileOne({ ...flags, file }, { several: files.length > 1 });
    });
  return withExamples(command, EXAMPLES);
}

/** Refuses options that several domains cannot share. @throws CommandFault with exit code 2 */
function checkTree(files: readonly string[], { output, print }: Flags): void {
  const what = `-f names ${quantity(files.length, 'domain')}`;
  if (print === true) throw usageFault(`--print prints one plan, and ${what}`);
  if (output !== undefined && !isFolder(output))
    throw usageFault(`${what}, so -o must name a folder`, 'the plan of a domain is <domain>.edgeplan in it');
}

/** Compiles one edge file and prints what the plan has. @throws CommandFault */
async function compileOne(given: Flags, { several }: { readonly several: boolean }): Promise<void> {
  const opened = await openSubject(given.file, given.color);
  const domain = opened.subject.ruleSet?.domain.name ?? '';
  const inFolder = several && given.output !== undefined;
  const flags = inFolder ? { ...given, output: join(given.output!, `${domain}.edgeplan`) } : given;
  // A sealed plan can be printed, but not compiled again.
  if (opened.subject.ruleSet === null && flags.print !== true) {
    throw usageFault(`\`${flags.file}\` is already a plan`, '--print shows its content');
  }
  const colour = colourFor(process.stderr, flags.color);
  process.stderr.write(diagnosticsText(opened.diagnostics, { colour, texts: opened.texts }));
  if (flags.output !== undefined) await writeWhole(flags.output, opened.subject.bytes);
  if (flags.print === true) await write(`${terminalJson(printPlan(opened.opened), 2)}\n`);
  else await write(`${summary(opened, flags)}${several ? '\n' : ''}`);
}
