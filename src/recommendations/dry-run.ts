/**
 * What a week of would-haves says of dry_run rules. In: stored rules and the counts of the last seven days. Out: for a rule
 * that has been unchanged for all of them at most one of
 *
 * - `dry_run_too_broad`: it would refuse a fifth of all requests or more,
 * - `dry_run_ready`: it would have changed at least a hundred decisions, none of them from a refusal to something milder, and
 *   would refuse at most a twentieth of all requests,
 * - `dry_run_without_effect`: it matched at least a hundred times so that it would have acted, and no decision would have been
 *   another one. Only if no other dry_run rule would have acted: the shadow has all of them enforced, so one may hide another.
 *
 * Between these there is no advice. A rate limit that nobody exceeded has not acted; error pages do not show in the shadow.
 */
import { timeText } from '../base/time-text.ts';
import type { RuleType } from '../base/vocabulary.ts';
import type { HitSums } from '../traffic/show-hits.ts';
import {
  DRY_RUN_DAYS,
  DRY_RUN_MATCHES,
  DRY_RUN_REQUESTS,
  DRY_RUN_TRAFFIC_DAYS,
  MAX_CHANGES_SHOWN,
  MAX_READY_SHARE,
  MIN_BROAD_SHARE,
} from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import { type CountedPeriod, type RuleFact, ruleName, type StoredFacts } from './stored-facts.ts';

/** Effects with which a matched rule lets the request go on. */
const MILD_EFFECTS: readonly string[] = ['counted', 'passed', 'unavailable', 'self_redirect', 'unknown'];
/** Types whose effect is no part of a shadow decision, or which ignore `dry_run`. */
const NOT_JUDGED: readonly RuleType[] = ['cache', 'error_page'];

/** The family. */
export function dryRun({ rules, week }: StoredFacts): readonly DraftRecommendation[] {
  if (week === null || !hasEnoughTraffic(week)) return [];
  const dry = rules.filter(({ rule }) => rule.enabled && rule.action_mode === 'dry_run');
  const acting = dry.filter(({ rule }) => sumsOf(rule, week).acted > 0).length;
  return dry
    .filter(({ rule, updatedAt }) => updatedAt <= week.from && !NOT_JUDGED.includes(rule.type))
    .flatMap((fact) => {
      const sums = sumsOf(fact.rule, week);
      const kind = judge(sums, { requests: week.requests, alone: acting === 1 });
      return kind === null ? [] : [describe(kind, fact, { sums, week })];
    });
}

function hasEnoughTraffic({ requests, trafficDays, sums }: CountedPeriod): boolean {
  const isCounted = sums.uncounted.hits + sums.uncounted.changes === 0;
  return isCounted && requests >= DRY_RUN_REQUESTS && trafficDays >= DRY_RUN_TRAFFIC_DAYS;
}

/** What the counts of a week say of one rule. */
interface DryRunSums {
  readonly hits: number;
  /** Hits with which it would have acted. */
  readonly acted: number;
  readonly changed: number;
  /** Changes to a refusal: `block` or `challenge`. */
  readonly refused: number;
  /** Changes from a refusal to anything else. */
  readonly released: number;
  readonly changes: readonly {
    readonly from: string;
    readonly to: string;
    readonly instead: string | null;
    readonly requests: number;
  }[];
}

function sumsOf(rule: RuleFact['rule'], { sums }: CountedPeriod): DryRunSums {
  const counted = sums.rules.get(ruleName(rule));
  if (counted === undefined) return { hits: 0, acted: 0, changed: 0, refused: 0, released: 0, changes: [] };
  const effects = Object.entries(counted.byEffect.dry_run);
  const changes = changesOf(counted);
  const total = (wanted: (change: (typeof changes)[number]) => boolean): number =>
    changes.filter(wanted).reduce((sum, { requests }) => sum + requests, 0);
  return {
    hits: effects.reduce((sum, [, hits]) => sum + hits, 0),
    acted: effects.reduce((sum, [effect, hits]) => sum + (MILD_EFFECTS.includes(effect) ? 0 : hits), 0),
    changed: total(() => true),
    refused: total(({ to }) => isRefusal(to)),
    released: total(({ from, to }) => isRefusal(from) && !isRefusal(to)),
    changes,
  };
}

function changesOf({ changes }: NonNullable<ReturnType<HitSums['rules']['get']>>): DryRunSums['changes'] {
  return [...changes.values()]
    .map(({ change: { from, to, instead }, requests }) => ({
      from,
      to,
      instead: instead === '' ? null : instead,
      requests,
    }))
    .sort((left, right) => right.requests - left.requests);
}

/** Whether an outcome (`outcomeText`) is one that a visitor does not get through with. */
function isRefusal(outcome: string): boolean {
  return outcome.startsWith('block') || outcome.startsWith('challenge');
}

type DryRunKind = 'dry_run_ready' | 'dry_run_without_effect' | 'dry_run_too_broad';

function judge(
  { acted, changed, refused, released }: DryRunSums,
  { requests, alone }: { readonly requests: number; readonly alone: boolean },
): DryRunKind | null {
  if (changed === 0) return acted >= DRY_RUN_MATCHES && alone ? 'dry_run_without_effect' : null;
  if (refused >= DRY_RUN_MATCHES && refused / requests >= MIN_BROAD_SHARE) return 'dry_run_too_broad';
  const isModest = refused / requests <= MAX_READY_SHARE;
  return changed >= DRY_RUN_MATCHES && isModest && released === 0 ? 'dry_run_ready' : null;
}

interface JudgedWeek {
  readonly sums: DryRunSums;
  readonly week: CountedPeriod;
}

function describe(
  kind: DryRunKind,
  { rule, updatedAt }: RuleFact,
  { sums, week }: JudgedWeek,
): DraftRecommendation {
  const name = ruleName(rule);
  const share = Math.round((sums.changed / week.requests) * 10_000) / 10_000;
  return {
    kind,
    subject: name,
    severity: kind === 'dry_run_too_broad' ? 'warning' : 'info',
    message: MESSAGES[kind](name, sums, `${Math.round(share * 10_000) / 100} %`),
    evidence: {
      rule: name,
      unchanged_since: timeText(updatedAt),
      from: timeText(week.from),
      to: timeText(week.to),
      requests: week.requests,
      hits: sums.hits,
      would_change: sums.changed,
      share,
      changes: sums.changes.slice(0, MAX_CHANGES_SHOWN),
    },
    change:
      kind === 'dry_run_ready'
        ? { summary: `enforces rule ${name}`, rules: [{ ...rule, action_mode: 'enforce' }] }
        : { summary: `disables rule ${name}`, rules: [{ ...rule, enabled: false }] },
  };
}

const MESSAGES: Readonly<Record<DryRunKind, (name: string, sums: DryRunSums, share: string) => string>> = {
  dry_run_ready: (name, { changed }, share) =>
    `dry_run rule \`${name}\` would have changed ${changed} decisions in ${DRY_RUN_DAYS} days, ${share} of all requests; enforce it if these are the ones it is meant for`,
  dry_run_without_effect: (name, { acted }) =>
    `dry_run rule \`${name}\` would have acted on ${acted} requests in ${DRY_RUN_DAYS} days, and each decision would have been the same; disable it, or give it another place in the order`,
  dry_run_too_broad: (name, _sums, share) =>
    `dry_run rule \`${name}\` would have changed ${share} of all requests in ${DRY_RUN_DAYS} days, which are hardly all attacks; narrow its filters, or disable it`,
};
