/**
 * What a week of would-haves says of dry_run rules. In: stored rules and the counts of the last seven days. Out: for a rule
 * that has been unchanged for all of them at most one of
 *
 * - `dry_run_too_broad`: it would refuse a fifth of all requests or more,
 * - `dry_run_ready`: it would have changed at least a hundred decisions, none of them from a refusal to something milder, and
 *   would refuse at most a twentieth of all requests,
 * - `dry_run_without_effect`: it matched at least a hundred times so that it would have acted, and no decision would have been
 *   another one.
 *
 * The shadow has all dry_run rules enforced, so a change that another rule makes may hide that of the rule. Each rule is judged
 * beside the others by how many of its matches they can hide at most: the changes of rules that come before it, or of any
 * rule if it does not end requests, unless no request passes the filters of both.
 *
 * Between these there is no advice. A rate limit that nobody exceeded has not acted; error pages do not show in the shadow.
 */
import { timeText } from '../../base/text/time.ts';
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { type ApartTest, apartTest } from '../../workbench/proofs/reach.ts';
import type { HitSums } from '../traffic/show-hits.ts';
import {
  DRY_RUN_DAYS,
  DRY_RUN_MATCHES,
  DRY_RUN_REQUESTS,
  DRY_RUN_TRAFFIC_DAYS,
  MAX_CHANGES_SHOWN,
  MAX_HIDDEN_SHARE,
  MAX_READY_SHARE,
  MIN_BROAD_SHARE,
} from './limits.ts';
import type { DraftRecommendation, ProposedChange } from './shapes.ts';
import { type CountedPeriod, type RuleFact, ruleName, ruleSetOf, type StoredFacts } from './stored-facts.ts';

/** Effects with which a matched rule lets the request go on. */
const MILD_EFFECTS: readonly string[] = ['counted', 'passed', 'unavailable', 'self_redirect', 'unknown'];
/** Effects that settle the outcome of a request, so that no later rule can hide them. */
const SETTLING_EFFECTS: readonly string[] = ['block', 'challenge', 'respond', 'redirect', 'refuse'];
/** Types whose effect is no part of a shadow decision, or which ignore `dry_run`. */
const NOT_JUDGED: readonly RuleType[] = ['cache', 'error_page'];

