/**
 * Counts lines of the decision log, one by one and in plain maps: what semantics §10 asks of the API, written from the text
 * and the format of the log alone. Shares no code with `src/engine/counts`.
 */
import type { DecisionLine, LoggedDecision, LoggedMatch } from '../../src/edge/proxy/log/line.ts';

/** Requests by name. */
export type Tally = Map<string, number>;

/** What one rule did. */
export interface NaiveRule {
  hits: number;
  /** By `<mode> <effect>`. */
  readonly effects: Tally;
  /** By `<from> -> <to> instead of <rule>`. */
  readonly changes: Tally;
  /** Milliseconds since the epoch, of the last one. */
  lastAt: number;
}

/** The counts of some lines. */
export interface NaiveTraffic {
  requests: number;
  octetsIn: number;
  octetsOut: number;
  originRequests: number;
  originErrors: number;
  readonly by: Readonly<Record<'action' | 'status' | 'cache' | 'country' | 'bot', Tally>>;
  readonly top: Readonly<Record<'path' | 'address' | 'country' | 'user_agent' | 'ja4' | 'referrer', Tally>>;
  /** By `<type>/<id>`. */
  readonly rules: Map<string, NaiveRule>;
  readonly visitors: Set<string>;
}

/** Counts of no line. */
export function noTraffic(): NaiveTraffic {
  return {
    requests: 0,
    octetsIn: 0,
    octetsOut: 0,
    originRequests: 0,
    originErrors: 0,
    by: { action: new Map(), status: new Map(), cache: new Map(), country: new Map(), bot: new Map() },
    top: {
      path: new Map(),
      address: new Map(),
      country: new Map(),
      user_agent: new Map(),
      ja4: new Map(),
      referrer: new Map(),
    },
    rules: new Map(),
    visitors: new Set(),
  };
}

function add(tally: Tally, name: string | null | undefined, times: number): void {
  if (name !== null && name !== undefined) tally.set(name, (tally.get(name) ?? 0) + times);
}

/** Counts a line so many times. */
export function countLine(traffic: NaiveTraffic, line: DecisionLine, times = 1): void {
  const { request, decision } = line;
  if (times === 0 || request === null || decision === null) return;
  traffic.requests += times;
  traffic.octetsIn += (line.octets_in ?? 0) * times;
  traffic.octetsOut += line.octets * times;
  if ((line.origin ?? null) !== null) traffic.originRequests += times;
  if (line.origin === 'failed') traffic.originErrors += times;
  const { by, top } = traffic;
  add(by.action, decision.action, times);
  add(by.status, String(line.status), times);
  add(by.cache, line.cache ?? 'none', times);
  add(by.country, request.country ?? 'unknown', times);
  add(by.bot, request.bot?.kind ?? 'none', times);
  const { headers = {} } = request;
  const userAgent = headers['user-agent'] as string | undefined;
  add(top.path, request.target.split('?')[0]!, times);
  add(top.address, request.ip, times);
  add(top.country, request.country, times);
  add(top.user_agent, userAgent, times);
  add(top.ja4, request.ja4, times);
  const referrer = headers['referer'] as string | undefined;
  add(top.referrer, referrer?.replace(/^https?:\/\//, '').split('?')[0], times);
  traffic.visitors.add(`${request.ip} ${userAgent}`);
  countRules(traffic, line, times);
}

function ruleOf({ rules }: NaiveTraffic, name: string): NaiveRule {
  const found = rules.get(name) ?? { hits: 0, effects: new Map(), changes: new Map(), lastAt: 0 };
  rules.set(name, found);
  return found;
}

function countRules(traffic: NaiveTraffic, line: DecisionLine, times: number): void {
  const endedAt = Math.floor(Date.parse(line.time) + line.duration_ms);
  const matches = [...line.matches, ...(line.page_matches ?? [])];
  for (const name of new Set(matches.map(({ rule, mode, effect }) => `${rule} ${mode} ${effect}`))) {
    const [rule, mode, effect] = name.split(' ') as [string, string, string];
    const counted = ruleOf(traffic, rule);
    counted.hits += times;
    counted.lastAt = Math.max(counted.lastAt, endedAt);
    add(counted.effects, `${mode} ${effect}`, times);
  }
  const { decision, shadow } = line;
  if (decision === null || shadow === null) return;
  for (const { rule, change } of changesOf(decision, shadow, line.matches))
    add(ruleOf(traffic, rule).changes, change, times);
}

const wordsOf = ({ action, status }: LoggedDecision): string =>
  status === null ? action : `${action} ${status}`;

/** What differs between the decision and the shadow, in the words of changes. */
function differencesOf(one: LoggedDecision, other: LoggedDecision): readonly string[] {
  const differs = (read: (decision: LoggedDecision) => unknown): boolean =>
    JSON.stringify(read(one)) !== JSON.stringify(read(other));
  if (differs(({ action, status }) => [action, status])) return ['outcome'];
  switch (one.action) {
    case 'redirect':
      return differs(({ location }) => location) ? ['location'] : [];
    case 'respond':
      return differs(({ rule }) => rule) ? ['response'] : [];
    case 'forward':
      return [
        ...(differs(({ origin, host_header }) => [origin, host_header]) ? ['origin'] : []),
        ...(differs(({ path }) => path) ? ['path'] : []),
        ...(differs(({ cache }) => cache) ? ['cache'] : []),
        ...(differs(({ tags }) => tags) ? ['tags'] : []),
      ];
    default:
      return [];
  }
}

/** Differences that a dry_run rule causes by its effect, without settling the outcome. */
const CAUSED: Readonly<Record<string, readonly string[]>> = {
  tag: ['tags'],
  alt_origin: ['outcome', 'origin', 'path', 'cache', 'tags'],
  passed: ['outcome'],
  unavailable: ['outcome'],
  rewrite: ['outcome', 'path'],
  cache: ['cache', 'path'],
  origin: ['origin'],
};

/** The dry_run rules to which the shadow is attributed, each with its change. */
function changesOf(
  decision: LoggedDecision,
  shadow: LoggedDecision,
  matches: readonly LoggedMatch[],
): readonly { readonly rule: string; readonly change: string }[] {
  const differences = differencesOf(decision, shadow);
  if (differences.length === 0) return [];
  const instead =
    decision.rule === null || decision.rule === shadow.rule ? '' : ` instead of ${decision.rule}`;
  const change = (changed: readonly string[]): string => {
    const to =
      differences[0] === 'outcome'
        ? wordsOf(shadow)
        : `${wordsOf(decision)} with other ${changed.join(', ')}`;
    return `${wordsOf(decision)} -> ${to}${instead}`;
  };
  const dry = [
    ...new Map(
      matches
        .filter(({ mode }) => mode === 'dry_run')
        .reverse()
        .map((one) => [one.rule, one]),
    ).values(),
  ];
  const bothForwarded = decision.action === 'forward' && shadow.action === 'forward';
  const settler = dry.find(({ rule }) => rule === shadow.rule);
  if (!bothForwarded && settler !== undefined) return [{ rule: settler.rule, change: change(differences) }];
  const causes = dry.map(({ rule, effect }) => ({
    rule,
    changed: differences.filter((one) => (CAUSED[effect] ?? []).includes(one)),
  }));
  const acting = causes.filter(({ changed }) => changed.length > 0);
  if (acting.length > 0) return acting.map(({ rule, changed }) => ({ rule, change: change(changed) }));
  return dry.map(({ rule }) => ({ rule, change: change(differences) }));
}
