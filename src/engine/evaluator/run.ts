/**
 * One pass over the phases: the real one, or the shadow's, in which dry_run rules act. Phases write into a run, and the
 * decision is made from it (`phases.ts`).
 */
import type { RatePart } from '../../base/vocabulary/vocabulary.ts';
import { FLAG, phaseStart as firstSlot, ruleTypeOf, SLOT } from '../plan/layout.ts';
import type { Counters, RateResult, RateWindow } from '../rate-counters/counters.ts';
import type { NeededSlot } from '../rate-counters/slots.ts';
import type { WafProgram } from '../waf/request/inspection.ts';
import type { Pool, PoolState, Surroundings, TurnState } from './balancer.ts';
import { type Candidates, nextCandidate, skipTo } from './candidates.ts';
import type {
  Action,
  CacheDirective,
  Effect,
  GatewayOutcome,
  HeaderChange,
  Match,
  Origin,
  RuleRef,
  WafVerdict,
} from './decision.ts';
import type { Facts } from './facts.ts';
import type { BodyFinding } from './gateway-bodies.ts';
import type { LoadedGateway } from './gateways.ts';
import { keyOfSlot, refOfSlot, refText } from './identity.ts';
import type { LoadedPlan } from './loaded.ts';
import type { LoadedSource } from './loaded-conditions.ts';
import { slotMatches } from './predicates.ts';
import type { PendingCount, RateState } from './rate-outcomes.ts';

/** Health and load of pool origins. `pool` is the id of the rule, `origin` the index in its `origins`. */
export interface OriginStates {
  healthy(pool: number, origin: number): boolean;
  /** Requests in progress at the origin. */
  inFlight(pool: number, origin: number): number;
}

/** What a request has counted. */
export interface CountedRate extends RateResult {
  /** Of gateways: the window that lets the fewest requests through. */
  readonly window?: PlanWindow;
}

/** Results of the real run that the shadow must not compute again, by slot. Cleared per request. */
export interface Memo {
  readonly rates: Map<number, CountedRate>;
  readonly wafs: Map<number, WafVerdict>;
  /** What is wrong with the body, by slot of the gateway. */
  readonly bodies: Map<number, BodyFinding | null>;
  /** Picks by slot of the pool; the host's own records under -1. */
  readonly picks: Map<number, number>;
  /** Counts that wait for the status of the response; `null`: none. */
  pending: PendingCount[] | null;
}

/** A pool decoded for the balancer, with its state and its origins' health. */
export interface LoadedPool {
  readonly pool: Pool;
  readonly state: PoolState;
  readonly around: Surroundings;
}

/** A part of the keys of a rate limit. */
export interface LoadedPart {
  readonly kind: RatePart;
  /** What is read; `null`: the address, or the path. */
  readonly source: LoadedSource | null;
}

/** The window of a rate limit with the parts of its keys but the address; none: the window says what its keys are. */
export interface PartedWindow extends RateWindow {
  readonly keyParts: readonly LoadedPart[];
  /** Statuses of responses that count; `null`: every request counts. */
  readonly statuses: readonly number[] | null;
  /** Forwarded responses state the limit. */
  readonly stated: boolean;
  /** The rule's `policyName`. PERF: a hash of its key, computed once. */
  readonly policy: string;
}

/** The window of a usage plan, or of `limits` of an operation. */
export interface PlanWindow extends RateWindow {
  /** It is that of `limits` of an operation. */
  readonly ofOperation: boolean;
  /** `planName` or `operationName`. PERF: a hash, computed once. */
  readonly policy: string;
}

/** A phase as `evaluate` runs it; see `PHASE_TABLE` in `phases.ts` for the order and the meaning of the fields. */
export interface Step {
  readonly run: (context: Context, run: Run) => boolean;
  readonly runWithoutRules: ((context: Context, run: Run) => boolean) | null;
  /** The slot after the phase's last rule; 0 if the plan has none. */
  readonly end: number;
  readonly passedBy: number;
  readonly pass: ((context: Context, run: Run) => void) | null;
}

/** Everything phases work with: one per evaluator. */
export interface Context {
  readonly loaded: LoadedPlan;
  /** The phases of requests that some rule may match, in their order. */
  readonly steps: readonly Step[];
  /** Runs after them, also if one of them ended the request; `null`: the plan has no headers rule. */
  readonly lastStep: Step['run'] | null;
  readonly facts: Facts;
  readonly candidates: Candidates;
  readonly counters: Counters;
  /** Windows of rate limits by slot, made at their first use. */
  readonly windows: Map<number, PartedWindow>;
  /** Windows of usage plans by mode of the gateway, kind of key and name, and of operations; made at their first use. */
  readonly planWindows: Map<string, PlanWindow>;
  readonly waf: WafProgram | null;
  /** Reports a fault to the embedder; never throws. */
  readonly reportFault: (error: unknown) => void;
  readonly origins: OriginStates;
  readonly nodeId: number | null;
  readonly pools: Map<number, LoadedPool>;
  /** Gateways by slot, decoded at their first use. */
  readonly gateways: Map<number, LoadedGateway>;
  /** Whether gateways admit every request they match, for analyses that leave credentials open. */
  readonly admitsAll: boolean;
  /** Names of the parameters that cache rules key by, by slot. */
  readonly keyedNames: Map<number, ReadonlySet<string>>;
  /** The round robin over a host's own records, by offset of the group. */
  readonly turns: Map<number, TurnState>;
  readonly memo: Memo;
}

