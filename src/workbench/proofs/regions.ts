/**
 * The regions beside a rule: for each of its filters the requests that come to the rule and that this filter alone excludes. A
 * test with such a request fails once the filter is lost. In: a plan. Out: the regions of a rule, and for each a request, or the
 * proof that no request is in it, or neither if a budget ended.
 *
 * Requests near the border of a condition, where it alone decides: Chilenski and Miller, "Applicability of modified
 * condition/decision coverage to software testing", 1994.
 */
import { printFields } from '../../engine/compiler/rule-types.ts';
import type { CheckName, RuleTrace, Trace } from '../../engine/evaluator/trace.ts';
import { NONE, SLOT } from '../../engine/plan/layout.ts';
import { subjectSpace } from './reach.ts';
import { matchedBy, type SubjectSpace, servedBox, situationsAt } from './situations.ts';
import { AXES, type Axis, type Box, isEmptyBox, subtract, withAxis } from './space/boxes.ts';
import { createBudget, type StepBudget, shareOf } from './space/budget.ts';
import { findUncovered } from './space/cover.ts';
import type { Subject, SubjectRule } from './subject.ts';
import { changedUntil, requestOf, type Witness, witnessOf } from './witness.ts';

/** Steps of the search for a request of one region beside a rule. */
const MAX_REGION_STEPS = 100_000;
/** Steps of all such searches in one plan: some seconds. */
const MAX_REGIONS_STEPS = 4_000_000;

/** The filter that a region is named after. Statuses are of responses, which tests of requests do not choose. */
export type RegionName = 'path' | Exclude<Axis, 'status'>;

/** What is known of a region. */
export type RegionResult =
  | { readonly kind: 'found'; readonly witness: Witness }
  /** No request comes to the rule and passes all its filters but this one. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'unknown' };

/** Answers questions about the regions of a plan; all share one budget. */
export interface Regions {
  /** The filters of a rule that some request does not pass, or all if they are too complex; none for a disabled rule. */
  of(type: string, id: number): readonly RegionName[];
  /** A request of a region, confirmed by the evaluator. */
  find(type: string, id: number, region: RegionName): RegionResult;
}

const REGION_OF: Readonly<Record<CheckName, RegionName | null>> = {
  enabled: null,
  scope: 'host',
  host: 'host',
  path: 'path',
  country: 'country',
  ip: 'ip',
  kind: 'bot',
  verified: 'bot',
  ja4: 'ja4',
  ja4h: 'ja4h',
  method: null,
  scheme: null,
  asn: null,
  user_agent: null,
  tag: null,
  header: null,
  query: null,
  cookie: null,
};

/** A region that a request has entered. */
export interface Entered {
  readonly rule: RuleTrace;
  readonly region: RegionName;
}

/** The regions that a traced request has entered. */
export function regionsIn({ phases }: Trace): readonly Entered[] {
  const entered: Entered[] = [];
  let isPinned = false;
  for (const { name, outcome, rules } of phases) {
    const isReached = outcome === 'continue' || outcome === 'final';
    if (!isReached || name === 'error_page' || (name === 'origin' && isPinned)) continue;
    const acting = rules.findIndex(takesPlace);
    for (const rule of acting < 0 ? rules : rules.slice(0, acting)) {
      const region = regionOf(rule);
      if (region !== null) entered.push({ rule, region });
    }
    isPinned ||= name === 'bot_route' && acting >= 0;
  }
  return entered;
}

/** Effects after which further rules of the phase act. */
const GOES_ON: readonly RuleTrace['effect'][] = ['tag', 'counted', 'self_redirect'];

/** Whether no rule after this one of its phase is evaluated, or none but tags. */
function takesPlace({ type, outcome, mode, effect }: RuleTrace): boolean {
  if (outcome !== 'matched' || mode !== 'enforce' || GOES_ON.includes(effect)) return false;
  return type !== 'fingerprint' || effect !== 'passed';
}

/** The filter that alone fails; `null`: none does, or more than one. */
function regionOf({ outcome, checks }: RuleTrace): RegionName | null {
  if (outcome !== 'skipped') return null;
  const failed = new Set(checks.filter(({ pass }) => pass !== true).map(({ check }) => REGION_OF[check]));
  const [only = null] = failed;
  return failed.size === 1 ? only : null;
}

