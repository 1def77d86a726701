/**
 * Replays logged requests against a plan, reports which decisions change, and prints the report. The comparison covers
 * what a visitor, a cache or an origin would notice.
 */
import { type DecisionLine, loggedDecision } from '../../edge/proxy/log/line.ts';
import type { Decision } from '../../engine/evaluator/decision.ts';
import { refText } from '../../engine/evaluator/identity.ts';
import type { Evaluator } from '../../engine/evaluator/index.ts';
import type { CheckTrace, Trace } from '../../engine/evaluator/trace.ts';
import type { ReadValue } from '../../workbench/proofs/rule-conditions.ts';
import {
  createGroups,
  differenceOf,
  type ReplayExample,
  type ReplayGroup,
} from '../../workbench/replay/difference.ts';
import { countAnswer } from '../../workbench/simulation/conditions.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import { requestText } from '../../workbench/simulation/requests.ts';
import { inputFault } from '../exit.ts';
import { note } from '../output.ts';
import type { LogEntry } from './replay-logs.ts';

/** The result of a replay. */
export interface ReplayReport {
  /** Lines that were replayed. */
  readonly compared: number;
  /** Lines whose decision changes. */
  readonly changed: number;
  /** Ordered by frequency, descending. */
  readonly groups: readonly ReplayGroup[];
  /** Changes beyond `MAX_GROUPS`. */
  readonly ungrouped: number;
  /** Lines of other domains. */
  readonly otherDomains: number;
  /** Lines of requests that were refused before the domain was known. */
  readonly undecided: number;
  /** Decisions that depend on what a line does not contain; counted as unchanged. */
  readonly assumed: number;
  /** The conditions among what they depend on, `drop/keys conditions.headers[0] x-api-key`, with the number of such decisions. */
  readonly assumedBy: Readonly<Record<string, number>>;
  /** Lines whose request is incomplete. */
  readonly partial: number;
  /** Lines that the log reports as dropped. */
  readonly missing: number;
  /** Requests that the log has only as numbers. */
  readonly counted: number;
  readonly unreadable: { readonly count: number; readonly first: string | null };
}

/** The JSON document of a report. */
export function replayDocument({ otherDomains, assumedBy, ...report }: ReplayReport): object {
  return { ...report, assumed_by: assumedBy, other_domains: otherDomains };
}

/** The fields of a line that a replay uses. */
export type ReplayLine = Pick<
  DecisionLine,
  'id' | 'time' | 'domain' | 'request' | 'decision' | 'withheld' | 'sampled'
> & {
  /** The status of the response to the request if it is forwarded; `null`, or absent: unknown, as decision logs have none. */
  readonly answered?: number | null;
};

/** An entry of a log, or the part of a decision that a replay uses. */
export type ReplayEntry =
  | Exclude<LogEntry, { readonly kind: 'decision' }>
  | { readonly kind: 'decision'; readonly line: ReplayLine };

/** A replay: adds entries, then reports. */
export interface Replay {
  add(entry: ReplayEntry): void;
  report(): ReplayReport;
}

/** Options of a replay. */
export interface ReplayOptions {
  /**
   * Whether both sides are evaluated under equal conditions, counters and signatures included, so that nothing has
   * to be assumed. Default: no.
   */
  readonly alike?: boolean;
  /** By rule what its conditions read that a line may withhold (`withholdableReads`). Default: nothing. */
  readonly reads?: ReadonlyMap<string, readonly ReadValue[]>;
}

/** Creates a replay. `open` creates an evaluator of the rules with counters of its own. */
export function createReplay(
  open: () => Evaluator,
  { alike = false, reads = new Map() }: ReplayOptions = {},
): Replay {
  const evaluator = open();
  // Tracing a request counts it, so traces run on a second evaluator.
  const tracer = open();
  const groups = createGroups();
  const counts = {
    compared: 0,
    changed: 0,
    otherDomains: 0,
    undecided: 0,
    assumed: 0,
    partial: 0,
    missing: 0,
    counted: 0,
  };
  const unreadable = { count: 0, first: null as string | null };
  const assumedBy: Record<string, number> = {};

  function compare(line: ReplayLine): void {
    const { request, decision } = line;
    if (request === null || decision === null) {
      counts.undecided++;
      return;
    }
    if (line.domain !== evaluator.domain) {
      counts.otherDomains++;
      return;
    }
    counts.compared++;
    if (line.withheld.includes('target') || line.withheld.includes('body')) counts.partial++;
    const next = evaluator.evaluate(request);
    countAnswer(evaluator, next, line.answered ?? null);
    if (!alike && dependsOnUnlogged(line, next)) {
      counts.assumed++;
      return;
    }
    const now = loggedDecision(next);
    const found = differenceOf({ tracer, request, was: decision, now });
    if (found === null) return;
    const unread = alike ? [] : withheldConditions(line, tracer.explain(request), reads);
    if (unread.length > 0) {
      counts.assumed++;
      for (const condition of unread) assumedBy[condition] = (assumedBy[condition] ?? 0) + 1;
      return;
    }
    counts.changed++;
    const weight = typeof line.sampled === 'number' && line.sampled > 0 ? 1 / line.sampled : 1;
    groups.add(found, weight, () => exampleOf(line));
  }

  return {
    add(entry) {
      if (entry.kind === 'decision') compare(entry.line);
      else if (entry.kind === 'gap') counts.missing += entry.dropped;
      else if (entry.kind === 'counted') counts.counted += entry.line.requests;
      else {
        unreadable.count++;
        unreadable.first ??= `${entry.at}: ${entry.reason}`;
      }
    },
    report() {
      const { compared, changed, ...others } = counts;
      const [ungrouped, sorted] = [groups.ungrouped(), groups.sorted()];
      const counted = { compared, changed, ungrouped, ...others };
      return { ...counted, assumedBy: { ...assumedBy }, unreadable: { ...unreadable }, groups: sorted };
    },
  };
}

