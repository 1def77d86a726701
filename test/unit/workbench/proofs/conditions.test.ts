/** Proofs about rules with conditions, case by case: what is claimed, and with which request. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { parseInvariants } from '../../../../src/rules/model/invariant.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { proveInvariants } from '../../../../src/workbench/proofs/invariants.ts';
import { lintRuleSet } from '../../../../src/workbench/proofs/lint.ts';
import { proveReach, type ReachResult } from '../../../../src/workbench/proofs/reach.ts';
import { openRegions, type RegionName } from '../../../../src/workbench/proofs/regions.ts';
import { compileSubject } from '../../../../src/workbench/proofs/subject.ts';
import type { Witness } from '../../../../src/workbench/proofs/witness.ts';
import { witnessText } from '../../../../src/workbench/simulation/render-changes.ts';

type Fields = Readonly<Record<string, unknown>>;

const RECORDS = [{ id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true }];

function ruleSetOf(rules: readonly Fields[]): RuleSet {
  const numbered = rules.map((rule, index) => ({ id: index + 1, priority: (index + 1) * 10, ...rule }));
  const parsed = parseRuleSet({ domain: { name: 'example.com' }, records: RECORDS, rules: numbered });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return parsed.ruleSet;
}

/** What is known of each rule: `reached`, `unmatched`, `unknown` or the ids of those that shadow it. */
function reach(...rules: readonly Fields[]): readonly string[] {
  return results(rules).map(summary);
}

function results(rules: readonly Fields[]): readonly ReachResult[] {
  const reaches = proveReach(compileSubject(ruleSetOf(rules)));
  return [...reaches].sort((a, b) => a.rule.ref.id - b.rule.ref.id).map(({ result }) => result);
}

function summary(result: ReachResult): string {
  return result.kind === 'shadowed' ? result.by.map(({ ref }) => ref.id).join(' ') : result.kind;
}

/** The request that reaches the last rule. */
function witness(...rules: readonly Fields[]): Witness {
  const last = results(rules).at(-1)!;
  if (last.kind !== 'reached') throw new Error(summary(last));
  return last.witness;
}

const drop = (conditions: object): Fields => ({ type: 'drop', conditions });
const header = (op: string, ...values: readonly string[]): object => ({
  headers: [{ name: 'x-a', op, ...(values.length === 0 ? {} : { values }) }],
});
const query = (op: string, ...values: readonly string[]): object => ({
  query: [{ name: 'q', op, ...(values.length === 0 ? {} : { values }) }],
});

describe('a rule that an earlier rule takes all requests of', () => {
  test.each<readonly [string, object, object]>([
    ['other methods than more', { except_methods: ['GET'] }, { except_methods: ['GET', 'PUT'] }],
    ['a method among others', { except_methods: ['GET'] }, { methods: ['PUT'] }],
    ['a method among more', { methods: ['POST', 'PUT'] }, { methods: ['PUT'] }],
    ['a scheme', { schemes: ['http', 'https'] }, { schemes: ['http'] }],
    ['a network', { asns: { excludes: [64496] } }, { asns: { includes: [64497] } }],
    [
      'a wider network of addresses',
      { ips: { includes: ['10.0.0.0/8'] } },
      { ips: { includes: ['10.1.0.0/16'] } },
    ],
    ['a country', { countries: { excludes: ['DE'] } }, { countries: { includes: ['FR'] } }],
    ['any bot', { bot_kinds: { includes: ['*'] } }, { bot_kinds: { includes: ['gptbot'] } }],
    ['a verified bot', { bot_kinds: { includes: ['*'] } }, { verified_bot: true }],
    ['a prefix of JA4', { ja4: { includes: ['t13d*'] } }, { ja4: { includes: ['t13d1516*'] } }],
    [
      'a User-Agent in another case',
      { user_agents: { includes: ['*curl*'] } },
      { user_agents: { includes: ['CURL/8*'] } },
    ],
    ['a header that is present', header('present'), header('equals', 'a')],
    ['a prefix of a header', header('prefix', 'ab'), header('equals', 'abc')],
    ['a regex', header('regex', '^[a-z]+$'), header('equals', 'abc')],
    ['no value that matches', header('not_regex', '[0-9]'), header('absent')],
    ['a text within a parameter', query('contains', 'union'), query('wildcard', '*union*select*')],
    ['a parameter in another alphabet', query('regex', '^\\p{Han}+$'), query('equals', '漢字')],
  ])('%s', (_, wide, narrow) => {
    expect(reach(drop(wide), drop(narrow))).toEqual(['reached', '1']);
    expect(reach(drop(narrow), drop(wide))).toEqual(['reached', 'reached']);
  });

  test('rules whose conditions leave nothing between them', () => {
    expect(
      reach(drop(header('present')), drop(header('absent')), { type: 'captcha', path_includes: ['/x'] }),
    ).toEqual(['reached', 'reached', '1 2']);
    expect(
      reach(drop(query('equals', '1')), drop(query('not_equals', '1')), drop({ methods: ['GET'] })),
    ).toEqual(['reached', 'reached', '1 2']);
  });

  test('a repeated header has values of both', () => {
    // Each of two lines passes one of the tests, so the rules share requests, and neither takes all of the third.
    expect(
      reach(drop(header('not_equals', 'a')), drop(header('not_equals', 'b')), drop(header('equals', 'a'))),
    ).toEqual(['reached', 'reached', 'reached']);
  });
});

