/** Operations that are discovered in requests: what becomes a parameter, what stays a word, and that memory is bounded. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generalizePath } from '../../../../src/base/paths/segment-kind.ts';
import { createRouter } from '../../../../src/engine/evaluator/operations.ts';
import { readOpenApi } from '../../../../src/rules/openapi/read-openapi.ts';
import { createDiscovery, type Discovered } from '../../../../src/workbench/discovery/discover.ts';
import { draftOpenApi } from '../../../../src/workbench/discovery/draft-openapi.ts';
import { MAX_NODES, MAX_WORDS } from '../../../../src/workbench/discovery/limits.ts';

type Sent = readonly [method: string, path: string, requests?: number, status?: number];

function discover(sent: readonly Sent[]): Discovered {
  const discovery = createDiscovery();
  for (const [method, path, requests = 1, status = 200] of sent) {
    const general = generalizePath(path);
    if (general !== null) discovery.add({ method, path: general, requests, status });
  }
  return discovery.discover();
}

const shown = (sent: readonly Sent[]): readonly string[] =>
  discover(sent).operations.map(({ method, path, requests }) => `${method} ${path} ${requests}`);

const times = <Value>(count: number, make: (index: number) => Value): readonly Value[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A word without digits for each number. */
const word = (index: number): string =>
  [...index.toString(26)].map((digit) => 'abcdefghijklmnopqrstuvwxyz'[Number.parseInt(digit, 26)]).join('');

describe('parameters', () => {
  test('stand for values, and have the name of the word before and the type of their values', () => {
    const { operations } = discover([
      ['GET', '/orders'],
      ['GET', '/orders/10'],
      ['GET', '/orders/11'],
      ['POST', '/orders/12/items/3f2504e0-4f89-41d3-9a0c-0305e82c3301', 1, 201],
      ['GET', '/purchase-orders/9fceb02d0a/2024-01-31'],
      ['GET', '/companies/10/20'],
    ]);
    expect(operations.map(({ method, path, parameters }) => [method, path, ...parameters])).toEqual([
      [
        'GET',
        '/companies/{companyId}/{companyId2}',
        { name: 'companyId', type: 'integer' },
        { name: 'companyId2', type: 'integer' },
      ],
      ['GET', '/orders'],
      ['GET', '/orders/{orderId}', { name: 'orderId', type: 'integer' }],
      [
        'POST',
        '/orders/{orderId}/items/{itemId}',
        { name: 'orderId', type: 'integer' },
        { name: 'itemId', type: 'uuid' },
      ],
      [
        'GET',
        '/purchase-orders/{purchaseOrderId}/{date}',
        { name: 'purchaseOrderId', type: 'string' },
        { name: 'date', type: 'date' },
      ],
    ]);
  });

  test('keep the extension of their values', () => {
    expect(
      shown([
        ['GET', '/accounts/4711.json', 2],
        ['GET', '/accounts/4712', 1],
      ]),
    ).toEqual(['GET /accounts/{accountId} 1', 'GET /accounts/{accountId}.json 2']);
  });

  test('have single digits as values beside other numbers, or three of them; a version is a word', () => {
    expect(
      shown([
        ['GET', '/api/2/issues'],
        ['GET', '/a/1'],
        ['GET', '/a/10'],
      ]),
    ).toEqual(['GET /a/{aId} 2', 'GET /api/2/issues 1']);
    expect(shown(times(3, (index) => ['GET', `/a/${index}`]))).toEqual(['GET /a/{aId} 3']);
  });

  test('have words as values if there are many and new ones are still seen', () => {
    const slugs = times(40, (index): Sent => ['GET', `/shop/products/red-${word(index)}`, 1 + (index % 3)]);
    expect(shown([...slugs, ['GET', '/shop/products/search', 50]])).toEqual([
      'GET /shop/products/search 50',
      'GET /shop/products/{productId} 79',
    ]);
  });

  test('have words as values if the same word follows many of them', () => {
    const users = times(12, (index): Sent => ['GET', `/api/users/${word(index)}/repos`]);
    expect(shown([...users, ['PUT', '/api/users/zoe']])).toEqual([
      'PUT /api/users/{userId} 1',
      'GET /api/users/{userId}/repos 12',
    ]);
  });

  test('do not swallow the operations of an API of many words, which are all frequent', () => {
    const sent = times(60, (index): Sent => ['POST', `/rpc/do-${word(index)}`, 100]);
    expect(discover(sent).operations).toHaveLength(60);
  });

  test('are never words directly below the base path, where scanners try', () => {
    const sent = times(300, (index): Sent => ['GET', `/${word(index)}.php`]);
    expect(discover(sent).operations).toHaveLength(300);
  });
});

