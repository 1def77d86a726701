/**
 * Puts logged requests to a plan and tells which decisions would be others. Compared is what a visitor, a cache or an
 * origin would notice. What a line cannot tell (counters of rate limits, signatures, the health of pools) is taken as it
 * was on that day, so that only the rules make a difference.
 */
import type { Decision } from '../../evaluator/decision.ts';
import { refText } from '../../evaluator/identity.ts';
import type { EdgeRequest, Evaluator } from '../../evaluator/index.ts';
import { type DecisionLine, type LoggedDecision, loggedDecision } from '../../proxy/log/line.ts';
import type { LogEntry } from './read-log.ts';

/** Examples kept of each group. */
const EXAMPLES = 3;
/** Groups told apart; a log of attacks on a changed rule set has a few dozen. */
const MAX_GROUPS = 1_000;

export interface ReplayExample {
  readonly id: string;
  readonly time: string;
  readonly request: string;
  /** What differs from request to request, such as the path that the origin gets; `null`: nothing does. */
  readonly change: string | null;
}

/** Decisions that changed in the same way. */
export interface ReplayGroup {
  readonly was: string;
  readonly now: string;
  readonly lines: number;
  /** Requests that the lines stand for: sampled ones stand for several. */
  readonly requests: number;
  readonly examples: readonly ReplayExample[];
}

export interface ReplayReport {
  /** Lines put to the plan. */
  readonly compared: number;
  readonly changed: number;
  /** The most frequent first. */
  readonly groups: readonly ReplayGroup[];
  /** Changes beyond the groups that are told apart. */
  readonly ungrouped: number;
  /** Lines of other domains, and of requests that were refused before a domain was known. */
  readonly otherDomains: number;
  readonly undecided: number;
  /** Decisions that hang on what a line cannot tell, taken as they were. */
  readonly assumed: number;
  /** Lines whose request is not whole. */
  readonly partial: number;
  /** Lines the log itself says are missing. */
  readonly missing: number;
  readonly unreadable: { readonly count: number; readonly first: string | null };
}

/** What of a line is looked at. */
export type ReplayLine = Pick<
  DecisionLine,
  'id' | 'time' | 'domain' | 'request' | 'decision' | 'withheld' | 'sampled'
>;

/** An entry of a log, or as much of a decision as is looked at. */
export type ReplayEntry =
  | Exclude<LogEntry, { readonly kind: 'decision' }>
  | { readonly kind: 'decision'; readonly line: ReplayLine };

export interface Replay {
  add(entry: ReplayEntry): void;
  report(): ReplayReport;
}

interface OpenGroup {
  readonly was: string;
  readonly now: string;
  lines: number;
  requests: number;
  readonly examples: ReplayExample[];
}

export interface ReplayOptions {
  /**
   * The decisions were made under the same conditions as these will be, counters and signatures included, so nothing has
   * to be taken as it was. Default: no.
   */
  readonly alike?: boolean;
}

/** `open` makes evaluators of the rules, each with counters of its own. */
export function createReplay(open: () => Evaluator, { alike = false }: ReplayOptions = {}): Replay {
  const evaluator = open();
  // Accounting for a request counts it, so it is not done by the one that replays.
  const accountant = open();
  const groups = new Map<string, OpenGroup>();
  const counts = {
    compared: 0,
    changed: 0,
    ungrouped: 0,
    otherDomains: 0,
    undecided: 0,
    assumed: 0,
    partial: 0,
    missing: 0,
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
    if (!alike && hangsOnTheDay(line, next)) {
      counts.assumed++;
      return;
    }
    const now = loggedDecision(next);
    const turn = isTurn({ accountant, request, was: decision, now });
    const found = difference({ was: decision, now }, turn ? TURNING : []);
    if (found === null) return;
    counts.changed++;
    group(line, found);
  }

  function group(line: ReplayLine, { was, now, change }: Difference): void {
    const key = JSON.stringify([was, now]);
    let known = groups.get(key);
    if (known === undefined) {
      if (groups.size >= MAX_GROUPS) {
        counts.ungrouped++;
        return;
      }
      known = { was, now, lines: 0, requests: 0, examples: [] };
      groups.set(key, known);
    }
    known.lines++;
    known.requests += typeof line.sampled === 'number' && line.sampled > 0 ? 1 / line.sampled : 1;
    if (known.examples.length < EXAMPLES) known.examples.push(exampleOf(line, change));
  }

  return {
    add(entry) {
      if (entry.kind === 'decision') compare(entry.line);
      else if (entry.kind === 'gap') counts.missing += entry.dropped;
      else {
        unreadable.count++;
        unreadable.first ??= `${entry.at}: ${entry.reason}`;
      }
    },
    report() {
      const sorted = [...groups.values()].sort((left, right) => right.lines - left.lines);
      const rounded = sorted.map((one) => ({ ...one, requests: Math.round(one.requests) }));
      return { ...counts, unreadable: { ...unreadable }, groups: rounded };
    },
  };
}

