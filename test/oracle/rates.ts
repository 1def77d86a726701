/** Rate limits as plain logs of hits (semantics §5 rate_limit, §14). */
import type { ObjectKeys, RateLimitRule, UsagePlan } from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';
import { cookieValues, headerValues, queryValues } from './values.ts';

/** Whether this request is over the limit, and if so in how many whole seconds one would be let through. */
export interface RateVerdict {
  readonly breached: boolean;
  readonly retryAfter: number | null;
  /** Requests in the window, this one included. */
  readonly count: number;
}

/** The hits of one address under one rule: a log per path (one path `''` when the rule counts by address alone). */
interface AddressLog {
  newest: number;
  readonly paths: Map<string, number[]>;
  readonly overflow: number[];
}

export interface Rates {
  /** Counts the request and judges it; with `peek` it is judged as if counted, and nothing is stored. */
  hit(rule: RateLimitRule, facts: Facts, peek: boolean): RateVerdict;
  /** What the fields of a response state of a rule that has judged the request, without its name. */
  state(rule: RateLimitRule, facts: Facts, verdict: RateVerdict): RateState;
}

/** The members of the fields `RateLimit-Policy` and `RateLimit` for one rule. */
export interface RateState {
  readonly policy: string;
  readonly limit: string;
}

const EXACT_UP_TO = 128;
const SLICES = 16;
const PATHS_PER_ADDRESS = 1024;

export function addressKey(facts: Facts): string {
  if (facts.ip === null) return 'unknown';
  return facts.ip.family === 4 ? `4 ${facts.ip.bits}` : `6 ${facts.ip.bits >> 64n}`;
}

function countedPath(facts: Facts): string {
  return (facts.twin ?? facts.path).replace(/\/$/, '');
}

function pathKey(rule: RateLimitRule, facts: Facts): string {
  return rule.key_by === 'ip' ? '' : countedPath(facts);
}

/** The text of a part of a key: of several values the first, of an absent one the empty text. */
function partText(part: string, facts: Facts): string {
  const name = part.slice(part.indexOf(':') + 1);
  const { headers } = facts.request;
  if (part === 'path') return countedPath(facts);
  if (part === 'country') return facts.country ?? '';
  if (part === 'asn') return String(facts.asn ?? '');
  if (part === 'ja4') return facts.ja4 ?? '';
  if (part.startsWith('header:')) return headerValues(headers, name)[0]?.text ?? '';
  if (part.startsWith('cookie:')) return cookieValues(headers, name)[0]?.text ?? '';
  return queryValues(facts.query, name)[0]?.text ?? '';
}

/** The parts of a key besides the address, as one text. */
function partsKey(parts: readonly string[], facts: Facts): string {
  return JSON.stringify(parts.filter((part) => part !== 'ip').map((part) => partText(part, facts)));
}

/** Parts that a visitor changes without another address. */
function isChosen(part: string): boolean {
  return !['ip', 'country', 'asn'].includes(part);
}

/** What a window is made of. */
type Window = Pick<RateLimitRule, 'limit' | 'burst' | 'window_sec' | 'on_breach' | 'count_statuses'>;

function judge(rule: Window, hits: readonly number[], allowed: number): RateVerdict {
  const window = rule.window_sec * 1000;
  const slice = (time: number) => Math.floor((time * SLICES) / window);
  const exact = rule.limit + rule.burst <= EXACT_UP_TO;
  const inWindow = (hit: number, time: number) =>
    exact ? time - hit < window : slice(hit) >= slice(time) - SLICES;
  const now = hits.at(-1)!;
  const countAt = (time: number, of = hits) => of.filter((hit) => inWindow(hit, time)).length;
  const count = countAt(now);
  if (count <= allowed) return { breached: false, retryAfter: null, count };
  // A refusal whose own status is not counted is no hit of the time after it.
  const refusal = rule.on_breach === 'drop' ? 429 : 403;
  const counts = rule.count_statuses === undefined || rule.count_statuses.includes(refusal);
  const later = counts ? hits : hits.slice(0, -1);
  const boundaries = Array.from({ length: SLICES + 1 }, (_, step) => slice(now) + step + 1);
  const free = exact
    ? later.at(-allowed)! + window
    : boundaries.map((index) => (index * window) / SLICES).find((time) => countAt(time, later) < allowed)!;
  return { breached: true, retryAfter: Math.ceil((free - now) / 1000), count };
}

/** The new values that an address has added under a rule without `ip` in its key, since when, and what they overflow to. */
interface AddressBudget {
  newest: number;
  since: number;
  added: number;
  readonly overflow: number[];
}