/** The outcome of one pass, as far as its phases have written it; the fields are those of `Decision`. */
export interface Run {
  readonly shadow: boolean;
  action: Action;
  status: number | null;
  rule: RuleRef | null;
  location: string | null;
  body: string | null;
  origin: Origin | null;
  path: string | null;
  query: string | null;
  cache: CacheDirective | null;
  tags: string[] | null;
  retryAfter: number | null;
  waf: WafVerdict | null;
  requestHeaders: readonly HeaderChange[] | null;
  responseHeaders: readonly HeaderChange[] | null;
  matches: Match[] | null;
  /** A dry_run rule was recorded. */
  dryMatched: boolean;
  /** Slot of the bot_route rule that pinned the origin, or -1. */
  pinned: number;
  /** Bits of EXEMPT (`facts.ts`): which phases the request passes untouched. */
  exempt: number;
  /** Slot of the rewrite rule that acts, or -1. */
  rewrittenBy: number;
  /** States of rate limits for the response; `null`: none. */
  rateStates: RateState[] | null;
  /** Whether a rate limit ended the request. */
  isOverLimit: boolean;
  /** State of the usage plan that has judged the request; `null`: none has. */
  planState: RateState | null;
  /** What the gateway that acts has made of the request; `null`: none acts. */
  gateway: GatewayOutcome | null;
  /** Slot of that gateway, or -1. */
  gatewaySlot: number;
  /** The slot of its usage plan that the admitted request needs; `null`: none. */
  needed: NeededSlot | null;
}

/** An empty run. */
export function createRun(shadow: boolean): Run {
  return {
    shadow,
    action: 'forward',
    status: null,
    rule: null,
    location: null,
    body: null,
    origin: null,
    path: null,
    query: null,
    cache: null,
    tags: null,
    retryAfter: null,
    waf: null,
    requestHeaders: null,
    responseHeaders: null,
    matches: null,
    dryMatched: false,
    pinned: -1,
    exempt: 0,
    rewrittenBy: -1,
    rateStates: null,
    isOverLimit: false,
    planState: null,
    gateway: null,
    gatewaySlot: -1,
    needed: null,
  };
}

/** Makes a run ready for the next request. */
export function resetRun(run: Run): void {
  run.action = 'forward';
  run.status = null;
  run.rule = null;
  run.location = null;
  run.body = null;
  run.origin = null;
  run.path = null;
  run.query = null;
  run.cache = null;
  run.tags = null;
  run.retryAfter = null;
  run.waf = null;
  run.requestHeaders = null;
  run.responseHeaders = null;
  run.matches = null;
  run.dryMatched = false;
  run.pinned = -1;
  run.exempt = 0;
  run.rewrittenBy = -1;
  run.rateStates = null;
  run.isOverLimit = false;
  run.planState = null;
  run.gateway = null;
  run.gatewaySlot = -1;
  run.needed = null;
}

/** The first slot of a type's phase, and the first of the next. */
export function phaseStart(context: Context, type: number): number {
  return firstSlot(context.loaded.plan, type);
}

/** The slot of the next rule of the type that matches, or -1. Skips rules of earlier types. */
export function nextMatch(context: Context, type: number): number {
  const end = phaseStart(context, type + 1);
  skipTo(context.candidates, phaseStart(context, type));
  for (;;) {
    const slot = nextCandidate(context.candidates, end);
    if (slot < 0 || slotMatches(context.loaded, slot, context.facts)) return slot;
  }
}

/** Skips the remaining rules of a type. */
export function endPhase(context: Context, type: number): void {
  skipTo(context.candidates, phaseStart(context, type + 1));
}

/** A field (`SLOT`) of a slot's row. */
export function slotWord(context: Context, slot: number, field: number): number {
  return context.loaded.plan.slots[slot * SLOT.size + field]!;
}

/** Whether the rule's action_mode is `dry_run`. */
export function isDryRun(context: Context, slot: number): boolean {
  return (slotWord(context, slot, SLOT.flags) & FLAG.dryRun) !== 0;
}

/** Whether the rule acts in this run: dry_run rules act in the shadow only. */
export function acts(context: Context, run: Run, slot: number): boolean {
  return run.shadow || !isDryRun(context, slot);
}

/** The reference of the rule in a slot. */
export function refOf(context: Context, slot: number): RuleRef {
  return refOfSlot(context.loaded, slot);
}

/** Records that a rule matched, with the effect that it had, or would have had. */
export function record(context: Context, run: Run, slot: number, effect: Effect): void {
  recordMatch(run, matchOf(context, slot, effect));
}

/** The entry of a rule that matched. */
export function matchOf(context: Context, slot: number, effect: Effect): Match {
  const { slots } = context.loaded.plan;
  const row = slot * SLOT.size;
  const flags = slots[row + SLOT.flags]!;
  const dry = (flags & FLAG.dryRun) !== 0;
  // PERF: one literal; spreading the rule's reference into it took a quarter of all evaluation.
  const type = ruleTypeOf(flags);
  const id = slots[row + SLOT.id]!;
  const mode = dry ? 'dry_run' : 'enforce';
  const key = keyOfSlot(context.loaded, slot);
  return key === '' ? { type, id, mode, effect } : { type, id, key, mode, effect };
}

/** Adds a match to those of a run. */
export function recordMatch(run: Run, match: Match): void {
  if (run.matches === null) run.matches = [match];
  else run.matches.push(match);
  if (match.mode === 'dry_run') run.dryMatched = true;
}

/** Adds the tag of a rule: its reference as text, and its slot for conditions. */
export function addTag(context: Context, run: Run, slot: number): void {
  context.facts.tagged.push(slot);
  const tag = refText(refOf(context, slot));
  if (run.tags === null) run.tags = [tag];
  else run.tags.push(tag);
}

/** Ends the request with a status of the edge's own; returns true, as a phase that ends a request does. */
export function end(run: Run, action: Action, outcome: { status: number; rule: RuleRef | null }): true {
  run.action = action;
  run.status = outcome.status;
  run.rule = outcome.rule;
  return true;
}
