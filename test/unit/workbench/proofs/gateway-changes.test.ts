import { describe, expect, test } from 'vitest';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { proveAdmissions } from '../../../../src/workbench/proofs/gateway-changes.ts';
import { witnessText } from '../../../../src/workbench/simulation/render-changes.ts';

const RECORDS = [{ id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true }];
const REGISTRY = {
  consumers: [{ username: 'acme' }, { username: 'reports', acl: ['list'] }],
  token_issuers: [
    { name: 'login', issuer: 'https://login.test/', audiences: ['api'], jwks_url: 'https://login.test/keys' },
  ],
};
const KEYS = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
const LIST = { operation_id: 'list', methods: ['GET'], path: '/orders' };
const SHOW = { operation_id: 'show', methods: ['GET'], path: '/orders/{id}' };
const ADD = { operation_id: 'add', methods: ['POST'], path: '/orders' };
const API = {
  type: 'gateway',
  base_path: '/v1',
  auth: { ...KEYS, jwt: { issuers: ['login'] } },
  operations: [LIST, SHOW, ADD],
};

function ruleSet(rules: readonly object[], registry: object = REGISTRY): RuleSet {
  const numbered = rules.map((rule, index) => ({ id: index + 1, ...rule }));
  const parsed = parseRuleSet({
    domain: { name: 'example.com' },
    records: RECORDS,
    rules: numbered,
    registry,
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return parsed.ruleSet;
}

function changesOf(before: RuleSet, after: RuleSet): readonly string[] {
  const { changes, open } = proveAdmissions(before, after)!;
  expect(open).toEqual([]);
  return changes.map(({ by, operation, refused, witness }) => {
    const request = witnessText({ ...witness, ip: null });
    return `${by}: ${operation}: ${refused.reason} ${refused.operation}: ${request}`;
  });
}

function compare(before: object, after: object): readonly string[] {
  return changesOf(ruleSet([{ ...API, ...before }]), ruleSet([{ ...API, ...after }]));
}

describe('proveAdmissions', () => {
  test('finds nothing where names and order alone differ', () => {
    const renamed = [{ ...ADD, operation_id: 'create' }, { ...SHOW, path: '/orders/{order}' }, LIST];
    expect(compare({}, {})).toEqual([]);
    expect(compare({}, { operations: renamed })).toEqual([]);
  });

  test('finds what an operation adds, and what its removal takes', () => {
    const remove = { operation_id: 'remove', methods: ['DELETE'], path: '/orders/{id}' };
    const more = [...API.operations, remove, { methods: ['GET'], path: '/health', auth: 'none' }];
    expect(compare({}, { operations: more })).toEqual([
      'after: GET /v1/health: unknown_operation null: https://example.com/v1/health',
      'after: DELETE /v1/orders/{id}: method_not_allowed null: DELETE https://example.com/v1/orders/x --consumer acme',
    ]);
    expect(compare({ operations: more }, {}).map((line) => line.split(':')[0])).toEqual(['before', 'before']);
  });

  test('finds a scope that an operation requires now, and a wider one that it no longer does', () => {
    const scoped = (scopes: readonly string[]): object => ({ operations: [LIST, { ...SHOW, scopes }, ADD] });
    expect(compare({}, scoped(['read']))).toEqual([
      'before: GET /v1/orders/{id}: scopes show: https://example.com/v1/orders/x --consumer acme',
    ]);
    expect(compare(scoped(['read', 'admin']), scoped(['read']))).toEqual([
      'after: GET /v1/orders/{id}: scopes show: https://example.com/v1/orders/x --consumer acme --scope read',
    ]);
  });

  test('finds a template that a more literal one takes over', () => {
    const mine = { operation_id: 'mine', methods: ['GET'], path: '/orders/mine', scopes: ['self'] };
    expect(compare({}, { operations: [...API.operations, mine] })).toEqual([
      'before: GET /v1/orders/{id}: scopes mine: https://example.com/v1/orders/mine --consumer acme',
      // Without its parameters the path is that of the other operation, so neither takes it.
      "before: GET /v1/orders/{id}: unknown_operation null: 'https://example.com/v1/orders/mine;' --consumer acme",
    ]);
    expect(
      compare({}, { operations: [...API.operations, { ...mine, methods: ['PUT'], scopes: [] }] }),
    ).toEqual([
      'after: PUT /v1/orders/mine: method_not_allowed null: PUT https://example.com/v1/orders/mine --consumer acme',
      'before: GET /v1/orders/{id}: method_not_allowed null: https://example.com/v1/orders/mine --consumer acme',
      "before: GET /v1/orders/{id}: unknown_operation null: 'https://example.com/v1/orders/mine;' --consumer acme",
    ]);
  });

  test('finds credentials that are no longer taken, and an operation that needs none', () => {
    expect(
      compare({ operations: [LIST] }, { operations: [LIST], auth: KEYS }).map((line) => line.split(': ')[2]),
    ).toEqual(['credentials list']);
    expect(compare({ operations: [LIST] }, { operations: [{ ...LIST, auth: 'none' }] })).toEqual([
      'after: GET /v1/orders: credentials list: https://example.com/v1/orders',
    ]);
  });

  test('finds consumers that are gone or have another acl', () => {
    const with_ = (consumers: readonly object[]): RuleSet =>
      ruleSet([{ ...API, operations: [LIST, ADD] }], { ...REGISTRY, consumers });
    expect(
      changesOf(with_([{ username: 'acme' }]), with_([{ username: 'acme', enabled: false }])),
    ).toHaveLength(2);
    expect(changesOf(with_([{ username: 'acme' }]), with_([{ username: 'acme', acl: ['list'] }]))).toEqual([
      'before: POST /v1/orders: acl add: POST https://example.com/v1/orders --consumer acme',
    ]);
  });

  test('takes requests that no gateway takes as admitted', () => {
    expect(changesOf(ruleSet([]), ruleSet([{ ...API, operations: [] }]))).toEqual([
      'before: null: credentials null: https://example.com/v1',
    ]);
    expect(changesOf(ruleSet([]), ruleSet([{ ...API, action_mode: 'dry_run' }]))).toEqual([]);
    const blocked = { type: 'drop', path_includes: ['/v1', '/v1/*'] };
    expect(changesOf(ruleSet([blocked]), ruleSet([API, blocked]))).toEqual([]);
  });

  test('compares what no operation describes', () => {
    expect(compare({ on_unknown_operation: 'log' }, {})).toEqual([
      'before: null: method_not_allowed null: PUT https://example.com/v1/orders --consumer acme',
      'before: null: method_not_allowed null: POST https://example.com/v1/orders/x --consumer acme',
      'before: null: unknown_operation null: https://example.com/v1 --consumer acme',
    ]);
    expect(compare({ on_unknown_operation: 'log' }, { on_unknown_operation: 'pass' })).toEqual([]);
  });
});