/** The family. */
export function dryRun(facts: StoredFacts): readonly DraftRecommendation[] {
  const { rules, week } = facts;
  if (week === null || !hasEnoughTraffic(week)) return [];
  const isDry = ({ rule }: RuleFact): boolean => rule.enabled && rule.action_mode === 'dry_run';
  const dry = rules.filter(isDry);
  const around: Beside = {
    week,
    places: new Map(rules.map((fact, place) => [ruleName(fact.rule), { ...fact, place }])),
    changed: new Map([...week.sums.rules.keys()].map((name) => [name, sumsOf(name, week).changed])),
    isApart: apartTest(ruleSetOf(facts, dry)),
  };
  return dry
    .filter(({ rule, updatedAt }) => updatedAt <= week.from && !NOT_JUDGED.includes(rule.type))
    .flatMap((fact) => {
      const sums = sumsOf(ruleName(fact.rule), week);
      if (sums.changed === 0) return judgeIdle(fact, sums, around) ?? [];
      const kind = judge(sums, week);
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
  /** Whether each of these would have settled the outcome. */
  readonly settles: boolean;
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

const NO_SUMS: DryRunSums = {
  hits: 0,
  acted: 0,
  settles: true,
  changed: 0,
  refused: 0,
  released: 0,
  changes: [],
};

/** `rule`: its name. */
function sumsOf(rule: string, { sums }: CountedPeriod): DryRunSums {
  const counted = sums.rules.get(rule);
  if (counted === undefined) return NO_SUMS;
  const effects = Object.entries(counted.byEffect.dry_run);
  const acting = effects.filter(([effect]) => !MILD_EFFECTS.includes(effect));
  const changes = changesOf(counted);
  const total = (wanted: (change: (typeof changes)[number]) => boolean): number =>
    changes.filter(wanted).reduce((sum, { requests }) => sum + requests, 0);
  return {
    hits: effects.reduce((sum, [, hits]) => sum + hits, 0),
    acted: acting.reduce((sum, [, hits]) => sum + hits, 0),
    settles: acting.every(([effect]) => SETTLING_EFFECTS.includes(effect)),
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

type ChangingKind = 'dry_run_ready' | 'dry_run_too_broad';

/** Judges a rule that would have changed decisions. */
function judge(
  { changed, refused, released }: DryRunSums,
  { requests }: Pick<CountedPeriod, 'requests'>,
): ChangingKind | null {
  if (refused >= DRY_RUN_MATCHES && refused / requests >= MIN_BROAD_SHARE) return 'dry_run_too_broad';
  const isModest = refused / requests <= MAX_READY_SHARE;
  return changed >= DRY_RUN_MATCHES && isModest && released === 0 ? 'dry_run_ready' : null;
}

/** What the other dry_run rules are read from. */
interface Beside {
  readonly week: CountedPeriod;
  /** The stored rules by name, with their places in the order of evaluation. */
  readonly places: ReadonlyMap<string, RuleFact & { readonly place: number }>;
  /** Changed decisions by the name of the dry_run rule, also of rules that are not stored any more. */
  readonly changed: ReadonlyMap<string, number>;
  readonly isApart: ApartTest;
}

/** Judges a rule that would have changed no decision. */
function judgeIdle(fact: RuleFact, sums: DryRunSums, around: Beside): DraftRecommendation | null {
  const { acted } = sums;
  if (acted < DRY_RUN_MATCHES) return null;
  const hidden = hiddenAtMost(fact, sums, around);
  if (hidden > acted * MAX_HIDDEN_SHARE || acted - hidden < DRY_RUN_MATCHES) return null;
  const name = ruleName(fact.rule);
  const beside =
    hidden === 0 ? '' : `, but for ${hidden} at most that other dry_run rules would have changed`;
  return {
    kind: 'dry_run_without_effect',
    subject: name,
    severity: 'info',
    message: `dry_run rule \`${name}\` would have acted on ${acted} requests in ${DRY_RUN_DAYS} days, and each decision would have been the same${beside}; disable it, or give it another place in the order`,
    evidence: { ...evidenceOf(fact, { sums, week: around.week }), hidden_at_most: hidden },
    change: disabled(fact.rule),
  };
}

/** Matches of a rule, at most, whose decision another dry_run rule changed in its place. */
function hiddenAtMost(
  { rule }: RuleFact,
  { acted, settles }: DryRunSums,
  { week, places, changed, isApart }: Beside,
): number {
  const name = ruleName(rule);
  const own = places.get(name)!.place;
  let hidden = 0;
  for (const [other, decisions] of changed) {
    if (other === name || decisions === 0) continue;
    const known = places.get(other);
    // A rule that was changed or deleted in the week had another place, or other filters.
    const isSame = known !== undefined && known.updatedAt <= week.from;
    const cannotHide = isSame && ((settles && known.place > own) || isApart(rule, known.rule));
    if (!cannotHide) hidden += decisions;
    if (hidden >= acted) return acted;
  }
  return hidden;
}

interface JudgedWeek {
  readonly sums: DryRunSums;
  readonly week: CountedPeriod;
}

function describe(kind: ChangingKind, fact: RuleFact, judged: JudgedWeek): DraftRecommendation {
  const { rule } = fact;
  const name = ruleName(rule);
  const evidence = evidenceOf(fact, judged);
  return {
    kind,
    subject: name,
    severity: kind === 'dry_run_too_broad' ? 'warning' : 'info',
    message: MESSAGES[kind](name, judged.sums, `${Math.round(evidence.share * 10_000) / 100} %`),
    evidence,
    change:
      kind === 'dry_run_ready'
        ? { summary: `enforces rule ${name}`, rules: [{ ...rule, action_mode: 'enforce' }] }
        : disabled(rule),
  };
}

function evidenceOf({ rule, updatedAt }: RuleFact, { sums, week }: JudgedWeek) {
  return {
    rule: ruleName(rule),
    unchanged_since: timeText(updatedAt),
    from: timeText(week.from),
    to: timeText(week.to),
    requests: week.requests,
    hits: sums.hits,
    would_change: sums.changed,
    share: Math.round((sums.changed / week.requests) * 10_000) / 10_000,
    changes: sums.changes.slice(0, MAX_CHANGES_SHOWN),
  };
}

function disabled(rule: RuleFact['rule']): ProposedChange {
  return { summary: `disables rule ${ruleName(rule)}`, rules: [{ ...rule, enabled: false }] };
}

const MESSAGES: Readonly<Record<ChangingKind, (name: string, sums: DryRunSums, share: string) => string>> = {
  dry_run_ready: (name, { changed }, share) =>
    `dry_run rule \`${name}\` would have changed ${changed} decisions in ${DRY_RUN_DAYS} days, ${share} of all requests; enforce it if these are the ones it is meant for`,
  dry_run_too_broad: (name, _sums, share) =>
    `dry_run rule \`${name}\` would have changed ${share} of all requests in ${DRY_RUN_DAYS} days, which are hardly all attacks; narrow its filters, or disable it`,
};
