/**
 * Replays logged requests against a plan and reports which decisions change. The comparison covers what a visitor,
 * a cache or an origin would notice. What a log line does not contain (counters of rate limits, signatures, the
 * health of pools) is assumed as logged, so that only the rules make a difference.
 */
import type { Decision } from '../../evaluator/decision.ts';
import { refText } from '../../evaluator/identity.ts';
import type { EdgeRequest, Evaluator } from '../../evaluator/index.ts';
import { type DecisionLine, type LoggedDecision, loggedDecision } from '../../proxy/log/line.ts';
import type { LogEntry } from './read-log.ts';

/** Examples per group. */
const EXAMPLES = 3;
/** The largest number of groups; a log of attacks on a changed rule set has a few dozen. */
const MAX_GROUPS = 1_000;

/** A request whose decision changes. */
export interface ReplayExample {
  /** The decision id. */
  readonly id: string;
  readonly time: string;
  readonly request: string;
  /** The difference that varies between requests of a group, such as the path to the origin; `null`: none. */
  readonly change: string | null;
}

/** Decisions that change in the same way. */
export interface ReplayGroup {
  readonly was: string;
  readonly now: string;
  readonly lines: number;
  /** Requests that the lines represent: a sampled line represents several. */
  readonly requests: number;
  readonly examples: readonly ReplayExample[];
}

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

/** A group while lines are added. */
interface OpenGroup {
  readonly was: string;
  readonly now: string;
  lines: number;
  requests: number;
  readonly examples: ReplayExample[];
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
    if (!alike && dependsOnUnlogged(line, next)) {
      counts.assumed++;
      return;
    }
    const now = loggedDecision(next);
    const balanced = isBalanced({ tracer, request, was: decision, now });
    const found = difference({ was: decision, now }, balanced ? BALANCED_FIELDS : []);
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

/** A changed line as an example. */
function exampleOf({ id, time, request }: ReplayLine, change: string | null): ReplayExample {
  const host = String(request?.host);
  const { method = 'GET', scheme = 'https', target = '' } = request ?? {};
  return { id, time, request: `${method} ${scheme}://${host}${target}`, change };
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

/** Two decisions for one request. */
interface OriginChange {
  readonly tracer: Evaluator;
  readonly request: EdgeRequest;
  readonly was: LoggedDecision;
  readonly now: LoggedDecision;
}

/** The fields that differ when load balancing chose another origin. */
const BALANCED_FIELDS: readonly string[] = ['origin', 'host header'];

/**
 * Whether the origins differ only by load balancing: pools, and hosts of several records, use their origins in
 * turn, and some may have been down.
 */
function isBalanced({ tracer, request, was, now }: OriginChange): boolean {
  if (was.action !== 'forward' || was.rule !== now.rule || was.origin === now.origin) return false;
  if (was.rule !== null) return was.rule.startsWith('origin_pool/');
  const { records } = tracer.explain(request).facts;
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

/** A change of one decision. */
interface Difference {
  /** Both decisions in short, equal for all requests that change in the same way. */
  readonly was: string;
  readonly now: string;
  readonly change: string | null;
}

/** Compares two decisions; `null` when nothing relevant differs. */
function difference(
  { was, now }: Pick<OriginChange, 'was' | 'now'>,
  except: readonly string[],
): Difference | null {
  const heads = { was: headOf(was), now: headOf(now) };
  // Differences that follow from another outcome are not listed.
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

/** Action, status and rule of a decision. */
function headOf({ action, status, rule }: LoggedDecision): string {
  return `${action}${status === null ? '' : ` ${status}`}${rule === null ? '' : ` by ${rule}`}`;
}

/** A field that is compared. */
interface Detail {
  readonly name: string;
  /** Whether the value varies from request to request; then it is listed with the examples instead of the group. */
  readonly varies: boolean;
  readonly of: (decision: LoggedDecision) => string;
}

/** The fields that are compared when the outcome is equal. */
const DETAILS: readonly Detail[] = [
  { name: 'location', varies: true, of: ({ location }) => location ?? 'none' },
  { name: 'origin', varies: false, of: ({ origin }) => origin ?? 'none' },
  { name: 'host header', varies: false, of: ({ host_header }) => host_header ?? 'none' },
  { name: 'path', varies: true, of: ({ path }) => path ?? 'none' },
  { name: 'cache', varies: false, of: ({ cache }) => cacheText(cache) },
  { name: 'tags', varies: false, of: ({ tags }) => (tags.length === 0 ? 'none' : tags.join(' ')) },
];

/** The cache settings of a decision. */
function cacheText(cache: LoggedDecision['cache']): string {
  if (cache === null) return 'standard';
  const edge = cache.edge_ttl_sec === null ? '' : ` ${cache.edge_ttl_sec} s`;
  const browser = cache.browser_ttl_sec === null ? '' : `, browser ${cache.browser_ttl_sec} s`;
  return `${cache.mode}${edge}${browser}`;
}
