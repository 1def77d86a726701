/**
 * Operations of gateways that nobody calls, and keys of consumers that nobody uses. In: stored gateways with the counts of 30 days,
 * and keys with their last use. Out: a recommendation for each gateway with such operations, and one for all such keys.
 *
 * Nothing is claimed of a gateway that was changed within these days, has few requests, or has some beyond the bounds of counting.
 */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { timeText } from '../../base/text/time.ts';
import type { GatewayRule } from '../../rules/model/types.ts';
import { operationRequests } from '../traffic/show-gateway-use.ts';
import {
  MAX_NAMES_SHOWN,
  MAX_OPERATIONS_SHOWN,
  UNUSED_DAYS,
  UNUSED_KEY_MS,
  UNUSED_REQUESTS,
} from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import { type CountedPeriod, type RuleFact, ruleName, type StoredFacts } from './stored-facts.ts';
import { hasEnoughTraffic } from './unused-rules.ts';

/** The family of operations. */
export function unusedOperations({ rules, month }: StoredFacts): readonly DraftRecommendation[] {
  if (month === null || !hasEnoughTraffic(month) || month.gateways.uncounted.requests > 0) return [];
  return rules.flatMap(({ rule, updatedAt }) =>
    rule.type === 'gateway' && rule.enabled && rule.action_mode === 'enforce' && updatedAt <= month.from
      ? describe({ rule, updatedAt }, rule, month)
      : [],
  );
}

function describe(
  { updatedAt }: RuleFact,
  rule: GatewayRule,
  { from, to, gateways }: CountedPeriod,
): readonly DraftRecommendation[] {
  const { each, total } = operationRequests(rule.operations, gateways, rule.id);
  if (total < UNUSED_REQUESTS) return [];
  const unused = rule.operations
    .filter((_, place) => each[place] === 0)
    .map(({ operation_id, methods, path }) => operation_id ?? `${methods.join(',')} ${path}`);
  const [first] = unused;
  if (first === undefined) return [];
  const name = ruleName(rule);
  const more = unused.length === 1 ? '' : ` and ${unused.length - 1} more operations`;
  return [
    {
      kind: 'unused_operations',
      subject: name,
      severity: 'info',
      message: `gateway \`${name}\` had no request for ${quoteValue(first)}${more} in ${UNUSED_DAYS} days; remove what the API no longer has`,
      evidence: {
        rule: name,
        unchanged_since: timeText(updatedAt),
        from: timeText(from),
        to: timeText(to),
        requests: total,
        of: unused.length,
        operations: unused.slice(0, MAX_OPERATIONS_SHOWN),
      },
      change: null,
    },
  ];
}

/** The family of keys. */
export function unusedKeys({ consumerKeys, now }: StoredFacts): readonly DraftRecommendation[] {
  if (consumerKeys === null || consumerKeys.of === 0) return [];
  const { of, keys } = consumerKeys;
  const [first] = keys;
  const what =
    of === 1 ? `key \`${first!.id}\` of \`${first!.consumer}\` was` : `${of} keys of consumers were`;
  return [
    {
      kind: 'unused_consumer_keys',
      subject: 'consumers',
      severity: 'info',
      message: `${what} not used in 90 days, as far as nodes have reported; revoke keys that nobody needs, since each is valid for anyone who has it`,
      evidence: {
        before: timeText(now - UNUSED_KEY_MS),
        of,
        keys: keys.slice(0, MAX_NAMES_SHOWN).map(({ id, name, consumer, created_at, last_used_at }) => ({
          ...{ key: id, name, consumer, created_at: timeText(created_at) },
          last_used_at: last_used_at === null ? null : timeText(last_used_at),
        })),
      },
      change: null,
    },
  ];
}
