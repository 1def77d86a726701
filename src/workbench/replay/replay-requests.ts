/**
 * Replays the requests of access logs against one plan or two. Requests come in order of time, and the clock is the
 * log's, so that rate limits count as they would have. With one plan the report has what the rules decide and what
 * enforcing its `dry_run` rules would change; with two, which decisions flip.
 */

import { classifyUserAgent } from '../../base/text/user-agent.ts';
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import { isGenericBot } from '../../engine/classification/generic-bot.ts';
import type { Decision } from '../../engine/evaluator/decision.ts';
import { refText } from '../../engine/evaluator/identity.ts';
import type { Evaluator } from '../../engine/evaluator/index.ts';
import type { AccessEntry } from '../access-logs/entry.ts';
import { countAnswer } from '../simulation/conditions.ts';
import { requestText } from '../simulation/requests.ts';
import {
  createGroups,
  type DecisionSummary,
  difference,
  differenceOf,
  EXAMPLES,
  headOf,
  isSameDecision,
  MAX_GROUPS,
  type ReplayExample,
  type ReplayGroup,
} from './difference.ts';

/** Requests with the same outcome. */
export interface ReplayOutcome {
  /** `block 403 by drop/office`. */
  readonly outcome: string;
  readonly lines: number;
  /** How many of them were answered then: `2xx`, `3xx` and so on; `other` for those without a status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly examples: readonly ReplayExample[];
}

/** What access logs come to under the rules. */
export interface RequestsReport {
  /** Requests that were evaluated. */
  readonly compared: number;
  /** Requests whose decision flips from the older plan to the newer; 0 with one plan. */
  readonly changed: number;
  readonly groups: readonly ReplayGroup[];
  readonly ungrouped: number;
  /** What the newer plan decides, most frequent first; requests that no rule settled are `forward`. */
  readonly outcomes: readonly ReplayOutcome[];
  /** What enforcing every `dry_run` rule of the newer plan would change. */
  readonly shadow: {
    readonly changed: number;
    readonly groups: readonly ReplayGroup[];
    readonly ungrouped: number;
  };
  /** Requests to hosts that no proxied record of the newer plan serves. */
  readonly otherHosts: number;
}

/** What a replay of access logs works with. */
export interface RequestReplayOptions {
  /** Creates an evaluator of the older rules; `null`: there is one plan. */
  readonly before: (() => Evaluator) | null;
  /** Creates an evaluator of the newer rules, with counters of its own. */
  readonly after: () => Evaluator;
  /** The compared part of a decision, without secrets. */
  readonly summarise: (decision: Decision) => DecisionSummary;
  /** A target without secrets, for examples. */
  readonly redact: (target: string) => string;
}

/** A replay of access logs: takes requests in order of time, then reports. */
export interface RequestReplay {
  add(entry: AccessEntry): void;
  report(): RequestsReport;
}

/** An outcome while requests are added. */
interface OpenOutcome {
  readonly outcome: string;
  lines: number;
  /** By the first digit of the logged status; 0: none. */
  readonly statuses: number[];
  readonly examples: ReplayExample[];
}

/** Status of a request to a host that is not served. */
const MISDIRECTED = 421;

/** Creates a replay. */
export function createRequestReplay(options: RequestReplayOptions): RequestReplay {
  const { summarise, redact } = options;
  const after = options.after();
  const before = options.before?.() ?? null;
  const tracer = options.after();
  const flips = createGroups();
  const shadows = createGroups();
  const outcomes = new Map<string, OpenOutcome>();
  const forwarded = openOutcome('forward');
  // Beyond the largest number of outcomes.
  const others = openOutcome('other outcomes');
  const counts = { compared: 0, changed: 0, shadow: 0, otherHosts: 0 };

  function countOutcome(entry: AccessEntry, decision: Decision): void {
    const outcome = isPlain(decision) ? forwarded : outcomeOf(decision);
    outcome.lines++;
    outcome.statuses[statusClass(entry.status)]!++;
    if (outcome !== forwarded && outcome.examples.length < EXAMPLES)
      outcome.examples.push(exampleOf(entry, redact));
  }

  function outcomeOf(decision: Decision): OpenOutcome {
    const text = outcomeText(decision);
    let known = outcomes.get(text);
    if (known === undefined) {
      if (outcomes.size >= MAX_GROUPS) return others;
      known = openOutcome(text);
      outcomes.set(text, known);
    }
    return known;
  }

  function compareShadow(entry: AccessEntry, decision: Decision): void {
    const { shadow } = decision;
    if (shadow === null || isSameDecision(decision, shadow)) return;
    const found = difference({ was: summarise(decision), now: summarise(shadow) });
    if (found === null) return;
    counts.shadow++;
    shadows.add(found, entry.weight, () => exampleOf(entry, redact));
  }

  function compare(entry: AccessEntry, was: Decision, now: Decision): void {
    if (isSameDecision(was, now)) return;
    const { request } = entry;
    const found = differenceOf({ tracer, request, was: summarise(was), now: summarise(now) });
    if (found === null) return;
    counts.changed++;
    flips.add(found, entry.weight, () => exampleOf(entry, redact));
  }

  return {
    add(entry) {
      const { request } = entry;
      // Both count the request, whatever the other decides.
      const was = before === null ? null : before.evaluate(request);
      const now = after.evaluate(request);
      if (before !== null && was !== null) countAnswer(before, was, entry.status);
      countAnswer(after, now, entry.status);
      if (isUnserved(now) && (was === null || isUnserved(was))) {
        counts.otherHosts++;
        return;
      }
      counts.compared++;
      countOutcome(entry, now);
      compareShadow(entry, now);
      if (was !== null) compare(entry, was, now);
    },
    report() {
      const { compared, changed, shadow, otherHosts } = counts;
      const all = [forwarded, ...outcomes.values(), others].filter(({ lines }) => lines > 0);
      return {
        compared,
        changed,
        ungrouped: flips.ungrouped(),
        groups: flips.sorted(),
        outcomes: all.sort((left, right) => right.lines - left.lines).map(closedOutcome),
        shadow: { changed: shadow, ungrouped: shadows.ungrouped(), groups: shadows.sorted() },
        otherHosts,
      };
    },
  };
}

/** Action, status and rule: `block 403 by drop/office`. */
export function outcomeText({ action, status, rule }: Decision): string {
  return headOf({ action, status, rule: rule === null ? null : refText(rule) });
}

/** Forwarded without a rule that settled where to: most of the requests. */
function isPlain({ action, rule }: Decision): boolean {
  return action === 'forward' && rule === null;
}

/** Whether no proxied record serves the host of the request. */
export function isUnserved({ action, status }: Decision): boolean {
  return action === 'refuse' && status === MISDIRECTED;
}

function openOutcome(outcome: string): OpenOutcome {
  return { outcome, lines: 0, statuses: [0, 0, 0, 0, 0, 0], examples: [] };
}

/** The first digit of a status; 0 for none and for what is no status. */
function statusClass(status: number): number {
  const digit = Math.floor(status / 100);
  return digit >= 1 && digit <= 5 ? digit : 0;
}

function closedOutcome({ outcome, lines, statuses, examples }: OpenOutcome): ReplayOutcome {
  const named = statuses.map((count, digit) => [digit === 0 ? 'other' : `${digit}xx`, count] as const);
  return { outcome, lines, statuses: Object.fromEntries(named.filter(([, count]) => count > 0)), examples };
}

/** Characters of the texts of an example: examples of all groups are in memory at once. */
const LONGEST_TEXT = 2_048;

/** A text of an example: cut, and a copy, since a part of a line refers to the text of its whole chunk. */
export function exampleText(text: string): string {
  return Buffer.from(text.slice(0, LONGEST_TEXT)).toString();
}

/** The place, time and request of a line, without secrets in its target. */
export function exampleOf(
  { file, line, time, status, request }: AccessEntry,
  redact: (target: string) => string,
): ReplayExample {
  const text = requestText({ ...request, target: redact(request.target) });
  return {
    id: `${file}:${line}`,
    time: Number.isFinite(time) ? new Date(time).toISOString() : '',
    request: exampleText(text),
    status: status === 0 ? null : status,
    change: null,
  };
}

// Classifies the User-Agents of a log as a node does: a named bot, else a `generic-bot` (isbot), else none. Answers are
// cached, since a log has few different User-Agents.

/** A declared bot; `null`: none. */
type DeclaredBot = { readonly kind: string; readonly verified: boolean } | null;

/** User-Agents whose bot is cached; beyond, all are forgotten: some 1 MB. */
const MAX_AGENTS = 4_096;
/** Characters of the longest User-Agent that is cached. */
const LONGEST_CACHED = 512;

/** Creates a classifier with a cache of its own. */
export function createAgentClassifier(): (userAgent: string | undefined) => DeclaredBot {
  const known = new Map<string, DeclaredBot>();
  return (userAgent) => {
    if (userAgent === undefined) return null;
    const cached = known.get(userAgent);
    if (cached !== undefined) return cached;
    const bot = botOf(userAgent);
    if (userAgent.length <= LONGEST_CACHED) {
      if (known.size >= MAX_AGENTS) known.clear();
      // A copy: a part of a line refers to the whole chunk of the log.
      known.set(Buffer.from(userAgent).toString(), bot);
    }
    return bot;
  };
}

function botOf(userAgent: string): DeclaredBot {
  const kind = classifyUserAgent(userAgent);
  if (kind >= 0) return { kind: BOT_KINDS[kind]!, verified: false };
  return isGenericBot(userAgent) ? { kind: 'generic-bot', verified: false } : null;
}
