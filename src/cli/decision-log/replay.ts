/**
 * Replays logged requests against a plan and reports which decisions change. The comparison covers what a visitor,
 * a cache or an origin would notice. What a log line does not contain (counters of rate limits, signatures, the
 * health of pools) is assumed as logged, so that only the rules make a difference.
 */
import { type DecisionLine, loggedDecision } from '../../edge/proxy/log/line.ts';
import type { Decision } from '../../engine/evaluator/decision.ts';
import { refText } from '../../engine/evaluator/identity.ts';
import type { Evaluator } from '../../engine/evaluator/index.ts';
import {
  createGroups,
  differenceOf,
  type ReplayExample,
  type ReplayGroup,
} from '../../workbench/replay/difference.ts';
import { requestText } from '../../workbench/simulation/requests.ts';
import type { LogEntry } from './read-log.ts';

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
  /** Lines whose request is incomplete. */
  readonly partial: number;
  /** Lines that the log reports as dropped. */
  readonly missing: number;
  /** Requests that the log has only as numbers. */
  readonly counted: number;
  readonly unreadable: { readonly count: number; readonly first: string | null };
}

/** The JSON document of a report. */
export function replayDocument({ otherDomains, ...report }: ReplayReport): object {
  return { ...report, other_domains: otherDomains };
}

/** The fields of a line that a replay uses. */
export type ReplayLine = Pick<
  DecisionLine,
  'id' | 'time' | 'domain' | 'request' | 'decision' | 'withheld' | 'sampled'
>;

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
}

/** Creates a replay. `open` creates an evaluator of the rules with counters of its own. */
export function createReplay(open: () => Evaluator, { alike = false }: ReplayOptions = {}): Replay {
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
    if (!alike && dependsOnUnlogged(line, next)) {
      counts.assumed++;
      return;
    }
    const now = loggedDecision(next);
    const found = differenceOf({ tracer, request, was: decision, now });
    if (found === null) return;
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
      return { compared, changed, ungrouped, ...others, unreadable: { ...unreadable }, groups: sorted };
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
