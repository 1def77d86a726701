/** A report on decisions that would change, for people. */
import { quantity, visible } from '../../simulator/render-text.ts';
import { inputFault } from '../exit.ts';
import { note } from '../output.ts';
import type { ReplayGroup, ReplayReport } from './replay.ts';

/** Groups printed; all of them are in the JSON. */
const GROUPS_TOLD = 20;

/** An answer of "nothing changed" about nothing at all would mislead. */
export function nothingCompared(report: ReplayReport, domain: string): Error {
  const { otherDomains, unreadable } = report;
  if (otherDomains > 0)
    return inputFault(`no line is of \`${domain}\`; ${quantity(otherDomains, 'is', 'are')} of other domains`);
  if (unreadable.count > 0) return inputFault('no line could be read as a decision');
  return inputFault('the log holds no decision');
}

/** The report for people, ending in a newline; `name` is what the rules are called. */
export function replayText(report: ReplayReport, name: string): string {
  const { compared, changed, groups } = report;
  const all = quantity(compared, 'decision');
  if (changed === 0) return visible(`${all} put to ${name}: none would change`).concat('\n');
  const lines = [`${all} put to ${name}: ${changed} would change`];
  for (const group of groups.slice(0, GROUPS_TOLD)) lines.push('', ...groupLines(group));
  const left = groups.length - GROUPS_TOLD;
  if (left > 0) lines.push('', `${quantity(left, 'more kind', 'more kinds')} of change; --json tells all`);
  return lines.map((line) => `${visible(line)}\n`).join('');
}

function groupLines({ was, now, lines, requests, examples }: ReplayGroup): readonly string[] {
  const stands = requests > lines ? `, about ${requests} requests` : '';
  const shown = examples.map(
    ({ id, request, change }) => `    ${id}  ${request}${change === null ? '' : `: ${change}`}`,
  );
  return [`${quantity(lines, 'line')}${stands}`, `  was  ${was}`, `  now  ${now}`, ...shown];
}

/** What the comparison was made with; `signatures` is their name, `null` where no waf rule inspected. */
export function replayNote(signatures: string | null): string {
  const used = signatures === null ? 'no signatures' : `the signatures \`${visible(signatures)}\``;
  return `edgeplan: compared with ${used}; the log has no bodies and no secrets, rules are compared by key or id`;
}

/** Says on stderr what was passed over. */
export function printGaps(report: ReplayReport): void {
  const { otherDomains, undecided, assumed, partial, missing, unreadable } = report;
  if (otherDomains > 0) note(`edgeplan: ${quantity(otherDomains, 'line')} of other domains passed over`);
  if (undecided > 0)
    note(`edgeplan: ${quantity(undecided, 'request')} had been refused before a domain was known`);
  if (assumed > 0)
    note(
      `edgeplan: ${quantity(assumed, 'decision depends', 'decisions depend')} on counters or signatures: taken as logged`,
    );
  if (partial > 0)
    note(
      `edgeplan: ${quantity(partial, 'request is', 'requests are')} not whole in the log (redacted, cut, or with a body)`,
    );
  if (missing > 0)
    note(`edgeplan: ${quantity(missing, 'line is', 'lines are')} missing, which the log could not take`);
  if (unreadable.count > 0)
    note(
      `edgeplan: ${quantity(unreadable.count, 'line')} could not be read; the first: ${visible(unreadable.first ?? '')}`,
    );
}
