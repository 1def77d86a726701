/**
 * Operations of gateways that traffic shows and that the gateway does not have. In: stored gateways, and the top list of unknown
 * operations of the last seven days. Out: a recommendation for each gateway with such operations. Few requests are no reason: what a
 * scanner finds once, or one visitor mistypes, is no operation.
 */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { timeText } from '../../base/text/time.ts';
import { MAX_OPERATIONS } from '../../base/vocabulary/limits.ts';
import type { GatewayRule } from '../../rules/model/types.ts';
import type { DiscoveredOperation } from '../../workbench/discovery/discover.ts';
import { asOperation, discoverUnknown } from '../../workbench/discovery/unknown-operations.ts';
import { MAX_OPERATIONS_SHOWN, UNKNOWN_REQUESTS } from './limits.ts';
import type { DraftRecommendation, ProposedChange } from './shapes.ts';
import { ruleName, type StoredFacts, type UnknownOperationFacts } from './stored-facts.ts';

/** The family. */
export function unknownOperations({ rules, unknownOperations }: StoredFacts): readonly DraftRecommendation[] {
  if (unknownOperations === null) return [];
  return rules.flatMap(({ rule }) => {
    if (rule.type !== 'gateway' || !rule.enabled) return [];
    const { operations } = discoverUnknown(unknownOperations.list, rule);
    const found = operations.filter(({ requests }) => requests >= UNKNOWN_REQUESTS);
    return found.length === 0 ? [] : [describe(rule, found, unknownOperations)];
  });
}

function describe(
  rule: GatewayRule,
  found: readonly DiscoveredOperation[],
  { from, to }: UnknownOperationFacts,
): DraftRecommendation {
  const name = ruleName(rule);
  const most = [...found].sort((one, other) => other.requests - one.requests);
  const [first] = most;
  const requests = found.reduce((sum, one) => sum + one.requests, 0);
  const of = rule.operations.length === 0 ? 'no operations' : `${rule.operations.length} operations`;
  return {
    kind: 'unknown_operations',
    subject: name,
    severity: 'info',
    message: `gateway \`${name}\` has ${of}, and ${found.length} more are in its traffic, such as ${quoteValue(`${first!.method} ${first!.path}`)}; add those that the API is meant to have, and let \`on_unknown_operation: block\` refuse the others`,
    evidence: {
      rule: name,
      from: timeText(from),
      to: timeText(to),
      requests,
      of: found.length,
      operations: most
        .slice(0, MAX_OPERATIONS_SHOWN)
        .map((one) => ({ operation: `${one.method} ${one.path}`, requests: one.requests })),
    },
    change: changeOf(rule, found),
  };
}

/** The gateway with the operations. One without operations takes every path: it goes on to, and logs what the operations lack. */
function changeOf(rule: GatewayRule, found: readonly DiscoveredOperation[]): ProposedChange | null {
  const operations = [...rule.operations, ...found.map(asOperation)];
  if (operations.length > MAX_OPERATIONS) return null;
  const logs = rule.operations.length === 0 && rule.on_unknown_operation === 'block';
  return {
    summary: `adds ${found.length} operations to ${ruleName(rule)}${logs ? ', and logs requests without one' : ''}`,
    rules: [{ ...rule, operations, ...(logs ? { on_unknown_operation: 'log' } : {}) }],
  };
}
