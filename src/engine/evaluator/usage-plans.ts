/**
 * Usage plans and `limits` of operations (semantics §15): each consumer has its own count of a plan, over all gateways of the domain,
 * and of an operation; a request without a consumer counts under its address. A request that one of both refuses counts under neither.
 * Quotas are counted by the control plane; here they are exhausted until a time or not. Slots of `concurrency` are compared here and
 * taken by software that sees the end of responses (`takeSlot`). In: a verdict. Out: the count, and what the response states of it.
 */
import { META, SLOT } from '../plan/layout.ts';
import type { RegisteredUsagePlan } from '../plan/open-registry.ts';
import { periodAt } from '../plan/quota-period.ts';
import { counterSpace, type RateKey } from '../rate-counters/counters.ts';
import type { NeededSlot } from '../rate-counters/slots.ts';
import { type Facts, ipOf } from './facts.ts';
import type { GatewayVerdict } from './gateways.ts';
import { keyOfSlot } from './identity.ts';
import { textOf } from './loaded.ts';
import type { LoadedOperation } from './operations.ts';
import { operationName, planName } from './rate-outcomes.ts';
import { type Context, type CountedRate, isDryRun, type PlanWindow, type Run, slotWord } from './run.ts';

type Limit = NonNullable<LoadedOperation['throttle']>;

/** A window with the key that a request counts under. */
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

/** The slot that an admitted request needs; `null`: none. Gateways under dry_run take none. */
export function neededSlot(
  context: Context,
  place: GatewayPlace,
  verdict: GatewayVerdict,
): NeededSlot | null {
  const plan = isDryRun(context, place.slot) ? null : planOf(context, place, verdict);
  if (plan === null || plan.concurrency === null) return null;
  const { counters, facts, loaded } = context;
  const { consumer } = verdict;
  const who = consumer === null ? `address ${addressText(facts)}` : `consumer ${consumer.username}`;
  const domain = textOf(loaded, loaded.plan.meta[META.domain]!);
  return {
    slots: counters.slots ?? null,
    key: `${domain} ${plan.name} ${who}`,
    most: plan.concurrency,
  };
}

/** The address of a request, of IPv6 its /64, as rate counters take it. */
function addressText(facts: Facts): string {
  const family = ipOf(facts);
  if (family === 0) return '';
  const [first, second] = facts.ipWords;
  return family === 4 ? `${first}` : `${first} ${second}`;
}

/** Seconds after which a consumer may try again that has too many requests in flight: when one of them ends is unknown. */
const CONCURRENCY_RETRY_SEC = 1;

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

/** What limits a request that is admitted so far: `limits` of its operation, then its usage plan. */
export function throttlesOf(
  context: Context,
  place: GatewayPlace,
  verdict: GatewayVerdict,
): readonly Throttle[] {
  const { facts } = context;
  const { consumer, operation } = verdict;
  const plan = planOf(context, place, verdict);
  const limit = plan?.throttle ?? null;
  // PERF: most operations have no limit of their own.
  if (limit === null && (operation === null || operation.throttle === null)) return [];
  const key: RateKey = {
    family: ipOf(facts) as 0 | 4 | 6,
    words: facts.ipWords,
    path: consumer?.username ?? '',
  };
  const kind = { isDry: isDryRun(context, place.slot), byConsumer: consumer !== null };
  const own = operation === null ? null : operationWindow(context, { slot: place.slot, operation }, kind);
  return [
    ...(own === null ? [] : [{ window: own, key }]),
    ...(limit === null ? [] : [{ window: planWindow(context, { name: plan!.name, limit }, kind), key }]),
  ];
}

/** Which of the counts of a limit: that of gateways under dry_run or that of others, by consumer or by address. */
interface CountKind {
  readonly isDry: boolean;
  readonly byConsumer: boolean;
}

/** The window of a usage plan, made at its first use. */
function planWindow(
  context: Context,
  { name, limit }: { readonly name: string; readonly limit: Limit },
  kind: CountKind,
): PlanWindow {
  const id = `${kind.isDry ? 'dry_run ' : ''}${kind.byConsumer ? 'consumer' : 'address'} ${name}`;
  const known = context.planWindows.get(id);
  if (known !== undefined) return known;
  const own = { space: `usage plan ${name}`, policy: planName(name), ofOperation: false };
  return addWindow(context, id, { ...own, limit, kind });
}

