/** `edgeplan waf`: compiles rule sets in SecLang to signature programs, shows the content of a program, tunes rules by logs. */
import { Command, Option } from 'commander';
import { terminalJson } from '../../base/text/json-object.ts';
import type { SignatureProgram } from '../../engine/plan/signature-program.ts';
import { type SignatureSummary, summariseSignatures } from '../../engine/waf/seclang/index.ts';
import { sizeText } from '../../rules/files/size.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { inputFault, usageFault } from '../exit.ts';
import { digestOf } from '../input/read-file.ts';
import { openSignatureInput, openStarter, type SignatureFlags } from '../open-signatures.ts';
import { colourOption, jsonOption, withoutOption } from '../options.ts';
import { write, writeDocument } from '../output.ts';
import { tally } from '../print/diagnostics.ts';
import { signatureOf, signatureText, tagsOf, tagsText } from '../print/signature.ts';
import { tableText } from '../print/table.ts';
import { wafTuneCommand } from '../tuning/tune-logs.ts';
import { writeWhole } from '../write-file.ts';

/** Options of `compile`, as commander parses them. */
interface CompileFlags extends SignatureFlags {
  /** The path of the sealed program. */
  readonly output?: string;
  /** Prints the program as JSON. */
  readonly print?: boolean;
}

