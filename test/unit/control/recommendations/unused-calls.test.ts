/** Operations that nobody calls and keys that nobody uses, each beside neighbours that are used or too young. */
import { describe, expect, test } from 'vitest';
import { unusedKeys, unusedOperations } from '../../../../src/control/recommendations/unused-calls.ts';
import type { TrafficCounts } from '../../../../src/engine/counts/counts.ts';
import { countGatewayRequest } from '../../../../src/engine/counts/gateway-counts.ts';
import { DAY, type FactParts, factsOf, NOW, periodOf } from '../../../support/stored-facts.ts';

const GATEWAY = {
  id: 7,
  type: 'gateway',
  base_path: '/v1',
  auth: { require: 'none' },
  operations: [
    { operation_id: 'list', methods: ['GET'], path: '/orders' },
    { methods: ['GET'], path: '/orders/{id}' },
    { operation_id: 'add', methods: ['POST'], path: '/orders' },
  ],
};

/** A month in which a gateway had so many requests for each operation, as counts name it. */
function month(requests: Readonly<Record<string, number>>, gateway = 7): FactParts {
  const yesterday = ({ gateways }: TrafficCounts): void => {
    for (const [operation, count] of Object.entries(requests))
      for (let left = count; left > 0; left--)
        countGatewayRequest(
          gateways,
          { gateway, consumer: '', operation, isAdmitted: true, key: null },
          { status: 200, at: NOW - DAY },
        );
  };
  return { month: periodOf({ days: 30, requests: 500, yesterday }) };
}
const unused = (parts: FactParts, rule: object = GATEWAY): readonly unknown[] =>
  unusedOperations(factsOf({ rules: [rule], ...parts })).map(
    ({ evidence }) => (evidence as { operations: unknown }).operations,
  );

describe('unused operations', () => {
  test('are those without a request, of a gateway with enough of them', () => {
    expect(unused(month({ list: 1_000 }))).toEqual([['GET /orders/{id}', 'add']]);
    expect(unused(month({ list: 999, 'HEAD /orders/{id}': 1 }))).toEqual([['add']]);
    expect(unused(month({ list: 998, 'GET /orders/{id}': 1, add: 1 }))).toEqual([]);
  });

  test.each<readonly [string, FactParts, object]>([
    ['the gateway has few requests', month({ list: 999 }), GATEWAY],
    ['the requests are those of another gateway', month({ list: 1_000 }, 8), GATEWAY],
    ['counts are not to be read', { month: null }, GATEWAY],
    ['it was changed within the month', { ...month({ list: 1_000 }), updatedAt: NOW - 29 * DAY }, GATEWAY],
    ['it is under dry_run', month({ list: 1_000 }), { ...GATEWAY, action_mode: 'dry_run' }],
    ['it is disabled', month({ list: 1_000 }), { ...GATEWAY, enabled: false }],
  ])('are none if %s', (_, parts, rule) => {
    expect(unused(parts, rule)).toEqual([]);
  });
});

describe('unused keys', () => {
  const key = { id: 4, name: 'ci', consumer: 'acme', created_at: NOW - 100 * DAY, last_used_at: null };

  test('are named with their consumers', () => {
    const [one] = unusedKeys(factsOf({ consumerKeys: { of: 1, keys: [key] } }));
    expect(one).toMatchObject({
      message: expect.stringMatching(/^key `4` of `acme` was not used in 90 days/),
      evidence: { of: 1, keys: [{ key: 4, consumer: 'acme', last_used_at: null }] },
    });
  });

  test('are none if all are used, or counts are not to be read', () => {
    expect(unusedKeys(factsOf({ consumerKeys: { of: 0, keys: [] } }))).toEqual([]);
    expect(unusedKeys(factsOf({ consumerKeys: null }))).toEqual([]);
  });
});