/** The window of `limits` of an operation, made at its first use; `null`: it has none. */
function operationWindow(
  context: Context,
  { slot, operation }: { readonly slot: number; readonly operation: LoadedOperation },
  kind: CountKind,
): PlanWindow | null {
  const { id: name, index, methods, path, throttle } = operation;
  if (throttle === null) return null;
  // No name of a usage plan has a blank.
  const id = `${kind.byConsumer ? 'consumer' : 'address'} operation ${slot} ${index}`;
  const known = context.planWindows.get(id);
  if (known !== undefined) return known;
  const gateway = keyOfSlot(context.loaded, slot) || String(slotWord(context, slot, SLOT.id));
  const text = name || `${methods.join()} ${path}`;
  const own = {
    space: `operation ${gateway}\n${text}`,
    policy: operationName(gateway, text),
    ofOperation: true,
  };
  return addWindow(context, id, { ...own, limit: throttle, kind });
}

function addWindow(
  { loaded, planWindows }: Context,
  id: string,
  {
    space,
    policy,
    ofOperation,
    limit,
    kind: { isDry, byConsumer },
  }: Pick<PlanWindow, 'policy' | 'ofOperation'> & {
    readonly space: string;
    readonly limit: Limit;
    readonly kind: CountKind;
  },
): PlanWindow {
  const domain = textOf(loaded, loaded.plan.meta[META.domain]!);
  const window: PlanWindow = {
    space: counterSpace(`${isDry ? 'dry_run ' : ''}${domain} ${space}`),
    slot: byConsumer ? 0 : 1,
    capacity: limit.rate + limit.burst,
    doubled: false,
    windowMs: limit.perSec * 1000,
    perPath: false,
    isFree: true,
    // The name of a consumer is the key, whatever the address is.
    ...(byConsumer ? { parts: counterSpace('consumer'), shared: true } : {}),
    policy,
    ofOperation,
  };
  planWindows.set(id, window);
  return window;
}

/**
 * Counts the request once under each of its limits, unless one of them refuses it; the shadow reads what the real run has counted.
 * The result is that of the tighter limit: of those that refuse the one that does so longest, else the one that lets fewer through.
 */
export function countOnce(
  context: Context,
  run: Run,
  slot: number,
  throttles: readonly Throttle[],
): CountedRate {
  const known = context.memo.rates.get(slot);
  if (known !== undefined) return known;
  const { counters, facts } = context;
  const results = throttles.map(({ window, key }) => {
    const out = { breached: false, count: 0, retryAfter: 0, window };
    counters.peek(window, key, facts.now, window.capacity, out);
    return out;
  });
  const counts = !run.shadow || isDryRun(context, slot);
  if (counts && !results.some(({ breached }) => breached)) {
    for (const [index, { window, key }] of throttles.entries())
      counters.hit(window, key, facts.now, window.capacity, results[index]!);
  }
  const tightest = results.reduce((one, other) => (isTighter(other, one) ? other : one));
  context.memo.rates.set(slot, tightest);
  return tightest;
}

function isTighter(one: CountedRate, other: CountedRate): boolean {
  if (one.breached !== other.breached) return one.breached;
  if (one.breached) return one.retryAfter > other.retryAfter;
  return one.window!.capacity - one.count < other.window!.capacity - other.count;
}

/** Stores the state of the limit that was tighter, which the response states whatever answers the request. */
export function noteState(context: Context, run: Run, place: GatewayPlace, verdict: GatewayVerdict): void {
  if (verdict.reason === 'quota') {
    noteExhausted(context, run, exhaustedPlan(context, place, verdict)!);
    return;
  }
  if (verdict.reason === 'concurrency') {
    run.retryAfter = CONCURRENCY_RETRY_SEC;
    return;
  }
  const result = context.memo.rates.get(place.slot);
  // A request whose body is refused has counted, too.
  const hasCounted = verdict.body !== null || verdict.reason === 'admitted' || verdict.reason === 'throttled';
  if (result?.window === undefined || !hasCounted) return;
  const { breached, count, retryAfter, window } = result;
  const windowSec = window.windowMs / 1000;
  run.planState = {
    name: window.policy,
    quota: window.capacity,
    windowSec,
    remaining: Math.max(0, window.capacity - count),
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
