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
  ['drop', { method: 'POST' }, 'rules have no method filter'],
  ['origin_pool', { methods: ['POST'] }, 'rules have no method filter'],
  ['drop', { action: 'block' }, 'the type of a rule says what it does: write `type: drop`'],
  ['captcha', { action: 'challenge' }, 'the type of a rule says what it does: write `type: captcha`'],
  ['drop', { action: 'log' }, 'write `action_mode: dry_run`, which'],
  ['drop', { disabled: true }, 'write `enabled: false`'],
  ['drop', { path: '/admin/*' }, 'write `path_includes: ["/admin/*"]`'],
  ['fingerprint', { path: '/admin/*' }, 'rules of this type match hosts, not paths'],
  ['drop', { ip: '192.0.2.1' }, 'write `ips: ["192.0.2.1"]`'],
  ['waf', { ip: '192.0.2.1' }, 'only rules of type `drop` match addresses'],
  ['drop', { ip_excludes: ['192.0.2.1'] }, 'list them in `ips`, with `ip_match_type: exclude`'],
  ['drop', { country: 'DE' }, 'write `countries: ["DE"]`'],
  ['waf', { country: 'DE' }, 'only rules of type `drop` match countries'],
  ['cache', { host: 'a.example.com' }, 'write `host_includes: ["a.example.com"]`'],
  ['rate_limit', { period: 60 }, 'write `window_sec`'],
  ['rate_limit', { window_seconds: 60 }, 'write `window_sec`'],
  ['fingerprint', { ja4: 't10*' }, 'write `match_ja4: ["t10*"]`'],
  ['fingerprint', { ja4h: 'ge*' }, 'write `match_ja4h: ["ge*"]`'],
  ['cache', { ttl: 60 }, 'write `edge_ttl_sec`'],
  ['drop', { name: 'office only' }, 'rules have no name or note of their own'],
  ['drop', { key: 'office' }, 'only rules of an edge file have a `key`'],
  ['drop', { user_agent: 'curl' }, 'only rules of type `bot_route` and `fingerprint` distinguish clients'],
])('a %s rule with %o is refused with the remedy `%s`', (type, input, remedy) => {
  const [first, ...others] = told(type, input);
  expect(first).toContain(`: is not a known field; ${remedy}`);
  expect(others).toEqual([]);
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
