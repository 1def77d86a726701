/**
 * How much less or more consumers may ask for. In: two rule sets. Out: usage plans by name whose throttle, quota or concurrency differs,
 * operations whose `limits` differ, and consumers and gateways that have another plan.
 */
import type { GatewayRule, Registry, UsagePlan } from '../../rules/model/types.ts';

/** A limit that differs. */
export interface LimitChange {
  /** `usage plan \`gold\``, `operation \`GET /v1/orders\``. */
  readonly of: string;
  readonly limit: 'throttle' | 'quota' | 'concurrency' | 'usage plan';
  /** Whether it admits more or less than before; `other`: it may be more at one time and less at another. */
  readonly change: 'looser' | 'stricter' | 'other';
  /** In words; `null`: none. */
  readonly was: string | null;
  readonly now: string | null;
}

/** The objects of one side that limits are of. */
interface LimitedSide {
  readonly registry: Registry;
  readonly gateways: readonly GatewayRule[];
}

/** Compares the usage plans of two rule sets that both have them, and who has which. */
export function compareLimits(before: LimitedSide, after: LimitedSide): readonly LimitChange[] {
  const plans = byName(after.registry.usage_plans, ({ name }) => name);
  const ofPlans = before.registry.usage_plans.flatMap((was) => {
    const now = plans.get(was.name);
    return now === undefined ? [] : limitsOf(was, now);
  });
  const consumers = byName(after.registry.consumers, ({ username }) => username);
  const ofConsumers = before.registry.consumers.flatMap(({ username, usage_plan }) => {
    const now = consumers.get(username);
    return now === undefined ? [] : namedPlan(`consumer \`${username}\``, usage_plan, now.usage_plan);
  });
  const gateways = byName(after.gateways, ({ base_path }) => base_path);
  const ofGateways = before.gateways.flatMap((was) => {
    const now = gateways.get(was.base_path);
    if (now === undefined) return [];
    const of = `gateway of \`${was.base_path}\``;
    return [...namedPlan(of, was.default_plan ?? null, now.default_plan ?? null), ...ofOperations(was, now)];
  });
  return [...ofPlans, ...ofConsumers, ...ofGateways];
}

function byName<T>(all: readonly T[], nameOf: (one: T) => string): ReadonlyMap<string, T> {
  return new Map(all.map((one) => [nameOf(one), one]));
}

function namedPlan(of: string, was: string | null, now: string | null): readonly LimitChange[] {
  return was === now ? [] : [{ of, limit: 'usage plan', change: 'other', was, now }];
}

/** Compares `limits` of the operations that both gateways have. */
function ofOperations(was: GatewayRule, now: GatewayRule): readonly LimitChange[] {
  const nameOf = ({ methods, path }: GatewayRule['operations'][number]): string =>
    `${methods.join(',')} ${now.base_path === '/' ? '' : now.base_path}${path}`;
  const operations = byName(now.operations, nameOf);
  return was.operations.flatMap((operation) => {
    const after = operations.get(nameOf(operation));
    if (after === undefined) return [];
    return throttles(`operation \`${nameOf(operation)}\``, operation.limits ?? null, after.limits ?? null);
  });
}

function throttles(of: string, was: Throttle | null, now: Throttle | null): readonly LimitChange[] {
  return limit(of, 'throttle', [was, now], { text: throttleText, isWithin: isThrottleWithin });
}

function limitsOf(was: UsagePlan, now: UsagePlan): readonly LimitChange[] {
  const of = `usage plan \`${was.name}\``;
  return [
    ...throttles(of, was.throttle, now.throttle),
    ...limit(of, 'quota', [was.quota, now.quota], { text: quotaText, isWithin: isQuotaWithin }),
    ...limit(of, 'concurrency', [was.concurrency, now.concurrency], {
      text: (most) => `${most} requests at the same time`,
      isWithin: (one, other) => one <= other,
    }),
  ];
}

interface Comparing<T> {
  readonly text: (one: T) => string;
  /** Whether the second admits whatever the first admits, at any time. */
  readonly isWithin: (one: T, other: T) => boolean;
}

function limit<T>(
  of: string,
  name: LimitChange['limit'],
  [was, now]: readonly [T | null, T | null],
  { text, isWithin }: Comparing<T>,
): readonly LimitChange[] {
  if (JSON.stringify(was) === JSON.stringify(now)) return [];
  const isLooser = now === null || (was !== null && isWithin(was, now));
  const isStricter = was === null || (now !== null && isWithin(now, was));
  const change = isLooser ? 'looser' : isStricter ? 'stricter' : 'other';
  const [before, after] = [was, now].map((one) => (one === null ? null : text(one)));
  return [{ of, limit: name, change, was: before!, now: after! }];
}

type Throttle = NonNullable<UsagePlan['throttle']>;

function throttleText({ rate, per_sec, burst }: Throttle): string {
  const time = per_sec === 1 ? 'a second' : `${per_sec} seconds`;
  return `${rate} requests in ${time}${burst === 0 ? '' : ` and ${burst} at once`}`;
}

/** A window of the same length admits more if its count is higher. */
function isThrottleWithin(one: Throttle, other: Throttle): boolean {
  return one.per_sec === other.per_sec && one.rate + one.burst <= other.rate + other.burst;
}

type Quota = NonNullable<UsagePlan['quota']>;

function quotaText({ limit: most, period }: Quota): string {
  return `${most} requests in ${period === 'rolling_30d' ? '30 days' : `a ${period}`}`;
}

function isQuotaWithin(one: Quota, other: Quota): boolean {
  return one.period === other.period && one.limit <= other.limit;
}
