/** Operations that a gateway does not have: recommended by the requests of a week, with a change that refuses nothing new. */
import { describe, expect, test } from 'vitest';
import { UNKNOWN_REQUESTS } from '../../../../src/control/recommendations/limits.ts';
import { unknownOperations } from '../../../../src/control/recommendations/unknown-operations.ts';
import { createSpaceSaving, offer } from '../../../../src/engine/counts/space-saving.ts';
import { type FactParts, factsOf, NOW } from '../../../support/stored-facts.ts';

const GATEWAY = { id: 7, type: 'gateway', base_path: '/v1', auth: { require: 'none' } };

function listOf(values: Readonly<Record<string, number>>): FactParts {
  const list = createSpaceSaving();
  for (const [value, requests] of Object.entries(values)) offer(list, value, requests);
  return { unknownOperations: { from: NOW - 7, to: NOW, list } };
}
const TRAFFIC = listOf({
  '7 GET /v1/orders/{integer}': UNKNOWN_REQUESTS,
  '7 GET /v1/orders': UNKNOWN_REQUESTS + 5,
  '7 GET /v1/.env': UNKNOWN_REQUESTS - 1,
  '7 GET /v2/orders': 900,
  '8 GET /v1/other': 900,
});
const found = (rule: object, parts: FactParts = TRAFFIC) =>
  unknownOperations(factsOf({ rules: [rule], ...parts }));

describe('unknown operations', () => {
  test('are recommended with their requests, below the base path of the very gateway', () => {
    const [one, ...others] = found(GATEWAY);
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      kind: 'unknown_operations',
      subject: 'gateway/7',
      evidence: {
        requests: 2 * UNKNOWN_REQUESTS + 5,
        of: 2,
        operations: [
          { operation: 'GET /orders', requests: UNKNOWN_REQUESTS + 5 },
          { operation: 'GET /orders/{orderId}', requests: UNKNOWN_REQUESTS },
        ],
      },
    });
  });

  test('of a gateway without operations are added so that other requests are logged, not refused', () => {
    expect(found(GATEWAY)[0]!.change!.rules).toMatchObject([
      {
        on_unknown_operation: 'log',
        operations: [
          { methods: ['GET'], path: '/orders', source: 'discovered' },
          { methods: ['GET'], path: '/orders/{orderId}', source: 'discovered' },
        ],
      },
    ]);
  });

  test('are added to those of a gateway, and what it has by now is left out', () => {
    const operations = [{ methods: ['GET'], path: '/orders/{id}' }];
    const [one] = found({ ...GATEWAY, operations, on_unknown_operation: 'pass' });
    expect(one!.change!.rules).toMatchObject([
      {
        on_unknown_operation: 'pass',
        operations: [operations[0], { path: '/orders', source: 'discovered' }],
      },
    ]);
  });

  test.each<readonly [string, object, FactParts]>([
    ['the gateway is disabled', { ...GATEWAY, enabled: false }, TRAFFIC],
    ['counts are not to be read', GATEWAY, { unknownOperations: null }],
    ['there was no such request', GATEWAY, listOf({})],
  ])('are none if %s', (_, rule, parts) => {
    expect(found(rule, parts)).toEqual([]);
  });
});
