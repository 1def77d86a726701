/** Proofs of reach, case by case: what is claimed, of whom, and what is not claimed. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import type { RuleSet } from '../../../../src/rules/model/types.ts';
import { lintRuleSet } from '../../../../src/workbench/proofs/lint.ts';

type Fields = Readonly<Record<string, unknown>>;

const RECORDS = [
  { id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true },
  { id: 2, name: 'shop', type: 'A', destination: '198.51.100.2', proxied: true },
  { id: 3, name: '*', type: 'A', destination: '198.51.100.3', proxied: true },
];

function ruleSetOf(rules: readonly Fields[]): RuleSet {
  const numbered = rules.map((rule, index) => ({ id: index + 1, priority: (index + 1) * 10, ...rule }));
  const parsed = parseRuleSet({ domain: { name: 'example.com' }, records: RECORDS, rules: numbered });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return parsed.ruleSet;
}

const PROVED = ['shadowed_rule', 'unmatched_rule', 'unproved_rule', 'redirect_circle'];

/** What proofs report, as `<rule>: <code> <message>`. */
function proved(...rules: readonly Fields[]): readonly string[] {
  return lintRuleSet(ruleSetOf(rules))
    .filter(({ code }) => PROVED.includes(code))
    .map(({ path, code, message }) => `${Number(path[1]) + 1}: ${code} ${message}`);
}

const drop = (fields: Fields): Fields => ({ type: 'drop', ...fields });
const captcha = (fields: Fields): Fields => ({ type: 'captcha', ttl_sec: 600, ...fields });
const redirect = (from: string, target: string, fields: Fields = {}): Fields => ({
  type: 'redirect',
  path_includes: [from],
  target,
  ...fields,
});
const SAME = 'takes every request that it matches, with the same effect';

describe('a rule that one earlier rule takes all requests of', () => {
  test.each<readonly [string, Fields, Fields]>([
    ['a wider wildcard', { path_includes: ['/a*'] }, { path_includes: ['/admin/*'] }],
    [
      'a regex',
      { path_match_type: 'regex', path_includes: ['^/(a|b)/[0-9]+$'] },
      { path_includes: ['/a/17'] },
    ],
    ['a wider network', { ips: ['10.0.0.0/8'] }, { ips: ['10.1.0.0/16', '10.2.3.4'] }],
    ['a wider IPv6 network', { ips: ['2001:db8::/32'] }, { ips: ['2001:db8:1::/48'] }],
    ['a country among more', { countries: ['DE', 'FR'] }, { countries: ['FR'] }],
    [
      'a wildcard host',
      { host_match_type: 'wildcard', host_includes: ['*.example.com'], path_includes: ['/x'] },
      { host_match_type: 'exact', host_includes: ['shop.example.com'], path_includes: ['/x'] },
    ],
    ['the scope of a record', { path_includes: ['/x'] }, { path_includes: ['/x'], record_ids: [2] }],
    [
      'a regex of hosts',
      { host_match_type: 'regex', host_includes: ['^[a-z]+\\.example\\.com$'], path_includes: ['/x'] },
      { host_match_type: 'exact', host_includes: ['shop.example.com'], path_includes: ['/x'] },
    ],
  ])('%s', (_, wide, narrow) => {
    expect(proved(drop(wide), drop(narrow))).toEqual([
      `2: shadowed_rule is never reached: \`drop/1\` ${SAME}`,
    ]);
    expect(proved(drop(narrow), drop(wide))).toEqual([]);
  });

  test('a rule of an earlier phase shadows those of later ones', () => {
    const found = proved(drop({ path_includes: ['/old/*'] }), redirect('/old/a', '/new'));
    expect(found).toEqual([
      '2: shadowed_rule is never reached: `drop/1` takes every request that it matches, with another effect',
    ]);
  });

  test('a rule that dry_run does not enforce shadows nothing', () => {
    expect(
      proved(drop({ path_includes: ['/a*'], action_mode: 'dry_run' }), drop({ path_includes: ['/ab'] })),
    ).toEqual([]);
  });
});

