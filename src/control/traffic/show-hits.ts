/**
 * Hits of rules as the API shows them. In: the rules of a domain and its counts by step. Out: one entry for each rule in
 * evaluation order, unused ones with zeros, and the rules that have hits and no row.
 */
import { timeText } from '../../base/text/time.ts';
import {
  ACTION_MODES,
  type ActionMode,
  RULE_TYPES,
  type RuleType,
} from '../../base/vocabulary/vocabulary.ts';
import type { RuleHits, ShadowChange, TrafficCounts } from '../../engine/counts/counts.ts';
import type { RuleRow } from '../store/tables/rules.ts';
import { MAX_ABOUT_CHARACTERS, MAX_REMOVED_RULES, MAX_RULE_CHANGES } from './limits.ts';

/** The name of the effect that a node of an earlier release did not report. */
export const UNKNOWN_EFFECT = 'unknown';

/** Hits by effect. */
type EffectHits = Readonly<Record<string, number>>;

/** Decisions that a dry_run rule would have changed in one way. */
export interface ShownChange {
  readonly from: string;
  readonly to: string;
  /** The rule that settled the decision and would not have; `null`: none. */
  readonly instead: string | null;
  readonly requests: number;
}

/** What the counts of a period say of one rule. */
export interface RuleCounts {
  readonly hits: number;
  readonly by_effect: Readonly<Record<ActionMode, EffectHits>>;
  /** RFC 3339; `null`: no hit. */
  readonly last_at: string | null;
  /** Requests of all changes, unlisted ones included. */
  readonly would_change: number;
  readonly changes: readonly ShownChange[];
  /** Steps with hits, in order; absent: the request named no step. */
  readonly series?: readonly { readonly at: string; readonly hits: number }[];
}

/** A rule of the domain with its counts. */
export interface ShownRule extends RuleCounts {
  readonly type: RuleType;
  readonly id: number;
  readonly about: string;
  readonly enabled: boolean;
  readonly action_mode: ActionMode;
  readonly priority: number;
}

/** A rule that is not stored any more. */
export type RemovedRule = Pick<ShownRule, 'type' | 'id' | 'hits' | 'by_effect' | 'last_at'>;

/** Sums of one rule while steps are read. */
interface RuleSums {
  readonly type: RuleType;
  readonly id: number;
  hits: number;
  lastAt: number;
  readonly byEffect: Record<ActionMode, Record<string, number>>;
  /** By `from`, `to` and `instead`. */
  readonly changes: Map<string, { change: ShadowChange; requests: number }>;
  /** Hits by the start of their step, ascending. */
  readonly steps: Map<number, number>;
}

/** Sums of a domain over a period. */
export interface HitSums {
  /** By `<type>/<id>`. */
  readonly rules: ReadonlyMap<string, RuleSums>;
  /** Hits and changes beyond the bounds of `engine/counts/counts.ts`, which no rule has. */
  readonly uncounted: { readonly hits: number; readonly changes: number };
}

/** Sums the hits and shadow changes of steps; `steps` has counts by the start of each step. */
export function sumHits(steps: ReadonlyMap<number, TrafficCounts>): HitSums {
  const rules = new Map<string, RuleSums>();
  const uncounted = { hits: 0, changes: 0 };
  for (const [start, counts] of [...steps].sort(([left], [right]) => left - right)) {
    for (const hits of counts.hits.values()) addHits(sumsOf(rules, hits), start, hits);
    for (const change of counts.changes.values()) addChange(sumsOf(rules, change), change);
    uncounted.hits += counts.sums.uncounted_hits;
    uncounted.changes += counts.sums.uncounted_changes;
  }
  return { rules, uncounted };
}

/** The sums of a rule, created at its first hit. */
function sumsOf(sums: Map<string, RuleSums>, { type, id }: Pick<RuleHits, 'type' | 'id'>): RuleSums {
  const name = `${type}/${id}`;
  const there = sums.get(name);
  if (there !== undefined) return there;
  const made: RuleSums = {
    type,
    id,
    hits: 0,
    lastAt: 0,
    byEffect: { enforce: {}, dry_run: {} },
    changes: new Map(),
    steps: new Map(),
  };
  sums.set(name, made);
  return made;
}

/** Adds the hits of one mode and effect in one step. */
function addHits(sums: RuleSums, start: number, { mode, effect, hits, lastAt }: RuleHits): void {
  const effects = sums.byEffect[mode];
  const name = effect ?? UNKNOWN_EFFECT;
  effects[name] = (effects[name] ?? 0) + hits;
  sums.hits += hits;
  sums.lastAt = Math.max(sums.lastAt, lastAt);
  sums.steps.set(start, (sums.steps.get(start) ?? 0) + hits);
}

/** Adds the requests of one shadow change in one step. */
function addChange(sums: RuleSums, change: ShadowChange): void {
  const key = JSON.stringify([change.from, change.to, change.instead]);
  const there = sums.changes.get(key);
  if (there === undefined) sums.changes.set(key, { change, requests: change.requests });
  else there.requests += change.requests;
}

