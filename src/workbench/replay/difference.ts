/**
 * Compares two decisions of one request, as to what a visitor, a cache or an origin would notice, and groups decisions
 * that change in the same way. Origins that differ by load balancing alone do not count. The number of groups and
 * examples is bounded.
 */
import type { Action, Decision } from '../../engine/evaluator/decision.ts';
import type { EdgeRequest, Evaluator } from '../../engine/evaluator/index.ts';

/** The part of a decision that is compared, as a decision log has it. */
export interface DecisionSummary {
  readonly action: Action;
  readonly status: number | null;
  /** `<type>/<id>` of the rule that settled the outcome. */
  readonly rule: string | null;
  readonly location: string | null;
  /** `scheme://address:port`. */
  readonly origin: string | null;
  readonly host_header: string | null;
  /** Path and query for the origin. */
  readonly path: string | null;
  readonly cache: {
    readonly mode: string;
    readonly edge_ttl_sec: number | null;
    readonly browser_ttl_sec: number | null;
  } | null;
  readonly tags: readonly string[];
  /** What headers rules did, `set x-name`; absent: nothing. */
  readonly request_headers?: readonly string[];
  readonly response_headers?: readonly string[];
}

/** Two decisions of one request. */
export interface DecisionPair {
  readonly was: DecisionSummary;
  readonly now: DecisionSummary;
}

/** A change of one decision. */
interface Difference {
  /** Both decisions in short, equal for all requests that change in the same way. */
  readonly was: string;
  readonly now: string;
  /** The difference that varies between such requests, such as the path to the origin; `null`: none. */
  readonly change: string | null;
}

/** Two decisions, with what a check for load balancing needs. */
export interface ComparedRequest extends DecisionPair {
  readonly request: EdgeRequest;
  /** An evaluator of the newer rules, apart from the one that decides: tracing a request counts it. */
  readonly tracer: Evaluator;
}

/** Compares two decisions; `null` when nothing relevant differs. */
export function differenceOf(compared: ComparedRequest): Difference | null {
  return difference(compared, isBalanced(compared) ? BALANCED_FIELDS : []);
}

/** The fields that differ when load balancing chose another origin. */
const BALANCED_FIELDS: readonly string[] = ['origin', 'host header'];

/**
 * Whether the origins differ only by load balancing: pools, and hosts of several records, use their origins in
 * turn, and some may have been down.
 */
