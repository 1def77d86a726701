/**
 * The use of gateways as the API shows it (semantics §15). In: counts by step. Out: totals, one point for each step, and on request the
 * requests divided by gateway, consumer, operation or status; and when each operation of a gateway was called last.
 */
import { operationText, type TrafficCounts } from '../../engine/counts/counts.ts';
import {
  addSums,
  type GatewayCounts,
  type GatewaySums,
  type GatewayUse,
} from '../../engine/counts/gateway-counts.ts';
import type { GatewayOperation } from '../../rules/model/gateway/operations.ts';
import { startsOf, type TrafficPeriod } from './retention.ts';

/** What requests are divided by. */
export const USE_DIVISIONS = ['gateway', 'consumer', 'operation', 'status'] as const;
/** One of USE_DIVISIONS. */
export type UseDivision = (typeof USE_DIVISIONS)[number];

/** Whose use it is: that of one gateway, by its id, or of one consumer, by its username. */
export type UseOf = { readonly gateway: number } | { readonly consumer: string };

/** What to show. */
export interface UseQuery {
  readonly of: UseOf;
  /** `null`: no division. */
  readonly by: UseDivision | null;
  /** Values, at most. */
  readonly limit: number;
}

/** The requests with one value. */
export interface UseValue extends Readonly<GatewaySums> {
  /** `null`: the requests that have none. */
  readonly value: string | null;
}

/** Totals, points and the division of a period. */
export interface ShownUse {
  readonly totals: Readonly<GatewaySums>;
  /** Requests to gateways of the domain that are in no total, since a minute had too many different ones. */
  readonly uncounted: Readonly<GatewaySums>;
  readonly points: readonly (Readonly<GatewaySums> & { readonly at: string })[];
  readonly values?: readonly UseValue[];
  /** The totals without `values`. */
  readonly others?: Readonly<GatewaySums>;
}

function createSums(): GatewaySums {
  return { requests: 0, admitted: 0 };
}

/** The use of a period; `steps` has counts by the start of each step that has traffic. */
export function showGatewayUse(
  steps: ReadonlyMap<number, TrafficCounts>,
  period: TrafficPeriod,
  { of, by, limit }: UseQuery,
): ShownUse {
  const totals = createSums();
  const uncounted = createSums();
  const byValue = new Map<string, GatewaySums>();
  const points = startsOf(period).map((start) => {
    const point = createSums();
    const counts = steps.get(start);
    if (counts !== undefined) {
      addSums(point, sumsOf(counts, of));
      addSums(uncounted, 'gateway' in of ? counts.gateways.uncounted : counts.gateways.unnamed);
      if (by !== null) divide(byValue, counts, { of, by });
    }
    addSums(totals, point);
    return { at: new Date(start).toISOString(), ...point };
  });
  const shown = { totals, uncounted, points };
  if (by === null) return shown;
  const values = [...byValue]
    .map(([value, sums]) => ({ value: value === '' ? null : value, ...sums }))
    .sort((a, b) => b.requests - a.requests || ((a.value ?? '') < (b.value ?? '') ? -1 : 1))
    .slice(0, limit);
  return { ...shown, values, others: without(totals, values) };
}

/** The sums of a gateway or a consumer in one step. */
function sumsOf({ gateways }: TrafficCounts, of: UseOf): Readonly<GatewaySums> {
  if ('consumer' in of) return gateways.consumers.get(of.consumer) ?? createSums();
  const sums = createSums();
  for (const use of gateways.uses.values()) if (use.gateway === of.gateway) addSums(sums, use);
  return sums;
}

function divide(
  byValue: Map<string, GatewaySums>,
  { gateways }: TrafficCounts,
  { of, by }: Pick<UseQuery, 'of'> & { readonly by: UseDivision },
): void {
  for (const use of gateways.uses.values()) {
    if ('gateway' in of ? use.gateway !== of.gateway : use.consumer !== of.consumer) continue;
    const value = divisionValue(use, by);
    const sums = byValue.get(value) ?? createSums();
    byValue.set(value, sums);
    addSums(sums, use);
  }
}

/** Empty: it has none. Status 0 is of a response that was not seen: an agent decides and another server responds. */
function divisionValue(use: GatewayUse, by: UseDivision): string {
  if (by === 'status') return use.status === 0 ? 'unknown' : String(use.status);
  return String(use[by]);
}

