/** Which requests count as ones of an operation that a gateway does not have, and the lists of other releases. */
import { describe, expect, test } from 'vitest';
import { compile, seal } from '../../../../src/engine/compiler/index.ts';
import { createTopLists, TOP_KINDS } from '../../../../src/engine/counts/counts.ts';
import { openTop, openTops, sealTops } from '../../../../src/engine/counts/layout.ts';
import { createWriter, finish, writeInteger, writeText } from '../../../../src/engine/counts/octets.ts';
import { offer, top } from '../../../../src/engine/counts/space-saving.ts';
import { readUnknownOperation, unknownOperation } from '../../../../src/engine/counts/unknown-operation.ts';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';

const OPERATIONS = [{ methods: ['GET'], path: '/orders/{id}' }];

/** The value of a request to `/v1`, under a gateway with these fields. */
function valueUnder(
  fields: object,
  { method = 'GET', path = '/v1/orders/4711/items', status = 200 } = {},
): string | null {
  const read = parseRuleSet({
    domain: { name: 'shop.example', status: 'active' },
    records: [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }],
    rules: [{ id: 7, type: 'gateway', base_path: '/v1', auth: { require: 'none' }, ...fields }],
  });
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  const evaluator = loadPlan(seal(compile(read.ruleSet).plan, { revision: 1 }));
  const request = {
    scheme: 'https',
    method,
    host: 'shop.example',
    target: path,
    headers: {},
    ip: '192.0.2.9',
  };
  const decision = evaluator.evaluate({ ...request, country: null, bot: null, body: null, now: 0 });
  return unknownOperation({ decision, method, path, status });
}

const VALUE = '7 GET /v1/orders/{integer}/items';

describe('a request', () => {
  test.each<readonly [string, object]>([
    ['a gateway without operations', {}],
    ['one that logs unknown operations', { operations: OPERATIONS, on_unknown_operation: 'log' }],
    ['one that lets them pass', { operations: OPERATIONS, on_unknown_operation: 'pass' }],
    ['one under dry_run', { operations: OPERATIONS, action_mode: 'dry_run' }],
    ['one under dry_run without operations', { action_mode: 'dry_run' }],
  ])('of %s counts with the path of its kind', (_, fields) => {
    expect(valueUnder(fields)).toBe(VALUE);
    expect(readUnknownOperation(VALUE)).toEqual({
      ...{ gateway: 7, method: 'GET', path: '/v1/orders/{integer}/items' },
    });
  });

  test.each<readonly [string, object, object]>([
    ['an operation describes it', { operations: OPERATIONS }, { path: '/v1/orders/4711' }],
    [
      'an operation describes it under dry_run',
      { operations: OPERATIONS, action_mode: 'dry_run' },
      { path: '/v1/orders/4711' },
    ],
    ['the gateway refuses it', { operations: OPERATIONS }, {}],
    ['it comes to no gateway', {}, { path: '/v2/orders' }],
    ['the origin has no such path', {}, { status: 404 }],
    ['the origin refuses it', {}, { status: 403 }],
    ['the path has moved', {}, { status: 301 }],
    ['nobody knows the status', {}, { status: 0 }],
    ['no document has the method', {}, { method: 'PROPFIND' }],
    ['no template has the path', {}, { path: '/v1/orders;a=1' }],
    ['its path is too long', {}, { path: `/v1/${'x'.repeat(512)}` }],
  ])('does not count if %s', (_, fields, request) => {
    expect(valueUnder(fields, request)).toBeNull();
  });
});

describe('top lists', () => {
  const withPath = () => {
    const lists = createTopLists();
    offer(lists.path, '/a');
    return lists;
  };

  test('have no list of unknown operations where none was counted, as those of the release before', () => {
    const sealed = sealTops(withPath());
    expect(sealed[2]).toBe(6);
    const lists = withPath();
    offer(lists.unknown_operation, VALUE);
    expect(sealTops(lists)[2]).toBe(TOP_KINDS.length);
    expect(top(openTop(sealTops(lists), 'unknown_operation'), 9)).toEqual([
      { value: VALUE, count: 1, error: 0 },
    ]);
    expect(openTops(sealed).unknown_operation.total).toBe(0);
    expect(openTop(sealed, 'unknown_operation').total).toBe(0);
  });

  test('of a later release are read without its further lists', () => {
    const writer = createWriter({ version: 1, kind: 't' });
    writeInteger(writer, TOP_KINDS.length + 1);
    for (let list = 0; list <= TOP_KINDS.length; list++) {
      for (const integer of [1, 1, 0]) writeInteger(writer, integer);
      writeText(writer, `value ${list}`);
      for (const integer of [1, 0]) writeInteger(writer, integer);
    }
    const sealed = finish(writer);
    expect(top(openTops(sealed).path, 9)).toEqual([{ value: 'value 0', count: 1, error: 0 }]);
    expect(top(openTop(sealed, 'unknown_operation'), 9).map(({ value }) => value)).toEqual(['value 6']);
  });
});