/** Fresh counters. */
export function createRates(keys?: ObjectKeys): Rates {
  const logs = new Map<string, AddressLog>();
  const shared = new Map<string, number[]>();
  const budgets = new Map<string, AddressBudget>();
  const horizonOf = (rule: RateLimitRule): number => (rule.window_sec * 1000 * (SLICES + 1)) / SLICES;

  /** The hits of the request's key with this one, where the address is part of the key. */
  function countOwn(rule: RateLimitRule, facts: Facts, peek: boolean): number[] {
    const key = `${rule.id} ${addressKey(facts)}`;
    const horizon = horizonOf(rule);
    const known = logs.get(key);
    const kept = known !== undefined && facts.now - known.newest < horizon ? known : undefined;
    const log: AddressLog = kept ?? { newest: facts.now, paths: new Map(), overflow: [] };
    const path = rule.key_parts === undefined ? pathKey(rule, facts) : partsKey(rule.key_parts, facts);
    const full = log.paths.size >= PATHS_PER_ADDRESS;
    const hits = log.paths.get(path) ?? (full ? log.overflow : []);
    const now = Math.max(facts.now, hits.at(-1) ?? facts.now);
    const counted = [...hits.filter((hit) => now - hit < horizon), now];
    if (!peek) {
      log.newest = Math.max(log.newest, now);
      if (log.paths.has(path) || !full) log.paths.set(path, counted);
      else log.overflow.splice(0, Infinity, ...counted);
      logs.set(key, log);
    }
    return counted;
  }

  /** The hits of the request's key with this one, where the address is no part of the key but bounds how many it adds. */
  function countShared(rule: RateLimitRule, parts: readonly string[], { facts, peek }: Counting): number[] {
    const horizon = horizonOf(rule);
    const key = `${rule.id} ${partsKey(parts, facts)}`;
    const known = shared.get(key);
    const isNew = known === undefined || facts.now - known.at(-1)! >= horizon;
    let hits = known;
    if (parts.some(isChosen)) {
      const address = `${rule.id} ${addressKey(facts)}`;
      const before = budgets.get(address);
      const time = Math.max(facts.now, before?.newest ?? facts.now);
      const isOver =
        before === undefined || facts.now - before.newest >= horizon || time - before.since >= horizon;
      const budget = isOver ? { since: facts.now, added: 0 } : before;
      const overflow = before?.overflow ?? [];
      const full = isNew && budget.added >= PATHS_PER_ADDRESS;
      if (full) hits = overflow;
      const added = budget.added + (isNew && !full ? 1 : 0);
      if (!peek) budgets.set(address, { newest: time, since: budget.since, added, overflow });
      if (full) return add(hits ?? [], { facts, peek }, horizon);
    }
    if (hits === undefined) {
      hits = [];
      if (!peek) shared.set(key, hits);
    }
    return add(hits, { facts, peek }, horizon);
  }

  /** Requests let through in a window: twice as many for a visitor who has solved the rule's challenge. */
  function allowanceOf(rule: RateLimitRule, facts: Facts): number {
    const solved =
      rule.on_breach === 'captcha' &&
      facts.cleared.includes(`rate_limit/${keys?.rules.get(rule.id) ?? rule.id}`);
    return (rule.limit + rule.burst) * (solved ? 2 : 1);
  }

  return {
    hit(rule, facts, peek) {
      const { key_parts: parts } = rule;
      const counted =
        parts === undefined || parts.includes('ip')
          ? countOwn(rule, facts, peek)
          : countShared(rule, parts, { facts, peek });
      return judge(rule, counted, allowanceOf(rule, facts));
    },
    state(rule, facts, { breached, retryAfter, count }) {
      const quota = allowanceOf(rule, facts);
      // A request that counts by the status of its response has not counted yet.
      const used = rule.count_statuses === undefined ? count : count - 1;
      const reset = breached ? retryAfter : rule.window_sec;
      return {
        policy: `q=${quota};w=${rule.window_sec}`,
        limit: `r=${Math.max(0, quota - used)};t=${reset}`,
      };
    },
  };
}

/** A request to count, or to judge as if counted. */
interface Counting {
  readonly facts: Facts;
  readonly peek: boolean;
}

/** The hits with this one; they are stored unless it is a peek. */
function add(hits: number[], { facts, peek }: Counting, horizon: number): number[] {
  const now = Math.max(facts.now, hits.at(-1) ?? facts.now);
  const counted = [...hits.filter((hit) => now - hit < horizon), now];
  if (!peek) hits.splice(0, Infinity, ...counted);
  return counted;
}

/** Counts of usage plans (semantics §15). */
export interface PlanRates {
  /** Judges a request as if it was counted. */
  judge(request: PlanRequest): PlanVerdict;
  /** Counts a request. */
  count(request: PlanRequest): void;
}

/** What a limit says of a request, the request included. */
export interface PlanVerdict extends RateVerdict {
  readonly remaining: number;
  readonly state: RateState;
}

/** A request that counts under a usage plan, or under `limits` of an operation. */
export interface PlanRequest {
  /** A text that no other limit of the domain has. */
  readonly name: string;
  readonly throttle: NonNullable<UsagePlan['throttle']>;
  /** The username; `null`: it counts under its address. */
  readonly consumer: string | null;
  /** Whether it is counted for gateways under dry_run, which have counts of their own. */
  readonly isDry: boolean;
  readonly facts: Facts;
}

/** Fresh counts. */
export function createPlanRates(): PlanRates {
  const logs = new Map<string, number[]>();
  const keyOf = ({ name, consumer, isDry, facts }: PlanRequest): string =>
    JSON.stringify([name, isDry, consumer, consumer === null ? addressKey(facts) : '']);
  const counted = (request: PlanRequest): number[] => {
    const hits = logs.get(keyOf(request)) ?? [];
    const { now } = request.facts;
    return [...hits, Math.max(now, hits.at(-1) ?? now)];
  };
  return {
    judge(request) {
      const { rate, per_sec, burst } = request.throttle;
      // A refused request is no hit of the time after it.
      const window: Window = {
        ...{ limit: rate, burst, window_sec: per_sec, on_breach: 'drop', count_statuses: [] },
      };
      const verdict = judge(window, counted(request), rate + burst);
      const remaining = Math.max(0, rate + burst - verdict.count);
      const reset = verdict.breached ? verdict.retryAfter : per_sec;
      const state = { policy: `q=${rate + burst};w=${per_sec}`, limit: `r=${remaining};t=${reset}` };
      return { ...verdict, remaining, state };
    },
    count(request) {
      logs.set(keyOf(request), counted(request));
    },
  };
}
