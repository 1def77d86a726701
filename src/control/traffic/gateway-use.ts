/**
 * The use of gateways by consumers, as quotas count it. In: a transaction, a domain, a span of time. Out: sums by username.
 * The sums are added in the transaction that stores a batch (`take-batch.ts`), so that they include every batch once and
 * none that is not stored.
 */
import type { ReadTransaction } from '../store/store.ts';
import { DAY, MINUTE_MS } from './limits.ts';
import { startOf } from './read-traffic.ts';

/** Requests of one consumer. */
export interface ConsumerUse {
  /** All that its credentials were read of, refused ones included. */
  readonly requests: number;
  /** Those that a gateway admitted: what a quota counts. */
  readonly admitted: number;
}

/** Whose use of what time. Milliseconds since the epoch, `from` ≤ time < `to`, widened to whole days of UTC. */
export interface GatewayUseQuery {
  readonly domainId: number;
  readonly from: number;
  readonly to: number;
}

/** The use of every consumer with requests, by username; requests without a consumer are under the empty name. @throws StoreFault */
export async function readGatewayUse(
  tx: Pick<ReadTransaction, 'consumerDays'>,
  { domainId, ...times }: GatewayUseQuery,
): Promise<ReadonlyMap<string, ConsumerUse>> {
  const rows = await tx.consumerDays.sums(domainId, daysOf(times));
  return new Map(rows.map(({ consumer, requests, admitted }) => [consumer, { requests, admitted }]));
}

/**
 * Admitted requests of the consumers that have at least so many, by username. Requests without a consumer are left out: no quota counts
 * them. @throws StoreFault
 */
export async function readHighUse(
  tx: Pick<ReadTransaction, 'consumerDays'>,
  { domainId, atLeast, ...times }: GatewayUseQuery & { readonly atLeast: number },
): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.consumerDays.reached(domainId, daysOf(times), atLeast);
  return new Map(rows.map(({ consumer, admitted }) => [consumer, admitted]));
}

/** Admitted requests of one day. */
export interface DayUse {
  /** Midnight, in milliseconds since the epoch. */
  readonly at: number;
  readonly admitted: number;
}

/** The days with requests of these consumers, by username, the oldest first. @throws StoreFault */
export async function readDaysOf(
  tx: Pick<ReadTransaction, 'consumerDays'>,
  { domainId, consumers, ...times }: GatewayUseQuery & { readonly consumers: readonly string[] },
): Promise<ReadonlyMap<string, readonly DayUse[]>> {
  const found = new Map<string, DayUse[]>();
  for (const { consumer, day, admitted } of await tx.consumerDays.daysOf(
    domainId,
    consumers,
    daysOf(times),
  )) {
    const days = found.get(consumer) ?? [];
    found.set(consumer, days);
    days.push({ at: day * MINUTE_MS, admitted });
  }
  return found;
}

/** The use of one consumer. @throws StoreFault */
export function readConsumerUse(
  tx: Pick<ReadTransaction, 'consumerDays'>,
  { domainId, consumer, ...times }: GatewayUseQuery & { readonly consumer: string },
): Promise<ConsumerUse> {
  return tx.consumerDays.sumOf(domainId, consumer, daysOf(times));
}

function daysOf({ from, to }: Omit<GatewayUseQuery, 'domainId'>): {
  readonly from: number;
  readonly to: number;
} {
  const last = Math.ceil(to / MINUTE_MS) + DAY - 1;
  return { from: startOf(Math.floor(from / MINUTE_MS), DAY), to: startOf(last, DAY) };
}