test('HEAD is an operation only where GET is none, and statuses are counted', () => {
  const { operations } = discover([
    ['GET', '/a', 2, 304],
    ['GET', '/a', 3, 200],
    ['HEAD', '/a'],
    ['HEAD', '/b'],
  ]);
  expect(operations.map(({ method, path, statuses }) => [method, path, [...statuses]])).toEqual([
    [
      'GET',
      '/a',
      [
        [200, 3],
        [304, 2],
      ],
    ],
    ['HEAD', '/b', [[200, 1]]],
  ]);
});

describe('memory', () => {
  test('is bounded where one word follows another without end, and requests beyond it are counted', () => {
    const discovery = createDiscovery();
    const paths = MAX_NODES + 5_000;
    for (let index = 0; index < paths; index++)
      discovery.add({ method: 'GET', path: `/a${index % 900}/b/c${index}/d`, requests: 2, status: 200 });
    const { operations, leftOut } = discovery.discover();
    expect(operations.reduce((sum, { requests }) => sum + requests, leftOut)).toBe(paths * 2);
    expect(operations.length).toBeLessThan(MAX_NODES);
  });

  test('has at most so many words after one beginning, then they are values', () => {
    const sent = times(MAX_WORDS + 1, (index): Sent => ['GET', `/${word(index)}`, 100]);
    expect(shown(sent)).toEqual([`GET /{id} ${100 * (MAX_WORDS + 1)}`]);
  });
});

const segment = fc.oneof(
  fc.constantFrom(
    'orders',
    'items',
    'search',
    'a',
    'b',
    '7',
    'x y',
    'é',
    '100%',
    'q?',
    '#',
    '"',
    '',
    '42.json',
    'red.json',
  ),
  fc.integer({ min: 0, max: 5_000 }).map(String),
  fc.integer({ min: 0, max: 400 }).map((index) => `slug-${word(index)}`),
);
const requests = fc.array(
  fc.tuple(
    fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS'),
    fc.array(segment, { minLength: 1, maxLength: 4 }),
  ),
  { minLength: 1, maxLength: 300 },
);

test('every request is described by the operations, by the drafted document and in any order of requests', () => {
  fc.assert(
    fc.property(requests, (list) => {
      // A canonical path has an empty segment at its end alone.
      const sent = list.map(([method, segments]): Sent => {
        const inner = segments.slice(0, -1).filter((one) => one !== '');
        return [method, `/${[...inner, segments.at(-1)!].join('/')}`];
      });
      const { operations, leftOut } = discover(sent);
      expect(leftOut).toBe(0);
      expect(discover([...sent].reverse()).operations).toEqual(operations);
      const read = readOpenApi(draftOpenApi(operations, { title: 'x', basePath: '/v1' }));
      expect(read).toMatchObject({ ok: true, diagnostics: [], basePaths: ['/v1'] });
      if (!read.ok) return;
      const router = createRouter(
        read.operations.map(({ operation: { methods, path } }, index) => ({
          ...{ index, id: '', methods, path, scopes: [], tags: [], open: false, throttle: null },
        })),
      );
      for (const [method, path] of sent) {
        const found = router.find(path);
        expect([method, path, found?.has(method) ?? false, method === 'HEAD' && found?.has('GET')]).toSatisfy(
          ([, , own, head]) => own === true || head === true,
        );
      }
    }),
    { numRuns: 200 },
  );
});
