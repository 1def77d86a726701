/**
 * The conditions of a simulation: what may be assumed of a plan besides the request, rate limits that have counted the
 * request before, and the list of what was assumed. An input is listed only when it matters: when the outcome of some
 * rule depends on it.
 */
import { BREACH_ACTIONS, FINGERPRINT_ACTIONS, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { Decision, RuleRef } from '../../engine/evaluator/decision.ts';
import { type PoolSettings, readEdgeSettings } from '../../engine/evaluator/edge-settings.ts';
import type { Evaluator } from '../../engine/evaluator/evaluate.ts';
import { refOfRecord, refOfSlot, refText } from '../../engine/evaluator/identity.ts';
import { createLoaded, type LoadedPlan } from '../../engine/evaluator/loaded.ts';
import { counterPlace } from '../../engine/evaluator/phases/rate-limit.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import type { CheckName, RuleTrace, Trace } from '../../engine/evaluator/trace.ts';
import {
  FLAG,
  FLAG_ACTION_SHIFT,
  GROUP,
  META,
  phaseStart,
  RATE_FIELDS,
  SLOT,
  typeIndex,
} from '../../engine/plan/layout.ts';
import { openPlan } from '../../engine/plan/seal.ts';
import { type Counters, createCounters, type RateWindow } from '../../engine/rate-counters/counters.ts';
import { MAX_REPEAT } from '../../rules/files/test-schema.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { type Assumption, refOf } from './document.ts';
import type { Typed } from './request-line.ts';

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

/** The id of a request that has none: the nil UUID (RFC 9562 §5.9). */
const SIMULATED_ID = '00000000-0000-0000-0000-000000000000';

/** Treats a request whose body is not given as having none (`body: null`), and gives one without an id the same as all. */
export function withAssumptions(request: EdgeRequest): EdgeRequest {
  const { id = SIMULATED_ID, body = null } = request;
  return { ...request, id, body };
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

/** Whether the rule is a rate limit whose key has the fact; with a sealed plan alone, the address is taken for its key. */
function countsBy({ type, id }: RuleTrace, fact: string, { ruleSet }: Known): boolean {
  if (type !== 'rate_limit') return false;
  const rule = ruleSet?.rules.find((one) => one.type === type && one.id === id);
  const parts = rule?.type === 'rate_limit' ? rule.key_parts : undefined;
  return (parts ?? ['ip']).includes(fact);
}

/** Facts of the visitor that were not given. */
function unknownFacts(rules: readonly RuleTrace[], known: Known): readonly Assumption[] {
  const { request } = known;
  const facts = [
    { input: 'ip', given: request.ip, check: 'ip' },
    { input: 'country', given: request.country, check: 'country' },
    { input: 'asn', given: request.asn, check: 'asn' },
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
            dependsOn(rule, fact.check) || (rule.outcome === 'matched' && countsBy(rule, fact.input, known)),
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

/**
 * Counts a request under rate limits that count the status of its response, as the edge would.
 * @param forwarded the status of the response to a forwarded request; `null`, or 0: unknown, and nothing counts
 */
export function countAnswer(
  evaluator: Pick<Evaluator, 'countResponse'>,
  decision: Decision,
  forwarded: number | null,
): void {
  const status = decision.action === 'forward' ? forwarded : decision.status;
  if (status !== null && status >= 400) evaluator.countResponse(decision, status);
}

// Rate limits that have counted a simulated request before. In: how often each rule has. Out: counters that judge the request as if
// the same visitor had sent it so often at that very moment.

/** Requests counted before by the rule that counted them: `rate_limit/<key or id>`. */
type Counted = ReadonlyMap<string, number>;

/** Octets of the counters of one request: the least they take is 4 KiB. */
const COUNTER_OCTETS = 64 * 1024;

/** Reads words such as `rate_limit/9=100`; a word that names a rule again replaces the number. */
export function readCounted(words: readonly string[]): Typed<Counted> {
  const counted = new Map<string, number>();
  for (const word of words) {
    const [, ref = '', digits = ''] = /^(rate_limit\/~?[a-z0-9-]+)=(\d{1,9})$/.exec(word) ?? [];
    const form = 'write rate_limit/<id or key>=<requests> such as rate_limit/9=100';
    if (ref === '') return { ok: false, error: `\`${word}\` is not a count of a rate limit; ${form}` };
    const requests = Number(digits);
    if (requests > MAX_COUNTED)
      return { ok: false, error: `\`${word}\` counts too many requests; ${MAX_COUNTED} is the most` };
    counted.set(ref, requests);
  }
  return { ok: true, value: counted };
}

/**
 * Counters that have counted each request before, as often as its rule says; rules that are not listed start at zero.
 * @param domain the domain's name, once the plan is open
 */
export function countersAfter(counted: Counted, domain: () => string): Counters {
  const options = { maxBytes: COUNTER_OCTETS, random: () => 0 };
  const own = createCounters(options);
  let places: ReadonlyMap<string, number> | null = null;
  const after = (...request: Parameters<Counters['hit']>): Counters => {
    places ??= placesOf(counted, domain());
    const before = places.get(placeText(request[0])) ?? 0;
    if (before === 0) return own;
    const counters = createCounters(options);
    for (let count = 0; count < before; count++) counters.hit(...request);
    return counters;
  };
  return {
    hit: (...request) => after(...request).hit(...request),
    peek: (...request) => after(...request).peek(...request),
  };
}

function placeText({ space = 0, slot }: Pick<RateWindow, 'space' | 'slot'>): string {
  return `${space} ${slot}`;
}

/** The numbers by the place where the rule counts, in either mode; digits are an id, or a key that its author wrote so. */
function placesOf(counted: Counted, domain: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [ref, requests] of counted) {
    const name = ref.slice(ref.indexOf('/') + 1);
    const identities = /^\d+$/.test(name) ? [name, Number(name)] : [name];
    for (const identity of identities)
      for (const dryRun of [false, true])
        places.set(placeText(counterPlace(domain, identity, dryRun)), requests);
  }
  return places;
}

// What may be assumed of a plan besides the request: which challenges it has, which rate limits, which origins of pools. In: a sealed
// plan. Out: their names, as `simulate` takes them.

/** A rate limit of a plan. */
export interface LimitCondition {
  readonly rule: RuleRef;
  /** Requests that it lets through in a window: `limit` and `burst`. */
  readonly requests: number;
  readonly windowSec: number;
}

/** What a plan has that a simulation may set; rules that are disabled are left out. */
export interface PlanConditions {
  /** Rules and records that challenge. */
  readonly challenges: readonly RuleRef[];
  readonly limits: readonly LimitCondition[];
  readonly pools: readonly PoolSettings[];
}

/** Reads the conditions. @throws PlanFault when the bytes are not a plan */
export function planConditions(bytes: Uint8Array): PlanConditions {
  const { plan, revision } = openPlan(bytes);
  const loaded = createLoaded(plan, revision);
  const limits = slotsOf(loaded, 'rate_limit');
  const asking = [
    ...slotsOf(loaded, 'fingerprint').filter(
      (slot) => FINGERPRINT_ACTIONS[actionOf(loaded, slot)] === 'challenge',
    ),
    ...limits.filter((slot) => BREACH_ACTIONS[actionOf(loaded, slot)] === 'captcha'),
    ...slotsOf(loaded, 'captcha'),
  ];
  return {
    challenges: [
      ...asking.map((slot) => refOfSlot(loaded, slot)),
      ...challengingRecords(loaded).map((id) => refOfRecord(loaded, id)),
    ],
    limits: limits.map((slot) => limitOf(loaded, slot)),
    pools: readEdgeSettings(loaded).pools,
  };
}

/** The slots of a type's enabled rules. */
function slotsOf({ plan }: LoadedPlan, type: RuleType): readonly number[] {
  const [first, end] = [phaseStart(plan, typeIndex(type)), phaseStart(plan, typeIndex(type) + 1)];
  return Array.from({ length: end - first }, (_, index) => first + index).filter(
    (slot) => (plan.slots[slot * SLOT.size + SLOT.flags]! & FLAG.enabled) !== 0,
  );
}

function actionOf({ plan: { slots } }: LoadedPlan, slot: number): number {
  return slots[slot * SLOT.size + SLOT.flags]! >>> FLAG_ACTION_SHIFT;
}

function limitOf(loaded: LoadedPlan, slot: number): LimitCondition {
  const { slots, words } = loaded.plan;
  const fields = slots[slot * SLOT.size + SLOT.fields]!;
  return {
    rule: refOfSlot(loaded, slot),
    requests: words[fields + RATE_FIELDS.limit]! + words[fields + RATE_FIELDS.burst]!,
    windowSec: words[fields + RATE_FIELDS.window]!,
  };
}

/** The ids of the records that challenge for their hosts, ascending. */
function challengingRecords({ plan: { meta, words } }: LoadedPlan): readonly number[] {
  const ids = new Set<number>();
  for (let group = 0; group < meta[META.groupCount]!; group++) {
    const id = words[words[meta[META.groups]! + group]! + GROUP.captcha]!;
    if (id !== 0) ids.add(id);
  }
  return [...ids].sort((left, right) => left - right);
}

/** Requests that a rate limit can have counted before: a test that sends as many and one more can be written. */
const MAX_COUNTED = MAX_REPEAT - 1;