describe('a rule that no request meets', () => {
  test.each<readonly [string, object]>([
    [
      'a header that is absent and present',
      {
        headers: [
          { name: 'a', op: 'absent' },
          { name: 'a', op: 'present' },
        ],
      },
    ],
    ['a scheme and a method that are excluded', { asns: { includes: [64496], excludes: [64496] } }],
    ['a value with a line end', header('regex', '\\n')],
    ['a cookie with a semicolon', { cookies: [{ name: 'c', op: 'contains', values: ['a;b'] }] }],
    ['a value that starts with a blank', header('prefix', ' a')],
    ['a regex of characters beyond octets', header('regex', '\\x{100}')],
    ['a bot that is none', { verified_bot: true, bot_kinds: { excludes: ['*'] } }],
  ])('%s', (_, conditions) => {
    expect(reach(drop(conditions))).toEqual(['unmatched']);
  });

  test('a parameter may have blanks, line ends and semicolons', () => {
    expect(reach(drop(query('equals', ' a;\n')))).toEqual(['reached']);
  });
});

describe('values of more octets than are read', () => {
  test('pass a set of tests that no shorter value passes', () => {
    // A shorter value with a `b` is excluded, and one without it matches the regex.
    const conditions = {
      headers: [
        { name: 'x-a', op: 'present' },
        { name: 'x-a', op: 'not_contains', values: ['b'] },
        { name: 'x-a', op: 'not_regex', values: ['^[^b]*$'] },
      ],
    };
    const { headers } = witness(drop(conditions));
    expect(String(headers['x-a']).length).toBeGreaterThan(8_192);
  });
});

describe('tags', () => {
  const tag = (conditions: object = {}): Fields => ({
    type: 'fingerprint',
    action: 'tag',
    match_ja4: ['t13d*'],
    ...(Object.keys(conditions).length === 0 ? {} : { conditions }),
  });
  const tagged = (includes: readonly string[], fields: Fields = {}): Fields => ({
    type: 'captcha',
    path_includes: ['/x'],
    conditions: { tags: { includes } },
    ...fields,
  });

  test('a tagged request is one that the tagging rule matches', () => {
    expect(witness(tag(), tagged(['fingerprint/1'])).ja4).toMatch(/^t13d/);
    expect(witness(tag(), tag({ methods: ['PUT'] }), tagged(['fingerprint/2']))).toMatchObject({
      method: 'PUT',
    });
  });

  test('a rule without tagged requests is unmatched', () => {
    expect(reach({ ...tag(), action_mode: 'dry_run' }, tagged(['fingerprint/1']))).toEqual([
      'reached',
      'unmatched',
    ]);
    expect(
      reach(tag(), {
        type: 'captcha',
        path_includes: ['/x'],
        conditions: { tags: { includes: ['fingerprint/1'] }, ja4: { excludes: ['t13d*'] } },
      }),
    ).toEqual(['reached', 'unmatched']);
  });

  test('rules for tagged and untagged requests take all', () => {
    const untagged = { ...tagged([]), conditions: { tags: { excludes: ['fingerprint/1'] } } };
    expect(
      reach(tag(), tagged(['fingerprint/1']), untagged, { type: 'captcha', path_includes: ['/x'] }),
    ).toEqual(['reached', 'reached', 'reached', '2 3']);
  });
});

describe('paths of ACME tokens', () => {
  const redirect = {
    type: 'redirect',
    path_includes: ['/.well-known/acme-challenge/token'],
    target: 'https://example.net/',
  };

  test('rules act on requests with a query', () => {
    const { method, url } = witness({ ...redirect, conditions: { methods: ['GET'] } });
    expect({ method, query: url.split('?')[1] }).toEqual({
      method: 'GET',
      query: expect.stringMatching(/./),
    });
  });
});

