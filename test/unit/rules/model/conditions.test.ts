/** The field `conditions` of rules: what is stored, and the message of each mistake (semantics §12). */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { MAX_DOMAIN_IPS, MAX_IPS } from '../../../../src/base/vocabulary/limits.ts';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { regexesOf } from '../../../../src/rules/model/conditions.ts';
import { parseRule, parseRuleSet } from '../../../../src/rules/model/parse.ts';
import type { Conditions } from '../../../../src/rules/model/types.ts';
import { LEAST } from './read.ts';

/** The stored conditions of a drop rule, or the mistakes, a line each. */
function read(conditions: unknown): unknown {
  const parsed = parseRule('drop', { path_includes: ['/a'], conditions });
  if (!parsed.ok) return parsed.diagnostics.map(formatDiagnostic);
  const warnings = parsed.diagnostics.map(formatDiagnostic);
  return warnings.length > 0 ? warnings : parsed.fields.conditions;
}

describe('what is stored', () => {
  test('every type takes the field, and a rule without conditions has none', () => {
    for (const type of RULE_TYPES) {
      const with_ = parseRule(type, { ...LEAST[type], conditions: { methods: ['POST'] } });
      expect(with_, type).toMatchObject({ ok: true, fields: { conditions: { methods: ['POST'] } } });
      for (const none of [{}, undefined]) {
        const without = parseRule(type, { ...LEAST[type], conditions: none });
        if (!without.ok) throw new Error(without.diagnostics.map(formatDiagnostic).join());
        expect(Object.hasOwn(without.fields, 'conditions'), type).toBe(false);
      }
    }
  });

  test('entries are stored in canonical form, defaults are set', () => {
    expect(
      read({
        ips: { includes: ['2001:DB8:0::1'], excludes: ['10.0.0.0/8'] },
        countries: { excludes: ['de'] },
        asns: { includes: [64496] },
        bot_kinds: { includes: ['*'] },
        verified_bot: false,
        ja4: { includes: ['t13*'] },
        user_agents: { excludes: ['*curl*'] },
        headers: [{ name: 'X-Api-Version', op: 'equals', values: ['1', ''] }],
        query: [{ name: 'é', op: 'present' }],
        cookies: [{ name: 'Session', op: 'not_regex', values: ['^[0-9a-f]{32}$'], ignore_case: true }],
      }),
    ).toEqual({
      ips: { includes: ['2001:db8::1'], excludes: ['10.0.0.0/8'] },
      countries: { excludes: ['DE'] },
      asns: { includes: [64496] },
      bot_kinds: { includes: ['*'] },
      verified_bot: false,
      ja4: { includes: ['t13*'] },
      user_agents: { excludes: ['*curl*'] },
      headers: [{ name: 'x-api-version', op: 'equals', values: ['1', ''], ignore_case: false }],
      query: [{ name: 'é', op: 'present', values: [], ignore_case: false }],
      cookies: [{ name: 'Session', op: 'not_regex', values: ['^[0-9a-f]{32}$'], ignore_case: true }],
    });
  });

  test('a drop rule with a condition is narrowed', () => {
    expect(parseRule('drop', {}).ok).toBe(false);
    expect(parseRule('drop', { conditions: {} }).ok).toBe(false);
    expect(parseRule('drop', { conditions: { methods: ['TRACE'] } }).ok).toBe(true);
  });
});

const header = (fields: object): unknown => ({ headers: [{ name: 'x', ...fields }] });

