/** Every route with what nobody would send: the answer is never a 5xx, and never anything but the documented shape. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isNodeRoute } from '../../src/control/api/operation/node-route.ts';
import type { ApiRoute } from '../../src/control/api/operation/route.ts';
import { ROUTES } from '../../src/control/api/routes.ts';
import { type Person, send, startApi, type TestApi } from '../support/api.ts';
import { judgeAnswer } from '../support/api-shapes.ts';
import { testDatabases } from '../support/databases.ts';

const NAMES = ['shop.example', 'ext.example', 'other.example', '%00', 'a%2Fb', 'x'.repeat(300)];
const IDS = ['1', '2', '0', '-1', '4294967296', 'x', '1e2', '%F0%9F%98%80'];

/** A path of the route with its names filled in. */
function pathOf(route: ApiRoute): fc.Arbitrary<string> {
  const parts = route.path.split('/').map((part) => {
    if (!part.startsWith('{')) return fc.constant(part);
    return fc.constantFrom(...(part === '{domain}' ? NAMES : IDS));
  });
  const query = fc.constantFrom(
    '',
    '',
    '?validate_only=true',
    '?validate_only=x',
    '?limit=2&before=3',
    '?limit=-1',
  );
  return fc.tuple(fc.tuple(...parts), query).map(([filled, asked]) => filled.join('/') + asked);
}

/** The names of the body's fields, where the route has one. */
function fieldsOf({ body }: ApiRoute): readonly string[] {
  if (body === undefined || body.kind === 'text') return ['name'];
  const shape = 'shape' in body.schema ? (body.schema.shape as object) : {};
  return Object.keys(shape).length === 0 ? ['name'] : Object.keys(shape);
}

const oddText = fc.constantFrom(
  '',
  '\u0000',
  '\ud800',
  'ann',
  'shop.example',
  'viewer',
  'external',
  '💥',
  '../..',
  '%',
);
const oddValue = fc.oneof(
  oddText,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 2 }),
);

function bodyOf(route: ApiRoute): fc.Arbitrary<unknown> {
  const fields = fieldsOf(route);
  return fc.oneof(
    fc.constant(undefined),
    fc.dictionary(fc.constantFrom(...fields), oddValue, { maxKeys: 3 }),
    fc.jsonValue({ maxDepth: 2 }),
  );
}

/** All but the one that would leave nothing to try the others on. */
const TRIED = ROUTES.filter((one): one is ApiRoute => !isNodeRoute(one)).filter(
  ({ method, path }) => method !== 'DELETE' || path !== '/domains/{domain}',
);

const requests = fc
  .constantFrom(...TRIED)
  .chain((route) => fc.record({ route: fc.constant(route), path: pathOf(route), body: bodyOf(route) }));

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let ann: Person;

    beforeAll(async () => {
      api = await startApi(database);
      ann = await api.person('ann');
      await ann.call('POST', '/domains/', { name: 'shop.example' });
      await ann.call('POST', '/domains/', { name: 'ext.example', dns_mode: 'external' });
    });
    afterAll(() => api.close());

    test('no request ends in a 5xx', async () => {
      const met = new Set<number>();
      await fc.assert(
        fc.asyncProperty(requests, async ({ route, path, body }) => {
          const { method } = route;
          const answer = await send(api.port, { method, path, body, headers: { 'x-api-key': ann.key } });
          met.add(answer.status);
          expect(answer.status, answer.text).toBeLessThan(500);
          expect(judgeAnswer(method, path.split('?')[0]!, answer)).toBeNull();
        }),
        { numRuns: 400 },
      );
      expect([...met].sort()).toEqual(expect.arrayContaining([200, 400, 404]));
      expect(api.log.filter((line) => line.includes('internal error'))).toEqual([]);
    });
  },
);