/** Options of `show`, as commander parses them. */
interface ShowFlags extends SignatureFlags {
  /** The folder of the OWASP Core Rule Set. */
  readonly crs?: string;
  /** Lists tags. */
  readonly tags?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** The program for `--print`, with automata and instructions replaced by their size. */
function printable(program: SignatureProgram): unknown {
  return {
    ...program,
    patterns: program.patterns.map(({ dfa, guard, backtrack, ...pattern }) => ({
      ...pattern,
      ...(backtrack === undefined ? {} : { backtrack: { instructions: backtrack.instructions.length } }),
      dfa: dfa === null ? null : { octets: dfa.byteLength },
      guard: guard === undefined ? null : { octets: guard.byteLength },
    })),
  };
}

/** Rules and patterns by paranoia level. */
function levelTable({ levels }: SignatureSummary): string {
  const rows = levels.map(({ paranoia, headers, body, patterns, unfiltered }) => [
    String(paranoia),
    String(headers),
    String(body),
    String(headers + body),
    String(patterns),
    String(unfiltered.automaton),
    String(unfiltered.guard),
    String(unfiltered.neither),
  ]);
  // Patterns without a required literal run on every value, so their number decides the cost.
  const always = ['always, automaton', 'always, guard', 'always, neither'];
  return tableText(['paranoia', 'headers', 'body', 'rules', 'patterns', ...always], rows);
}

/** The explanation of the table's columns. */
const LEGEND = [
  'headers, body: rules that inspect the head alone, and the body too',
  'always: patterns without required literals, which run on every value they are for: on a whole automaton; behind a',
  'guard, the part of one or a simpler one, that ordinary values do not leave; or on one made as they run',
  '',
].join('\n');

/** Rules by category and paranoia level. */
function categoryTable({ levels }: SignatureSummary): string {
  const names = [...new Set(levels.flatMap(({ categories }) => Object.keys(categories)))].sort();
  const rows = names.map((name) => [name, ...levels.map(({ categories }) => String(categories[name] ?? 0))]);
  return tableText(['category', ...levels.map(({ paranoia }) => `paranoia ${paranoia}`)], rows);
}

/** The text of `waf show`. */
function summaryText(summary: SignatureSummary): string {
  const { name, patterns, literals, phraseLists } = summary;
  const parts = [
    `${patterns.automaton} with an automaton`,
    `${patterns.guard} with a guard`,
    `${patterns.literals} with required literals`,
    ...(patterns.backtracking === 0 ? [] : [`${patterns.backtracking} that backtrack`]),
  ];
  return [
    `${name}\n`,
    levelTable(summary),
    LEGEND,
    categoryTable(summary),
    [
      `patterns  ${patterns.total}: ${parts.join(', ')}; ${sizeText(patterns.octets)}`,
      `literals  ${literals.total}, ${sizeText(literals.octets)}, found in one pass over a value`,
      `phrases   ${quantity(phraseLists, 'list')}`,
      '',
    ].join('\n'),
  ].join('\n');
}

/** Compiles a rule set and prints a summary. */
async function compile(path: string, flags: CompileFlags): Promise<void> {
  const { program, diagnostics, sealed } = await openSignatureInput(path, flags);
  const bytes = sealed();
  if (flags.output !== undefined) await writeWhole(flags.output, bytes);
  if (flags.print === true) {
    await write(`${terminalJson(printable(program), 2)}\n`);
    return;
  }
  const found = tally(diagnostics);
  const rules = program.levels.map((level) => level.rules.length).join(', ');
  await write(
    [
      `  program   ${flags.output ?? 'not written, name a file with -o'}`,
      `  size      ${sizeText(bytes.length)}`,
      `  digest    ${digestOf(bytes)}`,
      `  name      ${program.name}`,
      `  rules     ${rules} at paranoia 1 to 4`,
      `  found     ${found === '' ? 'no warnings' : found}`,
      '',
    ].join('\n'),
  );
}

/** An operand that is the id of a signature. */
const SIGNATURE_ID = /^\d{1,9}$/;

/** Prints what a program contains, or one signature of it. */
async function show(first: string | undefined, second: string | undefined, flags: ShowFlags): Promise<void> {
  const isId = first !== undefined && SIGNATURE_ID.test(first);
  if (second !== undefined && !isId) {
    throw usageFault(
      `\`${first}\` is no id of a signature`,
      'write the id before the path: waf show 11300 crs.bin',
    );
  }
  const id = isId ? Number(first) : null;
  if (id !== null && flags.tags === true)
    throw usageFault('an id and --tags show different things; give one of them');
  const path = isId ? second : first;
  // A path takes precedence over --crs and EDGEPLAN_CRS.
  const chosen = path ?? flags.crs;
  // The starter set is sealed, so no rule can be left out of it.
  if (chosen === undefined && flags.without !== undefined) {
    throw usageFault('the starter set is shown whole', 'name a directory or a `.conf` file beside --without');
  }
  const { program, diagnostics } =
    chosen === undefined ? openStarter() : await openSignatureInput(chosen, flags);
  if (id !== null) return showOne(program, id, flags);
  if (flags.tags === true) {
    const tags = tagsOf(program);
    if (flags.json !== true) return write(tagsText(tags));
    return writeDocument('signature-tags', { name: program.name, tags });
  }
  const summary = summariseSignatures(program);
  if (flags.json !== true) await write(summaryText(summary));
  else {
    const { phraseLists: phrase_lists, ...numbers } = summary;
    await writeDocument('signatures', { ...numbers, phrase_lists, diagnostics });
  }
}

/** Prints one signature. @throws CommandFault with exit code 3 when the program has none of the id */
async function showOne(program: SignatureProgram, id: number, { json }: ShowFlags): Promise<void> {
  const found = signatureOf(program, id);
  if (found === null) {
    const remedy =
      'name its set after the id, such as `waf show 942100 crs.bin`; `waf show --tags` lists tags';
    throw inputFault(`${program.name} has no signature ${id}`, { remedy });
  }
  if (json !== true) return write(signatureText(found));
  return writeDocument('signature', { name: program.name, signature: found });
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'waf compile': [
    'edgeplan waf compile ./coreruleset -o crs.bin',
    'edgeplan waf compile rules.conf --without 942100-942199 --print',
  ],
  'waf show': [
    'edgeplan waf show',
    'edgeplan waf show --crs ./coreruleset --json',
    'edgeplan waf show crs.bin',
  ],
  'waf tune': [
    'edgeplan waf tune --log decisions.jsonl',
    'edgeplan waf tune --log monday.jsonl.gz --log tuesday.jsonl --rule attacks -o exclusions.yaml',
  ],
};

/** Creates the command. */
export function wafCommand(): Command {
  const waf = new Command('waf').description(
    'Compile WAF rule sets in SecLang, show their content, and tune rules by what they would have blocked.',
  );
  waf
    .command('compile')
    .argument('<path>', 'a directory of rules (such as the OWASP Core Rule Set) or a .conf file')
    .summary('compile a rule set into a sealed signature program')
    .description('Compiles a rule set and prints its size, its contents and what was left out.')
    .option('-o, --output <file>', 'write the sealed program here')
    .option('--print', 'print the program as JSON instead of the summary')
    .addOption(withoutOption())
    .addOption(colourOption())
    .action(compile);
  waf
    .command('show')
    .argument('[id]', 'a signature to show, such as 11300; or the path')
    .argument('[path]', 'a directory of rules, a .conf file or a sealed program (default: the starter set)')
    .description(
      'Show what a signature program contains: rules, patterns and literals by paranoia level; or one signature.',
    )
    .option('--tags', 'list the tags of the signatures, as exclusions name them')
    .addOption(
      new Option('--crs <folder>', 'the OWASP Core Rule Set, where no path is given').env('EDGEPLAN_CRS'),
    )
    .addOption(jsonOption('signatures'))
    .addOption(withoutOption())
    .addOption(colourOption())
    .action(show);
  waf.addCommand(wafTuneCommand());
  return withExamples(waf, EXAMPLES);
}