describe('mistakes', () => {
  test.each<[name: string, conditions: unknown, message: string]>([
    ['no object', [], 'conditions: must be an object'],
    ['an unknown member', { method: ['GET'] }, 'did you mean `methods`?'],
    ['an empty list', { methods: [] }, 'conditions.methods: must not be empty'],
    ['a list for an inclusion', { ips: ['10.0.0.1'] }, 'write `{ includes: […] }`'],
    ['an empty inclusion', { ips: {} }, 'conditions.ips: must have `includes` or `excludes`'],
    ['an empty include list', { asns: { includes: [] } }, 'conditions.asns.includes: must not be empty'],
    ['an unknown list of a member', { ips: { include: ['10.0.0.1'] } }, 'did you mean `includes`?'],
    ['a method with a blank', { methods: ['GET /'] }, 'conditions.methods[0]: must be a method'],
    ['a method in lower case', { methods: ['get'] }, 'conditions.methods[0]: matches no ordinary request'],
    [
      'an excepted method in lower case',
      { except_methods: ['get'] },
      'conditions.except_methods[0]: matches no',
    ],
    ['methods with lists', { methods: { excludes: ['GET'] } }, 'list them in `except_methods`'],
    ['a scheme', { schemes: ['ftp'] }, 'conditions.schemes[0]: must be one of `http`, `https`'],
    ['an address', { ips: { excludes: ['10.0.0'] } }, 'conditions.ips.excludes[0]:'],
    [
      'host bits of a prefix',
      { ips: { excludes: ['10.0.0.1/8'] } },
      'conditions.ips.excludes[0]: has bits set',
    ],
    [
      'a country',
      { countries: { includes: ['XX'] } },
      'conditions.countries.includes[0]: must be an assigned',
    ],
    ['a number of a network', { asns: { includes: [0] } }, 'must be a whole number from 1 to 4294967295'],
    ['a kind of bot', { bot_kinds: { includes: ['gptbo'] } }, 'did you mean `gptbot`?'],
    ['a star inside a fingerprint', { ja4: { includes: ['t*3'] } }, 'may hold `*` only at its end'],
    ['the name of a list', { user_agents: { includes: ['@X'] } }, 'must be the name of a list'],
    ['the header Host', { headers: [{ name: 'Host', op: 'present' }] }, 'list hosts in `host_includes`'],
    [
      'a name with a colon',
      { headers: [{ name: 'x:', op: 'present' }] },
      'conditions.headers[0].name: must be a name',
    ],
    [
      'a cookie with =',
      { cookies: [{ name: 'a=', op: 'present' }] },
      'conditions.cookies[0].name: must be a name',
    ],
    [
      'an empty parameter',
      { query: [{ name: '', op: 'present' }] },
      'conditions.query[0].name: must not be empty',
    ],
    ['an unknown op', header({ op: 'equal', values: ['a'] }), 'did you mean `equals`?'],
    ['an unknown field of a condition', header({ op: 'equals', value: 'a' }), 'did you mean `values`?'],
    [
      'values beside present',
      header({ op: 'present', values: ['a'] }),
      'must be left out while `op` is `present`',
    ],
    ['no values', header({ op: 'prefix' }), 'must list at least one value while `op` is `prefix`'],
    ['an empty value', header({ op: 'contains', values: [''] }), 'must not be empty under `contains`'],
    ['a value beyond octets', header({ op: 'equals', values: ['€'] }), 'could never match'],
    [
      'a regex that does not parse',
      header({ op: 'regex', values: ['('] }),
      'conditions.headers[0].values[0]:',
    ],
    ['look-around', header({ op: 'not_regex', values: ['(?!a)'] }), 'look-around is not part of RE2 syntax'],
    ['51 values', header({ op: 'equals', values: Array(51).fill('a') }), 'must have at most 50 entries'],
  ])('%s', (_, conditions, message) => {
    expect(String(read(conditions))).toContain(message);
  });

  test('16 conditions on headers, parameters and cookies together', () => {
    const some = (count: number): unknown[] =>
      Array.from({ length: count }, (_, i) => ({ name: `n${i}`, op: 'present' }));
    expect(read({ headers: some(8), query: some(4), cookies: some(4) })).toMatchObject({ headers: some(8) });
    expect(String(read({ headers: some(8), query: some(5), cookies: some(4) }))).toContain(
      'conditions: must have at most 16 conditions on headers, query parameters and cookies together, found 17',
    );
  });

  test('of a query a value may have any character', () => {
    expect(read({ query: [{ name: 'q', op: 'equals', values: ['€'] }] })).toMatchObject({
      query: [{ values: ['€'] }],
    });
  });
});

test('addresses of conditions count in the budget of the domain', () => {
  const ips = Array.from({ length: MAX_IPS }, (_, index) => `198.51.${index}.0/24`);
  const rules = Array.from({ length: Math.ceil(MAX_DOMAIN_IPS / MAX_IPS / 2) + 1 }, (_, index) => ({
    id: index + 1,
    type: 'captcha',
    conditions: { ips: { includes: ips, excludes: ips } },
  }));
  const parsed = parseRuleSet({ domain: { name: 'example.com' }, rules });
  expect(parsed.diagnostics.map(formatDiagnostic).join()).toContain(
    `the rules of the domain list more than ${MAX_DOMAIN_IPS} addresses`,
  );
});

describe('budgets of regexes', () => {
  const rule = (id: number, name: string, source: string) => ({
    id,
    type: 'drop',
    conditions: { headers: [{ name, op: 'regex', values: [source] }] },
  });
  const parse = (rules: unknown[]) => parseRuleSet({ domain: { name: 'example.com' }, rules });

  test('of one header 16 regexes that read all of it are accepted, and of each other one too', () => {
    const sixteen = (name: string, from: number) =>
      Array.from({ length: 16 }, (_, index) => rule(from + index, name, `a.*b${index}`));
    expect(parse([...sixteen('x', 1), ...sixteen('y', 17)]).ok).toBe(true);
    const parsed = parse([...sixteen('x', 1), rule(17, 'x', 'c.*d')]);
    expect(parsed.diagnostics.map(formatDiagnostic).join()).toContain(
      'rules[16].conditions.headers[0].values[0]',
    );
    expect(parsed.diagnostics.map(formatDiagnostic).join()).toContain('more than 16 times');
  });

  test('what each regex reads', () => {
    const conditions = read({
      headers: [{ name: 'A', op: 'regex', values: ['x', 'y'] }],
      cookies: [
        { name: 'c', op: 'not_regex', values: ['z'], ignore_case: true },
        { name: 'd', op: 'equals', values: ['z'] },
      ],
    }) as Conditions;
    expect(regexesOf(conditions)).toEqual([
      { source: 'x', ignoreCase: false, of: 'headers a', path: ['headers', 0, 'values', 0] },
      { source: 'y', ignoreCase: false, of: 'headers a', path: ['headers', 0, 'values', 1] },
      { source: 'z', ignoreCase: true, of: 'cookies c', path: ['cookies', 0, 'values', 0] },
    ]);
  });
});
