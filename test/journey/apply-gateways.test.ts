/** Gateways of an edge file with all that they may have, applied to a real server and exported from it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EXAMPLE_AUTHORITY } from '../../src/rules/model/gateway/client-certificates.ts';
import { applied } from '../support/applied.ts';

const site = applied('gateways');
const { at, save, apply } = site;
const RECORDS = 'records:\n  - { name: api, type: A, destination: 198.51.100.20, proxied: true }\n';
const REGISTRY = `usage_plans:
  - { name: gold, throttle: { rate: 50, per_sec: 10, burst: 5 }, quota: { limit: 1000, period: month } }
  - { name: silver, quota: { limit: 10, period: rolling_30d } }
consumers:
  - { username: acme, custom_id: acme.example.com, usage_plan: gold }
`;
const indented = (text: string, by: number): string => text.trim().replaceAll('\n', `\n${' '.repeat(by)}`);
const GATEWAY = `gateways:
  - key: orders
    base_path: /v1
    host_includes: [api]
    auth:
      require: all
      api_key: { sources: [{ in: header, name: X-Api-Key }], hide: false }
      mtls:
        ca_pem: |
          ${indented(EXAMPLE_AUTHORITY, 10)}
    default_plan: silver
    validation: { on_invalid: log, on_uninspected: pass, body_cap_kb: 64 }
    operations:
      - operation_id: createOrder
        methods: [POST]
        path: /orders
        scopes: [orders]
        tags: [write]
        body:
          required: true
          content:
            - type: application/json
              schema:
                type: object
                required: [item]
                properties: { item: { $ref: "#/$defs/item" }, note: { type: [string, "null"], maxLength: 20 } }
                $defs: { item: { enum: [1, a, true, null, 1.5, { a: [] }] } }
            - { type: text/* }
      - { methods: [GET], path: "/orders/{id}", auth: none, limits: { rate: 7 } }
      - { methods: [PUT], path: "/orders/{id}", limits: { rate: 2, per_sec: 60, burst: 1 }, validation: { body_cap_kb: 8 } }
    cors: { allow_origins: ["https://app.example.com"], max_age_sec: 60 }
    upstream_headers: { set: { X-Consumer: "{consumer}" } }
`;

/** Changes of one value each, and the field that `apply --dry-run` shows for it. */
const CHANGES = [
  ['validation', 'on_invalid: log', 'on_invalid: block'],
  ['validation', 'body_cap_kb: 64', 'body_cap_kb: 32'],
  ['operations', 'maxLength: 20', 'maxLength: 21'],
  ['operations', 'required: true', 'required: false'],
  ['auth', indented(EXAMPLE_AUTHORITY, 10), `# renewed\n          ${indented(EXAMPLE_AUTHORITY, 10)}`],
  ['operations', 'rate: 7', 'rate: 8'],
  ['operations', 'body_cap_kb: 8', 'body_cap_kb: 9'],
  ['quota', 'limit: 1000', 'limit: 1001'],
  ['quota', 'period: month', 'period: week'],
  ['throttle', 'rate: 50', 'rate: 51'],
  ['custom_id', 'custom_id: acme.example.com', 'custom_id: acme.example.org'],
] as const;

test('a gateway with certificates, a quota and schemas of bodies is exported as it was applied, and each change is shown', {
  timeout: 600_000,
}, async () => {
  save(RECORDS + REGISTRY + GATEWAY);
  const first = await apply();
  expect(first.code, first.err).toBe(0);
  expect((await apply()).out).toBe(site.nothing);
  const exported = await site.server.run(['export', site.domain, '-o', at('exported.yaml')]);
  expect(exported.code, exported.err).toBe(0);
  const again = await site.server.run(['apply', '--no-lock', '--prune', '-f', at('exported.yaml')]);
  expect(again).toEqual({ code: 0, out: site.nothing, err: '' });
  expect(readFileSync(at('exported.yaml'), 'utf8')).toContain('rolling_30d');
  for (const [field, from, to] of CHANGES) {
    save((RECORDS + REGISTRY + GATEWAY).replace(from, to));
    const { out } = await apply('--dry-run');
    expect(out, `${from} → ${to}`).toContain(field);
  }
});
