/** Output of commands: results go to stdout, everything else to stderr. */
import { once } from 'node:events';
import { withoutCredentials } from '../base/text/credentials.ts';
import { terminalJson } from '../base/text/json-object.ts';
import { visible } from '../workbench/simulation/render-text.ts';
import { type CommandFault, EXIT, reasonOf } from './exit.ts';

/**
 * Ends the process silently when the reader of stdout closes it (`| head`), and with a message for any other write
 * error, such as a full disk.
 */
export function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.fine);
    note(`edgeplan: the output cannot be written: ${reasonOf(error)}`);
    process.exit(EXIT.input);
  });
  // An error of stderr cannot be reported anywhere.
  process.stderr.on('error', () => process.exit(process.exitCode ?? EXIT.fine));
}

/** Writes to stdout; resolves when the stream can take more. */
export async function write(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Writes a JSON document to stdout; its first field is its format, `edgeplan.<name>/v1`. */
export async function writeDocument(name: string, fields: object): Promise<void> {
  await write(jsonDocument(name, fields));
}

/** Writes a JSON document on one line to stdout. */
export async function writeLine(name: string, fields: object): Promise<void> {
  await write(`${terminalJson({ format: jsonFormat(name), ...fields })}\n`);
}

/** Writes a line to stderr. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Writes the message of a fault to stderr, with control characters escaped and passwords of URLs removed. */
export function noteFault(fault: CommandFault): void {
  note(`edgeplan: ${visible(withoutCredentials(fault.message))}`);
  if (fault.remedy !== undefined) note(`  ${visible(withoutCredentials(fault.remedy))}`);
}

/** The values of `--color`. */
export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColourChoice = (typeof COLOUR_CHOICES)[number];

/**
 * Whether output to a stream is coloured. `--color` and EDGEPLAN_COLOR take precedence; `auto` colours terminals
 * unless NO_COLOR is set to a non-empty text (no-color.org) or TERM is `dumb`.
 */
export function colourFor(stream: { readonly isTTY?: boolean }, choice: ColourChoice): boolean {
  if (choice !== 'auto') return choice === 'always';
  const { NO_COLOR, TERM } = process.env;
  return stream.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}

/** The smallest width in columns that lines are broken at. */
const NARROWEST = 40;

/**
 * Columns of stdout: the terminal's, else COLUMNS. Without either, `Infinity`: lines stay whole, so that grep finds
 * them.
 */
export function outputWidth(): number {
  const width = process.stdout.isTTY === true ? process.stdout.columns : Number(process.env['COLUMNS']);
  return Number.isInteger(width) && width > 0 ? Math.max(NARROWEST, width) : Number.POSITIVE_INFINITY;
}

/** The value of `format`; the number rises when a field is removed or changes its meaning. */
export function jsonFormat(name: string): string {
  return `edgeplan.${name}/v1`;
}

/** The text of a document, `format` first. Field names are in snake_case. */
export function jsonDocument(name: string, fields: object): string {
  return `${terminalJson({ format: jsonFormat(name), ...fields }, 2)}\n`;
}

/** Notes that are printed at the release, and at once after it: a start that fails prints none. */
export function deferredNotes() {
  const lines: string[] = [];
  let print = (line: string): void => void lines.push(line);
  return {
    add: (line: string): void => print(line),
    release(): void {
      print = note;
      for (const line of lines.splice(0)) note(line);
    },
  };
}
