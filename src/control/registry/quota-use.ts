/**
 * What a consumer has used of its quotas, as the API shows it (semantics §15). In: a consumer, what nodes have reported. Out: for each
 * quota the use, the end of its period, and how far the use may go beyond it.
 */
import { z } from 'zod';
import { timeText } from '../../base/text/time.ts';
import { QUOTA_PERIODS } from '../../base/vocabulary/vocabulary.ts';
import { periodAt } from '../../engine/plan/quota-period.ts';
import { nodesOf } from '../publishing/revisions.ts';
import type { ConsumerHead } from '../store/registry/consumers.ts';
import type { ReachedDomain } from '../store/repositories/list-uses.ts';
import type { ReadTransaction } from '../store/store.ts';
import { readConsumerUse } from '../traffic/gateway-use.ts';
import { plansOfConsumer, type QuotaPlan } from './exhausted.ts';
import { OVERSHOOT_SEC } from './limits.ts';

/** A quota of a consumer in an answer. */
export const QUOTA_USE = z
  .object({
    usage_plan: z.string().describe('name of the usage plan'),
    limit: z.int(),
    period: z.enum(QUOTA_PERIODS),
    used: z.int().describe('admitted requests of the period that edges have reported'),
    remaining: z.int(),
    exhausted_until: z.iso
      .datetime()
      .nullable()
      .describe('until when edges refuse the consumer; null: it may send requests'),
    resets_at: z.iso
      .datetime()
      .describe('end of the period; of `rolling_30d` the midnight at which its first day counts no more'),
    overshoot: z
      .int()
      .nullable()
      .describe(
        `requests that edges may admit beyond the limit: what the throttle of the plan lets through on all edges in ${OVERSHOOT_SEC} seconds, in which reports and refusals are under way; null: the plan has no throttle, so there is no bound`,
      ),
  })
  .meta({ id: 'QuotaUse' });

/** The quotas of a consumer, by the name of their usage plan; a consumer without a plan has those of the gateways. @throws StoreFault */
export async function quotaUse(
  tx: ReadTransaction,
  domain: ReachedDomain,
  { consumer, now }: { readonly consumer: ConsumerHead; readonly now: number },
): Promise<readonly z.output<typeof QUOTA_USE>[]> {
  const plans = await plansOfConsumer(tx, domain, consumer);
  const exhausted = (await tx.exhaustedQuotas.list(domain.id)).filter(
    ({ consumer_id, until }) => consumer_id === consumer.id && until > now,
  );
  const nodes = plans.length === 0 ? 0 : (await nodesOf(tx, domain)).length;
  return Promise.all(
    plans.map(async ({ name, throttle, quota: { limit, period } }) => {
      const { from, to } = periodAt(period, now);
      const query = { domainId: domain.id, consumer: consumer.username, from, to };
      const { admitted: used } = await readConsumerUse(tx, query);
      const until = exhausted.find(({ usage_plan }) => usage_plan === name)?.until ?? null;
      return {
        ...{ usage_plan: name, limit, period, used },
        remaining: Math.max(0, limit - used),
        exhausted_until: until === null ? null : timeText(until),
        resets_at: timeText(to),
        overshoot: throttle === null ? null : overshootOf(throttle, nodes),
      };
    }),
  );
}

/** Requests that a throttle admits on so many nodes, each of which counts by itself, in `OVERSHOOT_SEC`. */
function overshootOf({ rate, per_sec, burst }: NonNullable<QuotaPlan['throttle']>, nodes: number): number {
  // A sliding window that begins before the time admits its whole count twice.
  const windows = Math.ceil(OVERSHOOT_SEC / per_sec) + 1;
  return windows * (rate + burst) * nodes;
}