describe('redirects', () => {
  const all = { type: 'redirect', path_includes: ['/*'] };
  const late = { type: 'captcha', path_includes: ['/login'] };

  test('to the other scheme take all requests over one', () => {
    const secure = {
      ...all,
      target: 'https://example.com',
      preserve_path: true,
      conditions: { schemes: ['http'] },
    };
    expect(reach(secure, { ...late, conditions: { schemes: ['http'] } })).toEqual(['reached', '1']);
    expect(reach(secure, late)).toEqual(['reached', 'reached']);
    expect(
      reach({ ...secure, conditions: undefined }, { ...late, conditions: { schemes: ['https'] } }),
    ).toEqual(['reached', 'reached']);
  });

  test('to another query take the requests with a parameter', () => {
    const fixed = { ...all, target: '/login?q=a%20b', preserve_query: false };
    expect(reach(fixed, { ...late, conditions: query('equals', 'c') })).toEqual(['reached', '1']);
    expect(reach(fixed, { ...late, conditions: query('equals', 'a b') })).toEqual(['reached', 'reached']);
  });
});

test('a witness is printed with all that its conditions need', () => {
  const conditions = {
    methods: ['DELETE'],
    schemes: ['http'],
    asns: { includes: [64496] },
    headers: [{ name: 'X-A', op: 'equals', values: ["it's"] }],
    query: [{ name: 'q r', op: 'equals', values: ['a&b'] }],
    cookies: [{ name: 'c', op: 'prefix', values: ['1'] }],
    user_agents: { includes: ['curl*'] },
  };
  const text = witnessText(witness({ ...drop(conditions), path_includes: ['/a'] }));
  expect(text).toBe(
    "DELETE 'http://example.com/a?q%20r=a%26b' --header 'user-agent: curl' --header 'x-a: it'\\''s' --header 'cookie: c=1' --ip 203.0.113.7 --asn 64496 --bot none",
  );
});

test('a source of too many sets of tests still has no false claim', () => {
  const texts = Array.from({ length: 14 }, (_, place) => `part-${String.fromCharCode(97 + place)}`);
  const rules = texts.map((text) => drop(header('contains', text)));
  expect(
    reach(...rules, drop(header('not_contains', 'x')), drop(header('contains', 'part-a', 'part-b'))),
  ).toEqual([...texts.map(() => 'reached'), 'reached', 'unknown']);
});

describe('lint', () => {
  function linted(conditions: object): readonly string[] {
    const found = lintRuleSet(ruleSetOf([drop(conditions)]));
    return found.map(({ path, code, message }) => `${path.slice(2).join('.')}: ${code} ${message}`);
  }
  const ALWAYS = 'needless_entry holds for every request that the rest of the rule leaves';

  test('a condition that changes nothing', () => {
    expect(linted({ methods: ['POST'], schemes: ['http', 'https'] })).toEqual([
      `conditions.schemes: ${ALWAYS}`,
    ]);
    expect(linted({ methods: ['POST'], except_methods: ['GET'] })).toEqual([
      `conditions.except_methods: ${ALWAYS}`,
    ]);
    const both = [
      { name: 'a', op: 'present' },
      { name: 'a', op: 'equals', values: ['1'] },
    ];
    expect(linted({ headers: both })).toEqual([`conditions.headers.0: ${ALWAYS}`]);
    expect(linted({ countries: { includes: ['DE'], excludes: ['FR'] } })).toEqual([
      `conditions.countries.excludes: ${ALWAYS}`,
    ]);
  });

  test('a value that another covers', () => {
    const values = ['ab', 'Abc', 'x'];
    const one = (ignore_case: boolean): object => ({
      query: [{ name: 'q', op: 'prefix', values, ignore_case }],
    });
    expect(linted(one(true))).toEqual([
      'conditions.query.0.values.1: needless_entry is covered by `ab` of the same list',
    ]);
    expect(linted(one(false))).toEqual([]);
    expect(linted({ user_agents: { includes: ['*curl*', 'CURL/*'] } })).toEqual([
      'conditions.user_agents.includes.1: needless_entry is covered by `*curl*` of the same list',
    ]);
  });

  test('conditions that no request meets', () => {
    expect(linted({ methods: ['GET', 'HEAD'], except_methods: ['HEAD', 'GET'] })).toEqual([
      'type: unmatched_rule matches no request: no host, path and visitor pass all its filters',
    ]);
    const found = linted({
      methods: ['GET'],
      query: [
        { name: 'a', op: 'absent' },
        { name: 'a', op: 'present' },
      ],
    });
    expect(found).toEqual([
      'type: unmatched_rule matches no request: no host, path and visitor pass all its filters',
    ]);
  });
});

