/** Options of the commands that print reports: the period, and `--follow`, which prints a report again and again. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { TrafficStep } from '../control/traffic/read-traffic.ts';
import { suitsStep, TRAFFIC_STEPS } from '../control/traffic/retention.ts';
import { paint } from '../workbench/simulation/paint.ts';
import type { RenderedLine } from '../workbench/simulation/render-text.ts';
import { type CommandFault, usageFault } from './exit.ts';
import { type GivenTime, readDuration, readTime, timeAt } from './options.ts';
import { type ColourChoice, colourFor, noteFault, write, writeDocument, writeLine } from './output.ts';
import { durationText } from './print/table.ts';
import { isTransient } from './remote/call-api.ts';

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

// The options that choose a period of traffic, and the query that they make.

/** The options, as commander parses them. */
export interface PeriodFlags {
  readonly from?: GivenTime;
  readonly to?: GivenTime;
  /** Milliseconds. */
  readonly last?: number;
  readonly step?: TrafficStep;
}

/** Milliseconds that are shown unless options say otherwise: as of the API. */
const USUAL_MS = 86_400_000;

/** Adds the options to a command. */
export function periodOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--last <duration>', 'the last 90m, 24h, 7d or 2w (default: 24h)').argParser(readDuration),
    )
    .addOption(
      new Option('--from <time>', 'from then on: 2026-11-20, an RFC 3339 time, or 24h ago').argParser(
        readTime,
      ),
    )
    .addOption(new Option('--to <time>', 'up to then (default: now)').argParser(readTime))
    .addOption(
      new Option('--step <unit>', 'the unit of the counts (default: by the period)').choices(TRAFFIC_STEPS),
    );
}

/** A period to request. */
export interface RequestedPeriod {
  /** Parameters of the request, with a step. */
  readonly query: Readonly<Record<string, string>>;
  /** The period in words: `24 h`, `this period`. */
  readonly words: string;
}

/** The period at a time. @throws CommandFault for options that exclude one another */
export function periodAt({ from, to, last, step }: PeriodFlags, now: number): RequestedPeriod {
  if (last !== undefined && (from !== undefined || to !== undefined)) {
    throw usageFault('`--last` ends now, so it excludes --from and --to');
  }
  const end = to === undefined ? now : timeAt(to, now);
  const start = from === undefined ? end - (last ?? USUAL_MS) : timeAt(from, now);
  if (start >= end) throw usageFault('`--from` must be before --to');
  const usual = TRAFFIC_STEPS.find((one) => suitsStep(end - start, one)) ?? 'day';
  const query = { from: new Date(start).toISOString(), to: new Date(end).toISOString(), step: step ?? usual };
  return { query, words: to === undefined ? durationText(end - start) : 'this period' };
}

/** The period of an answer as a heading: `2026-11-20 09:00 to 2026-11-21 10:00 UTC, by hour`. */
export function periodText({
  from,
  to,
  step,
}: {
  readonly from: string;
  readonly to: string;
  readonly step?: string;
}): string {
  const short = (time: string): string => time.slice(0, 16).replace('T', ' ');
  return `${short(from)} to ${short(to)} UTC${step === undefined ? '' : `, by ${step}`}`;
}
