/** Prints the report of a replay of access logs. */

import { REORDERED_LINES } from '../../workbench/access-logs/in-order.ts';
import type { LogTally } from '../../workbench/access-logs/source.ts';
import type { LackedFact } from '../../workbench/replay/dependencies.ts';
import type { ReplayOutcome, RequestsReport } from '../../workbench/replay/replay-requests.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { EXIT, type ExitCode, inputFault } from '../exit.ts';
import { note } from '../output.ts';
import { grouped, tableText } from '../print/table.ts';
import { countedText, exampleLine, printedGroups } from './replay.ts';
import type { ReadLogs } from './replay-logs.ts';

/** Outcomes that are printed; the JSON contains all. */
const OUTCOMES_PRINTED = 30;
/** Rules that are named for a fact; the JSON contains all. */
const RULES_NAMED = 5;

/** What is printed. */
export interface PrintedReplay {
  readonly report: RequestsReport;
  readonly read: ReadLogs;
  readonly lacks: readonly LackedFact[];
  /** The files of the older and newer rules; `null`: there is one plan. */
  readonly names: { readonly before: string | null; readonly after: string };
}

/** The report as text, ending in a newline. */
export function requestsText({ report, lacks, names }: PrintedReplay): string {
  const { before, after } = names;
  const all = `${grouped(report.compared)} ${report.compared === 1 ? 'request' : 'requests'} replayed with`;
  const flips =
    before === null
      ? []
      : [
          report.changed === 0
            ? `${all} ${before} and ${after}: no decision flips`
            : `${all} ${before} and ${after}: ${quantity(report.changed, 'decision flips', 'decisions flip')}`,
          ...printedGroups(report),
          '',
          `with ${after}:`,
        ];
  const head = before === null ? [`${all} ${after}`] : flips;
  const text = [...head, ''].map((line) => `${visible(line)}\n`).join('');
  return `${text}${outcomesText(report.outcomes)}${shadowText(report)}${lacksText(lacks)}`;
}

/** Outcomes as a table, then examples of all but those that are forwarded. */
function outcomesText(outcomes: readonly ReplayOutcome[]): string {
  const shown = outcomes.slice(0, OUTCOMES_PRINTED);
  const rows = shown.map(({ outcome, lines, statuses }) => [
    grouped(lines).padStart(widest(outcomes)),
    outcome,
    Object.entries(statuses)
      .map(([name, count]) => `${name} ${grouped(count)}`)
      .join('  '),
  ]);
  const left = outcomes.length - shown.length;
  const more = left > 0 ? `${quantity(left, 'more outcome')}; --json lists all\n` : '';
  const examples = shown
    .filter(({ examples: some }) => some.length > 0)
    .flatMap(({ outcome, examples: some }) => ['', outcome, ...some.map(exampleLine)]);
  const printed = examples.map((line) => `${visible(line)}\n`).join('');
  return `${tableText(['requests', 'decision', 'logged status'], rows)}${more}${printed}`;
}

function widest(outcomes: readonly ReplayOutcome[]): number {
  return Math.max('requests'.length, ...outcomes.map(({ lines }) => grouped(lines).length));
}

/** What enforcing dry_run rules would change; empty without such rules. */
function shadowText({ shadow }: RequestsReport): string {
  if (shadow.changed === 0) return '';
  const head = `enforcing the dry_run rules would change ${quantity(shadow.changed, 'decision')}`;
  return ['', head, ...printedGroups(shadow)].map((line) => `${visible(line)}\n`).join('');
}

/** What the log does not have; empty when it has all that the rules depend on. */
export function lacksText(lacks: readonly LackedFact[]): string {
  if (lacks.length === 0) return '';
  const rows = lacks.map(({ fact, requests, rules, conditions, assumed }) => [
    fact,
    grouped(requests),
    assumed,
    rules.length === 0 ? '' : rulesText(rules, conditions),
  ]);
  return `\nnot in the log:\n${tableText(['fact', 'requests', 'assumed', 'rules that depend on it'], rows)}`;
}