describe('regions beside a rule', () => {
  const regions = (rule: Fields): ReturnType<typeof openRegions> =>
    openRegions(compileSubject(ruleSetOf([rule])));

  test('each member of conditions has one', () => {
    const rule = {
      ...drop({
        methods: ['POST'],
        headers: [{ name: 'x-a', op: 'present' }],
        ips: { includes: ['192.0.2.0/24'] },
      }),
      path_includes: ['/a'],
    };
    const all = regions(rule);
    expect([...all.of('drop', 1)].sort()).toEqual(['header', 'ip', 'method', 'path']);
    const found = (name: RegionName): unknown => all.find('drop', 1, name);
    expect(found('method')).toMatchObject({
      kind: 'found',
      witness: { method: 'GET', headers: { 'x-a': 'x' } },
    });
    expect(found('header')).toMatchObject({ kind: 'found', witness: { method: 'POST', headers: {} } });
  });

  test('one of two headers may be missed', () => {
    const rule = drop({
      headers: [
        { name: 'x-a', op: 'present' },
        { name: 'x-b', op: 'present' },
      ],
    });
    expect(regions(rule).find('drop', 1, 'header').kind).toBe('found');
  });
});

describe('invariants', () => {
  function proved(when: object, ...rules: readonly Fields[]): string {
    const read = parseInvariants([{ name: 'it holds', when, never: 'forward' }]);
    if (!read.ok) throw new Error(read.diagnostics.map(formatDiagnostic).join('\n'));
    const { result } = proveInvariants(ruleSetOf(rules), read.invariants)[0]!;
    return result.kind === 'broken' ? witnessText(result.witness) : result.kind;
  }

  test.each<readonly [string, object, object]>([
    ['method', { method: 'POST' }, { methods: ['POST', 'PUT'] }],
    ['method of others', { method: { not: ['GET', 'HEAD'] } }, { except_methods: ['GET'] }],
    ['method of both', { method: { in: ['PUT', 'GET'], not: 'GET' } }, { methods: ['PUT'] }],
    ['scheme', { scheme: { not: 'https' } }, { schemes: ['http'] }],
    ['asn', { asn: [64496, 64497] }, { asns: { includes: [64496, 64497] } }],
    ['user_agent', { user_agent: { in: '*curl*', not: '*bot*' } }, { user_agents: { includes: ['*CURL*'] } }],
    ['header', { header: [{ name: 'X-A', op: 'equals', values: ['1'] }] }, header('present')],
    ['query', { query: [{ name: 'q', op: 'absent' }] }, query('not_equals', 'a')],
    [
      'cookie',
      { cookie: [{ name: 'c', op: 'contains', values: ['abc'] }] },
      { cookies: [{ name: 'c', op: 'contains', values: ['b'] }] },
    ],
  ])('with `%s` are proved', (_, when, conditions) => {
    expect(proved(when, drop(conditions))).toBe('proved');
  });

  test('`not` of methods means every other', () => {
    expect(proved({ method: { not: ['GET', 'HEAD'] } }, drop({ methods: ['POST'] }))).toMatch(/^PUT /);
    expect(
      proved(
        { method: { not: 'GET' } },
        { type: 'captcha', conditions: { methods: ['GET'] }, path_includes: ['/x'] },
      ),
    ).toMatch(/^POST /);
  });

  test('a broken one has a request with what `when` says', () => {
    expect(
      proved({ header: [{ name: 'x-a', op: 'equals', values: ['2'] }] }, drop(header('equals', '1'))),
    ).toMatch(/--header 'x-a: 2'/);
  });

  test.each<readonly [object, readonly (string | number)[], string]>([
    [{ method: 'a b' }, [0, 'when', 'method'], 'invalid_token'],
    [{ scheme: { not: ['https', 'ws'] } }, [0, 'when', 'scheme', 'not', 1], 'invalid_value'],
    [{ asn: { not: [64496, 'x'] } }, [0, 'when', 'asn', 'not', 1], 'invalid_type'],
    [
      { header: [{ name: 'a', op: 'present', values: ['1'] }] },
      [0, 'when', 'header', 0, 'values'],
      'condition_values',
    ],
    [{ query: [{ name: 'a', op: 'like' }] }, [0, 'when', 'query', 0, 'op'], 'invalid_value'],
    [{ cookies: [] }, [0, 'when', 'cookies'], 'unknown_field'],
  ])('%j has its mistake at its place', (when, path, code) => {
    const read = parseInvariants([{ name: 'it holds', when, never: 'forward' }]);
    expect(read.diagnostics.map((one) => [one.path, one.code])).toEqual([[path, code]]);
  });
});
