/**
 * Refuses what would bring more gateway requests once those of the last 30 days have reached `max_gateway_requests_30d`: a new gateway,
 * a gateway that is turned on, a new consumer. Edges serve requests over the quota, and a key can always be replaced.
 */
import { readGatewayMonth } from '../../billing/quota-use.ts';
import { Refusal } from '../operation/refusal.ts';
import type { Call } from '../operation/route.ts';
import { bodyOf } from '../rules/show.ts';

/** What a check reads. */
type Judged = Pick<Call<unknown>, 'domain' | 'entitlements' | 'latest' | 'now' | 'read'>;

/**
 * Checks the quota, before the write: the sum needs a snapshot. @throws Refusal 429, whose body names the quota and which has no
 * `Retry-After`, since no time is known at which the request is accepted
 */
export async function judgeGatewayQuota({ domain, entitlements, now, read }: Judged): Promise<void> {
  const { max_gateway_requests_30d: limit, plan_slug } = await entitlements();
  if (limit === null) return;
  const used = await read((tx) => readGatewayMonth(tx, domain.id, now));
  if (used < limit) return;
  const quota = 'max_gateway_requests_30d';
  const sentence = `plan \`${plan_slug}\` allows ${limit} gateway requests in 30 days (\`${quota}\`), and there are ${used}; choose a larger plan, or wait until fewer are that recent`;
  throw new Refusal(429, sentence, {}, { quota });
}

/** Checks the quota if one of these gateways is turned off: each is to be turned on. @throws Refusal 429 */
export async function judgeEnabled(call: Judged, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    const row = await call.latest.rules.get({ domain_id: call.domain.id, type: 'gateway', id });
    if (row === null || bodyOf(row)['enabled'] !== false) continue;
    await judgeGatewayQuota(call);
    return;
  }
}
