/** Prints the report of a replay. */
import type { ReplayExample, ReplayGroup } from '../../workbench/replay/difference.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { inputFault } from '../exit.ts';
import { note } from '../output.ts';
import type { ReplayReport } from './replay.ts';

/** Groups that are printed; the JSON contains all. */
const GROUPS_PRINTED = 20;

/** The fault for a replay without any line: reporting "no changes" would mislead. */
export function nothingCompared(report: ReplayReport, domain: string): Error {
  // The most likely reason first.
  const { otherDomains, unreadable, counted } = report;
  if (otherDomains > 0)
    return inputFault(`no line is of \`${domain}\`; ${quantity(otherDomains, 'is', 'are')} of other domains`);
  if (unreadable.count > 0) return inputFault('no line could be read as a decision');
  if (counted > 0) return inputFault(`the log holds no decision, and ${countedText(counted)}`);
  return inputFault('the log holds no decision');
}

/** Requests of counted lines, which a replay skips. */
export function countedText(counted: number): string {
  return `${quantity(counted, 'request is', 'requests are')} only counted, without what they asked for`;
}

/** The report as text, ending in a newline; `name` is the file of the rules. */
export function replayText(report: ReplayReport, name: string): string {
  const { compared, changed, groups } = report;
  const all = quantity(compared, 'decision');
  if (changed === 0) return visible(`${all} replayed with ${name}: none would change`).concat('\n');
  const lines = [`${all} replayed with ${name}: ${changed} would change`, ...printedGroups({ groups })];
  return lines.map((line) => `${visible(line)}\n`).join('');
}

/** The lines of the most frequent groups. */
export function printedGroups({ groups }: { readonly groups: readonly ReplayGroup[] }): readonly string[] {
  const lines = groups.slice(0, GROUPS_PRINTED).flatMap((group) => ['', ...groupLines(group)]);
  const left = groups.length - GROUPS_PRINTED;
  if (left > 0) lines.push('', `${quantity(left, 'more kind', 'more kinds')} of change; --json lists all`);
  return lines;
}

/** The lines of one group. */
function groupLines({ was, now, lines, requests, examples }: ReplayGroup): readonly string[] {
  const represented = requests > lines ? `, about ${requests} requests` : '';
  const shown = examples.map(exampleLine);
  return [`${quantity(lines, 'line')}${represented}`, `  was  ${was}`, `  now  ${now}`, ...shown];
}

/** A line of a log as an example: where it is, the request, what was answered, and what differs. */
export function exampleLine({ id, request, status, change }: ReplayExample): string {
  const answered = typeof status === 'number' ? ` (answered ${status})` : '';
  return `    ${id}  ${request}${answered}${change === null ? '' : `: ${change}`}`;
}

/** A note on the conditions of the comparison; `signatures` is their name, `null` if no waf rule inspected. */
export function replayNote(signatures: string | null): string {
  const used = signatures === null ? 'no signatures' : `the signatures \`${visible(signatures)}\``;
  return `edgeplan: compared with ${used}; the log has no bodies and no secrets, rules are compared by key or id`;
}

/** Reports on stderr the lines that were not compared. */
export function printGaps(report: ReplayReport): void {
  const { otherDomains, undecided, assumed, partial, missing, counted, unreadable } = report;
  if (otherDomains > 0) note(`edgeplan: ${quantity(otherDomains, 'line')} of other domains skipped`);
  if (undecided > 0) note(`edgeplan: ${quantity(undecided, 'request')} refused before the domain was known`);
  if (assumed > 0)
    note(
      `edgeplan: ${quantity(assumed, 'decision depends', 'decisions depend')} on counters or signatures: taken as logged`,
    );
  if (partial > 0)
    note(
      `edgeplan: ${quantity(partial, 'request is', 'requests are')} not whole in the log (redacted, cut, or with a body)`,
    );
  if (missing > 0)
    note(`edgeplan: ${quantity(missing, 'line is', 'lines are')} missing: the log dropped them`);
  if (counted > 0) note(`edgeplan: ${countedText(counted)}`);
  if (unreadable.count > 0)
    note(
      `edgeplan: ${quantity(unreadable.count, 'line')} could not be read; the first: ${visible(unreadable.first ?? '')}`,
    );
}