/** `2: drop/embargo, drop/keys (conditions.headers[0] x-api-key)`. */
function rulesText(rules: readonly string[], conditions: readonly string[]): string {
  const named = rules
    .slice(0, RULES_NAMED)
    .map((rule) => {
      const own = conditions.flatMap((text) =>
        text.startsWith(`${rule} `) ? [text.slice(rule.length + 1)] : [],
      );
      return own.length === 0 ? rule : `${rule} (${own.join(', ')})`;
    })
    .join(', ');
  return rules.length > RULES_NAMED ? `${rules.length}: ${named}, …` : `${rules.length}: ${named}`;
}

/** What was read and what of it was not evaluated. */
interface ReadReport {
  readonly report: { readonly otherHosts: number };
  readonly read: ReadLogs;
}

/** The fault for a replay without any request: a report of nothing would mislead. */
export function nothingReplayed({ report, read }: ReadReport, domain: string): Error {
  const { otherHosts } = report;
  const { noRequest, unreadable, firstUnreadable } = read.tally;
  if (otherHosts > 0) {
    const remedy = 'the host of a log without hosts is named with --host';
    return inputFault(
      `no request is to a host of \`${domain}\`; ${quantity(otherHosts, 'is', 'are')} to other hosts`,
      { remedy },
    );
  }
  if (unreadable > 0) return inputFault(`no line could be read; the first: ${firstUnreadable ?? ''}`);
  if (noRequest > 0) return inputFault('the log holds no HTTP request');
  if (read.counted > 0) return inputFault(`the log holds no request, and ${countedText(read.counted)}`);
  return inputFault('the log holds no line');
}

/** Reports on stderr the lines that were not replayed. */
export function printLogGaps({ report, read }: ReadReport): void {
  const { tally, late, missing, counted } = read;
  const { noRequest, unreadable, firstUnreadable } = tally;
  if (report.otherHosts > 0)
    note(`edgeplan: ${quantity(report.otherHosts, 'request')} to hosts that the rules do not serve skipped`);
  if (noRequest > 0) note(`edgeplan: ${quantity(noRequest, 'line')} without an HTTP request skipped`);
  if (missing > 0)
    note(`edgeplan: ${quantity(missing, 'line is', 'lines are')} missing: the log dropped them`);
  if (counted > 0) note(`edgeplan: ${countedText(counted)}`);
  printLate(late);
  if (unreadable > 0)
    note(
      `edgeplan: ${quantity(unreadable, 'line')} could not be read; the first: ${visible(firstUnreadable ?? '')}`,
    );
}

/**
 * The exit code of a replay with these lines: most of them unreadable, what it says is of a small part of the log.
 * `changed`: decisions that change.
 */
export function replayExit(
  { lines, unreadable }: Pick<LogTally, 'lines' | 'unreadable'>,
  changed: number,
): ExitCode {
  if (unreadable * 2 > lines) return EXIT.input;
  return changed > 0 ? EXIT.no : EXIT.fine;
}

/** Reports lines that were evaluated after later ones. */
export function printLate(late: number): void {
  if (late === 0) return;
  const lines = quantity(late, 'line is', 'lines are');
  note(
    `edgeplan: ${lines} out of order of time by more than ${REORDERED_LINES} lines; rate limits counted them late`,
  );
}

/** The fields of the JSON document. */
export function requestsDocument({ report, read, lacks }: PrintedReplay): object {
  const { otherHosts, ...rest } = report;
  return { ...rest, other_hosts: otherHosts, ...logDocument(read, lacks) };
}

/** The fields of a JSON document that are about the logs. */
export function logDocument(read: ReadLogs, lacks: readonly LackedFact[]): object {
  const { lines, noRequest, unreadable, firstUnreadable } = read.tally;
  return {
    lines,
    no_request: noRequest,
    missing: read.missing,
    counted: read.counted,
    late: read.late,
    unreadable: { count: unreadable, first: firstUnreadable },
    lacks,
  };
}