function isBalanced({ tracer, request, was, now }: ComparedRequest): boolean {
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

/** Compares two decisions; `null` when nothing relevant differs. */
export function difference({ was, now }: DecisionPair, except: readonly string[] = []): Difference | null {
  const heads = { was: headOf(was), now: headOf(now) };
  // Differences that follow from another outcome are not listed.
  if (heads.was !== heads.now) return { ...heads, change: null };
  const changed = DETAILS.filter(({ name, of }) => !except.includes(name) && of(was) !== of(now));
  if (changed.length === 0) return null;
  const varying = changed.filter(({ varies }) => varies);
  const steady = (decision: DecisionSummary): readonly string[] =>
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
export function headOf({
  action,
  status,
  rule,
}: Pick<DecisionSummary, 'action' | 'status' | 'rule'>): string {
  return `${action}${status === null ? '' : ` ${status}`}${rule === null ? '' : ` by ${rule}`}`;
}

/** A field that is compared. */
interface Detail {
  readonly name: string;
  /** Whether the value varies from request to request; then it is listed with the examples instead of the group. */
  readonly varies: boolean;
  readonly of: (decision: DecisionSummary) => string;
}

/** The fields that are compared when the outcome is equal. */
const DETAILS: readonly Detail[] = [
  { name: 'location', varies: true, of: ({ location }) => location ?? 'none' },
  { name: 'origin', varies: false, of: ({ origin }) => origin ?? 'none' },
  { name: 'host header', varies: false, of: ({ host_header }) => host_header ?? 'none' },
  { name: 'path', varies: true, of: ({ path }) => path ?? 'none' },
  { name: 'cache', varies: false, of: ({ cache }) => cacheText(cache) },
  { name: 'tags', varies: false, of: ({ tags }) => (tags.length === 0 ? 'none' : tags.join(' ')) },
  { name: 'request headers', varies: false, of: ({ request_headers }) => listed(request_headers) },
  { name: 'response headers', varies: false, of: ({ response_headers }) => listed(response_headers) },
];

function listed(changes: readonly string[] | undefined): string {
  return changes === undefined ? 'unchanged' : changes.join(' ');
}

/** The cache settings of a decision. */
function cacheText(cache: DecisionSummary['cache']): string {
  if (cache === null) return 'standard';
  const edge = cache.edge_ttl_sec === null ? '' : ` ${cache.edge_ttl_sec} s`;
  const browser = cache.browser_ttl_sec === null ? '' : `, browser ${cache.browser_ttl_sec} s`;
  return `${cache.mode}${edge}${browser}`;
}

const UNCHANGED: readonly string[] = [];

/** Changes of headers as logs have them, without values. */
function namesOf(changes: Decision['requestHeaders']): readonly string[] {
  return changes === undefined ? UNCHANGED : changes.map(({ op, name }) => `${op} ${name}`);
}

/** Whether two decisions are equal in all that is compared. */
// PERF: most of the decisions of a replay are; summaries of them would take longer than the decisions.
export function isSameDecision(was: Decision, now: Decision): boolean {
  return (
    was.action === now.action &&
    was.status === now.status &&
    was.path === now.path &&
    was.query === now.query &&
    was.location === now.location &&
    isSameRule(was.rule, now.rule) &&
    isSameOrigin(was.origin, now.origin) &&
    isSameCache(was.cache, now.cache) &&
    isSameList(was.tags, now.tags) &&
    isSameList(namesOf(was.requestHeaders), namesOf(now.requestHeaders)) &&
    isSameList(namesOf(was.responseHeaders), namesOf(now.responseHeaders))
  );
}

function isSameRule(was: Decision['rule'], now: Decision['rule']): boolean {
  if (was === null || now === null) return was === now;
  return was.type === now.type && (was.key ?? was.id) === (now.key ?? now.id);
}

function isSameOrigin(was: Decision['origin'], now: Decision['origin']): boolean {
  if (was === null || now === null) return was === now;
  return (
    was.address === now.address &&
    was.port === now.port &&
    was.scheme === now.scheme &&
    was.hostHeader === now.hostHeader
  );
}

function isSameCache(was: Decision['cache'], now: Decision['cache']): boolean {
  if (was === null || now === null) return was === now;
  return was.mode === now.mode && was.edgeTtl === now.edgeTtl && was.browserTtl === now.browserTtl;
}

function isSameList(was: readonly string[], now: readonly string[]): boolean {
  return was.length === now.length && was.every((one, index) => one === now[index]);
}

// Decisions that change in the same way, as groups with examples. The number of groups and examples is bounded.

/** Examples per group. */
export const EXAMPLES = 3;
/** The largest number of groups; a log of attacks on a changed rule set has a few dozen. */
export const MAX_GROUPS = 1_000;

/** A request whose decision changes. */
export interface ReplayExample {
  /** The decision id; of an access log the file and the line. */
  readonly id: string;
  readonly time: string;
  readonly request: string;
  /** Of an access log, the logged status; `null`: the log has none. */
  readonly status?: number | null;
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

/** Groups while lines are added. */
export interface OpenGroups {
  /** `weight`: requests that the line represents. `example` is made for the first lines of a group. */
  add(difference: Difference, weight: number, example: () => Omit<ReplayExample, 'change'>): void;
  /** By frequency, descending. */
  sorted(): readonly ReplayGroup[];
  /** Changes beyond `MAX_GROUPS`. */
  ungrouped(): number;
}

/** A group while lines are added. */
interface OpenGroup {
  readonly was: string;
  readonly now: string;
  lines: number;
  requests: number;
  readonly examples: ReplayExample[];
}

/** Creates groups without any line. */
export function createGroups(): OpenGroups {
  const groups = new Map<string, OpenGroup>();
  let ungrouped = 0;
  return {
    add({ was, now, change }, weight, example) {
      const key = JSON.stringify([was, now]);
      let known = groups.get(key);
      if (known === undefined) {
        if (groups.size >= MAX_GROUPS) {
          ungrouped++;
          return;
        }
        known = { was, now, lines: 0, requests: 0, examples: [] };
        groups.set(key, known);
      }
      known.lines++;
      known.requests += weight;
      if (known.examples.length < EXAMPLES) known.examples.push({ ...example(), change });
    },
    sorted() {
      const sorted = [...groups.values()].sort((left, right) => right.lines - left.lines);
      return sorted.map((one) => ({ ...one, requests: Math.round(one.requests) }));
    },
    ungrouped: () => ungrouped,
  };
}