describe('a rule that several earlier rules take all requests of', () => {
  test('networks that together make up one', () => {
    const halves = ['10.0.0.0/9', '10.128.0.0/9'].map((net) => drop({ ips: [net] }));
    const other = drop({ ips: ['192.0.2.0/24'] });
    expect(proved(halves[0]!, other, halves[1]!, drop({ ips: ['10.0.0.0/8'] }))).toEqual([
      '4: shadowed_rule is never reached: `drop/1` and `drop/3` together take every request that it matches, with the same effect',
    ]);
  });

  test('paths and visitors, divided crosswise', () => {
    const net = ['203.0.113.0/24'];
    expect(
      proved(
        drop({ path_includes: ['/a/*'], ips: net }),
        drop({ path_includes: ['/*'], path_excludes: ['/a/*'], ips: net }),
        drop({ path_includes: ['/*'], ips: ['203.0.113.7'] }),
      ),
    ).toEqual([
      '3: shadowed_rule is never reached: `drop/1` and `drop/2` together take every request that it matches, with the same effect',
    ]);
  });

  test('one piece that is left is enough to be reached', () => {
    expect(
      proved(
        drop({ ips: ['10.0.0.0/9'] }),
        drop({ ips: ['10.128.0.0-10.255.255.254'] }),
        drop({ ips: ['10.0.0.0/8'] }),
      ),
    ).toEqual([]);
  });
});

describe('a rule that matches no request', () => {
  test.each<readonly [string, Fields]>([
    ['excludes everything it includes', { path_includes: ['/a/*', '/b'], path_excludes: ['/a*', '/b*'] }],
    ['a regex that no path matches', { path_match_type: 'regex', path_includes: ['^admin$'] }],
    ['a path that is never canonical', { path_match_type: 'regex', path_includes: ['/\\.\\./'] }],
  ])('%s', (_, fields) => {
    const found = proved(captcha(fields));
    expect(found.length === 0 ? lintRuleSet(ruleSetOf([captcha(fields)]))[0]?.severity : found[0]).toMatch(
      /^1: unmatched_rule matches no request|error/,
    );
  });
});

describe('requests that pass phases', () => {
  test('a path with parameters is reached in the form that an exclude entry leaves', () => {
    // Excludes need both forms: `/a;x` is not excluded by `/a`.
    expect(
      proved(
        drop({ path_includes: ['/*'], path_excludes: ['/a'], ips: ['192.0.2.1'] }),
        drop({ path_includes: ['/a'], ips: ['192.0.2.1'] }),
      ),
    ).toEqual([]);
  });

  test('a redirect does not shadow the requests whose own URL it leads to', () => {
    const own = redirect('/*', 'https://shop.example.com', { preserve_path: true });
    expect(proved(own, captcha({ path_includes: ['/login'] }))).toEqual([]);
    expect(
      proved(
        redirect('/*', 'https://elsewhere.test', { preserve_path: true }),
        captcha({ path_includes: ['/login'] }),
      ),
    ).toEqual([
      '2: shadowed_rule is never reached: `redirect/1` takes every request that it matches, with another effect',
    ]);
  });

  test('a pinned origin takes origin rules, and no captcha rule', () => {
    const pin = { type: 'bot_route', bot_kinds: ['gptbot'], action: 'alt_origin', alt_dest: 'bots.test' };
    const others = { type: 'bot_route', bot_kinds: ['*'], action: 'alt_origin', alt_dest: 'other.test' };
    expect(proved(pin, others, captcha({ path_includes: ['/x'] }))).toEqual([]);
    expect(proved(others, pin)).toEqual([
      '2: shadowed_rule is never reached: `bot_route/1` takes every request that it matches, with another effect',
    ]);
  });
});

describe('redirects that lead round in a circle', () => {
  test('two rules', () => {
    expect(proved(redirect('/a', '/b'), redirect('/b', '/a'))).toEqual([
      '1: redirect_circle leads visitors round in a circle: `redirect/1` → `redirect/2` → `redirect/1`',
    ]);
  });

  test('a way in is not part of the circle', () => {
    expect(proved(redirect('/in', '/a'), redirect('/a', '/b'), redirect('/b', '/a'))).toEqual([
      '2: redirect_circle leads visitors round in a circle: `redirect/2` → `redirect/3` → `redirect/2`',
    ]);
  });

  test('a chain that arrives is none', () => {
    expect(proved(redirect('/a', '/b'), redirect('/b', '/c'))).toEqual([]);
  });
});

test('patterns that pass the bounds are not proved, and nothing fails', () => {
  const long = (rule: number, entry: number): string => `/${rule}-${entry}/${'*ab-cd-ef'.repeat(90)}`;
  const rules = Array.from({ length: 5 }, (_, rule) =>
    captcha({ path_includes: Array.from({ length: 200 }, (_entry, entry) => long(rule, entry)) }),
  );
  const found = proved(...rules, captcha({ path_includes: ['/x'] }));
  expect(found.length).toBeGreaterThan(0);
  expect(found.every((text) => text.includes('unproved_rule'))).toBe(true);
});
