/**
 * Prints a report once, or again and again with `--follow`: a terminal is repainted, any other output gets one report
 * after another. SIGINT ends it with exit code 0.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Option } from 'commander';
import { paint } from '../../workbench/simulation/paint.ts';
import type { RenderedLine } from '../../workbench/simulation/render-text.ts';
import type { CommandFault } from '../exit.ts';
import { type ColourChoice, colourFor, noteFault, write, writeDocument, writeLine } from '../output.ts';
import { isTransient } from '../remote/call-api.ts';

/** Milliseconds between two reports: nodes report every few seconds, and a key has 300 requests a minute. */
const FOLLOW_MS = 5_000;

/** Options that decide how a report is printed. */
export interface ReportFlags {
  readonly json?: boolean;
  readonly follow?: boolean;
  readonly color: ColourChoice;
}

/** One report in both forms. */
export interface PrintedReport {
  /** The fields of the JSON document. */
  readonly fields: object;
  /** The lines of the text for a terminal. */
  readonly lines: readonly RenderedLine[];
}

/** `--follow`. */
export function followOption(): Option {
  return new Option('--follow', `print it again every ${FOLLOW_MS / 1_000} s, until Ctrl-C`);
}

/** Prints the report that `make` returns; `name` is that of its JSON format. @throws CommandFault */
export async function printReport(
  make: () => Promise<PrintedReport>,
  { name, flags }: { readonly name: string; readonly flags: ReportFlags },
): Promise<void> {
  if (flags.follow !== true) return printOnce(await make(), name, flags);
  const ended = new AbortController();
  // A second Ctrl-C ends the process at once, as the system does by default.
  process.once('SIGINT', () => ended.abort());
  for (let first = true; !ended.signal.aborted; first = false) {
    try {
      await printAgain(await make(), name, flags);
    } catch (error) {
      if (first || !isTransient(error)) throw error;
      noteFault(error as CommandFault);
    }
    await pause(ended.signal);
  }
}

/** Waits for the next report, or for the end. */
async function pause(signal: AbortSignal): Promise<void> {
  try {
    await wait(FOLLOW_MS, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function printOnce({ fields, lines }: PrintedReport, name: string, flags: ReportFlags): Promise<void> {
  if (flags.json === true) return writeDocument(name, fields);
  await write(paint(lines, colourFor(process.stdout, flags.color)));
}

/** One of several reports: JSON on a line of its own, a terminal painted from its upper left corner, or text. */
async function printAgain({ fields, lines }: PrintedReport, name: string, flags: ReportFlags): Promise<void> {
  if (flags.json === true) return writeLine(name, fields);
  const colour = colourFor(process.stdout, flags.color);
  if (process.stdout.isTTY !== true) return write(`${paint(lines, colour)}\n`);
  const shown = fitted(lines, process.stdout.rows);
  // ECMA-48: CUP moves to the corner, EL clears the rest of a line, ED the rest of the screen.
  await write(`\u001b[H${paint(shown, colour).replaceAll('\n', '\u001b[K\n')}\u001b[J`);
}

/** The lines that fit a screen of `rows` lines, the last of them the number of the others. */
function fitted(lines: readonly RenderedLine[], rows: number): readonly RenderedLine[] {
  const room = Math.max(2, rows - 1);
  if (lines.length <= room) return lines;
  const left = lines.length - room + 1;
  return [...lines.slice(0, room - 1), [{ text: `… ${left} more lines`, tone: 'dim' }]];
}