/** A changed line as an example. */
function exampleOf({ id, time, request }: ReplayLine): Omit<ReplayExample, 'change'> {
  return { id, time, request: requestText({ method: 'GET', scheme: 'https', ...request }) };
}

/**
 * Whether the decision depends only on what the line does not contain: the logged rule still matches the request,
 * but its effect depends on a counter, on signatures that are not loaded, or on withheld data.
 */
function dependsOnUnlogged({ decision, withheld }: ReplayLine, next: Decision): boolean {
  const rule = decision?.rule ?? '';
  if (!rule.startsWith('rate_limit/') && !rule.startsWith('waf/')) return false;
  if (next.action === 'block' || next.action === 'challenge') return false;
  return next.matches.some((match) => {
    const { mode, effect } = match;
    if (refText(match) !== rule || mode !== 'enforce') return false;
    return effect === 'counted' || effect === 'unavailable' || (effect === 'passed' && withheld.length > 0);
  });
}

/**
 * The conditions on withheld values on which alone the outcome of a rule depends: all its other checks pass. Such a rule may or may
 * not have matched when the line was written.
 */
function withheldConditions(
  { withheld }: ReplayLine,
  { phases }: Trace,
  reads: NonNullable<ReplayOptions['reads']>,
): readonly string[] {
  if (withheld.length === 0 || reads.size === 0) return [];
  return phases.flatMap(({ rules }) =>
    rules.flatMap((rule) => {
      const unread = (reads.get(refText(rule)) ?? []).filter((read) => withheld.includes(partOf(read)));
      const isOpen = ({ pass, entry }: CheckTrace): boolean =>
        pass === true || unread.some(({ path }) => entry?.startsWith(path) === true);
      return rule.checks.every(isOpen) ? unread.map(({ condition }) => `${refText(rule)} ${condition}`) : [];
    }),
  );
}

/** The part of a request that has a value, as `withheld` names it. */
function partOf({ member, name }: ReadValue): string {
  if (member === 'query') return 'target';
  return member === 'cookies' ? 'cookie' : name;
}

// Prints the report of a replay.

/** Conditions that a note names. */
const CONDITIONS_NAMED = 3;

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

/** How examples are printed. */
interface ExampleOptions {
  /** With the time of each. Default: no. */
  readonly timed?: boolean;
}

/** The lines of the most frequent groups. */
export function printedGroups(
  { groups }: { readonly groups: readonly ReplayGroup[] },
  options: ExampleOptions = {},
): readonly string[] {
  const lines = groups.slice(0, GROUPS_PRINTED).flatMap((group) => ['', ...groupLines(group, options)]);
  const left = groups.length - GROUPS_PRINTED;
  if (left > 0) lines.push('', `${quantity(left, 'more kind', 'more kinds')} of change; --json lists all`);
  return lines;
}

/** The lines of one group. */
function groupLines(
  { was, now, lines, requests, examples }: ReplayGroup,
  { timed = false }: ExampleOptions,
): readonly string[] {
  const represented = requests > lines ? `, about ${requests} requests` : '';
  // The group has the status.
  const shown = examples.map((one) =>
    exampleLine(timed ? { ...one, id: `${one.id}  ${one.time}`, status: null } : one),
  );
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
  const { otherDomains, undecided, assumed, assumedBy, partial, missing, counted, unreadable } = report;
  if (otherDomains > 0) note(`edgeplan: ${quantity(otherDomains, 'line')} of other domains skipped`);
  if (undecided > 0) note(`edgeplan: ${quantity(undecided, 'request')} refused before the domain was known`);
  if (assumed > 0)
    note(
      `edgeplan: ${quantity(assumed, 'decision depends', 'decisions depend')} on counters, signatures or values that the log withholds: taken as logged`,
    );
  const conditions = Object.keys(assumedBy).sort((a, b) => assumedBy[b]! - assumedBy[a]!);
  const named = conditions.slice(0, CONDITIONS_NAMED).map((text) => `${text} (${assumedBy[text]})`);
  if (named.length > 0)
    note(
      visible(
        `edgeplan: withheld values are read by ${named.join(', ')}${conditions.length > named.length ? ', …' : ''}`,
      ),
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
