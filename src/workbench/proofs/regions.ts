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
import { type ConditionMember, NONE, SLOT } from '../../engine/plan/layout.ts';
import { subjectSpace } from './reach.ts';
import { evaluatedIn, type SubjectSpace, situationsAt } from './situations.ts';
import {
  type AtomSet,
  AXES,
  type Axis,
  type Box,
  intersect,
  isEmptyBox,
  restricted,
  subtract,
} from './space/boxes.ts';
import { createBudget, type StepBudget, shareOf } from './space/budget.ts';
import { findUncovered } from './space/cover.ts';
import type { BoxParts } from './space/space.ts';
import { termsAt } from './space/terms.ts';
import type { Subject, SubjectRule } from './subject.ts';
import { changedUntil, requestOf, type Witness, witnessOf } from './witness.ts';

/** Steps of the search for a request of one region beside a rule. */
const MAX_REGION_STEPS = 100_000;
/** Steps of all such searches in one plan: some seconds. */
const MAX_REGIONS_STEPS = 4_000_000;

/**
 * The filter that a region is named after, or the member of `conditions`, of which those with a filter of the same kind are one
 * with it. Statuses are of responses, which tests of requests do not choose.
 */
export type RegionName = 'path' | FilterRegion | (typeof REGION_OF_MEMBER)[ConditionMember];

/** The axes of filters that may have a region. */
type FilterRegion = Exclude<Axis, 'status'>;

const REGION_OF_MEMBER = {
  methods: 'method',
  except_methods: 'method',
  schemes: 'scheme',
  ips: 'ip',
  countries: 'country',
  asns: 'asn',
  bot_kinds: 'bot',
  verified_bot: 'bot',
  ja4: 'ja4',
  user_agents: 'user_agent',
  tags: 'tag',
  headers: 'header',
  query: 'query',
  cookies: 'cookie',
} as const satisfies { readonly [M in ConditionMember]: string };

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
  method: 'method',
  scheme: 'scheme',
  asn: 'asn',
  user_agent: 'user_agent',
  tag: 'tag',
  header: 'header',
  query: 'query',
  cookie: 'cookie',
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
const GOES_ON: readonly RuleTrace['effect'][] = ['tag', 'counted', 'self_redirect', 'headers'];

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
function regionsOf(around: SubjectSpace, rule: SubjectRule): readonly RegionName[] {
  if (rule.type === 'error_page') return [];
  const { subject, space, plan } = around;
  const parts = space.partsOf(plan, rule.slot);
  if (parts === null) return filtersOf(subject, rule);
  const narrowing = restrictionsOf(parts).filter(({ axis, set }) => {
    const all = axis === HOST ? space.axes.host.served(plan) : space.whole[axis]!;
    return subtract(all, set).length > 0;
  });
  const regions = [...new Set(narrowing.map(({ region }) => region))];
  return parts.filters.paths === null ? regions : ['path', ...regions];
}

/** A filter or a condition on one axis. */
interface Restriction {
  readonly region: RegionName;
  readonly axis: number;
  readonly set: AtomSet;
}

const HOST = AXES.indexOf('host');

/** The filters and conditions of a rule, but its paths. */
function restrictionsOf({ filters, terms }: BoxParts): readonly Restriction[] {
  const fixed = AXES.flatMap((axis, place): readonly Restriction[] => {
    const set = filters.sets[place]!;
    return axis === 'status' || set === null ? [] : [{ region: axis, axis: place, set }];
  });
  return [
    ...fixed,
    ...terms.map(({ member, axis, set }) => ({ region: REGION_OF_MEMBER[member], axis, set })),
  ];
}

/** The filters that a rule has, whatever they exclude. */
function filtersOf({ loaded }: Subject, { slot, type }: SubjectRule): readonly RegionName[] {
  const { plan } = loaded;
  const row = plan.slots.subarray(slot * SLOT.size, (slot + 1) * SLOT.size);
  const has = (...names: readonly (keyof typeof SLOT)[]): boolean =>
    names.some((name) => row[SLOT[name]] !== NONE);
  const lists = type === 'fingerprint' ? printFields(plan, type, row) : {};
  const isListed = (name: string): boolean =>
    ((lists[name] as readonly unknown[] | undefined) ?? []).length > 0;
  const filters: Readonly<Record<'path' | FilterRegion, boolean>> = {
    path: has('path'),
    host: has('scope', 'host'),
    ip: has('addresses'),
    country: has('countries'),
    bot: type === 'bot_route',
    ja4: isListed('match_ja4'),
    ja4h: isListed('match_ja4h'),
  };
  const named = (Object.keys(filters) as (keyof typeof filters)[]).filter((name) => filters[name]);
  return [...new Set([...named, ...termsAt(loaded, slot).map(({ member }) => REGION_OF_MEMBER[member])])];
}

/** The requests that pass all filters of a rule but one, as boxes; `null`: too complex. */
function missedBy(around: SubjectSpace, rule: SubjectRule, region: RegionName): readonly Box[] | null {
  const { space, plan } = around;
  const parts = space.partsOf(plan, rule.slot);
  if (parts === null) return null;
  const restrictions = restrictionsOf(parts);
  const others = restrictions.filter((one) => one.region !== region);
  const passed = evaluatedIn(around, rule, {
    paths: parts.filters.paths,
    sets: restricted(space.free, others),
  });
  if (region === 'path') {
    const paths = space.without(null, parts.filters.paths!);
    return paths === null ? null : [{ ...passed, paths }];
  }
  const own = restrictions.filter((one) => one.region === region);
  // Each of several conditions of a member may fail, so there is a box for each axis.
  return [...new Set(own.map(({ axis }) => axis))].map((axis) => {
    const all = space.whole[axis]!;
    const set = own.reduce((common, one) => (one.axis === axis ? intersect(common, one.set) : common), all);
    return { ...passed, sets: restricted(passed.sets, [{ axis, set: subtract(all, set) }]) };
  });
}

function findIn(
  around: SubjectSpace,
  rule: SubjectRule,
  { region, budget }: { readonly region: RegionName; readonly budget: StepBudget },
): RegionResult {
  const targets = missedBy(around, rule, region);
  if (targets === null) return { kind: 'unknown' };
  let isOpen = false;
  for (const one of targets.flatMap((target) => situationsAt(around, rule, target))) {
    if (isEmptyBox(one.target)) continue;
    const query = { ...one, blockers: one.blockers.boxes };
    const found = findUncovered(query, around.space, budget);
    if (found.kind === 'covered') continue;
    const point = found.kind === 'point' ? witnessOf(found.point, around.space, one.acme) : null;
    const witness = point === null ? null : confirmed(around, rule, { region, witness: point });
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