/** Rules in the order in which they are evaluated: by phase, then priority, then id (semantics §4). */
export function inEvaluationOrder<Row extends Pick<RuleRow, 'type' | 'priority' | 'id'>>(
  rows: readonly Row[],
): readonly Row[] {
  const phase = new Map(RULE_TYPES.map((type, index) => [type, index]));
  return [...rows].sort(
    (left, right) =>
      phase.get(left.type)! - phase.get(right.type)! || left.priority - right.priority || left.id - right.id,
  );
}

/** One rule with its counts; `series`: with its hits by step. */
export function showRuleHits(
  { type, id, priority, body }: Pick<RuleRow, 'type' | 'id' | 'priority' | 'body'>,
  sums: HitSums,
  { series }: { readonly series: boolean },
): ShownRule {
  const fields = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const counted = sums.rules.get(`${type}/${id}`);
  const counts = counted === undefined ? NO_COUNTS : showCounts(counted);
  const steps = [...(counted?.steps ?? [])].map(([start, hits]) => ({ at: timeText(start), hits }));
  return {
    type,
    id,
    about: ruleAbout(fields),
    enabled: fields['enabled'] === true,
    action_mode: ACTION_MODES.find((mode) => mode === fields['action_mode']) ?? 'enforce',
    priority,
    ...counts,
    ...(series ? { series: steps } : {}),
  };
}

/** The counts of a rule without hits. */
const NO_COUNTS: RuleCounts = {
  hits: 0,
  by_effect: { enforce: {}, dry_run: {} },
  last_at: null,
  would_change: 0,
  changes: [],
};

/** The counts of a rule that has some. */
function showCounts({ hits, byEffect, lastAt, changes }: RuleSums): RuleCounts {
  const shown = [...changes.values()].map(({ change: { from, to, instead }, requests }) => ({
    from,
    to,
    instead: instead === '' ? null : instead,
    requests,
  }));
  return {
    hits,
    by_effect: byEffect,
    last_at: lastAt === 0 ? null : timeText(lastAt),
    would_change: shown.reduce((sum, { requests }) => sum + requests, 0),
    changes: shown.sort((left, right) => right.requests - left.requests).slice(0, MAX_RULE_CHANGES),
  };
}

/** Rules that have hits and no row, the most hits first, at most `MAX_REMOVED_RULES`. */
export function removedRules(
  sums: HitSums,
  rows: readonly Pick<RuleRow, 'type' | 'id'>[],
): readonly RemovedRule[] {
  const stored = new Set(rows.map(({ type, id }) => `${type}/${id}`));
  const removed = [...sums.rules].flatMap(([name, one]) => (stored.has(name) || one.hits === 0 ? [] : [one]));
  return removed
    .sort((left, right) => right.hits - left.hits)
    .slice(0, MAX_REMOVED_RULES)
    .map((one) => {
      const { hits, by_effect, last_at } = showCounts(one);
      return { type: one.type, id: one.id, hits, by_effect, last_at };
    });
}

// A short text by which people recognise a rule in a list. In: the stored fields of a rule. Out: its first filters, such
// as `/admin/* +2 · 3 addresses`; empty for a rule without filters.

/** Fields of lists whose first entry is shown, in order; paths say most about a rule. */
const SHOWN = ['path_includes', 'host_includes', 'countries', 'bot_kinds', 'match_ja4', 'codes'] as const;
/** Fields of lists whose entries are counted, with their nouns for one and for several. */
const COUNTED = [
  ['ips', 'address', 'addresses'],
  ['origins', 'origin', 'origins'],
] as const;

/** The text, at most `MAX_ABOUT_CHARACTERS` long. */
export function ruleAbout(body: Readonly<Record<string, unknown>>): string {
  const shown = SHOWN.flatMap((field) => {
    const list = listOf(body[field]);
    // The default of a path filter says nothing.
    if (list.length === 0 || (list.length === 1 && list[0] === '/*')) return [];
    const first = `${field === 'countries' ? allBut(body['country_match_type']) : ''}${String(list[0])}`;
    return [list.length === 1 ? first : `${first} +${list.length - 1}`];
  });
  const counted = COUNTED.flatMap(([field, one, several]) => {
    const { length } = listOf(body[field]);
    const all = field === 'ips' ? allBut(body['ip_match_type']) : '';
    return length === 0 ? [] : [`${all}${length} ${length === 1 ? one : several}`];
  });
  const text = [...shown, ...counted].join(' · ');
  const characters = [...text];
  return characters.length <= MAX_ABOUT_CHARACTERS
    ? text
    : `${characters.slice(0, MAX_ABOUT_CHARACTERS - 1).join('')}…`;
}

/** The words before a list whose entries are excluded. */
function allBut(matchType: unknown): string {
  return matchType === 'exclude' ? 'all but ' : '';
}

/** A list, or an empty one for any other value. */
function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