function exampleOf({ id, time, request }: ReplayLine, change: string | null): ReplayExample {
  const host = String(request?.host);
  const { method = 'GET', scheme = 'https', target = '' } = request ?? {};
  return { id, time, request: `${method} ${scheme}://${host}${target}`, change };
}

/**
 * Whether the two would differ only in what the line cannot tell: the rule that settled it then still listens to the
 * request, but whether it acts hangs on a counter, on signatures that are not here, or on what was withheld from them.
 */
function hangsOnTheDay({ decision, withheld }: ReplayLine, next: Decision): boolean {
  const rule = decision?.rule ?? '';
  if (!rule.startsWith('rate_limit/') && !rule.startsWith('waf/')) return false;
  if (next.action === 'block' || next.action === 'challenge') return false;
  return next.matches.some((match) => {
    const { mode, effect } = match;
    if (refText(match) !== rule || mode !== 'enforce') return false;
    return effect === 'counted' || effect === 'unavailable' || (effect === 'passed' && withheld.length > 0);
  });
}

interface Turned {
  readonly accountant: Evaluator;
  readonly request: EdgeRequest;
  readonly was: LoggedDecision;
  readonly now: LoggedDecision;
}

/** What differs when it is another origin's turn. */
const TURNING: readonly string[] = ['origin', 'host header'];

/**
 * Whether two origins differ only in whose turn it was: pools, and hosts of several records, answer from each in turn,
 * and some may have been down.
 */
function isTurn({ accountant, request, was, now }: Turned): boolean {
  if (was.action !== 'forward' || was.rule !== now.rule || was.origin === now.origin) return false;
  if (was.rule !== null) return was.rule.startsWith('origin_pool/');
  const { records } = accountant.explain(request).facts;
  const address = addressOf(was.origin ?? '');
  return records.some(({ destination }) => destination === address);
}

/** `2001:db8::1` of `https://[2001:db8::1]:443`. */
function addressOf(origin: string): string {
  const place = origin.slice(origin.indexOf('://') + 3);
  if (place.startsWith('[')) return place.slice(1, place.indexOf(']'));
  const colon = place.indexOf(':');
  return colon < 0 ? place : place.slice(0, colon);
}

interface Difference {
  /** Both decisions in a few words, the same for all requests that changed in the same way. */
  readonly was: string;
  readonly now: string;
  readonly change: string | null;
}

function difference({ was, now }: Pick<Turned, 'was' | 'now'>, except: readonly string[]): Difference | null {
  const heads = { was: headOf(was), now: headOf(now) };
  // What follows from another outcome need not be told as well.
  if (heads.was !== heads.now) return { ...heads, change: null };
  const changed = DETAILS.filter(({ name, of }) => !except.includes(name) && of(was) !== of(now));
  if (changed.length === 0) return null;
  const varying = changed.filter(({ varies }) => varies);
  const steady = (decision: LoggedDecision): readonly string[] =>
    changed.filter(({ varies }) => !varies).map(({ name, of }) => `${name} ${of(decision)}`);
  return {
    was: [heads.was, ...steady(was)].join(', '),
    now: [heads.now, ...steady(now), ...varying.map(({ name }) => `another ${name}`)].join(', '),
    change:
      varying.length === 0
        ? null
        : varying.map(({ name, of }) => `${name} ${of(was)} → ${of(now)}`).join(', '),
  };
}

function headOf({ action, status, rule }: LoggedDecision): string {
  return `${action}${status === null ? '' : ` ${status}`}${rule === null ? '' : ` by ${rule}`}`;
}

interface Detail {
  readonly name: string;
  /** From request to request, so that it belongs to examples and not to what they have in common. */
  readonly varies: boolean;
  readonly of: (decision: LoggedDecision) => string;
}

const DETAILS: readonly Detail[] = [
  { name: 'location', varies: true, of: ({ location }) => location ?? 'none' },
  { name: 'origin', varies: false, of: ({ origin }) => origin ?? 'none' },
  { name: 'host header', varies: false, of: ({ host_header }) => host_header ?? 'none' },
  { name: 'path', varies: true, of: ({ path }) => path ?? 'none' },
  { name: 'cache', varies: false, of: ({ cache }) => cacheText(cache) },
  { name: 'tags', varies: false, of: ({ tags }) => (tags.length === 0 ? 'none' : tags.join(' ')) },
];

function cacheText(cache: LoggedDecision['cache']): string {
  if (cache === null) return 'standard';
  const edge = cache.edge_ttl_sec === null ? '' : ` ${cache.edge_ttl_sec} s`;
  const browser = cache.browser_ttl_sec === null ? '' : `, browser ${cache.browser_ttl_sec} s`;
  return `${cache.mode}${edge}${browser}`;
}
