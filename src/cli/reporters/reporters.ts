/** The reporters of `lint` and `test`, and the options that choose them. */
import { InvalidArgumentError, Option } from 'commander';
import { usageFault } from '../exit.ts';
import { write } from '../output.ts';
import { writeWhole } from '../write-file.ts';
import { GITHUB } from './github.ts';
import { HUMAN } from './human.ts';
import { JSON_REPORTER } from './json.ts';
import { JUNIT } from './junit.ts';
import type { Reporter } from './report.ts';

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