function without(totals: Readonly<GatewaySums>, values: readonly UseValue[]): GatewaySums {
  const rest = { requests: totals.requests, admitted: totals.admitted };
  for (const { requests, admitted } of values) {
    rest.requests -= requests;
    rest.admitted -= admitted;
  }
  return rest;
}

// Which operations of a gateway are called. In: counts by hour of the last day, and by day of the last 30. Out: requests of each
// operation, and the start of the last hour or day that has any.

/** The use of one operation. */
export interface OperationUse extends Pick<GatewayOperation, 'operation_id' | 'methods' | 'path'> {
  readonly requests_24h: number;
  readonly requests_30d: number;
  readonly last_seen_at: string | null;
}

/** Counts by the start of their hour or day, in order. */
export interface OperationSteps {
  readonly hours: ReadonlyMap<number, TrafficCounts>;
  readonly days: ReadonlyMap<number, TrafficCounts>;
}

/** Every operation in its order, and requests that none describes. */
export function showOperationUse(
  operations: readonly GatewayOperation[],
  { hours, days }: OperationSteps,
  gateway: number,
): {
  readonly operations: readonly OperationUse[];
  readonly unlisted: Omit<OperationUse, 'operation_id' | 'methods' | 'path'>;
} {
  const [day, month] = [operationSums(hours, gateway), operationSums(days, gateway)];
  const useOf = (texts: readonly string[]) => {
    const of = (found: OperationSums) => texts.flatMap((text) => found.get(text) ?? []);
    const sum = (found: OperationSums) => of(found).reduce((all, { requests }) => all + requests, 0);
    // An hour is more exact than the day that it is in.
    const seen = of(day).length > 0 ? of(day) : of(month);
    const last = seen.reduce((latest, { at }) => Math.max(latest, at), -1);
    return {
      requests_24h: sum(day),
      requests_30d: sum(month),
      last_seen_at: last < 0 ? null : new Date(last).toISOString(),
    };
  };
  const texts = textsOf(operations);
  return {
    operations: operations.map(({ operation_id, methods, path }, place) => ({
      ...(operation_id === undefined ? {} : { operation_id }),
      ...{ methods, path },
      ...useOf(texts[place]!),
    })),
    unlisted: useOf(['']),
  };
}

/** Requests of each operation of a gateway in its order, and of the gateway. */
export function operationRequests(
  operations: readonly GatewayOperation[],
  counts: GatewayCounts,
  gateway: number,
): { readonly each: readonly number[]; readonly total: number } {
  const sums = operationSums(new Map([[0, { gateways: counts }]]), gateway);
  const requestsOf = (text: string): number => sums.get(text)?.requests ?? 0;
  return {
    each: textsOf(operations).map((texts) => texts.reduce((all, text) => all + requestsOf(text), 0)),
    total: [...sums.values()].reduce((all, { requests }) => all + requests, 0),
  };
}

type OperationSums = ReadonlyMap<string, { readonly requests: number; readonly at: number }>;

function operationSums(
  steps: ReadonlyMap<number, Pick<TrafficCounts, 'gateways'>>,
  gateway: number,
): OperationSums {
  const sums = new Map<string, { requests: number; at: number }>();
  for (const [start, { gateways }] of steps) {
    for (const { gateway: own, operation, requests } of gateways.uses.values()) {
      if (own !== gateway) continue;
      const before = sums.get(operation);
      sums.set(operation, {
        requests: requests + (before?.requests ?? 0),
        at: Math.max(start, before?.at ?? 0),
      });
    }
  }
  return sums;
}

/** The texts that counts have of each operation: HEAD is a request of GET unless another operation lists it. */
function textsOf(operations: readonly GatewayOperation[]): readonly (readonly string[])[] {
  const listed = operations.map(({ operation_id, methods, path }) => [
    ...new Set(methods.map((method) => operationText(operation_id ?? path, method))),
  ]);
  const taken = new Set(listed.flat());
  return operations.map(({ operation_id, methods, path }, place) => {
    const head = operationText(operation_id ?? path, 'HEAD');
    return methods.includes('GET') && !taken.has(head) ? [...listed[place]!, head] : listed[place]!;
  });
}
