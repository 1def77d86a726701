/**
 * Usage plans (semantics §15): each consumer has its own count of a plan, over all gateways of the domain; a request without a
 * consumer counts under its address. A request that the plan refuses does not count. Quotas are counted by the control plane; here
 * they are exhausted until a time or not. In: a verdict. Out: the count, and what the response states of it.
 */
import { META } from '../plan/layout.ts';
import type { RegisteredUsagePlan } from '../plan/open-registry.ts';
import { periodAt } from '../plan/quota-period.ts';
import { counterSpace, type RateKey, type RateResult } from '../rate-counters/counters.ts';
import { ipOf } from './facts.ts';
import type { GatewayVerdict } from './gateways.ts';
import { textOf } from './loaded.ts';
import { planName } from './rate-outcomes.ts';
import { type Context, isDryRun, type PlanWindow, type Run } from './run.ts';

type Limit = NonNullable<RegisteredUsagePlan['throttle']>;

/** The window of a usage plan with the key that a request counts under. */
interface Throttle {
  readonly window: PlanWindow;
  readonly key: RateKey;
}

/** A gateway: its slot, and the usage plan of consumers without one of their own. */
export interface GatewayPlace {
  readonly slot: number;
  /** Empty: none. */
  readonly defaultPlan: string;
}

/** The usage plan of a request; `null`: it has none. */
function planOf(
  { loaded }: Context,
  { defaultPlan }: GatewayPlace,
  { consumer }: GatewayVerdict,
): RegisteredUsagePlan | null {
  const name = consumer?.usagePlan ?? defaultPlan;
  return name === '' ? null : (loaded.registry?.usagePlan(name) ?? null);
}

/** An exhausted quota. */
interface ExhaustedPlan {
  readonly name: string;
  readonly quota: NonNullable<RegisteredUsagePlan['quota']>;
  /** Milliseconds since the epoch, after the time of the request. */
  readonly until: number;
}

/** The last time that has a text (RFC 3339): later ones are no times. */
const LAST_TIME = 253_402_300_799_999;

/** The quota that the consumer of a request has exhausted; `null`: it may send more. */
export function exhaustedPlan(
  context: Context,
  place: GatewayPlace,
  verdict: GatewayVerdict,
): ExhaustedPlan | null {
  const { now, request } = context.facts;
  const { consumer } = verdict;
  const plan = consumer === null ? null : planOf(context, place, verdict);
  if (plan === null || plan.quota === null) return null;
  const given: unknown = request.identity?.exhaustedUntil;
  const until = given === undefined ? (consumer!.exhausted.get(plan.name) ?? 0) : given;
  return Number.isInteger(until) && (until as number) > now && (until as number) <= LAST_TIME
    ? { name: plan.name, quota: plan.quota, until: until as number }
    : null;
}

/** The usage plan of a request that is admitted so far; `null`: none limits it. */
export function throttleOf(context: Context, place: GatewayPlace, verdict: GatewayVerdict): Throttle | null {
  const { facts } = context;
  const { consumer } = verdict;
  const plan = planOf(context, place, verdict);
  if (plan === null || plan.throttle === null) return null;
  const { name, throttle } = plan;
  const key: RateKey = {
    family: ipOf(facts) as 0 | 4 | 6,
    words: facts.ipWords,
    path: consumer?.username ?? '',
  };
  const kind = { isDry: isDryRun(context, place.slot), byConsumer: consumer !== null };
  return { window: windowOf(context, { name, throttle }, kind), key };
}

/** Which of the counts of a plan: that of gateways under dry_run or that of others, by consumer or by address. */
interface CountKind {
  readonly isDry: boolean;
  readonly byConsumer: boolean;
}

/** The window of a usage plan, made at its first use. */
function windowOf(
  { loaded, planWindows }: Context,
  { name, throttle }: { readonly name: string; readonly throttle: Limit },
  { isDry, byConsumer }: CountKind,
): PlanWindow {
  const mode = isDry ? 'dry_run ' : '';
  const id = `${mode}${byConsumer ? 'consumer' : 'address'} ${name}`;
  const known = planWindows.get(id);
  if (known !== undefined) return known;
  const domain = textOf(loaded, loaded.plan.meta[META.domain]!);
  const window: PlanWindow = {
    space: counterSpace(`${mode}${domain} usage plan ${name}`),
    slot: byConsumer ? 0 : 1,
    capacity: throttle.rate + throttle.burst,
    doubled: false,
    windowMs: throttle.perSec * 1000,
    perPath: false,
    isFree: true,
    // The name of a consumer is the key, whatever the address is.
    ...(byConsumer ? { parts: counterSpace('consumer'), shared: true } : {}),
    policy: planName(name),
  };
  planWindows.set(id, window);
  return window;
}

/** Counts the request once, unless its plan refuses it; the shadow reads what the real run has counted. */
export function countOnce(context: Context, run: Run, slot: number, { window, key }: Throttle): RateResult {
  const known = context.memo.rates.get(slot);
  if (known !== undefined) return known;
  const { counters, facts } = context;
  const out = { breached: false, count: 0, retryAfter: 0 };
  counters.peek(window, key, facts.now, window.capacity, out);
  const counts = !run.shadow || isDryRun(context, slot);
  if (!out.breached && counts) counters.hit(window, key, facts.now, window.capacity, out);
  context.memo.rates.set(slot, out);
  return out;
}

/** Stores the state of the usage plan, which the response states whatever answers the request. */
export function noteState(context: Context, run: Run, place: GatewayPlace, verdict: GatewayVerdict): void {
  if (verdict.reason === 'quota') {
    noteExhausted(context, run, exhaustedPlan(context, place, verdict)!);
    return;
  }
  const result = context.memo.rates.get(place.slot);
  // A request whose body is refused has counted, too.
  const hasCounted = verdict.body !== null || verdict.reason === 'admitted' || verdict.reason === 'throttled';
  if (result === undefined || !hasCounted) return;
  const { window } = throttleOf(context, place, verdict)!;
  const windowSec = window.windowMs / 1000;
  const { breached, retryAfter } = result;
  run.planState = {
    name: window.policy,
    quota: window.capacity,
    windowSec,
    remaining: Math.max(0, window.capacity - result.count),
    resetSec: breached ? retryAfter : windowSec,
  };
  if (breached) run.retryAfter = retryAfter;
}

function noteExhausted({ facts }: Context, run: Run, { name, quota, until }: ExhaustedPlan): void {
  const { from, to } = periodAt(quota.period, facts.now);
  run.retryAfter = Math.ceil((until - facts.now) / 1000);
  run.planState = {
    name: `${planName(name)} quota`,
    quota: quota.limit,
    windowSec: (to - from) / 1000,
    remaining: 0,
    resetSec: run.retryAfter,
  };
}
