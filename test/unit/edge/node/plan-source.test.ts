/** The warnings of rules that a node cannot evaluate as they are meant. */
import { describe, expect, test } from 'vitest';
import type { PlanSink } from '../../../../src/edge/following/plan-table.ts';
import { compileEdge } from '../../../../src/edge/middleware/node/edge-input.ts';
import { blindRules, MAX_BLIND_RULES, warnOfBlindRules } from '../../../../src/edge/node/plan-source.ts';
import { seal } from '../../../../src/engine/plan/seal.ts';
import { EXAMPLE_AUTHORITY } from '../../../../src/rules/model/gateway/client-certificates.ts';

function sealed(...rules: readonly string[]): Uint8Array {
  const text = [
    'domain: shop.test',
    "records: [{ name: '@', type: A, destination: 192.0.2.1, proxied: true }]",
    "token_issuers: [{ name: login, issuer: 'https://login.example/', audiences: [a], jwks_url: 'https://login.example/keys' }]",
    'rules:',
    ...rules.map((rule) => `  - ${rule}`),
  ].join('\n');
  const compiled = compileEdge(new TextEncoder().encode(text), 'edge.yaml');
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  return seal(compiled.plan, { revision: 1 });
}

const WAF = '{ key: attacks, type: waf }';
const COUNTRY = '{ key: abroad, type: drop, country_match_type: exclude, countries: [DE] }';
const JA4H = '{ key: odd, type: fingerprint, action: drop, match_ja4h: [ge11*] }';
const STATUSES = '{ key: logins, type: rate_limit, limit: 5, count_statuses: [401] }';
const HEADERS = '{ key: hsts, type: headers, response: { set: { Strict-Transport-Security: max-age=1 } } }';
const gateway = (more: string): string =>
  `{ key: api, type: gateway, auth: { jwt: { issuers: [login] }${more} }`;
const HIDING = gateway(', api_key: { sources: [{ in: header, name: X-Api-Key }] } }');
const STATING = gateway(" }, upstream_headers: { set: { X-Consumer: '${consumer}' } }");
const SHARED = gateway(' }, cors: { allow_origins: [https://app.example.com] }');
const OPEN_HANDED = gateway(', api_key: { sources: [{ in: header, name: X-Api-Key }], hide: false } }');
const MTLS = gateway(`, mtls: { ca_pem: ${JSON.stringify(EXAMPLE_AUTHORITY)} } }`);
const NOTHING = { signatures: false, countries: false };
const ALL = { signatures: true, countries: true };

describe('the blind rules of a plan', () => {
  test.each([
    ['a waf rule without signatures', WAF, NOTHING, /^waf\/attacks: .*attacks pass.*signatures none/],
    [
      'a waf rule under dry_run',
      '{ key: tried, type: waf, action_mode: dry_run }',
      NOTHING,
      /^waf\/tried: .*attacks pass/,
    ],
    [
      'a country filter without a database',
      COUNTRY,
      NOTHING,
      /^drop\/abroad: .*`exclude` everybody.*--countries/,
    ],
    [
      'statuses that an agent does not see',
      STATUSES,
      { ...ALL, atDoors: true },
      /^rate_limit\/logins: .*own answers alone.*node$/,
    ],
    [
      'a headers rule at the doors of an agent',
      HEADERS,
      { ...ALL, atDoors: true },
      /^headers\/hsts: .*gRPC door alone.*configuration of the proxy/,
    ],
    [
      'client certificates at the doors of an agent',
      MTLS,
      { ...ALL, atDoors: true },
      /^gateway\/api: the TLS .*no request has a client certificate.*node$/,
    ],
    ['a JA4H filter', JA4H, ALL, /^fingerprint\/odd: .*`match_ja4h` matches nobody.*match_ja4/],
  ])('name %s with the remedy', (_name, rule, known, sentence) => {
    expect(blindRules(sealed(rule), known)).toEqual([expect.stringMatching(sentence)]);
  });

  test.each([HIDING, STATING, SHARED])('name %s at the doors of an agent', (rule) => {
    const sentence =
      /^gateway\/api: .*gRPC door alone.*`hide`.*`upstream_headers`.*`cors`.*configuration of the proxy/;
    expect(blindRules(sealed(rule), { ...ALL, atDoors: true })).toEqual([expect.stringMatching(sentence)]);
  });

  test.each([
    ['a waf rule with signatures', WAF, ALL],
    ['a country filter with a database', COUNTRY, ALL],
    ['a rate limit by statuses that a node sees', STATUSES, ALL],
    [
      'a rate limit of all requests',
      '{ key: all, type: rate_limit, limit: 5, key_parts: [ip] }',
      { ...ALL, atDoors: true },
    ],
    ['a headers rule at a node', HEADERS, ALL],
    ['a gateway at a node', HIDING, ALL],
    ['client certificates at a node', MTLS, ALL],
    ['a gateway that changes no header', OPEN_HANDED, { ...ALL, atDoors: true }],
    ['a JA4 filter', '{ key: known, type: fingerprint, action: drop, match_ja4: [t13*] }', NOTHING],
    ['a disabled rule', '{ key: off, type: waf, enabled: false }', NOTHING],
    ['a rule without such filters', '{ key: plain, type: drop, ips: [192.0.2.7] }', NOTHING],
  ])('are none of %s', (_name, rule, known) => {
    expect(blindRules(sealed(rule), known)).toEqual([]);
  });

  test('are counted beyond the first ones', () => {
    const rules = Array.from({ length: MAX_BLIND_RULES + 2 }, (_, at) => `{ key: waf-${at}, type: waf }`);
    expect(blindRules(sealed(...rules), NOTHING)).toEqual([expect.stringMatching(/waf\/waf-4 and 2 more: /)]);
  });
});

describe('a node', () => {
  const installed = (revision: number, bytes: Uint8Array) => ({
    ...{ revision, digest: '', purgeEpoch: 0 },
    read: () => bytes,
  });

  test('warns when a plan is installed, and again only of what is new in the next one', async () => {
    const names: string[] = [];
    const plans: PlanSink = { set: (name) => void names.push(name), delete: (name) => void names.push(name) };
    const warned: string[] = [];
    const sink = warnOfBlindRules(plans, { known: NOTHING, warn: (sentence) => warned.push(sentence) });
    await sink.set('shop.test', installed(1, sealed(WAF)));
    expect(warned).toEqual([expect.stringMatching(/^shop\.test: waf\/attacks: /)]);
    await sink.set('shop.test', installed(2, sealed(WAF, COUNTRY)));
    expect(warned).toHaveLength(2);
    expect(warned[1]).toMatch(/^shop\.test: drop\/abroad: /);
    await sink.delete('shop.test');
    await sink.set('shop.test', installed(3, sealed(WAF)));
    await sink.set('shop.test', 'refused');
    expect(warned).toHaveLength(3);
    expect(names).toHaveLength(5);
  });
});
