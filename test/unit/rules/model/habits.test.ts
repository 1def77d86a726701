/** What a name of another system leads to: a remedy in this system's own words. */
import { expect, test } from 'vitest';
import { describeDiagnostic, formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { RULE_TYPES, type RuleType } from '../../../../src/base/vocabulary/vocabulary.ts';
import { readEdgeFile } from '../../../../src/rules/files/edge-file.ts';
import { habitualType } from '../../../../src/rules/model/habits.ts';
import { parseRecord, parseRule } from '../../../../src/rules/model/parse.ts';
import { LEAST } from './read.ts';

/** The mistakes of a rule with one more field, as a 400 of the API states them. */
function told(type: RuleType, input: object): readonly string[] {
  return parseRule(type, { ...LEAST[type], ...input }).diagnostics.map(describeDiagnostic);
}

test.each<[RuleType, object, string]>([
  ['drop', { method: 'post' }, 'write `conditions: { methods: [POST] }`'],
  ['origin_pool', { methods: ['POST', 'put'] }, 'write `conditions: { methods: [POST, PUT] }`'],
  ['waf', { verb: {} }, 'write `conditions: { methods: [POST] }`'],
  ['drop', { scheme: 'http' }, 'write `conditions: { schemes: [https] }`'],
  [
    'drop',
    { header: 'x-a' },
    'write `conditions: { headers: [{ name: x-api-version, op: equals, values: ["1"] }] }`',
  ],
  ['cache', { cookie: 'a' }, 'write `conditions: { cookies: [{ name: …, op: present }] }`'],
  ['cache', { query: 'a' }, 'write `conditions: { query: [{ name: …, op: present }] }`'],
  ['waf', { asn: 'AS64500' }, 'write `conditions: { asns: { includes: [64500] } }`'],
  ['rate_limit', { asns: [64_500, 64_501] }, 'write `conditions: { asns: { includes: [64500, 64501] } }`'],
  ['waf', { ja4: 't13*' }, 'write `conditions: { ja4: { includes: ["t13d…"] } }`'],
  ['waf', { bot: 'gptbot' }, 'write `conditions: { bot_kinds: { includes: ["*"] } }`'],
  ['waf', { tags: ['bot_route/1'] }, 'write `conditions: { tags: { includes: [bot_route/7] } }`'],
  ['waf', { if: 'x' }, 'write `conditions: { methods: [POST] }`'],
  ['waf', { when: { method: 'POST' } }, 'write `conditions: { methods: [POST] }`'],
  ['waf', { match: { method: 'POST' } }, 'write `conditions: { methods: [POST] }`'],
  ['waf', { match: '/admin' }, 'write `path_includes: ["/admin"]`'],
  ['drop', { action: 'block' }, 'the type of a rule says what it does: write `type: drop`'],
  ['captcha', { action: 'challenge' }, 'the type of a rule says what it does: write `type: captcha`'],
  ['drop', { action: 'log' }, 'write `action_mode: dry_run`, which'],
  ['drop', { disabled: true }, 'write `enabled: false`'],
  ['drop', { path: '/admin/*' }, 'write `path_includes: ["/admin/*"]`'],
  ['fingerprint', { path: '/admin/*' }, 'rules of this type match hosts, not paths'],
  ['drop', { ip: '192.0.2.1' }, 'write `ips: ["192.0.2.1"]`'],
  ['waf', { ip: '192.0.2.1' }, 'write `conditions: { ips: { includes: […] } }`'],
  ['drop', { ip_excludes: ['192.0.2.1'] }, 'list them in `ips`, with `ip_match_type: exclude`'],
  ['drop', { country: 'DE' }, 'write `countries: ["DE"]`'],
  ['waf', { country: 'DE' }, 'write `conditions: { countries: { includes: [DE] } }`'],
  ['cache', { host: 'a.example.com' }, 'write `host_includes: ["a.example.com"]`'],
  ['rate_limit', { period: 60 }, 'write `window_sec`'],
  ['rate_limit', { window_seconds: 60 }, 'write `window_sec`'],
  ['fingerprint', { ja4: 't10*' }, 'write `match_ja4: ["t10*"]`'],
  ['fingerprint', { ja4h: 'ge*' }, 'write `match_ja4h: ["ge*"]`'],
  ['cache', { ttl: 60 }, 'write `edge_ttl_sec`'],
  ['drop', { name: 'office only' }, 'rules have no name or note of their own'],
  ['drop', { key: 'office' }, 'only rules of an edge file have a `key`'],
  ['drop', { user_agent: 'curl' }, 'write `conditions: { user_agents: { includes: ["*curl*"] } }`'],
])('a %s rule with %o is refused with the remedy `%s`', (type, input, remedy) => {
  const [first, ...others] = told(type, input);
  expect(first).toContain(`: is not a known field; ${remedy}`);
  expect(others).toEqual([]);
});

test.each<[object, string]>([
  [{ ip: '192.0.2.1' }, 'ip: is not a known field; write `ips: { includes: ["192.0.2.1"] }`'],
  [{ country: ['DE'] }, 'country: is not a known field; write `countries: { includes: […] }`'],
  [{ user_agent: 'curl' }, 'user_agent: is not a known field; write `user_agents`'],
  [{ method: ['GET'] }, 'method: is not a known field; did you mean `methods`?'],
  [{ asn: [1] }, 'asn: is not a known field; did you mean `asns`?'],
  [{ ips: { include: ['192.0.2.1'] } }, 'ips.include: is not a known field; did you mean `includes`?'],
  [{ headers: [{ header: 'a', op: 'present' }] }, 'headers[0].header: is not a known field;'],
])('conditions with %o are refused with `%s`', (conditions, message) => {
  expect(told('waf', { conditions }).join('\n')).toContain(`conditions.${message}`);
});

test.each<[string, object, string]>([
  ['value', {}, 'write `destination`'],
  ['priority', { destination: '192.0.2.1' }, 'write `mx_priority`'],
  ['ttl', { destination: '192.0.2.1' }, 'records have no TTL of their own'],
])('a record with `%s` is refused once, with the remedy', (name, rest, remedy) => {
  const input = { id: 1, name: 'a', type: 'A', ...rest, [name]: 60 };
  const { diagnostics } = parseRecord(input, 'example.com');
  expect(diagnostics.map(describeDiagnostic)).toEqual([`${name}: is not a known field; ${remedy}`]);
});

test.each([
  ['block', 'drop'],
  ['deny', 'drop'],
  ['challenge', 'captcha'],
  ['ratelimit', 'rate_limit'],
  ['throttle', 'rate_limit'],
  ['firewall', 'waf'],
  ['forward', 'origin_route'],
  ['proxy', 'origin_route'],
  ['upstream', 'origin_pool'],
])('the rule type `%s` leads to `%s`', (name, type) => {
  const { diagnostics } = readEdgeFile(`domain: a.test\nrules: [{ type: ${name} }]`, 'edge.yaml');
  expect(diagnostics.map(({ remedy }) => remedy)).toEqual([`did you mean \`${type}\`?`]);
});

test.each([
  ['rules: { type: drop }', 'start each entry with `- `'],
  ['rules: [{ drop: { ips: [192.0.2.1] } }]', 'write `type: drop`, and the fields beside it'],
])('in a file `%s` gets the remedy `%s`', (rules, remedy) => {
  const { diagnostics } = readEdgeFile(`domain: a.test\n${rules}\n`, 'edge.yaml');
  expect(diagnostics.map((one) => one.remedy)).toEqual([remedy]);
});

test('no name of a rule type is taken for a habit', () => {
  expect(RULE_TYPES.filter((type) => habitualType(type) !== null)).toEqual([]);
});

test('in a file the name of a rule leads to its key, and a list of known fields includes those of files', () => {
  const text = [
    'domain: a.test',
    'rules:',
    '  - { type: captcha, name: Admin pages }',
    '  - { type: captcha, record: [shop] }',
    '  - { type: captcha, colour: red }',
  ].join('\n');
  const told = readEdgeFile(text, 'edge.yaml').diagnostics.map(formatDiagnostic);
  expect(told).toEqual([
    'edge.yaml:3:22: error: rules[0].name: is not a known field; write `key: admin-pages`',
    'edge.yaml:4:22: error: rules[1].record: is not a known field; did you mean `records`?',
    expect.stringMatching(
      /^edge\.yaml:5:22: .* the fields are `key`, `records`, `record_id`, .*, `ttl_sec`$/,
    ),
  ]);
});
