/** Gateways of an edge file, applied to a real server, and what its export re-applies. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { applied } from '../support/applied.ts';

const site = applied('gateways');
const { at, save, apply } = site;
const RECORDS = 'records:\n  - { name: shop, type: A, destination: 198.51.100.20, proxied: true }\n';
const AUTH = 'auth: { api_key: { sources: [{ in: header, name: X-Api-Key }] } }';
const DOCUMENT = `openapi: 3.1.0
paths:
  /orders:
    get: { operationId: listOrders, tags: [orders] }
    post: { operationId: addOrder }
`;

async function gateways(): Promise<readonly Record<string, unknown>[]> {
  return site.get('gateways/');
}

test('a gateway is made, changed by its key and exported with the operations of its document', {
  timeout: 600_000,
}, async () => {
  writeFileSync(at('openapi.yaml'), DOCUMENT);
  const text = (fields: string): string =>
    `${RECORDS}gateways:\n  - { key: orders, base_path: /v1, ${AUTH}, schema: openapi.yaml${fields} }\n`;
  save(text(''));
  const first = await apply();
  expect(first.code, first.err).toBe(0);
  const [made] = await gateways();
  expect(made).toMatchObject({
    type: 'gateway',
    base_path: '/v1',
    operations: [
      { operation_id: 'listOrders', methods: ['GET'], path: '/orders', tags: ['orders'], source: 'schema' },
      { operation_id: 'addOrder', methods: ['POST'], path: '/orders', source: 'schema' },
    ],
  });
  expect((await apply()).out).toBe(site.nothing);
  expect(readFileSync(at('edge.lock'), 'utf8')).toContain('gateway/orders');

  save(text(', name: Orders, cors: { allow_origins: ["*"] }'));
  writeFileSync(at('openapi.yaml'), DOCUMENT.replace('post:', 'put:'));
  expect((await apply()).code).toBe(0);
  const [changed] = await gateways();
  expect(changed).toMatchObject({ id: made!['id'], name: 'Orders', operations: [{}, { methods: ['PUT'] }] });

  const exported = await site.server.run(['export', site.domain, '-o', at('exported.yaml')]);
  expect(exported.code, exported.err).toBe(0);
  expect(readFileSync(at('exported.yaml'), 'utf8')).toContain('\ngateways:\n');
  const again = await site.server.run(['apply', '--no-lock', '-f', at('exported.yaml')]);
  expect(again).toEqual({ code: 0, out: site.nothing, err: '' });

  save(text(''));
  expect((await apply('--prune')).code).toBe(0);
  expect((await gateways())[0]).not.toHaveProperty('cors');

  save(RECORDS);
  expect((await apply('--prune')).code).toBe(0);
  expect(await gateways()).toEqual([]);
});

test('a document with mistakes changes nothing, and each has its line', { timeout: 600_000 }, async () => {
  writeFileSync(at('wrong.yaml'), DOCUMENT.replace('/orders:', '/orders?x:'));
  save(`${RECORDS}gateways:\n  - { ${AUTH}, schema: wrong.yaml }\n`);
  const refused = await apply();
  expect(refused.code).toBe(3);
  expect(refused.err).toContain('wrong.yaml:3:3: error[openapi_path]: ');
  expect(await gateways()).toEqual([]);
});
