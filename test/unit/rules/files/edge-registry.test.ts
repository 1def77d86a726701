/** Consumers, usage plans and token issuers in an edge file and its parts: read with places, and printed. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { compile, readEdgeFile, seal } from '../../../../src/engine/compiler/index.ts';
import { registryOfPlan } from '../../../../src/engine/evaluator/plan-parts.ts';
import { openPlan } from '../../../../src/engine/plan/seal.ts';
import { readEdgeBytes } from '../../../../src/rules/files/edge-file.ts';
import { formatFile } from '../../../../src/rules/files/format.ts';
import { printEdge } from '../../../../src/rules/files/print-edge.ts';
import type { Registry, RuleSet } from '../../../../src/rules/model/types.ts';

const HASH = 'ab'.repeat(32);
const JWK = '{ kty: OKP, crv: Ed25519, kid: a, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo }';
const FILE = `domain: example.com
records:
  - { name: api, type: A, destination: 198.51.100.20, proxied: true }
usage_plans:
  - { name: gold, throttle: { rate: 50, burst: 100 }, quota: { limit: 1000000, period: month } }
token_issuers:
  - name: auth
    issuer: "https://login.example.com/"
    audiences: [api]
    keys: [${JWK}]
consumers:
  - username: acme
    usage_plan: gold
    scopes: ["orders:read"]
    keys: [{ name: ci, sha256: ${HASH} }]
`;

function registryIn({ registry }: RuleSet): Registry {
  if (registry === undefined || 'digest' in registry) throw new Error('the rule set has no registry');
  return registry;
}

function mistakes(text: string): readonly string[] {
  return readEdgeFile(text, 'edge.yaml').diagnostics.map(formatDiagnostic);
}

describe('the registry of an edge file', () => {
  test('is in the rule set and in its plan', () => {
    const file = readEdgeFile(FILE, 'edge.yaml');
    if (!file.ok) throw new Error(file.diagnostics.map(formatDiagnostic).join('\n'));
    const { plan } = openPlan(seal(compile(file.ruleSet).plan, { revision: 1 }));
    const registry = registryOfPlan(plan, {})!;
    expect(registry.key(Buffer.from(HASH, 'hex'))?.consumer.username).toBe('acme');
    expect(registry.usagePlan('gold')?.throttle).toEqual({ rate: 50, perSec: 1, burst: 100 });
    expect(registry.issuer('auth')?.keys).toHaveLength(1);
  });

  test('has the usage plans and token issuers that gateways name, those with mistakes among them', () => {
    const gateway = (fields: string): string => `${FILE}gateways:\n  - { base_path: /v1, ${fields} }\n`;
    const keys = 'auth: { api_key: { sources: [{ in: header, name: X-Api-Key }] } }';
    expect(mistakes(gateway(`${keys}, default_plan: gold`))).toEqual([]);
    expect(mistakes(gateway('auth: { jwt: { issuers: [auth] } }'))).toEqual([]);
    expect(mistakes(gateway(`${keys}, default_plan: glod`))).toEqual([
      expect.stringMatching(
        /^edge\.yaml:17:\d+: error: gateways\[0\]\.default_plan: names no usage plan of the domain, found `glod`; did you mean `gold`\?$/,
      ),
    ]);
    expect(mistakes(gateway('auth: { jwt: { issuers: [auht] } }'))).toEqual([
      expect.stringMatching(
        /^edge\.yaml:17:\d+: error: gateways\[0\]\.auth\.jwt\.issuers\[0\]: names no token issuer of the domain, found `auht`; did you mean `auth`\?$/,
      ),
    ]);
    expect(mistakes(gateway(`${keys}, default_plan: Gold!`))).toEqual([
      expect.stringMatching(
        /default_plan: must be at most 64 lower-case letters, digits, .*, found `Gold!`$/,
      ),
    ]);
    const wrong = gateway(`${keys}, default_plan: gold`).replace('rate: 50', 'rate: 0');
    expect(mistakes(wrong)).toEqual([expect.stringContaining('usage_plans[0].throttle.rate')]);
    const fragment = gateway(`id: 4, ${keys}, default_plan: other`).replace(
      'domain:',
      'fragment: true\ndomain:',
    );
    expect(mistakes(fragment.replace('{ name: api', '{ id: 1, name: api'))).toEqual([]);
  });

  test('has mistakes with line and column', () => {
    expect(mistakes(FILE.replace('usage_plan: gold', 'usage_plan: glod'))).toEqual([
      'edge.yaml:13:17: error: consumers[0].usage_plan: names no usage plan of the domain, found `glod`; did you mean `gold`?',
    ]);
    expect(mistakes(FILE.replace('scopes:', 'scope:'))).toEqual([
      'edge.yaml:14:5: error: consumers[0].scope: is not a known field; did you mean `scopes`?',
    ]);
    expect(
      mistakes(FILE.replace('consumers:\n  - username: acme', 'consumers:\n  - 5\n  - username: acme')),
    ).toEqual(['edge.yaml:12:5: error: consumers[0]: must be a mapping, found a number']);
    expect(mistakes(FILE.replace('consumers:', 'consumer:'))[0]).toContain('did you mean `consumers`?');
  });

  test('is not read from a field of another name', () => {
    expect(mistakes(`${FILE}registry: { consumers: [] }\n`)[0]).toContain('registry: is not a known field');
  });

  test('never quotes what may be a key', () => {
    const [of] = mistakes(FILE.replace(HASH, 'epk_Zm9vYmFyYmF6'));
    expect(of).toContain('must be the hash of a key, not the key itself');
    expect(of).not.toContain('Zm9v');
  });

  test('may be in parts, whose mistakes have the place there', () => {
    const octets = (text: string): Uint8Array => Buffer.from(text);
    const part = {
      name: 'edge.d/more.yaml',
      octets: octets(`consumers:\n  - { username: other, usage_plan: gold }\n`),
    };
    const file = readEdgeBytes(octets(FILE), 'edge.yaml', [part]);
    if (!file.ok) throw new Error('refused');
    expect(registryIn(file.ruleSet).consumers).toHaveLength(2);
    const wrong = { ...part, octets: octets(`consumers:\n  - { username: acme }\n`) };
    expect(readEdgeBytes(octets(FILE), 'edge.yaml', [wrong]).diagnostics.map(formatDiagnostic)).toEqual([
      'edge.d/more.yaml:2:17: error: consumers[1].username: is the `username` of another consumer, so a token with it would mean either, found `acme`',
    ]);
  });

  test('is printed so that it reads the same, and formatted as it is printed', () => {
    const file = readEdgeFile(FILE, 'edge.yaml');
    if (!file.ok) throw new Error('refused');
    const { ruleSet } = file;
    const registry = registryIn(ruleSet);
    const { text } = printEdge({ ...ruleSet, domain: { name: 'example.com' }, registry, ids: false });
    const again = readEdgeFile(text, 'edge.yaml');
    expect(again.ok && again.ruleSet.registry).toEqual(registry);
    expect(text).toContain(
      '  - { name: gold, throttle: { rate: 50, burst: 100 }, quota: { limit: 1000000, period: month } }',
    );
    expect(text).not.toContain('null');
    const formatted = formatFile(text, 'edge.yaml');
    expect(formatted).toMatchObject({ text });
  });
});
