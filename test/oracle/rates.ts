/** Rate limits as plain logs of hits (semantics §5 rate_limit). */
import type { ObjectKeys, RateLimitRule } from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';

/** Whether this request is over the limit, and if so in how many whole seconds one would be let through. */
export interface RateVerdict {
  readonly breached: boolean;
  readonly retryAfter: number | null;
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
}

const EXACT_UP_TO = 128;
const SLICES = 16;
const PATHS_PER_ADDRESS = 1024;

function addressKey(facts: Facts): string {
  if (facts.ip === null) return 'unknown';
  return facts.ip.family === 4 ? `4 ${facts.ip.bits}` : `6 ${facts.ip.bits >> 64n}`;
}

function pathKey(rule: RateLimitRule, facts: Facts): string {
  return rule.key_by === 'ip' ? '' : (facts.twin ?? facts.path).replace(/\/$/, '');
}

function judge(rule: RateLimitRule, hits: readonly number[], allowed: number): RateVerdict {
  const window = rule.window_sec * 1000;
  const slice = (time: number) => Math.floor((time * SLICES) / window);
  const exact = rule.limit + rule.burst <= EXACT_UP_TO;
  const inWindow = (hit: number, time: number) =>
    exact ? time - hit < window : slice(hit) >= slice(time) - SLICES;
  const now = hits.at(-1)!;
  const countAt = (time: number) => hits.filter((hit) => inWindow(hit, time)).length;
  if (countAt(now) <= allowed) return { breached: false, retryAfter: null };
  const boundaries = Array.from({ length: SLICES + 1 }, (_, step) => slice(now) + step + 1);
  const free = exact
    ? hits.at(-allowed)! + window
    : boundaries.map((index) => (index * window) / SLICES).find((time) => countAt(time) < allowed)!;
  return { breached: true, retryAfter: Math.ceil((free - now) / 1000) };
}

/** Fresh counters. */
export function createRates(keys?: ObjectKeys): Rates {
  const logs = new Map<string, AddressLog>();
  return {
    hit(rule, facts, peek) {
      const key = `${rule.id} ${addressKey(facts)}`;
      const horizon = (rule.window_sec * 1000 * (SLICES + 1)) / SLICES;
      const known = logs.get(key);
      const kept = known !== undefined && facts.now - known.newest < horizon ? known : undefined;
      const log: AddressLog = kept ?? { newest: facts.now, paths: new Map(), overflow: [] };
      const path = pathKey(rule, facts);
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
      const solved =
        rule.on_breach === 'captcha' &&
        facts.cleared.includes(`rate_limit/${keys?.rules.get(rule.id) ?? rule.id}`);
      return judge(rule, counted, (rule.limit + rule.burst) * (solved ? 2 : 1));
    },
  };
}
