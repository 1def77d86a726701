/** stdout is the result, stderr the rest. */
import { once } from 'node:events';
import { visible } from '../simulator/render-text.ts';
import { type CommandFault, EXIT } from './exit.ts';
import { reasonOf } from './file-fault.ts';

/**
 * Ends quietly when whoever read the output has had enough (`| head`), and with a sentence when it cannot be written for
 * another reason, such as a full disk.
 */
export function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? EXIT.fine);
    note(`edgeplan: the output cannot be written: ${reasonOf(error)}`);
    process.exit(EXIT.input);
  });
  // Nowhere is left to say that stderr is gone.
  process.stderr.on('error', () => process.exit(process.exitCode ?? EXIT.fine));
}

/** Writes to stdout and waits while the reader is behind. */
export async function write(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Writes a line to stderr. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** The sentence of a fault, safe to print whatever it quotes. */
export function noteFault(fault: CommandFault): void {
  note(`edgeplan: ${visible(fault.message)}`);
  if (fault.remedy !== undefined) note(`  ${visible(fault.remedy)}`);
}

export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColourChoice = (typeof COLOUR_CHOICES)[number];

/**
 * Whether a stream gets colour. `--color` and EDGEPLAN_COLOR come first; under `auto` a terminal does, unless NO_COLOR is
 * set to anything (no-color.org) or TERM is `dumb`.
 */
export function colourFor(stream: { readonly isTTY?: boolean }, choice: ColourChoice): boolean {
  if (choice !== 'auto') return choice === 'always';
  const { NO_COLOR, TERM } = process.env;
  return stream.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb';
}

/** Below this, lines are not broken any further. */
const NARROWEST = 40;

/** Columns of stdout: the terminal's, else COLUMNS; without either, lines are never broken, so that grep finds them whole. */
export function outputWidth(): number {
  const asked = process.stdout.isTTY === true ? process.stdout.columns : Number(process.env['COLUMNS']);
  return Number.isInteger(asked) && asked > 0 ? Math.max(NARROWEST, asked) : Number.POSITIVE_INFINITY;
}
