/**
 * Usage plans (semantics §15): each consumer has its own count of a plan, over all gateways of the domain; a request without a
 * consumer counts under its address. A request that the plan refuses does not count. In: a verdict. Out: the count, and what the
 * response states of it.
 */
import { META } from '../plan/layout.ts';
import type { RegisteredUsagePlan } from '../plan/open-registry.ts';
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
interface Place {
  readonly slot: number;
  /** Empty: none. */
  readonly defaultPlan: string;
}

/** The usage plan of a request that is admitted so far; `null`: none limits it. */
export function throttleOf(
  context: Context,
  { slot, defaultPlan }: Place,
  { consumer }: GatewayVerdict,
): Throttle | null {
  const { facts, loaded } = context;
  const name = consumer?.usagePlan ?? defaultPlan;
  const throttle = name === '' ? null : (loaded.registry?.usagePlan(name)?.throttle ?? null);
  if (throttle === null) return null;
  const key: RateKey = {
    family: ipOf(facts) as 0 | 4 | 6,
    words: facts.ipWords,
    path: consumer?.username ?? '',
  };
  const kind = { isDry: isDryRun(context, slot), byConsumer: consumer !== null };
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
export function noteState(context: Context, run: Run, place: Place, verdict: GatewayVerdict): void {
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
