/**
 * Lists what a simulation assumed. An input is listed only when it matters: when the outcome of some rule depends
 * on it.
 */
import { refText } from '../../engine/evaluator/identity.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { CheckName, RuleTrace, Trace } from '../../engine/evaluator/trace.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import type { Counted } from './counted.ts';
import { type Assumption, refOf } from './document.ts';

/** The conditions of a simulation besides the request. */
export interface World {
  /** Origins that are down: `<pool rule id>/<index of the origin>`. */
  readonly down: readonly string[];
  /** How often rate limits have counted the request before, by `<type>/<key or id>`; absent: never. */
  readonly counted?: Counted;
  /** The id of the edge node; `null`: not given. */
  readonly nodeId: number | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether the caller gave `now`, as opposed to the clock. */
  readonly nowGiven: boolean;
}

/** Treats a request whose body is not given as having none (`body: null`). */
export function withAssumedBody(request: EdgeRequest): EdgeRequest {
  return request.body === undefined ? { ...request, body: null } : request;
}

/** What is known besides the trace. */
interface Known {
  readonly request: EdgeRequest;
  readonly world: World;
  /** `null` when only the sealed plan is at hand. */
  readonly ruleSet: RuleSet | null;
}

/** Whether every check outside `except` passed, so that the rule depends on `except` only. */
function dependsOnlyOn(rule: RuleTrace, except: readonly CheckName[]): boolean {
  return rule.checks.every((check) => check.pass === true || except.includes(check.check));
}

/** Whether the rule's outcome depends on the input of this check. The outcome of a rule without such a filter does not. */
function dependsOn(rule: RuleTrace, name: CheckName): boolean {
  const filters = rule.checks.some((check) => check.check === name && check.text !== `no ${name} filter`);
  return filters && dependsOnlyOn(rule, [name]);
}

/** The rules of a type that matched. */
function matchedOf(rules: readonly RuleTrace[], type: RuleTrace['type']): readonly RuleTrace[] {
  return rules.filter((rule) => rule.type === type && rule.outcome === 'matched');
}

/** Facts of the visitor that were not given. */
function unknownFacts(rules: readonly RuleTrace[], known: Known): readonly Assumption[] {
  const { request } = known;
  const facts = [
    { input: 'ip', given: request.ip, check: 'ip' },
    { input: 'country', given: request.country, check: 'country' },
    { input: 'ja4', given: request.ja4, check: 'ja4' },
    { input: 'ja4h', given: request.ja4h, check: 'ja4h' },
  ] as const;
  return facts
    .filter((fact) => fact.given === undefined || fact.given === null)
    .map((fact) => ({
      input: fact.input,
      value: 'not given',
      affects: rules
        .filter(
          (rule) =>
            dependsOn(rule, fact.check) ||
            (fact.input === 'ip' && rule.type === 'rate_limit' && rule.outcome === 'matched'),
        )
        .map(refOf),
    }));
}

/** Rules whose outcome depends on whether the visitor solved a challenge. */
function challenges(rules: readonly RuleTrace[], known: Known): Assumption {
  const breach = new Set(
    known.ruleSet?.rules.flatMap((rule) =>
      rule.type === 'rate_limit' && rule.on_breach === 'captcha' ? [rule.id] : [],
    ),
  );
  const challenging = rules.filter(
    (rule) =>
      rule.outcome === 'matched' &&
      (rule.effect === 'challenge' ||
        rule.type === 'captcha' ||
        (rule.type === 'rate_limit' && breach.has(rule.id))),
  );
  return { input: 'challenge', value: 'not solved', affects: challenging.map(refOf) };
}

/** Assumptions about the origins of pools: health, turns, and the node's location for geo pools. */
function originState(rules: readonly RuleTrace[], known: Known): readonly Assumption[] {
  const pools = matchedOf(rules, 'origin_pool').filter((rule) => rule.effect !== 'none');
  const several = known.ruleSet?.rules.filter(
    (rule) => rule.type === 'origin_pool' && rule.origins.length > 1,
  );
  const balanced =
    several === undefined
      ? pools
      : pools.filter((rule) => several.some((candidate) => candidate.id === rule.id));
  const geo = known.ruleSet?.rules.flatMap((rule) =>
    rule.type === 'origin_pool' && rule.lb_type === 'geo' ? [rule.id] : [],
  );
  const assumptions: Assumption[] = [];
  if (known.world.down.length === 0) {
    assumptions.push({ input: 'origin_health', value: 'all up', affects: balanced.map(refOf) });
  }
  assumptions.push({ input: 'origin_turns', value: 'none taken', affects: balanced.map(refOf) });
  if (known.world.nodeId === null) {
    const located = pools.filter((rule) => geo?.includes(rule.id));
    assumptions.push({ input: 'node_id', value: 'not given', affects: located.map(refOf) });
  }
  return assumptions;
}

/**
 * The assumptions of one trace, each with the rules that depend on it; assumptions without such rules are left out.
 */
export function assumptionsOf(trace: Trace, known: Known): readonly Assumption[] {
  const rules = trace.phases.flatMap((phase) => phase.rules);
  const all: Assumption[] = [...unknownFacts(rules, known)];
  if (known.request.body === undefined || known.request.body === null) {
    const inspected = ['GET', 'HEAD'].includes(trace.facts.method) ? [] : matchedOf(rules, 'waf');
    all.push({ input: 'body', value: 'none', affects: inspected.map(refOf) });
  }
  const until = known.ruleSet?.domain.developer_mode_until ?? null;
  if (!known.world.nowGiven && until !== null) {
    const cached = rules.filter((rule) => rule.type === 'cache' && dependsOnlyOn(rule, []));
    all.push({ input: 'clock', value: new Date(known.world.now).toISOString(), affects: cached.map(refOf) });
  }
  const uncounted = matchedOf(rules, 'rate_limit').filter((rule) => !known.world.counted?.has(refText(rule)));
  all.push({ input: 'rate_counters', value: 'empty', affects: uncounted.map(refOf) });
  if (known.request.cleared === undefined) all.push(challenges(rules, known));
  all.push(...originState(rules, known));
  const unsigned = matchedOf(rules, 'waf').filter((rule) => rule.effect === 'unavailable');
  all.push({ input: 'waf_signatures', value: 'none loaded', affects: unsigned.map(refOf) });
  return all.filter((assumption) => assumption.affects.length > 0);
}