/** Reads the regions of a plan. */
export function openRegions(subject: Subject): Regions {
  const around = subjectSpace(subject);
  const total = createBudget(MAX_REGIONS_STEPS);
  return {
    of(type, id) {
      const rule = subject.ruleOf(type, id);
      return around === null || rule === null ? [] : regionsOf(around, rule);
    },
    find(type, id, region) {
      const rule = subject.ruleOf(type, id);
      if (around === null || rule === null) return { kind: 'unknown' };
      return findIn(around, rule, { region, budget: shareOf(total, MAX_REGION_STEPS) });
    },
  };
}

/** The filters of a rule; none of error pages, which depend on the response. */
function regionsOf({ subject, space, plan }: SubjectSpace, rule: SubjectRule): readonly RegionName[] {
  if (rule.type === 'error_page') return [];
  const box = space.boxOf(plan, rule.slot);
  if (box === null) return filtersOf(subject, rule);
  const axes = AXES.filter((axis, place): axis is Exclude<Axis, 'status'> => {
    const set = box.sets[place]!;
    const all = axis === 'host' ? space.axes.host.served(plan) : space.whole[place]!;
    return axis !== 'status' && set !== null && subtract(all, set).length > 0;
  });
  return box.paths === null ? axes : ['path', ...axes];
}

/** The filters that a rule has, whatever they exclude. */
function filtersOf({ loaded: { plan } }: Subject, { slot, type }: SubjectRule): readonly RegionName[] {
  const row = plan.slots.subarray(slot * SLOT.size, (slot + 1) * SLOT.size);
  const has = (...names: readonly (keyof typeof SLOT)[]): boolean =>
    names.some((name) => row[SLOT[name]] !== NONE);
  const lists = type === 'fingerprint' ? printFields(plan, type, row) : {};
  const isListed = (name: string): boolean =>
    ((lists[name] as readonly unknown[] | undefined) ?? []).length > 0;
  const filters: Readonly<Record<RegionName, boolean>> = {
    path: has('path'),
    host: has('scope', 'host'),
    ip: has('addresses'),
    country: has('countries'),
    bot: type === 'bot_route',
    ja4: isListed('match_ja4'),
    ja4h: isListed('match_ja4h'),
  };
  return (Object.keys(filters) as RegionName[]).filter((name) => filters[name]);
}

/** The requests that pass all filters of a rule but one; `null`: too complex. */
function missedBy(around: SubjectSpace, rule: SubjectRule, region: RegionName): Box | null {
  const { space } = around;
  const box = matchedBy(around, rule);
  if (box === null) return null;
  if (region === 'path') {
    const paths = space.without(null, box.paths!);
    return paths === null ? null : { ...box, paths };
  }
  const axis = AXES.indexOf(region);
  const all = servedBox(around).sets[axis] ?? space.whole[axis]!;
  return { ...box, sets: withAxis(box.sets, axis, subtract(all, box.sets[axis]!)) };
}

function findIn(
  around: SubjectSpace,
  rule: SubjectRule,
  { region, budget }: { readonly region: RegionName; readonly budget: StepBudget },
): RegionResult {
  const target = missedBy(around, rule, region);
  if (target === null) return { kind: 'unknown' };
  let isOpen = false;
  for (const one of situationsAt(around, rule, target)) {
    if (isEmptyBox(one.target)) continue;
    const query = { ...one, blockers: one.blockers.boxes };
    const found = findUncovered(query, around.space, budget);
    if (found.kind === 'covered') continue;
    const witness =
      found.kind === 'point'
        ? confirmed(around, rule, { region, witness: witnessOf(found.point, around.space, one.acme) })
        : null;
    if (witness !== null) return { kind: 'found', witness };
    isOpen = true;
  }
  return isOpen ? { kind: 'unknown' } : { kind: 'empty' };
}

/** The witness, maybe with solved challenges, that the evaluator finds in the region. */
function confirmed(
  { subject }: SubjectSpace,
  { ref }: SubjectRule,
  { region, witness }: { readonly region: RegionName; readonly witness: Witness },
): Witness | null {
  return changedUntil({ ...witness, status: null }, subject, (changed) => {
    const trace = subject.evaluator.explain(requestOf(changed, subject.moment()));
    const { action, rule } = trace.decision;
    const isEntered = (one: Entered): boolean =>
      one.rule.type === ref.type && one.rule.id === ref.id && one.region === region;
    return {
      isShown: regionsIn(trace).some(isEntered),
      endedBy: rule === null ? null : { action, rule },
    };
  });
}
