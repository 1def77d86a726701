/** Consumers, their keys, usage plans and token issuers of an edge file, applied to a real server and exported from it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { applied } from '../support/applied.ts';

const site = applied('registry');
const { at, save, apply } = site;
const RECORDS = 'records:\n  - { name: api, type: A, destination: 198.51.100.20, proxied: true }\n';
const HASH = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);
const REGISTRY = `usage_plans:
  - { name: gold, throttle: { rate: 50 } }
token_issuers:
  - name: login
    issuer: "https://login.example.com/"
    audiences: [api]
    keys: [{ kty: OKP, crv: Ed25519, kid: a, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo }]
    default_consumer: acme
    consumer_prefix: "login:"
consumers:
  - username: acme
    usage_plan: gold
    scopes: ["orders:read"]
    keys: [{ name: ci, sha256: ${HASH} }]
`;
const GATEWAY =
  'gateways:\n  - { key: orders, base_path: /v1, auth: { jwt: { issuers: [login] } }, default_plan: gold }\n';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const list = (path: string): Promise<any[]> => site.get(`${path}/`);

test('a registry is made before the gateways that name it, exported, and deleted after them', {
  timeout: 600_000,
}, async () => {
  save(RECORDS + REGISTRY + GATEWAY);
  const first = await apply();
  expect(first.code, first.err).toBe(0);
  const [acme] = await list('consumers');
  expect(acme).toMatchObject({ username: 'acme', usage_plan: 'gold', scopes: ['orders:read'] });
  expect(await list(`consumers/${acme.id}/keys`)).toMatchObject([{ name: 'ci', sha256: HASH }]);
  expect(await list('token-issuers')).toMatchObject([
    { name: 'login', default_consumer: 'acme', consumer_prefix: 'login:' },
  ]);
  expect((await apply()).out).toBe(site.nothing);

  const exported = await site.server.run(['export', site.domain, '-o', at('exported.yaml')]);
  expect(exported.code, exported.err).toBe(0);
  expect(readFileSync(at('exported.yaml'), 'utf8')).toContain(`sha256: ${HASH}`);
  const again = await site.server.run(['apply', '--no-lock', '--prune', '-f', at('exported.yaml')]);
  expect(again).toEqual({ code: 0, out: site.nothing, err: '' });

  save(RECORDS);
  const unpruned = await apply();
  expect(unpruned.err).toContain('usage plan gold');
  expect(await list('usage-plans')).toHaveLength(1);
  const pruned = await apply('--prune');
  expect(pruned.code, pruned.err).toBe(0);
  for (const path of ['gateways', 'token-issuers', 'consumers', 'usage-plans'])
    expect(await list(path), path).toEqual([]);
});

test('objects are changed by name, and keys of the server alone are revoked with --prune only', {
  timeout: 600_000,
}, async () => {
  save(RECORDS + REGISTRY);
  expect((await apply()).code).toBe(0);
  const [{ id }] = await list('consumers');
  save(RECORDS + REGISTRY.replace('rate: 50', 'rate: 60').replace('orders:read', 'all').replace(HASH, OTHER));
  const changed = await apply();
  expect(changed.code, changed.err).toBe(0);
  expect(changed.err).toContain('key abababab of consumer acme');
  expect(await list('usage-plans')).toMatchObject([{ throttle: { rate: 60 } }]);
  expect(await list('consumers')).toMatchObject([{ id, scopes: ['all'] }]);
  const live = async (): Promise<string[]> =>
    (await list(`consumers/${id}/keys`)).filter((key) => key.revoked_at === null).map((key) => key.sha256);
  expect(await live()).toEqual([HASH, OTHER]);
  expect((await apply('--prune')).code).toBe(0);
  expect(await live()).toEqual([OTHER]);
  save(RECORDS + REGISTRY);
  expect((await apply()).err).toContain('key abababab of consumer acme was revoked on the server');
});

// Kong/deck#698: what a renamed consumer has was created before the one of the earlier name was deleted, and refused.
test('a consumer with another name takes over key, custom_id and plan of the one that is deleted', {
  timeout: 600_000,
}, async () => {
  const text =
    RECORDS + REGISTRY.replace('usage_plan: gold', 'usage_plan: gold\n    custom_id: c-1') + GATEWAY;
  save(text);
  expect((await apply()).code).toBe(0);
  const byKey = text.replace('c-1', 'c-2').replaceAll('gold', 'silver').replaceAll('acme', 'acme-eu');
  save(byKey.replaceAll('login', 'sso'));
  const renamed = await apply('--prune');
  expect(renamed.code, renamed.err).toBe(0);
  const [consumer, ...others] = await list('consumers');
  expect([consumer, others]).toMatchObject([
    { username: 'acme-eu', custom_id: 'c-2', usage_plan: 'silver' },
    [],
  ]);
  expect(await list(`consumers/${consumer.id}/keys`)).toMatchObject([{ sha256: HASH, revoked_at: null }]);
  expect((await apply('--prune')).out).toBe(site.nothing);

  const plain = `${RECORDS}consumers:\n  - { username: NAME, custom_id: c-2, keys: [{ name: ci, sha256: ${HASH} }] }\n`;
  save(plain.replace('NAME', 'acme-eu'));
  expect((await apply('--prune')).code).toBe(0);
  save(plain.replace('NAME', 'acme-us'));
  const again = await apply('--prune');
  expect(again.code, again.err).toBe(0);
  expect((await apply('--prune')).out).toBe(site.nothing);
});

test('a key of another consumer is named, and the rest of the file applied', {
  timeout: 600_000,
}, async () => {
  const consumers = (first: string, second: string): string =>
    `${RECORDS}consumers:\n  - { username: one, keys: [${first}] }\n  - { username: two, keys: [${second}] }\n`;
  const key = `{ name: ci, sha256: ${HASH} }`;
  save(consumers(key, ''));
  expect((await apply()).code).toBe(0);
  save(`${consumers(key, key).replace(`keys: [${key}] }\n  - {`, 'enabled: false }\n  - {')}`);
  const moved = await apply();
  expect(moved.code, moved.err).toBe(0);
  expect(moved.err).toContain('key abababab of consumer two is one of consumer one on the server');
  expect(await list('consumers')).toMatchObject([{ username: 'one', enabled: false }, { username: 'two' }]);
});
